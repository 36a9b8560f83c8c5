#!/bin/sh
# Proves that the simulator is as fast, beside a binary heap in the same process, as recorded, and that a
# loss is noticed. Runs when the other tests are done; a busy machine may make it try again.
set -u
record="$TOP_SRCDIR/tests/bench/speed.recorded"
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT

sed 's/ 0\./ 9./' "$record" >"$dir/faster"
"$FANOUT" bench nvls --runs 1 --record "$dir/faster" >/dev/null 2>"$dir/err"
[ $? -eq 2 ] || { echo "FAIL: a loss went unnoticed"; exit 1; }
grep -q 'slower than recorded' "$dir/err" || { cat "$dir/err"; echo "FAIL: no message about it"; exit 1; }

case ${SANITIZE:-no} in no | '') ;; *) echo "PASS: speed is not compared under a sanitizer"; exit 0 ;; esac
for try in 1 2 3 4; do
    if "$FANOUT" bench speed --runs 3 --record "$record" >"$dir/out" 2>"$dir/err"; then
        cat "$dir/out"
        echo "PASS: speed"
        exit 0
    fi
done
cat "$dir/out" "$dir/err"
echo "FAIL: slower than recorded, four times"
exit 1
