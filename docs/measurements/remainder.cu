// What the stream of loaded_latency does beside its loads: a remainder of 64 bits before each, by 512 threads of an
// SM. Prints ns a turn of the loop with the remainder and without it, and with a load from the L2 of the own GPU after
// each, whose time stands beside it. nvcc -O3 -arch=sm_90 remainder.cu && ./a.out
#include <algorithm>
#include <cstdio>
#include <vector>
typedef unsigned long long u64;
__device__ static u64 now_ns()
{
    u64 t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    return t;
}
// As the stream's loop; what: 0 without remainder, 1 with it, 2 a load after it, 3 a load and no remainder.
template <int WHAT> __global__ void stream(char *p, size_t n, int turns, u64 *out)
{
    size_t id = threadIdx.x, step = blockDim.x;
    uint4 *q = (uint4 *)p, acc = make_uint4(0, 0, 0, 0);
    for (int i = 0; i < 4 && WHAT >= 2; i++) /* the lines come into the L2 */
        for (size_t k = threadIdx.x; k < n; k += blockDim.x)
            acc.x ^= __ldcv(q + k).x;
    __syncthreads();
    u64 begin = now_ns();
    for (int turn = 0; turn < turns; turn++) {
#pragma unroll 8
        for (int k = 0; k < 64; k++) {
            size_t i = WHAT == 0 || WHAT == 3 ? (id + k * step) & (n - 1) : (id + k * step) % n;
            if (WHAT >= 2) {
                uint4 x = __ldcv(q + i);
                acc.x ^= x.x;
            } else {
                asm volatile("xor.b32 %0, %0, %1;" : "+r"(acc.x) : "r"((unsigned)i));
            }
        }
        id = (id + 64 * step) & (n - 1);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        out[0] = now_ns() - begin;
    if (acc.x == 0x12345678u)
        out[1] = 1;
}
template <int WHAT> static void row(const char *name, char *p, u64 *out, int threads)
{
    const int turns = 400;
    std::vector<double> all;
    for (int r = 0; r < 7; r++) {
        u64 host[2];
        stream<WHAT><<<1, threads>>>(p, (4u << 20) / 16, turns, out);
        if (cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess)
            printf("error\n");
        all.push_back((double)host[0] / (turns * 64.0));
    }
    std::sort(all.begin(), all.end());
    printf("%s,%d,%.1f\n", name, threads, all[3]);
}
int main()
{
    char *p;
    u64 *out;
    cudaMalloc(&p, 4u << 20);
    cudaMalloc(&out, 64);
    printf("loop,threads,turn_ns\n");
    for (int threads : {32, 512}) {
        row<0>("without", p, out, threads);
        row<1>("remainder", p, out, threads);
        row<3>("load", p, out, threads);
        row<2>("remainder_load", p, out, threads);
    }
    return 0;
}
