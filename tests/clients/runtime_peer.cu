// A program of the CUDA runtime on several GPUs, built by nvcc -cudart shared: peer access by kernels and by copies, with
// the copies' bandwidth and a word's latency measured by events, as programs do that look at a machine. Prints ok.
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

#define CK(call)                                                                                   \
    do {                                                                                           \
        cudaError_t error = (call);                                                                \
        if (error) {                                                                               \
            printf("%s: %s (%s)\n", #call, cudaGetErrorName(error), cudaGetErrorString(error));    \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)
#define IS(what) do { if (!(what)) { printf("wrong: %s\n", #what); return 1; } } while (0)

__global__ void twice(const float *from, float *to, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        to[i] = 2 * from[i];
}

// Follows a chain of indices: each load waits for the one before.
__global__ void chain(const volatile unsigned *at, int n, unsigned *last)
{
    unsigned i = 0;
    for (int k = 0; k < n; k++)
        i = at[i];
    *last = i;
}

static int run()
{
    const int n = 1 << 20, links = 1000;
    int count, can = 0;
    float *buf[2], ms = 0, *host;
    cudaEvent_t e[2];
    cudaStream_t stream;
    unsigned *ring, *last;
    CK(cudaGetDeviceCount(&count));
    IS(count >= 2);
    CK(cudaDeviceCanAccessPeer(&can, 0, 1));
    IS(can == 1);
    for (int d = 0; d < 2; d++) {
        CK(cudaSetDevice(d));
        CK(cudaDeviceEnablePeerAccess(1 - d, 0));
        CK(cudaMalloc(&buf[d], n * sizeof(float)));
    }
    IS(cudaDeviceEnablePeerAccess(0, 0) == cudaErrorPeerAccessAlreadyEnabled);
    IS(cudaGetLastError() == cudaErrorPeerAccessAlreadyEnabled && cudaGetLastError() == cudaSuccess);
    CK(cudaSetDevice(0));
    CK(cudaMallocHost(&host, n * sizeof(float)));
    for (int i = 0; i < n; i++)
        host[i] = float(i % 4096);
    CK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CK(cudaEventCreate(&e[0]));
    CK(cudaEventCreate(&e[1]));

    // There by a copy, back by a kernel that reads the peer's memory.
    CK(cudaMemcpyAsync(buf[0], host, n * sizeof(float), cudaMemcpyHostToDevice, stream));
    CK(cudaEventRecord(e[0], stream));
    CK(cudaMemcpyPeerAsync(buf[1], 1, buf[0], 0, n * sizeof(float), stream));
    CK(cudaEventRecord(e[1], stream));
    twice<<<64, 512, 0, stream>>>(buf[1], buf[0], n);
    CK(cudaGetLastError());
    CK(cudaMemcpyAsync(host, buf[0], n * sizeof(float), cudaMemcpyDeviceToHost, stream));
    CK(cudaStreamSynchronize(stream));
    for (int i = 0; i < n; i++)
        IS(host[i] == 2.0f * float(i % 4096));
    CK(cudaEventElapsedTime(&ms, e[0], e[1]));
    const double GBps = n * sizeof(float) / (ms * 1e6);
    printf("copy to a peer: %.0f GB/s\n", GBps);
    IS(GBps > 150 && GBps < 450); // h200/bandwidth.csv, copy_engine_bw push of 4 MiB: 247 GB/s

    // The same word's latency, of the own memory and of the peer's.
    double ns[2];
    for (int d = 0; d < 2; d++) {
        std::vector<unsigned> order(1024);
        for (int i = 0; i < 1024; i++)
            order[i] = (i + 32) % 1024;
        CK(cudaSetDevice(d));
        CK(cudaMalloc(&ring, 4096));
        CK(cudaMemcpy(ring, order.data(), 4096, cudaMemcpyHostToDevice));
        CK(cudaSetDevice(0));
        CK(cudaMalloc(&last, 4));
        chain<<<1, 1, 0, stream>>>(ring, links, last);
        CK(cudaEventRecord(e[0], stream));
        chain<<<1, 1, 0, stream>>>(ring, links, last);
        CK(cudaEventRecord(e[1], stream));
        CK(cudaStreamSynchronize(stream));
        CK(cudaEventElapsedTime(&ms, e[0], e[1]));
        ns[d] = ms * 1e6 / links;
        CK(cudaFree(ring));
        CK(cudaFree(last));
    }
    printf("a load: %.0f ns here, %.0f ns at the peer\n", ns[0], ns[1]);
    IS(ns[0] > 100 && ns[0] < 250 && ns[1] > 600 && ns[1] < 1200); // h200/latency.csv: 148 and 848
    CK(cudaDeviceDisablePeerAccess(1));
    IS(cudaDeviceDisablePeerAccess(1) == cudaErrorPeerAccessNotEnabled);
    CK(cudaFreeHost(host));
    CK(cudaFree(buf[0]));
    return 0;
}

int main()
{
    int bad = run();
    puts(bad ? "failed" : "ok");
    return bad;
}
