// What the HBM of a GPU moves when all SMs read so many arrays and write so many others, GB/s of all together; and when
// they copy with one load of a warp under way, as in hbm_late.cu, by CTAs an SM.
//
//     nvcc -O3 -std=c++17 -arch=sm_90 hbm_mix.cu -o hbm_mix && ./hbm_mix
#include <cstdio>
#include <cuda_runtime.h>
#define BYTES (8ull << 30)
#define ARRAYS 4
#define TIMES 5
typedef struct {
    uint4 *of[ARRAYS];
} Arrays;

template <int R, int W> __global__ void mix(Arrays a, size_t n) {
    const size_t step = gridDim.x * (size_t)blockDim.x;
    uint4 sum = {0, 0, 0, 0};
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i + step < n; i += 2 * step) {
        uint4 v[2 * R + 1];
#pragma unroll
        for (int r = 0; r < 2 * R; r++)
            v[r] = __ldcg(a.of[r / 2] + i + r % 2 * step);
#pragma unroll
        for (int r = 0; r < 2 * R; r++)
            sum.x ^= v[r].x, sum.y += v[r].y;
#pragma unroll
        for (int w = 0; w < 2 * W; w++)
            a.of[R + w / 2][i + w % 2 * step] = sum;
    }
    if (W == 0 && sum.x == 12345 && sum.y == 77)
        a.of[0][0] = sum;
}

__global__ void one(Arrays a, size_t n) {
    const size_t step = gridDim.x * (size_t)blockDim.x;
#pragma unroll 1
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += step)
        a.of[1][i] = __ldcg(a.of[0] + i);
}

template <typename Call> static void row(const char *what, int ctas, int arrays, Call call) {
    cudaEvent_t begin, end;
    float ms;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    call();
    cudaEventRecord(begin);
    for (int k = 0; k < TIMES; k++)
        call();
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&ms, begin, end);
    printf("%s,%d,%.0f\n", what, ctas, TIMES * (double)BYTES * arrays / ms / 1e6);
}

int main() {
    Arrays a;
    const size_t n = BYTES / sizeof(uint4);
    for (uint4 *&array : a.of) {
        cudaMalloc(&array, BYTES);
        cudaMemset(array, 1, BYTES);
    }
    puts("reads_writes,ctas_an_sm,GBps");
#define MIX(R, W) row(#R ":" #W, c, R + W, [=] { mix<R, W><<<132 * c, 512>>>(a, n); })
    for (int c = 1; c <= 4; c *= 2) {
        MIX(1, 0);
        MIX(3, 1);
        MIX(2, 1);
        MIX(1, 1);
        MIX(1, 2);
        MIX(1, 3);
        MIX(0, 1);
        row("one", c, 2, [=] { one<<<132 * c, 512>>>(a, n); });
    }
    fprintf(stderr, "%s\n", cudaGetErrorString(cudaGetLastError()));
}
