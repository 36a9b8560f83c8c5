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

finish() {
    echo "$failures failures"
    [ "$failures" = 0 ]
}
