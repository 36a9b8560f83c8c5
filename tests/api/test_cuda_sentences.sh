#!/bin/sh
# Every sentence that the driver's pages say of multicast objects, cliques, logical endpoints and fabric copies has a test
# that is there (tests/api/cuda_sentences.list), and every call of these families has a line. Where CUDA_HOME has a
# toolkit of 13.5, its pages are the ones that the list was made from: a page that says something else is named.
set -eu
list=$TOP_SRCDIR/tests/api/cuda_sentences.list
bad=0
complain() { echo "$*"; bad=1; }
tests=$(sed -n 's/.*CUDA_TEST(\(test_[a-z0-9_]*\),.*/\1/p; s/.*cmocka_unit_test(\(test_[a-z0-9_]*\)).*/\1/p' "$TOP_SRCDIR"/tests/api/*.c)
named=$(grep '|' "$list" | grep -v '^#' | sed 's/.*|//' | tr ' ' '\n' | sort -u)
[ "$(echo "$named" | wc -l)" -gt 50 ] || complain "the list has hardly any tests"
for test in $named; do
    case $test in
    tests/*) [ -f "$TOP_SRCDIR/$test" ] && grep -q "$test" "$TOP_SRCDIR/tests/tests.mk" || complain "$test is not there" ;;
    *) echo "$tests" | grep -qx "$test" || complain "$test is not there, or does not run" ;;
    esac
done
calls=$(awk '$1 ~ /^cu(Multicast|LogicalEndpoint|FabricCpy|DeviceGetClique|DeviceGetFabricCluster)/ { print $1; print $2 }' \
    "$TOP_SRCDIR/api/cuda/symbols.list" | sed 's/_ptsz$//' | sort -u)
[ "$(echo "$calls" | wc -l)" -ge 24 ] || complain "symbols.list has hardly any of these calls"
for call in $calls; do
    grep -q "^$call |" "$list" || complain "$call has no line"
done
header=${CUDA_HOME:-/usr/local/cuda}/include/cuda.h
if grep -qs '^#define CUDA_VERSION 13050' "$header"; then
    # text NAME: the comment before its prototype, without layout and cross references
    text() {
        awk -v name="$1" '
            /^ *\/\*\*/ { comment = "" }
            { comment = comment "\n" $0 }
            $0 ~ "^ *CUresult CUDAAPI " name "\\(" { print comment; exit }' "$header" |
            sed -e 's/^ *\*\{1,\} *//' -e '/^\\sa/,$d' | tr -s ' \n' ' '
    }
    for call in $calls; do
        sum=$(text "$call" | cksum | sed 's/ .*//')
        if [ -n "${UPDATE:-}" ]; then
            echo "text $call $sum"
        else
            grep -qx "text $call $sum" "$list" || complain "the page of $call is not the one that the list was made from"
        fi
    done
else
    echo "no toolkit of CUDA 13.5 here: that the pages have not changed was not looked at"
fi
exit $bad
