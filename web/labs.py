"""Writes the pages of the browser: labs.py TOP OUT. A page for each lab of docs/labs, a playground, and an index, each a file
that opens from a disk. Commands that can run in a page get a button; a question gets room for an answer, and what
docs/labs/instructor.md answers to compare it with."""
import html, json, os, re, sys

try:
    from markdown_it import MarkdownIt
except ImportError:
    sys.exit("labs.py: no markdown-it for " + sys.executable + ": './bootstrap web' installs python3-markdown-it")

top, out = sys.argv[1:3]
labs_at = os.path.join(top, "docs/labs")
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
                 f'Command {state["runs"]}</label><textarea id="c{state["runs"]}" class="command" spellcheck="false" rows='
                 f'"{command.count(chr(10)) + 1}">{html.escape(command)}</textarea>'
                 f'<pre class="recorded" tabindex="0" hidden>{html.escape(output)}</pre></div>\n')
        state["guess"] = False
    return text


def question(match, number, state, answered):
    key = match.group(1)
    answer = answered.get(number, {}).get(int(key.split(".")[1]), "")
    state["questions"] += 1
    return (f'<strong>Question {key}</strong>{match.group(2)}<div class="question" data-key="{key}">'
            f'<label class="sr" for="q{key}">Your answer to question {key}</label><textarea id="q{key}" rows="2" '
            f'placeholder="Your answer"></textarea><button type="button" class="compare">Compare</button>'
            f'<div class="answer" hidden>{answer or "The instructors’ page has no answer to this one."}</div></div>')


def lab(name, answered):
    number = name[0]
    state = {"runs": 0, "questions": 0, "guess": False}
    body = ""
    for piece in re.split(r"(^```.*?^```\n)", read(labs_at, name), flags=re.M | re.S):
        if piece.startswith("```console"):
            body += console(piece.split("\n", 1)[1].rsplit("```", 1)[0], state)
            continue
        if piece.startswith("```"):
            body += f'<pre class="drawing" tabindex="0">{html.escape(piece.split(chr(10), 1)[1].rsplit("```", 1)[0])}</pre>\n'
            continue
        state["guess"] = state["guess"] or "**Guess first:**" in piece
        text = markdown.render(piece)
        text = re.sub(r"<strong>Question (\d\.\d+)</strong>(.*?)(?=</li>|\n<strong>Question)", lambda m: question(m, number, state, answered),
                      text, flags=re.S)
        text = re.sub(r"(<p><strong>Guess first:</strong>.*?</p>)",
                      r'<div class="guess">\1<label class="sr">Your guess</label><input type="text" placeholder="Your guess, then run">'
                      r"</div>", text, flags=re.S)
        text = re.sub(r'href="(\d-[a-z-]+)\.md', r'href="\1.html', text)
        text = re.sub(r'<a href="(?!\d-)[^"]*\.(?:md|sh|c)[^"]*">(.*?)</a>', r"\1", text)
        body += text.replace("<table>", '<div class="wide" tabindex="0"><table>').replace("</table>", "</table></div>")
    title = re.search(r"^# (.*)", read(labs_at, name), flags=re.M).group(1)
    return title, body


def page(name, title, body, kind):
    with open(os.path.join(out, name), "w", encoding="utf-8") as file:
        file.write(f'''<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title)} - Fanout</title><link rel="stylesheet" href="lab.css"></head>
<body data-kind="{kind}" data-title="{html.escape(title)}"><a class="skip" href="#main">Skip to the text</a>
<header><nav aria-label="Pages"><a href="index.html">Fanout in the browser</a> <a href="playground.html">Playground</a></nav>
<span id="state" role="status">loading the simulator</span></header>
<main id="main">
{body}
</main>
<script src="fanout.js"></script><script src="shell.js"></script><script src="lab.js"></script>
</body></html>
''')


def main():
    answered = answers()
    names = sorted(n for n in os.listdir(labs_at) if re.match(r"\d-.*\.md$", n))
    entries = ""
    for name in names:
        title, body = lab(name, answered)
        page(name[:-3] + ".html", title, body + '<p><button type="button" id="save">Save my answers as a file</button></p>', "lab")
        entries += f'<li><a href="{name[:-3]}.html">{html.escape(title)}</a></li>\n'
    page("playground.html", "Playground", '''<h1>Playground</h1>
<p>The command line of <code>coll</code>, <code>bench</code>, <code>walk</code> and <code>systems</code>, with all of their
options. A run happens in this page: nothing is sent anywhere. Lines of <code>for</code>, pipes, <code>grep</code>,
<code>tail</code>, <code>head</code> and <code>sort</code> work, too.</p>
<div class="run" data-guess="0"><label class="sr" for="c1">Command</label>
<textarea id="c1" class="command" spellcheck="false" rows="3">fanout coll all_reduce -s teach-4gpu -a nvls,ring -b 4K</textarea>
<pre class="recorded" hidden></pre></div>
<h2>Your own system</h2>
<p>What stands here is the file <code>mine.ini</code>; <code>-s mine.ini</code> takes it.</p>
<label class="sr" for="ini">mine.ini</label>
<textarea id="ini" spellcheck="false" rows="8">[system]
base = teach-4gpu
gpus = 8
[switch]
reduction_tags = 16
</textarea>
<h2>To begin with</h2>
<ul class="examples"><li><button type="button">fanout walk multimem.ld_reduce -s teach-4gpu</button></li>
<li><button type="button">fanout bench -l</button></li>
<li><button type="button">fanout bench multicast_bw --variant ld_reduce -s dgx-h100</button></li>
<li><button type="button">fanout coll all_reduce -s dgx-h100 -a nvls,ring,twoshot -b 1M --data off</button></li>
<li><button type="button">fanout coll all_reduce -s mine.ini -a nvls -b 64K</button></li>
<li><button type="button">fanout systems gb200-nvl72</button></li></ul>''', "playground")
    page("index.html", "Fanout in the browser", f'''<h1>Fanout in the browser</h1>
<p>A simulator of GPUs, NVLink and NVSwitch with multicast replication and reduction in the switch, as a page: nothing to
install, no server, works from a disk. Eight labs of 25 minutes lead from a packet's way to a lost link; guess first, then run.</p>
<ol>{entries}</ol>
<p>Or type your own commands in the <a href="playground.html">playground</a>.</p>
<p>The command for Linux has more: traces, CUDA programs, sweeps, tables for planners.</p>''', "index")


main()
