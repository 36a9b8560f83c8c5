#!/bin/sh
# A process that is gone before its answer comes, as one that is told to end may be, has done nothing wrong: the owner's
# log does not complain of it (tests/wire/parting.c).
set -eu
program=$(dirname "$FANOUT")/tests/wire/parting
[ -x "$program" ] || { echo "no $program"; exit 77; }
said=$(timeout 60 "$FANOUT" exec -s teach-4gpu -- "$program" 2>&1) || { echo "ended with $?: $said"; exit 1; }
case $said in
*'a connection of process'*) echo "the owner complains: $said"; exit 1 ;;
'asked 20 times'*) ;;
*) echo "not asked 20 times: $said"; exit 1 ;;
esac
