#!/bin/sh
# The databases of examples/search give the answers of its page, and have what a point gives when it is run again.
set -eu
. "$TOP_SRCDIR/tests/cli/cli_test.sh"
command -v sqlite3 >/dev/null || { echo "skipped: no sqlite3; 'apt-get install sqlite3' brings it"; exit 77; }
search=$TOP_SRCDIR/examples/search

sed -n '/^```text/,/^```$/p' "$search/README.md" | grep -v '^```' >want
for gpus in 8 72 576; do
    cp "$search/nvswitch-$gpus.db" .
    sqlite3 nvswitch-$gpus.db <"$search/cheapest.sql" | sed 's/ *$//'
done >out
cmp -s out want || complain "the page has other answers: $(diff out want)"
sqlite3 nvswitch-8.db "SELECT command, busbw_GBps FROM points WHERE id IN (1, 80)" >points
while IFS='|' read -r command busbw; do
    "$FANOUT" ${command#fanout } --format csv | tail -1 | cut -d , -f 13 >one
    awk -v want="$busbw" '{ exit !($1 == want) }' one || echo "$command: $(cat one), not $busbw"
done <points >again
[ ! -s again ] || complain "run again: $(cat again)"
finish
