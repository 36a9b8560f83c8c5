#!/bin/sh
# Sums up a `make check`: summary.sh [--before FOLDER] LOG... prints for each test that failed its name and what its log
# says of it, for each that was skipped a line with the reason that it gave, then "N passed, N failed, N skipped", and
# fails with the tests.
#
# A CMocka program counts with each of its test functions, so that a function that skipped itself is
# seen; any other test counts as one. Whatever is not a clean pass or skip counts as failed: a crash, an
# unexpected pass, a program that failed although its functions passed, a test that left no result.
#
# --before: the same tests ran before in that build folder, and those that skipped something there ran here again. What
# failed there stays failed; what skipped nothing there counts as it did there.
set -eu
before=
if [ "${1:-}" = --before ]; then
    before=$2
    shift 2
fi
passed=0 failed=0 skipped=0

# The sum of the numbers that a pattern captures in a log.
count() { sed -n "s/$1/\\1/p" "$2" | awk '{ n += $1 } END { print n + 0 }'; }

# Sets p, f, s: what passed, failed and was skipped by this log.
read_log() { # LOG
    result=$(sed -n 's/^:test-result: *//p' "${1%.log}.trs" 2>/dev/null | head -n 1)
    p=0 f=0 s=0
    if [ -f "$1" ] && grep -q '^\[==========\] ' "$1"; then
        p=$(count '^\[  PASSED  \] \([0-9]*\) test(s)\..*' "$1")
        s=$(count '^\[  SKIPPED \] \([0-9]*\) test(s),.*' "$1")
        f=$(count '^ *\([0-9]*\) FAILED TEST(S).*' "$1")
        f=$((f + $(grep -c '^\[  FAILED  \] GROUP' "$1" || :)))
    fi
    case $result in
    PASS*) [ $((p + f + s)) -gt 0 ] || p=1 ;;
    SKIP*) [ $((p + f + s)) -gt 0 ] || s=1 ;;
    *) [ "$f" -gt 0 ] || f=1 ;;
    esac
}

# Why what is skipped in a log is: the last line that a CMocka function printed, or that a script did.
reasons() { # LOG NAME
    awk -v name="$2" '
    function say(who, why) {
        sub(/^skipped: */, "", why)
        sub(/: skipped$/, "", why)
        printf "skipped: %s: %s\n", who, why != "" ? why : "it does not say why"
    }
    /^\[ RUN      \] / { now = substr($0, 14); why = ""; cmocka = 1; next }
    /^\[  SKIPPED \] / { if (now != "" && substr($0, 14) == now) { say(name ": " now, why); now = "" } next }
    /^SKIP .*\(exit status: 77\)$/ || /^[ \t]*$/ { next }
    { why = $0 }
    END { if (!cmocka) say(name, why) }' "$1"
}

# What a log says of a failure, indented: what a sanitizer found first, and how the log ends.
says() { # LOG
    [ -f "$1" ] || { echo "    no log: it did not run, or was not built"; return 0; }
    awk '/ERROR: [A-Za-z]*Sanitizer|WARNING: ThreadSanitizer|runtime error: / { if (!found++) left = 16 }
         left > 0 { left--; print "    " $0 }
         END { if (found) print "    ..." }' "$1"
    tail -n 30 "$1" | cut -c 1-400 | sed 's/^/    /'
}

for log in "$@"; do
    file=$log
    if [ -n "$before" ]; then
        read_log "$before/$log"
        if [ "$f" -gt 0 ] || [ "$s" = 0 ]; then file=$before/$log; fi
    fi
    read_log "$file"
    if [ "$f" -gt 0 ]; then printf 'failed: %s\n' "$file" && says "$file"; fi
    if [ "$s" -gt 0 ]; then reasons "$file" "${log%.log}"; fi
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" = 0 ] && [ $((passed + skipped)) -gt 0 ]
