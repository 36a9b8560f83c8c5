#!/bin/sh
# Proves that programs may sleep for longer than a run of the model has room for (140 s): an hour, a poll of two and a
# condition of a day are as long as they say on every clock, also beside others, and a copy after them takes what it took
# before. The report leaves out what nothing happened in, and says how much that was: its own time and that are the job's.
set -eu
. "$TOP_SRCDIR/tests/wire/program.sh"
build long_sleeps -lpthread
for run in 1 2; do
    timeout 100 "$FANOUT" exec -s teach-4gpu --report "$dir/report$run.json" -- "$dir/long_sleeps" beside >"$dir/out$run" ||
        { cat "$dir/out$run"; echo "ended with $?"; exit 1; }
done
cmp "$dir/report1.json" "$dir/report2.json"
cmp "$dir/out1" "$dir/out2"
cat >"$dir/right" <<'END'
sleep 3600000000000
clock 60
events 3600000
copy the same
poll 7200000000000
condition 1 86400
join 0
copy the same
rounds right
END
grep -v '^end' "$dir/out1" | diff "$dir/right" - || exit 1
value() { sed -n "s/^ \"$1\": \([0-9.]*\),.*/\1/p" "$dir/report1.json"; }
end=$(sed -n 's/^end //p' "$dir/out1")
# an hour, two, a day and a minute; what is left out is all but the first minute, and what there was of work
awk -v own="$(value simulated_us)" -v left="$(value slept_us)" -v end="$end" 'BEGIN {
    if (own < 60e6 || own > 61e6 || left > 97260e6 - 60e6 || left < 97260e6 - 61e6) { print "own " own ", left out " left; bad = 1 }
    if (own + left - end > 2 || own + left - end < -2) { print own " and " left " are not " end " us"; bad = 1 }
    exit bad }'
grep -q 'all times of this report are without it' "$dir/report1.json" || { echo "the report has no note"; exit 1; }

# what is shorter than a minute is shown as it is
timeout 100 "$FANOUT" exec -s teach-4gpu --report "$dir/short.json" -- "$dir/long_sleeps" short || exit 1
grep -q '"simulated_us": 500000' "$dir/short.json" || { grep simulated_us "$dir/short.json"; echo "not 50 s"; exit 1; }
if grep -q slept_us "$dir/short.json"; then
    echo "50 s were left out"
    exit 1
fi
echo passed
