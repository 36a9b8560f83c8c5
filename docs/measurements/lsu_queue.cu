// What an access of a lone lane waits for in a CTA whose other warps keep the SM's load/store unit busy until the clock
// says stop: unlike send_receive_slices.cu's `beside`, they copy all the time that it measures.
//
//     nvcc -O2 -std=c++17 -arch=sm_90 lsu_queue.cu -o lsu_queue
//     ./lsu_queue [samples]   rows ctas,work,warps,unroll,access,mean,p10,p50,p90,max (ns, of which `clock` is a part),
//                             gbps (what the SM's warps move, of a copy one side; 0 where the lone lane came too late)
//
// work: own, far: copies of the own L2 to the own memory or to the peer's; both: half of the warps each; load: loads
// alone; sown, sfar: stores alone. A warp has `unroll` accesses of 512 B after each other.
// access: clock: nothing; shared: ld.shared; put: st.shared and ld.shared; shfl: a shuffle; local: a load of local
// memory; l2: a volatile load; bar: a barrier of the own warp; alu: four dependent additions.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <vector>
constexpr size_t MiB = 1 << 20, REGION = MiB;
constexpr unsigned WARM = 40000; // cycles before the lone lane begins

enum Work { OWN, FAR, BOTH, LOAD, SOWN, SFAR, WORKS };
enum Access { CLOCK, SHARED, PUT, SHFL, LOCAL, L2, BAR, ALU, ACCESSES };
static const char *works[] = {"own", "far", "both", "load", "sown", "sfar"};
static const char *accesses[] = {"clock", "shared", "put", "shfl", "local", "l2", "bar", "alu"};

__device__ unsigned clk()
{
    unsigned t;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(t)::"memory");
    return t;
}
// What follows waits for x.
__device__ void need(unsigned x)
{
    asm volatile("{.reg .pred p; setp.eq.u32 p, %0, 0xfffffff1; @p trap;}" ::"r"(x) : "memory");
}

template <int UNROLL> __device__ unsigned long long turn(int work, const char *from, char *to, int lane)
{
    unsigned long long x[UNROLL][2], sum = 0;
    bool loads = work <= LOAD, stores = work != LOAD;
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
        x[u][0] = x[u][1] = u;
        if (loads)
            asm volatile("ld.volatile.global.v2.u64 {%0,%1},[%2];"
                         : "=l"(x[u][0]), "=l"(x[u][1])
                         : "l"(from + lane * 16 + u * 512));
    }
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
        if (stores)
            asm volatile("st.global.v2.u64 [%0],{%1,%2};" ::"l"(to + lane * 16 + u * 512), "l"(x[u][0]), "l"(x[u][1])
                         : "memory");
        sum += x[u][0];
    }
    return sum;
}

// result: for each CTA the samples, and whether they ended in time; moved: turns of each CTA's warps
template <int UNROLL>
__global__ void __launch_bounds__(800) lone(int work, int access, const char *in, char *own, char *far, unsigned until,
                                            int samples, unsigned *result, unsigned *late, unsigned *moved)
{
    __shared__ volatile unsigned cell[64];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32 - 1;
    size_t c = blockIdx.x;
    volatile unsigned local[8];
    if (threadIdx.x < 64)
        cell[threadIdx.x] = 0;
    for (int i = 0; i < 8; i++)
        local[(i + cell[0]) % 8] = 0;
    __syncthreads();
    unsigned from = clk();
    if (warp == 0) {
        while (clk() - from < WARM) {
        }
        unsigned x = 0;
        for (int i = 0; i < samples; i++) {
            unsigned before = clk();
            switch (access) {
            case SHARED: x = cell[x]; break;
            case PUT:
                cell[x + 1] = i;
                x = cell[x];
                break;
            case SHFL: x = __shfl_xor_sync(~0u, x, 1); break;
            case LOCAL: x = local[x]; break;
            case L2:
                asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(x) : "l"(in + c * REGION) : "memory");
                break;
            case BAR: asm volatile("barrier.sync 1, 32;" ::: "memory"); break;
            case ALU:
                asm volatile("add.u32 %0,%0,%0; add.u32 %0,%0,%0; add.u32 %0,%0,%0; add.u32 %0,%0,%0;" : "+r"(x));
                break;
            }
            need(x);
            unsigned after = clk();
            if (lane == 0)
                result[c * samples + i] = after - before;
            while (clk() - after < 100 + i % 32 * 7) { // so that its store has gone, at another phase each time
            }
        }
        if (lane == 0)
            late[c] = clk() - from > until;
        return;
    }
    int kind = work == BOTH ? (warp <= (warps + 1) / 2 ? FAR : OWN) : work;
    char *to = (kind == FAR || kind == SFAR ? far : own) + c * REGION;
    unsigned turns = 0;
    unsigned long long sum = 0;
    for (size_t at = (size_t)(warp - 1) * UNROLL * 512; clk() - from < until;
         at += (size_t)warps * UNROLL * 512, turns++)
        sum += turn<UNROLL>(kind, in + c * REGION + at % REGION, to + at % REGION, lane);
    if (sum == 1)
        late[c] = 2;
    if (lane == 0)
        atomicAdd(moved + c, turns);
}

int main(int n, char **arguments)
{
    int samples = n > 1 ? atoi(arguments[1]) : 256;
    unsigned until = WARM + samples * 1200u;
    char *in, *own, *far;
    unsigned *result, *late, *moved;
    cudaSetDevice(1);
    cudaMalloc(&far, 64 * MiB);
    cudaSetDevice(0);
    cudaDeviceEnablePeerAccess(1, 0);
    cudaMalloc(&in, 64 * MiB);
    cudaMalloc(&own, 64 * MiB);
    cudaMemset(in, 0, 64 * MiB);
    cudaMalloc(&result, 32 * samples * 4);
    cudaMalloc(&late, 128);
    cudaMalloc(&moved, 128);
    printf("ctas,work,warps,unroll,access,mean,p10,p50,p90,max,gbps\n");
    auto row = [&](int ctas, int work, int warps, int unroll, int access) {
        unsigned late_of[32] = {}, moved_of[32];
        std::vector<unsigned> got(ctas * samples);
        for (int k = 0; k < 2; k++) { // the first touches what is not in the L2
            cudaMemset(late, 0, 128);
            cudaMemset(moved, 0, 128);
            auto kernel = unroll == 1 ? lone<1> : unroll == 4 ? lone<4> : lone<8>;
            kernel<<<ctas, 32 + 32 * warps>>>(work, access, in, own, far, until, samples, result, late, moved);
            cudaMemcpy(got.data(), result, got.size() * 4, cudaMemcpyDeviceToHost);
        }
        cudaMemcpy(late_of, late, 128, cudaMemcpyDeviceToHost);
        cudaMemcpy(moved_of, moved, 128, cudaMemcpyDeviceToHost);
        cudaError_t error = cudaGetLastError();
        if (error != cudaSuccess) {
            printf("%s\n", cudaGetErrorString(error));
            exit(1);
        }
        double sum = 0, bytes = 0, ghz = 1.98;
        bool in_time = true;
        for (unsigned x : got)
            sum += x;
        for (int c = 0; c < ctas; c++) {
            bytes += moved_of[c] * unroll * 512.0 / ctas;
            in_time &= late_of[c] == 0;
        }
        std::sort(got.begin(), got.end());
        auto part = [&](double p) { return got[(size_t)(p * (got.size() - 1))] / ghz; };
        printf("%d,%s,%d,%d,%s,%.1f,%.1f,%.1f,%.1f,%.1f,%.1f\n", ctas, works[work], warps, unroll, accesses[access],
               sum / got.size() / ghz, part(.1), part(.5), part(.9), part(1), in_time ? bytes / until * ghz : 0);
        fflush(stdout);
    };
    for (int access = 0; access < ACCESSES; access++)
        row(1, OWN, 0, 8, access);
    for (int work = 0; work < WORKS; work++)
        for (int unroll : {1, 4, 8})
            for (int warps : {1, 2, 4, 8, 9, 16, 18, 24})
                row(1, work, warps, unroll, SHARED);
    for (int work = 0; work < WORKS; work++)
        for (int warps : {4, 9, 18})
            for (int access : {CLOCK, PUT, SHFL, LOCAL, L2, BAR, ALU})
                row(1, work, warps, 8, access);
    for (int ctas : {8, 16, 24})
        for (int work : {FAR, BOTH, SFAR})
            for (int warps : {4, 9, 18})
                row(ctas, work, warps, 8, SHARED);
}
