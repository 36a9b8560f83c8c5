#!/bin/sh
# Whoever of a job dies, and whenever: one of four ranks is killed again and again below one owner, and the survivors end
# soon, right or with an error of the driver, the log names who died, and the job's report is written. When the owner is
# killed, its clients hear of it and end. Nothing is left of either. A client may become another program; the child of
# one is none; a rank that is killed while a team is set up ends the others' binds with the device that is missing.
#
# DEATH_ROUNDS (24) ranks are killed, and DEATH_OWNERS (4) owners; DEATH_SEED (1) draws other moments.
set -eu
. "$TOP_SRCDIR/tests/plain.sh"
ranks=$(dirname "$FANOUT")/tests/wire/ranks
[ -x "$ranks" ] || { echo "no $ranks"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/tmp"
export TMPDIR="$dir/tmp"
fail() { cat "$dir/out"; echo "$1"; exit 1; }
job="death-$$"
ln -s "$(cd "$(dirname "$ranks")" && pwd)/ranks" "$dir/$job"
left() { ps -eo stat=,args= | awk -v job="$dir/$job" '$1 !~ /Z/ && index($0, job) && !/awk/ { n++ } END { print n + 0 }'; }
run() { # arguments of ranks
    code=0
    "$FANOUT" exec -s dgx-h100 --report "$dir/report.json" -- "$dir/$job" "$@" >"$dir/out" 2>&1 || code=$?
    case $code in 0 | 2) ;; *) fail "ranks $*: ended with $code" ;; esac # 2: kernels waited for a rank that was dead
    [ -s "$dir/report.json" ] || fail "ranks $*: no report"
    [ "$(left)" = 0 ] || fail "ranks $*: processes are left"
}

rounds=${DEATH_ROUNDS:-24} seed=${DEATH_SEED:-1}
run "$rounds" "$seed"
grep -q "^$((rounds + 2)) rounds: " "$dir/out" || fail "the rounds did not end right"
grep "rounds: " "$dir/out"
grep -q 'rank [0-3], .* (process [0-9]*) was killed' "$dir/out" || fail "nobody is named who died"

run exec
run fork
run setup
grep -q 'rank 3, .* (process [0-9]*) was killed' "$dir/out" || fail "the rank that was killed in the set-up is not named"
[ "$(grep -c 'cuMulticastBindMem.*CUDA_ERROR_LAUNCH_TIMEOUT' "$dir/out")" = 3 ] || fail "not every bind has ended"
[ "$(grep -c 'waiting for team members: 3 of 4 were added; not added: device 3' "$dir/out")" -ge 3 ] ||
    fail "the missing device is not named"

owners=${DEATH_OWNERS:-4} k=0
while [ "$k" -lt "$owners" ]; do
    k=$((k + 1))
    "$FANOUT" exec -s dgx-h100 --report "$dir/none.json" -- "$dir/$job" 1000 "$seed" >"$dir/out" 2>&1 &
    owner=$!
    sleep "$(awk -v k="$k" -v seed="$seed" 'BEGIN { srand(seed * 1000 + k); printf "%.3f", 0.02 + rand() * 0.5 }')"
    kill -9 "$owner"
    wait "$owner" 2>/dev/null || true
    n=0
    while [ "$(left)" != 0 ]; do
        n=$((n + 1))
        [ "$n" -lt 300 ] || { ps -eo pid,stat,args | grep "$job"; fail "clients live 30 s after their owner was killed"; }
        sleep 0.1
    done
done
[ -z "$(ls -A "$dir/tmp")" ] || { ls "$dir/tmp"; fail "files are left"; }

# an owner below another one is refused, and so is a client whose owner there is not
code=0
timeout 30 "$FANOUT" exec -s dgx-h100 -- "$FANOUT" exec -s dgx-h100 -- "$dir/$job" one >"$dir/out" 2>&1 || code=$?
[ "$code" != 0 ] && [ "$code" != 124 ] || fail "two owners nested: ended with $code"
grep -q 'part of the job of another' "$dir/out" || fail "two owners nested: no word of it"
