"""How the animation of a page behaves: page_scene_checks.py PAGE [run]. Prints what is wrong. run: of a whole run, in
which there may be moments between requests.

Stepping on and back shows the same picture both ways; each step shows its own time; keys do what the page says; playing
moves time on, and pausing stops it; a window of another size shows the same step; where less motion is asked for, playing shows steps alone; a fragment opens at its
step."""
import json
import os
import re
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Browser  # noqa: E402

STATE = """({time: parseFloat(document.querySelector(".clock").value), said: document.querySelector(".said").textContent,
  step: +document.querySelector(".steps [aria-current]").dataset.step, tokens: document.querySelectorAll("svg .sign").length,
  picture: document.querySelector("svg.stage").innerHTML, gauges: document.querySelector(".gauges").innerText})"""

SEEN = """(() => { const list = document.querySelector(".steps").getBoundingClientRect(),
  step = document.querySelector(".steps [aria-current]").getBoundingClientRect();
  return step.top >= list.top - 1 && step.bottom <= list.bottom + 1; })()"""


def click(page, what):
    page.run(f"document.querySelector('[data-do={what}]').click()")
    return page.run(STATE)


def main(path, run=False):
    wrong = []

    def check(good, *what):
        if not good:
            wrong.append(" ".join(map(str, what)))

    text = open(path, encoding="utf-8").read()
    steps = json.loads(re.search(r'<script type="application/json">(.*?)</script>', text, re.S).group(1))["steps"]
    with Browser() as browser:
        page = browser.open(path, width=1200)
        seen = [click(page, "first")]
        while len(seen) < len(steps):
            seen.append(click(page, "step"))
        for i, (state, step) in enumerate(zip(seen, steps)):
            check(state["step"] == i and abs(state["time"] - step[0] / 1000) < 0.051, "step", i, "shows", state["time"])
            check(step[3] in state["said"], "step", i, "is not told")
        moving = [s["tokens"] for s in seen[1:-1]]
        check(moving.count(0) <= (len(moving) / 20 if run else 0), "nothing is anywhere at", moving.count(0), "steps")
        check(len({s["picture"] for s in seen}) > len(steps) / 3, "the picture hardly changes")
        check(len({s["gauges"] for s in seen}) > 3, "queues and credits hardly change")
        for i in range(len(steps) - 2, -1, -1):
            back = click(page, "back")
            check(back == seen[i], "stepping back to", i, "shows something else than stepping on to it")
        page.run("document.querySelector('[data-do=step]').focus()")
        for key, wanted in (("End", len(steps) - 1), ("ArrowLeft", len(steps) - 2), ("Home", 0), ("ArrowRight", 1)):
            page.key(key)
            check(page.run(STATE)["step"] == wanted, key, "does not go to step", wanted)
        page.run("document.querySelector('.steps button').focus(); document.querySelectorAll('.steps button')[4].click()")
        check(page.run(STATE) == seen[4], "a click on a step does not show it")
        click(page, "first")
        click(page, "play")
        time.sleep(1)
        playing = page.run(STATE)["time"]
        check(playing > 0, "playing does not move time on")
        stopped = click(page, "play")["time"]
        time.sleep(0.3)
        check(page.run(STATE)["time"] == stopped, "pausing does not stop it")
        for i in (0, len(steps) // 2):  # of steps at one time, too
            page.run(f"document.querySelectorAll('.steps button')[{i}].click()")
            for width in (380, 1200):
                page.resize(width, 900)
                page.settle()
                check(page.run(STATE)["step"] == i, "at", width, "pixels step", i, "is another")
                check(page.run(SEEN), "at", width, "pixels step", i, "is out of sight in the list")
        check(not page.complaints, "on the console:", page.complaints)
        page.close()
        page = browser.open(path, width=1200, calm=True, fragment="#step=3")
        check(page.run(STATE) == seen[3], "#step=3 opens elsewhere")
        click(page, "play")
        times = set()
        for _ in range(20):
            time.sleep(0.1)
            times.add(page.run(STATE)["time"])
        check(times <= {s["time"] for s in seen}, "less motion is asked for, and it moves between steps")
        page.close()
    print("\n".join(wrong[:10]))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "run" in sys.argv[2:]))
