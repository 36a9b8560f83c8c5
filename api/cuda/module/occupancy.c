/* How many CTAs of a kernel fit on an SM: the answer that the model's own placement of CTAs gives. */
#include "api/cuda/module/module.h"

static CUresult blocks(Call *call, const Function *function, int threads, gsize dynamic_shared, int *n)
{
    int device = function->module->context->device;

    *n = 0;
    if (threads <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    if ((guint)threads > threads_max(call, function->entry, device) || dynamic_shared > G_MAXINT32)
        return CUDA_SUCCESS; /* none fits */
    *n = (int)kernel_occupancy(&call->cuda->fabric, function->entry->function, (guint32)threads,
                               (guint32)dynamic_shared, NULL);
    return CUDA_SUCCESS;
}

static CUresult max_blocks(Call *call, int *n, CUfunction handle, int threads, gsize dynamic_shared, unsigned int flags)
{
    Function *function;

    if (!n || flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = function_get(call, handle, &function);
    return result == CUDA_SUCCESS ? blocks(call, function, threads, dynamic_shared, n) : result;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, CUfunction function, int threads, size_t dynamic_shared)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, max_blocks(&call, n, function, threads, dynamic_shared, 0));
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *n, CUfunction function, int threads,
                                                              size_t dynamic_shared, unsigned int flags)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, max_blocks(&call, n, function, threads, dynamic_shared, flags));
}

/* The largest multiple of a warp that keeps most threads on an SM. */
static CUresult best_block(Call *call, int *grid, int *block, CUfunction handle, CUoccupancyB2DSize shared_of,
                           gsize dynamic_shared, int limit, unsigned int flags)
{
    Function *function;

    if (!grid || !block || flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE || limit < 0)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = function_get(call, handle, &function);
    if (result != CUDA_SUCCESS)
        return result;
    int device = function->module->context->device, best = 0, most = (int)threads_max(call, function->entry, device);
    if (limit > 0)
        most = MIN(most, limit);
    *grid = *block = 0;
    for (int step = (most + 31) / 32 * 32; step > 0; step -= 32) {
        int threads = MIN(step, most), n;
        result = blocks(call, function, threads, shared_of ? shared_of(threads) : dynamic_shared, &n);
        if (result != CUDA_SUCCESS)
            return result;
        if (n * threads <= best)
            continue;
        best = n * threads;
        *block = threads;
        *grid = n * device_attribute(call->cuda, device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    }
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction function, CUoccupancyB2DSize shared_of,
                                          size_t dynamic_shared, int limit)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, best_block(&call, grid, block, function, shared_of, dynamic_shared, limit, 0));
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, CUfunction function,
                                                   CUoccupancyB2DSize shared_of, size_t dynamic_shared, int limit,
                                                   unsigned int flags)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, best_block(&call, grid, block, function, shared_of, dynamic_shared, limit, flags));
}

/* The most that leaves room for n CTAs: what fits once more does not, by halving. */
CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, CUfunction handle, int n, int threads)
{
    Function *function;
    CUDA_BEGIN(call);

    if (!bytes || n <= 0)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    CUresult result = function_get(&call, handle, &function);
    if (result != CUDA_SUCCESS)
        CUDA_RETURN(call, result);
    int device = function->module->context->device, fit;
    result = blocks(&call, function, threads, 0, &fit);
    if (result != CUDA_SUCCESS || fit < n)
        CUDA_RETURN(call, result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE);
    gsize low = 0,
          high = (gsize)device_attribute(call.cuda, device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    while (low < high) {
        gsize middle = (low + high + 1) / 2;
        blocks(&call, function, threads, middle, &fit);
        if (fit >= n)
            low = middle;
        else
            high = middle - 1;
    }
    *bytes = low;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

/* ---- clusters */

static guint cluster_of(const CUlaunchConfig *config, const Function *function)
{
    const guint32 *fixed = function->entry->function->cluster;
    guint size = fixed[0] != 0 ? MAX(fixed[0], 1u) * MAX(fixed[1], 1u) * MAX(fixed[2], 1u) : 1;

    for (unsigned int i = 0; config->attrs && i < config->numAttrs; i++)
        if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            size = config->attrs[i].value.clusterDim.x * config->attrs[i].value.clusterDim.y *
                   config->attrs[i].value.clusterDim.z;
    return size;
}

static CUresult of_config(Call *call, CUfunction handle, const CUlaunchConfig *config, Function **function, int *n)
{
    if (!config || config->blockDimX == 0 || config->blockDimY == 0 || config->blockDimZ == 0)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = function_get(call, handle, function);
    guint64 threads = (guint64)config->blockDimX * config->blockDimY * config->blockDimZ;
    if (result == CUDA_SUCCESS && threads > 1024)
        result = CUDA_ERROR_INVALID_VALUE;
    return result == CUDA_SUCCESS ? blocks(call, *function, (int)threads, config->sharedMemBytes, n) : result;
}

CUresult cuOccupancyMaxPotentialClusterSize(int *size, CUfunction handle, const CUlaunchConfig *config)
{
    Function *function;
    int n;
    CUDA_BEGIN(call);

    if (!size)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    CUresult result = of_config(&call, handle, config, &function, &n);
    if (result == CUDA_SUCCESS)
        *size = n == 0 ? 0 : function->settings->non_portable ? 16 : 8;
    CUDA_RETURN(call, result);
}

/* source: the SMs of an H100 that clusters share come in groups; here any SMs do, as in the model's placement */
CUresult cuOccupancyMaxActiveClusters(int *clusters, CUfunction handle, const CUlaunchConfig *config)
{
    Function *function;
    int n;
    CUDA_BEGIN(call);

    if (!clusters)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    CUresult result = of_config(&call, handle, config, &function, &n);
    if (result != CUDA_SUCCESS)
        CUDA_RETURN(call, result);
    guint size = cluster_of(config, function);
    if (size == 0 || size > (function->settings->non_portable ? 16u : 8u))
        CUDA_RETURN(call, CUDA_ERROR_INVALID_CLUSTER_SIZE);
    *clusters =
        n * device_attribute(call.cuda, function->module->context->device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) /
        (int)size;
    CUDA_RETURN(call, CUDA_SUCCESS);
}
