// What a loop of loads takes by how many are under way, from L2 and from HBM; and how barriers of CTAs drift apart.
//
//     nvcc -O3 -std=c++17 -arch=sm_90 reads_barriers.cu -o reads_barriers && ./reads_barriers
#include <cuda_runtime.h>
#include <algorithm>
#include <cstdio>
#include <cstring>
typedef unsigned long long u64;
static u64 host[8192];

__device__ u64 now() {
    u64 v;
    asm volatile("mov.u64 %0,%globaltimer;" : "=l"(v));
    return v;
}
// Each warp has L loads of 512 B under way: 32 lanes, 16 B apart, of which the compiler keeps 4 B.
template <int L> __global__ void reads(unsigned *p, size_t n, int times, u64 *out) {
    size_t step = (size_t)gridDim.x * blockDim.x, id = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sum = 0;
    for (int r = 0; r < times; r++)
        for (size_t i = id; i + (L - 1) * step < n; i += L * step) {
            unsigned x[L];
#pragma unroll
            for (int k = 0; k < L; k++)
                x[k] = __ldcv(p + 4 * (i + k * step));
#pragma unroll
            for (int k = 0; k < L; k++)
                sum ^= x[k];
        }
    if (sum == 77)
        out[9] = sum;
}
// One barrier after the other between the CTAs of the same number of two GPUs; FENCE: a fence of the system before it.
template <bool FENCE> __global__ void barriers(u64 *mine, u64 *peer, int n, u64 *out) {
    u64 *from = mine + blockIdx.x * 16, *to = peer + blockIdx.x * 16;
    long fence = 0;
    int t = threadIdx.x;
    for (int i = 1; i <= n; i++) {
        __syncthreads();
        if (t < 2) { // thread 0: its own flag, thread 1: the peer's
            u64 *flag = t ? to : from + 8, v;
            long begin = clock64();
            if (FENCE)
                __threadfence_system();
            fence += clock64() - begin;
            asm volatile("st.relaxed.sys.u64 [%0],%1;" ::"l"(flag), "l"((u64)i) : "memory");
            flag = t ? from : from + 8;
            do
                asm volatile("ld.acquire.sys.u64 %0,[%1];" : "=l"(v) : "l"(flag) : "memory");
            while (v < i);
        }
        __syncthreads();
        if (!t && i > n - 64)
            out[(i - n + 63) * 64 + blockIdx.x] = now();
    }
    if (t == 1)
        out[4096 + blockIdx.x] = fence / n;
}

static void read_rows(char *const *data, u64 *out) {
    cudaEvent_t a, b;
    cudaEventCreate(&a);
    cudaEventCreate(&b);
    for (int gpu = 0; gpu < 2; gpu++)
        for (size_t mib : {4, 16, 1024})
            for (int ctas : {1, 4})
                for (int threads : {32, 256, 1024})
                    for (int loads : {1, 4, 8}) {
                        size_t n = (mib << 16) / (threads < 99 ? 8 : 1);
                        int times = mib < 99 ? 256 / mib : 1;
                        float ms;
                        for (int k = 0; k < 2; k++) {
                            cudaEventRecord(a);
                            (loads == 1 ? reads<1> : loads == 4 ? reads<4> : reads<8>)
                                <<<ctas, threads>>>((unsigned *)data[gpu], n, times, out);
                            cudaEventRecord(b);
                            cudaEventSynchronize(b);
                            cudaEventElapsedTime(&ms, a, b);
                        }
                        printf("read,%s,%zu,%d,%d,%d,%.0f,ns\n", gpu ? "peer" : "own", mib, ctas, threads, loads,
                               ms * 1e6 / ((double)times * n / (ctas * threads * loads)));
                    }
}

static void barrier_rows(u64 *const *flags, u64 *const *out) {
    for (int fence = 0; fence < 2; fence++)
        for (int ctas : {1, 2, 4, 8, 16, 36}) {
            for (int g = 0; g < 2; g++) {
                cudaSetDevice(g);
                cudaMemset(flags[g], 0, 1 << 16);
                cudaDeviceSynchronize();
            }
            for (int g = 0; g < 2; g++) {
                cudaSetDevice(g);
                (fence ? barriers<true> : barriers<false>)<<<ctas, 64>>>(flags[g], flags[1 - g], 4000, out[g]);
            }
            for (int g = 0; g < 2; g++) {
                cudaSetDevice(g);
                cudaDeviceSynchronize();
                cudaMemcpy(host, out[g], sizeof host, cudaMemcpyDefault);
                double apart = 0, clk = 0;
                for (int k = 0; k < 64; k++)
                    apart += *std::max_element(host + k * 64, host + k * 64 + ctas) -
                             *std::min_element(host + k * 64, host + k * 64 + ctas);
                for (int c = 0; c < ctas; c++)
                    clk += host[4096 + c];
                printf("barrier,%s,gpu%d,%d,%.0f,%.0f,%.0f\n", fence ? "fence" : "relaxed", g, ctas,
                       (host[63 * 64] - host[0]) / 63.0, apart / 64, clk / ctas);
            }
        }
}

int main() {
    char *data[2];
    u64 *out[2], *flags[2];
    for (int g = 1; g >= 0; g--) {
        cudaSetDevice(g);
        cudaDeviceEnablePeerAccess(1 - g, 0);
        cudaMalloc(&data[g], 1 << 30);
        cudaMemset(data[g], 0, 1 << 30);
        cudaMalloc(&out[g], 1 << 16);
        cudaMalloc(&flags[g], 1 << 16);
    }
    puts("test,memory,MiB,ctas,threads,loads,iteration,unit");
    read_rows(data, out[0]);
    puts("test,kind,gpu,ctas,period_ns,apart_ns,fence_clk");
    barrier_rows(flags, out);
    puts(cudaGetErrorString(cudaGetLastError()));
}
