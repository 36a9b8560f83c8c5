#!/bin/sh
# Proves every column of the report's table `arrivals`: three processes launch a kernel four times, at known times after a
# millisecond each, 0, 3 and 8 us, 6, 0 and 2, 0, 0 and 9, 5, 5 and 0. So rank 2 is the last one twice, by 8 - 3 and 9 - 0,
# rank 0 once, by 6 - 2, and once two are. Rank 0 waits for 8 + 0 + 9 + 0 us, rank 1 for 5 + 6 + 9 + 0, rank 2 for
# 0 + 4 + 0 + 5.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
. "$TOP_SRCDIR/tests/plain.sh"
libs=$(dirname "$FANOUT")/.libs
[ -f "$libs/libfanout_wait.so" ] || { echo "no $libs/libfanout_wait.so"; exit 77; }
${CC:-cc} -std=gnu11 -O1 -Wall -Wextra -Werror -I"$TOP_SRCDIR/api/include" "$TOP_SRCDIR/tests/wire/arrivals.c" \
    -o "$dir/arrivals" "$libs/libcuda.so.1" -Wl,-rpath-link,"$libs"
timeout 100 "$FANOUT" exec -s teach-4gpu --report "$dir/report.json" -- "$dir/arrivals" >"$dir/out" 2>&1 ||
    { cat "$dir/out"; exit 1; }
tr -d '\n' <"$dir/report.json" | sed -e 's/  */ /g' -e 's/{/\n{/g' | grep '"late_us"' | sed 's/ *}.*//; s/^{ *//' >"$dir/rows"
cat >"$dir/right" <<'END'
"rank": 0, "groups": 4, "last": 1, "late_us": 4.000, "late_most_us": 4.000, "waited_us": 17.000
"rank": 1, "groups": 4, "last": 0, "late_us": 0.000, "late_most_us": 0.000, "waited_us": 20.000
"rank": 2, "groups": 4, "last": 2, "late_us": 7.000, "late_most_us": 9.000, "waited_us": 9.000
END
diff "$dir/right" "$dir/rows" || { grep -A30 arrivals "$dir/report.json"; exit 1; }
grep -q 'rank 2 was last into 2 of 4 kernels that belong together, by 7.000 us on average and 9.000 at most' \
    "$dir/report.json" || { grep last "$dir/report.json"; exit 1; }
echo "who was last is told right"
