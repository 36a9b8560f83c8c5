#!/bin/sh
# Proves that a newcomer can type what the README shows first: every command of "First steps" ends well in a folder
# that has what a build has, and so do the architect's of docs/howto.
set -eu
command -v gnuplot >/dev/null || { echo "skipped: no gnuplot, which 'fanout plot' needs; ./bootstrap installs it"; exit 77; }
case ${SANITIZE:-no} in no | '') ;; *) echo "skipped: a sanitized library cannot be loaded by plain programs"; exit 77 ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
ln -s "$FANOUT" fanout
mkdir examples
ln -s "$TOP_SRCDIR/examples/job.trace" "$TOP_SRCDIR/examples/tags.ini" examples/
ln -s "$(dirname "$FANOUT")/examples/multicast_allreduce" examples/
PATH=$work:$PATH
FANOUT_QUIET=1
export PATH FANOUT_QUIET
failures=0 n=0

{
    grep '^    fanout' "$TOP_SRCDIR/docs/howto/architect.md"
    # The README's two reports are those that the architect's commands leave.
    sed -n '/^## First steps/,/^## /p' "$TOP_SRCDIR/README.md" | grep '^    \./fanout' |
        sed 's/a\.json b\.json/many.json few.json/'
} | sed 's/^ *//; s/  *# .*//' >commands
while IFS= read -r command; do
    n=$((n + 1))
    if ! sh -c "$command" >out 2>err </dev/null; then
        echo "$command: $(tail -n 2 err)"
        failures=$((failures + 1))
    fi
done <commands
echo "$n commands, $failures failures"
[ "$n" -ge 15 ] && [ "$failures" = 0 ]
