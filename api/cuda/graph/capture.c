/* Capturing streams. A capture begins in one stream; others join it by waiting for an event that was recorded in it.
 * Each stream of a capture has the nodes that its next work comes behind. */
#include "api/cuda/graph/recapture.h"

static void captured_free(gpointer data)
{
    Captured *captured = data;
    g_ptr_array_unref(captured->behind);
    g_free(captured->answer);
    g_free(captured);
}

Captured *captured_find(Call *call, guint32 stream)
{
    return call->cuda->captures ? g_hash_table_lookup(call->cuda->captures, GUINT_TO_POINTER(stream)) : NULL;
}

Captured *captured_add(Call *call, const Stream *stream, Capture *capture)
{
    Captured *made = g_new0(Captured, 1);

    if (!call->cuda->captures)
        call->cuda->captures = g_hash_table_new_full(NULL, NULL, NULL, captured_free);
    made->capture = capture;
    made->behind = g_ptr_array_new();
    made->context = stream->context->handle;
    made->blocking = !(stream->flags & CU_STREAM_NON_BLOCKING);
    g_hash_table_insert(call->cuda->captures, GUINT_TO_POINTER(stream->stream), made);
    return made;
}

static gboolean captured_of(gpointer key, gpointer value, gpointer user)
{
    (void)key;
    return ((Captured *)value)->capture == user;
}

Capture *capture_of_graph(Call *call, const Graph *graph)
{
    GHashTableIter iter;
    gpointer value;

    if (!call->cuda->captures)
        return NULL;
    g_hash_table_iter_init(&iter, call->cuda->captures);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        Capture *capture = ((Captured *)value)->capture;
        if (capture->graph == graph || capture->original == graph)
            return capture;
    }
    return NULL;
}

void capture_free(Call *call, Capture *capture)
{
    g_hash_table_foreach_remove(call->cuda->captures, captured_of, capture);
    if (g_hash_table_size(call->cuda->captures) == 0)
        g_clear_pointer(&call->cuda->captures, g_hash_table_unref);
    if (capture->left)
        g_ptr_array_unref(capture->left);
    g_free(capture);
}

/* A capture goes with the stream that it began in. What another one has come to must still be joined: its number, and
 * with that its handle, may be a new stream's soon.
 * Source: tried on an H200: others of such a capture capture no more, and their work runs; UNJOINED otherwise. */
static void capture_stream_gone(Call *call, guint32 stream)
{
    Captured *captured = captured_find(call, stream);
    if (!captured)
        return;
    Capture *capture = captured->capture;
    if (capture->origin == stream) {
        Graph *made = capture->original || capture->own_graph ? capture->graph : NULL;
        capture_free(call, capture);
        if (made)
            graph_free(call, made);
        return;
    }
    if (!capture->left)
        capture->left = g_ptr_array_new();
    g_ptr_array_extend(capture->left, captured->behind, NULL, NULL);
    g_hash_table_remove(call->cuda->captures, GUINT_TO_POINTER(stream));
}

static void capture_graph_gone(Call *call, const Graph *graph)
{
    Capture *capture = capture_of_graph(call, graph);
    if (capture)
        capture_free(call, capture);
}

static Capture *capture_by_id(Call *call, guint64 id)
{
    GHashTableIter iter;
    gpointer value;

    if (!call->cuda->captures || id == 0)
        return NULL;
    g_hash_table_iter_init(&iter, call->cuda->captures);
    while (g_hash_table_iter_next(&iter, NULL, &value))
        if (((Captured *)value)->capture->id == id)
            return ((Captured *)value)->capture;
    return NULL;
}

/* Work in a legacy default stream would have to wait for the streams that capture. */
static gboolean implicit(Call *call, guint32 stream, CUresult *result)
{
    GHashTableIter iter;
    gpointer value;

    g_hash_table_iter_init(&iter, call->cuda->captures);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        Captured *captured = value;
        const Context *context = context_get(call, (CUcontext)captured->context);
        if (!context || context->legacy != stream || !captured->blocking)
            continue;
        captured->capture->spoilt = TRUE;
        *result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
        return TRUE;
    }
    return FALSE;
}

/* A node behind what the stream has; *captured is the stream's. FALSE: the stream does not capture. */
static gboolean begin_node(Call *call, guint32 stream, CUgraphNodeType type, GraphNode **node, Captured **captured,
                           CUresult *result)
{
    *captured = captured_find(call, stream);
    *node = NULL;
    if (!*captured)
        return call->cuda->captures && implicit(call, stream, result);
    if ((*captured)->capture->spoilt) {
        *result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
        return TRUE;
    }
    *result = graph_node_new(call, (*captured)->capture->graph, type, NULL, 0, node);
    (*node)->context = (*captured)->context;
    (*node)->captured = TRUE;
    for (guint i = 0; i < (*captured)->behind->len; i++)
        g_ptr_array_add((*node)->before, (*captured)->behind->pdata[i]);
    g_ptr_array_set_size((*captured)->behind, 0);
    g_ptr_array_add((*captured)->behind, *node);
    return TRUE;
}

/* The node is complete: of a recapture it must be what is there. */
static CUresult look_again(Call *call, const Capture *capture)
{
    const guint64 id = capture->id;
    CUresult result = recapture_look(call, capture);
    Capture *lives = result != CUDA_SUCCESS ? capture_by_id(call, id) : NULL; /* the program may have ended it */

    if (lives)
        lives->spoilt = TRUE;
    return result;
}

/* The copy as a graph's copies are described. */
static CUDA_MEMCPY3D describe_copy(const EngineRequest *r)
{
    gboolean to_host = r->access & ENGINE_HOST_DESTINATION, from_host = r->access & ENGINE_HOST_SOURCE;

    return (CUDA_MEMCPY3D){
        .srcMemoryType = from_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
        .srcHost = from_host ? (const void *)(guintptr)r->source : NULL,
        .srcDevice = from_host ? 0 : r->source,
        .srcPitch = r->source_pitch,
        .dstMemoryType = to_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
        .dstHost = to_host ? (void *)(guintptr)r->address : NULL,
        .dstDevice = to_host ? 0 : r->address,
        .dstPitch = r->pitch,
        .WidthInBytes = r->bytes,
        .Height = MAX(r->height, 1),
        .Depth = 1,
    };
}

static gboolean capture_request(Call *call, const EngineRequest *request, CUresult *result)
{
    const gboolean fabric = request->op == ENGINE_COPY && request->width != ENGINE_ENDPOINT_NONE;
    const CUgraphNodeType type = fabric ? CU_GRAPH_NODE_TYPE_FABRIC_CPY_BATCH
                                 : request->op == ENGINE_COPY || request->op == ENGINE_COPY_2D
                                     ? CU_GRAPH_NODE_TYPE_MEMCPY
                                 : request->op == ENGINE_FILL      ? CU_GRAPH_NODE_TYPE_MEMSET
                                 : request->op == ENGINE_HOST_CALL ? CU_GRAPH_NODE_TYPE_HOST
                                                                   : CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
    EngineRequest kept = *request;
    Captured *captured;
    GraphNode *node;

    if (!call->cuda->captures || !begin_node(call, request->stream, type, &node, &captured, result))
        return FALSE;
    if (*result != CUDA_SUCCESS || !node)
        return TRUE;
    kept.wait = ENGINE_ANSWER_QUEUED;
    kept.region = kept.object = 0;
    if (type == CU_GRAPH_NODE_TYPE_MEMCPY) {
        kept.access &= (guint32)~ENGINE_HOST_EARLY;
        node->copy = describe_copy(request);
    }
    if (type == CU_GRAPH_NODE_TYPE_MEMSET)
        node->fill = (CUDA_MEMSET_NODE_PARAMS){.dst = request->address,
                                               .pitch = request->pitch,
                                               .value = (unsigned)request->value,
                                               .elementSize = request->width,
                                               .width = request->bytes / request->width,
                                               .height = MAX(request->height, 1)};
    if (type == CU_GRAPH_NODE_TYPE_HOST)
        node->host = (CUDA_HOST_NODE_PARAMS){(CUhostFn)(guintptr)request->function,
                                             (void *)(guintptr)request->argument};
    g_array_append_val(node->requests, kept);
    *result = look_again(call, captured->capture);
    return TRUE;
}

static gboolean capture_launch(Call *call, const Stream *stream, const Launch *launch, CUresult *result)
{
    Captured *captured;
    GraphNode *node;

    if (!call->cuda->captures || !begin_node(call, stream->stream, CU_GRAPH_NODE_TYPE_KERNEL, &node, &captured, result))
        return FALSE;
    if (*result == CUDA_SUCCESS && node)
        *result = node_set_launch(node, launch);
    if (*result == CUDA_SUCCESS && node)
        *result = look_again(call, captured->capture);
    return TRUE;
}

gboolean capture_graph(Call *call, const Stream *stream, const Graph *graph, CUresult *result)
{
    Captured *captured;
    GraphNode *node;

    if (!call->cuda->captures || !begin_node(call, stream->stream, CU_GRAPH_NODE_TYPE_GRAPH, &node, &captured, result))
        return FALSE;
    if (*result == CUDA_SUCCESS && node)
        node->child = graph_clone(call, graph, FALSE);
    if (*result == CUDA_SUCCESS && node)
        *result = look_again(call, captured->capture);
    return TRUE;
}

static gboolean capture_record(Call *call, const Stream *stream, EventHandle *event, unsigned int flags,
                               CUresult *result)
{
    Captured *captured = captured_find(call, stream->stream);
    GraphNode *node;

    if (!captured) {
        event_forget_capture(event);
        return call->cuda->captures && implicit(call, stream->stream, result);
    }
    if (flags & CU_EVENT_RECORD_EXTERNAL) {
        begin_node(call, stream->stream, CU_GRAPH_NODE_TYPE_EVENT_RECORD, &node, &captured, result);
        if (node)
            node->event = (CUevent)event->handle;
        if (node && *result == CUDA_SUCCESS)
            *result = look_again(call, captured->capture);
        return TRUE;
    }
    *result = captured->capture->spoilt ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
    if (*result != CUDA_SUCCESS)
        return TRUE;
    event_forget_capture(event);
    event->capture = captured->capture->id;
    event->captured = g_array_new(FALSE, FALSE, sizeof(guint64)); /* handles: nodes may be destroyed */
    for (guint i = 0; i < captured->behind->len; i++)
        g_array_append_val(event->captured, ((GraphNode *)captured->behind->pdata[i])->handle);
    return TRUE;
}

static CUresult wait_in_capture(Call *call, const Stream *stream, Captured *captured, const EventHandle *event)
{
    Capture *capture = capture_by_id(call, event->capture);

    if (capture->spoilt)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (!captured)
        captured = captured_add(call, stream, capture);
    if (captured->capture != capture) {
        captured->capture->spoilt = capture->spoilt = TRUE;
        return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    }
    for (guint i = 0; i < event->captured->len; i++) {
        GraphNode *node = handle_get(call->cuda->handles, HANDLE_GRAPH_NODE, g_array_index(event->captured, guint64, i),
                                     NULL);
        if (node && !g_ptr_array_find(captured->behind, node, NULL))
            g_ptr_array_add(captured->behind, node);
    }
    return CUDA_SUCCESS;
}

static gboolean capture_wait(Call *call, const Stream *stream, EventHandle *event, unsigned int flags, CUresult *result)
{
    Captured *captured = captured_find(call, stream->stream);
    GraphNode *node;

    if (capture_by_id(call, event->capture)) {
        *result = wait_in_capture(call, stream, captured, event);
        return TRUE;
    }
    if (!captured)
        return FALSE;
    if (flags & CU_EVENT_WAIT_EXTERNAL) {
        begin_node(call, stream->stream, CU_GRAPH_NODE_TYPE_WAIT_EVENT, &node, &captured, result);
        if (node)
            node->event = (CUevent)event->handle;
        if (node && *result == CUDA_SUCCESS)
            *result = look_again(call, captured->capture);
        return TRUE;
    }
    captured->capture->spoilt = TRUE; /* work outside the capture */
    *result = CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    return TRUE;
}

static gboolean capture_forbids(Call *call, guint32 stream, guint64 context, CUresult *result)
{
    GHashTableIter iter;
    gpointer key, value;
    gboolean found = FALSE;

    if (!call->cuda->captures)
        return FALSE;
    g_hash_table_iter_init(&iter, call->cuda->captures);
    while (g_hash_table_iter_next(&iter, &key, &value)) {
        Captured *captured = value;
        if (stream != 0 ? GPOINTER_TO_UINT(key) != stream : captured->context != context)
            continue;
        captured->capture->spoilt = TRUE;
        found = TRUE;
    }
    if (!found)
        return stream != 0 && implicit(call, stream, result);
    *result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    return TRUE;
}

static gboolean capture_event_forbids(Call *call, const EventHandle *event, CUresult *result)
{
    Capture *capture = capture_by_id(call, event->capture);

    if (!event->captured)
        return FALSE;
    if (capture)
        capture->spoilt = TRUE;
    *result = CUDA_ERROR_CAPTURED_EVENT;
    return TRUE;
}

CUstreamCaptureStatus capture_status(Call *call, guint32 stream)
{
    const Captured *captured = captured_find(call, stream);

    return !captured                   ? CU_STREAM_CAPTURE_STATUS_NONE
           : captured->capture->spoilt ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                       : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

const StreamRecorder capture_recorder = {
    .request = capture_request,
    .launch = capture_launch,
    .record = capture_record,
    .wait = capture_wait,
    .forbids = capture_forbids,
    .event_forbids = capture_event_forbids,
    .status = capture_status,
    .stream_gone = capture_stream_gone,
    .graph_gone = capture_graph_gone,
};
