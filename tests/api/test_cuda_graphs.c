/* Graphs that are made node by node: what each node does, when, and what of an instance may be changed. A fill of
 * 1 MiB takes 1 us of its engine, 0.2 us of the memory, and writes 1,000 B a ns on teach-4gpu, as in
 * tests/api/test_report_rows.sh. */
#include <math.h>

#include "tests/api/cuda_test.h"

#define FILL_NS 2248.576

typedef struct {
    CUcontext context;
    CUdeviceptr va; /* 2 MiB of zeros */
    CUstream stream, other;
    CUgraph graph;
} World;

static void world_open(World *world)
{
    start();
    use_device(0);
    OK(cuCtxGetCurrent(&world->context));
    OK(cuMemAlloc(&world->va, 2 * MIB));
    OK(cuMemsetD8(world->va, 0, 2 * MIB));
    OK(cuStreamCreate(&world->stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&world->other, CU_STREAM_NON_BLOCKING));
    OK(cuGraphCreate(&world->graph, 0));
    OK(cuCtxSynchronize());
}

static CUDA_MEMSET_NODE_PARAMS fill_of(CUdeviceptr va, unsigned value, size_t words)
{
    return (CUDA_MEMSET_NODE_PARAMS){.dst = va, .value = value, .elementSize = 4, .width = words, .height = 1};
}

static CUgraphNode add_fill(const World *world, CUgraphNode behind, CUdeviceptr va, unsigned value, size_t words)
{
    const CUDA_MEMSET_NODE_PARAMS fill = fill_of(va, value, words);
    CUgraphNode node = NULL;
    OK(cuGraphAddMemsetNode(&node, world->graph, behind ? &behind : NULL, behind ? 1 : 0, &fill, world->context));
    return node;
}

static CUgraphExec ready(CUgraph graph)
{
    CUgraphExec exec;
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
}

static void run(CUgraphExec exec, CUstream stream)
{
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
}

static void host_note(void *arg) { ++*(int *)arg; }

/* An event is recorded when what stands before it is done, and another one may take its place; who waits for an event
 * waits for what was before it elsewhere. */
static void test_events(void)
{
    CUevent begin, end, end2, got;
    CUgraphNode record, wait, behind;
    float ms;
    World world;

    world_open(&world);
    OK(cuEventCreate(&begin, 0));
    OK(cuEventCreate(&end, 0));
    OK(cuEventCreate(&end2, 0));
    CUgraphNode fill = add_fill(&world, NULL, world.va, 7, MIB / 4);
    OK(cuGraphAddEventRecordNode(&record, world.graph, &fill, 1, end));
    OK(cuGraphEventRecordNodeGetEvent(record, &got));
    assert_ptr_equal(got, end);
    CUgraphExec exec = ready(world.graph);
    OK(cuEventRecord(begin, world.stream));
    run(exec, world.stream);
    OK(cuEventElapsedTime(&ms, begin, end));
    assert_true(fabs(ms * 1e6 - FILL_NS) < 2);
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&ms, begin, end2));
    OK(cuGraphEventRecordNodeSetEvent(record, end2));
    OK(cuGraphEventRecordNodeGetEvent(record, &got));
    assert_ptr_equal(got, end2);
    run(ready(world.graph), world.stream);
    OK(cuEventElapsedTime(&ms, begin, end2));
    assert_true(ms * 1e6 > 2 * FILL_NS - 2);
    INVALID(cuGraphEventWaitNodeGetEvent(record, &got));

    OK(cuGraphCreate(&world.graph, 0));
    OK(cuGraphAddEventWaitNode(&wait, world.graph, NULL, 0, begin));
    OK(cuGraphEventWaitNodeGetEvent(wait, &got));
    assert_ptr_equal(got, begin);
    behind = add_fill(&world, wait, world.va, 9, 4);
    OK(cuGraphEventWaitNodeSetEvent(wait, end));
    exec = ready(world.graph);
    OK(cuMemsetD32Async(world.va + MIB, 3, MIB / 4, world.other)); /* 2.2 us */
    OK(cuMemsetD32Async(world.va, 5, MIB / 4, world.other));
    OK(cuEventRecord(end, world.other));
    run(exec, world.stream);
    assert_int_equal(word_at(world.va), 9); /* behind the 5 */
    assert_int_equal(word_at(world.va + 16), 5);
    OK(cuGraphDestroyNode(behind));
    INVALID(cuGraphDestroyNode(behind));
}

/* Of an instance each node may be changed, and switched off and on; the graph stays what it was. */
static void test_instance(void)
{
    CUDA_MEMSET_NODE_PARAMS fill = {0}, other;
    CUDA_HOST_NODE_PARAMS host = {0};
    CUgraphNode call;
    int first = 0, second = 0;
    unsigned on = 7;
    World world;

    world_open(&world);
    CUgraphNode one = add_fill(&world, NULL, world.va, 1, 8), two = add_fill(&world, one, world.va + 16, 2, 8);
    const CUDA_HOST_NODE_PARAMS note = {host_note, &first}, note2 = {host_note, &second};
    OK(cuGraphAddHostNode(&call, world.graph, &two, 1, &note));
    CUgraphExec exec = ready(world.graph);
    run(exec, world.stream);
    assert_int_equal(word_at(world.va + 12), 1);
    assert_int_equal(word_at(world.va + 16), 2);
    assert_int_equal(word_at(world.va + 44), 2);
    assert_int_equal(word_at(world.va + 48), 0);
    assert_int_equal(first, 1);

    other = fill_of(world.va + 64, 5, 2);
    OK(cuGraphExecMemsetNodeSetParams(exec, two, &other, world.context));
    OK(cuGraphExecHostNodeSetParams(exec, call, &note2));
    OK(cuGraphNodeSetEnabled(exec, one, 0));
    OK(cuGraphNodeGetEnabled(exec, one, &on));
    assert_int_equal(on, 0);
    INVALID(cuGraphNodeSetEnabled(exec, call, 0));
    OK(cuMemsetD32(world.va, 0, 64));
    run(exec, world.stream);
    assert_int_equal(word_at(world.va), 0);
    assert_int_equal(word_at(world.va + 16), 0);
    assert_int_equal(word_at(world.va + 68), 5);
    assert_int_equal(word_at(world.va + 72), 0);
    assert_int_equal(first, 1);
    assert_int_equal(second, 1);
    OK(cuGraphMemsetNodeGetParams(two, &fill));
    assert_int_equal(fill.dst, world.va + 16);
    assert_int_equal(fill.value, 2);
    assert_int_equal(fill.width, 8);
    OK(cuGraphHostNodeGetParams(call, &host));
    assert_ptr_equal(host.userData, &first);

    /* what the graph says takes its place again, and what is off stays off */
    CUgraphExecUpdateResultInfo info;
    OK(cuGraphMemsetNodeSetParams(two, &other));
    OK(cuGraphHostNodeSetParams(call, &note));
    other = fill_of(world.va, 6, 1);
    OK(cuGraphMemsetNodeSetParams(one, &other));
    OK(cuGraphExecUpdate_v2(exec, world.graph, &info));
    assert_int_equal(info.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
    run(exec, world.stream);
    assert_int_equal(word_at(world.va), 0);
    assert_int_equal(first, 2);
    OK(cuGraphNodeSetEnabled(exec, one, 1));
    OK(cuGraphNodeGetEnabled(exec, one, &on));
    assert_int_equal(on, 1);
    run(exec, world.stream);
    assert_int_equal(word_at(world.va), 6);
    assert_int_equal(word_at(world.va + 4), 0);
    assert_int_equal(first, 3);
}

/* An instance takes only a graph of its shape: as many nodes, of the same types, behind the same ones. */
static void test_update(void)
{
    CUgraphExecUpdateResultInfo info;
    CUgraphNode node;
    World world;

    world_open(&world);
    CUgraphNode one = add_fill(&world, NULL, world.va, 1, 1);
    add_fill(&world, one, world.va, 2, 1);
    CUgraphExec exec = ready(world.graph);
    OK(cuGraphCreate(&world.graph, 0));
    one = add_fill(&world, NULL, world.va, 3, 1);
    EXPECT(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate_v2(exec, world.graph, &info));
    assert_int_equal(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    CUgraphNode two = add_fill(&world, NULL, world.va, 4, 1);
    EXPECT(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate_v2(exec, world.graph, &info));
    assert_int_equal(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    assert_ptr_equal(info.errorNode, two);
    OK(cuGraphDestroyNode(two));
    OK(cuGraphAddEmptyNode(&node, world.graph, &one, 1));
    EXPECT(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate_v2(exec, world.graph, &info));
    assert_int_equal(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
    assert_ptr_equal(info.errorNode, node);
    run(exec, world.stream);
    assert_int_equal(word_at(world.va), 2);
}

/* A graph in a graph is a copy of it, and so is a clone, whose nodes are found by those that they were. */
static void test_child_and_clone(void)
{
    CUgraph child, inside, clone;
    CUgraphNode node, found, copy;
    CUDA_MEMSET_NODE_PARAMS fill;
    World world;

    world_open(&world);
    CUgraphNode one = add_fill(&world, NULL, world.va, 1, 1);
    child = world.graph;
    OK(cuGraphClone(&clone, child));
    OK(cuGraphNodeFindInClone(&found, one, clone));
    const CUDA_MEMSET_NODE_PARAMS other = fill_of(world.va + 4, 8, 1);
    OK(cuGraphMemsetNodeSetParams(found, &other));
    OK(cuGraphMemsetNodeGetParams(one, &fill));
    assert_int_equal(fill.dst, world.va);
    OK(cuGraphCreate(&world.graph, 0));
    CUgraphNode first = add_fill(&world, NULL, world.va, 5, 4);
    OK(cuGraphAddChildGraphNode(&node, world.graph, &first, 1, child));
    OK(cuGraphChildGraphNodeGetGraph(node, &inside));
    assert_ptr_not_equal(inside, child);
    OK(cuGraphMemsetNodeSetParams(one, &other)); /* too late for it */
    run(ready(world.graph), world.stream);
    assert_int_equal(word_at(world.va), 1);
    assert_int_equal(word_at(world.va + 4), 5);
    run(ready(clone), world.stream);
    assert_int_equal(word_at(world.va + 4), 8);

    const CUDA_MEMCPY3D forth = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                 .srcDevice = world.va,
                                 .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                 .dstDevice = world.va + 64,
                                 .WidthInBytes = 8,
                                 .Height = 1,
                                 .Depth = 1};
    CUDA_MEMCPY3D back = forth, was;
    back.dstDevice = world.va + 128;
    OK(cuGraphCreate(&world.graph, 0));
    OK(cuGraphAddMemcpyNode(&copy, world.graph, NULL, 0, &forth, world.context));
    CUgraphExec exec = ready(world.graph);
    OK(cuGraphExecMemcpyNodeSetParams(exec, copy, &back, world.context));
    run(exec, world.stream);
    assert_int_equal(word_at(world.va + 64), 0);
    assert_int_equal(word_at(world.va + 132), 8);
    OK(cuGraphMemcpyNodeGetParams(copy, &was));
    assert_int_equal(was.dstDevice, world.va + 64);
    assert_int_equal(was.WidthInBytes, 8);
}

/* Nodes behind nothing run beside each other, and what is behind both waits for the longer one: two copies engines. */
static void test_branches(void)
{
    CUevent begin, end;
    CUgraphNode join;
    float ms;
    World world;

    world_open(&world);
    OK(cuEventCreate(&begin, 0));
    OK(cuEventCreate(&end, 0));
    CUgraphNode both[2] = {add_fill(&world, NULL, world.va, 1, MIB / 4), add_fill(&world, NULL, world.va + MIB, 2, 1)};
    OK(cuGraphAddEventRecordNode(&join, world.graph, both, 2, end));
    CUgraphExec exec = ready(world.graph);
    OK(cuEventRecord(begin, world.stream));
    run(exec, world.stream);
    OK(cuEventElapsedTime(&ms, begin, end));
    assert_true(ms * 1e6 > FILL_NS - 2 && ms * 1e6 < FILL_NS + 1250);
    assert_int_equal(word_at(world.va + MIB - 4), 1);
    assert_int_equal(word_at(world.va + MIB), 2);
}

int main(int argc, char **argv)
{
    static const CudaTest tests[] = {
        CUDA_TEST_ON("teach-4gpu", test_events, ""),   CUDA_TEST_ON("teach-4gpu", test_instance, ""),
        CUDA_TEST_ON("teach-4gpu", test_update, ""),   CUDA_TEST_ON("teach-4gpu", test_child_and_clone, ""),
        CUDA_TEST_ON("teach-4gpu", test_branches, ""), CUDA_TEST_END,
    };
    return cuda_test_main(tests, argc, argv);
}
