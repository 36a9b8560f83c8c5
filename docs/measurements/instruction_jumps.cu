// Instruction fetch of code with branches: blocks of eight instructions, each of which jumps over GAP others to the
// next (a uniform branch that is always taken), in a loop. Prints clk a block of the slowest warp:
// the first turn of the kernel's first launch, the first turn of its fourth launch in a row, and a later turn.
//
//     nvcc -O2 -arch=sm_90 instruction_jumps.cu -o instruction_jumps && ./instruction_jumps
#include <cstdio>
__device__ unsigned took[64], sink;
#define L4                                                                                  \
    "lop3.b32 %0, %0, %4, 7, 0x96; lop3.b32 %1, %1, %4, 7, 0x96;"                             \
    "lop3.b32 %2, %2, %4, 7, 0x96; lop3.b32 %3, %3, %4, 7, 0x96;"
#define F4 "xor.b32 %0, %1, %4; add.u32 %1, %2, %4; xor.b32 %2, %3, %4; add.u32 %3, %0, %4;"
#define F8 F4 F4
#define F16 F8 F8
#define F32 F16 F16
#define F64 F32 F32
#define JUMP(FILL)                                                                      \
    asm volatile("{.reg .pred p; setp.ne.u32 p, %4, 0;" L4 L4 "@p bra J%=;" FILL "J%=:}" \
                 : "+r"(a), "+r"(b), "+r"(c), "+r"(d) : "r"(n) : "memory");
template <int N, int GAP> __global__ void k(unsigned n) {
    unsigned a = threadIdx.x, b = a + 1, c = a + 2, d = a + 3, t[2];
    for (int turn = 0; turn < 4; turn++) {
        asm volatile("mov.u32 %0, %%clock;" : "=r"(t[0]) :: "memory");
#pragma unroll
        for (int i = 0; i < N; i++) {
            if (GAP == 0) JUMP("") else if (GAP == 8) JUMP(F8) else if (GAP == 32) JUMP(F32) else JUMP(F64)
        }
        asm volatile("mov.u32 %0, %%clock;" : "=r"(t[1]) :: "memory");
        if (threadIdx.x % 32 == 0 && (turn == 0 || turn == 3)) took[(turn == 3) * 32 + threadIdx.x / 32] = t[1] - t[0];
    }
    if (a + b + c + d == 12345) sink = a;
}
template <int N, int GAP> void run() {
    for (int w : {1, 16}) {
        unsigned h[64]; double r[4];
        for (int launch = 0; launch < 4; launch++) {
            k<N, GAP><<<1, 32 * w>>>(1);
            cudaMemcpyFromSymbol(h, took, sizeof h);
            unsigned m0 = 0, m3 = 0;
            for (int i = 0; i < w; i++) { m0 = h[i] > m0 ? h[i] : m0; m3 = h[32 + i] > m3 ? h[32 + i] : m3; }
            if (launch == 0) r[0] = m0;
            if (launch == 3) r[1] = m0, r[2] = m3;
        }
        printf("%d,%d,%d,%.1f,%.1f,%.1f\n", N, GAP, w, r[0] / N, r[1] / N, r[2] / N);
    }
}
template <int N> void all() { run<N, 0>(); run<N, 8>(); run<N, 32>(); run<N, 64>(); }
int main() {
    printf("blocks,gap,warps,first_launch,first_turn,later_turn\n");
    all<4>(); all<16>(); all<32>(); all<64>(); all<128>();
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
