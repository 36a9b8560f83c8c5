"""The page of --monitor in a headless Chromium: it shows the run, at every width, in light and dark, with nothing on the
console and nothing that page_audit.js finds; its button ends the run; then it says that the run is over. $FANOUT_SHOTS:
a folder for screenshots."""
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser  # noqa: E402
from monitor_run import LONG, Run, failures, need, simulating  # noqa: E402
from page_axe import RUN as RUN_AXE  # noqa: E402
from page_checks import AUDIT, SHOTS, WIDER  # noqa: E402

AXE = os.environ.get("FANOUT_AXE")


def look(page, name):
    for _ in range(100):
        if page.run("document.querySelectorAll('.run dd').length > 15 && !document.getElementById('rows-part').hidden"):
            break
        time.sleep(0.1)
    wrong = page.complaints + page.run(AUDIT)
    if page.run("document.documentElement.scrollWidth > innerWidth"):
        wrong += [f"wider than the window: {what}" for what in page.run(WIDER)[:3]] or ["wider than the window"]
    if AXE:
        page.run(open(AXE, encoding="utf-8").read() + ";0")
        wrong += page.run(RUN_AXE)
    if SHOTS:
        page.screenshot(os.path.join(SHOTS, f"monitor-{name}.png"))
    for what in wrong:
        need(False, f"{name}: {what}")


with Run(*[word.replace("512M", "16G") for word in LONG]) as run, browser.Browser() as chromium:
    run.wait_for(lambda s: s["progress"]["done"] > 1 and simulating(s), "a simulation after two rows")
    address = f"http://127.0.0.1:{run.port}/"
    for width in (360, 800, 1600, 3840):
        for dark in (False, True):
            page = chromium.open(address, width=width, dark=dark)
            look(page, f"{width}-{'dark' if dark else 'light'}")
            page.close()
    page = chromium.open(address)
    look(page, "last")
    seen = page.run("document.body.innerText")
    for words in ("fanout coll all_reduce", "step 3 of 7", "outstanding", "who waits for what", "packets a second"):
        need(words in seen.lower(), f"the page does not say '{words}': {seen}")
    before = page.run("document.querySelector('.run dd').textContent")
    time.sleep(2.5)
    need(page.run("document.querySelector('.run dd').textContent") != before, f"simulated time stands still at {before}")
    page.run("document.getElementById('stop').click()")
    run.end("the button")
    for _ in range(100):
        if "does not answer" in page.run("document.getElementById('state').textContent") or \
                "was ended" in page.run("document.getElementById('state').textContent"):
            break
        time.sleep(0.1)
    need("was ended" in page.run("document.getElementById('state').textContent"), "the page does not say that it is over")
    if SHOTS:
        page.screenshot(os.path.join(SHOTS, "monitor-over.png"))
sys.exit(1 if failures else 0)
