#!/bin/sh
# A sweep on several ranks gives the database of one process, also when a rank is killed, when every rank but the first
# is, and when the first is and the command is given again; a slow rank holds up its own point alone.
set -eu
. "$TOP_SRCDIR/tests/cli/cli_test.sh"

is() { [ "$2" = "$3" ] || complain "$1: '$2' is not '$3'"; }
dump() { if command -v sqlite3 >/dev/null; then sqlite3 "$1" .dump; else "$FANOUT" sweep s.ini -o "$1" --format csv; fi | cksum; }
printf '[sweep]\nrun = coll all_reduce\n[fixed]\nsystem = teach-4gpu\nalgo = ring\nbytes = 64K\n[grid]\nseed = 1..60 +1\n' >s.ini

# Built without MPI, several ranks are refused: each would do all of it.
if ! ldd "$(dirname "$FANOUT")/.libs/fanout" "$FANOUT" 2>/dev/null | grep -q libmpi; then
    OMPI_COMM_WORLD_SIZE=2 "$FANOUT" sweep s.ini >out 2>err && complain "two ranks without MPI"
    grep -q "built without MPI: ./configure --with-mpi" err || complain "without MPI: $(cat err)"
    [ ! -e s.db ] || complain "a rank without MPI wrote a database"
    finish
    echo "skipped: built without MPI; 'apt-get install libopenmpi-dev' and './configure --with-mpi' bring it"
    exit 77
fi
command -v mpirun >/dev/null || { echo "skipped: no mpirun; 'apt-get install openmpi-bin' brings it"; exit 77; }

OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_base_warn_component_unused=0
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_btl_base_warn_component_unused
ranks() { # ranks N DB: in the background; $pid
    timeout 90 mpirun --oversubscribe --enable-recovery -n "$1" "$FANOUT" sweep s.ini -o "$2" --format csv >out 2>err &
    pid=$!
}
# rank_pid R: the process that is rank R of the run; below mpirun, which is below timeout
rank_pid() {
    for _ in $(seq 200); do
        for mpirun in $(cat "/proc/$pid/task/$pid/children" 2>/dev/null); do
            for child in $(cat "/proc/$mpirun/task/$mpirun/children" 2>/dev/null); do
                if tr '\0' '\n' <"/proc/$child/environ" 2>/dev/null | grep -q "^OMPI_COMM_WORLD_RANK=$1\$"; then
                    echo "$child"
                    return
                fi
            done
        done
        sleep 0.05
    done
    echo 0
}
points() { sqlite3 "$1" 'SELECT count(*) FROM points' 2>/dev/null || echo 0; }
# until N DB: until so many points are there, or it has ended
until_points() {
    command -v sqlite3 >/dev/null || { sleep 2; return 0; }
    for _ in $(seq 600); do
        [ "$(points "$2")" -lt "$1" ] || break
        kill -0 $pid 2>/dev/null || break
        sleep 0.05
    done
}

"$FANOUT" sweep s.ini -o calm.db --format csv >calm.csv
calm=$(dump calm.db)

ranks 3 all.db
wait $pid || complain "three ranks: $(cat err)"
cmp -s out calm.csv || complain "three ranks print otherwise"
is "three ranks" "$(dump all.db)" "$calm"

ranks 4 one.db
until_points 5 one.db
kill -9 "$(rank_pid 2)"
wait $pid || complain "a killed rank: $(cat err)"
is "a killed rank" "$(dump one.db)" "$calm"

ranks 3 two.db
until_points 5 two.db
for rank in 1 2; do kill -9 "$(rank_pid $rank)"; done
wait $pid || complain "all other ranks killed: $(cat err)"
is "all other ranks killed" "$(dump two.db)" "$calm"

ranks 3 first.db
until_points 5 first.db
kill -9 "$(rank_pid 0)"
wait $pid || : # --enable-recovery: mpirun ends with 0 whatever its ranks did
cmp -s out calm.csv && complain "the first rank was killed, and all is well"
grep -q "the first rank is lost; the same command goes on" err || complain "the first rank: $(cat err)"
ranks 3 first.db
wait $pid || complain "going on: $(cat err)"
is "the first rank killed, and on" "$(dump first.db)" "$calm"

# A rank that is stopped keeps one point at most; the others do the rest.
if command -v sqlite3 >/dev/null; then
    ranks 3 slow.db
    until_points 3 slow.db
    slow=$(rank_pid 1)
    kill -STOP "$slow"
    until_points 59 slow.db
    sleep 0.5
    case $(points slow.db) in 59 | 60) ;; *) complain "a slow rank holds up $((60 - $(points slow.db))) points" ;; esac
    kill -CONT "$slow"
    wait $pid || complain "a slow rank: $(cat err)"
    is "a slow rank" "$(dump slow.db)" "$calm"
fi

# What is wrong is said once, and no rank waits for ever.
printf '[sweep]\nrun = col\n' >wrong.ini
timeout 60 mpirun --oversubscribe -n 3 "$FANOUT" sweep wrong.ini >out 2>err && status=0 || status=$?
is "a wrong spec" "$status" 1
is "a wrong spec, once" "$(grep -c 'wrong.ini:2: .*did you mean' err)" 1
finish
