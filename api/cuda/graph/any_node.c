/* Nodes of any type by one call each: a node's parameters say their type. What they do is set as for a node of that
 * type (node.c). Nodes of memory, semaphores, batches of operations on memory and conditions are not there. */
#include "api/cuda/endpoint/endpoint.h"
#include "api/cuda/graph/graph.h"

#include <string.h>

static CUresult set_child(Call *call, GraphNode *node, const Graph *child, const Graph *into)
{
    if (!child || child == into)
        return CUDA_ERROR_INVALID_VALUE;
    if (node->child)
        graph_free(call, node->child);
    node->child = graph_clone(call, child, FALSE);
    return CUDA_SUCCESS;
}

/* Of an instance, the copies' number, identifiers and kinds of operands stay. */
static gboolean is_like(const GArray *requests, const CUDA_FABRIC_CPY_BATCH_NODE_PARAMS *params)
{
    for (guint i = 0; i < requests->len && params->opList && params->numOps == requests->len; i++) {
        const EngineRequest *r = &g_array_index(requests, EngineRequest, i);
        const CUfabricCpyOperand *dst = &params->opList[i].dst, *src = &params->opList[i].src;
        const gboolean to = dst->type == CU_FABRIC_COPY_OPERAND_TYPE_LOGICAL_ENDPOINT;
        const gboolean from = src->type == CU_FABRIC_COPY_OPERAND_TYPE_LOGICAL_ENDPOINT;
        if (to != (r->width == ENGINE_ENDPOINT_DESTINATION) || from != (r->width == ENGINE_ENDPOINT_SOURCE) ||
            (to && dst->op.le.id != r->pitch) || (from && src->op.le.id != r->source_pitch))
            return FALSE;
    }
    return params->numOps == requests->len;
}

static CUresult set_fabric(Call *call, GraphNode *node, const CUDA_FABRIC_CPY_BATCH_NODE_PARAMS *params)
{
    Context *context = params->ctx ? context_get(call, params->ctx) : context_current(call, NULL);

    if (!context)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (node->graph->instance && !is_like(node->requests, params))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = fabric_copy_prepare(call, params->opList, params->numOps, params->flags, context, node->requests);
    if (result == CUDA_SUCCESS)
        node->context = context->handle;
    return result;
}

static CUresult set(Call *call, GraphNode *node, const CUgraphNodeParams *params)
{
    CUDA_MEMSET_NODE_PARAMS fill;

    switch (params->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return node_set_kernel(call, node, &params->kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        if (params->memcpy.flags != 0)
            return CUDA_ERROR_INVALID_VALUE;
        return node_set_copy(call, node, &params->memcpy.copyParams, context_get(call, params->memcpy.copyCtx));
    case CU_GRAPH_NODE_TYPE_MEMSET:
        memcpy(&fill, &params->memset, sizeof fill); /* the newer one has the context behind it */
        return node_set_fill(call, node, &fill, context_get(call, params->memset.ctx));
    case CU_GRAPH_NODE_TYPE_HOST: return node_set_host(node, &params->host);
    case CU_GRAPH_NODE_TYPE_GRAPH: return set_child(call, node, graph_get(call, params->graph.graph), node->graph);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return node_set_event(call, node, params->eventRecord.event);
    case CU_GRAPH_NODE_TYPE_EMPTY: return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_FABRIC_CPY_BATCH: return set_fabric(call, node, &params->fabricCpyBatch);
    default: return CUDA_ERROR_NOT_SUPPORTED;
    }
}

static CUresult add(Call *call, CUgraphNode *handle, CUgraph of, const CUgraphNode *before, size_t n,
                    const CUgraphNodeParams *params)
{
    Graph *graph = graph_get(call, of);
    GraphNode *node;

    if (!graph || !handle || !params)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = graph_node_new(call, graph, params->type, before, n, &node);
    if (result != CUDA_SUCCESS)
        return result;
    result = set(call, node, params);
    if (result == CUDA_SUCCESS)
        *handle = (CUgraphNode)node->handle;
    else
        graph_node_free(call, node);
    return result;
}

CUresult cuGraphAddNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, const CUgraphEdgeData *data,
                           size_t n, CUgraphNodeParams *params)
{
    CUDA_BEGIN(call);
    (void)data; /* all edges are of the ordinary kind, as in edges.c */
    CUDA_RETURN(call, add(&call, node, graph, before, n, params));
}

/* A kernel's context, if one is named, is of the device that its function was loaded on. */
static CUresult check_context(Call *call, const CUgraphNodeParams *params)
{
    if (!params || params->type != CU_GRAPH_NODE_TYPE_KERNEL || !params->kernel.ctx || !params->kernel.func)
        return CUDA_SUCCESS;
    const Context *context = context_get(call, params->kernel.ctx);
    Function *function;
    if (!context || function_get(call, params->kernel.func, &function) != CUDA_SUCCESS)
        return CUDA_SUCCESS; /* answered by what follows */
    return context->device == function->module->context->device ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuGraphAddNode_v3(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, const CUgraphEdgeData *data,
                           size_t n, CUgraphNodeParams *params)
{
    CUDA_BEGIN(call);
    (void)data;
    CUresult result = check_context(&call, params);
    CUDA_RETURN(call, result == CUDA_SUCCESS ? add(&call, node, graph, before, n, params) : result);
}

#undef cuGraphAddNode
CUDA_ALIAS_PTSZ CUresult cuGraphAddNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t n,
                                        CUgraphNodeParams *params);
CUresult cuGraphAddNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t n,
                        CUgraphNodeParams *params)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, add(&call, node, graph, before, n, params));
}

CUresult cuGraphNodeSetParams(CUgraphNode handle, CUgraphNodeParams *params)
{
    CUDA_BEGIN(call);
    GraphNode *node = graph_node_get(&call, handle);

    if (!node || !params || node->type != params->type)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    CUDA_RETURN(call, set(&call, node, params));
}

CUresult cuGraphNodeSetParams_v2(CUgraphNode handle, CUgraphNodeParams *params)
{
    CUDA_BEGIN(call);
    GraphNode *node = graph_node_get(&call, handle);
    CUresult result = node && params && node->type == params->type ? check_context(&call, params)
                                                                   : CUDA_ERROR_INVALID_VALUE;
    CUDA_RETURN(call, result == CUDA_SUCCESS ? set(&call, node, params) : result);
}

/* A child of an instance stands in the instance as its nodes: it cannot be changed here. */
CUresult cuGraphExecNodeSetParams(CUgraphExec instance, CUgraphNode original, CUgraphNodeParams *params)
{
    CUDA_BEGIN(call);
    GraphNode *node = graph_exec_node(graph_exec_get(&call, instance), original);

    if (!node || !params || node->type != params->type)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    if (params->type == CU_GRAPH_NODE_TYPE_GRAPH)
        CUDA_RETURN(call, CUDA_ERROR_NOT_SUPPORTED);
    CUDA_RETURN(call, set(&call, node, params));
}
