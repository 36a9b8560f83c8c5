/* Nodes of any type by one call each: a node's parameters say their type. What they do is set as for a node of that
 * type (node.c). Nodes of memory, semaphores, batches and conditions are not there. */
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
