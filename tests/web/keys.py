"""Works through a lab's page by the keyboard alone: keys.py PAGE. Tab reaches everything that can be operated, in
the order of the page, and each place that it reaches can be seen; the first stop leads past the links to the text; a
guess is typed, Run pressed, the output reached and read; Control and Enter run the command in whose field they are
pressed; what a reader of the screen should say is in live regions. Prints what is wrong."""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../cli"))
from browser import Browser  # noqa: E402

STOPS = """[...document.querySelectorAll("a[href],button,input,select,textarea,[tabindex='0']")].filter(e =>
  !e.disabled && e.getClientRects().length && e.tabIndex >= 0)"""
HERE = """(() => { const e = document.activeElement, style = getComputedStyle(e), box = e.getBoundingClientRect();
  return {at: """ + STOPS + """.indexOf(e), what: e.outerHTML.slice(0, 90), text: e.textContent.slice(0, 40),
    ring: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2 || e.tagName === "IFRAME",
    seen: box.bottom > 0 && box.top < innerHeight && box.width > 0}; })()"""


class Keys:
    def __init__(self, page):
        self.page = page

    def press(self, key, code=None, modifiers=0, text=""):
        codes = {"Tab": 9, "Enter": 13, " ": 32}
        about = {"key": key, "code": code or key, "modifiers": modifiers, "windowsVirtualKeyCode": codes.get(key, 0)}
        if key == "Enter" and not modifiers:
            text = "\r"
        self.page.send("Input.dispatchKeyEvent", type="keyDown", text=text, **about)
        self.page.send("Input.dispatchKeyEvent", type="keyUp", **about)

    def type(self, text):
        self.page.send("Input.insertText", text=text)

    def tab_to(self, text, most=40):
        """Until what has this text, or this id, has the focus."""
        for _ in range(most):
            self.press("Tab")
            if self.page.run(f"(e => e.id === {text!r} || e.textContent === {text!r})(document.activeElement)"):
                return True
        return False

    def wait(self, what, seconds=120):
        end = time.time() + seconds
        while time.time() < end:
            if self.page.run(what):
                return True
            time.sleep(0.1)
        return False


def walk_through(keys, page):
    """Every stop once, in order."""
    wrong, seen, last = [], 0, -1
    stops = page.run(STOPS + ".length")
    page.run("document.activeElement.blur()")
    for n in range(stops):
        keys.press("Tab")
        here = page.run(HERE)
        if n == 0 and here["text"] != "Skip to the text":
            wrong.append(f"the first stop is {here['what']}")
        if here["at"] != last + 1:
            wrong.append(f"stop {n + 1} is number {here['at'] + 1} of the page: {here['what']}")
        if not here["ring"] or not here["seen"]:
            wrong.append(f"stop {n + 1} cannot be seen: {here['what']}")
        last = here["at"]
        seen += 1
    if seen < 20:
        wrong.append(f"only {seen} stops")
    return wrong


def work(keys, page):
    wrong = []
    note = "document.querySelector('.run .note')"
    page.run("document.activeElement.blur()")
    if not keys.tab_to("Run"):
        return ["Tab does not reach Run"]
    keys.press("Enter")
    if not keys.wait(note + ".textContent.startsWith('Guess first')", 5):
        wrong.append("Run without a guess does not ask for one")
    if page.run("document.activeElement.id") != "g1":
        wrong.append("Run without a guess does not lead to its field")
    keys.type("2 packets")
    keys.tab_to("Run")
    keys.press("Enter")
    if not keys.wait(note + ".textContent.includes('s in this page')"):
        return wrong + ["the run did not end: " + page.run(note + ".textContent")]
    if page.run(note + ".getAttribute('role')") != "status":
        wrong.append("what a run says is no live region")
    keys.press("Tab")
    keys.press("Tab") if page.run("document.activeElement.textContent === 'Stop'") else None
    if not page.run("document.activeElement.textContent.startsWith('Show the picture')"):
        wrong.append("behind Run is not the picture's button: " + page.run(HERE)["what"])
    keys.press("Tab")
    out = page.run("(e => [e.getAttribute('role'), e.getAttribute('aria-label'), e.textContent.slice(0, 10)])"
                   "(document.activeElement)")
    if out != ["region", "What came out of command 1", "load: 32 l"]:
        wrong.append(f"behind it is not the output: {out}")
    if not keys.tab_to("q1.1"):
        return wrong + ["Tab does not reach question 1.1"]
    keys.type("8 flits of data and a header")
    keys.press("Tab")
    keys.press("Enter")
    if not keys.wait("document.querySelector('.verdict').textContent.startsWith('Your answer has')", 5):
        wrong.append("the answer was not checked: " + page.run("document.querySelector('.verdict').textContent"))
    page.run("document.querySelector('#g2').value = 'x'; document.querySelector('#c2').focus()")
    keys.press("Enter", modifiers=2)
    second = "document.querySelectorAll('.run')[1].querySelector('.note').textContent"
    if not keys.wait(second + ".includes('s in this page')"):
        wrong.append("Control and Enter run nothing: " + page.run(second))
    return wrong


def main(path):
    with Browser() as browser:
        page = browser.open(path, width=1280, height=800)
        keys = Keys(page)
        wrong = walk_through(keys, page) + work(keys, page) + page.complaints
        page.close()
        page = browser.open(path, width=1280, height=800)  # what was written is still there
        if page.run("document.querySelector('#g1').value") != "2 packets":
            wrong.append("a guess is lost when the page is loaded again")
        page.close()
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
