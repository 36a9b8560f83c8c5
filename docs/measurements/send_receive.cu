// What a CTA gets through that sends and receives as NCCL's SendRecv does, without flags: its first warps copy from the
// own memory to the peer's, the others from a ring of slots to the own memory; further CTAs copy inside the GPU.
//
//     nvcc -O2 -std=c++20 -arch=sm_90 send_receive.cu -o send_receive
//     ./send_receive CLUSTER      rows ctas,senders,receivers,copiers,ways,slots_MiB,ns
//
// ns: of a line (128 B) of each group in one CTA, until the slowest is done; the middle of five runs of 16 MiB a CTA.
#include <algorithm>
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <thread>
#include <vector>
constexpr int UNROLL = 8;
constexpr size_t MiB = 1 << 20, ALL = 1024 * MiB, PART = 16 * MiB;

__device__ __forceinline__ void copy(const char *from, char *to, size_t bytes, size_t wrap, int warp, int warps) {
    int lane = threadIdx.x % 32;
    for (size_t at = (size_t)warp * UNROLL * 512; at < bytes; at += (size_t)warps * UNROLL * 512) {
        unsigned long long x[UNROLL][2];
        const char *f = from + at % wrap + lane * 16;
        char *t = to + at + lane * 16;
#pragma unroll
        for (int u = 0; u < UNROLL; u++)
            asm volatile("ld.volatile.global.v2.u64 {%0,%1},[%2];" : "=l"(x[u][0]), "=l"(x[u][1]) : "l"(f + u * 512));
#pragma unroll
        for (int u = 0; u < UNROLL; u++)
            asm volatile("st.global.v2.u64 [%0],{%1,%2};" ::"l"(t + u * 512), "l"(x[u][0]), "l"(x[u][1]) : "memory");
    }
}

__global__ void mix(const char *in, char *far, const char *slot, char *out, size_t ring, int ctas, int senders,
                    int receivers) {
    int warp = threadIdx.x / 32;
    size_t c = blockIdx.x;
    if (c >= ctas)
        copy(in + c * PART, out + c * PART, PART, ALL, warp, blockDim.x / 32);
    else if (warp < senders)
        for (size_t at = 0; at < PART; at += ring)
            copy(in + c * PART + at, far + c * ring, ring, ALL, warp, senders);
    else if (warp < senders + receivers)
        copy(slot + c * ring, out + c * PART, PART, ring, warp - senders, receivers);
}

struct Row {
    int ctas, senders, receivers, copiers, ways;
    size_t slots;
};
char *in[2], *slot[2], *out[2];

double middle_ns(const Row &row, int cluster, int gpu, std::barrier<> &bar) {
    std::vector<double> all;
    cudaSetDevice(gpu);
    cudaStream_t stream;
    cudaEvent_t begin, end;
    cudaStreamCreate(&stream);
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    cudaLaunchAttribute attribute = {.id = cudaLaunchAttributeClusterDimension};
    attribute.val.clusterDim = {(unsigned)cluster, 1, 1};
    cudaLaunchConfig_t config = {};
    config.gridDim = row.ctas + row.copiers;
    config.blockDim = std::max(640, (row.senders + row.receivers) * 32);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    for (int k = 0; k < 6; k++) {
        float ms;
        cudaDeviceSynchronize();
        bar.arrive_and_wait();
        for (int i = 0; i < 2; i++) { // the second counts
            cudaEventRecord(begin, stream);
            cudaLaunchKernelEx(&config, mix, (const char *)in[gpu], slot[1 - gpu] + ALL / 2, (const char *)slot[gpu],
                               out[gpu], row.slots * MiB, row.ctas, row.senders, row.receivers);
            cudaEventRecord(end, stream);
        }
        cudaStreamSynchronize(stream);
        cudaEventElapsedTime(&ms, begin, end);
        if (k)
            all.push_back(ms * 1e6 / (PART / 128));
    }
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
}

int main(int, char **arguments) {
    for (int g = 0; g < 2; g++) {
        cudaSetDevice(g);
        cudaDeviceEnablePeerAccess(1 - g, 0);
        for (char **buffer : {&in[g], &slot[g], &out[g]}) {
            cudaMalloc(buffer, ALL);
            cudaMemset(*buffer, 1, ALL);
        }
        cudaDeviceSynchronize();
    }
    const Row rows[] = {{1, 10, 0, 0, 1, 4},  {1, 0, 9, 0, 1, 4},   {1, 10, 9, 0, 2, 4},   {4, 10, 9, 0, 2, 4},
                        {8, 10, 0, 0, 1, 4},  {8, 10, 9, 0, 2, 4},  {16, 10, 0, 0, 2, 4},  {16, 10, 9, 0, 1, 4},
                        {16, 10, 9, 0, 2, 4}, {16, 10, 9, 0, 2, 1}, {16, 10, 9, 16, 2, 4}, {24, 10, 0, 0, 2, 4},
                        {24, 10, 9, 0, 2, 4}, {28, 10, 9, 4, 2, 4}, {32, 10, 0, 0, 2, 4},  {32, 10, 9, 0, 2, 4}};
    printf("ctas,senders,receivers,copiers,ways,slots_MiB,ns\n");
    for (const Row &row : rows) {
        std::barrier<> bar(row.ways);
        int cluster = row.ctas % 4 ? 1 : atoi(arguments[1]);
        std::thread other;
        if (row.ways == 2)
            other = std::thread([&] { middle_ns(row, cluster, 1, bar); });
        double ns = middle_ns(row, cluster, 0, bar);
        if (row.ways == 2)
            other.join();
        printf("%d,%d,%d,%d,%d,%zu,%.3f\n", row.ctas, row.senders, row.receivers, row.copiers, row.ways, row.slots, ns);
    }
}
