#!/bin/sh
# Prints what calls cost on the host with 8 processes of 60 threads each (docs/time.md, "What it costs"); no test, since
# these figures are the machine's. `make` first; then: FANOUT=./fanout TOP_SRCDIR=. sh tests/wire/costs.sh [PROCESSES [THREADS]]
set -eu
. "$TOP_SRCDIR/tests/wire/program.sh"
build costs -pthread
"$FANOUT" exec -s dgx-h100 --report "$dir/report.json" -- "$dir/costs" "${1:-8}" "${2:-60}" 2>/dev/null
