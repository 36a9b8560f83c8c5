/* What a node does, made from what the program gives. */
#include "api/cuda/graph/graph.h"

static Context *node_context(Call *call, Context *given) { return given ? given : context_current(call, NULL); }

static void set_params(GraphNode *node)
{
    const PtxFunction *function = node->launch.spec.entry;

    g_free(node->params);
    node->params = g_new0(void *, function->params->len + 1);
    for (guint i = 0; i < function->params->len; i++)
        node->params[i] = node->launch.param + g_array_index(function->params, PtxParam, i).offset;
}

CUresult node_set_launch(GraphNode *node, const Launch *launch)
{
    Launch copy = *launch;

    copy.param = g_memdup2(launch->param, launch->spec.entry->param_bytes + 1u);
    copy.spec.param = copy.param;
    launch_clear(&node->launch);
    node->launch = copy;
    node->function = launch->function->handle;
    node->context = launch->function->module->context->handle;
    set_params(node);
    return CUDA_SUCCESS;
}

CUresult node_set_kernel(Call *call, GraphNode *node, const CUDA_KERNEL_NODE_PARAMS *params)
{
    const CUlaunchConfig config = {params->gridDimX,
                                   params->gridDimY,
                                   params->gridDimZ,
                                   params->blockDimX,
                                   params->blockDimY,
                                   params->blockDimZ,
                                   params->sharedMemBytes,
                                   NULL,
                                   NULL,
                                   0};
    CUfunction function = params->func ? params->func : (CUfunction)params->kern;
    Launch launch = {0};
    CUresult result = launch_prepare(call, &config, function, params->kernelParams, params->extra, &launch);

    if (result == CUDA_SUCCESS)
        result = node_set_launch(node, &launch);
    launch_clear(&launch);
    return result;
}

CUresult node_set_copy(Call *call, GraphNode *node, const CUDA_MEMCPY3D *copy, Context *given)
{
    Context *context = node_context(call, given);
    g_autoptr(GArray) made = g_array_new(FALSE, FALSE, sizeof(EngineRequest));

    if (!context)
        return CUDA_ERROR_INVALID_CONTEXT;
    for (guint64 z = 0; z < copy->Depth && copy->WidthInBytes > 0 && copy->Height > 0; z++) {
        Copy slice = {.asynchronous = TRUE, .peer = -1, .source_peer = -1};
        EngineRequest request;
        CUresult result = copy_3d_slice(call, copy, z, &slice);
        if (result == CUDA_SUCCESS)
            result = copy_prepare(call, &slice, context, &request);
        if (result != CUDA_SUCCESS)
            return result;
        request.wait = ENGINE_ANSWER_QUEUED;
        request.access &= (guint32)~ENGINE_HOST_EARLY; /* the host's bytes are read when the node runs */
        g_array_append_val(made, request);
    }
    g_array_set_size(node->requests, 0);
    g_array_append_vals(node->requests, made->data, made->len);
    node->copy = *copy;
    node->context = context->handle;
    return CUDA_SUCCESS;
}

CUresult node_set_fill(Call *call, GraphNode *node, const CUDA_MEMSET_NODE_PARAMS *fill, Context *given)
{
    Context *context = node_context(call, given);
    guint64 row, all, pitch = fill->height > 1 ? fill->pitch : 0;
    int device = context ? context->device : 0;

    if (!context)
        return CUDA_ERROR_INVALID_CONTEXT;
    if ((fill->elementSize != 1 && fill->elementSize != 2 && fill->elementSize != 4) || fill->width == 0 ||
        fill->height == 0 || fill->dst % fill->elementSize != 0 ||
        !g_uint64_checked_mul(&row, fill->width, fill->elementSize) || (fill->height > 1 && pitch < row) ||
        !copy_span(row, pitch, fill->height, &all))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = check_device_span(call, fill->dst, all, TRUE, device, &device);
    if (result != CUDA_SUCCESS)
        return result;
    EngineRequest request = {.op = ENGINE_FILL,
                             .address = fill->dst,
                             .value = fill->value,
                             .width = fill->elementSize,
                             .bytes = row,
                             .pitch = pitch,
                             .height = fill->height > 1 ? fill->height : 0,
                             .gpu = call->cuda->device[device].gpu};
    g_array_set_size(node->requests, 0);
    g_array_append_val(node->requests, request);
    node->fill = *fill;
    node->context = context->handle;
    return CUDA_SUCCESS;
}

CUresult node_set_host(GraphNode *node, const CUDA_HOST_NODE_PARAMS *host)
{
    EngineRequest request = {
        .op = ENGINE_HOST_CALL, .function = (guint64)(guintptr)host->fn, .argument = (guint64)(guintptr)host->userData};

    if (!host->fn)
        return CUDA_ERROR_INVALID_VALUE;
    g_array_set_size(node->requests, 0);
    g_array_append_val(node->requests, request);
    node->host = *host;
    return CUDA_SUCCESS;
}

CUresult node_set_event(Call *call, GraphNode *node, CUevent event)
{
    if (!event_get(call, event))
        return CUDA_ERROR_INVALID_HANDLE;
    node->event = event;
    return CUDA_SUCCESS;
}

void node_copy(Call *call, GraphNode *to, const GraphNode *from)
{
    to->context = from->context;
    to->disabled = from->disabled;
    to->copy = from->copy;
    to->fill = from->fill;
    to->host = from->host;
    to->event = from->event;
    g_array_set_size(to->requests, 0);
    g_array_append_vals(to->requests, from->requests->data, from->requests->len);
    if (from->launch.param) {
        Launch copy = from->launch;
        copy.param = g_memdup2(from->launch.param, from->launch.spec.entry->param_bytes + 1u);
        copy.spec.param = copy.param;
        launch_clear(&to->launch);
        to->launch = copy;
        to->function = from->function;
        set_params(to);
    }
    if (from->child) {
        if (to->child)
            graph_free(call, to->child);
        to->child = graph_clone(call, from->child, from->child->instance || to->graph->instance);
    }
}
