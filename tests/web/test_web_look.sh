#!/bin/sh
# Proves that the pages of `make web` are for everyone: at 360, 800, 1600 and 3840 pixels, in light and dark, nothing is
# wider than the window, of too little contrast, without a name or out of reach of keys, and nothing is complained of on
# the console; axe-core finds nothing; a lab is worked through by the keyboard alone. And that a student does not wait:
# the figures of docs/web.md, three times as long where other tests run beside this one.
. "$TOP_SRCDIR/tests/cli/cli_test.sh"

site=$(dirname "$FANOUT")/web-build/site
[ -f "$site/fanout.js" ] || { echo "skipped: no web-build; './bootstrap web' makes it"; exit 77; }
command -v chromium >/dev/null || { echo "skipped: no Chromium; on Debian: apt-get install chromium"; exit 77; }

tests=$TOP_SRCDIR/tests
for page in "$site"/*.html; do
    timeout 280 python3 "$tests/cli/page_checks.py" "$page" >out 2>&1 || complain "$(head -n 20 out)"
done
timeout 280 python3 "$tests/web/keys.py" "$site/1-a-packets-way.html" >out 2>&1 || complain "by keys: $(cat out)"
timeout 280 python3 "$tests/web/first_run.py" "$site" "${WEB_PATIENCE:-3}" >out 2>&1 || complain "waiting: $(cat out)"
cat out

# A page with faults is found out: grey on white, and a field without a name.
sed -e 's/<label class="sr" for="g1">[^<]*<.label>//' -e 's/<head>/<head><style>p { color: #999 }<\/style>/' \
    "$site/1-a-packets-way.html" >fault.html
cp "$site"/*.js "$site"/*.css .
python3 "$tests/cli/page_checks.py" fault.html >out 2>&1 && complain "a page with faults passes"
grep -q 'no name' out || complain "no name is missed: $(head -n 5 out)"
grep -q 'contrast' out || complain "no contrast is missed: $(head -n 5 out)"

axe=$(sh "$tests/cli/find_axe.sh")
if [ -n "$axe" ]; then
    timeout 280 python3 "$tests/cli/page_axe.py" "$axe" "$site"/*.html >out 2>&1 || complain "axe: $(head -n 20 out)"
else
    echo "axe-core was not asked: no axe.min.js; 'pip install axe-playwright-python' brings it, FANOUT_AXE names it"
fi
finish
