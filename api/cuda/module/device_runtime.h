/* What the device runtime library (libcudadevrt.a) gives kernels, as a text of our own: its published machine code is
 * not simulated. There is what cooperative groups need, a grid that meets; launches from kernels are not supported, and
 * a kernel that calls them is refused by name.
 *
 * A grid's handle is the address that a cooperative launch has in %envreg1 and %envreg2. Each CTA's first thread adds 1
 * to the second word there, that of CTA 0 so much that the highest bit flips once all have come. */
#ifndef API_CUDA_MODULE_DEVICE_RUNTIME_H
#define API_CUDA_MODULE_DEVICE_RUNTIME_H

#define DEVICE_RUNTIME_NAME "libcudadevrt.a"

static const char device_runtime_text[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .func (.param .b64 out) cudaCGGetIntrinsicHandle(.param .b32 scope)\n{\n"
    ".reg .b32 %r<4>; .reg .b64 %d<4>; .reg .pred %p;\n"
    "ld.param.u32 %r3, [scope]; mov.u32 %r1, %envreg1; mov.u32 %r2, %envreg2; cvt.u64.u32 %d1, %r1;\n"
    "cvt.u64.u32 %d2, %r2; shl.b64 %d1, %d1, 32; or.b64 %d1, %d1, %d2; setp.eq.u32 %p, %r3, 1;\n"
    "selp.b64 %d3, %d1, 0, %p; st.param.b64 [out], %d3; ret;\n}\n"
    ".visible .func (.param .b32 out) cudaCGSynchronize(.param .b64 handle, .param .b32 flags)\n{\n"
    ".reg .b32 %r<20>; .reg .b64 %d<4>; .reg .pred %p<6>;\n"
    "ld.param.u64 %d1, [handle]; setp.eq.u64 %p1, %d1, 0; @%p1 trap;\n"
    "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z; or.b32 %r1, %r1, %r2; or.b32 %r1, %r1, %r3;\n"
    "mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ctaid.y; mov.u32 %r6, %ctaid.z; or.b32 %r4, %r4, %r5; or.b32 %r4, %r4, %r6;\n"
    "mov.u32 %r7, %nctaid.x; mov.u32 %r8, %nctaid.y; mov.u32 %r9, %nctaid.z; mul.lo.u32 %r7, %r7, %r8;\n"
    "mul.lo.u32 %r7, %r7, %r9; mov.u32 %r10, 0x80000001; sub.u32 %r10, %r10, %r7; setp.eq.u32 %p2, %r4, 0;\n"
    "selp.u32 %r11, %r10, 1, %p2; setp.ne.u32 %p3, %r1, 0; barrier.sync 0; @%p3 bra $MET;\n"
    "atom.add.release.gpu.u32 %r12, [%d1+4], %r11;\n"
    "$WAIT: ld.acquire.gpu.u32 %r13, [%d1+4]; xor.b32 %r14, %r13, %r12; setp.ge.s32 %p4, %r14, 0; @%p4 bra $WAIT;\n"
    "$MET: barrier.sync 0; mov.u32 %r15, 0; st.param.b32 [out], %r15; ret;\n}\n";

#endif
