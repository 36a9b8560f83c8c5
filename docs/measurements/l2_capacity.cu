// How much of a sweep the L2 holds: 16 CTAs of 256 threads read so many MiB again and again, 8 KiB an iteration of
// which each thread has two loads of 16 B under way: each CTA its own part (`own`), or all of them the same, each from
// another place on (`all`), or each its own part, to store it to a second one of the same size (`copy`: `mib` is both).
// Prints ns an iteration of the last of four sweeps.
//
//     nvcc -O2 -arch=sm_90 l2_capacity.cu -o l2_capacity && ./l2_capacity
#include <cstdio>
__device__ unsigned took[16], sink;
template <int WHAT> __global__ void sweep(const int4 *in, int4 *out, long bytes) {
    long mine = WHAT == 1 ? bytes : bytes / 16, n = mine / 8192, at = WHAT == 1 ? n / 16 * blockIdx.x : 0;
    const char *a = (const char *)in + (WHAT == 1 ? 0 : blockIdx.x * mine);
    char *b = (char *)out + blockIdx.x * mine;
    unsigned s = 0, t = 0, e;
    for (int turn = 0; turn < 4; turn++) {
        __syncthreads();
        if (turn == 3) asm volatile("mov.u32 %0, %%clock;" : "=r"(t)::"memory");
        for (long i = 0; i < n; i++) {
            long place = (at + i < n ? at + i : at + i - n) * 8192 + threadIdx.x * 16;
            unsigned v[2][4];
            for (int u = 0; u < 2; u++)
                asm volatile("ld.volatile.global.v4.u32 {%0,%1,%2,%3}, [%4];"
                             : "=r"(v[u][0]), "=r"(v[u][1]), "=r"(v[u][2]), "=r"(v[u][3]) : "l"(a + place + u * 4096));
            for (int u = 0; u < 2; u++) {
                if (WHAT == 2)
                    asm volatile("st.global.v4.u32 [%4], {%0,%1,%2,%3};" ::"r"(v[u][0]), "r"(v[u][1]), "r"(v[u][2]),
                                 "r"(v[u][3]), "l"(b + place + u * 4096));
                s += v[u][0] + v[u][3];
            }
            if (s == 12345) sink = s; // the next iteration waits for this one's loads
        }
    }
    __syncthreads();
    asm volatile("mov.u32 %0, %%clock;" : "=r"(e)::"memory");
    if (threadIdx.x == 0) took[blockIdx.x] = e - t;
}
template <int WHAT> void run(const char *name) {
    char *a, *b;
    cudaMalloc(&a, 128 << 20), cudaMalloc(&b, 128 << 20);
    for (int mib : {8, 16, 20, 24, 28, 32, 36, 40, 44, 48, 56, 64, 96}) {
        long bytes = (long)mib << (WHAT == 2 ? 19 : 20);
        unsigned h[16];
        double sum = 0;
        sweep<WHAT><<<16, 256>>>((int4 *)a, (int4 *)b, bytes);
        cudaMemcpyFromSymbol(h, took, sizeof h);
        for (unsigned x : h) sum += x;
        printf("%s,%d,%.0f\n", name, mib, sum / 16 / 1.98 / (bytes / (WHAT == 1 ? 1 : 16) / 8192));
    }
    cudaFree(a), cudaFree(b);
}
int main() {
    printf("what,mib,ns\n");
    run<0>("own"), run<1>("all"), run<2>("copy");
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
