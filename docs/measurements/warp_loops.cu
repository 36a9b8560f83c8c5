// What a turn of two loops of one warp takes: stores of 512 B to a peer, and polls of a flag in the own memory, by all
// lanes or by two while the others wait for them.
//
//     nvcc -O3 -std=c++17 -arch=sm_90 warp_loops.cu -o warp_loops && ./warp_loops
#include <cuda_runtime.h>
#include <cstdio>
typedef unsigned long long u64;

// UNROLL stores of 16 B a lane follow each other, then the loop's own instructions.
template <int UNROLL> __global__ void stores(uint4 *to, int n, long *out) {
    uint4 value = make_uint4(n, n, n, n);
    long begin = clock64();
    size_t at = threadIdx.x, last = (size_t)n * blockDim.x;
#pragma unroll 1
    for (; at < last; at += UNROLL * blockDim.x) {
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            to[(at + k * blockDim.x) % 65536] = value;
    }
    if (!threadIdx.x)
        out[0] = (clock64() - begin) / n;
}
template <bool ACQUIRE> __device__ u64 read(const u64 *flag) {
    u64 v;
    if (ACQUIRE)
        asm volatile("ld.acquire.sys.u64 %0,[%1];" : "=l"(v) : "l"(flag) : "memory");
    else
        asm volatile("ld.relaxed.sys.u64 %0,[%1];" : "=l"(v) : "l"(flag) : "memory");
    return v;
}
// The flag never becomes 1: each turn waits for its read.
template <bool ACQUIRE> __global__ void polls(const u64 *flag, int lanes, int n, long *out) {
    long begin = clock64();
    int turns = 0;
    if (threadIdx.x < lanes)
        while (read<ACQUIRE>(flag + threadIdx.x) != 1 && ++turns < n)
            ;
    __syncwarp();
    if (!threadIdx.x)
        out[0] = (clock64() - begin) / n;
}

int main() {
    char *own, *peer;
    long *out, turn;
    cudaSetDevice(1);
    cudaMalloc(&peer, 1 << 20);
    cudaSetDevice(0);
    cudaDeviceEnablePeerAccess(1, 0);
    cudaMalloc(&own, 1 << 20);
    cudaMemset(own, 0, 1 << 20);
    cudaMallocManaged(&out, 64);
    printf("loop,memory,warps,lanes,offset,turn_clk\n");
    auto row = [&](const char *loop, const char *memory, int warps, int lanes, int offset) {
        cudaError_t wrong = cudaDeviceSynchronize();
        if (wrong != cudaSuccess)
            printf("%s\n", cudaGetErrorString(wrong));
        turn = *out;
        printf("%s,%s,%d,%d,%d,%ld\n", loop, memory, warps, lanes, offset, turn);
    };
    for (int warps : {1, 2, 32}) {
        for (auto to : {own, peer}) {
            const char *memory = to == own ? "own" : "peer";
            stores<1><<<1, 32 * warps>>>((uint4 *)to, 8192, out), row("stores", memory, warps, 32, 0);
            stores<2><<<1, 32 * warps>>>((uint4 *)to, 8192, out), row("stores_by_2", memory, warps, 32, 0);
            stores<8><<<1, 32 * warps>>>((uint4 *)to, 8192, out), row("stores_by_8", memory, warps, 32, 0);
        }
    }
    for (int offset : {0, 4096, 65536, 262144}) {
        for (int lanes : {1, 2, 31, 32}) {
            const u64 *flag = (const u64 *)(own + offset);
            polls<false><<<1, 32>>>(flag, lanes, 4000, out), row("polls_relaxed", "own", 1, lanes, offset);
            polls<true><<<1, 32>>>(flag, lanes, 4000, out), row("polls_acquire", "own", 1, lanes, offset);
        }
        for (int threads : {1, 2}) { // all lanes that there are: none waits
            const u64 *flag = (const u64 *)(own + offset);
            polls<false><<<1, threads>>>(flag, threads, 4000, out), row("all_relaxed", "own", 1, threads, offset);
            polls<true><<<1, threads>>>(flag, threads, 4000, out), row("all_acquire", "own", 1, threads, offset);
        }
    }
}
