/* Fills; to a multicast address they reach every bound copy. */
#include "api/cuda/stream/copy.h"

typedef struct {
    guint64 destination;
    guint64 value;
    guint32 width; /* of the value: 1, 2 or 4 bytes */
    guint64 n;     /* values in a row */
    gboolean rows; /* several, of which these are the pitch and the number */
    guint64 pitch, height;
    CUstream stream, standard;
    gboolean asynchronous;
} Fill;

/* The bytes of a row and of everything; FALSE: a size, an alignment or a pitch that cannot be. With one row
 * the pitch is not looked at. source: CUDA driver API, cuMemsetD2D8 */
static gboolean fill_sizes(const Fill *fill, guint64 *row, guint64 *all)
{
    guint64 pitch = fill->rows && fill->height > 1 ? fill->pitch : 0;

    return fill->destination % fill->width == 0 && g_uint64_checked_mul(row, fill->n, fill->width) &&
           (!fill->rows || fill->height <= 1 || (pitch >= *row && pitch % fill->width == 0)) &&
           copy_span(*row, pitch, fill->rows ? fill->height : 0, all);
}

/* Memory of devices is set behind the caller's back, host memory before the call returns. */
static EngineWait when_answered(Call *call, const Fill *fill)
{
    if (fill->asynchronous)
        return ENGINE_ANSWER_QUEUED;
    return copy_memory(call, fill->destination) != COPY_DEVICE || copy_sync_memops(call, fill->destination)
               ? ENGINE_ANSWER_DONE
               : ENGINE_ANSWER_STARTED;
}

static CUresult fill_any(Call *call, const Fill *fill)
{
    Context *context;
    Stream stream;
    guint64 row, all;
    CUresult result = context_need(call, &context);

    if (result == CUDA_SUCCESS)
        result = stream_get(call, fill->stream, fill->standard, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (!fill_sizes(fill, &row, &all))
        return CUDA_ERROR_INVALID_VALUE;
    if (row == 0 || (fill->rows && fill->height == 0))
        return CUDA_SUCCESS;
    int device = context->device;
    result = check_device_span(call, fill->destination, all, TRUE, device, &device);
    if (result != CUDA_SUCCESS)
        return result;
    const Range *range = range_find(call->cuda->ranges, fill->destination);
    EngineRequest request = {.op = ENGINE_FILL,
                             .stream = stream.stream,
                             .address = fill->destination,
                             .value = fill->value,
                             .width = fill->width,
                             .bytes = row,
                             .pitch = fill->rows ? fill->pitch : 0,
                             .height = fill->rows ? fill->height : 0,
                             .gpu = call->cuda->device[device].gpu,
                             .access = range->kind == RANGE_REGISTERED ? ENGINE_HOST_DESTINATION : ENGINE_HOST_NONE,
                             .wait = when_answered(call, fill)};
    return engine_submit(call, &request);
}

#define FILL_TWINS(name, twin, parameters, ...)                                                                        \
    CUresult name parameters                                                                                           \
    {                                                                                                                  \
        CUDA_BEGIN(call);                                                                                              \
        Fill fill = {.standard = CU_STREAM_LEGACY, .destination = destination, .value = value, __VA_ARGS__};           \
        CUDA_RETURN(call, fill_any(&call, &fill));                                                                     \
    }                                                                                                                  \
    CUDA_ALIAS_PTSZ CUresult name##twin parameters;                                                                    \
    CUresult name##twin parameters                                                                                     \
    {                                                                                                                  \
        CUDA_BEGIN(call);                                                                                              \
        Fill fill = {.standard = CU_STREAM_PER_THREAD, .destination = destination, .value = value, __VA_ARGS__};       \
        CUDA_RETURN(call, fill_any(&call, &fill));                                                                     \
    }
#define ROW(w) .width = w, .n = n
#define ROWS(w) .width = w, .n = width, .rows = TRUE, .pitch = pitch, .height = height
#define ON_STREAM .stream = stream, .asynchronous = TRUE

FILL_TWINS(cuMemsetD8_v2, _ptds, (CUdeviceptr destination, unsigned char value, size_t n), ROW(1))
FILL_TWINS(cuMemsetD16_v2, _ptds, (CUdeviceptr destination, unsigned short value, size_t n), ROW(2))
FILL_TWINS(cuMemsetD32_v2, _ptds, (CUdeviceptr destination, unsigned int value, size_t n), ROW(4))
FILL_TWINS(cuMemsetD8Async, _ptsz, (CUdeviceptr destination, unsigned char value, size_t n, CUstream stream), ROW(1),
           ON_STREAM)
FILL_TWINS(cuMemsetD16Async, _ptsz, (CUdeviceptr destination, unsigned short value, size_t n, CUstream stream), ROW(2),
           ON_STREAM)
FILL_TWINS(cuMemsetD32Async, _ptsz, (CUdeviceptr destination, unsigned int value, size_t n, CUstream stream), ROW(4),
           ON_STREAM)
FILL_TWINS(cuMemsetD2D8_v2, _ptds,
           (CUdeviceptr destination, size_t pitch, unsigned char value, size_t width, size_t height), ROWS(1))
FILL_TWINS(cuMemsetD2D32_v2, _ptds,
           (CUdeviceptr destination, size_t pitch, unsigned int value, size_t width, size_t height), ROWS(4))
