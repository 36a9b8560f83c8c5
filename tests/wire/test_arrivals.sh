#!/bin/sh
# Proves every column of the report's table `arrivals`: three processes launch a kernel four times, at known times after a
# millisecond each, 0, 3 and 8 us, 6, 0 and 2, 0, 0 and 9, 5, 5 and 0. So rank 2 is the last one twice, by 8 - 3 and 9 - 0,
# rank 0 once, by 6 - 2, and once two are. Rank 0 waits for 8 + 0 + 9 + 0 us, rank 1 for 5 + 6 + 9 + 0, rank 2 for
# 0 + 4 + 0 + 5.
set -eu
. "$TOP_SRCDIR/tests/wire/program.sh"
build arrivals
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

# The same launches on one timeline, a track for each rank's GPU, and in each rank's own file, all by the job's one clock:
# a millisecond each and what stands above, rounded, since a sleep is of whole nanoseconds.
timeout 100 "$FANOUT" exec -s teach-4gpu --report "$dir/report.json" --report-ranks "$dir/ranks" \
    --perfetto "$dir/timeline.json" -- "$dir/arrivals" >"$dir/out" 2>&1 || { cat "$dir/out"; exit 1; }
printf '%s\n' '0 1000 2006 3000 4005' '1 1003 2000 3000 4005' '2 1008 2002 3009 4000' >"$dir/right"
tr -d '\n' <"$dir/timeline.json" | sed 's/{"ph"/\n{"ph"/g' >"$dir/slices"
for rank in 0 1 2; do
    pid=$(sed -n "s/.*\"process_name\".*\"pid\": *\([0-9]*\),.*\"name\": *\"gpu$rank\".*/\1/p" "$dir/slices")
    sed -n "s/.*\"ph\": *\"X\", *\"name\": *\"turn\", *\"pid\": *$pid,.*\"ts\": *\([0-9.]*\),.*/\1/p" "$dir/slices" |
        awk -v rank=$rank '{ us = us sprintf(" %.0f", $1) } END { print rank us }'
done >"$dir/timeline"
diff "$dir/right" "$dir/timeline" || { cat "$dir/slices"; echo "not all kernels are where they were on one timeline"; exit 1; }
for rank in 0 1 2; do
    sed -n 's/^ *"start_us": \([0-9.]*\),.*/\1/p' "$dir/ranks/rank$rank.json" |
        awk -v rank=$rank '{ us = us sprintf(" %.0f", $1) } END { print rank us }'
done >"$dir/own"
diff "$dir/right" "$dir/own" || { cat "$dir"/ranks/*; echo "not each rank's file has its own launches"; exit 1; }
[ "$(find "$dir/ranks" -type f | wc -l)" = 3 ] || { echo "not a file for each rank"; exit 1; }
for rank in 0 1 2; do # and its own line of who was last
    grep -A 12 '"arrivals"' "$dir/ranks/rank$rank.json" | tr -d '\n' | sed 's/  */ /g' >"$dir/line"
    row=$(sed -n "s/^\"rank\": $rank, //p" "$dir/rows")
    grep -qF "$row" "$dir/line" || { cat "$dir/line"; echo "rank $rank: not said: $row"; exit 1; }
done
echo "one timeline, and a file for each rank"
