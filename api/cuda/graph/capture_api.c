/* Captures: begun, asked about, changed and ended by the program. */
#include "api/cuda/graph/recapture.h"

static _Thread_local CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

static CUresult begin(Call *call, CUstream handle, CUstream standard, Graph *graph, const CUgraphNode *before, size_t n,
                      CUstreamCaptureMode mode)
{
    Stream stream;
    CUresult result = stream_get(call, handle, standard, &stream);

    if (result != CUDA_SUCCESS)
        return result;
    if ((unsigned)mode > CU_STREAM_CAPTURE_MODE_RELAXED || (n > 0 && !before))
        return CUDA_ERROR_INVALID_VALUE;
    if (stream.stream == stream.context->legacy)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (captured_find(call, stream.stream))
        return CUDA_ERROR_ILLEGAL_STATE;
    for (size_t i = 0; i < n; i++) {
        const GraphNode *node = graph_node_get(call, before[i]);
        if (!node || node->graph != graph)
            return CUDA_ERROR_INVALID_VALUE;
    }
    Capture *capture = g_new0(Capture, 1);
    *capture = (Capture){.id = call->cuda->next_id++,
                         .graph = graph ? graph : graph_new(call, FALSE),
                         .own_graph = !graph,
                         .origin = stream.stream,
                         .mode = mode};
    Captured *captured = captured_add(call, &stream, capture);
    for (size_t i = 0; i < n; i++)
        g_ptr_array_add(captured->behind, graph_node_get(call, before[i]));
    return CUDA_SUCCESS;
}

static gboolean has_followers(const GraphNode *node)
{
    for (guint i = 0; i < node->graph->nodes->len; i++) {
        const GraphNode *other = node->graph->nodes->pdata[i];
        if (g_ptr_array_find(other->before, node, NULL))
            return TRUE;
    }
    return FALSE;
}

/* Whether none of these nodes, which a stream had come to, is left over: captured, with nothing behind it, and not what
 * the first stream has come to. What the program itself has set or taken away is not asked for.
 * Source: tried on an H200, fifteen ways (tests/api/test_cuda_captures.c). */
static gboolean none_is_left(const GPtrArray *nodes, const Captured *origin)
{
    for (guint i = 0; i < nodes->len; i++) {
        const GraphNode *node = nodes->pdata[i];
        if (node->captured && !has_followers(node) && !g_ptr_array_find(origin->behind, node, NULL))
            return FALSE;
    }
    return TRUE;
}

static gboolean joined(Call *call, const Capture *capture, const Captured *origin)
{
    GHashTableIter iter;
    gpointer value;

    g_hash_table_iter_init(&iter, call->cuda->captures);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const Captured *other = value;
        if (other->capture == capture && other != origin && !none_is_left(other->behind, origin))
            return FALSE;
    }
    return !capture->left || none_is_left(capture->left, origin);
}

static CUresult end(Call *call, CUstream handle, CUstream standard, CUgraph *graph)
{
    Stream stream;
    CUresult result = stream_get(call, handle, standard, &stream);

    if (result != CUDA_SUCCESS)
        return result;
    if (!graph)
        return CUDA_ERROR_INVALID_VALUE;
    Captured *captured = captured_find(call, stream.stream);
    if (!captured)
        return CUDA_ERROR_ILLEGAL_STATE;
    Capture *capture = captured->capture;
    if (capture->origin != stream.stream) {
        capture->spoilt = TRUE;
        return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    }
    if (capture->spoilt)
        result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    else if (!joined(call, capture, captured))
        result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    if (result == CUDA_SUCCESS && capture->original)
        result = recapture_end(call, capture);
    const Graph *made = capture->original ? capture->original : capture->graph;
    *graph = result == CUDA_SUCCESS ? (CUgraph)made->handle : NULL;
    Graph *needless = capture->original || (result != CUDA_SUCCESS && capture->own_graph) ? capture->graph : NULL;
    capture_free(call, capture);
    if (needless)
        graph_free(call, needless);
    return result;
}

static CUresult begin_to(Call *call, CUstream handle, CUstream standard, CUgraph of, const CUgraphNode *before,
                         size_t n, CUstreamCaptureMode mode)
{
    Graph *graph = graph_get(call, of);

    return graph ? begin(call, handle, standard, graph, before, n, mode) : CUDA_ERROR_INVALID_VALUE;
}

/* What the graph's users left in it goes first, as the page says. */
static CUresult begin_again(Call *call, CUstream handle, CUstream standard, CUstreamCaptureMode mode, CUgraph of,
                            CUgraphRecaptureCallback mismatch, void *user)
{
    Graph *graph = graph_get(call, of);
    Stream stream;
    CUresult result = graph ? begin(call, handle, standard, NULL, NULL, 0, mode) : CUDA_ERROR_INVALID_VALUE;

    if (result == CUDA_SUCCESS)
        result = stream_get(call, handle, standard, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    Capture *capture = captured_find(call, stream.stream)->capture;
    capture->original = graph;
    capture->mismatch = mismatch;
    capture->user = user;
    for (guint i = 0; i < graph->users->len; i++) {
        const UserReference *reference = &g_array_index(graph->users, UserReference, i);
        user_object_release(call, reference->object, reference->count);
    }
    g_array_set_size(graph->users, 0);
    return CUDA_SUCCESS;
}

STREAM_TWINS(cuStreamBeginRecaptureToGraph,
             (CUstream stream, CUstreamCaptureMode mode, CUgraph graph, CUgraphRecaptureCallback mismatch, void *user),
             begin_again, (&call, stream, standard, mode, graph, mismatch, user))
STREAM_TWINS(cuStreamBeginCapture_v2, (CUstream stream, CUstreamCaptureMode mode), begin,
             (&call, stream, standard, NULL, NULL, 0, mode))
CUDA_ALIAS_PTSZ CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, const CUgraphNode *before,
                                                     const CUgraphEdgeData *edges, size_t n, CUstreamCaptureMode mode);
STREAM_TWINS(cuStreamBeginCaptureToGraph,
             (CUstream stream, CUgraph graph, const CUgraphNode *before, const CUgraphEdgeData *edges, size_t n,
              CUstreamCaptureMode mode),
             begin_to, (&call, stream, !edges ? standard : standard, graph, before, n, mode))
STREAM_TWINS(cuStreamEndCapture, (CUstream stream, CUgraph *graph), end, (&call, stream, standard, graph))

static CUresult info(Call *call, CUstream handle, CUstream standard, CUstreamCaptureStatus *status, cuuint64_t *id,
                     CUgraph *graph, const CUgraphNode **nodes, size_t *n)
{
    Stream stream;
    CUresult result = stream_get(call, handle, standard, &stream);

    if (result != CUDA_SUCCESS)
        return result;
    if (!status)
        return CUDA_ERROR_INVALID_VALUE;
    *status = capture_status(call, stream.stream);
    if (*status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return CUDA_SUCCESS;
    Captured *captured = captured_find(call, stream.stream);
    if (id)
        *id = captured->capture->id;
    if (graph)
        *graph = (CUgraph)captured->capture->graph->handle;
    if (n)
        *n = captured->behind->len;
    g_free(captured->answer);
    captured->answer = g_new0(CUgraphNode, captured->behind->len + 1);
    for (guint i = 0; i < captured->behind->len; i++)
        captured->answer[i] = (CUgraphNode)((GraphNode *)captured->behind->pdata[i])->handle;
    if (nodes)
        *nodes = captured->answer;
    return CUDA_SUCCESS;
}

static CUresult info_edges(Call *call, CUstream handle, CUstream standard, CUstreamCaptureStatus *status,
                           cuuint64_t *id, CUgraph *graph, const CUgraphNode **nodes, const CUgraphEdgeData **edges,
                           size_t *n)
{
    if (edges)
        *edges = NULL; /* all are of the ordinary kind */
    return info(call, handle, standard, status, id, graph, nodes, n);
}

CUDA_ALIAS_PTSZ CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
                                                   CUgraph *graph, const CUgraphNode **nodes, size_t *n);
STREAM_TWINS(cuStreamGetCaptureInfo_v2,
             (CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph, const CUgraphNode **nodes,
              size_t *n),
             info, (&call, stream, standard, status, id, graph, nodes, n))
STREAM_TWINS(cuStreamGetCaptureInfo_v3,
             (CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph, const CUgraphNode **nodes,
              const CUgraphEdgeData **edges, size_t *n),
             info_edges, (&call, stream, standard, status, id, graph, nodes, edges, n))

static CUresult update(Call *call, CUstream handle, CUstream standard, const CUgraphNode *nodes, size_t n,
                       unsigned int flags)
{
    Stream stream;
    CUresult result = stream_get(call, handle, standard, &stream);

    if (result != CUDA_SUCCESS)
        return result;
    Captured *captured = captured_find(call, stream.stream);
    if (!captured)
        return CUDA_ERROR_ILLEGAL_STATE;
    if (flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES || (n > 0 && !nodes))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < n; i++) {
        const GraphNode *node = graph_node_get(call, nodes[i]);
        if (!node || node->graph != captured->capture->graph)
            return CUDA_ERROR_INVALID_VALUE;
    }
    if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES) {
        for (guint i = 0; i < captured->behind->len; i++)
            ((GraphNode *)captured->behind->pdata[i])->captured = FALSE;
        g_ptr_array_set_size(captured->behind, 0);
    }
    for (size_t i = 0; i < n; i++) {
        GraphNode *node = graph_node_get(call, nodes[i]);
        node->captured = FALSE;
        if (!g_ptr_array_find(captured->behind, node, NULL))
            g_ptr_array_add(captured->behind, node);
    }
    return CUDA_SUCCESS;
}

STREAM_TWINS(cuStreamUpdateCaptureDependencies_v2,
             (CUstream stream, CUgraphNode *nodes, const CUgraphEdgeData *edges, size_t n, unsigned int flags), update,
             (&call, stream, !edges ? standard : standard, nodes, n, flags))
#undef cuStreamUpdateCaptureDependencies
CUDA_ALIAS_PTSZ CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode *nodes, size_t n,
                                                           unsigned int flags);
STREAM_TWINS(cuStreamUpdateCaptureDependencies, (CUstream stream, CUgraphNode *nodes, size_t n, unsigned int flags),
             update, (&call, stream, standard, nodes, n, flags))

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    CUDA_BEGIN(call);
    if (!mode || (unsigned)*mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    CUstreamCaptureMode before = thread_mode;
    thread_mode = *mode;
    *mode = before;
    CUDA_RETURN(call, CUDA_SUCCESS);
}
