/* See recapture.h. What is captured becomes a graph of its own, node by node compared with the one that is recaptured,
 * and takes its nodes' place at the end: a recapture that fails leaves that one as it was. */
#include "api/cuda/graph/recapture.h"

#include <string.h>

static guint place_of(const GraphNode *node)
{
    guint at = G_MAXUINT;
    g_ptr_array_find(node->graph->nodes, node, &at);
    return at;
}

/* The same kind of node behind the same nodes. */
static gboolean has_place_of(const GraphNode *node, const GraphNode *original)
{
    if (node->type != original->type || node->before->len != original->before->len)
        return FALSE;
    for (guint i = 0; i < node->before->len; i++) {
        const guint at = place_of(node->before->pdata[i]);
        if (at >= original->graph->nodes->len ||
            !g_ptr_array_find(original->before, original->graph->nodes->pdata[at], NULL))
            return FALSE;
    }
    return TRUE;
}

static gboolean same_request(const EngineRequest *a, const EngineRequest *b)
{
    return a->op == b->op && a->gpu == b->gpu && a->access == b->access && a->width == b->width &&
           a->address == b->address && a->source == b->source && a->bytes == b->bytes && a->value == b->value &&
           a->pitch == b->pitch && a->source_pitch == b->source_pitch && a->height == b->height &&
           a->function == b->function && a->argument == b->argument;
}

static gboolean same_launch(const GraphNode *a, const GraphNode *b)
{
    const KernelSpec *x = &a->launch.spec, *y = &b->launch.spec;

    return a->function == b->function && memcmp(x->grid, y->grid, sizeof x->grid) == 0 &&
           memcmp(x->block, y->block, sizeof x->block) == 0 && memcmp(x->cluster, y->cluster, sizeof x->cluster) == 0 &&
           x->dynamic_shared == y->dynamic_shared && x->cooperative == y->cooperative &&
           memcmp(a->launch.param, b->launch.param, x->entry->param_bytes) == 0;
}

static gboolean same_work(const GraphNode *a, const GraphNode *b)
{
    gboolean same = a->requests->len == b->requests->len && a->event == b->event && a->context == b->context;

    for (guint i = 0; same && i < a->requests->len; i++)
        same = same_request(&g_array_index(a->requests, EngineRequest, i),
                            &g_array_index(b->requests, EngineRequest, i));
    if (same && a->type == CU_GRAPH_NODE_TYPE_KERNEL)
        same = same_launch(a, b);
    if (same && a->type == CU_GRAPH_NODE_TYPE_GRAPH)
        same = a->child->original == b->child->original;
    return same;
}

/* Whether cuGraphExecNodeSetParams would take the difference: it does not change children, nor contexts. */
static CUgraphRecaptureStatus status_of(const GraphNode *node, const GraphNode *original)
{
    return node->type == CU_GRAPH_NODE_TYPE_GRAPH || node->context != original->context
               ? CU_GRAPH_RECAPTURE_INELIGIBLE_FOR_UPDATE
               : CU_GRAPH_RECAPTURE_ELIGIBLE_FOR_UPDATE;
}

/* As the program would describe the node. Of fabric copies and of operations on memory the type alone. */
static CUgraphNodeParams describe(const GraphNode *node)
{
    const KernelSpec *spec = &node->launch.spec;
    CUgraphNodeParams params = {.type = node->type};

    switch (node->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        params.kernel = (CUDA_KERNEL_NODE_PARAMS){.func = (CUfunction)node->function,
                                                  .gridDimX = spec->grid[0],
                                                  .gridDimY = spec->grid[1],
                                                  .gridDimZ = spec->grid[2],
                                                  .blockDimX = spec->block[0],
                                                  .blockDimY = spec->block[1],
                                                  .blockDimZ = spec->block[2],
                                                  .sharedMemBytes = spec->dynamic_shared,
                                                  .kernelParams = node->params,
                                                  .ctx = (CUcontext)node->context};
        break;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        params.memcpy.copyCtx = (CUcontext)node->context;
        params.memcpy.copyParams = node->copy;
        break;
    case CU_GRAPH_NODE_TYPE_MEMSET:
        memcpy(&params.memset, &node->fill, sizeof node->fill);
        params.memset.ctx = (CUcontext)node->context;
        break;
    case CU_GRAPH_NODE_TYPE_HOST: params.host = node->host; break;
    case CU_GRAPH_NODE_TYPE_GRAPH: params.graph.graph = (CUgraph)node->child->handle; break;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: params.eventRecord.event = node->event; break;
    default: break;
    }
    return params;
}

static CUresult ask(Call *call, const Capture *capture, const GraphNode *node, const GraphNode *original)
{
    const CUgraphNodeParams was = describe(original), is = describe(node);
    const CUgraphRecaptureStatus status = status_of(node, original);
    const CUgraphRecaptureCallback callback = capture->mismatch;
    void *const user = capture->user;
    const CUgraphNode handle = (CUgraphNode)original->handle;

    if (!callback)
        return CUDA_SUCCESS;
    cuda_unlock(call);
    CUresult result = callback(user, handle, &was, &is, status);
    cuda_relock(call);
    return result;
}

CUresult recapture_look(Call *call, const Capture *capture)
{
    const Graph *graph = capture->original;

    if (!graph)
        return CUDA_SUCCESS;
    const guint at = capture->graph->nodes->len - 1;
    const GraphNode *node = capture->graph->nodes->pdata[at];
    const GraphNode *original = at < graph->nodes->len ? graph->nodes->pdata[at] : NULL;
    gboolean good = original && has_place_of(node, original);
    if (good && !same_work(node, original))
        good = ask(call, capture, node, original) == CUDA_SUCCESS;
    return good ? CUDA_SUCCESS : CUDA_ERROR_GRAPH_RECAPTURE_FAILURE;
}

CUresult recapture_end(Call *call, const Capture *capture)
{
    const GPtrArray *made = capture->graph->nodes, *nodes = capture->original->nodes;

    if (made->len != nodes->len)
        return CUDA_ERROR_GRAPH_RECAPTURE_FAILURE;
    for (guint i = 0; i < made->len; i++)
        node_copy(call, nodes->pdata[i], made->pdata[i]);
    return CUDA_SUCCESS;
}
