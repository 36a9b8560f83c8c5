#!/bin/sh
# Descriptors 0 to 2 closed in every combination, for every verb: the same exit code and the same bytes where they are
# open; what cannot be printed is exit 1; files and the simulation are never written into by what is printed.
. "$TOP_SRCDIR/tests/cli/cli_test.sh"

# run CLOSED COMMAND...: with the descriptors named in CLOSED (any of 0, 1, 2) closed; out and err as far as open.
run() {
    closed=$1
    shift
    : >out
    : >err
    status=0
    case $closed in
    none) "$@" </dev/null >out 2>err || status=$? ;;
    0) "$@" <&- >out 2>err || status=$? ;;
    1) "$@" </dev/null >&- 2>err || status=$? ;;
    2) "$@" </dev/null >out 2>&- || status=$? ;;
    01) "$@" <&- >&- 2>err || status=$? ;;
    02) "$@" <&- >out 2>&- || status=$? ;;
    12) "$@" </dev/null >&- 2>&- || status=$? ;;
    012) "$@" <&- >&- 2>&- || status=$? ;;
    esac
}

cat >tiny.trace <<'END'
fanout-trace 1
world 2
rank *
1 all_reduce bytes=4096 dtype=f32
END
printf 'test,system,gpus,bytes,value,unit\n' >empty.csv

# check PRINTS COMMAND...: PRINTS yes: the command prints its result, and fails where it cannot; no: it does not matter.
check() {
    prints=$1
    shift
    rm -f page.html
    run none "$@"
    right=$status
    [ "$prints$right" != yes1 ] || complain "$*: $(cat err)"
    cp out out.right
    [ ! -f page.html ] || cp page.html page.right
    for set in 0 1 2 01 02 12 012; do
        rm -f page.html
        run "$set" "$@"
        want=$right
        case $set in *1*) [ "$prints" = no ] || [ "$right" != 0 ] || want=1 ;; *)
            cmp -s out out.right || complain "$*: other output with $set closed"
            ;;
        esac
        [ "$status" = "$want" ] || complain "$*: exit $status, not $want, with $set closed: $(cat err)"
        if [ -f page.right ]; then
            cmp -s page.html page.right || complain "$*: other files with $set closed"
        fi
    done
    rm -f page.right
}

check yes "$FANOUT" --version
check yes "$FANOUT" help
check yes "$FANOUT" systems dgx-h100
check yes "$FANOUT" coll all_reduce -s teach-4gpu -b 4096 --html page.html
check yes "$FANOUT" bench load_latency -s teach-4gpu
check yes "$FANOUT" walk store -s teach-4gpu
check yes "$FANOUT" replay tiny.trace -s teach-4gpu
check yes "$FANOUT" convert tiny.trace -
check no "$FANOUT" validate empty.csv -s teach-4gpu
check no "$FANOUT" exec -s teach-4gpu --html page.html -- true
check no "$FANOUT" no_such_verb
run 1 "$FANOUT" exec -s teach-4gpu --report - -- true
[ "$status" = 1 ] || complain "exec --report - with standard output closed: exit $status, not 1"
grep -q 'standard output is closed' err || complain "exec --report -: $(cat err)"

# A program that prints while it runs: the simulation is right, whatever is closed.
case ${SANITIZE:-no} in no | '')
    libs=$(dirname "$FANOUT")/.libs
    cat >prints.c <<'END'
#include <fanout/cuda.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(void)
{
    CUcontext context;
    CUdeviceptr va[8];
    CUmulticastObjectProp prop = {.numDevices = 2, .size = 2 << 20, .handleTypes = 1};
    CUmemGenericAllocationHandle object;
    char bytes[4096], text[4096];
    memset(text, 'x', sizeof text);
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context))
        return 3;
    for (int i = 0; i < 8; i++)
        if (cuMemAlloc(&va[i], 2 << 20) || cuMemsetD8(va[i], (unsigned char)(i + 1), 2 << 20))
            return 4;
    if (cuMulticastCreate(&object, &prop))
        return 5;
    for (int fd = 0; fd < 3; fd++)
        for (int i = 0; i < 64; i++)
            (void)!write(fd, text, sizeof text);
    if (cuMulticastAddDevice(object, 0) || cuMulticastAddDevice(object, 1))
        return 6;
    for (int i = 0; i < 8; i++) {
        if (cuMemcpyDtoH(bytes, va[i], sizeof bytes))
            return 7;
        for (unsigned k = 0; k < sizeof bytes; k++)
            if (bytes[k] != i + 1)
                return 8;
    }
    return 0;
}
END
    ${CC:-cc} -O1 -w -I"$TOP_SRCDIR/api/include" prints.c -o prints "$libs/libcuda.so.1" -Wl,-rpath,"$libs" -Wl,-rpath-link,"$libs"
    check no "$FANOUT" exec -s dgx-h100 --html page.html -- ./prints
    for set in none 0 1 2 01 02 12 012; do # and without the command
        run "$set" ./prints
        [ "$status" = 0 ] || complain "a program with $set closed: exit $status"
    done
    ;;
esac

finish
