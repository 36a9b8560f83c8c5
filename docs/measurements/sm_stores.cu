// What the accesses of NCCL's LL and Simple loops cost one SM: ns a unit of 256 B of data of a warp, or a packet.
//
//     nvcc -O3 -std=c++17 -arch=sm_90 sm_stores.cu -o sm_stores && ./sm_stores
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdint>
typedef uint32_t u32;
typedef uint64_t u64;
__device__ __forceinline__ void st8(char *p, u32 v) {
    asm volatile("st.global.b8 [%0],%1;" ::"l"(p), "r"(v) : "memory");
}
__device__ __forceinline__ void st16(char *p, u32 v) {
    asm volatile("st.global.b16 [%0],%1;" ::"l"(p), "h"((uint16_t)v) : "memory");
}
__device__ __forceinline__ void st32(char *p, u32 v) {
    asm volatile("st.global.b32 [%0],%1;" ::"l"(p), "r"(v) : "memory");
}
__device__ __forceinline__ void st64(char *p, u64 v) {
    asm volatile("st.global.b64 [%0],%1;" ::"l"(p), "l"(v) : "memory");
}
__device__ __forceinline__ u32 ld32(const char *p) {
    u32 v;
    asm volatile("ld.volatile.global.b32 %0,[%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}
__device__ __forceinline__ void ll(char *p, u64 v, u32 f) {
    asm volatile("st.volatile.global.v4.u32 [%0],{%1,%2,%3,%4};" ::"l"(p), "r"((u32)v), "r"(f), "r"((u32)(v >> 32)),
                 "r"(f)
                 : "memory");
}
__device__ __forceinline__ u64 rl(const char *p) {
    u32 a, b, c, d;
    asm volatile("ld.volatile.global.v4.u32 {%0,%1,%2,%3},[%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "l"(p)
                 : "memory");
    return a + ((u64)c << 32) + ((b ^ d) & 1);
}
__device__ __forceinline__ uint4 l16(const char *p) {
    uint4 v;
    asm volatile("ld.volatile.global.v4.u32 {%0,%1,%2,%3},[%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(p)
                 : "memory");
    return v;
}
__device__ __forceinline__ void s16(char *p, uint4 v) {
    asm volatile("st.volatile.global.v4.u32 [%0],{%1,%2,%3,%4};" ::"l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
                 : "memory");
}
// LL: unit of 8 B data a lane. flags: L load, S send peer, s send own, R read line, O element bytes of the store (0
// none)
template <int L, int S, int R, int O>
__global__ void kll(char *in, char *out, char *slot, char *peer, int units, u64 *t) {
    u32 n = blockDim.x;
    u64 acc = 0;
    size_t base = (size_t)blockIdx.x * units * n * 16;
    in += base / 2;
    out += base / 2;
    slot += base;
    peer += base;
    __syncthreads();
    u64 t0 = clock64(), g0;
    asm volatile("mov.u64 %0,%globaltimer;" : "=l"(g0));
    for (int i = 0; i < units; i++) {
        size_t k = (size_t)i * n + threadIdx.x;
        u64 v = k;
        if (L) {
            v = ld32(in + k * 8) + ((u64)ld32(in + k * 8 + 4) << 32);
        }
        if (R) {
            v += rl(slot + k * 16);
        }
        if (S == 1)
            ll(peer + k * 16, v, 7);
        if (S == 2)
            ll(slot + k * 16, v, 7);
        if (O == 1) {
            for (int j = 0; j < 8; j++)
                st8(out + k * 8 + j, (u32)(v >> 8 * j));
        }
        if (O == 2) {
            for (int j = 0; j < 4; j++)
                st16(out + k * 8 + 2 * j, (u32)(v >> 16 * j));
        }
        if (O == 4) {
            for (int j = 0; j < 2; j++)
                st32(out + k * 8 + 4 * j, (u32)(v >> 32 * j));
        }
        if (O == 8)
            st64(out + k * 8, v);
        if (!O && !S)
            acc += v;
    }
    if (acc == 12345)
        t[9] = acc;
    __syncthreads();
    if (threadIdx.x == 0) {
        u64 g1;
        asm volatile("mov.u64 %0,%globaltimer;" : "=l"(g1));
        t[blockIdx.x] = g1 - g0;
        (void)t0;
    }
}
// Simple: U x 16 B a lane a warp; A sources, own, far stores
template <int U, int A, int OWN, int FAR>
__global__ void kcp(char *in, char *out, char *slot, char *peer, size_t bytes, u64 *t) {
    u32 w = threadIdx.x / 32, nw = blockDim.x / 32;
    size_t off = (size_t)blockIdx.x * bytes;
    in += off;
    out += off;
    slot += off;
    peer += off;
    u64 g0;
    asm volatile("mov.u64 %0,%globaltimer;" : "=l"(g0));
    __syncthreads();
    for (size_t b = (size_t)w * U * 512; b < bytes; b += (size_t)nw * U * 512) {
        uint4 v[U];
        size_t q = b + threadIdx.x % 32 * 16;
        for (int u = 0; u < U; u++)
            v[u] = l16(in + q + u * 512);
        if (A > 1) {
            uint4 x[U];
            for (int u = 0; u < U; u++)
                x[u] = l16(slot + q + u * 512);
            for (int u = 0; u < U; u++) {
                v[u].x += x[u].x;
                v[u].y += x[u].y;
                v[u].z += x[u].z;
                v[u].w += x[u].w;
            }
        }
        if (OWN)
            for (int u = 0; u < U; u++)
                s16(out + q + u * 512, v[u]);
        if (FAR)
            for (int u = 0; u < U; u++)
                s16(peer + q + u * 512, v[u]);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        u64 g1;
        asm volatile("mov.u64 %0,%globaltimer;" : "=l"(g1));
        t[blockIdx.x] = g1 - g0;
    }
}
char *B[2][4];
u64 *T;
template <class F> void go(const char *name, double per, F f) {
    double best = 1e9;
    for (int r = 0; r < 4; r++) {
        f();
        cudaDeviceSynchronize();
        if (cudaGetLastError())
            printf("ERR ");
        u64 m = 0;
        for (int i = 0; i < 64; i++)
            if (T[i] > m)
                m = T[i];
        for (int i = 0; i < 64; i++)
            T[i] = 0;
        if (r && m < best)
            best = m;
    }
    printf("%s,%.3f\n", name, best / per);
    fflush(stdout);
}
int main() {
    size_t M = 64 << 20;
    cudaMallocHost(&T, 4096);
    for (int i = 0; i < 64; i++)
        T[i] = 0;
    for (int g = 0; g < 2; g++) {
        cudaSetDevice(g);
        cudaDeviceEnablePeerAccess(!g, 0);
        for (int i = 0; i < 4; i++) {
            cudaMalloc(&B[g][i], M);
            cudaMemset(B[g][i], 0, M);
        }
    }
    cudaSetDevice(0);
    char *in = B[0][0], *out = B[0][1], *sl = B[0][2], *pe = B[1][3];
    int units = 256;
#define LLK(n, L, S, R, O, c) go(n, units * 16.0, [&] { kll<L, S, R, O><<<c, 512>>>(in, out, sl, pe, units, T); });
    printf("ns a unit of 256 B data of one warp, one CTA of 512 threads\n");
    LLK("O8x1B", 0, 0, 0, 1, 1)
    LLK("O4x2B", 0, 0, 0, 2, 1) LLK("O2x4B", 0, 0, 0, 4, 1) LLK("O1x8B", 0, 0, 0, 8, 1) LLK("L", 1, 0, 0, 0, 1)
        LLK("Speer", 0, 1, 0, 0, 1) LLK("Sown", 0, 2, 0, 0, 1) LLK("R", 0, 0, 1, 0, 1) LLK("L+S", 1, 1, 0, 0, 1)
            LLK("L+S+O1B", 1, 1, 0, 1, 1) LLK("R+O1B", 0, 0, 1, 1, 1) LLK("R+O2B", 0, 0, 1, 2, 1)
                LLK("R+O4B", 0, 0, 1, 4, 1) LLK("L+R+O2B", 1, 0, 1, 2, 1) LLK("L+R+O4B", 1, 0, 1, 4, 1)
                    LLK("L+R+S+O2B", 1, 1, 1, 2, 1) LLK("L+R+S+O4B", 1, 1, 1, 4, 1) LLK("L+R+S", 1, 1, 1, 0, 1)
                        LLK("L+S 24", 1, 1, 0, 0, 24) LLK("L+S+O1B 24", 1, 1, 0, 1, 24)
                            LLK("R+O1B 24", 0, 0, 1, 1, 24) LLK("L+R+O2B 24", 1, 0, 1, 2, 24)
                                LLK("L+R+S+O2B 24", 1, 1, 1, 2, 24) size_t by = 1 << 20;
#define CPK(n, U, A, W, F, c)                                                                                      \
    go(n " U" #U, by / 128.0, [&] { kcp<U, A, W, F><<<c, 512>>>(in, out, sl, pe, by, T); });
    printf("ns a packet of 128 B, 1 MiB a CTA of 512 threads\n");
#define ALL(U)                                                                                                     \
    CPK("ld+own", U, 1, 1, 0, 1)                                                                                   \
    CPK("ld+far", U, 1, 0, 1, 1) CPK("ld+own+far", U, 1, 1, 1, 1) CPK("2ld+own", U, 2, 1, 0, 1)                    \
        CPK("2ld+far", U, 2, 0, 1, 1) CPK("2ld+own+far", U, 2, 1, 1, 1)
    ALL(2) ALL(4) ALL(8) by = 2 << 20;
    CPK("24 ld+own", 8, 1, 1, 0, 24)
    CPK("24 ld+far", 8, 1, 0, 1, 24) CPK("24 ld+own+far", 8, 1, 1, 1, 24) CPK("24 2ld+own", 8, 2, 1, 0, 24)
        CPK("24 2ld+own+far", 8, 2, 1, 1, 24) CPK("16 ld+far", 8, 1, 0, 1, 16) CPK("8 ld+far", 8, 1, 0, 1, 8)
}
