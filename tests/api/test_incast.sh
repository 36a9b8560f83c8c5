#!/bin/sh
# Proves that the traffic of two processes meets on links: GPU 0 and GPU 1 push 64 MiB each to GPU 2 at once, whose 18
# links take 392 GB/s (docs/fidelity.md), so that each gets 196 and needs 342 us; as two processes exactly what it gets as
# two threads, in each of several runs, with the same bytes of report.
set -eu
. "$TOP_SRCDIR/tests/plain.sh"
libs=$(dirname "$FANOUT")/.libs
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
${CC:-cc} -std=gnu11 -O1 -Wall -Wextra -Werror -I"$TOP_SRCDIR/api/include" -I"$TOP_SRCDIR/api/include/fanout" \
    "$TOP_SRCDIR/examples/incast.c" -o "$dir/incast" "$libs/libcuda.so.1" -Wl,-rpath-link,"$libs" -lpthread 2>"$dir/errors" ||
    { cat "$dir/errors"; exit 1; }
for how in threads processes; do
    for run in 1 2 3 4 5; do
        timeout 100 "$FANOUT" exec -s dgx-h100 --report "$dir/$how$run.json" -- "$dir/incast" $how | sort >"$dir/$how$run"
        cmp "$dir/${how}1.json" "$dir/$how$run.json" || { echo "$how: the reports of two runs differ"; exit 1; }
        cmp "$dir/threads1" "$dir/$how$run" || { cat "$dir/threads1" "$dir/$how$run"; exit 1; }
    done
done
awk '{ sub(/:/, "", $2); us = $3; rate = $5
       if (us < 335 || us > 350 || rate < 191 || rate > 201) { print "not what the links take: " $0; bad = 1 } n++ }
     END { exit bad || n != 2 }' "$dir/threads1" || { cat "$dir/threads1"; exit 1; }
echo "2 senders, $(head -1 "$dir/threads1")"
