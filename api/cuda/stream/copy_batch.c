/* Batches of copies. They run in stream order, one behind the other, as the order within a batch is
 * not to be relied on. All or nothing: every copy is checked before the first is queued. */
#include "api/cuda/stream/copy.h"

typedef struct {
    const CUdeviceptr *to, *from;
    const size_t *bytes;
    size_t n;
    const CUmemcpyAttributes *attributes;
    const size_t *first; /* copy that attributes[k] begin to apply to */
    size_t n_attributes;
} Batch;

static gboolean attributes_are_sound(const Batch *batch)
{
    for (size_t k = 0; k < batch->n_attributes; k++) {
        const CUmemcpyAttributes *a = &batch->attributes[k];
        if (a->srcAccessOrder < CU_MEMCPY_SRC_ACCESS_ORDER_STREAM ||
            a->srcAccessOrder > CU_MEMCPY_SRC_ACCESS_ORDER_ANY ||
            (a->flags & ~(unsigned)CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE) != 0 ||
            (k == 0 ? batch->first[k] != 0 : batch->first[k] <= batch->first[k - 1]) || batch->first[k] >= batch->n)
            return FALSE;
    }
    return TRUE;
}

/* *bad: the copy that is wrong, or the number of copies when it is not one of them. */
static CUresult batch_copy(Call *call, const Batch *batch, CUstream handle, CUstream standard, size_t *bad)
{
    Stream stream;
    size_t group = 0;

    *bad = batch->n;
    if (!batch->to || !batch->from || !batch->bytes || batch->n == 0 || !batch->attributes || !batch->first ||
        batch->n_attributes == 0 || batch->n_attributes > batch->n || !attributes_are_sound(batch) ||
        handle == CU_STREAM_LEGACY || (!handle && standard == CU_STREAM_LEGACY))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = stream_get(call, handle, standard, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    g_autofree EngineRequest *request = g_try_new(EngineRequest, batch->n);
    if (!request)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < batch->n; i++) {
        while (group + 1 < batch->n_attributes && batch->first[group + 1] <= i)
            group++;
        Copy copy = {.destination = batch->to[i],
                     .source = batch->from[i],
                     .bytes = batch->bytes[i],
                     .destination_side = SIDE_ANY,
                     .source_side = SIDE_ANY,
                     .asynchronous = TRUE,
                     .stream_order = batch->attributes[group].srcAccessOrder == CU_MEMCPY_SRC_ACCESS_ORDER_STREAM,
                     .peer = -1,
                     .source_peer = -1};
        result = copy.bytes > 0 ? copy_prepare(call, &copy, stream.context, &request[i]) : CUDA_ERROR_INVALID_VALUE;
        *bad = i;
        if (result != CUDA_SUCCESS)
            return result;
        request[i].stream = stream.stream;
    }
    for (size_t i = 0; i < batch->n && result == CUDA_SUCCESS; i++)
        result = engine_submit(call, &request[ *bad = i]);
    return result;
}

#define BATCH_TWINS(name, parameters, bad)                                                                             \
    CUDA_ALIAS_PTSZ CUresult name parameters;                                                                          \
    CUresult name parameters                                                                                           \
    {                                                                                                                  \
        size_t unused;                                                                                                 \
        CUDA_BEGIN(call);                                                                                              \
        Batch batch = {to, from, bytes, n, attributes, first, n_attributes};                                           \
        (void)unused;                                                                                                  \
        CUDA_RETURN(call, batch_copy(&call, &batch, stream, CU_STREAM_LEGACY, bad));                                   \
    }                                                                                                                  \
    CUDA_ALIAS_PTSZ CUresult name##_ptsz parameters;                                                                   \
    CUresult name##_ptsz parameters                                                                                    \
    {                                                                                                                  \
        size_t unused;                                                                                                 \
        CUDA_BEGIN(call);                                                                                              \
        Batch batch = {to, from, bytes, n, attributes, first, n_attributes};                                           \
        (void)unused;                                                                                                  \
        CUDA_RETURN(call, batch_copy(&call, &batch, stream, CU_STREAM_PER_THREAD, bad));                               \
    }

#undef cuMemcpyBatchAsync
BATCH_TWINS(cuMemcpyBatchAsync_v2,
            (CUdeviceptr * to, CUdeviceptr *from, size_t *bytes, size_t n, CUmemcpyAttributes *attributes,
             size_t *first, size_t n_attributes, CUstream stream),
            &unused)
/* Before 13.0 it told which copy was wrong. */
BATCH_TWINS(cuMemcpyBatchAsync,
            (CUdeviceptr * to, CUdeviceptr *from, size_t *bytes, size_t n, CUmemcpyAttributes *attributes,
             size_t *first, size_t n_attributes, size_t *fail, CUstream stream),
            fail ? fail : &unused)
