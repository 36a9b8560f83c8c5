"""What holds for every page: page_checks.py PAGE... Prints what is wrong.

At 360, 800, 1600 and 3840 pixels, in light and dark: no word on the console, no part wider than the window, nothing
that page_audit.js finds; the answer of a report is seen without scrolling at 1280 x 800, and its first sentence on a
telephone; lines of a chart that differ in more than colour; less than 3 MB; loaded in less than 2
seconds. What axe finds is page_axe.py's.
$FANOUT_SHOTS: a folder for screenshots."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Browser  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
AUDIT = open(os.path.join(HERE, "page_audit.js"), encoding="utf-8").read()
SHOTS = os.environ.get("FANOUT_SHOTS")
WIDER = """[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1 &&
  !e.parentElement.closest(".scroll,figure,svg,.steps")).map(e => e.outerHTML.slice(0, 100))"""
ALIKE = """[...document.querySelectorAll("figure svg")].flatMap(svg => {
  const lines = ["s0", "s1", "s2", "s3"].map(s => svg.querySelector("polyline." + s)).filter(line => line);
  return new Set(lines.map(line => getComputedStyle(line).strokeDasharray)).size < lines.length
    ? [`lines that coincide would hide each other: ${svg.textContent.slice(0, 60)}`] : []; })"""

FOLD = """(answer => answer && [answer.getBoundingClientRect().bottom,
  answer.querySelector("p").getBoundingClientRect().bottom])(document.querySelector("main > .answer"))"""

LOADED = "(({loadEventEnd, startTime}) => loadEventEnd - startTime)(performance.getEntriesByType('navigation')[0])"
LOAD_MS = 2000


def check_load(browser, path):
    """The best of three: what else the machine does is not the page's."""
    times = []
    for _ in range(3):
        page = browser.open(path)
        times.append(page.run(LOADED))
        page.close()
        if 0 < times[-1] < LOAD_MS:
            return []
    return [f"loads in {min(times):.0f} ms, not below {LOAD_MS}"]


def check_fold(page):
    """What a report opens with is on the first screen."""
    wrong = []
    for width, height, which in ((1280, 800, 0), (360, 640, 1)):
        page.look(width, height)
        page.settle()
        bottoms = page.run(FOLD)
        if bottoms and bottoms[which] > height:
            wrong.append(f"below the fold at {width} x {height}: the answer ends at {bottoms[which]:.0f}")
    return wrong


def check_look(page, path, width, dark):
    page.look(width, dark=dark)
    page.settle()
    wrong = []
    if page.run("document.documentElement.scrollWidth > innerWidth"):
        wrong += [f"wider than the window: {what}" for what in page.run(WIDER)[:3]] or ["wider than the window"]
    wrong += page.run(AUDIT)
    if SHOTS:
        name = os.path.basename(path).replace(".html", "")
        page.screenshot(os.path.join(SHOTS, f"{name}-{width}-{'dark' if dark else 'light'}.png"))
    return [f"at {width}{' in the dark' if dark else ''}: {what}" for what in wrong]


def check(browser, path):
    size = os.path.getsize(path)
    wrong = [f"{size} bytes, 3 MB or more"] if size >= 3 << 20 else []
    wrong += check_load(browser, path)
    page = browser.open(path)
    for dark in (False, True):
        for width in (360, 800, 1600, 3840):
            wrong += check_look(page, path, width, dark)
    wrong += check_fold(page)
    wrong += page.run(ALIKE)
    wrong += [f"on the console: {text}" for text in page.complaints]
    page.close()
    return wrong


def main(paths):
    failures = 0
    with Browser() as browser:
        for path in paths:
            for what in check(browser, path):
                print(f"{path}: {what}")
                failures += 1
    return failures


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1:]) else 0)
