// Instruction fetch: straight-line code of so many KiB (16 B an instruction, four chains of 4.5 clk, so that a warp by
// itself issues about one a clock) in a loop, by W warps of one CTA. Prints clk an instruction: the first turn of the
// kernel's first launch, the first turn of its fourth launch in a row, and a later turn.
//
//     nvcc -O2 -arch=sm_90 instruction_cache.cu -o instruction_cache && ./instruction_cache
#include <cstdio>
__device__ unsigned took[3 * 32], sink;
#define A4                                                                                         \
    asm volatile("lop3.b32 %0, %0, %4, 7, 0x96; lop3.b32 %1, %1, %4, 7, 0x96;"                       \
                 "lop3.b32 %2, %2, %4, 7, 0x96; lop3.b32 %3, %3, %4, 7, 0x96;"                       \
                 : "+r"(a), "+r"(b), "+r"(c), "+r"(d) : "r"(n));
#define A16 A4 A4 A4 A4
#define A64 A16 A16 A16 A16
template <int KIB> __global__ void k() {
    unsigned a = threadIdx.x, b = a + 1, c = a + 2, d = a + 3, t[5], n = blockDim.x;
    for (int turn = 0; turn < 4; turn++) {
        asm volatile("mov.u32 %0, %%clock;" : "=r"(t[0]) :: "memory");
#pragma unroll
        for (int i = 0; i < KIB; i++) { A64 }
        asm volatile("mov.u32 %0, %%clock;" : "=r"(t[1]) :: "memory");
        if (threadIdx.x % 32 == 0 && (turn == 0 || turn == 3)) took[(turn == 3) * 32 + threadIdx.x / 32] = t[1] - t[0];
    }
    if (a + b + c + d == 12345) sink = a;
}
template <int KIB> void run() {
    for (int w : {1, 4, 16}) {
        unsigned h[96]; double r[4];
        for (int launch = 0; launch < 4; launch++) {
            k<KIB><<<1, 32 * w>>>();
            cudaMemcpyFromSymbol(h, took, sizeof h);
            unsigned m0 = 0, m3 = 0;
            for (int i = 0; i < w; i++) { m0 = h[i] > m0 ? h[i] : m0; m3 = h[32 + i] > m3 ? h[32 + i] : m3; }
            if (launch == 0) r[0] = m0;
            if (launch == 3) r[1] = m0, r[2] = m3;
        }
        double n = KIB * 64.0;
        printf("%d,%d,%.2f,%.2f,%.2f\n", KIB, w, r[0] / n, r[1] / n, r[2] / n);
    }
}
int main() {
    printf("kib,warps,first_launch,first_turn,later_turn\n");
    run<1>(); run<4>(); run<16>(); run<32>(); run<48>(); run<64>(); run<96>(); run<128>(); run<192>();
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
