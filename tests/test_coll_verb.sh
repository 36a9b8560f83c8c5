#!/bin/sh
# Proves that `fanout coll` repeats byte for byte, gives the same with the reference calendar, verifies every
# algorithm from the command line, and answers wrong input with one line.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failures=0

complain() {
    echo "$*"
    failures=$((failures + 1))
}

refuses() {
    pattern=$1
    shift
    status=0
    "$FANOUT" coll "$@" >out 2>err || status=$?
    [ "$status" = 1 ] || complain "fanout coll $*: exit $status, not 1"
    [ ! -s out ] || complain "fanout coll $*: wrote to standard output"
    grep -q -e "$pattern" err || complain "fanout coll $*: no '$pattern' in: $(cat err)"
}

# The same bytes twice, whatever drives the events.
"$FANOUT" coll all_reduce -a nvls,ring,tree -b 64K -e 256K -f 4 --format json >one
"$FANOUT" coll all_reduce -a nvls,ring,tree -b 64K -e 256K -f 4 --format json >two
cmp -s one two || complain "all_reduce: other bytes the second time"
"$FANOUT" coll all_reduce -a nvls -b 16K --format csv >one
"$FANOUT" coll all_reduce -a nvls -b 16K --format csv --calendar systemc >two
cmp -s one two || complain "all_reduce: other bytes with the reference calendar"

# Every operation and algorithm, verified.
while read -r op algos; do
    "$FANOUT" coll "$op" -a "$algos" -b 36K -n 6 -d half --format csv >out 2>err ||
        complain "$op $algos: $(cat err)"
    ! grep -q false out || complain "$op $algos: wrong: $(cat out)"
    [ "$(wc -l <out)" = "$(echo "$algos" | tr , '\n' | wc -l | awk '{print $1 + 1}')" ] ||
        complain "$op $algos: $(cat out)"
done <<LIST
all_reduce ring,tree,oneshot,twoshot,nvls,nvls_oneshot,auto
all_gather ring,push,nvls,auto
reduce_scatter ring,pull,nvls,auto
broadcast ring,push,nvls,auto
all_to_all direct,auto
sendrecv direct,auto
LIST
"$FANOUT" coll all_reduce -a ring -p ll128 -b 36K -o max -d bfloat16 --format csv | grep -q 'ring,ll128.*true' ||
    complain "ring with ll128"
"$FANOUT" coll all_reduce -a best -b 8K -n 2 --format csv | grep -q true || complain "best"
"$FANOUT" coll all_reduce -a nvls -b 64K --data off --format json | grep -q '"verified": null' ||
    complain "timing-only runs must not claim to be verified"

refuses "did you mean\|is unknown" all_reduse
refuses "is unknown; all_reduce has" all_reduce -a rong
refuses "is unknown" all_reduce -d f7
refuses "has no algorithm 'pull'" all_reduce -a pull
refuses "the system has 8" all_reduce -n 9
refuses "divided among 8" all_gather -b 100
refuses "whole number" all_reduce -b 33
refuses "less than -b" all_reduce -b 2M -e 1M
refuses "multiple of 32" all_reduce --threads 100
refuses "resident" all_reduce --ctas 5000
refuses "does not go with" all_reduce -o xor -d float -a ring

[ "$failures" = 0 ] || exit 1
echo "fanout coll repeats, verifies and refuses as it should"
