"""How the picture of a system behaves: page_map_checks.py PAGE. Prints what is wrong.

The keyboard gets into it and from part to part, each is said in words, as it is when the pointer is on it; each GPU, each
switch and each pair that links join is there; links that are busier have another look."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Browser  # noqa: E402


def main(path):
    wrong = []

    def check(good, *what):
        if not good:
            wrong.append(" ".join(map(str, what)))

    with Browser() as browser:
        page = browser.open(path, width=1200)
        said = lambda: page.run("document.querySelector('.map .said').textContent")  # noqa: E731
        titles = page.run("[...document.querySelectorAll('.map .part title')].map(t => t.textContent)")
        check(len(titles) == 4 + 2 + 4 * 2, "4 GPUs, 2 switches and 8 pairs are", len(titles), "parts")
        check(all("% busy" in t for t in titles), "a part without a number:", titles)
        first = said()
        page.run("document.querySelector('.map svg').focus()")
        seen = []
        for _ in range(len(titles)):
            page.key("ArrowRight")
            seen.append(said())
            check(page.run("document.activeElement.querySelector('title').textContent") == seen[-1],
                  "what has the focus is not what is said:", seen[-1])
        check(sorted(seen) == sorted(titles), "keys do not get to each part once:", seen)
        check(seen[0].startswith("gpu0:") and seen[0] != first, "the first part is", seen[0])
        page.key("ArrowLeft")
        check(said() == seen[-2], "ArrowLeft does not go back")
        page.key("Home")
        check(said() == seen[0], "Home does not go to the first")
        page.run("document.querySelector('.map .link line').dispatchEvent(new PointerEvent('pointerover', {bubbles: true}))")
        check(said().startswith("gpu0 and switch0,"), "pointing at a link says", said())
        looks = page.run("""[...new Set([...document.querySelectorAll('.map > svg > line')].map(l =>
            getComputedStyle(l).stroke + getComputedStyle(l).strokeWidth))].length""")
        check(looks == 6, "six steps of busy links have", looks, "looks")
        wrong.extend(page.complaints)
    print("\n".join(wrong))
    return len(wrong)


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1]) else 0)
