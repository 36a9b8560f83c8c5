// NCCL's SendRecv in Simple, rebuilt without NCCL: in each CTA nine warps send slices of 512 KiB into the peer's slots,
// one posts them, and nine copy from the own slots, with NCCL's barriers, flags and fences.
//
//     nvcc -O2 -std=c++20 -arch=sm_90 send_receive_slices.cu -o send_receive_slices
//     ./send_receive_slices beside     rows ctas,senders,receivers,access,ns: a lone lane's access in such a CTA
//     ./send_receive_slices slices     rows ctas,copiers,spin_clk,slices,us: a call, of five that follow each other,
//                                      where each group of warps lets spin_clk pass in each slice before it copies
#include <algorithm>
#include <barrier>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <thread>
#include <vector>
constexpr size_t MiB = 1 << 20, ALL = 1024 * MiB;
constexpr long SLICE = 512 << 10;
constexpr int SENDERS = 9, RECEIVERS = 9, UNROLL = 8, SLOTS = 8, ACCESSES = 64;

__device__ unsigned clk() {
    unsigned t;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(t)::"memory");
    return t;
}
__device__ void spin(unsigned n) {
    for (unsigned end = clk() + n; (int)(clk() - end) < 0;) {
    }
}
__device__ void meet(int barrier, int threads) {
    asm volatile("barrier.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
__device__ void put(unsigned *flag, unsigned value) {
    asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
}
__device__ unsigned get(const unsigned *flag) {
    unsigned value;
    asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
    return value;
}
__device__ void await(const unsigned *flag, unsigned value) {
    while ((int)(get(flag) - value) < 0) {
    }
}
__device__ void copy(const char *from, char *to, long bytes, int warp, int warps) {
    int lane = threadIdx.x % 32;
    for (long at = (long)warp * UNROLL * 512; at < bytes; at += (long)warps * UNROLL * 512) {
        unsigned long long x[UNROLL][2];
#pragma unroll
        for (int u = 0; u < UNROLL; u++)
            asm volatile("ld.volatile.global.v2.u64 {%0,%1},[%2];"
                         : "=l"(x[u][0]), "=l"(x[u][1])
                         : "l"(from + at + lane * 16 + u * 512));
#pragma unroll
        for (int u = 0; u < UNROLL; u++)
            asm volatile("st.global.v2.u64 [%0],{%1,%2};" ::"l"(to + at + lane * 16 + u * 512), "l"(x[u][0]),
                         "l"(x[u][1])
                         : "memory");
    }
}

struct Side { // what one GPU has; flags: 32 words a CTA: 0 the tail, 1 the head, both written by the peer
    const char *in;
    char *out, *mine, *theirs;
    unsigned *flag, *peer;
};

// access 0: ld.shared, 1: st.shared and ld.shared, 2: ld.volatile.global of the L2, 3: st.global and ld.shared
template <int access> __global__ void lone(Side s, int senders, int receivers, unsigned *result) {
    __shared__ volatile unsigned cell[64];
    int warp = threadIdx.x / 32;
    size_t c = blockIdx.x;
    if (threadIdx.x < 64)
        cell[threadIdx.x] = 0;
    __syncthreads();
    if (warp == 0) {
        spin(40000);
        unsigned x = 0, from = clk();
        if (threadIdx.x == 0) {
            for (int i = 0; i < ACCESSES; i++) {
                if (access == 1)
                    cell[x + 1] = x;
                if (access == 3)
                    put(s.flag + c * 32 + 4, x);
                x = access == 2 ? get(s.flag + c * 32 + x) : cell[x];
            }
            result[c] = clk() - from + x;
        }
    } else if (warp <= senders) {
        copy(s.in + c * 16 * MiB, s.theirs + c * 4 * MiB, MiB, warp - 1, senders);
    } else if (warp <= senders + receivers) {
        copy(s.mine + c * 4 * MiB, s.out + c * 16 * MiB, MiB, warp - 1 - senders, receivers);
    }
}

__global__ void __launch_bounds__(640) slices(Side s, int copiers, unsigned spin_clk, unsigned base, int n) {
    int warp = threadIdx.x / 32, c = (int)blockIdx.x - copiers;
    long bytes = n * SLICE;
    if (c < 0) {
        long at = ALL / 2 + blockIdx.x * bytes;
        copy(s.in + at, s.out + at, bytes, warp, blockDim.x / 32);
        return;
    }
    unsigned *tail = s.flag + c * 32, *head = tail + 1;
    for (int i = 0; i < n; i++) {
        unsigned step = base + i;
        long slot = (c * SLOTS + step % SLOTS) * SLICE, at = c * bytes + i * SLICE;
        if (warp < SENDERS) {
            if (threadIdx.x == 0)
                await(head, step + 1 - SLOTS);
            meet(1, SENDERS * 32);
            spin(spin_clk);
            copy(s.in + at, s.theirs + slot, SLICE, warp, SENDERS);
            meet(2, SENDERS * 32 + 32);
        } else if (warp == SENDERS) {
            meet(2, SENDERS * 32 + 32);
            if (threadIdx.x % 32 == 0) {
                asm volatile("fence.acq_rel.sys;" ::: "memory");
                put(s.peer + c * 32, step + 1);
            }
            __syncwarp();
        } else if (warp <= SENDERS + RECEIVERS) {
            bool first = threadIdx.x == (SENDERS + 1) * 32;
            if (first)
                await(tail, step + 1);
            meet(3, RECEIVERS * 32);
            spin(spin_clk);
            copy(s.mine + slot, s.out + at, SLICE, warp - SENDERS - 1, RECEIVERS);
            meet(3, RECEIVERS * 32);
            if (first)
                put(s.peer + c * 32 + 1, step + 1);
        }
    }
}

static cudaLaunchConfig_t in_clusters(int ctas, cudaStream_t stream, cudaLaunchAttribute *attribute) {
    attribute->id = cudaLaunchAttributeClusterDimension;
    attribute->val.clusterDim = {ctas % 4 ? 1u : 4u, 1, 1};
    cudaLaunchConfig_t config = {};
    config.gridDim = ctas;
    config.blockDim = 640;
    config.stream = stream;
    config.attrs = attribute;
    config.numAttrs = 1;
    return config;
}

int main(int, char **arguments) {
    char *in[2], *out[2], *slot[2];
    unsigned *flag[2], *result;
    cudaStream_t stream[2];
    for (int g = 0; g < 2; g++) {
        cudaSetDevice(g);
        cudaDeviceEnablePeerAccess(1 - g, 0);
        cudaMalloc(&in[g], ALL);
        cudaMalloc(&out[g], ALL);
        cudaMalloc(&slot[g], 128 * MiB);
        cudaMalloc(&flag[g], MiB);
        cudaMemset(flag[g], 0, MiB);
        cudaStreamCreate(&stream[g]);
        cudaDeviceSynchronize();
    }
    auto side = [&](int g) { return Side{in[g], out[g], slot[g], slot[1 - g], flag[g], flag[1 - g]}; };
    cudaSetDevice(0);
    cudaMalloc(&result, 4096);
    cudaLaunchAttribute attribute;
    if (!strcmp(arguments[1], "beside"))
        for (int ctas : {1, 8})
            for (int senders : {0, SENDERS})
                for (int receivers : {0, RECEIVERS})
                    for (int access : {0, 1, 2, 3}) {
                        std::vector<double> all;
                        for (int k = 0; k < 5; k++) {
                            cudaLaunchConfig_t config = in_clusters(ctas, stream[0], &attribute);
                            auto kernel = access == 0   ? lone<0>
                                          : access == 1 ? lone<1>
                                          : access == 2 ? lone<2>
                                                        : lone<3>;
                            cudaLaunchKernelEx(&config, kernel, side(0), senders, receivers, result);
                            unsigned got[8];
                            cudaMemcpyAsync(got, result, ctas * 4, cudaMemcpyDeviceToHost, stream[0]);
                            cudaStreamSynchronize(stream[0]);
                            double sum = 0;
                            for (int c = 0; c < ctas; c++)
                                sum += got[c] / 1.98 / ACCESSES;
                            all.push_back(sum / ctas);
                        }
                        std::sort(all.begin(), all.end());
                        printf("%d,%d,%d,%d,%.1f\n", ctas, senders, receivers, access, all[2]);
                    }
    unsigned base = SLOTS;
    if (!strcmp(arguments[1], "slices"))
        for (unsigned spin_clk : {0, 1000, 2000, 3000, 5000})
            for (int ctas : {4, 8, 16})
                for (int copiers = 0; copiers <= (ctas == 16 ? 16 : 0); copiers += 16)
                    for (int n : {1, 2, 4, 8, 16}) {
                        std::barrier<> bar(2);
                        float ms = 0;
                        auto rank = [&](int g) {
                            cudaSetDevice(g);
                            cudaEvent_t begin, end;
                            cudaEventCreate(&begin);
                            cudaEventCreate(&end);
                            std::vector<unsigned> at(ctas * 32, base);
                            cudaMemcpy(flag[g], at.data(), at.size() * 4, cudaMemcpyHostToDevice);
                            bar.arrive_and_wait();
                            cudaLaunchAttribute cluster;
                            for (int k = 0; k < 7; k++) {
                                if (k == 2)
                                    cudaEventRecord(begin, stream[g]);
                                cudaLaunchConfig_t config = in_clusters(ctas + copiers, stream[g], &cluster);
                                cudaLaunchKernelEx(&config, slices, side(g), copiers, spin_clk, base + k * n, n);
                            }
                            cudaEventRecord(end, stream[g]);
                            cudaStreamSynchronize(stream[g]);
                            if (g == 0)
                                cudaEventElapsedTime(&ms, begin, end);
                            bar.arrive_and_wait();
                        };
                        std::thread other(rank, 1);
                        rank(0);
                        other.join();
                        base += 7 * n + SLOTS;
                        printf("%d,%d,%u,%d,%.2f\n", ctas, copiers, spin_clk, n, ms / 5 * 1e3);
                    }
}
