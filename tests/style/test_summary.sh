#!/bin/sh
# Proves that tests/summary.sh counts what is in the logs and never calls a broken run a success.
set -eu
summary=$TOP_SRCDIR/tests/summary.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failures=0

# expect STATUS LINE LOG...: the exit status and the last line for these logs.
expect() {
    status=$1 line=$2
    shift 2
    got=0
    said=$(sh "$summary" "$@" | tail -n 1) || got=1
    sh "$summary" "$@" >/dev/null || got=1
    if [ "$got" != "$status" ] || [ "$said" != "$line" ]; then
        echo "$*: expected '$line' and status $status, got '$said' and $got"
        failures=$((failures + 1))
    fi
}

result() { echo ":test-result: $2" >"$1.trs"; }

echo hello >plain.log
result plain PASS
expect 0 '1 passed, 0 failed, 0 skipped' plain.log
echo hello >skip.log
result skip SKIP
expect 0 '1 passed, 0 failed, 1 skipped' plain.log skip.log
printf '[==========] Running 3 test(s).\n[  PASSED  ] 2 test(s).\n[  SKIPPED ] 1 test(s), listed below:\n' >c.log
printf '[  SKIPPED ] name\n\n 1 SKIPPED TEST(S)\n' >>c.log
result c PASS
expect 0 '3 passed, 0 failed, 1 skipped' plain.log c.log
printf '[==========] Running 9 test(s).\n[  PASSED  ] 4 test(s).\n[  FAILED  ] 1 test(s), listed below:\n' >f.log
printf '[  FAILED  ] name\n\n 1 FAILED TEST(S)\n' >>f.log
result f FAIL
expect 1 '6 passed, 1 failed, 1 skipped' c.log f.log
# A crash half way leaves no counts; a group's set-up that failed leaves "0 passed".
printf '[==========] Running 9 test(s).\n[ RUN      ] name\n' >crash.log
result crash FAIL
expect 1 '1 passed, 1 failed, 0 skipped' plain.log crash.log
printf '[==========] Running 9 test(s).\n[  FAILED  ] GROUP SETUP\n[  PASSED  ] 0 test(s).\n' >setup.log
result setup FAIL
expect 1 '0 passed, 1 failed, 0 skipped' setup.log
# Functions passed, then the program failed: a leak found at exit.
cp c.log leak.log
result leak FAIL
expect 1 '2 passed, 1 failed, 1 skipped' leak.log
result plain XPASS
expect 1 '0 passed, 1 failed, 0 skipped' plain.log
result plain ERROR
expect 1 '0 passed, 1 failed, 0 skipped' plain.log
# Each skip says why: the last line of the script, or of the function, and not of one that ran before it.
says() { # LINE ARG...: one of the lines.
    line=$1
    shift
    sh "$summary" "$@" >said || :
    if ! grep -qxF -e "$line" said; then
        echo "$*: no '$line' in: $(cat said)"
        failures=$((failures + 1))
    fi
}
printf 'building\nskipped: no axe; pip brings it\n\nSKIP why.sh (exit status: 77)\n' >why.sh.log
result why.sh SKIP
says 'skipped: why.sh: no axe; pip brings it' why.sh.log
printf '[==========] Running 3 test(s).\n[ RUN      ] one\nheard\n[       OK ] one\n[ RUN      ] two\n' >functions.log
printf 'no x.json: skipped\n[  SKIPPED ] two\n[ RUN      ] three\n[  SKIPPED ] three\n' >>functions.log
printf '[  PASSED  ] 1 test(s).\n[  SKIPPED ] 2 test(s), listed below:\n[  SKIPPED ] two\n[  SKIPPED ] three\n' >>functions.log
result functions PASS
says 'skipped: functions: two: no x.json' functions.log
says 'skipped: functions: three: it does not say why' functions.log
expect 0 '1 passed, 0 failed, 2 skipped' functions.log
# Two runs as one: what skipped before counts as it does now, what did not as it did before, what failed stays failed.
mkdir first
result plain PASS
cp plain.log plain.trs first
for name in c f why.sh; do cp $name.log $name.trs first; done
result plain FAIL
result why.sh PASS
result c FAIL
result f PASS
expect 1 '3 passed, 1 failed, 1 skipped' --before first why.sh.log c.log
result c PASS
expect 0 '4 passed, 0 failed, 1 skipped' --before first plain.log why.sh.log c.log
expect 1 '4 passed, 1 failed, 0 skipped' --before first f.log
expect 1 '0 passed, 1 failed, 0 skipped' --before first absent.log
# A failure says what its log says: how it ends, what a sanitizer found far above that, and that there is no log.
{ echo 'x.c:3:5: runtime error: shift'; seq 1 100; echo 'the end'; } >san.log
result san FAIL
says '    x.c:3:5: runtime error: shift' plain.log san.log
says '    the end' san.log
grep -qxF '    15' said || { echo "what follows the error is not told"; failures=$((failures + 1)); }
grep -qxF '    50' said && { echo "all of a log is told"; failures=$((failures + 1)); }
says '    no log: it did not run, or was not built' absent.log
# Never run at all, and nothing to run.
expect 1 '0 passed, 1 failed, 0 skipped' absent.log
expect 1 '0 passed, 0 failed, 0 skipped'

echo "$failures failures"
[ "$failures" = 0 ]
