"""What axe-core finds in pages: page_axe.py AXE.MIN.JS PAGE... Prints what is moderate, serious or critical, in light and
dark, at 360 and 1600 pixels."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Browser  # noqa: E402

RUN = """axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations.filter(v =>
  ["critical", "serious", "moderate"].includes(v.impact)).map(v => v.impact + ": " + v.id + ": " + v.help + ": " +
  v.nodes.slice(0, 3).map(n => n.html.slice(0, 120)).join(" | ")))"""


def main(script, paths):
    failures = 0
    with open(script, encoding="utf-8") as file:
        axe = file.read() + ";0"
    with Browser() as browser:
        for path in paths:
            page = browser.open(path)
            page.run(axe)
            for width, dark in ((360, True), (1600, False)):
                page.look(width, dark=dark)
                page.settle()
                for what in page.run(RUN):
                    print(f"{path} at {width}{' in the dark' if dark else ''}: {what}")
                    failures += 1
            page.close()
    return failures


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1], sys.argv[2:]) else 0)
