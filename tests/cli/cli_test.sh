# What tests of the fanout command share; sourced: `. "$TOP_SRCDIR/tests/cli/cli_test.sh"`. Leaves the test in an
# empty folder of its own, which goes when it ends; ends with `finish`.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failures=0

complain() {
    echo "$*"
    failures=$((failures + 1))
}

# refuses PATTERN ARG...: exit 1, nothing on standard output, one line on standard error like PATTERN.
refuses() {
    pattern=$1
    shift
    status=0
    "$FANOUT" "$@" >out 2>err || status=$?
    [ "$status" = 1 ] || complain "fanout $*: exit $status, not 1"
    [ ! -s out ] || complain "fanout $*: wrote to standard output"
    [ "$(wc -l <err)" = 1 ] || complain "fanout $*: not one line: $(cat err)"
    grep -q -e "$pattern" err || complain "fanout $*: no '$pattern' in: $(cat err)"
}

# says PATTERN ARG...: exit 0, a line like PATTERN on standard output, nothing on standard error.
says() {
    pattern=$1
    shift
    status=0
    "$FANOUT" "$@" >out 2>err || status=$?
    [ "$status" = 0 ] || complain "fanout $*: exit $status: $(cat err)"
    [ ! -s err ] || complain "fanout $*: wrote to standard error: $(cat err)"
    grep -q -e "$pattern" out || complain "fanout $*: no '$pattern' in what it printed"
}

# find_pandas: sets $python to a Python that has pandas, or ends the test as skipped.
find_pandas() {
    for python in ${FANOUT_PYTHON:-} python3 "$(dirname "$FANOUT")/clients-venv/bin/python"; do
        "$python" -c 'import pandas' 2>/dev/null && return 0
    done
    echo "skipped: no pandas; 'make client-packages' installs it, FANOUT_PYTHON names a Python"
    exit 77
}

# fenced PAGE WORD: the first block of that kind in docs/PAGE
fenced() {
    awk -v fence='```'"$2" '$0 == fence && !n++ { on = 1; next } /^```/ { on = 0 } on' "$TOP_SRCDIR/docs/$1"
}

finish() {
    echo "$failures failures"
    [ "$failures" = 0 ]
}
