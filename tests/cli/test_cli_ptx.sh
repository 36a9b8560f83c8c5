#!/bin/sh
# Proves what fanout ptx shows of a file: kernels with what they need, families, and for what does not run the line and
# the reason; that damaged files are refused with a line; and that the same file gives the same bytes twice.
. "$TOP_SRCDIR/tests/cli/cli_test.sh"

cat >k.ptx <<'PTX'
.version 8.0
.target sm_90
.address_size 64
.visible .entry good(.param .u64 p, .param .align 4 .b8 q[12]) .maxntid 128, 2, 1
{
    .reg .b32 %r<9>;
    .shared .align 4 .b32 s[8];
    ld.param.u32 %r1, [q+4];
    add.u32 %r2, %r1, %r1;
    st.shared.u32 [s], %r2;
    ret;
}
.visible .entry bad()
{
    .reg .b32 %r<9>;
    tcgen05.wait::ld.sync.aligned;
    ret;
}
PTX
says '^  good  *entry  *u64, b8\[12\]  *16  *32  *0  *256  *4  *-$' ptx k.ptx
says 'k.ptx:16:5: instruction tcgen05.wait::ld.sync.aligned: of tensor cores' ptx k.ptx
says '^  st.shared  *1  *1$' ptx k.ptx
says '"functions_that_run": 1' ptx k.ptx --format json
says '^good,entry,"u64, b8\[12\]",16,32,0,256,4,$' ptx k.ptx --format csv
"$FANOUT" ptx k.ptx --format json >one
"$FANOUT" ptx k.ptx --format json | cmp -s - one || complain "other bytes the second time"
head -c 200 k.ptx >cut.ptx
refuses "cut.ptx:5:1: the body has no closing '}'" ptx cut.ptx
printf '\177ELF and more' >e.so
refuses 'e.so: an ELF file; PTX text or a fatbinary' ptx e.so
refuses 'nosuch.ptx' ptx nosuch.ptx
refuses 'sm: -1' ptx k.ptx --sm -1
finish
