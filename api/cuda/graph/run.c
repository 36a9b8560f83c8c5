/* Launching an instance: its nodes become work of streams. */
#include "api/cuda/graph/graph.h"

static guint32 event_new(Call *call)
{
    EngineRequest request = {.op = ENGINE_EVENT_NEW};
    EngineReply reply = {0};

    return cuda_engine(call, &request, &reply) ? (guint32)reply.value : 0;
}

/* access: of records, ENGINE_RECORD_OF_GRAPH or ENGINE_RECORD_IN_GRAPH. */
static CUresult submit(Call *call, EngineOp op, guint32 stream, guint32 event, guint32 access)
{
    EngineRequest request = {.op = op, .stream = stream, .event = event, .access = op == ENGINE_RECORD ? access : 0};

    return engine_submit(call, &request);
}

/* Of an event that is the graph's own. */
static CUresult submit_event(Call *call, EngineOp op, guint32 stream, guint32 event)
{
    return submit(call, op, stream, event, ENGINE_RECORD_OF_GRAPH);
}

/* The stream of a lane; lane 0 is the one that the graph was launched into. */
static guint32 lane_stream(const Graph *graph, const Stream *into, guint lane)
{
    return lane == 0 ? into->stream : g_array_index(graph->lanes, guint32, lane - 1);
}

/* A lane for work of that context on which this launch has put no node yet; a new one, if there is none. */
static guint lane_new(Call *call, Graph *graph, GPtrArray *tails, const Context *context)
{
    for (guint lane = 1; lane < tails->len; lane++)
        if (!tails->pdata[lane] && g_array_index(graph->lane_context, guint64, lane - 1) == context->handle)
            return lane;
    EngineRequest request = {.op = ENGINE_STREAM_NEW,
                             .object = (guint32)context->id,
                             .access = 1,
                             .gpu = call->cuda->device[context->device].gpu};
    EngineReply reply = {0};
    cuda_engine(call, &request, &reply);
    guint32 stream = (guint32)reply.value;
    g_array_append_val(graph->lanes, stream);
    g_array_append_val(graph->lane_context, context->handle);
    g_ptr_array_add(tails, NULL);
    return tails->len - 1;
}

static guint choose_lane(Call *call, Graph *graph, const Stream *into, GPtrArray *tails, const GraphNode *node,
                         const Context *context)
{
    for (guint i = 0; i < node->before->len; i++) {
        const GraphNode *one = node->before->pdata[i];
        guint64 of = one->lane == 0 ? into->context->handle
                                    : g_array_index(graph->lane_context, guint64, one->lane - 1);
        if (tails->pdata[one->lane] == one && of == context->handle)
            return one->lane;
    }
    if (!tails->pdata[0] && context == into->context)
        return 0;
    return lane_new(call, graph, tails, context);
}

static CUresult run_event(Call *call, CUgraphNodeType type, const Stream *stream, EventHandle *event)
{
    gboolean records = type == CU_GRAPH_NODE_TYPE_EVENT_RECORD;
    EngineOp op = records ? ENGINE_RECORD : ENGINE_WAIT_EVENT;
    CUresult result = submit(call, op, stream->stream, event->event, ENGINE_RECORD_IN_GRAPH);

    event->recorded |= records && result == CUDA_SUCCESS;
    return result;
}

static CUresult run_node(Call *call, GraphNode *node, const Stream *stream)
{
    EventHandle *event;
    CUresult result = CUDA_SUCCESS;

    if (node->disabled)
        return CUDA_SUCCESS;
    switch (node->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        node->launch.function = handle_get(call->cuda->handles, HANDLE_FUNCTION, node->function, NULL);
        if (!node->launch.function) {
            cuda_diagnose(call, node->function, -1, 0, "a node's kernel was unloaded");
            return CUDA_ERROR_INVALID_HANDLE;
        }
        return launch_submit(call, stream, &node->launch);
    case CU_GRAPH_NODE_TYPE_GRAPH: return graph_run(call, node->child, (Stream *)stream);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        event = event_get(call, node->event);
        if (!event)
            return CUDA_ERROR_INVALID_HANDLE;
        return run_event(call, node->type, stream, event);
    default:
        for (guint i = 0; i < node->requests->len && result == CUDA_SUCCESS; i++) {
            EngineRequest request = g_array_index(node->requests, EngineRequest, i);
            request.stream = stream->stream;
            result = engine_submit(call, &request);
        }
        return result;
    }
}

/* Waits for nodes of other lanes; a lane that begins waits for the start. */
static CUresult join(Call *call, Graph *graph, const Stream *into, const GPtrArray *tails, const GraphNode *node,
                     guint32 stream)
{
    CUresult result = CUDA_SUCCESS;

    if (node->lane != 0 && !tails->pdata[node->lane])
        result = submit_event(call, ENGINE_WAIT_EVENT, stream, graph->start);
    for (guint i = 0; i < node->before->len && result == CUDA_SUCCESS; i++) {
        GraphNode *one = node->before->pdata[i];
        if (one->lane == node->lane)
            continue;
        (void)into;
        result = submit_event(call, ENGINE_WAIT_EVENT, stream, one->done);
    }
    return result;
}

static gboolean waited_for_elsewhere(const GPtrArray *order, const GraphNode *node)
{
    for (guint i = 0; i < order->len; i++)
        if (g_ptr_array_find(((const GraphNode *)order->pdata[i])->before, node, NULL))
            return TRUE;
    return FALSE;
}

static CUresult run_all(Call *call, Graph *graph, const Stream *into, const GPtrArray *order, GPtrArray *tails)
{
    CUresult result = submit_event(call, ENGINE_RECORD, into->stream, graph->start);

    for (guint i = 0; i < order->len && result == CUDA_SUCCESS; i++) {
        GraphNode *node = order->pdata[i];
        Context *context = node->context != 0 ? context_get(call, (CUcontext)node->context) : into->context;
        if (!context)
            return CUDA_ERROR_INVALID_CONTEXT;
        node->lane = choose_lane(call, graph, into, tails, node, context);
        Stream stream = {.context = context, .stream = lane_stream(graph, into, node->lane), .handle = into->handle};
        result = join(call, graph, into, tails, node, stream.stream);
        if (result == CUDA_SUCCESS)
            result = run_node(call, node, &stream);
        tails->pdata[node->lane] = node;
        if (result == CUDA_SUCCESS && order->len > 1 && waited_for_elsewhere(order, node)) {
            node->done = node->done != 0 ? node->done : event_new(call);
            result = submit_event(call, ENGINE_RECORD, stream.stream, node->done);
        }
    }
    return result;
}

CUresult graph_run(Call *call, Graph *graph, Stream *into)
{
    g_autoptr(GPtrArray) order = graph_order(graph), tails = g_ptr_array_new();
    CUresult result = CUDA_SUCCESS;

    if (!order)
        return CUDA_ERROR_INVALID_VALUE;
    if (graph->start == 0) {
        graph->start = event_new(call);
        graph->end = event_new(call);
    }
    if (graph->launched) /* launches of one instance run one behind the other */
        result = submit_event(call, ENGINE_WAIT_EVENT, into->stream, graph->end);
    for (guint lane = 0; lane <= graph->lanes->len; lane++)
        g_ptr_array_add(tails, NULL);
    if (result == CUDA_SUCCESS)
        result = run_all(call, graph, into, order, tails);
    for (guint lane = 1; lane < tails->len && result == CUDA_SUCCESS; lane++) { /* all lanes end in the stream */
        GraphNode *last = tails->pdata[lane];
        if (!last)
            continue;
        last->done = last->done != 0 ? last->done : event_new(call);
        result = submit_event(call, ENGINE_RECORD, lane_stream(graph, into, lane), last->done);
        if (result == CUDA_SUCCESS)
            result = submit_event(call, ENGINE_WAIT_EVENT, into->stream, last->done);
    }
    if (result == CUDA_SUCCESS)
        result = submit_event(call, ENGINE_RECORD, into->stream, graph->end);
    graph->launched |= result == CUDA_SUCCESS;
    return result;
}
