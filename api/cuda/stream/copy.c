/* Copies: between host and devices, within and between devices, to multicast addresses.
 *
 * When a call returns follows the driver API's page "API synchronization behavior": copies from or to host
 * memory by the functions without Async, copies to pageable memory, and copies within host memory return
 * when they are done. Copies within device memory never wait for what was queued before them; alone in
 * their stream they are done when the call returns, which the page leaves open and which spares programs
 * that forget to synchronize a difference from real machines, where such copies are over in no time.
 *
 * The engine is that of the device whose memory is written, or read if the other end is the host's. A copy between two
 * contexts is the stream's device's: it writes to the other one, or reads from it, as the stream is the source's or the
 * destination's (assumed; source: CUDA samples, p2pBandwidthLatencyTest, whose reads and writes differ in that). */
#include "api/cuda/stream/copy.h"

#include "api/cuda/multicast/team.h"

/* May `device` (or the memory's home, whose engine could do it) touch the range? */
static gboolean allowed(const Range *range, gboolean write, int device, int *engine_device)
{
    guint8 need = write ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_READ;

    if (range->kind != RANGE_VMM && range->kind != RANGE_POOL)
        return TRUE; /* the driver copies between all devices */
    if ((range->access[device] & need) == need)
        return TRUE;
    if (!range->team && range->device >= 0 && (range->access[range->device] & need) == need) {
        *engine_device = range->device;
        return TRUE;
    }
    return FALSE;
}

CUresult check_device_span(Call *call, guint64 va, guint64 bytes, gboolean write, int device, int *engine_device)
{
    for (guint64 at = va; at - va < bytes;) {
        Range *range = range_find(call->cuda->ranges, at);
        if (!range) {
            cuda_diagnose(call, 0, device, at, "nothing is mapped at the address");
            return CUDA_ERROR_INVALID_VALUE;
        }
        if (range->freed) {
            cuda_diagnose(call, 0, device, at, "use after cuMemFreeAsync");
            return CUDA_ERROR_INVALID_VALUE;
        }
        if (range->team && !write) {
            cuda_diagnose(call, range->handle, device, at, "UB: read through a multicast address");
            return CUDA_ERROR_INVALID_VALUE;
        }
        if (!allowed(range, write, device, engine_device)) {
            cuda_diagnose(call, range->handle, device, at, "no right to %s the address", write ? "write" : "read");
            return CUDA_ERROR_INVALID_VALUE;
        }
        if (range->team)
            team_sync(call, range->team);
        at = range->va + range->bytes;
    }
    return CUDA_SUCCESS;
}

/* Turns "any" into host or device; host memory that the driver knows counts as a device range. */
static CopySide resolve(Call *call, guint64 address, CopySide side)
{
    Range *range = range_find(call->cuda->ranges, address);

    if (range && range->kind == RANGE_REGISTERED)
        return SIDE_HOST;
    if (side == SIDE_DEVICE || range || reservation_find(call->cuda->ranges, address))
        return SIDE_DEVICE;
    return SIDE_HOST;
}

gboolean copy_span(guint64 width, guint64 pitch, guint64 height, guint64 *bytes)
{
    *bytes = width;
    return height == 0 ||
           (g_uint64_checked_mul(bytes, height - 1, pitch) && g_uint64_checked_add(bytes, *bytes, width));
}

CopyMemory copy_memory(Call *call, guint64 address)
{
    const Range *range = range_find(call->cuda->ranges, address);

    if (!range)
        return reservation_find(call->cuda->ranges, address) ? COPY_DEVICE : COPY_PAGEABLE;
    return !range->team && range->device < 0 ? COPY_PINNED : COPY_DEVICE;
}

gboolean copy_sync_memops(Call *call, guint64 address)
{
    const Range *range = range_find(call->cuda->ranges, address);
    return range && range->sync_memops;
}

static EngineWait when_answered(Call *call, const Copy *copy, CopyMemory to, CopyMemory from)
{
    if (to != COPY_DEVICE && from != COPY_DEVICE)
        return ENGINE_ANSWER_DONE;
    if (copy->asynchronous)
        return to == COPY_PAGEABLE ? ENGINE_ANSWER_DONE : ENGINE_ANSWER_QUEUED;
    if (to != COPY_DEVICE || from != COPY_DEVICE || copy_sync_memops(call, copy->destination) ||
        copy_sync_memops(call, copy->source))
        return ENGINE_ANSWER_DONE;
    return ENGINE_ANSWER_STARTED;
}

/* Nothing wraps around: neither the way through the rows nor the addresses. */
static gboolean copy_fits(const Copy *copy)
{
    guint64 all, end;

    return copy_span(copy->bytes, copy->pitch, copy->height, &all) &&
           g_uint64_checked_add(&end, copy->destination, all) &&
           copy_span(copy->bytes, copy->source_pitch, copy->height, &all) &&
           g_uint64_checked_add(&end, copy->source, all) &&
           (copy->height == 0 || g_uint64_checked_mul(&all, copy->bytes, copy->height));
}

CUresult copy_prepare(Call *call, const Copy *copy, const Context *context, EngineRequest *request)
{
    CopySide to = resolve(call, copy->destination, copy->destination_side);
    CopySide from = resolve(call, copy->source, copy->source_side);
    int device = copy->peer >= 0 ? copy->peer : context->device;
    int source_device = copy->source_peer >= 0 ? copy->source_peer : context->device;
    CUresult result = copy_fits(copy) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    guint64 bytes;

    if (result == CUDA_SUCCESS && from == SIDE_DEVICE &&
        copy_span(copy->bytes, copy->source_pitch, copy->height, &bytes))
        result = check_device_span(call, copy->source, bytes, FALSE, source_device, &source_device);
    if (result == CUDA_SUCCESS && to == SIDE_DEVICE && copy_span(copy->bytes, copy->pitch, copy->height, &bytes))
        result = check_device_span(call, copy->destination, bytes, TRUE, device, &device);
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
        .access = (guint32)(to == SIDE_HOST ? (from == SIDE_HOST ? ENGINE_HOST_BOTH : ENGINE_HOST_DESTINATION)
                                            : (from == SIDE_HOST ? ENGINE_HOST_SOURCE : ENGINE_HOST_NONE)),
    };
    CopyMemory to_memory = copy_memory(call, copy->destination);
    CopyMemory from_memory = copy_memory(call, copy->source);
    request->wait = when_answered(call, copy, to_memory, from_memory);
    if (from == SIDE_HOST && from_memory == COPY_PAGEABLE && copy->asynchronous && !copy->stream_order &&
        request->wait == ENGINE_ANSWER_QUEUED)
        request->access |= ENGINE_HOST_EARLY; /* the caller may change it from now on */
    for (guint i = 0; i < 2 && copy->between[i]; i++)
        *(i == 0 ? &request->region : &request->object) = (guint32)copy->between[i]->id;
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
    const int issuer = stream.context->device;
    if (copy->peer >= 0 && (issuer == copy->peer || issuer == copy->source_peer))
        request.gpu = call->cuda->device[issuer].gpu;
    return engine_submit(call, &request);
}

/* Every call of this family exists twice: with stream 0 as the context's default stream, and with
 * it as the calling thread's own (`twin`: the suffix of that name). */
#define COPY_TWINS(name, twin, parameters, ...)                                                                        \
    CUresult name parameters                                                                                           \
    {                                                                                                                  \
        CUDA_BEGIN(call);                                                                                              \
        Copy copy = {.standard = CU_STREAM_LEGACY, .peer = -1, .source_peer = -1, __VA_ARGS__};                        \
        CUDA_RETURN(call, copy_any(&call, &copy));                                                                     \
    }                                                                                                                  \
    CUDA_ALIAS_PTSZ CUresult name##twin parameters;                                                                    \
    CUresult name##twin parameters                                                                                     \
    {                                                                                                                  \
        CUDA_BEGIN(call);                                                                                              \
        Copy copy = {.standard = CU_STREAM_PER_THREAD, .peer = -1, .source_peer = -1, __VA_ARGS__};                    \
        CUDA_RETURN(call, copy_any(&call, &copy));                                                                     \
    }

#define SIDES(to, from) .destination_side = SIDE_##to, .source_side = SIDE_##from
#define SPAN .destination = (guint64)destination, .source = (guint64)source, .bytes = bytes
#define ON_STREAM .stream = stream, .asynchronous = TRUE

COPY_TWINS(cuMemcpy, _ptds, (CUdeviceptr destination, CUdeviceptr source, size_t bytes), SIDES(ANY, ANY), SPAN)
COPY_TWINS(cuMemcpyHtoD_v2, _ptds, (CUdeviceptr destination, const void *source, size_t bytes), SIDES(DEVICE, HOST),
           SPAN)
COPY_TWINS(cuMemcpyDtoH_v2, _ptds, (void *destination, CUdeviceptr source, size_t bytes), SIDES(HOST, DEVICE), SPAN)
COPY_TWINS(cuMemcpyDtoD_v2, _ptds, (CUdeviceptr destination, CUdeviceptr source, size_t bytes), SIDES(DEVICE, DEVICE),
           SPAN)
COPY_TWINS(cuMemcpyAsync, _ptsz, (CUdeviceptr destination, CUdeviceptr source, size_t bytes, CUstream stream),
           SIDES(ANY, ANY), SPAN, ON_STREAM)
COPY_TWINS(cuMemcpyHtoDAsync_v2, _ptsz, (CUdeviceptr destination, const void *source, size_t bytes, CUstream stream),
           SIDES(DEVICE, HOST), SPAN, ON_STREAM)
COPY_TWINS(cuMemcpyDtoHAsync_v2, _ptsz, (void *destination, CUdeviceptr source, size_t bytes, CUstream stream),
           SIDES(HOST, DEVICE), SPAN, ON_STREAM)
COPY_TWINS(cuMemcpyDtoDAsync_v2, _ptsz, (CUdeviceptr destination, CUdeviceptr source, size_t bytes, CUstream stream),
           SIDES(DEVICE, DEVICE), SPAN, ON_STREAM)
