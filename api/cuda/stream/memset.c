/* Fills; to a multicast address they reach every bound copy. */
#include "api/cuda/stream/copy.h"

typedef struct {
    guint64 destination;
    guint64 value;
    guint32 width; /* of the value: 1, 2 or 4 bytes */
    guint64 n;     /* values in a row */
    guint64 pitch; /* bytes from row to row; 0: one row */
    guint64 height;
    CUstream stream, standard;
    gboolean asynchronous;
} Fill;

static CUresult fill_any(Call *call, const Fill *fill)
{
    Context *context;
    Stream stream;
    CUresult result = context_need(call, &context);

    if (result == CUDA_SUCCESS)
        result = stream_get(call, fill->stream, fill->standard, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (!(fill->destination % fill->width == 0) || fill->n > G_MAXUINT64 / fill->width ||
        (fill->pitch != 0 &&
         (fill->pitch < fill->n * fill->width || fill->pitch % fill->width != 0)))
        return CUDA_ERROR_INVALID_VALUE;
    guint64 bytes = fill->n * fill->width;
    if (bytes == 0 || (fill->pitch != 0 && fill->height == 0))
        return CUDA_SUCCESS;
    int device = context->device;
    result = check_device_span(call, fill->destination,
                               fill->pitch == 0 ? bytes : (fill->height - 1) * fill->pitch + bytes,
                               TRUE, device, &device);
    if (result != CUDA_SUCCESS)
        return result;
    EngineRequest request = {.op = ENGINE_FILL,
                             .stream = stream.stream,
                             .address = fill->destination,
                             .value = fill->value,
                             .width = fill->width,
                             .bytes = bytes,
                             .pitch = fill->pitch,
                             .height = fill->height,
                             .gpu = call->cuda->device[device].gpu};
    result = engine_submit(call, &request);
    if (result != CUDA_SUCCESS || fill->asynchronous)
        return result;
    request = (EngineRequest){.op = ENGINE_WAIT_STREAM, .stream = stream.stream};
    return engine_wait(call, &request);
}

#define FILL_TWINS(name, twin, parameters, ...)                                                    \
    CUresult name parameters                                                                       \
    {                                                                                              \
        CUDA_BEGIN(call);                                                                          \
        Fill fill = {.standard = CU_STREAM_LEGACY,                                                 \
                     .destination = destination,                                                   \
                     .value = value,                                                               \
                     __VA_ARGS__};                                                                 \
        CUDA_RETURN(call, fill_any(&call, &fill));                                                 \
    }                                                                                              \
    CUDA_TWIN CUresult name##twin parameters;                                                      \
    CUresult name##twin parameters                                                                 \
    {                                                                                              \
        CUDA_BEGIN(call);                                                                          \
        Fill fill = {.standard = CU_STREAM_PER_THREAD,                                             \
                     .destination = destination,                                                   \
                     .value = value,                                                               \
                     __VA_ARGS__};                                                                 \
        CUDA_RETURN(call, fill_any(&call, &fill));                                                 \
    }
#define ROW(w) .width = w, .n = n
#define ROWS(w) .width = w, .n = width, .pitch = pitch, .height = height
#define ON_STREAM .stream = stream, .asynchronous = TRUE

FILL_TWINS(cuMemsetD8_v2, _ptds, (CUdeviceptr destination, unsigned char value, size_t n), ROW(1))
FILL_TWINS(cuMemsetD16_v2, _ptds, (CUdeviceptr destination, unsigned short value, size_t n), ROW(2))
FILL_TWINS(cuMemsetD32_v2, _ptds, (CUdeviceptr destination, unsigned int value, size_t n), ROW(4))
FILL_TWINS(cuMemsetD8Async, _ptsz,
           (CUdeviceptr destination, unsigned char value, size_t n, CUstream stream), ROW(1),
           ON_STREAM)
FILL_TWINS(cuMemsetD16Async, _ptsz,
           (CUdeviceptr destination, unsigned short value, size_t n, CUstream stream), ROW(2),
           ON_STREAM)
FILL_TWINS(cuMemsetD32Async, _ptsz,
           (CUdeviceptr destination, unsigned int value, size_t n, CUstream stream), ROW(4),
           ON_STREAM)
FILL_TWINS(cuMemsetD2D8_v2, _ptds,
           (CUdeviceptr destination, size_t pitch, unsigned char value, size_t width,
            size_t height),
           ROWS(1))
FILL_TWINS(cuMemsetD2D32_v2, _ptds,
           (CUdeviceptr destination, size_t pitch, unsigned int value, size_t width, size_t height),
           ROWS(4))
