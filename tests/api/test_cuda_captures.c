/* api/cuda/graph/capture.c: what becomes of a capture whose streams or graph are destroyed. Every answer is an H200's,
 * driver of CUDA 13, tried call by call. */
#include "tests/api/cuda_test.h"

static CUdeviceptr device_memory(void)
{
    CUdeviceptr va;
    OK(cuMemAlloc_v2(&va, 16));
    return va;
}

static CUstream stream_new(void)
{
    CUstream stream;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}

static void begin(CUstream stream) { OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)); }

static void work(CUstream stream, CUdeviceptr va) { OK(cuMemsetD8Async(va, 1, 16, stream)); }

static void join(CUstream stream, CUstream to)
{
    CUevent event;
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(cuEventRecord(event, to));
    OK(cuStreamWaitEvent(stream, event, 0));
    OK(cuEventDestroy_v2(event));
}

static CUstreamCaptureStatus status_of(CUstream stream)
{
    CUstreamCaptureStatus status;
    OK(cuStreamIsCapturing(stream, &status));
    return status;
}

static CUgraph graph_of(CUstream stream)
{
    CUstreamCaptureStatus status;
    cuuint64_t id;
    CUgraph graph = NULL;
    OK(cuStreamGetCaptureInfo_v3(stream, &status, &id, &graph, NULL, NULL, NULL));
    return graph;
}

static size_t nodes_of(CUgraph graph)
{
    size_t n = 0;
    OK(cuGraphGetNodes(graph, NULL, &n));
    return n;
}

/* Proves that a stream which joined a capture and is destroyed leaves it, so that a stream with its handle, which is
 * the next one made, does not capture, not even for another capture's event; and that what it was given must be joined
 * still. NCCL makes such a stream for each rank whose launch is captured. */
static void test_joined_stream_gone(void)
{
    start();
    use_device(0);
    CUdeviceptr va = device_memory();
    for (guint works = 0; works < 3; works++) { /* none; some; some, and the first stream waits for it */
        CUstream first = stream_new(), joined = stream_new();
        CUgraph graph = NULL;
        begin(first);
        work(first, va);
        join(joined, first);
        if (works)
            work(joined, va);
        if (works == 2)
            join(first, joined);
        OK(cuStreamDestroy_v2(joined));
        CUstream next = stream_new(), other = stream_new();
        assert_int_equal(status_of(next), CU_STREAM_CAPTURE_STATUS_NONE);
        assert_int_equal(status_of(first), CU_STREAM_CAPTURE_STATUS_ACTIVE);
        begin(other);
        join(next, other);
        assert_int_equal(status_of(next), CU_STREAM_CAPTURE_STATUS_ACTIVE);
        OK(cuStreamDestroy_v2(next));
        EXPECT(works == 1 ? CUDA_ERROR_STREAM_CAPTURE_UNJOINED : CUDA_SUCCESS, cuStreamEndCapture(first, &graph));
        if (works != 1)
            assert_int_equal(nodes_of(graph), works ? 2 : 1);
        OK(cuStreamEndCapture(other, &graph));
        assert_int_equal(nodes_of(graph), 0);
    }
}

/* Proves that a capture goes with the stream in which it began: its graph is none any more, and streams that had joined
 * it do work at once. */
static void test_first_stream_gone(void)
{
    start();
    use_device(0);
    CUdeviceptr va = device_memory();
    CUstream first = stream_new(), joined = stream_new();
    size_t n;
    begin(first);
    work(first, va);
    join(joined, first);
    CUgraph graph = graph_of(first), ended = NULL;
    assert_int_equal(nodes_of(graph), 1);
    OK(cuStreamDestroy_v2(first));
    assert_int_equal(status_of(joined), CU_STREAM_CAPTURE_STATUS_NONE);
    INVALID(cuGraphGetNodes(graph, NULL, &n));
    EXPECT(CUDA_ERROR_ILLEGAL_STATE, cuStreamEndCapture(joined, &ended));
    work(joined, va);
    OK(cuStreamSynchronize(joined));
    OK(cuCtxSynchronize());
}

/* Proves that neither a graph into which a stream captures nor a node of it can be destroyed, and both once the capture
 * has ended; other changes are taken, a circle among them, and an instance of that is refused. */
static void test_graph_while_captured(void)
{
    start();
    use_device(0);
    CUdeviceptr va = device_memory();
    CUstream stream = stream_new();
    CUgraphNode node[2], more;
    CUgraphExec exec;
    size_t n = 2;
    begin(stream);
    work(stream, va);
    work(stream, va);
    CUgraph graph = graph_of(stream), ended = NULL;
    OK(cuGraphGetNodes(graph, node, &n));
    EXPECT(CUDA_ERROR_ILLEGAL_STATE, cuGraphDestroyNode(node[0]));
    EXPECT(CUDA_ERROR_ILLEGAL_STATE, cuGraphDestroyNode(node[1]));
    EXPECT(CUDA_ERROR_ILLEGAL_STATE, cuGraphDestroy(graph));
    assert_int_equal(status_of(stream), CU_STREAM_CAPTURE_STATUS_ACTIVE);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphAddEmptyNode(&more, graph, NULL, 0));
    OK(cuGraphAddDependencies_v2(graph, &node[1], &node[0], NULL, 1));
    work(stream, va);
    OK(cuStreamEndCapture(stream, &ended));
    assert_true(ended == graph && nodes_of(graph) == 4);
    INVALID(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphDestroyNode(node[0]));
    OK(cuGraphDestroy(graph));
}

static CUgraphNode last_of(CUstream stream)
{
    CUstreamCaptureStatus status;
    cuuint64_t id;
    const CUgraphNode *nodes;
    const CUgraphEdgeData *edges;
    size_t n = 0;
    OK(cuStreamGetCaptureInfo_v3(stream, &status, &id, NULL, &nodes, &edges, &n));
    assert_true(n > 0);
    return nodes[0];
}

static void set(CUstream stream, CUgraphNode node, unsigned flags)
{
    OK(cuStreamUpdateCaptureDependencies_v2(stream, &node, NULL, node != NULL, flags));
}

static CUgraphNode empty_behind(CUgraph graph, CUgraphNode before)
{
    CUgraphNode node;
    OK(cuGraphAddEmptyNode(&node, graph, &before, before != NULL));
    return node;
}

/* Proves which work of a joined stream need not be joined: what the program set for it or took from it, which NCCL does
 * with the events that it records in captures, and what has anything behind it. Nodes: of the graph that is made; 0: an
 * end that is refused. */
static void test_set_dependencies(void)
{
    static const size_t nodes[] = {2, 3, 2, 2, 0, 3, 3, 2, 2, 2, 3};
    enum { SET = CU_STREAM_SET_CAPTURE_DEPENDENCIES, ADD = CU_STREAM_ADD_CAPTURE_DEPENDENCIES };
    start();
    use_device(0);
    CUdeviceptr va = device_memory();
    for (guint way = 0; way < G_N_ELEMENTS(nodes); way++) {
        CUstream first = stream_new(), joined = stream_new();
        CUgraph ended = NULL;
        begin(first);
        work(first, va);
        join(joined, first);
        CUgraph graph = graph_of(first);
        if (way != 0 && way != 3 && way != 4)
            work(joined, va);
        CUgraphNode last = last_of(joined);
        switch (way) {
        case 0: set(joined, empty_behind(graph, NULL), SET); break;
        case 1: set(joined, empty_behind(graph, last), SET); break;
        case 2: set(joined, NULL, SET); break;
        case 3: set(joined, empty_behind(graph, NULL), ADD); break;
        case 4:
            set(joined, empty_behind(graph, NULL), SET);
            work(joined, va);
            break;
        case 5: empty_behind(graph, last); break;
        case 6:
            work(joined, va);
            set(joined, last, SET);
            break;
        case 7: set(first, last, ADD); break;
        case 8:
            set(joined, NULL, SET);
            set(joined, last, ADD);
            break;
        case 9:
            join(first, joined);
            set(first, NULL, SET);
            break;
        default:
            join(first, joined);
            set(joined, empty_behind(graph, last), SET);
            OK(cuStreamDestroy_v2(joined));
            break;
        }
        CUresult wanted = nodes[way] ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
        if (cuStreamEndCapture(first, &ended) != wanted)
            fail_msg("way %u", way);
        if (nodes[way])
            assert_int_equal(nodes_of(ended), nodes[way]);
    }
}

int main(int argc, char **argv)
{
    static const CudaTest tests[] = {CUDA_TEST(test_joined_stream_gone, ""), CUDA_TEST(test_first_stream_gone, ""),
                                     CUDA_TEST(test_graph_while_captured, ""), CUDA_TEST(test_set_dependencies, ""),
                                     CUDA_TEST_END};
    return cuda_test_main(tests, argc, argv);
}
