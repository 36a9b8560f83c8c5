#!/bin/sh
# The sweep and the pandas program of docs/explore.md, run as they stand there, print what stands there.
set -eu
. "$TOP_SRCDIR/tests/cli/cli_test.sh"

find_pandas
fenced explore.md ini >tags.ini
fenced explore.md python >page.py
fenced explore.md text >want
[ -s tags.ini ] && [ -s page.py ] && [ -s want ] || complain "the page has no sweep, program or output"
"$FANOUT" sweep tags.ini >/dev/null
"$python" page.py >out 2>err || complain "the program failed: $(cat err)"
[ ! -s err ] || complain "the program complains: $(cat err)"
sed 's/ *$//' out | cmp -s - want || complain "it prints otherwise: $(diff out want)"
finish
