/* Graphs as objects: nodes, edges, copies. */
#include "api/cuda/graph/graph.h"

Graph *graph_new(Call *call, gboolean instance)
{
    Graph *graph = g_new0(Graph, 1);

    graph->instance = instance;
    graph->nodes = g_ptr_array_new();
    graph->users = g_array_new(FALSE, FALSE, sizeof(UserReference));
    graph->lanes = g_array_new(FALSE, FALSE, sizeof(guint32));
    graph->lane_context = g_array_new(FALSE, FALSE, sizeof(guint64));
    graph->handle = handle_new(call->cuda->handles, instance ? HANDLE_GRAPH_EXEC : HANDLE_GRAPH, graph);
    return graph;
}

static void free_event(Call *call, guint32 event)
{
    EngineRequest request = {.op = ENGINE_EVENT_FREE, .event = event};

    if (event != 0)
        cuda_engine(call, &request, NULL);
}

void graph_node_free(Call *call, GraphNode *node)
{
    for (guint i = 0; i < node->graph->nodes->len; i++)
        g_ptr_array_remove(((GraphNode *)node->graph->nodes->pdata[i])->before, node);
    g_ptr_array_remove(node->graph->nodes, node);
    g_ptr_array_unref(node->before);
    g_array_unref(node->requests);
    launch_clear(&node->launch);
    g_free(node->params);
    if (node->child)
        graph_free(call, node->child);
    free_event(call, node->done);
    handle_unref(call->cuda->handles, node->handle);
    g_free(node);
}

void graph_free(Call *call, Graph *graph)
{
    call->cuda->recorder->graph_gone(call, graph); /* as a child graph, which goes with its parent */
    while (graph->nodes->len > 0)
        graph_node_free(call, graph->nodes->pdata[graph->nodes->len - 1]);
    for (guint i = 0; i < graph->users->len; i++) {
        const UserReference *user = &g_array_index(graph->users, UserReference, i);
        user_object_release(call, user->object, user->count);
    }
    for (guint i = 0; i < graph->lanes->len; i++) {
        EngineRequest request = {.op = ENGINE_STREAM_FREE, .stream = g_array_index(graph->lanes, guint32, i)};
        cuda_engine(call, &request, NULL);
    }
    free_event(call, graph->start);
    free_event(call, graph->end);
    g_array_unref(graph->users);
    g_array_unref(graph->lanes);
    g_array_unref(graph->lane_context);
    g_ptr_array_unref(graph->nodes);
    handle_unref(call->cuda->handles, graph->handle);
    g_free(graph);
}

CUresult graph_node_new(Call *call, Graph *graph, CUgraphNodeType type, const CUgraphNode *before, size_t n,
                        GraphNode **node)
{
    g_autoptr(GPtrArray) list = g_ptr_array_new();

    if (n > 0 && !before)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < n; i++) {
        GraphNode *one = graph_node_get(call, before[i]);
        if (!one || one->graph != graph || g_ptr_array_find(list, one, NULL))
            return CUDA_ERROR_INVALID_VALUE;
        g_ptr_array_add(list, one);
    }
    GraphNode *made = g_new0(GraphNode, 1);
    made->graph = graph;
    made->type = type;
    made->before = g_ptr_array_ref(list);
    made->requests = g_array_new(FALSE, FALSE, sizeof(EngineRequest));
    made->handle = handle_new(call->cuda->handles, HANDLE_GRAPH_NODE, made);
    g_ptr_array_add(graph->nodes, made);
    *node = made;
    return CUDA_SUCCESS;
}

gboolean graph_reaches(const GraphNode *from, const GraphNode *to)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    g_autoptr(GPtrArray) open = g_ptr_array_new();

    g_ptr_array_add(open, (gpointer)to);
    for (guint i = 0; i < open->len; i++) {
        const GraphNode *node = open->pdata[i];
        if (node == from)
            return TRUE;
        for (guint k = 0; k < node->before->len; k++)
            if (g_hash_table_add(seen, node->before->pdata[k]))
                g_ptr_array_add(open, node->before->pdata[k]);
    }
    return FALSE;
}

GPtrArray *graph_order(const Graph *graph)
{
    GPtrArray *order = g_ptr_array_new();
    g_autoptr(GHashTable) done = g_hash_table_new(NULL, NULL);

    for (guint before = G_MAXUINT; before != order->len;) { /* in the order of adding, as far as can be */
        before = order->len;
        for (guint i = 0; i < graph->nodes->len; i++) {
            GraphNode *node = graph->nodes->pdata[i];
            gboolean ready = !g_hash_table_contains(done, node);
            for (guint k = 0; ready && k < node->before->len; k++)
                ready = g_hash_table_contains(done, node->before->pdata[k]);
            if (!ready)
                continue;
            g_hash_table_add(done, node);
            g_ptr_array_add(order, node);
        }
    }
    if (order->len == graph->nodes->len)
        return order;
    g_ptr_array_unref(order);
    return NULL;
}

Graph *graph_clone(Call *call, const Graph *graph, gboolean instance)
{
    Graph *made = graph_new(call, instance);
    g_autoptr(GHashTable) copies = g_hash_table_new(NULL, NULL);

    made->original = graph->handle;
    for (guint i = 0; i < graph->nodes->len; i++) {
        GraphNode *from = graph->nodes->pdata[i], *to;
        graph_node_new(call, made, from->type, NULL, 0, &to);
        to->original = from->handle;
        node_copy(call, to, from);
        g_hash_table_insert(copies, from, to);
    }
    for (guint i = 0; i < graph->nodes->len; i++) {
        const GraphNode *from = graph->nodes->pdata[i];
        GraphNode *to = made->nodes->pdata[i];
        for (guint k = 0; k < from->before->len; k++)
            g_ptr_array_add(to->before, g_hash_table_lookup(copies, from->before->pdata[k]));
    }
    for (guint i = 0; i < graph->users->len; i++) {
        UserReference user = g_array_index(graph->users, UserReference, i);
        user_object_retain(call, user.object, user.count);
        g_array_append_val(made->users, user);
    }
    return made;
}
