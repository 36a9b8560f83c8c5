// NCCL between two GPUs of one process: calls of one operation and size, of which an NCCL with clocks in its kernels
// (README.md) prints the stages. Arguments: O:KIB ..., operation 0 all_reduce, 1 all_gather, 2 broadcast; 0 KiB: 512 B.
//
//     nvcc -O2 -std=c++20 -arch=sm_90 nccl_stages.cu -lnccl -o nccl_stages
//     NCCL_NVLS_ENABLE=0 NCCL_PROTO=Simple NCCL_MAX_CTAS=1 ./nccl_stages 1:0 1:8 0:2048
#include <nccl.h>
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <barrier>
ncclComm_t c[2]; void *a[2], *b[2]; cudaStream_t s[2];
std::barrier<> bar(2);
static void call(int o, size_t B, int r) {
    if (o == 0) ncclAllReduce(a[r], b[r], B / 4, ncclFloat, ncclSum, c[r], s[r]);
    if (o == 1) ncclAllGather(a[r], b[r], B / 8, ncclFloat, c[r], s[r]);
    if (o == 2) ncclBroadcast(a[r], b[r], B / 4, ncclFloat, 0, c[r], s[r]);
}
int main(int n, char **v) {
    size_t limit = 4u << 20;
    ncclCommInitAll(c, 2, 0);
    auto f = [&](int r) {
        cudaSetDevice(r); cudaStreamCreate(&s[r]);
        cudaMalloc(&a[r], 65 << 20); cudaMalloc(&b[r], 65 << 20); cudaMemset(a[r], 0, 65 << 20); a[r] = (char *)a[r] + 2048;
        for (int k = 1; k < n; k++) {
            int o = v[k][0] - '0'; size_t B = strtoull(v[k] + 2, 0, 10) << 10; if (!B) B = 512;
            for (int i = 0; i < 2; i++) { call(o, B, r); cudaStreamSynchronize(s[r]); fflush(stdout); bar.arrive_and_wait(); }
            for (int i = 0; i < 4; i++) call(o, B, r);
            cudaStreamSynchronize(s[r]); fflush(stdout);
            bar.arrive_and_wait();
            if (!r) { printf("S %d %zu\n", o, B); fflush(stdout); }
            bar.arrive_and_wait();
        }
    };
    std::thread x(f, 0), y(f, 1); x.join(); y.join();
    return 0;
}
