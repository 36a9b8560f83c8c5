"""Writes the pages of the browser: labs.py TOP OUT. A page for each lab of docs/labs, a playground, and an index,
each a file that opens from a disk. Commands that can run in a page get a button; a question gets room for an answer,
and what docs/labs/instructor.md answers to compare it with."""
import html, json, os, re, sys

try:
    from markdown_it import MarkdownIt
except ImportError:
    sys.exit("labs.py: no markdown-it for " + sys.executable + ": './bootstrap web' installs python3-markdown-it")

top, out = sys.argv[1:3]
labs_at = os.path.join(top, "docs/labs")
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(labs_at, "instructor"))
import grade  # noqa: E402

keys = grade.keys()
# What the knobs of a lab's page begin with: what runs, on which system, and what is broken.
KNOBS = {"1": "load teach-4gpu", "2": "multimem.st teach-4gpu", "3": "broadcast dgx-h100",
         "4": "multimem.ld_reduce teach-4gpu", "5": "load teach-4gpu", "6": "barrier dgx-h100",
         "7": "all_reduce dgx-h100", "8": "all_reduce dgx-h100 link_down=gpu1.link0"}
markdown = MarkdownIt("commonmark").enable("table")


def read(*names):
    with open(os.path.join(*names), encoding="utf-8") as file:
        return file.read()


def answers():
    """{"1": {1: html, ...}}: what the instructor's page answers, by lab and question."""
    found = {}
    for part in re.split(r"^## Lab ", read(labs_at, "instructor.md"), flags=re.M)[1:]:
        number = part[0]
        items = re.findall(r"^(\d+)\. (.*?)(?=^\d+\. |^\n?[^\s\d]|\Z)", part, flags=re.M | re.S)
        found[number] = {int(n): markdown.renderInline(" ".join(text.split())) for n, text in items}
    return found


def commands(block):
    """[(command, output)] of a console block; a command goes on in lines that begin with > or after a backslash."""
    pairs, lines = [], block.split("\n")
    while lines and lines[-1] == "":
        lines.pop()
    for line in lines:
        if line.startswith("$ "):
            pairs.append([line[2:], []])
        elif line.startswith("> ") and pairs and not pairs[-1][1]:
            pairs[-1][0] += "\n" + line[2:]
        elif pairs and not pairs[-1][1] and pairs[-1][0].endswith("\\"):
            pairs[-1][0] += "\n" + line.removeprefix("> ")
        elif pairs:
            pairs[-1][1].append(line)
    return [(command, "\n".join(output)) for command, output in pairs]


def console(block, state):
    text = ""
    for command, output in commands(block):
        state["runs"] += 1
        text += (f'<div class="run" data-guess="{1 if state["guess"] else 0}"><label class="sr" for="c{state["runs"]}">'
                 f'Command {state["runs"]}</label><textarea id="c{state["runs"]}" class="command" spellcheck="false" '
                 f'rows="{command.count(chr(10)) + 1}">{html.escape(command)}</textarea>'
                 f'<pre class="recorded" tabindex="0" hidden>{html.escape(output)}</pre></div>\n')
        state["guess"] = False
    return text


def question(match, number, state, answered):
    """With what the key looks for: the same file by which grade.py grades."""
    key = match.group(1)
    answer = answered.get(number, {}).get(int(key.split(".")[1]), "")
    state["questions"] += 1
    looked_for = html.escape(json.dumps(keys[key]))
    return (f'<strong>Question {key}</strong>{match.group(2)}<div class="question" data-key="{key}" '
            f'data-parts="{looked_for}">'
            f'<label class="sr" for="q{key}">Your answer to question {key}</label><textarea id="q{key}" rows="2" '
            f'placeholder="Your answer"></textarea><button type="button" class="compare">Check</button>'
            f'<p class="note verdict" role="status"></p><div class="answer" hidden>'
            f'{answer or "The instructors’ page has no answer to this one."}</div></div>')


def tables(text):
    """Heads of tables say what they head; what is wide scrolls, and keys get there."""
    text = text.replace("<th>", '<th scope="col">').replace("<pre><code", '<pre tabindex="0"><code')
    return text.replace("<table>", '<div class="wide" tabindex="0"><table>').replace("</table>", "</table></div>")


def guess(match, state):
    state["guesses"] += 1
    name = f"g{state['guesses']}"
    return (f'<div class="guess">{match.group(0)}<label class="sr" for="{name}">Your guess {state["guesses"]}</label>'
            f'<input type="text" id="{name}" placeholder="Your guess, then run" autocomplete="off"></div>')


def lab(name, answered):
    number = name[0]
    state = {"runs": 0, "questions": 0, "guesses": 0, "guess": False}
    body = ""
    for piece in re.split(r"(^```.*?^```\n)", read(labs_at, name), flags=re.M | re.S):
        if piece.startswith("```console"):
            body += console(piece.split("\n", 1)[1].rsplit("```", 1)[0], state)
            continue
        if piece.startswith("```"):
            drawn = piece.split("\n", 1)[1].rsplit("```", 1)[0]
            body += f'<pre class="drawing" tabindex="0">{html.escape(drawn)}</pre>\n'
            continue
        state["guess"] = state["guess"] or "**Guess first:**" in piece
        text = markdown.render(piece)
        text = re.sub(r"<strong>Question (\d\.\d+)</strong>(.*?)(?=</li>|\n<strong>Question)",
                      lambda m: question(m, number, state, answered), text, flags=re.S)
        text = re.sub(r"<p><strong>Guess first:</strong>.*?</p>", lambda m: guess(m, state), text, flags=re.S)
        text = re.sub(r'href="(\d-[a-z-]+)\.md', r'href="\1.html', text)
        text = re.sub(r'<a href="(?!\d-)[^"]*\.(?:md|sh|c)[^"]*">(.*?)</a>', r"\1", text)
        body += tables(text)
    title = re.search(r"^# (.*)", read(labs_at, name), flags=re.M).group(1)
    return title, body


def page(name, title, body, kind):
    with open(os.path.join(out, name), "w", encoding="utf-8") as file:
        file.write(f'''<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title)} - Fanout</title><link rel="stylesheet" href="lab.css"></head>
<body data-kind="{kind}" data-title="{html.escape(title)}"><a class="skip" href="#main">Skip to the text</a>
<header><nav aria-label="Pages"><a href="index.html">Fanout in the browser</a>
<a href="playground.html">Playground</a></nav>
<span id="state" role="status">loading the simulator</span></header>
<main id="main">
{body}
</main>
<script src="fanout.js"></script><script src="shell.js"></script>
<script src="knobs.js"></script><script src="lab.js"></script>
</body></html>
''')


def knobs(begin):
    return f'''<h2>Turn the knobs</h2>
<div class="knobs" data-knobs="{begin}">
<p>What would change? Choose, guess, run: the command below the fields is what runs.</p>
<div class="fields" role="group" aria-label="Knobs"></div><div class="system"></div><p class="note words"></p>
<div class="guess free"><p><strong>Guess first:</strong> will it be quicker or slower than the last one, and by how
much?</p><label class="sr" for="gk">Your guess about the knobs</label><input type="text" id="gk"
placeholder="Your guess, then run" autocomplete="off"></div>
<div class="run free" data-guess="1"><label class="sr" for="ck">Command of the knobs</label><textarea id="ck"
class="command" spellcheck="false" rows="3"></textarea><pre class="recorded" hidden></pre></div></div>
'''


def around(names, i):
    """To the labs before and behind."""
    links = [f'<a href="{names[k][:-3]}.html">{word} lab {names[k][0]}</a>'
             for k, word in ((i - 1, "Back to"), (i + 1, "On to")) if 0 <= k < len(names)]
    return f'<nav class="around" aria-label="Other labs">{" ".join(links)}</nav>'


def main():
    answered = answers()
    names = sorted(n for n in os.listdir(labs_at) if re.match(r"\d-.*\.md$", n))
    entries = ""
    for i, name in enumerate(names):
        title, body = lab(name, answered)
        page(name[:-3] + ".html", title, body + knobs(KNOBS[name[0]]) + '''<h2>Your answers</h2>
<p>They are kept in this browser while you work; nothing is sent. The file is what you hand in.</p>
<p><button type="button" id="save">Save my answers as a file</button>
<button type="button" id="clear">Begin anew</button>
<span id="kept" role="status"></span></p>''' + around(names, i), "lab")
        entries += f'<li><a href="{name[:-3]}.html">{html.escape(title)}</a></li>\n'
    for name, source in (("adopt", "docs/howto/adopt.md"), ("instructor", "docs/labs/instructor.md")):
        text = read(top, source)
        body = re.sub(r'<a href="(?!http)[^"]*">(.*?)</a>', r"\1", tables(markdown.render(text)))
        page(name + ".html", re.search(r"^# (.*)", text, flags=re.M).group(1), body, "text")
    page("playground.html", "Playground", '''<h1>Playground</h1>
<p>The command line of <code>coll</code>, <code>bench</code>, <code>walk</code> and <code>systems</code>, with all of
their options. A run happens in this page: nothing is sent anywhere. Lines of <code>for</code>, pipes,
<code>grep</code>, <code>tail</code>, <code>head</code> and <code>sort</code> work, too.</p>
<div class="run" data-guess="0"><label class="sr" for="c1">Command</label>
<textarea id="c1" class="command" spellcheck="false" rows="3">\
fanout coll all_reduce -s teach-4gpu -a nvls,ring -b 4K</textarea>
<pre class="recorded" hidden></pre></div>
''' + knobs("all_reduce teach-4gpu") + '''<h2>Your own system</h2>
<p>What stands here is the file <code>mine.ini</code>; <code>--config mine.ini</code> takes it, on top of a system.</p>
<label class="sr" for="ini">mine.ini</label>
<textarea id="ini" spellcheck="false" rows="8">[system]
gpus = 8
[switch]
reduction_tags = 16
</textarea>
<h2>To begin with</h2>
<ul class="examples"><li><button type="button">fanout walk multimem.ld_reduce -s teach-4gpu</button></li>
<li><button type="button">fanout bench -l</button></li>
<li><button type="button">fanout bench multicast_bw --variant ld_reduce -s dgx-h100</button></li>
<li><button type="button">fanout coll all_reduce -s dgx-h100 -a nvls,ring,twoshot -b 1M --data off</button></li>
<li><button type="button">fanout coll all_reduce -s teach-4gpu --config mine.ini -a nvls -b 64K</button></li>
<li><button type="button">fanout systems gb200-nvl72</button></li></ul>''', "playground")
    page("index.html", "Fanout in the browser", f'''<h1>Fanout in the browser</h1>
<p>A simulator of GPUs, NVLink and NVSwitch with multicast replication and reduction in the switch, as a page: nothing
to install, no server, works from a disk. Eight labs of 25 minutes lead from a packet's way to a lost link; guess
first, then run.</p>
<ol>{entries}</ol>
<p>Or type your own commands in the <a href="playground.html">playground</a>.</p>
<p>The command for Linux has more: traces, CUDA programs, sweeps, tables for planners.</p>
<h2>For instructors</h2>
<ul><li>Slides of two lectures, made from the labs: <a href="slides-1.html">packets, copies, sums</a> and
<a href="slides-2.html">waiting, algorithms, losses</a>; N shows the answers as notes.</li>
<li><a href="adopt.html">Adopt this next week</a>: what to do on which day, and how the autograder is set up.</li>
<li><a href="instructor.html">Answers and timing</a></li></ul>''', "index")


main()
