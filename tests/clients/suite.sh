#!/bin/sh
# suite.sh PYTHON SUITE [OUT]: runs a client's own tests, where they are installed, under `fanout exec`, one process a
# file, and prints for each file how many passed, failed and were skipped, then the sums. SUITE is a package whose
# modules test_* are run by unittest (numba.cuda.tests.cudadrv), or a folder or file that pytest runs. OUT (a folder,
# default ./suite) gets what each file printed. One that crashes or takes over 10 minutes counts as one failure more.
# SKIP, a regular expression, leaves tests out that unittest would run, by their names; they are in no sum.
set -eu
[ $# -ge 2 ] || { echo "usage: suite.sh PYTHON SUITE [OUT]"; exit 1; }
python=$1 suite=$2 out=${3:-suite}
fanout=${FANOUT:-fanout}
mkdir -p "$out"
number() { # number PATTERN FILE: of its last line, or 0
    found=$(grep -aE '^(Ran |OK|FAILED|=+ .*(passed|failed|skipped|error))' "$2" | grep -aoE "$1" | tail -n 1 |
        grep -oE '[0-9]+' || :)
    echo "${found:-0}"
}
passed=0 failed=0 skipped=0
count() { # count NAME LOG EXIT-CODE
    f=$(($(number '[(]failures=[0-9]+' "$2") + $(number 'errors=[0-9]+' "$2") + $(number '[0-9]+ failed' "$2") +
        $(number '[0-9]+ errors?' "$2")))
    s=$(($(number 'skipped=[0-9]+' "$2") + $(number 'expected failures=[0-9]+' "$2") + $(number '[0-9]+ skipped' "$2") +
        $(number '[0-9]+ xfailed' "$2")))
    p=$(number '[0-9]+ passed' "$2")
    ran=$(number 'Ran [0-9]+' "$2")
    [ "$ran" = 0 ] || p=$((ran - f - s))
    [ "$3" -le 1 ] || [ "$3" = 5 ] || f=$((f + 1))
    echo "$1: $p passed, $f failed, $s skipped"
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}
run() { # run NAME COMMAND...
    name=$1 ended=0
    shift
    timeout 600 "$fanout" exec -s "${SYSTEM:-dgx-h100}" --report /dev/null -- "$python" -W ignore "$@" \
        >"$out/$name.log" 2>&1 || ended=$?
    count "$name" "$out/$name.log" "$ended"
}
if [ -e "$suite" ]; then
    files=$suite
    [ ! -d "$suite" ] || files=$(echo "$suite"/test_*.py)
    for file in $files; do
        run "$(basename "$file" .py)" -m pytest -p no:cacheprovider -o addopts= -rfExX --tb=short "$file"
    done
else
    list='import sys, pkgutil, importlib.util as u
place = u.find_spec(sys.argv[1]).submodule_search_locations
print(*sorted(m.name for m in pkgutil.iter_modules(place) if m.name.startswith("test_")))'
    runner='import re, sys, unittest
def kept(tests):
    for test in tests:
        if isinstance(test, unittest.TestSuite):
            yield from kept(test)
        elif not re.search(sys.argv[2], test.id()):
            yield test
suite = unittest.TestSuite(kept(unittest.defaultTestLoader.loadTestsFromName(sys.argv[1])))
sys.exit(not unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful())'
    for name in $("$fanout" exec --report /dev/null -- "$python" -W ignore -c "$list" "$suite"); do
        run "$name" -c "$runner" "$suite.$name" "${SKIP:-^$}"
    done
fi
echo "$suite: $passed passed, $failed failed, $skipped skipped"
