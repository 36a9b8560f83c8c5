"""What holds for every page: page_checks.py PAGE... Prints what is wrong.

At 360, 800 and 1600 pixels, in light and dark: no word on the console, no part wider than the window, nothing that
page_audit.js finds; nothing serious that axe finds, where $FANOUT_AXE names its axe.min.js; less than 3 MB; loaded in less than 2 seconds.
$FANOUT_SHOTS: a folder for screenshots."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Browser  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
AUDIT = open(os.path.join(HERE, "page_audit.js"), encoding="utf-8").read()
AXE = os.environ.get("FANOUT_AXE")
SHOTS = os.environ.get("FANOUT_SHOTS")
WIDER = """[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1 &&
  !e.parentElement.closest(".scroll,figure,svg,.steps")).map(e => e.outerHTML.slice(0, 100))"""
RUN_AXE = """axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations.filter(v =>
  ["serious", "critical", "moderate"].includes(v.impact)).map(v => v.id + ": " + v.help + ": " +
  v.nodes.slice(0, 3).map(n => n.html.slice(0, 120)).join(" | ")))"""


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


def check(browser, path, width, dark):
    page = browser.open(path, width=width, dark=dark)
    wrong = [f"on the console: {text}" for text in page.complaints]
    if page.run("document.documentElement.scrollWidth > innerWidth"):
        wrong += [f"wider than the window: {what}" for what in page.run(WIDER)[:3]] or ["wider than the window"]
    wrong += page.run(AUDIT)
    if AXE and width == 800:
        page.run(open(AXE, encoding="utf-8").read() + ";0")
        wrong += ["axe: " + what for what in page.run(RUN_AXE)]
    if SHOTS:
        name = os.path.basename(path).replace(".html", "")
        page.screenshot(os.path.join(SHOTS, f"{name}-{width}-{'dark' if dark else 'light'}.png"))
    page.close()
    return wrong


def main(paths):
    failures = 0
    with Browser() as browser:
        for path in paths:
            size = os.path.getsize(path)
            if size >= 3 << 20:
                print(f"{path}: {size} bytes, 3 MB or more")
                failures += 1
            for what in check_load(browser, path):
                print(f"{path}: {what}")
                failures += 1
            for width in (360, 800, 1600):
                for dark in (False, True):
                    for what in check(browser, path, width, dark):
                        print(f"{path} at {width}{' in the dark' if dark else ''}: {what}")
                        failures += 1
    return failures


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1:]) else 0)
