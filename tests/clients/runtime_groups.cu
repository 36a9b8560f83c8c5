// Cooperative groups, built by nvcc -cudart shared: tiles of a warp, a block, and a grid whose CTAs meet between two
// phases; in streams per thread when built with --default-stream per-thread. Prints ok.
#include <cstdio>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;

#define CK(call)                                                                                   \
    do {                                                                                           \
        cudaError_t error = (call);                                                                \
        if (error) {                                                                               \
            printf("%s: %s\n", #call, cudaGetErrorName(error));                                    \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)
#define IS(what) do { if (!(what)) { printf("wrong: %s\n", #what); return 1; } } while (0)

// Each CTA's sum by tiles of 16; then, all having met, CTA 0 adds the sums of all, three times over.
__global__ void sum(const int *from, int n, int *part, int *total)
{
    __shared__ int tiles[32];
    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<16> tile = cg::tiled_partition<16>(block);
    for (int round = 0; round < 3; round++) {
        int mine = 0;
        for (unsigned long long i = grid.thread_rank(); i < (unsigned long long)n; i += grid.size())
            mine += from[i];
        mine = cg::reduce(tile, mine, cg::plus<int>());
        if (tile.thread_rank() == 0)
            tiles[tile.meta_group_rank()] = mine;
        block.sync();
        if (block.thread_rank() == 0) {
            part[blockIdx.x] = 0;
            for (unsigned t = 0; t < tile.meta_group_size(); t++)
                part[blockIdx.x] += tiles[t];
        }
        grid.sync();
        if (grid.thread_rank() == 0)
            for (unsigned b = 0; b < gridDim.x; b++)
                *total += part[b];
        grid.sync();
    }
}

static int run()
{
    const int n = 100000, threads = 256;
    int *from, *part, *total, value = 0, blocks = 0, cooperative = 0;
    CK(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, 0));
    IS(cooperative);
    CK(cudaMallocManaged(&from, n * sizeof(int)));
    for (int i = 0; i < n; i++)
        from[i] = i % 10;
    CK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, sum, threads, 0));
    IS(blocks > 0);
    CK(cudaMalloc(&part, 132 * blocks * sizeof(int)));
    CK(cudaMalloc(&total, sizeof(int)));
    CK(cudaMemset(total, 0, sizeof(int)));
    int size = n;
    void *args[] = {&from, &size, &part, &total};
    CK(cudaLaunchCooperativeKernel((const void *)sum, dim3(40), dim3(threads), args, 0, 0));
    CK(cudaDeviceSynchronize());
    CK(cudaMemcpy(&value, total, sizeof value, cudaMemcpyDeviceToHost));
    IS(value == 3 * 45 * (n / 10));
    // More CTAs than fit can never meet.
    IS(cudaLaunchCooperativeKernel((const void *)sum, dim3(132 * blocks + 1), dim3(threads), args, 0, 0) ==
       cudaErrorCooperativeLaunchTooLarge);
    IS(cudaGetLastError() == cudaErrorCooperativeLaunchTooLarge);
    sum<<<4, threads>>>(from, n, part, total); // not cooperative: grid.sync() traps
    IS(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
    return 0;
}

int main()
{
    int bad = run();
    puts(bad ? "failed" : "ok");
    return bad;
}
