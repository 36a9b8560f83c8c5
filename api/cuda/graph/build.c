/* Graphs, node by node. */
#include "api/cuda/graph/capture.h"

#include <string.h>

CUresult cuGraphCreate(CUgraph *graph, unsigned int flags)
{
    CUDA_BEGIN(call);
    if (!graph || flags != 0)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    *graph = (CUgraph)graph_new(&call, FALSE)->handle;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuGraphDestroy(CUgraph handle)
{
    CUDA_BEGIN(call);
    Graph *graph = graph_get(&call, handle);

    if (!graph)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    if (capture_of_graph(&call, graph))
        CUDA_RETURN(call, CUDA_ERROR_ILLEGAL_STATE);
    graph_free(&call, graph);
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuGraphClone(CUgraph *clone, CUgraph of)
{
    CUDA_BEGIN(call);
    const Graph *graph = graph_get(&call, of);

    if (!clone || !graph)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    *clone = (CUgraph)graph_clone(&call, graph, FALSE)->handle;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuGraphNodeFindInClone(CUgraphNode *node, CUgraphNode original, CUgraph clone)
{
    CUDA_BEGIN(call);
    const Graph *graph = graph_get(&call, clone);

    if (!node || !graph || graph->original == 0)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    for (guint i = 0; i < graph->nodes->len; i++) {
        const GraphNode *one = graph->nodes->pdata[i];
        if (one->original != (guint64)original)
            continue;
        *node = (CUgraphNode)one->handle;
        CUDA_RETURN(call, CUDA_SUCCESS);
    }
    CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
}

/* ---- adding nodes */

/* What all of them begin and end with; `set` says what the node does. */
#define ADD_NODE(type, needed, set)                                                                                    \
    CUDA_BEGIN(call);                                                                                                  \
    Graph *graph = graph_get(&call, of);                                                                               \
    GraphNode *node;                                                                                                   \
    if (!graph || !handle || !(needed))                                                                                \
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);                                                                   \
    CUresult result = graph_node_new(&call, graph, type, before, n, &node);                                            \
    if (result != CUDA_SUCCESS)                                                                                        \
        CUDA_RETURN(call, result);                                                                                     \
    result = set;                                                                                                      \
    if (result == CUDA_SUCCESS)                                                                                        \
        *handle = (CUgraphNode)node->handle;                                                                           \
    else                                                                                                               \
        graph_node_free(&call, node);                                                                                  \
    CUDA_RETURN(call, result)

CUresult cuGraphAddKernelNode_v2(CUgraphNode *handle, CUgraph of, const CUgraphNode *before, size_t n,
                                 const CUDA_KERNEL_NODE_PARAMS *params)
{
    ADD_NODE(CU_GRAPH_NODE_TYPE_KERNEL, params != NULL, node_set_kernel(&call, node, params));
}

CUresult cuGraphAddMemcpyNode(CUgraphNode *handle, CUgraph of, const CUgraphNode *before, size_t n,
                              const CUDA_MEMCPY3D *copy, CUcontext context)
{
    ADD_NODE(CU_GRAPH_NODE_TYPE_MEMCPY, copy != NULL, node_set_copy(&call, node, copy, context_get(&call, context)));
}

CUresult cuGraphAddMemsetNode(CUgraphNode *handle, CUgraph of, const CUgraphNode *before, size_t n,
                              const CUDA_MEMSET_NODE_PARAMS *fill, CUcontext context)
{
    ADD_NODE(CU_GRAPH_NODE_TYPE_MEMSET, fill != NULL, node_set_fill(&call, node, fill, context_get(&call, context)));
}

CUresult cuGraphAddHostNode(CUgraphNode *handle, CUgraph of, const CUgraphNode *before, size_t n,
                            const CUDA_HOST_NODE_PARAMS *host)
{
    ADD_NODE(CU_GRAPH_NODE_TYPE_HOST, host != NULL, node_set_host(node, host));
}

CUresult cuGraphAddEmptyNode(CUgraphNode *handle, CUgraph of, const CUgraphNode *before, size_t n)
{
    ADD_NODE(CU_GRAPH_NODE_TYPE_EMPTY, TRUE, CUDA_SUCCESS);
}

CUresult cuGraphAddEventRecordNode(CUgraphNode *handle, CUgraph of, const CUgraphNode *before, size_t n, CUevent event)
{
    ADD_NODE(CU_GRAPH_NODE_TYPE_EVENT_RECORD, TRUE, node_set_event(&call, node, event));
}

CUresult cuGraphAddEventWaitNode(CUgraphNode *handle, CUgraph of, const CUgraphNode *before, size_t n, CUevent event)
{
    ADD_NODE(CU_GRAPH_NODE_TYPE_WAIT_EVENT, TRUE, node_set_event(&call, node, event));
}

static CUresult set_child(Call *call, GraphNode *node, const Graph *child)
{
    node->child = graph_clone(call, child, FALSE);
    return CUDA_SUCCESS;
}

CUresult cuGraphAddChildGraphNode(CUgraphNode *handle, CUgraph of, const CUgraphNode *before, size_t n, CUgraph child)
{
    ADD_NODE(CU_GRAPH_NODE_TYPE_GRAPH, graph_get(&call, child) && child != of,
             set_child(&call, node, graph_get(&call, child)));
}

CUresult cuGraphDestroyNode(CUgraphNode handle)
{
    CUDA_BEGIN(call);
    GraphNode *node = graph_node_get(&call, handle);

    if (!node || node->graph->instance)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    if (capture_of_graph(&call, node->graph))
        CUDA_RETURN(call, CUDA_ERROR_ILLEGAL_STATE);
    graph_node_free(&call, node);
    CUDA_RETURN(call, CUDA_SUCCESS);
}

/* ---- what nodes do */

/* A call about one node of a type. */
#define OF_NODE(wanted, needed)                                                                                        \
    CUDA_BEGIN(call);                                                                                                  \
    GraphNode *node = graph_node_get(&call, handle);                                                                   \
    if (!node || node->type != (wanted) || !(needed))                                                                  \
    CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE)

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS *params)
{
    OF_NODE(CU_GRAPH_NODE_TYPE_KERNEL, params != NULL);
    const KernelSpec *spec = &node->launch.spec;
    *params = (CUDA_KERNEL_NODE_PARAMS){(CUfunction)node->function,
                                        spec->grid[0],
                                        spec->grid[1],
                                        spec->grid[2],
                                        spec->block[0],
                                        spec->block[1],
                                        spec->block[2],
                                        spec->dynamic_shared,
                                        node->params,
                                        NULL,
                                        NULL,
                                        (CUcontext)node->context};
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode handle, const CUDA_KERNEL_NODE_PARAMS *params)
{
    OF_NODE(CU_GRAPH_NODE_TYPE_KERNEL, params != NULL);
    CUDA_RETURN(call, node_set_kernel(&call, node, params));
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode handle, CUDA_MEMCPY3D *copy)
{
    OF_NODE(CU_GRAPH_NODE_TYPE_MEMCPY, copy != NULL);
    *copy = node->copy;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuGraphMemcpyNodeSetParams(CUgraphNode handle, const CUDA_MEMCPY3D *copy)
{
    OF_NODE(CU_GRAPH_NODE_TYPE_MEMCPY, copy != NULL);
    CUDA_RETURN(call, node_set_copy(&call, node, copy, context_get(&call, (CUcontext)node->context)));
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode handle, CUDA_MEMSET_NODE_PARAMS *fill)
{
    OF_NODE(CU_GRAPH_NODE_TYPE_MEMSET, fill != NULL);
    *fill = node->fill;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuGraphMemsetNodeSetParams(CUgraphNode handle, const CUDA_MEMSET_NODE_PARAMS *fill)
{
    OF_NODE(CU_GRAPH_NODE_TYPE_MEMSET, fill != NULL);
    CUDA_RETURN(call, node_set_fill(&call, node, fill, context_get(&call, (CUcontext)node->context)));
}

CUresult cuGraphHostNodeGetParams(CUgraphNode handle, CUDA_HOST_NODE_PARAMS *host)
{
    OF_NODE(CU_GRAPH_NODE_TYPE_HOST, host != NULL);
    *host = node->host;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuGraphHostNodeSetParams(CUgraphNode handle, const CUDA_HOST_NODE_PARAMS *host)
{
    OF_NODE(CU_GRAPH_NODE_TYPE_HOST, host != NULL);
    CUDA_RETURN(call, node_set_host(node, host));
}

CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode handle, CUevent *event)
{
    OF_NODE(CU_GRAPH_NODE_TYPE_EVENT_RECORD, event != NULL);
    *event = node->event;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode handle, CUevent event)
{
    OF_NODE(CU_GRAPH_NODE_TYPE_EVENT_RECORD, TRUE);
    CUDA_RETURN(call, node_set_event(&call, node, event));
}

CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode handle, CUevent *event)
{
    OF_NODE(CU_GRAPH_NODE_TYPE_WAIT_EVENT, event != NULL);
    *event = node->event;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode handle, CUevent event)
{
    OF_NODE(CU_GRAPH_NODE_TYPE_WAIT_EVENT, TRUE);
    CUDA_RETURN(call, node_set_event(&call, node, event));
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode handle, CUgraph *child)
{
    OF_NODE(CU_GRAPH_NODE_TYPE_GRAPH, child != NULL);
    *child = (CUgraph)node->child->handle;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuGraphNodeGetType(CUgraphNode handle, CUgraphNodeType *type)
{
    CUDA_BEGIN(call);
    const GraphNode *node = graph_node_get(&call, handle);

    if (!node || !type)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    *type = node->type;
    CUDA_RETURN(call, CUDA_SUCCESS);
}
