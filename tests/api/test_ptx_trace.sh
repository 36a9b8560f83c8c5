#!/bin/sh
# What --ptx-trace tells of instructions, worked out by hand: both results of those that have two, vectors, numbers of
# each kind, what a load brings, and lanes that went apart.
set -eu
. "$TOP_SRCDIR/tests/api/client.sh"
cat >"$dir/traced.c" <<'C'
#include "tests/clients/client.h"
static const char text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
    ".reg .b32 %a,%b,%c,%e; .reg .pred %p,%q; .reg .b64 %d,%f; .reg .f32 %g;\n"
    "mov.u32 %a, %tid.x;\nsetp.lt.u32 %p|%q, %a, 4;\nshfl.sync.down.b32 %b|%q, %a, 1, 6175, 255;\n"
    "ld.param.u64 %d, [p];\nld.global.v2.u32 {%b, %c}, [%d];\nadd.u32 %e, %b, %c;\nmul.wide.u32 %f, %a, 4;\n"
    "sub.s32 %e, 2, %a;\ncvt.rn.f32.u32 %g, %a;\n@%p bra L;\nadd.u32 %e, %a, 100;\nL: st.global.u32 [%d+8], %c;\n"
    "ret;\n}\n";
int main(void)
{
    CUmodule module;
    CUfunction k;
    CUdeviceptr p;
    CHECK(cuInit(0));
    use_device(0);
    CHECK(cuMemAlloc(&p, 64));
    CHECK(cuMemsetD32(p, 5, 1));
    CHECK(cuMemsetD32(p + 4, 9, 1));
    CHECK(cuModuleLoadData(&module, text));
    CHECK(cuModuleGetFunction(&k, module, "k"));
    void *params[] = {&p};
    CHECK(cuLaunchKernel(k, 1, 1, 1, 8, 1, 1, 0, NULL, params, NULL));
    CHECK(cuCtxSynchronize());
    return 0;
}
C
build_client "$dir/traced.c" traced
timeout 100 "$FANOUT" exec -s teach-4gpu --ptx-trace k:0:0 --report /dev/null -- "$dir/traced" 2>"$dir/trace"
told() { # told TEXT: one line of the trace ends so
    [ "$(grep -cF -- "$1|" "$dir/lines")" = 1 ] || { echo "not one line of the trace ends with: $1"; cat "$dir/trace"; exit 1; }
}
sed 's/$/|/' "$dir/trace" >"$dir/lines"
# Eight lanes with the numbers 0 to 7, of which the first four are below 4. Each gets its neighbour's number but the last
# of the eight. At p stand 5 and 9.
told 'k on gpu0: CTA (0,0,0) on SM 0, warp 0'
told 'line     7  lanes 000000ff  mov.u32 %a, %tid.x;  -> 0x0 + 0x1 a lane'
told 'setp.lt.u32 %p|%q, %a, 4;  -> lanes 0000000f lanes 000000f0'
told 'shfl.sync.down.b32 %b|%q, %a, 1, 6175, 255;  -> 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x7 lanes 0000007f'
told 'ld.global.v2.u32 {%b, %c}, [%d];  brings 0x5 0x9'
told 'line    12  lanes 000000ff  add.u32 %e, %b, %c;  -> 0xe'
told 'mul.wide.u32 %f, %a, 4;  -> 0x0 + 0x4 a lane'
told 'sub.s32 %e, 2, %a;  -> 0x2 0x1 0x0 0xffffffff 0xfffffffe 0xfffffffd 0xfffffffc 0xfffffffb'
told 'cvt.rn.f32.u32 %g, %a;  -> 0 1 2 3 4 5 6 7'
told 'lanes 0000000f  @%p bra L;'
told 'lanes 000000f0  add.u32 %e, %a, 100;  -> 0x68 + 0x1 a lane'
told 'lanes 000000ff  ret;'
grep -q 'st.global.u32 \[%d+8\], %c;  at 0x[0-9a-f]*8  gets 0x9$' "$dir/trace" || { echo "no store"; cat "$dir/trace"; exit 1; }
echo "every line is what it should be"
