#!/bin/sh
# Proves, without a browser, what a page promises: its tags are balanced, nothing in it leads to another address or file,
# it stays small, charts scale with the window, tables scroll in boxes that the keyboard reaches, dark screens and paper
# have a style, and the command that it names makes the same page again.
. "$TOP_SRCDIR/tests/cli/cli_test.sh"

cat >page.py <<'P'
import html.parser, re, sys
text = open(sys.argv[1], encoding="utf-8").read()
void = {"meta", "br", "input", "link", "img"}
class Page(html.parser.HTMLParser):
    stack, command, boxed = [], "", 0
    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        assert not {"src", "href", "srcset", "data"} & attrs.keys(), (tag, attrs)
        assert tag not in {"link", "img", "iframe", "object"}, tag
        if tag == "table":
            assert self.stack[-1] == "div", "a table without a box"
            self.boxed += 1
        if tag == "svg":
            assert "viewbox" in attrs and "width" not in attrs and attrs["role"] == "img", attrs
        if tag not in void:
            self.stack.append(tag)
    def handle_endtag(self, tag):
        assert self.stack.pop() == tag, tag
    def handle_startendtag(self, tag, attrs):
        pass
    def handle_data(self, data):
        if self.stack and self.stack[-1] == "pre":
            self.command += data
page = Page()
page.feed(text)
assert page.stack == [], page.stack
assert page.boxed == text.count('<div class="scroll" tabindex="0" role="region" aria-label="') > 0
assert not re.search(r"https?:|@import|url\(", text), "an address"
assert len(text) < 3 << 20
for part in ("prefers-color-scheme: dark", "@media print", 'name="viewport"'):
    assert part in text, part
print(page.command)
P
page() { # ARG...
    "$FANOUT" "$@" --html a.html >out 2>err || complain "$*: $(cat err)"
    python3 page.py a.html >command 2>err || complain "$*: $(tail -1 err)"
    [ "$(cat command)" = "fanout $* --html a.html" ] || complain "$*: the page says to repeat it: $(cat command)"
    mv a.html first.html
    sed 's/^fanout/"$FANOUT"/' command >again.sh
    FANOUT=$FANOUT sh again.sh >out 2>err || complain "$*: its own command fails: $(cat err)"
    cmp -s first.html a.html || complain "$*: its own command makes another page"
}
page coll all_reduce -s teach-4gpu -a nvls,ring -b 4K -e 64K
page walk multimem.ld_reduce -s teach-4gpu --set switch.latency_ps=120000
page bench load_latency -s teach-4gpu

finish
