"""The pictures of docs/gallery.md, from the commands below them.

    make.py FANOUT            writes docs/gallery/*.svg anew, beside this file

A picture of a page has its style and its legend in the page; here both are put into the SVG, which follows dark and light
as the page does. What `fanout plot` draws is taken as it is."""

import html
import os
import re
import shlex
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))

# Name, commands, and of the last one's page which picture, by its title; None: the command writes NAME.svg itself.
PICTURES = [
    ("tags", ["sweep tags.ini", "plot tags.db -x switch.multicast_tags -y busbw_GBps -o tags.svg"], None),
    ("curve", ["coll all_reduce -s dgx-h100 -a nvls,ring,twoshot -b 64K -e 16M --no-compare --html page.html"],
     "bus bandwidth"),
    ("system", ["coll all_reduce -s dgx-h100 -a nvls -b 4M --html page.html"], "map"),
    ("buffer", ["coll all_reduce -s dgx-h100 -a nvls -b 4M --html page.html"],
     "reduction buffer in use over time, at the port that has most"),
    ("latencies", ["coll all_reduce -s dgx-h100 -a nvls -b 4M --html page.html"],
     "latencies: how many requests took how long"),
    ("where", ["coll all_reduce -s dgx-h100 -a nvls -b 4M --html page.html"],
     "where the time of a request went, in the mean"),
]

STYLE = """
svg { background: var(--paper); } text { font: 12px system-ui, sans-serif; fill: var(--ink); }
.key { fill: var(--faint); font-size: .85em; } .grid { stroke: var(--grid); } .axis { stroke: var(--axis); }
.mark { stroke-width: 3; } rect.part, .map rect { fill: var(--box); stroke: var(--axis); }
polyline.s1, .mark.s1 { stroke-dasharray: 9 4; } polyline.s2, .mark.s2 { stroke-dasharray: 4 4; }
polyline.s3, .mark.s3 { stroke-dasharray: 12 3 3 3; }
@media (max-width: 520px) { text { font-size: 21px; } .map text { font-size: 27px; } .thin, .key { display: none; } .below { transform: translateY(4px); } }
"""


def style():
    """Colours of the page, its maps among them."""
    css = open(os.path.join(TOP, "sim/report/page.css"), encoding="utf-8").read()
    roots = re.findall(r"^:root \{.*?^\}", css, re.S | re.M)
    darks = re.findall(r"@media \(prefers-color-scheme: dark\) \{\n.*?\n\}", css, re.S)
    classes = re.findall(r"^\.[sf]\d.*$", css, re.M)
    light = re.findall(r"^\.map \{.*\}$", css, re.M)
    maps = re.findall(r"^\.map [.a-z][^,{\n]*\{[^}\n]*\}$", css, re.M)
    return "\n".join(roots[:2] + light + darks + classes + maps) + STYLE


def legend(page, width, top):
    """Names and signs of the list behind a picture, as lines of SVG; and how high they are."""
    items = re.findall(r'<li><svg class="sign"[^>]*>(.*?)</svg>(.*?)</li>', page, re.S)
    longest = max((len(name) for _, name in items), default=0)
    out, columns = "", max(1, int(width // (34 + 13 * longest)))  # of a telephone's letters, which are larger in units
    for i, (sign, name) in enumerate(items):
        x, y = 4 + i % columns * width / columns, top + i // columns * 24
        out += f'<g transform="translate({x:.0f} {y:.0f})">{sign}<text x="26" y="10">{name}</text></g>\n'
    return out, (len(items) + columns - 1) // columns * 24


def picture(page, title):
    if title == "map":
        svg = re.search(r'<figure class="map">(<svg.*?</svg>)', page, re.S)[1]
        behind = ""
    else:
        found = re.search(rf"<figcaption>{re.escape(html.escape(title))}</figcaption>\n(<svg.*?</svg>)\n?(<ul.*?</ul>)?",
                          page, re.S)
        svg, behind = found[1], found[2] or ""
    width, high = map(float, re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg).groups())
    body = svg[svg.index(">") + 1:svg.rindex("</svg>")]
    signs, more = legend(behind, width, high + 4)
    kind = ' class="map"' if title == "map" else ""
    return (f'<svg xmlns="http://www.w3.org/2000/svg"{kind} viewBox="0 0 {width:.0f} {high + more + 8:.0f}" role="img">\n'
            f"<style>\n{style()}\n</style>{body}{signs}</svg>\n")


def main(fanout):
    with tempfile.TemporaryDirectory() as work:
        with open(os.path.join(work, "tags.ini"), "w", encoding="utf-8") as spec:
            spec.write("[sweep]\nrun = coll all_reduce\n[fixed]\nsystem = dgx-h100\nalgo = nvls\nbytes = 1M\n[grid]\n"
                       "switch.multicast_tags = 4..256 x2\n")
        for name, commands, title in PICTURES:
            for command in commands:
                subprocess.run([os.path.abspath(fanout), *shlex.split(command)], cwd=work, check=True,
                               stdout=subprocess.DEVNULL)
            source = os.path.join(work, f"{name}.svg" if title is None else "page.html")
            text = open(source, encoding="utf-8").read()
            with open(os.path.join(HERE, f"{name}.svg"), "w", encoding="utf-8") as out:
                out.write(text if title is None else picture(text, title))


if __name__ == "__main__":
    main(sys.argv[1])
