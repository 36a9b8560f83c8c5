// A program of the CUDA runtime, built by nvcc -cudart shared: variables of all kinds, launches by <<<>>>, events,
// stream-ordered memory, a captured graph, and an error of a launch. Prints ok.
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

__device__ int counter;
__constant__ float scale[2];
__managed__ int seen_by_host;

__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        c[i] = scale[0] * a[i] + b[i];
        atomicAdd(&counter, 1);
    }
    if (i == 0)
        seen_by_host = 42;
}

#define CK(call)                                                                                   \
    do {                                                                                           \
        cudaError_t error = (call);                                                                \
        if (error) {                                                                               \
            printf("%s: %s\n", #call, cudaGetErrorString(error));                                  \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)
#define IS(what) do { if (!(what)) { printf("wrong: %s\n", #what); return 1; } } while (0)

int main()
{
    const int n = 1000;
    std::vector<float> a(n, 2), b(n, 3), c(n);
    float *da, *db, *dc, s[2] = {5, 0}, ms;
    cudaDeviceProp p;
    cudaFuncAttributes f;
    cudaEvent_t e[2];
    cudaStream_t st;
    cudaGraph_t g;
    cudaGraphExec_t x;
    void *scratch;
    int count;

    CK(cudaGetDeviceProperties(&p, 0));
    IS(p.major == 9 && p.multiProcessorCount == 132 && p.maxThreadsDim[2] == 64);
    CK(cudaMalloc(&da, n * 4));
    CK(cudaMalloc(&db, n * 4));
    CK(cudaMalloc(&dc, n * 4));
    CK(cudaMemcpyToSymbol(scale, s, 8));
    CK(cudaMemcpy(da, a.data(), n * 4, cudaMemcpyHostToDevice));
    CK(cudaMemcpy(db, b.data(), n * 4, cudaMemcpyHostToDevice));
    CK(cudaEventCreate(&e[0]));
    CK(cudaEventCreate(&e[1]));
    CK(cudaEventRecord(e[0]));
    add<<<8, 128>>>(da, db, dc, n);
    CK(cudaGetLastError());
    CK(cudaEventRecord(e[1]));
    CK(cudaDeviceSynchronize());
    CK(cudaEventElapsedTime(&ms, e[0], e[1]));
    CK(cudaMemcpy(c.data(), dc, n * 4, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        IS(c[i] == 13);
    CK(cudaMemcpyFromSymbol(&count, counter, 4));
    IS(count == n && seen_by_host == 42 && ms > 0);
    CK(cudaFuncGetAttributes(&f, (const void *)add));
    IS(f.maxThreadsPerBlock == 1024);
    add<<<0, 1>>>(da, db, dc, n);
    IS(cudaGetLastError() == cudaErrorInvalidConfiguration);
    CK(cudaStreamCreate(&st));
    CK(cudaMallocAsync(&scratch, 4096, st));
    CK(cudaMemsetAsync(scratch, 1, 4096, st));
    CK(cudaFreeAsync(scratch, st));
    CK(cudaStreamBeginCapture(st, cudaStreamCaptureModeGlobal));
    add<<<8, 128, 0, st>>>(da, db, dc, n);
    CK(cudaStreamEndCapture(st, &g));
    CK(cudaGraphInstantiate(&x, g, 0));
    CK(cudaGraphLaunch(x, st));
    CK(cudaStreamSynchronize(st));
    CK(cudaMemcpyFromSymbol(&count, counter, 4));
    IS(count == 2 * n);
    puts("ok");
    return 0;
}
