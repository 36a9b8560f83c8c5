"""Makes the slides of two lectures from the labs' text, which stays the one source: slides.py TOP OUT. Writes
slides-1.html (labs 1 to 4) and slides-2.html (labs 5 to 8), each one file that opens from a disk. Of each lab: what
it teaches and why; of each step what is to be guessed, the command with its output, the questions; at the end what
can be said now. The notes of a slide with questions are the instructor's answers (key N, and on paper)."""
import base64, html, os, re, sys

try:
    from markdown_it import MarkdownIt
except ImportError:
    sys.exit("slides.py: no markdown-it for " + sys.executable + ": './bootstrap web' installs python3-markdown-it")

LINES = 16  # of output that a room can read
LECTURES = [("Packets, copies, sums", "1234"), ("Waiting, algorithms, losses", "5678")]
PICTURES = {
    "1": ("docs/site/static/path.svg", "A packet's way from GPU to GPU through a switch, with times"),
    "2": ("docs/site/static/system.svg", "Four GPUs, two switches and the copies of one store"),
    "4": ("docs/gallery/buffer.svg", "The operands in a port's reduction buffer, in time"),
    "5": ("docs/gallery/latencies.svg", "How long requests take, as a histogram"),
    "7": ("docs/gallery/curve.svg", "Bus bandwidth by size, for several algorithms"),
}

top, out = sys.argv[1:3]
markdown = MarkdownIt("commonmark").enable("table")
here = os.path.dirname(os.path.abspath(__file__))


def read(*names):
    with open(os.path.join(*names), encoding="utf-8") as file:
        return file.read()


def render(text):
    """Links of the text lead to files that are not there."""
    text = markdown.render(text).replace("<th>", '<th scope="col">').replace("<pre><code", '<pre tabindex="0"><code')
    return re.sub(r"<a [^>]*>(.*?)</a>", r"\1", text)


def answers():
    found = {}
    for part in re.split(r"^## Lab ", read(top, "docs/labs/instructor.md"), flags=re.M)[1:]:
        for n, text in re.findall(r"^(\d+)\. (.*?)(?=^\d+\. |^\n?[^\s\d]|\Z)", part, flags=re.M | re.S):
            found[f"{part[0]}.{n}"] = markdown.renderInline(" ".join(text.split()))
    return found


def first_paragraph(text):
    """That is no list, table, drawing or guess."""
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        if re.match(r"[A-Z`*(]", paragraph) and not paragraph.startswith(("**Guess", "**Question")):
            return paragraph
    return ""


def block(text):
    lines = text.rstrip("\n").split("\n")
    if len(lines) > LINES:
        lines = lines[:LINES - 1] + [f"... {len(lines) - LINES + 1} lines more"]
    return f'<pre tabindex="0">{html.escape(chr(10).join(lines))}</pre>'


def slide(title, body, notes="", kind=""):
    """$: its number is given by number_slides(), since a reader of the screen tells slides of one title by it."""
    notes = f'<div class="notes"><h3>Notes</h3>{notes}</div>' if notes else ""
    return (f'<section class="slide {kind}" tabindex="-1" aria-roledescription="slide" aria-label="$: {title}">'
            f'<h2>{title}</h2>\n{body}{notes}</section>\n')


def number_slides(text):
    parts = re.split(r'(?=<section class="slide)', text)
    return "".join(part.replace('aria-label="$:', f'aria-label="{n}:') for n, part in enumerate(parts))


def picture(number):
    if number not in PICTURES:
        return ""
    path, text = PICTURES[number]
    data = base64.b64encode(read(top, path).encode()).decode()
    return f'<img alt="{html.escape(text)}" src="data:image/svg+xml;base64,{data}">'


def step(head, text, answered):
    """The slides of a section: what to guess, commands, questions."""
    made = ""
    guess = re.search(r"\*\*Guess first:\*\*.*?(?=\n\s*\n)", text, re.S)
    begin = first_paragraph(text)
    if guess:
        made += slide(head, render(begin) + f'<div class="guess">{render(guess[0])}</div>')
    fences = re.findall(r"^```(\w*)\n(.*?)^```", text, re.M | re.S)
    for n, (_, body) in enumerate(fences):
        made += slide(head, ("" if guess or n else render(begin)) + block(body))
    for table in re.findall(r"(?:^\|.*\n)+", re.sub(r"^```.*?^```\n", "", text, flags=re.M | re.S), re.M):
        made += slide(head, ("" if made else render(begin)) + render(table))
    asked = re.findall(r"^- \*\*Question (\d\.\d+)\*\* (.*?)(?=^- |^\n[^ ]|\Z)", text, re.M | re.S)
    if not made and not asked:
        return slide(head, render(re.sub(r"^```.*?^```\n", "", text, flags=re.M | re.S)))
    for at in range(0, len(asked), 3):
        some = asked[at:at + 3]
        items = "".join(f"<li><strong>{q}</strong> {render(t).removeprefix('<p>').rstrip().removesuffix('</p>')}</li>"
                        for q, t in some)
        notes = "".join(f"<p><strong>{q}</strong> {answered.get(q, '')}</p>" for q, _ in some)
        made += slide(head, f"<ul>{items}</ul>", notes)
    return made


def lab(number, answered):
    name = next(n for n in sorted(os.listdir(os.path.join(top, "docs/labs"))) if n.startswith(number + "-"))
    parts = re.split(r"^## ", read(top, "docs/labs", name), flags=re.M)
    title = re.search(r"^# (.*)", parts[0], re.M)[1]
    learn = re.search(r"\*\*You will learn\*\*.*?\.\s", parts[0] + " ", re.S)[0]
    why = next((first_paragraph(p.split("\n", 1)[1]) for p in parts if p.startswith("Why")), "")
    made = slide(html.escape(title), render(learn) + render(why) + picture(number), kind="first")
    for part in parts[1:]:
        head, text = part.split("\n", 1)
        if head != "Why":
            made += step(html.escape(head), text, answered)
    return title, made


def main():
    answered, style = answers(), read(here, "page/slides.css")
    script = read(here, "page/slides.js")
    for n, (name, labs) in enumerate(LECTURES, 1):
        made = [lab(number, answered) for number in labs]
        contents = "".join(f"<li>{html.escape(title)}</li>" for title, _ in made)
        first = slide(f"Lecture {n}: {html.escape(name)}",
                      f"<ul>{contents}</ul><p>Write down a guess before each command: what you did not expect is "
                      "what you learn.</p>",
                      "<p>Let students guess aloud before each command; half of the time is talk. Arrow keys, space "
                      "and Page up and down turn the pages, N shows these notes, Home and End go to the ends. Paper "
                      "has the notes.</p>",
                      "first")
        with open(os.path.join(out, f"slides-{n}.html"), "w", encoding="utf-8") as file:
            file.write(f'''<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Lecture {n}: {html.escape(name)} - Fanout</title><style>{style}</style></head>
<body><main><h1 class="sr">Fanout, lecture {n}: {html.escape(name)}</h1>
{number_slides(first + "".join(text for _, text in made))}</main>
<nav aria-label="Slides"><button type="button" id="back">Back</button> <span id="at" role="status"></span>
<button type="button" id="on">On</button> <button type="button" id="notes" aria-pressed="false">Notes</button></nav>
<script>{script}</script></body></html>
''')


main()
