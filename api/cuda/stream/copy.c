/* Copies: between host and devices, within and between devices, to multicast addresses. */
#include "api/cuda/stream/copy.h"

#include "api/cuda/multicast/team.h"

CUresult engine_result(EngineStatus status)
{
    switch (status) {
    case ENGINE_OK:
        return CUDA_SUCCESS;
    case ENGINE_NO_MEMORY:
    case ENGINE_FULL:
        return CUDA_ERROR_OUT_OF_MEMORY;
    case ENGINE_FAULT:
        return CUDA_ERROR_INVALID_VALUE;
    case ENGINE_DEVICE_FAULT:
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    case ENGINE_INVALID:
        return CUDA_ERROR_INVALID_VALUE;
    case ENGINE_STUCK:
        return CUDA_ERROR_LAUNCH_TIMEOUT;
    }
    return CUDA_ERROR_UNKNOWN;
}

CUresult engine_wait(Call *call, const EngineRequest *request)
{
    EngineReply reply;

    cuda_unlock(call);
    EngineStatus status = engine_call(call->cuda->engine, request, &reply);
    cuda_relock(call);
    return engine_result(status);
}

CUresult engine_submit(Call *call, const EngineRequest *request)
{
    EngineRequest named = *request;
    EngineReply reply;

    g_strlcpy(named.call, call->name, sizeof named.call);
    return engine_result(engine_call(call->cuda->engine, &named, &reply));
}

/* May `device` (or the memory's home, whose engine could do it) touch the range? */
static gboolean allowed(const Range *range, gboolean write, int device, int *engine_device)
{
    guint8 need = write ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_READ;

    if (range->kind != RANGE_VMM && range->kind != RANGE_POOL)
        return TRUE; /* the driver copies between all devices */
    if ((range->access[device] & need) == need)
        return TRUE;
    if (range->team == NULL && range->device >= 0 &&
        (range->access[range->device] & need) == need) {
        *engine_device = range->device;
        return TRUE;
    }
    return FALSE;
}

CUresult check_device_span(Call *call, guint64 va, guint64 bytes, gboolean write, int device,
                           int *engine_device)
{
    for (guint64 at = va; at - va < bytes;) {
        Range *range = range_find(call->cuda->ranges, at);
        if (range == NULL) {
            cuda_diagnose(call, 0, device, at, "nothing is mapped at the address");
            return CUDA_ERROR_INVALID_VALUE;
        }
        if (range->freed) {
            cuda_diagnose(call, 0, device, at, "use after cuMemFreeAsync");
            return CUDA_ERROR_INVALID_VALUE;
        }
        if (range->team != NULL && !write) {
            cuda_diagnose(call, range->handle, device, at, "UB: read through a multicast address");
            return CUDA_ERROR_INVALID_VALUE;
        }
        if (!allowed(range, write, device, engine_device)) {
            cuda_diagnose(call, range->handle, device, at, "no right to %s the address",
                          write ? "write" : "read");
            return CUDA_ERROR_INVALID_VALUE;
        }
        if (range->team != NULL)
            team_sync(call, range->team);
        at = range->va + range->bytes;
    }
    return CUDA_SUCCESS;
}

/* Turns "any" into host or device; host memory that the driver knows counts as a device range. */
static CopySide resolve(Call *call, guint64 address, CopySide side)
{
    Range *range = range_find(call->cuda->ranges, address);

    if (range != NULL && range->kind == RANGE_REGISTERED)
        return SIDE_HOST;
    if (side == SIDE_DEVICE || range != NULL ||
        reservation_find(call->cuda->ranges, address) != NULL)
        return SIDE_DEVICE;
    return SIDE_HOST;
}

static guint64 span(guint64 width, guint64 pitch, guint64 height)
{
    return height == 0 ? width : (height - 1) * pitch + width;
}

CUresult copy_prepare(Call *call, const Copy *copy, const Context *context, EngineRequest *request)
{
    CopySide to = resolve(call, copy->destination, copy->destination_side);
    CopySide from = resolve(call, copy->source, copy->source_side);
    int device = copy->peer >= 0 ? copy->peer : context->device;
    int source_device = copy->source_peer >= 0 ? copy->source_peer : context->device;
    CUresult result = CUDA_SUCCESS;

    if (from == SIDE_DEVICE)
        result = check_device_span(call, copy->source,
                                   span(copy->bytes, copy->source_pitch, copy->height), FALSE,
                                   source_device, &source_device);
    if (result == CUDA_SUCCESS && to == SIDE_DEVICE)
        result =
            check_device_span(call, copy->destination, span(copy->bytes, copy->pitch, copy->height),
                              TRUE, device, &device);
    if (result == CUDA_SUCCESS &&
        ((to == SIDE_HOST && copy->destination == 0) || (from == SIDE_HOST && copy->source == 0)))
        result = CUDA_ERROR_INVALID_VALUE;
    *request = (EngineRequest){
        .op = copy->height == 0 ? ENGINE_COPY : ENGINE_COPY_2D,
        .gpu = call->cuda->device[to == SIDE_DEVICE ? device : source_device].gpu,
        .address = copy->destination,
        .source = copy->source,
        .bytes = copy->bytes,
        .pitch = copy->pitch,
        .source_pitch = copy->source_pitch,
        .height = copy->height,
        .access = (guint32)(to == SIDE_HOST
                                ? (from == SIDE_HOST ? ENGINE_HOST_BOTH : ENGINE_HOST_DESTINATION)
                                : (from == SIDE_HOST ? ENGINE_HOST_SOURCE : ENGINE_HOST_NONE)),
    };
    return result;
}

CUresult copy_any(Call *call, const Copy *copy)
{
    Context *context;
    Stream stream;
    EngineRequest request;
    CUresult result = context_need(call, &context);

    if (result == CUDA_SUCCESS)
        result = stream_get(call, copy->stream, copy->standard, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (copy->bytes == 0)
        return CUDA_SUCCESS;
    result = copy_prepare(call, copy, context, &request);
    if (result != CUDA_SUCCESS)
        return result;
    request.stream = stream.stream;
    result = engine_submit(call, &request);
    if (result != CUDA_SUCCESS || copy->asynchronous)
        return result;
    request = (EngineRequest){.op = ENGINE_WAIT_STREAM, .stream = stream.stream};
    return engine_wait(call, &request);
}

/* Every call of this family exists twice: with stream 0 as the context's default stream, and with
 * it as the calling thread's own (`twin`: the suffix of that name). */
#define COPY_TWINS(name, twin, parameters, ...)                                                    \
    CUresult name parameters                                                                       \
    {                                                                                              \
        CUDA_BEGIN(call);                                                                          \
        Copy copy = {.standard = CU_STREAM_LEGACY, .peer = -1, .source_peer = -1, __VA_ARGS__};    \
        CUDA_RETURN(call, copy_any(&call, &copy));                                                 \
    }                                                                                              \
    CUDA_TWIN CUresult name##twin parameters;                                                      \
    CUresult name##twin parameters                                                                 \
    {                                                                                              \
        CUDA_BEGIN(call);                                                                          \
        Copy copy = {                                                                              \
            .standard = CU_STREAM_PER_THREAD, .peer = -1, .source_peer = -1, __VA_ARGS__};         \
        CUDA_RETURN(call, copy_any(&call, &copy));                                                 \
    }

#define SIDES(to, from) .destination_side = SIDE_##to, .source_side = SIDE_##from
#define SPAN .destination = (guint64)destination, .source = (guint64)source, .bytes = bytes
#define ON_STREAM .stream = stream, .asynchronous = TRUE

COPY_TWINS(cuMemcpy, _ptds, (CUdeviceptr destination, CUdeviceptr source, size_t bytes),
           SIDES(ANY, ANY), SPAN)
COPY_TWINS(cuMemcpyHtoD_v2, _ptds, (CUdeviceptr destination, const void *source, size_t bytes),
           SIDES(DEVICE, HOST), SPAN)
COPY_TWINS(cuMemcpyDtoH_v2, _ptds, (void *destination, CUdeviceptr source, size_t bytes),
           SIDES(HOST, DEVICE), SPAN)
COPY_TWINS(cuMemcpyDtoD_v2, _ptds, (CUdeviceptr destination, CUdeviceptr source, size_t bytes),
           SIDES(DEVICE, DEVICE), SPAN)
COPY_TWINS(cuMemcpyAsync, _ptsz,
           (CUdeviceptr destination, CUdeviceptr source, size_t bytes, CUstream stream),
           SIDES(ANY, ANY), SPAN, ON_STREAM)
COPY_TWINS(cuMemcpyHtoDAsync_v2, _ptsz,
           (CUdeviceptr destination, const void *source, size_t bytes, CUstream stream),
           SIDES(DEVICE, HOST), SPAN, ON_STREAM)
COPY_TWINS(cuMemcpyDtoHAsync_v2, _ptsz,
           (void *destination, CUdeviceptr source, size_t bytes, CUstream stream),
           SIDES(HOST, DEVICE), SPAN, ON_STREAM)
COPY_TWINS(cuMemcpyDtoDAsync_v2, _ptsz,
           (CUdeviceptr destination, CUdeviceptr source, size_t bytes, CUstream stream),
           SIDES(DEVICE, DEVICE), SPAN, ON_STREAM)
