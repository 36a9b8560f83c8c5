#!/bin/sh
# Sums up a `make check`: summary.sh LOG... prints "N passed, N failed, N skipped" and fails with the tests.
#
# A CMocka program counts with each of its test functions, so that a function that skipped itself is
# seen; any other test counts as one. Whatever is not a clean pass or skip counts as failed: a crash, an
# unexpected pass, a program that failed although its functions passed, a test that left no result.
set -eu
passed=0 failed=0 skipped=0

# The sum of the numbers that a pattern captures in a log.
count() { sed -n "s/$1/\\1/p" "$log" | awk '{ n += $1 } END { print n + 0 }'; }

for log in "$@"; do
    result=$(sed -n 's/^:test-result: *//p' "${log%.log}.trs" 2>/dev/null | head -n 1)
    p=0 f=0 s=0
    if [ -f "$log" ] && grep -q '^\[==========\] ' "$log"; then
        p=$(count '^\[  PASSED  \] \([0-9]*\) test(s)\..*')
        s=$(count '^\[  SKIPPED \] \([0-9]*\) test(s),.*')
        f=$(count '^ *\([0-9]*\) FAILED TEST(S).*')
        f=$((f + $(grep -c '^\[  FAILED  \] GROUP' "$log" || :)))
    fi
    case $result in
    PASS*) [ $((p + f + s)) -gt 0 ] || p=1 ;;
    SKIP*) [ $((p + f + s)) -gt 0 ] || s=1 ;;
    *) [ "$f" -gt 0 ] || f=1 ;;
    esac
    if [ "$f" -gt 0 ]; then printf 'failed: %s\n' "$log"; fi
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" = 0 ] && [ $((passed + skipped)) -gt 0 ]
