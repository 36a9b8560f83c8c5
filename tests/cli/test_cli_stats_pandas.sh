#!/bin/sh
# The run and the pandas program of docs/statistics.md, as they stand there, print what stands there.
set -eu
. "$TOP_SRCDIR/tests/cli/cli_test.sh"

find_pandas
sed -n 's/^    \.\/fanout \(.*--stats .*\)/"$FANOUT" \1/p' "$TOP_SRCDIR/docs/statistics.md" | head -1 >run.sh
fenced statistics.md python >page.py
fenced statistics.md text >want
[ -s run.sh ] && [ -s page.py ] && [ -s want ] || complain "the page has no run, program or output"
FANOUT=$FANOUT sh run.sh >/dev/null
"$python" page.py >out 2>err || complain "the program failed: $(cat err)"
[ ! -s err ] || complain "the program complains: $(cat err)"
sed 's/ *$//' out | cmp -s - want || complain "it prints otherwise: $(sed 's/ *$//' out | diff - want)"
finish
