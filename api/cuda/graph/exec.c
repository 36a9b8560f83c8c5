/* Instances of graphs: made, launched, changed. */
#include "api/cuda/graph/graph.h"

#define FLAGS_KNOWN                                                                                                    \
    (CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |                            \
     CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY)

static CUresult instantiate(Call *call, CUgraphExec *handle, CUgraph of, guint64 flags)
{
    const Graph *graph = graph_get(call, of);

    if (!graph || !handle || (flags & ~(guint64)(FLAGS_KNOWN | CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)))
        return CUDA_ERROR_INVALID_VALUE;
    if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)
        return CUDA_ERROR_NOT_SUPPORTED;
    GPtrArray *order = graph_order(graph);
    if (!order) /* a circle */
        return CUDA_ERROR_INVALID_VALUE;
    g_ptr_array_unref(order);
    Graph *instance = graph_clone(call, graph, TRUE);
    instance->flags = flags;
    *handle = (CUgraphExec)instance->handle;
    return CUDA_SUCCESS;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *instance, CUgraph graph, unsigned long long flags)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, instantiate(&call, instance, graph, flags));
}

/* Of before 12.0, with a buffer for a message: there is none to give. */
CUDA_ALIAS_PTSZ CUresult cuGraphInstantiate_v2(CUgraphExec *instance, CUgraph graph, CUgraphNode *error, char *log,
                                               size_t n);
CUresult cuGraphInstantiate_v2(CUgraphExec *instance, CUgraph graph, CUgraphNode *error, char *log, size_t n)
{
    CUDA_BEGIN(call);
    if (error)
        *error = NULL;
    if (log && n > 0)
        log[0] = '\0';
    CUDA_RETURN(call, instantiate(&call, instance, graph, 0));
}

static CUresult instantiate_with(Call *call, CUstream standard, CUgraphExec *handle, CUgraph of,
                                 CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    (void)standard; /* nothing needs to be uploaded */
    if (!params)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = instantiate(call, handle, of, params->flags);
    params->hErrNode_out = NULL;
    params->result_out = result == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_ERROR;
    return result;
}
STREAM_TWINS(cuGraphInstantiateWithParams,
             (CUgraphExec * instance, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params), instantiate_with,
             (&call, standard, instance, graph, params))

CUresult cuGraphExecGetFlags(CUgraphExec handle, cuuint64_t *flags)
{
    CUDA_BEGIN(call);
    const Graph *instance = graph_exec_get(&call, handle);

    if (!instance || !flags)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    *flags = instance->flags;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuGraphExecDestroy(CUgraphExec handle)
{
    CUDA_BEGIN(call);
    Graph *instance = graph_exec_get(&call, handle);

    if (!instance)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    graph_free(&call, instance);
    CUDA_RETURN(call, CUDA_SUCCESS);
}

static CUresult launch(Call *call, CUgraphExec handle, CUstream on, CUstream standard, gboolean run)
{
    Stream stream;
    Graph *instance = graph_exec_get(call, handle);

    if (!instance)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = stream_get(call, on, standard, &stream);
    if (result != CUDA_SUCCESS || !run)
        return result;
    return capture_graph(call, &stream, instance, &result) ? result : graph_run(call, instance, &stream);
}
STREAM_TWINS(cuGraphLaunch, (CUgraphExec instance, CUstream stream), launch, (&call, instance, stream, standard, TRUE))
STREAM_TWINS(cuGraphUpload, (CUgraphExec instance, CUstream stream), launch, (&call, instance, stream, standard, FALSE))

/* ---- changes of an instance: nodes are named by those of the graph that it was made of */

GraphNode *graph_exec_node(const Graph *instance, CUgraphNode original)
{
    for (guint i = 0; instance && i < instance->nodes->len; i++) {
        GraphNode *node = instance->nodes->pdata[i];
        if (node->original == (guint64)original)
            return node;
    }
    return NULL;
}

#define OF_INSTANCE(wanted, needed)                                                                                    \
    CUDA_BEGIN(call);                                                                                                  \
    GraphNode *node = graph_exec_node(graph_exec_get(&call, instance), original);                                      \
    if (!node || node->type != (wanted) || !(needed))                                                                  \
    CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE)

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec instance, CUgraphNode original,
                                           const CUDA_KERNEL_NODE_PARAMS *params)
{
    OF_INSTANCE(CU_GRAPH_NODE_TYPE_KERNEL, params != NULL);
    CUDA_RETURN(call, node_set_kernel(&call, node, params));
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec instance, CUgraphNode original, const CUDA_MEMCPY3D *copy,
                                        CUcontext context)
{
    OF_INSTANCE(CU_GRAPH_NODE_TYPE_MEMCPY, copy != NULL);
    CUDA_RETURN(call, node_set_copy(&call, node, copy, context_get(&call, context)));
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec instance, CUgraphNode original, const CUDA_MEMSET_NODE_PARAMS *fill,
                                        CUcontext context)
{
    OF_INSTANCE(CU_GRAPH_NODE_TYPE_MEMSET, fill != NULL);
    CUDA_RETURN(call, node_set_fill(&call, node, fill, context_get(&call, context)));
}

CUresult cuGraphExecHostNodeSetParams(CUgraphExec instance, CUgraphNode original, const CUDA_HOST_NODE_PARAMS *host)
{
    OF_INSTANCE(CU_GRAPH_NODE_TYPE_HOST, host != NULL);
    CUDA_RETURN(call, node_set_host(node, host));
}

static gboolean can_be_disabled(const GraphNode *node)
{
    return node && (node->type == CU_GRAPH_NODE_TYPE_KERNEL || node->type == CU_GRAPH_NODE_TYPE_MEMCPY ||
                    node->type == CU_GRAPH_NODE_TYPE_MEMSET);
}

CUresult cuGraphNodeSetEnabled(CUgraphExec instance, CUgraphNode original, unsigned int on)
{
    CUDA_BEGIN(call);
    GraphNode *node = graph_exec_node(graph_exec_get(&call, instance), original);

    if (!can_be_disabled(node))
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    node->disabled = on == 0;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuGraphNodeGetEnabled(CUgraphExec instance, CUgraphNode original, unsigned int *on)
{
    CUDA_BEGIN(call);
    GraphNode *node = graph_exec_node(graph_exec_get(&call, instance), original);

    if (!can_be_disabled(node) || !on)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    *on = !node->disabled;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

/* The same shape: as many nodes, of the same types, behind the same ones, in the order of adding. */
static CUgraphExecUpdateResult same_shape(const Graph *instance, const Graph *graph, const GraphNode **at)
{
    if (instance->nodes->len != graph->nodes->len)
        return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    for (guint i = 0; i < graph->nodes->len; i++) {
        const GraphNode *old = instance->nodes->pdata[i], *new = graph->nodes->pdata[i];
        *at = new;
        if (old->type != new->type)
            return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
        if (old->before->len != new->before->len)
            return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
        for (guint k = 0; k < new->before->len; k++) {
            guint a, b;
            g_ptr_array_find(instance->nodes, old->before->pdata[k], &a);
            g_ptr_array_find(graph->nodes, new->before->pdata[k], &b);
            if (a != b)
                return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
        }
    }
    *at = NULL;
    return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

CUresult cuGraphExecUpdate_v2(CUgraphExec handle, CUgraph of, CUgraphExecUpdateResultInfo *info)
{
    CUDA_BEGIN(call);
    Graph *instance = graph_exec_get(&call, handle);
    const Graph *graph = graph_get(&call, of);
    const GraphNode *at = NULL;

    if (!instance || !graph || !info)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    *info = (CUgraphExecUpdateResultInfo){same_shape(instance, graph, &at), NULL, NULL};
    if (at)
        info->errorNode = (CUgraphNode)at->handle;
    if (info->result != CU_GRAPH_EXEC_UPDATE_SUCCESS)
        CUDA_RETURN(call, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    for (guint i = 0; i < graph->nodes->len; i++) {
        GraphNode *node = instance->nodes->pdata[i];
        gboolean disabled = node->disabled;
        node_copy(&call, node, graph->nodes->pdata[i]);
        node->disabled = disabled;
    }
    CUDA_RETURN(call, CUDA_SUCCESS);
}
