// NCCL between two GPUs of one process, a thread for each: the time of a call, back to back or in a CUDA graph.
//
//     nvcc -O2 -std=c++20 -arch=sm_90 nccl2.cu -lnccl -o nccl2
//     NCCL_NVLS_ENABLE=0 SETTING ./nccl2 TAG SHIFT GRAPH CALLS   rows TAG,operation,bytes,us; sizes grow by 2^SHIFT
//
// Operations: 0 all_reduce, 1 all_gather, 2 reduce_scatter, 3 all_to_all, 4 broadcast; fp16, out of place; the middle
// of three repetitions of CALLS calls (a quarter of them beyond 16 MiB).
#include <nccl.h>
#include <cuda_runtime.h>
#include <thread>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <unistd.h>
#include <cstdlib>
#include <algorithm>
using C = std::chrono::steady_clock;
ncclComm_t c[2];
void *a[2], *b[2];
std::barrier<> bar(2);
double T[5];
void call(int o, size_t B, int r, cudaStream_t s) {
    size_t k = B / 2;
    if (o == 0)
        ncclAllReduce(a[r], b[r], k, ncclHalf, ncclSum, c[r], s);
    if (o == 1)
        ncclAllGather(a[r], b[r], k / 2, ncclHalf, c[r], s);
    if (o == 2)
        ncclReduceScatter(a[r], b[r], k / 2, ncclHalf, ncclSum, c[r], s);
    if (o == 3) {
        ncclGroupStart();
        for (int p = 0; p < 2; p++) {
            ncclSend((char *)a[r] + p * B / 2, B / 2, ncclChar, p, c[r], s);
            ncclRecv((char *)b[r] + p * B / 2, B / 2, ncclChar, p, c[r], s);
        }
        ncclGroupEnd();
    }
    if (o == 4)
        ncclBroadcast(a[r], b[r], k, ncclHalf, 0, c[r], s);
}
int main(int n, char **v) {
    setlinebuf(stdout);
    int st = atoi(v[2]), G = atoi(v[3]), I = atoi(v[4]);
    ncclCommInitAll(c, 2, 0);
    auto f = [&](int r) {
        cudaSetDevice(r);
        cudaStream_t s;
        cudaStreamCreate(&s);
        size_t M = 1 << 29;
        cudaMalloc(&a[r], M);
        cudaMalloc(&b[r], M);
        cudaMemset(a[r], 0, M);
        for (int o = 0; o < 5; o++)
            for (size_t B = 512; B <= M; B <<= st) {
                int N = B > (1 << 24) ? I / 4 + 1 : I;
                cudaGraphExec_t g;
                call(o, B, r, s);
                cudaStreamSynchronize(s);
                if (G) {
                    cudaGraph_t h;
                    bar.arrive_and_wait();
                    cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal);
                    for (int i = 0; i < N; i++)
                        call(o, B, r, s);
                    cudaStreamEndCapture(s, &h);
                    cudaGraphInstantiate(&g, h, 0);
                }
                for (int k = 0; k < 4; k++) {
                    cudaStreamSynchronize(s);
                    bar.arrive_and_wait();
                    auto t = C::now();
                    if (G)
                        cudaGraphLaunch(g, s);
                    else
                        for (int i = 0; i < N; i++)
                            call(o, B, r, s);
                    cudaStreamSynchronize(s);
                    bar.arrive_and_wait();
                    if (!r)
                        T[k] = std::chrono::duration<double>(C::now() - t).count() * 1e6 / N;
                }
                if (!r) {
                    std::sort(T + 1, T + 4);
                    printf("%s,%d,%zu,%.2f\n", v[1], o, B, T[2]);
                }
            }
    };
    std::thread x(f, 0), y(f, 1);
    x.join();
    y.join();
    _exit(0);
}
