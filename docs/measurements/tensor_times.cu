/* How long copies by tensor maps take, beside plain bulk copies of as many bytes: from the instruction to what waits for
 * it, everything in the L2. One CTA, one thread; clocks of its SM.
 *
 *     nvcc -arch sm_90a -o tensor_times docs/measurements/tensor_times.cu -lcuda && ./tensor_times > tensor_times.csv */
#include <cuda.h>
#include <cstdint>
#include <cstdio>

#define ROUNDS 6

__device__ uint32_t at(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

/* kind 0: load by map; 1: plain load; 2: store by map; 3: plain store. `n` copies at once, each of `bytes`. */
__global__ void run(const __grid_constant__ CUtensorMap map, char *memory, int kind, int n, uint32_t bytes, int rows,
                    long long *clocks)
{
    extern __shared__ __align__(1024) char room[];
    __shared__ __align__(8) uint64_t bar;
    uint32_t b = at(&bar), to = (at(room) + 1023) / 1024 * 1024, phase = 0;
    asm volatile("mbarrier.init.shared.b64 [%0], 1; fence.mbarrier_init.release.cluster; fence.proxy.async;" ::"r"(b));
    for (int r = 0; r < ROUNDS; r++) {
        long long from = clock64();
        if (kind < 2)
            asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(b), "r"(bytes * n));
        for (int i = 0; i < n; i++) {
            uint32_t s = to + (i % 8) * ((bytes + 1023) / 1024 * 1024);
            char *g = memory + (size_t)(i % 16) * bytes;
            if (kind == 0)
                asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "
                             "[%1, {%2, %3}], [%4];" ::"r"(s), "l"(&map), "r"(0), "r"((i % 16) * rows), "r"(b) : "memory");
            else if (kind == 1)
                asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                                 s), "l"(g), "r"(bytes), "r"(b) : "memory");
            else if (kind == 2)
                asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map),
                             "r"(0), "r"((i % 16) * rows), "r"(s) : "memory");
            else
                asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(g), "r"(s), "r"(bytes)
                             : "memory");
        }
        if (kind < 2) {
            asm volatile("{ .reg .pred p; w: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra w; }" ::"r"(b),
                         "r"(phase) : "memory");
            phase ^= 1;
        } else {
            asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
        }
        clocks[r] = clock64() - from;
    }
}

int main()
{
    char *memory;
    long long *clocks, got[ROUNDS];
    cudaMalloc(&memory, 64 << 20);
    cudaMemset(memory, 1, 64 << 20);
    cudaMalloc(&clocks, sizeof got);
    cudaFuncSetAttribute(run, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10);
    static const char *const kinds[] = {"tensor_load", "bulk_load", "tensor_store", "bulk_store"};
    static const int inner[] = {16, 32, 64, 128}, heights[] = {1, 4, 16, 64, 128, 256};
    puts("kind,row_bytes,rows,copies,first_clk,median_clk");
    for (int kind = 0; kind < 4; kind++)
        for (int w : inner)
            for (int h : heights)
                for (int n = 1; n <= 32; n *= 32) {
                    if (w * h > 16384 || (kind % 2 && w != 128))
                        continue;
                    CUtensorMap map;
                    cuuint64_t dim[] = {(cuuint64_t)w / 2, 8192}, stride[] = {(cuuint64_t)w};
                    cuuint32_t box[] = {(cuuint32_t)w / 2, (cuuint32_t)h}, one[] = {1, 1};
                    CUtensorMapSwizzle swizzle = w == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                                                 : w == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                                 : w == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                                           : CU_TENSOR_MAP_SWIZZLE_NONE;
                    CUresult r = cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, memory, dim, stride, box,
                                                        one, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                                                        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
                    if (r)
                        return 1;
                    run<<<1, 1, 160 << 10>>>(map, memory, kind, n, w * h, h, clocks);
                    if (cudaMemcpy(got, clocks, sizeof got, cudaMemcpyDeviceToHost)) {
                        printf("error %d\n", cudaGetLastError());
                        return 1;
                    }
                    long long first = got[0];
                    for (int i = 1; i < ROUNDS; i++)
                        for (int j = i + 1; j < ROUNDS; j++)
                            if (got[j] < got[i]) {
                                long long t = got[i];
                                got[i] = got[j];
                                got[j] = t;
                            }
                    printf("%s,%d,%d,%d,%lld,%lld\n", kinds[kind], w, h, n, first, got[ROUNDS / 2]);
                }
    return 0;
}
