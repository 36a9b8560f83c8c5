#!/bin/sh
# Proves, for every verb and every option that names an output, that the file is written, valid and not empty, or that
# the option is refused by name with the reason: the table is in views.py. First that its checkers can say no.
. "$TOP_SRCDIR/tests/cli/cli_test.sh"
. "$TOP_SRCDIR/tests/cli/inputs.sh"
command -v gnuplot >/dev/null || { echo "skipped: no gnuplot, which 'fanout plot' needs; ./bootstrap installs it"; exit 77; }
mkfifo hold
"$FANOUT" exec -s teach-4gpu -- cat hold & # a machine for 'fanout fabric', while nobody writes there
job=$!
trap 'kill $job; rm -rf "$work"' EXIT
python3 "$TOP_SRCDIR/tests/cli/views.py" || complain "see above"
finish
