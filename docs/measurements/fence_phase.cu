// How long fence.acq_rel.sys takes when warps meet it at random phases.
//
//     nvcc -O2 -arch=sm_90 -o fence_phase fence_phase.cu && ./fence_phase > h200_fence_phase.csv
//
// Each warp, again and again: wait a random time below spread_ns, store `stores` x 16 B per lane to the peer or to
// its own GPU, fence, note the fence's time. who = 0: all warps fence; 1: only warp 0 of CTA 0, the others store.
#include <cuda_runtime.h>
#include <algorithm>
#include <stdio.h>
#include <stdlib.h>
#include <vector>

#define CHECK(call)                                                                                    \
    do {                                                                                               \
        cudaError_t error_ = (call);                                                                   \
        if (error_ != cudaSuccess) {                                                                   \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_)); \
            exit(1);                                                                                   \
        }                                                                                              \
    } while (0)

enum { ROUNDS = 200, SKIPPED = 20, CTAS_MAX = 132, WARPS_MAX = 32, WARP_BYTES = 65536 };
static const double CLOCKS_PER_NS = 1.98;

__global__ void fence_rounds(char *target, int stores, int who, int spread_clocks, unsigned *clocks)
{
    unsigned warp = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    unsigned random = warp * 2654435761u + 12345;
    bool fences = who == 0 || warp == 0;
    char *own = target + (size_t)warp * WARP_BYTES;
    for (int i = 0; i < ROUNDS; i++) {
        random = random * 1664525u + 1013904223u;
        if (spread_clocks) {
            long long until = clock64() + (random >> 8) % spread_clocks;
            while (clock64() < until)
                ;
        }
        for (int s = 0; s < stores; s++)
            asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(own + s * 512 + lane * 16), "r"(i)
                         : "memory");
        __syncwarp();
        if (fences) {
            long long begin = clock64();
            asm volatile("fence.acq_rel.sys;" ::: "memory");
            long long end = clock64();
            if (lane == 0)
                clocks[(size_t)warp * ROUNDS + i] = (unsigned)(end - begin);
        }
    }
}

static void measure(char *target, const char *where, int who, int ctas, int warps, int stores, int spread_ns,
                    unsigned *clocks)
{
    std::vector<unsigned> all((size_t)ctas * warps * ROUNDS), kept;
    fence_rounds<<<ctas, warps * 32>>>(target, stores, who, (int)(spread_ns * CLOCKS_PER_NS), clocks);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(all.data(), clocks, all.size() * sizeof all[0], cudaMemcpyDeviceToHost));
    for (int w = 0; w < (who ? 1 : ctas * warps); w++)
        for (int i = SKIPPED; i < ROUNDS - SKIPPED; i++)
            kept.push_back(all[(size_t)w * ROUNDS + i]);
    std::sort(kept.begin(), kept.end());
    double sum = 0;
    for (unsigned x : kept)
        sum += x;
    printf("%d,%d,%d,%d,%s,%d,%.0f,%.0f,%.0f,%.0f,%.0f\n", who, ctas, warps, stores, where, spread_ns,
           sum / kept.size() / CLOCKS_PER_NS, kept[kept.size() / 10] / CLOCKS_PER_NS,
           kept[kept.size() / 2] / CLOCKS_PER_NS, kept[kept.size() * 9 / 10] / CLOCKS_PER_NS,
           kept.back() / CLOCKS_PER_NS);
}

int main()
{
    char *remote, *local;
    unsigned *clocks;
    CHECK(cudaSetDevice(1));
    CHECK(cudaMalloc(&remote, 1ull << 30));
    CHECK(cudaSetDevice(0));
    CHECK(cudaDeviceEnablePeerAccess(1, 0));
    CHECK(cudaMalloc(&local, 1ull << 30));
    CHECK(cudaMalloc(&clocks, (size_t)CTAS_MAX * WARPS_MAX * ROUNDS * sizeof *clocks));
    printf("who,ctas,warps,stores,where,spread_ns,mean,p10,p50,p90,max\n");
    for (int at_home = 0; at_home < 2; at_home++)
        for (int who = 0; who < 2; who++)
            for (int spread_ns : {0, 3000, 12000})
                for (int ctas : {1, 2, 8, 36, 132})
                    for (int warps : {1, 2, 4, 8, 16, 32})
                        for (int stores : {0, 1, 8}) {
                            if ((stores == 0 && (who || at_home)) || (stores == 8 && ctas * warps > 288))
                                continue;
                            measure(at_home ? local : remote, at_home ? "local" : "remote", who, ctas, warps,
                                    stores, spread_ns, clocks);
                        }
    return 0;
}
