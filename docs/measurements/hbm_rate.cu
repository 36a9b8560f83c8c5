// What the HBM of a GPU moves when all SMs read, write, copy, or add two arrays to a third, of 8 GiB each; GB/s of all
// arrays together, by CTAs an SM.
//
//     nvcc -O3 -std=c++17 -arch=sm_90 hbm_rate.cu -o hbm_rate && ./hbm_rate
#include <cstdio>
#include <cuda_runtime.h>
#define BYTES (8ull << 30)
#define TIMES 5

__device__ size_t first() { return blockIdx.x * (size_t)blockDim.x + threadIdx.x; }
__device__ size_t stride() { return (size_t)gridDim.x * blockDim.x; }

__global__ void read_all(const uint4 *a, size_t n, uint4 *out) {
    uint4 sum = {0, 0, 0, 0};
    const size_t step = stride();
    for (size_t i = first(); i + 3 * step < n; i += 4 * step) {
        uint4 v[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            v[k] = a[i + k * step];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            sum.x ^= v[k].x;
            sum.y ^= v[k].y;
            sum.z ^= v[k].z;
            sum.w ^= v[k].w;
        }
    }
    if (sum.x == 12345 && sum.y == 77)
        out[0] = sum;
}

__global__ void write_all(uint4 *a, size_t n) {
    for (size_t i = first(); i < n; i += stride())
        a[i] = make_uint4((unsigned)i, 1, 2, 3);
}

__global__ void copy_all(const uint4 *a, uint4 *b, size_t n) {
    const size_t step = stride();
    for (size_t i = first(); i + 3 * step < n; i += 4 * step) {
        uint4 v[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            v[k] = a[i + k * step];
#pragma unroll
        for (int k = 0; k < 4; k++)
            b[i + k * step] = v[k];
    }
}

__global__ void add_all(const uint4 *a, const uint4 *b, uint4 *c, size_t n) {
    const size_t step = stride();
    for (size_t i = first(); i + step < n; i += 2 * step) {
        uint4 v[2], w[2];
#pragma unroll
        for (int k = 0; k < 2; k++) {
            v[k] = a[i + k * step];
            w[k] = b[i + k * step];
        }
#pragma unroll
        for (int k = 0; k < 2; k++) {
            v[k].x += w[k].x;
            c[i + k * step] = v[k];
        }
    }
}

template <typename Call> static void row(const char *what, int ctas, double bytes, Call call) {
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
    printf("%s,%d,%.0f\n", what, ctas, TIMES * bytes / ms / 1e6);
}

int main() {
    uint4 *a, *b, *c;
    const size_t n = BYTES / sizeof *a;
    for (uint4 **array : {&a, &b, &c}) {
        cudaMalloc(array, BYTES);
        cudaMemset(*array, 1, BYTES);
    }
    puts("what,ctas_an_sm,GBps");
    for (int ctas = 1; ctas <= 4; ctas *= 2) {
        row("read", ctas, BYTES, [=] { read_all<<<132 * ctas, 512>>>(a, n, b); });
        row("write", ctas, BYTES, [=] { write_all<<<132 * ctas, 512>>>(a, n); });
        row("copy", ctas, 2.0 * BYTES, [=] { copy_all<<<132 * ctas, 512>>>(a, b, n); });
        row("add", ctas, 3.0 * BYTES, [=] { add_all<<<132 * ctas, 512>>>(a, b, c, n); });
    }
    fprintf(stderr, "%s\n", cudaGetErrorString(cudaGetLastError()));
}
