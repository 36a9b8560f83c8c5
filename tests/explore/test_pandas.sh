#!/bin/sh
# The sweep and the pandas program of docs/explore.md, run as they stand there, print what stands there.
set -eu
. "$TOP_SRCDIR/tests/cli/cli_test.sh"

python=
for one in ${FANOUT_PYTHON:-} python3 "$(dirname "$FANOUT")/clients-venv/bin/python"; do
    if "$one" -c 'import pandas' 2>/dev/null; then
        python=$one
        break
    fi
done
[ -n "$python" ] || { echo "skipped: no pandas; 'make client-packages' installs it, FANOUT_PYTHON names a Python"; exit 77; }

# fenced WORD: the first block of that kind in the page
fenced() {
    awk -v fence='```'"$1" '$0 == fence && !n++ { on = 1; next } /^```/ { on = 0 } on' "$TOP_SRCDIR/docs/explore.md"
}
fenced ini >tags.ini
fenced python >page.py
fenced text >want
[ -s tags.ini ] && [ -s page.py ] && [ -s want ] || complain "the page has no sweep, program or output"
"$FANOUT" sweep tags.ini >/dev/null
"$python" page.py >out 2>err || complain "the program failed: $(cat err)"
[ ! -s err ] || complain "the program complains: $(cat err)"
sed 's/ *$//' out | cmp -s - want || complain "it prints otherwise: $(diff out want)"
finish
