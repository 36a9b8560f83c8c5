// What local memory takes: stores and loads of 4 B a lane by all warps of one CTA, 64 of them one after the other in a
// loop, and a load whose address depends on the one before. Prints clk for each of a warp's instructions.
//
//     nvcc -O2 -arch=sm_90 local_memory.cu -o local_memory && ./local_memory
#include <cstdio>
#define N 64
__device__ long long took[32];
__device__ unsigned sink;
template <int WHAT> __global__ void k(int turns) {
    unsigned a[64];
    unsigned base;
    unsigned long long generic = (unsigned long long)a;
    asm volatile("{.reg .u64 t; cvta.to.local.u64 t, %1; cvt.u32.u64 %0, t;}" : "=r"(base) : "l"(generic) : "memory");
    for (int i = 0; i < 64; i++) asm volatile("st.local.u32 [%0], %1;" ::"r"(base + 4 * i), "r"(base) : "memory");
    unsigned sum = 0, at = base;
    __syncthreads();
    long long t = clock64();
    for (int n = 0; n < turns; n++) {
        if (WHAT == 0) {
#pragma unroll
            for (int i = 0; i < N; i++)
                asm volatile("st.local.u32 [%0], %1;" ::"r"(base + 4 * i), "r"(n) : "memory");
        } else if (WHAT == 1) {
            unsigned v[N];
#pragma unroll
            for (int i = 0; i < N; i++)
                asm volatile("ld.volatile.local.u32 %0, [%1];" : "=r"(v[i]) : "r"(base + 4 * i) : "memory");
#pragma unroll
            for (int i = 0; i < N; i++) sum += v[i];
        } else {
#pragma unroll
            for (int i = 0; i < N; i++)
                asm volatile("ld.local.u32 %0, [%0];" : "+r"(at) :: "memory");
        }
    }
    t = clock64() - t;
    if (sum + at == 12345) sink = sum;
    if (threadIdx.x % 32 == 0) took[threadIdx.x / 32] = t;
}
template <int W> void run(const char *name) {
    for (int w : {1, 2, 4, 8, 16, 17, 20, 32}) {
        k<W><<<1, 32 * w>>>(4); k<W><<<1, 32 * w>>>(100);
        long long t[32], most = 0;
        cudaMemcpyFromSymbol(t, took, sizeof t);
        for (int i = 0; i < w; i++) most = t[i] > most ? t[i] : most;
        printf("%s,%d,%.2f\n", name, w, (double)most / 100 / N);
    }
}
int main() {
    printf("what,warps,clk\n");
    run<0>("store"); run<1>("load"); run<2>("load_dependent");
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
