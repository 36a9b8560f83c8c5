#!/bin/sh
# Proves that `fanout bench --record` notices a loss of speed, and that four runs take no more instructions than
# recorded. Instructions are counted by valgrind and not timed: a second of one machine is not a second of another, nor
# are its caches, and what neighbours do to them made this test fail where nothing had changed.
set -u
record="$TOP_SRCDIR/tests/bench/instructions.recorded"
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT

echo 'nvls/16777216 9.9' >"$dir/faster"
"$FANOUT" bench nvls --runs 1 --record "$dir/faster" >/dev/null 2>"$dir/err"
[ $? -eq 2 ] || { echo "FAIL: a loss went unnoticed"; exit 1; }
grep -q 'slower than recorded' "$dir/err" || { cat "$dir/err"; echo "FAIL: no message about it"; exit 1; }

skip() { echo "SKIP: instructions are not compared: $1"; exit 77; }
case ${SANITIZE:-no} in no | '') ;; *) skip "this build has a sanitizer in it" ;; esac
command -v valgrind >/dev/null || skip "no valgrind; 'apt-get install valgrind' brings it"
made_by=$(sed -n 's/^# compiler: //p' "$record")
readelf -p .comment "$FANOUT" 2>/dev/null | grep -qF "$made_by" || skip "the record is of $made_by"
case " ${FANOUT_CFLAGS:-} " in *" -O2 "*) ;; *) skip "the record is of -O2, this build of '${FANOUT_CFLAGS:-}'" ;; esac

grep '^[0-9]' "$record" >"$dir/rows"
bad=0
while read -r recorded command; do
    # shellcheck disable=SC2086
    valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null --log-file="$dir/count" \
        "$FANOUT" $command </dev/null >/dev/null 2>"$dir/err" || { cat "$dir/err"; echo "FAIL: $command"; exit 1; }
    count=$(sed -n 's/.*I *refs: *//p' "$dir/count" | tr -d ,)
    more=$((count / 1000 * 1000 / (recorded / 1000) - 1000)) # thousandths more than recorded
    echo "$count $command    # recorded $recorded: $more thousandths more"
    [ "$more" -le 30 ] || bad=1
done <"$dir/rows"
[ "$bad" -eq 0 ] || { echo "FAIL: more than 3 % more instructions than recorded in $record"; exit 1; }
echo "PASS: speed"
