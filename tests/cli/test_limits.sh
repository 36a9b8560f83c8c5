#!/bin/sh
# Proves that a host that gives no more address space (ulimit -v) is a message that says what to lower or raise, and
# exit 1: at every limit a verb either does its work or says so, and no signal ends it.
case ${SANITIZE:-no} in no | '') ;; *) echo "sanitizers take address space of their own"; exit 77 ;; esac
. "$TOP_SRCDIR/tests/cli/cli_test.sh"

cat >init.c <<'END'
#include <fanout/cuda.h>
int main(void) { CUresult r = cuInit(0); return r == CUDA_SUCCESS ? 0 : r == CUDA_ERROR_OUT_OF_MEMORY ? 1 : 99; }
END
libs=$(dirname "$FANOUT")/.libs
${CC:-cc} -w -I"$TOP_SRCDIR/api/include" init.c -o init "$libs/libcuda.so.1" -Wl,-rpath,"$libs" -Wl,-rpath-link,"$libs"

limited() { # limited KIB COMMAND...
    status=0
    (ulimit -v "$1" && shift && "$@" >out 2>err) || status=$?
}

for kib in 60000 150000 300000 1000000 4000000 4300000 4400000 4500000 4700000 5000000; do
    for words in 'coll all_reduce -s dgx-h100 -b 1M' 'walk multimem.st -s dgx-h100' 'bench load_latency -s dgx-h100' \
        'coll all_gather -s gb200-nvl72 -n 8 -b 64K'; do
        # shellcheck disable=SC2086
        limited $kib "$FANOUT" $words
        [ "$status" = 0 ] || [ "$status" = 1 ] || complain "ulimit -v $kib: fanout $words: exit $status: $(head -c 300 err)"
        [ "$status" = 0 ] || grep -q -e 'ulimit -v' -e 'cannot be mapped' -e '--max-memory' err ||
            complain "ulimit -v $kib: fanout $words: does not say what to do: $(head -c 300 err)"
    done
done
limited 1000000 ./init
[ "$status" = 1 ] || complain "cuInit without address space: exit $status"

finish
