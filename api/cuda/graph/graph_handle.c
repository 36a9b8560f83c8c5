/* What a CUgraph, a CUgraphExec and a CUgraphNode stand for. */
#include "api/cuda/graph/graph.h"

Graph *graph_get(Call *call, CUgraph handle)
{
    return cuda_object(call, HANDLE_GRAPH, (guint64)handle, "use of a destroyed graph", "not a graph");
}

Graph *graph_exec_get(Call *call, CUgraphExec handle)
{
    return cuda_object(call, HANDLE_GRAPH_EXEC, (guint64)handle, "use of a destroyed graph that was instantiated",
                       "not a graph that was instantiated");
}

GraphNode *graph_node_get(Call *call, CUgraphNode handle)
{
    return cuda_object(call, HANDLE_GRAPH_NODE, (guint64)handle, "use of a destroyed node of a graph",
                       "not a node of a graph");
}
