/* cuFabricCpyBatchAsync: copies between pointers and logical endpoints, by copy engines.
 *
 * All or nothing: every copy is checked before the first is queued. They run in the stream one behind the other, as the
 * order within a batch is not to be relied on. Pageable memory is read and written in stream order. Where an endpoint's
 * memory is, the engine finds when the copy runs. */
#include "api/cuda/endpoint/endpoint.h"

#include "api/cuda/stream/copy.h"

typedef CUDA_FABRIC_COPY_BATCH_OP FabricCopy;

static gboolean is_pointer(const CUfabricCpyOperand *operand)
{
    return operand->type == CU_FABRIC_COPY_OPERAND_TYPE_POINTER;
}

/* On the stream's device or in host memory. */
static gboolean is_local(Call *call, guint64 address, const Context *context)
{
    const Range *range = range_find(call->cuda->ranges, address);

    if (!range)
        return address != 0 && !reservation_find(call->cuda->ranges, address);
    return !range->team && (range->device < 0 || range->device == context->device);
}

static gboolean is_of_host(Call *call, guint64 address)
{
    const Range *range = range_find(call->cuda->ranges, address);

    return range ? range->kind == RANGE_REGISTERED : !reservation_find(call->cuda->ranges, address);
}

/* An endpoint that the stream's device may use so far. */
static CUresult check_endpoint(Call *call, const CUfabricCpyOperand *operand, guint64 bytes, gboolean read,
                               const Context *context)
{
    const CUlogicalEndpointId id = operand->op.le.id;
    const Endpoint *entry = endpoint_find(call, id);
    const char *why = NULL;

    if (!entry)
        return CUDA_ERROR_INVALID_VALUE;
    Team *team = entry->team;
    team_sync(call, team);
    team_lock(team);
    const guint16 member = team->page->member[0];
    team_unlock(team);
    if (!entry->ready)
        why = endpoint_status_text(ENDPOINT_NOT_READY);
    else if (!fits(operand->op.le.offset, bytes, team->bytes))
        why = endpoint_status_text(ENDPOINT_OUT_OF_RANGE);
    else if (read && team->kind == ENGINE_OBJECT_ENDPOINT_MULTICAST)
        why = "is multicast: it can only be written to";
    else if (cuda_spec_clique(&call->cuda->spec, member) !=
             cuda_spec_clique(&call->cuda->spec, call->cuda->device[context->device].gpu))
        why = endpoint_status_text(ENDPOINT_OTHER_CLIQUE);
    if (!why)
        return CUDA_SUCCESS;
    cuda_diagnose(call, id, context->device, 0, "endpoint %u %s", id, why);
    return CUDA_ERROR_INVALID_VALUE;
}

/* A copy between a local pointer and an endpoint. */
static CUresult with_endpoint(Call *call, const FabricCopy *copy, const Context *context, EngineRequest *request)
{
    const gboolean put = is_pointer(&copy->src);
    const CUfabricCpyOperand *pointer = put ? &copy->src : &copy->dst, *endpoint = put ? &copy->dst : &copy->src;
    const guint64 address = pointer->op.ptr.ptr, offset = endpoint->op.le.offset;
    const gboolean host = is_of_host(call, address);
    int device = context->device;
    CUresult result = check_endpoint(call, endpoint, copy->size, !put, context);

    if (result == CUDA_SUCCESS && !is_local(call, address, context))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && !host && copy->size > 0)
        result = check_device_span(call, address, copy->size, !put, device, &device);
    *request = (EngineRequest){
        .op = ENGINE_COPY,
        .gpu = call->cuda->device[context->device].gpu,
        .address = put ? offset : address,
        .source = put ? address : offset,
        .bytes = copy->size,
        .pitch = put ? endpoint->op.le.id : 0,
        .source_pitch = put ? 0 : endpoint->op.le.id,
        .width = put ? ENGINE_ENDPOINT_DESTINATION : ENGINE_ENDPOINT_SOURCE,
        .access = host ? (put ? ENGINE_HOST_SOURCE : ENGINE_HOST_DESTINATION) : ENGINE_HOST_NONE,
    };
    return result;
}

static CUresult between_pointers(Call *call, const FabricCopy *copy, const Context *context, EngineRequest *request)
{
    const Copy as = {.destination = copy->dst.op.ptr.ptr,
                     .source = copy->src.op.ptr.ptr,
                     .bytes = copy->size,
                     .destination_side = SIDE_ANY,
                     .source_side = SIDE_ANY,
                     .asynchronous = TRUE,
                     .stream_order = TRUE,
                     .peer = -1,
                     .source_peer = -1};

    if (!is_local(call, as.destination, context) && !is_local(call, as.source, context))
        return CUDA_ERROR_INVALID_VALUE;
    *request = (EngineRequest){.op = ENGINE_COPY, .gpu = call->cuda->device[context->device].gpu};
    return as.bytes == 0 ? CUDA_SUCCESS : copy_prepare(call, &as, context, request);
}

static gboolean is_operand(const CUfabricCpyOperand *operand)
{
    return is_pointer(operand) || operand->type == CU_FABRIC_COPY_OPERAND_TYPE_LOGICAL_ENDPOINT;
}

static CUresult prepare(Call *call, const FabricCopy *copy, const Context *context, EngineRequest *request)
{
    if (copy->flags != 0 || !is_operand(&copy->src) || !is_operand(&copy->dst))
        return CUDA_ERROR_INVALID_VALUE;
    if (is_pointer(&copy->src) && is_pointer(&copy->dst))
        return between_pointers(call, copy, context, request);
    if (!is_pointer(&copy->src) && !is_pointer(&copy->dst))
        return CUDA_ERROR_INVALID_VALUE;
    return with_endpoint(call, copy, context, request);
}

CUresult fabric_copy_prepare(Call *call, const FabricCopy *list, size_t n, unsigned long long flags,
                             const Context *context, GArray *requests)
{
    CUresult result = endpoint_supported(call->cuda);

    if (result == CUDA_SUCCESS && (!list || n == 0 || n > G_MAXUINT / sizeof(EngineRequest) || flags != 0))
        result = CUDA_ERROR_INVALID_VALUE;
    g_autoptr(GArray) made = g_array_new(FALSE, FALSE, sizeof(EngineRequest));
    for (size_t i = 0; i < n && result == CUDA_SUCCESS; i++) {
        EngineRequest request = {0};
        result = prepare(call, &list[i], context, &request);
        request.wait = ENGINE_ANSWER_QUEUED;
        g_array_append_val(made, request);
    }
    if (result == CUDA_SUCCESS) {
        g_array_set_size(requests, 0);
        g_array_append_vals(requests, made->data, made->len);
    }
    return result;
}

static CUresult batch(Call *call, const FabricCopy *list, size_t n, unsigned long long flags, CUstream handle,
                      CUstream standard)
{
    g_autoptr(GArray) requests = g_array_new(FALSE, FALSE, sizeof(EngineRequest));
    CUresult result = endpoint_supported(call->cuda);
    Stream stream;

    if (result != CUDA_SUCCESS)
        return result;
    if (!list || n == 0 || handle == CU_STREAM_LEGACY || (!handle && standard == CU_STREAM_LEGACY))
        return CUDA_ERROR_INVALID_VALUE;
    result = stream_get(call, handle, standard, &stream);
    if (result == CUDA_SUCCESS)
        result = fabric_copy_prepare(call, list, n, flags, stream.context, requests);
    for (guint i = 0; i < requests->len && result == CUDA_SUCCESS; i++) {
        EngineRequest *request = &g_array_index(requests, EngineRequest, i);
        request->stream = stream.stream;
        if (request->bytes > 0)
            result = engine_submit(call, request);
    }
    return result;
}

#undef cuFabricCpyBatchAsync
CUresult cuFabricCpyBatchAsync(size_t n, CUDA_FABRIC_COPY_BATCH_OP *list, unsigned long long flags, CUstream stream)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, batch(&call, list, n, flags, stream, CU_STREAM_LEGACY));
}

CUDA_ALIAS_PTSZ CUresult cuFabricCpyBatchAsync_ptsz(size_t n, CUDA_FABRIC_COPY_BATCH_OP *list, unsigned long long flags,
                                                    CUstream stream);
CUresult cuFabricCpyBatchAsync_ptsz(size_t n, CUDA_FABRIC_COPY_BATCH_OP *list, unsigned long long flags,
                                    CUstream stream)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, batch(&call, list, n, flags, stream, CU_STREAM_PER_THREAD));
}
