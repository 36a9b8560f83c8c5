#!/bin/sh
# Proves that a thread which polls pinned memory, without a call, sees what a kernel writes there when the kernel writes
# it, and not when the next sleeper wakes: below cuda.quiet_ms time runs to that write and waits again. 20 rounds of a
# write and a read by PCI Express (some 2 us) and at most a quantum of 1 us, or an eighth of what the kernel took so far,
# between them: less than 20 (2 + 1) us (9/8)^20 = 633 us. The sleep ends after 1,000,000 us.
set -eu
. "$TOP_SRCDIR/tests/wire/program.sh"
build spinner -pthread
timeout 120 "$FANOUT" exec -s teach-4gpu --set cuda.quiet_ms=50 --report "$dir/report.json" -- "$dir/spinner" \
    >"$dir/out"
ns=$(head -n 1 "$dir/out")
[ "$ns" -gt 20000 ] && [ "$ns" -lt 633000 ] || { echo "20 rounds took $ns ns"; exit 1; }
grep -q '"time_forced": [1-9]' "$dir/report.json" || { echo "the report does not say that the host decided"; exit 1; }
