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

/* Every node of the capture must come before what the first stream ends with. */
static gboolean joined(Call *call, const Capture *capture, const Captured *origin)
{
    GHashTableIter iter;
    gpointer value;

    g_hash_table_iter_init(&iter, call->cuda->captures);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const Captured *other = value;
        if (other->capture != capture || other == origin)
            continue;
        for (guint i = 0; i < other->behind->len; i++) {
            gboolean found = FALSE;
            for (guint k = 0; !found && k < origin->behind->len; k++)
                found = graph_reaches(other->behind->pdata[i], origin->behind->pdata[k]);
            if (!found)
                return FALSE;
        }
    }
    return TRUE;
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
    if (capture->original || (result != CUDA_SUCCESS && capture->own_graph))
        graph_free(call, capture->graph);
    g_hash_table_foreach_remove(call->cuda->captures, captured_of, capture);
    if (g_hash_table_size(call->cuda->captures) == 0)
        g_clear_pointer(&call->cuda->captures, g_hash_table_unref);
    g_free(capture);
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
    if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES)
        g_ptr_array_set_size(captured->behind, 0);
    for (size_t i = 0; i < n; i++) {
        GraphNode *node = graph_node_get(call, nodes[i]);
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
