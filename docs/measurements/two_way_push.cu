// Traffic both ways between two GPUs, and a push all-gather taken apart.
//
//     nvcc -O2 -arch=sm_90 -o two_way_push two_way_push.cu
//     ./two_way_push two   > h200_two_way.csv     KIND|KIND: what GPU 0 does to GPU 1, and GPU 1 to GPU 0 meanwhile
//     ./two_way_push push  > h200_push.csv        an iteration with parts of it left out (enum Part)
//     ./two_way_push fence >> h200_push.csv       the same, only stores and fences
//     ./two_way_push bg KIND SECONDS &            background traffic of GPU 1, for the counters:
//     ncu --metrics nvltx__bytes.sum,... ./two_way_push fg KIND        (h200_nvlink_counters.csv)
//
// Rows are test,variant,gpus,ctas,threads,bytes,value,unit; medians of three launches after one warm-up.
#include <cuda_runtime.h>
#include <algorithm>
#include <stdio.h>
#include <stdlib.h>
#include <string>
#include <time.h>
#include <vector>

#define CHECK(call)                                                                                    \
    do {                                                                                               \
        cudaError_t error_ = (call);                                                                   \
        if (error_ != cudaSuccess) {                                                                   \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_)); \
            exit(1);                                                                                   \
        }                                                                                              \
    } while (0)

typedef unsigned long long u64;
static const size_t BUFFER_BYTES = 4ull << 30, GIB = 1ull << 30;
static const int GPUS = 2;
static char *buffer[GPUS];
static u64 *result[GPUS], *flag[GPUS];
static cudaStream_t stream[GPUS];

static u64 generation; // of the barriers' flags, which are never reset

static void row(const char *test, const std::string &variant, const char *gpus, int ctas, int threads,
                size_t bytes, double value, const char *unit)
{
    printf("%s,%s,%s,%d,%d,%zu,%.6g,%s\n", test, variant.c_str(), gpus, ctas, threads, bytes, value, unit);
    fflush(stdout);
}

// ---- streams: grid-stride loops of 16 B accesses that wrap around in a window of a power of two bytes

struct Stride {
    size_t id, step;
    __device__ Stride() : id(blockIdx.x * (size_t)blockDim.x + threadIdx.x), step((size_t)gridDim.x * blockDim.x) {}
};

__global__ void copy_stream(const char *from, char *to, size_t bytes, size_t from_window, size_t to_window)
{
    Stride s;
    size_t n = bytes / 16, from_mask = from_window / 16 - 1, to_mask = to_window / 16 - 1;
    for (size_t i = s.id; i + 3 * s.step < n; i += 4 * s.step) {
        uint4 x[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            x[k] = __ldcv((const uint4 *)from + ((i + k * s.step) & from_mask));
#pragma unroll
        for (int k = 0; k < 4; k++)
            ((uint4 *)to)[(i + k * s.step) & to_mask] = x[k];
    }
}

__device__ void write_range(char *to, size_t n, size_t first, size_t step, size_t mask)
{
    for (size_t i = first; i < n; i += step)
        ((uint4 *)to)[i & mask] = make_uint4(1, 2, 3, (unsigned)i);
}

__device__ void read_range(const char *from, size_t n, size_t first, size_t step, size_t mask, u64 *out)
{
    unsigned sum = 0;
    for (size_t i = first; i + 7 * step < n; i += 8 * step) {
        uint4 x[8];
#pragma unroll
        for (int k = 0; k < 8; k++)
            x[k] = __ldcv((const uint4 *)from + ((i + k * step) & mask));
#pragma unroll
        for (int k = 0; k < 8; k++)
            sum ^= x[k].x ^ x[k].y ^ x[k].z ^ x[k].w;
    }
    if (sum == 0x12345678u)
        out[3] = sum;
}

__global__ void write_stream(char *to, size_t bytes, size_t window)
{
    Stride s;
    write_range(to, bytes / 16, s.id, s.step, window / 16 - 1);
}

__global__ void read_stream(const char *from, size_t bytes, size_t window, u64 *out)
{
    Stride s;
    read_range(from, bytes / 16, s.id, s.step, window / 16 - 1, out);
}

// One 4 B store to each 128 B line.
__global__ void write4_stream(char *to, size_t bytes)
{
    Stride s;
    for (size_t i = s.id; i < bytes / 4; i += s.step)
        ((unsigned *)to)[i * 32] = (unsigned)i;
}

__global__ void red_stream(char *to, size_t bytes)
{
    Stride s;
    for (size_t i = s.id; i < bytes / 4; i += s.step)
        asm volatile("red.relaxed.sys.global.add.u32 [%0], %1;" ::"l"((unsigned *)to + i), "r"(1u) : "memory");
}

__global__ void atom_stream(unsigned *to, size_t bytes, u64 *out)
{
    Stride s;
    unsigned sum = 0;
    for (size_t i = s.id; i < bytes / 4; i += s.step)
        sum += atomicAdd_system(to + i, 1u);
    if (sum == 0x12345678u)
        out[3] = sum;
}

// Odd CTAs read, even ones write.
__global__ void mixed_stream(char *from, char *to, size_t bytes, size_t window, u64 *out)
{
    size_t id = blockIdx.x / 2 * (size_t)blockDim.x + threadIdx.x, step = gridDim.x / 2 * (size_t)blockDim.x;
    if (blockIdx.x % 2)
        read_range(from, bytes / 16, id, step, window / 16 - 1, out);
    else
        write_range(to, bytes / 16, id, step, window / 16 - 1);
}

// "L2": the window fits into the L2; "d" and "s": only the copy's destination or source does.
static void launch(const std::string &kind, int gpu, int ctas, int threads, size_t bytes)
{
    static const size_t BIG = GIB, SMALL = 8ull << 20;
    CHECK(cudaSetDevice(gpu));
    char *own = buffer[gpu], *peer = buffer[1 - gpu] + GIB;
    cudaStream_t on = stream[gpu];
    u64 *out = result[gpu];
    if (kind == "write")
        write_stream<<<ctas, threads, 0, on>>>(peer, bytes, BIG);
    else if (kind == "writeL2")
        write_stream<<<ctas, threads, 0, on>>>(peer, bytes, SMALL);
    else if (kind == "write4")
        write4_stream<<<ctas, threads, 0, on>>>(peer, bytes / 32);
    else if (kind == "read")
        read_stream<<<ctas, threads, 0, on>>>(peer, bytes, BIG, out);
    else if (kind == "readL2")
        read_stream<<<ctas, threads, 0, on>>>(peer, bytes, SMALL, out);
    else if (kind == "copy")
        copy_stream<<<ctas, threads, 0, on>>>(own, peer, bytes, BIG, BIG);
    else if (kind == "copyL2")
        copy_stream<<<ctas, threads, 0, on>>>(own, peer, bytes, SMALL, SMALL);
    else if (kind == "copydL2")
        copy_stream<<<ctas, threads, 0, on>>>(own, peer, bytes, BIG, SMALL);
    else if (kind == "copysL2")
        copy_stream<<<ctas, threads, 0, on>>>(own, peer, bytes, SMALL, BIG);
    else if (kind == "pull")
        copy_stream<<<ctas, threads, 0, on>>>(peer, own, bytes, BIG, BIG);
    else if (kind == "pullL2")
        copy_stream<<<ctas, threads, 0, on>>>(peer, own, bytes, SMALL, SMALL);
    else if (kind == "local")
        copy_stream<<<ctas, threads, 0, on>>>(own, own + 2 * GIB, bytes, BIG, BIG);
    else if (kind == "mix")
        mixed_stream<<<ctas, threads, 0, on>>>(peer, peer + GIB, bytes, BIG, out);
    else if (kind == "red")
        red_stream<<<ctas, threads, 0, on>>>(peer, bytes);
    else if (kind == "atom")
        atom_stream<<<ctas, threads, 0, on>>>((unsigned *)peer, bytes, out);
    else {
        fprintf(stderr, "no kind of traffic is called %s\n", kind.c_str());
        exit(1);
    }
    CHECK(cudaGetLastError());
}

// GPU 0 does `there`, GPU 1 `back` ("none": nothing) at the same time: GB/s of each.
static void two(const std::string &there, const std::string &back, int ctas, int threads, size_t bytes)
{
    const std::string kind[GPUS] = {there, back};
    cudaEvent_t event[GPUS][2];
    std::vector<double> rate[GPUS];
    for (int g = 0; g < GPUS; g++) {
        CHECK(cudaSetDevice(g));
        for (int k = 0; k < 2; k++)
            CHECK(cudaEventCreate(&event[g][k]));
    }
    for (int repeat = 0; repeat < 4; repeat++) {
        for (int g = 0; g < GPUS; g++)
            if (kind[g] != "none") {
                CHECK(cudaSetDevice(g));
                CHECK(cudaEventRecord(event[g][0], stream[g]));
                launch(kind[g], g, ctas, threads, bytes);
                CHECK(cudaEventRecord(event[g][1], stream[g]));
            }
        for (int g = 0; g < GPUS; g++)
            if (kind[g] != "none") {
                float ms;
                CHECK(cudaSetDevice(g));
                CHECK(cudaEventSynchronize(event[g][1]));
                CHECK(cudaEventElapsedTime(&ms, event[g][0], event[g][1]));
                if (repeat > 0)
                    rate[g].push_back(bytes / ms / 1e6);
            }
    }
    for (int g = 0; g < GPUS; g++)
        if (!rate[g].empty()) {
            std::sort(rate[g].begin(), rate[g].end());
            row("two", there + "|" + back, g ? "1>0" : "0>1", ctas, threads, bytes, rate[g][1], "GB/s");
        }
}

static void test_two()
{
    size_t bytes = 512ull << 20;
    for (const char *k : {"write", "writeL2", "read", "readL2", "copy", "copyL2", "copydL2", "copysL2", "pull", "pullL2"}) {
        two(k, "none", 132, 1024, bytes);
        two(k, k, 132, 1024, bytes);
    }
    for (int ctas : {8, 16, 24, 32, 64})
        for (int threads : {256, 512})
            for (const char *k : {"copy", "copyL2", "pull"}) {
                two(k, "none", ctas, threads, bytes);
                two(k, k, ctas, threads, bytes);
            }
    for (int ctas : {8, 16, 32}) {
        two("write", "none", ctas, 512, bytes);
        two("write", "write", ctas, 512, bytes);
    }
    for (const char *back : {"local", "read", "pull"})
        two("copy", back, 64, 512, bytes);
    two("write", "pull", 132, 1024, bytes);
    two("write", "read", 132, 1024, bytes);
    two("red", "red", 132, 1024, bytes);
    two("red", "none", 132, 1024, bytes);
    two("atom", "atom", 132, 1024, bytes / 4);
    two("atom", "none", 132, 1024, bytes / 4);
}

// ---- push all-gather: each GPU stores its slice into all GPUs' memory, fence, barrier

enum Part {
    LOAD = 1,          // the slice is loaded from own memory (else: constants)
    LOCAL = 2,         // store to own memory
    REMOTE = 4,        // store to the peer
    FENCE = 8,         // __threadfence_system by all threads
    FENCE_ONE = 16,    // by thread 0, between two __syncthreads
    BARRIER = 32,      // flags between CTAs of one number (else: __syncthreads)
    FENCE_WARPS = 64,  // by lane 0 of each warp
};
enum { FLAG_FIRST = 4096, FLAG_WORDS = 2, FLAGS_A_CTA = 8, WARM_UP = 8 };

struct Peers {
    char *data[GPUS];
    u64 *flag[GPUS];
};

__device__ u64 load_acquire(const u64 *p)
{
    u64 value;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(p) : "memory");
    return value;
}
__device__ void store_release(u64 *p, u64 value)
{
    asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(p), "l"(value) : "memory");
}
__device__ u64 now_ns()
{
    u64 value;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(value));
    return value;
}

__device__ u64 *flag_of(const Peers &peers, int at, int from)
{
    return peers.flag[at] + FLAG_FIRST + (blockIdx.x * FLAGS_A_CTA + from) * FLAG_WORDS;
}

__device__ void barrier(const Peers &peers, int me, u64 generation)
{
    __syncthreads();
    if (threadIdx.x < GPUS) {
        store_release(flag_of(peers, threadIdx.x, me), generation);
        while (load_acquire(flag_of(peers, me, threadIdx.x)) < generation)
            ;
    }
    __syncthreads();
}

template <int parts> __global__ void push(Peers peers, int me, size_t bytes, int iterations, u64 generation, u64 *out)
{
    Stride s;
    u64 begin = 0;
    size_t n = bytes / 16;
    float4 x = make_float4(1, 2, 3, 4);
    for (int k = 0; k < iterations; k++) {
        if (k == WARM_UP && threadIdx.x == 0)
            begin = now_ns();
        for (size_t i = s.id; i < n; i += s.step) {
            if (parts & LOAD)
                x = ((volatile float4 *)peers.data[me])[i].x > 0 ? make_float4(1, 1, 1, 1)
                                                                  : make_float4(0, 0, 0, (float)k);
#pragma unroll
            for (int r = 0; r < GPUS; r++)
                if (parts & (r ? REMOTE : LOCAL))
                    ((float4 *)(peers.data[(me + r) % GPUS] + (1ull << 30)))[me * n + i] = x;
        }
        if (parts & FENCE)
            __threadfence_system();
        if ((parts & FENCE_WARPS) && threadIdx.x % 32 == 0)
            __threadfence_system();
        if (parts & FENCE_ONE) {
            __syncthreads();
            if (threadIdx.x == 0)
                __threadfence_system();
            __syncthreads();
        }
        if (parts & BARRIER)
            barrier(peers, me, ++generation);
        else
            __syncthreads();
    }
    if (threadIdx.x == 0 && blockIdx.x == 0)
        out[2] = now_ns() - begin;
}

template <int parts> static void push_row(const char *variant, int ctas, int threads, size_t bytes)
{
    int iterations = WARM_UP + (bytes > (1 << 20) ? 50 : 200);
    double worst_ns = 0;
    Peers peers;
    for (int g = 0; g < GPUS; g++) {
        peers.data[g] = buffer[g];
        peers.flag[g] = flag[g];
    }
    for (int g = 0; g < GPUS; g++) {
        CHECK(cudaSetDevice(g));
        push<parts><<<ctas, threads, 0, stream[g]>>>(peers, g, bytes / GPUS, iterations, generation, result[g]);
        CHECK(cudaGetLastError());
    }
    for (int g = 0; g < GPUS; g++) {
        u64 out[4];
        CHECK(cudaSetDevice(g));
        CHECK(cudaStreamSynchronize(stream[g]));
        CHECK(cudaMemcpy(out, result[g], sizeof out, cudaMemcpyDeviceToHost));
        worst_ns = std::max(worst_ns, (double)out[2] / (iterations - WARM_UP));
    }
    generation += 2 * iterations + 4;
    row("push", variant, "2", ctas, threads, bytes, worst_ns, "ns");
}

static void test_push()
{
    for (int c : {1, 8, 36, 72})
        for (size_t b : {4096ul, 65536ul, 262144ul, 1048576ul, 4194304ul}) {
            push_row<LOAD | LOCAL | REMOTE | FENCE | BARRIER>("full", c, 512, b);
            push_row<LOCAL | REMOTE | FENCE | BARRIER>("noload", c, 512, b);
            push_row<LOAD | REMOTE | FENCE | BARRIER>("nolocal", c, 512, b);
            push_row<LOAD | LOCAL | FENCE | BARRIER>("noremote", c, 512, b);
            push_row<LOAD | LOCAL | REMOTE | BARRIER>("nofence", c, 512, b);
            push_row<LOAD | LOCAL | REMOTE | FENCE_ONE | BARRIER>("fence0", c, 512, b);
            push_row<LOAD | LOCAL | REMOTE | FENCE_WARPS | BARRIER>("fencewarps", c, 512, b);
            push_row<LOAD | LOCAL | REMOTE | FENCE>("nobar", c, 512, b);
            push_row<REMOTE | FENCE>("remotefence", c, 512, b);
            push_row<LOCAL | FENCE>("localfence", c, 512, b);
            push_row<FENCE>("fenceonly", c, 512, b);
            push_row<FENCE | BARRIER>("fencebar", c, 512, b);
            push_row<BARRIER>("bar", c, 512, b);
            push_row<REMOTE>("remotenofence", c, 512, b);
            push_row<REMOTE | FENCE_ONE>("remotefence0", c, 512, b);
        }
}

static void test_fence()
{
    for (int c : {1, 8, 72})
        for (int t : {32, 64, 128, 256, 512, 1024})
            for (size_t b : {(size_t)0, (size_t)2 * c * t * 16}) { // no store, or one of 16 B a thread
                push_row<REMOTE | FENCE>("remotefence", c, t, b);
                push_row<LOCAL | FENCE>("localfence", c, t, b);
                push_row<FENCE>("fenceonly", c, t, b);
                push_row<REMOTE | FENCE_ONE>("remotefence0", c, t, b);
                push_row<REMOTE | FENCE_WARPS>("remotefencewarps", c, t, b);
            }
}

static void start()
{
    for (int g = 0; g < GPUS; g++) {
        CHECK(cudaSetDevice(g));
        CHECK(cudaDeviceEnablePeerAccess(1 - g, 0));
        CHECK(cudaMalloc(&buffer[g], BUFFER_BYTES));
        CHECK(cudaMemset(buffer[g], 0, BUFFER_BYTES));
        CHECK(cudaMalloc(&result[g], 4096));
        CHECK(cudaMalloc(&flag[g], 1 << 20));
        CHECK(cudaMemset(flag[g], 0, 1 << 20));
        CHECK(cudaStreamCreateWithFlags(&stream[g], cudaStreamNonBlocking));
        CHECK(cudaDeviceSynchronize());
    }
}

int main(int argc, char **argv)
{
    std::string mode = argc > 1 ? argv[1] : "";
    start();
    if (mode == "two") {
        test_two();
    } else if (mode == "push") {
        test_push();
    } else if (mode == "fence") {
        test_fence();
    } else if (mode == "fg" && argc == 3) {
        launch(argv[2], 0, 132, 1024, 256ull << 20);
        CHECK(cudaDeviceSynchronize());
    } else if (mode == "bg" && argc == 4) {
        for (time_t begin = time(NULL); time(NULL) - begin < atof(argv[3]);) {
            for (int k = 0; k < 8; k++)
                launch(argv[2], 1, 132, 1024, 256ull << 20);
            CHECK(cudaStreamSynchronize(stream[1]));
        }
    } else {
        fprintf(stderr, "usage: two_way_push two | push | fence | fg KIND | bg KIND SECONDS\n");
        return 2;
    }
    return 0;
}
