// How late single reads of HBM come back, alone and beside CTAs that read, copy from HBM to HBM, or write.
//
//     nvcc -O3 -std=c++17 -arch=sm_90 hbm_late.cu -o hbm_late && ./hbm_late
#include <algorithm>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>
typedef unsigned long long u64;
#define PROBES 40000
#define CLK_NS 1.98
#define SPREAD (4ull << 30) // of the probes, which touch each line once; the other CTAs use what lies behind it
#define STREAM (2ull << 30)

__device__ volatile int stop;
__device__ u64 moved;

// The first CTA has one thread that loads a word of one line after the other, each when the last one is there.
__device__ void probe(const char *from, unsigned *took) {
    u64 lines = SPREAD / 128, last = 0;
    for (int i = 0; i < PROBES; i++) {
        const char *at = from + ((u64)i * 2654435761ull + 12345) % lines * 128 + (last & 1);
        unsigned word;
        long long begin = clock64(), end;
        asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(word) : "l"(at) : "memory");
        asm volatile("{ .reg .pred q; setp.eq.u32 q, %1, 77; @q trap; mov.u64 %0, %%clock64; }"
                     : "=l"(end)
                     : "r"(word)
                     : "memory");
        last = word == 12345;
        took[i] = (unsigned)(end - begin);
    }
    __threadfence();
    stop = 1;
}

enum Beside { READ, COPY, WRITE };
const char *const beside_names[] = {"read", "copy", "write"};

__global__ void run(const char *from, uint4 *to, unsigned *took, int beside) {
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0)
            probe(from, took);
        return;
    }
    const uint4 *source = (const uint4 *)(from + 2 * SPREAD);
    u64 step = (u64)(gridDim.x - 1) * blockDim.x, at = (u64)(blockIdx.x - 1) * blockDim.x + threadIdx.x, n = 0;
    uint4 sum = {0, 0, 0, 0};
    for (; !stop; n += 4)
        for (int i = 0; i < 4; i++, at += step) {
            uint4 x = {1, 2, 3, 4};
            if (beside != WRITE)
                x = __ldcg(source + at % (STREAM / 16));
            if (beside != READ)
                to[at % (STREAM / 16)] = x;
            else
                sum.x ^= x.x;
        }
    if (sum.x == 123)
        to[0] = sum;
    atomicAdd(&moved, n * 16);
}

int main() {
    char *from;
    uint4 *to;
    unsigned *took;
    cudaMalloc(&from, 3 * SPREAD);
    cudaMalloc(&to, STREAM);
    cudaMalloc(&took, PROBES * 4);
    cudaMemset(from, 0, 3 * SPREAD);
    std::vector<unsigned> clk(PROBES);
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    puts("beside,ctas,GBps,mean_ns,p10,p50,p90,p95,p99,p999");
    for (int beside : {READ, COPY, WRITE})
        for (int ctas : {0, 8, 16, 32, 48, 64, 96, 130}) {
            int none = 0;
            u64 bytes = 0;
            float ms;
            cudaMemcpyToSymbol(stop, &none, 4);
            cudaMemcpyToSymbol(moved, &bytes, 8);
            cudaEventRecord(begin);
            run<<<ctas + 1, 512>>>(from, to, took, beside);
            cudaEventRecord(end);
            if (cudaDeviceSynchronize() != cudaSuccess)
                return 1;
            cudaEventElapsedTime(&ms, begin, end);
            cudaMemcpyFromSymbol(&bytes, moved, 8);
            cudaMemcpy(clk.data(), took, PROBES * 4, cudaMemcpyDeviceToHost);
            std::sort(clk.begin(), clk.end());
            double sum = 0;
            for (unsigned c : clk)
                sum += c;
            double rate = bytes / ms / 1e6 * (beside == COPY ? 2 : 1); // of a copy both sides
            printf("%s,%d,%.0f,%.1f", beside_names[beside], ctas, rate, sum / PROBES / CLK_NS);
            for (double part : {.1, .5, .9, .95, .99, .999})
                printf(",%.0f", clk[(int)(part * PROBES)] / CLK_NS);
            puts("");
        }
}
