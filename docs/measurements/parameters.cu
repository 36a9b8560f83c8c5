// What a kernel's first look at its parameters takes: clk from one %clock to the next, between them an addition of a
// parameter, of another one on the same line of constants, of one on another line, and of the first again. Four
// launches in a row with other parameters each; one CTA, its first warp.
//
//     nvcc -O2 -arch=sm_90 parameters.cu -o parameters && ./parameters
#include <cstdio>
struct Many { unsigned v[256]; };
__device__ unsigned took[6], sink;
#define CLOCK(i) asm volatile("mov.u32 %0, %%clock;" : "=r"(t[i]) : "r"(x) : "memory");
#define USE(i) asm volatile("add.u32 %0, %0, %1;" : "+r"(x) : "r"(m.v[i]) : "memory");
__global__ void k(const Many m) {
    unsigned t[6], x = threadIdx.x;
    CLOCK(0) CLOCK(1) USE(0) CLOCK(2) USE(3) CLOCK(3) USE(128) CLOCK(4) USE(1) CLOCK(5)
    if (threadIdx.x == 0) for (int i = 0; i < 5; i++) took[i] = t[i + 1] - t[i];
    if (x == 12345) sink = x;
}
int main() {
    printf("launch,nothing,first,same_line,other_line,again\n");
    for (unsigned n = 0; n < 4; n++) {
        Many m;
        for (unsigned i = 0; i < 256; i++) m.v[i] = n + i;
        unsigned h[6];
        k<<<1, 64>>>(m);
        cudaMemcpyFromSymbol(h, took, sizeof h);
        printf("%u,%u,%u,%u,%u,%u\n", n, h[0], h[1], h[2], h[3], h[4]);
    }
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
