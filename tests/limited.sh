#!/bin/sh
# Runs one test, PROGRAM or SCRIPT with its arguments, and ends it after FANOUT_TEST_LIMIT_S seconds (1,200 if unset, many
# times what the longest takes under sanitizers), with what it left running: a test that hangs fails and says so.
limit_s=${FANOUT_TEST_LIMIT_S:-1200}
case $1 in
*.sh) set -- sh "$@" ;;
esac
# An interruption from the keyboard reaches this shell, but not the group of its own that timeout makes for the test.
timeout --kill-after=10 "$limit_s" "$@" &
child=$!
trap 'kill -TERM "$child"; wait "$child"; exit 143' INT TERM HUP
status=0
wait "$child" || status=$?
case $status in
124) echo "limited.sh: $* was still running after $limit_s s and was ended" ;;
137) echo "limited.sh: $* was killed: it was still running after $limit_s s, or memory was short" ;;
esac
exit "$status"
