/* What a graph has: nodes, roots, edges. Each answer fills what there is room for, and says how many there are. */
#include "api/cuda/graph/graph.h"

#include <string.h>

static CUresult give_nodes(const GPtrArray *found, CUgraphNode *nodes, size_t *n)
{
    if (nodes)
        for (size_t i = 0; i < *n; i++)
            nodes[i] = i < found->len ? (CUgraphNode)((const GraphNode *)found->pdata[i])->handle : NULL;
    *n = nodes ? MIN(*n, found->len) : found->len;
    return CUDA_SUCCESS;
}

CUresult cuGraphGetNodes(CUgraph of, CUgraphNode *nodes, size_t *n)
{
    CUDA_BEGIN(call);
    const Graph *graph = graph_get(&call, of);

    if (!graph || !n)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    CUDA_RETURN(call, give_nodes(graph->nodes, nodes, n));
}

CUresult cuGraphGetRootNodes(CUgraph of, CUgraphNode *nodes, size_t *n)
{
    g_autoptr(GPtrArray) roots = g_ptr_array_new();
    CUDA_BEGIN(call);
    const Graph *graph = graph_get(&call, of);

    if (!graph || !n)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    for (guint i = 0; i < graph->nodes->len; i++)
        if (((const GraphNode *)graph->nodes->pdata[i])->before->len == 0)
            g_ptr_array_add(roots, graph->nodes->pdata[i]);
    CUDA_RETURN(call, give_nodes(roots, nodes, n));
}

static CUresult dependencies(Call *call, CUgraphNode handle, CUgraphNode *nodes, size_t *n)
{
    const GraphNode *node = graph_node_get(call, handle);

    return node && n ? give_nodes(node->before, nodes, n) : CUDA_ERROR_INVALID_VALUE;
}

static CUresult dependents(Call *call, CUgraphNode handle, CUgraphNode *nodes, size_t *n)
{
    g_autoptr(GPtrArray) found = g_ptr_array_new();
    const GraphNode *node = graph_node_get(call, handle);

    if (!node || !n)
        return CUDA_ERROR_INVALID_VALUE;
    for (guint i = 0; i < node->graph->nodes->len; i++) {
        GraphNode *other = node->graph->nodes->pdata[i];
        if (g_ptr_array_find(other->before, node, NULL))
            g_ptr_array_add(found, other);
    }
    return give_nodes(found, nodes, n);
}

static CUresult edges(Call *call, CUgraph of, CUgraphNode *from, CUgraphNode *to, size_t *n)
{
    const Graph *graph = graph_get(call, of);
    size_t room = from && n ? *n : 0, all = 0;

    if (!graph || !n || (!from) != (!to))
        return CUDA_ERROR_INVALID_VALUE;
    for (guint i = 0; i < graph->nodes->len; i++) {
        const GraphNode *node = graph->nodes->pdata[i];
        for (guint k = 0; k < node->before->len; k++, all++) {
            if (all >= room)
                continue;
            from[all] = (CUgraphNode)((const GraphNode *)node->before->pdata[k])->handle;
            to[all] = (CUgraphNode)node->handle;
        }
    }
    for (size_t i = all; i < room; i++)
        from[i] = to[i] = NULL;
    *n = from ? MIN(room, all) : all;
    return CUDA_SUCCESS;
}

static CUresult change(Call *call, CUgraph of, const CUgraphNode *from, const CUgraphNode *to, size_t n, gboolean add)
{
    const Graph *graph = graph_get(call, of);

    if (!graph || (n > 0 && (!from || !to)))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < n; i++) {
        GraphNode *first = graph_node_get(call, from[i]), *second = graph_node_get(call, to[i]);
        if (!first || !second || first == second || first->graph != graph || second->graph != graph ||
            g_ptr_array_find(second->before, first, NULL) == add)
            return CUDA_ERROR_INVALID_VALUE;
        if (add)
            g_ptr_array_add(second->before, first);
        else
            g_ptr_array_remove(second->before, first);
    }
    return CUDA_SUCCESS;
}

/* Each with and without data of edges; all edges are of the ordinary kind. */
static void plain_edges(CUgraphEdgeData *data, const size_t *n)
{
    if (data && n)
        memset(data, 0, *n * sizeof *data);
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode *nodes, CUgraphEdgeData *data, size_t *n)
{
    CUDA_BEGIN(call);
    CUresult result = dependencies(&call, node, nodes, n);
    plain_edges(nodes ? data : NULL, n);
    CUDA_RETURN(call, result);
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode *nodes, CUgraphEdgeData *data, size_t *n)
{
    CUDA_BEGIN(call);
    CUresult result = dependents(&call, node, nodes, n);
    plain_edges(nodes ? data : NULL, n);
    CUDA_RETURN(call, result);
}

CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *data, size_t *n)
{
    CUDA_BEGIN(call);
    CUresult result = edges(&call, graph, from, to, n);
    plain_edges(from ? data : NULL, n);
    CUDA_RETURN(call, result);
}

CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                   const CUgraphEdgeData *data, size_t n)
{
    CUDA_BEGIN(call);
    (void)data;
    CUDA_RETURN(call, change(&call, graph, from, to, n, TRUE));
}

CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                      const CUgraphEdgeData *data, size_t n)
{
    CUDA_BEGIN(call);
    (void)data;
    CUDA_RETURN(call, change(&call, graph, from, to, n, FALSE));
}

#undef cuGraphNodeGetDependencies
#undef cuGraphNodeGetDependentNodes
#undef cuGraphGetEdges
#undef cuGraphAddDependencies
#undef cuGraphRemoveDependencies
CUDA_ALIAS_PTSZ CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *nodes, size_t *n);
CUDA_ALIAS_PTSZ CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *nodes, size_t *n);
CUDA_ALIAS_PTSZ CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *n);
CUDA_ALIAS_PTSZ CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                                size_t n);
CUDA_ALIAS_PTSZ CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                                   size_t n);
CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *nodes, size_t *n)
{
    return cuGraphNodeGetDependencies_v2(node, nodes, NULL, n);
}
CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *nodes, size_t *n)
{
    return cuGraphNodeGetDependentNodes_v2(node, nodes, NULL, n);
}
CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *n)
{
    return cuGraphGetEdges_v2(graph, from, to, NULL, n);
}
CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t n)
{
    return cuGraphAddDependencies_v2(graph, from, to, NULL, n);
}
CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t n)
{
    return cuGraphRemoveDependencies_v2(graph, from, to, NULL, n);
}
