/* What CUDA 13.3 to 13.5 brought beside endpoints: nodes of any type with their contexts, fabric copies in graphs,
 * recaptures, where memory is, classes of tensor maps. A test for each sentence of the pages that can be seen. */
#include "tests/api/endpoint_test.h"

static CUgraphNodeParams fabric_params(CUDA_FABRIC_COPY_BATCH_OP *list, size_t n)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_FABRIC_CPY_BATCH};
    params.fabricCpyBatch.numOps = n;
    params.fabricCpyBatch.opList = list;
    return params;
}

typedef struct {
    Id id;
    CUdeviceptr va; /* of its memory, on device 1 */
    CUstream stream;
} World;

static void world_open(World *world)
{
    start();
    world->id = ready_unicast(1, GRAIN);
    Handle mem = memory(1, GRAIN, 0);
    world->va = mapped(mem, GRAIN, 1);
    OK(bind_memory(world->id, 1, 0, mem, 0, GRAIN));
    use_device(0);
    OK(cuStreamCreate(&world->stream, CU_STREAM_NON_BLOCKING));
}

static guint32 far_word(const World *world, size_t at)
{
    use_device(1);
    guint32 word = word_at(world->va + at);
    use_device(0);
    return word;
}

/* A node of fabric copies does them at each launch, with what host memory holds then. */
static void test_fabric_node(void)
{
    guint32 word[2] = {5, 6};
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode node = NULL;
    World world;

    world_open(&world);
    CUDA_FABRIC_COPY_BATCH_OP list[2] = {
        {.src = pointer((CUdeviceptr)(gsize)&word[0]), .dst = endpoint(world.id, 0), .size = 4},
        {.src = pointer((CUdeviceptr)(gsize)&word[1]), .dst = endpoint(world.id, 256), .size = 4}};
    CUgraphNodeParams params = fabric_params(list, 2);
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddNode_v3(&node, graph, NULL, NULL, 0, &params));
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphLaunch(exec, world.stream));
    OK(cuStreamSynchronize(world.stream));
    assert_int_equal(far_word(&world, 0), 5);
    assert_int_equal(far_word(&world, 256), 6);
    word[1] = 77;
    OK(cuGraphLaunch(exec, world.stream));
    OK(cuStreamSynchronize(world.stream));
    assert_int_equal(far_word(&world, 256), 77);
}

/* What a batch refuses a node refuses, too; of an instance the number of copies, identifiers and kinds of operands
 * stay, and the rest may change. */
static void test_fabric_node_params(void)
{
    guint32 word[2] = {5, 6};
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode node = NULL;
    World world;

    world_open(&world);
    Id other = ready_unicast(1, GRAIN);
    CUDA_FABRIC_COPY_BATCH_OP list[2] = {
        {.src = pointer((CUdeviceptr)(gsize)&word[0]), .dst = endpoint(world.id, 0), .size = 4},
        {.src = pointer((CUdeviceptr)(gsize)&word[1]), .dst = endpoint(world.id, 256), .size = 4}};
    CUgraphNodeParams params = fabric_params(list, 2), none = fabric_params(list, 0);
    OK(cuGraphCreate(&graph, 0));
    INVALID(cuGraphAddNode_v3(&node, graph, NULL, NULL, 0, &none));
    list[0].flags = 1;
    INVALID(cuGraphAddNode_v3(&node, graph, NULL, NULL, 0, &params));
    assert_null(node);
    list[0].flags = 0;
    OK(cuGraphAddNode_v3(&node, graph, NULL, NULL, 0, &params));
    list[0].dst.op.le.id = other;
    OK(cuGraphNodeSetParams_v2(node, &params)); /* of a graph anything */
    list[0].dst.op.le.id = world.id;
    OK(cuGraphNodeSetParams_v2(node, &params));
    OK(cuGraphInstantiate(&exec, graph, 0));
    list[0].dst.op.le.id = other;
    INVALID(cuGraphExecNodeSetParams(exec, node, &params));
    list[0].dst = pointer((CUdeviceptr)(gsize)&word[0]);
    INVALID(cuGraphExecNodeSetParams(exec, node, &params));
    list[0].dst = endpoint(world.id, 512);
    params.fabricCpyBatch.numOps = 1;
    INVALID(cuGraphExecNodeSetParams(exec, node, &params));
    params.fabricCpyBatch.numOps = 2;
    OK(cuGraphExecNodeSetParams(exec, node, &params));
    OK(cuGraphLaunch(exec, world.stream));
    OK(cuStreamSynchronize(world.stream));
    assert_int_equal(far_word(&world, 0), 0);
    assert_int_equal(far_word(&world, 512), 5);
}

/* A batch in a stream that captures becomes nodes, and runs when the graph does. */
static void test_fabric_capture(void)
{
    guint32 word = 5;
    CUgraphNode nodes[2];
    CUgraphNodeType type;
    CUgraph graph;
    CUgraphExec exec;
    size_t n = 2;
    World world;

    world_open(&world);
    OK(cuStreamBeginCapture(world.stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(fabric_copy(endpoint(world.id, 0), pointer((CUdeviceptr)(gsize)&word), 4, world.stream));
    OK(cuStreamEndCapture(world.stream, &graph));
    OK(cuGraphGetNodes(graph, nodes, &n));
    assert_int_equal(n, 1);
    OK(cuGraphNodeGetType(nodes[0], &type));
    assert_int_equal(type, CU_GRAPH_NODE_TYPE_FABRIC_CPY_BATCH);
    assert_int_equal(far_word(&world, 0), 0);
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphLaunch(exec, world.stream));
    OK(cuStreamSynchronize(world.stream));
    assert_int_equal(far_word(&world, 0), 5);
}

static const char image[] = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n ret;\n}\n";

/* A kernel's context is of the device that its function was loaded on, when it is added and when it is changed. */
static void test_kernel_context(void)
{
    CUcontext context[2];
    CUgraphNode node = NULL;
    CUfunction function;
    CUmodule module;
    CUgraph graph;

    start();
    for (int i = 1; i >= 0; i--) {
        OK(cuDevicePrimaryCtxRetain(&context[i], i));
        OK(cuCtxSetCurrent(context[i]));
    }
    OK(cuModuleLoadData(&module, image));
    OK(cuModuleGetFunction(&function, module, "k"));
    OK(cuGraphCreate(&graph, 0));
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
    params.kernel.func = function;
    params.kernel.gridDimX = params.kernel.gridDimY = params.kernel.gridDimZ = 1;
    params.kernel.blockDimX = params.kernel.blockDimY = params.kernel.blockDimZ = 1;
    params.kernel.ctx = context[1];
    EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuGraphAddNode_v3(&node, graph, NULL, NULL, 0, &params));
    assert_null(node);
    params.kernel.ctx = context[0];
    OK(cuGraphAddNode_v3(&node, graph, NULL, NULL, 0, &params));
    params.kernel.ctx = NULL;
    OK(cuGraphNodeSetParams_v2(node, &params));
    params.kernel.ctx = context[1];
    EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuGraphNodeSetParams_v2(node, &params));
    INVALID(cuGraphNodeSetParams_v2(node, NULL));
    params.type = CU_GRAPH_NODE_TYPE_EMPTY;
    INVALID(cuGraphNodeSetParams_v2(node, &params)); /* of another type than the node's */
    params.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
    EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuGraphAddNode_v3(&node, graph, NULL, NULL, 0, &params));
}

/* One entry for each stretch, the last one shorter; managed memory is at its device, pageable memory at the host. */
static void test_location(void)
{
    CUmemLocation at[5];
    CUdeviceptr va, other;
    void *pinned, *pageable = g_malloc0(65536);

    start();
    use_device(3);
    OK(cuMemAllocManaged(&va, 9 * MIB, CU_MEM_ATTACH_GLOBAL));
    OK(cuMemAlloc(&other, MIB));
    OK(cuMemAllocHost(&pinned, 65536));
    memset(at, 0x5a, sizeof at);
    OK(cuMemGetLocationInfo(va, 9 * MIB, 4 * MIB, 2 * MIB, at));
    for (int i = 0; i < 3; i++)
        assert_true(at[i].type == CU_MEM_LOCATION_TYPE_DEVICE && at[i].id == 3);
    assert_int_equal(at[3].id, 0x5a5a5a5a); /* nothing beyond the last stretch */
    OK(cuMemGetLocationInfo(va + MIB, MIB, MIB, 0, at));
    OK(cuMemGetLocationInfo((CUdeviceptr)(gsize)pageable, 65536, 65536, 4096, at));
    assert_true(at[0].type == CU_MEM_LOCATION_TYPE_HOST && at[0].id == 0);
    INVALID(cuMemGetLocationInfo(va, 9 * MIB, 0, 0, at));
    INVALID(cuMemGetLocationInfo(va, 9 * MIB, 10 * MIB, 0, at));
    INVALID(cuMemGetLocationInfo(va, 9 * MIB, MIB, 2 * MIB, at));
    INVALID(cuMemGetLocationInfo(va, 9 * MIB, MIB, 0, NULL));
    INVALID(cuMemGetLocationInfo(va, 0, 0, 0, at));
    INVALID(cuMemGetLocationInfo(va + MIB, 9 * MIB, MIB, 0, at)); /* beyond the allocation */
    INVALID(cuMemGetLocationInfo(other, MIB, MIB, 0, at));        /* not managed */
    INVALID(cuMemGetLocationInfo((CUdeviceptr)(gsize)pinned, 4096, 4096, 0, at));
    INVALID(cuMemGetLocationInfo(0, 4096, 4096, 0, at));
    INVALID(cuMemGetLocationInfo(4096, 4096, 4096, 0, at)); /* nothing is there */
    OK(cuMemHostRegister(pageable, 65536, 0));
    INVALID(cuMemGetLocationInfo((CUdeviceptr)(gsize)pageable, 4096, 4096, 0, at)); /* registered */
    g_free(pageable);
}

/* A class of a tensor map changes nothing, and the one in effect is the small one, also on errors. */
static void test_tensor_class(void)
{
    static const cuuint64_t dim[1] = {256};
    static const cuuint32_t box[1] = {64}, element[1] = {1};
    CUtensorMapAllocClass got = CU_TENSOR_MAP_ALLOC_CLASS_LARGE;
    CUtensorMap map, before;
    CUdeviceptr va;

    start();
    EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuTensorMapSetAllocationClass(&map, CU_TENSOR_MAP_ALLOC_CLASS_SMALL, NULL));
    use_device(0);
    OK(cuMemAlloc(&va, 4096));
    OK(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 1, (void *)va, dim, NULL, box, element,
                              CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                              CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    before = map;
    for (int wanted = 0; wanted <= 2; wanted++) {
        got = CU_TENSOR_MAP_ALLOC_CLASS_LARGE;
        OK(cuTensorMapSetAllocationClass(&map, (CUtensorMapAllocClass)wanted, &got));
        assert_int_equal(got, CU_TENSOR_MAP_ALLOC_CLASS_SMALL);
        OK(cuTensorMapSetAllocationClass(&map, (CUtensorMapAllocClass)wanted, NULL));
    }
    got = CU_TENSOR_MAP_ALLOC_CLASS_LARGE;
    INVALID(cuTensorMapSetAllocationClass(&map, (CUtensorMapAllocClass)3, &got));
    assert_int_equal(got, CU_TENSOR_MAP_ALLOC_CLASS_SMALL);
    assert_memory_equal(&map, &before, sizeof map);
    INVALID(cuTensorMapSetAllocationClass(NULL, CU_TENSOR_MAP_ALLOC_CLASS_AUTO, &got));
    memset(&map, 0, sizeof map);
    INVALID(cuTensorMapSetAllocationClass(&map, CU_TENSOR_MAP_ALLOC_CLASS_AUTO, &got)); /* no tensor map */
}

typedef struct {
    int calls, answer;
    CUgraphNode node;
    CUgraphNodeParams was, is;
    CUgraphRecaptureStatus status;
} Heard;

static CUresult hear_mismatch(void *user, CUgraphNode node, const CUgraphNodeParams *was, const CUgraphNodeParams *is,
                              CUgraphRecaptureStatus status)
{
    Heard *heard = user;
    int version;

    OK(cuDriverGetVersion(&version)); /* it may call the driver */
    OK(cuCtxGetDevice(&version));
    heard->calls++;
    heard->node = node;
    heard->was = *was;
    heard->is = *is;
    heard->status = status;
    return (CUresult)heard->answer;
}

/* Fills of 64 bytes: of the first words with that value, if it is asked for of the second, too. */
static void capture_fills(CUdeviceptr va, unsigned first, unsigned second, CUstream stream)
{
    OK(cuMemsetD32Async(va, first, 16, stream));
    OK(cuMemsetD32Async(va + 64, second, 16, stream));
}

/* A recapture of the same nodes gives the same graph with the parameters of now; the program hears of each difference,
 * and of nothing else. */
static void test_recapture(void)
{
    Heard heard = {.answer = CUDA_SUCCESS};
    CUgraph graph, again = NULL;
    CUgraphNode node[2];
    CUgraphExec exec;
    CUdeviceptr va;
    CUstream stream;
    size_t n = 2;

    start();
    use_device(0);
    OK(cuMemAlloc(&va, 4096));
    OK(cuMemsetD32(va, 0, 1024));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    capture_fills(va, 1, 2, stream);
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphGetNodes(graph, node, &n));
    INVALID(cuStreamBeginRecaptureToGraph(stream, CU_STREAM_CAPTURE_MODE_GLOBAL, NULL, NULL, NULL));
    OK(cuStreamBeginRecaptureToGraph(stream, CU_STREAM_CAPTURE_MODE_GLOBAL, graph, hear_mismatch, &heard));
    capture_fills(va, 1, 2, stream);
    OK(cuStreamEndCapture(stream, &again));
    assert_ptr_equal(again, graph);
    assert_int_equal(heard.calls, 0);
    OK(cuStreamBeginRecaptureToGraph(stream, CU_STREAM_CAPTURE_MODE_GLOBAL, graph, hear_mismatch, &heard));
    capture_fills(va, 1, 77, stream);
    OK(cuStreamEndCapture(stream, &again));
    assert_int_equal(heard.calls, 1);
    assert_ptr_equal(heard.node, node[1]);
    assert_int_equal(heard.status, CU_GRAPH_RECAPTURE_ELIGIBLE_FOR_UPDATE);
    assert_int_equal(heard.was.memset.value, 2);
    assert_int_equal(heard.is.memset.value, 77);
    CUcontext context;
    OK(cuStreamGetCtx(stream, &context)); /* what is captured is of that */
    assert_ptr_equal(heard.was.memset.ctx, context);
    assert_ptr_equal(heard.is.memset.ctx, context);
    assert_int_equal(word_at(va + 64), 0); /* nothing has run */
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    assert_int_equal(word_at(va), 1);
    assert_int_equal(word_at(va + 124), 77);
}

/* It fails at once where the topology differs, or the program says so; at its end where nodes are missing. The graph is
 * then as it was. */
static void test_recapture_fails(void)
{
    Heard heard = {.answer = CUDA_ERROR_UNKNOWN};
    CUgraph graph, again = NULL;
    CUgraphExec exec;
    CUdeviceptr va;
    CUstream stream;
    CUresult failure = CUDA_ERROR_GRAPH_RECAPTURE_FAILURE;

    start();
    use_device(0);
    OK(cuMemAlloc(&va, 4096));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    capture_fills(va, 1, 2, stream);
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuStreamBeginRecaptureToGraph(stream, CU_STREAM_CAPTURE_MODE_GLOBAL, graph, NULL, NULL));
    EXPECT(failure, cuMemcpyDtoDAsync(va + 128, va, 64, stream)); /* another type of node */
    EXPECT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &again));
    OK(cuStreamBeginRecaptureToGraph(stream, CU_STREAM_CAPTURE_MODE_GLOBAL, graph, NULL, NULL));
    capture_fills(va, 3, 4, stream);
    EXPECT(failure, cuMemsetD32Async(va, 5, 16, stream)); /* one more */
    EXPECT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &again));
    OK(cuStreamBeginRecaptureToGraph(stream, CU_STREAM_CAPTURE_MODE_GLOBAL, graph, NULL, NULL));
    OK(cuMemsetD32Async(va, 3, 16, stream));
    EXPECT(failure, cuStreamEndCapture(stream, &again)); /* one fewer */
    assert_null(again);
    OK(cuStreamBeginRecaptureToGraph(stream, CU_STREAM_CAPTURE_MODE_GLOBAL, graph, hear_mismatch, &heard));
    EXPECT(failure, cuMemsetD32Async(va, 3, 16, stream)); /* the program says no */
    assert_int_equal(heard.calls, 1);
    EXPECT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &again));
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    assert_int_equal(word_at(va), 1);
    assert_int_equal(word_at(va + 64), 2);
}

/* No process is checkpointed here: the call that ends one says so, from the version on that brought it. */
static void test_checkpoint(void)
{
    CUresult (*complete)(void *operation) = NULL;

    start();
    OK(cuGetProcAddress("cuCheckpointOperationComplete", (void **)(gpointer)&complete, 13040, 0, NULL));
    assert_non_null(complete);
    EXPECT(CUDA_ERROR_NOT_SUPPORTED, complete(NULL));
    (void)cuGetProcAddress("cuCheckpointOperationComplete", (void **)(gpointer)&complete, 13030, 0, NULL);
    assert_null(complete);
}

int main(int argc, char **argv)
{
    static const CudaTest tests[] = {
        CUDA_TEST(test_fabric_node, ENDPOINTS),
        CUDA_TEST(test_fabric_node_params, ENDPOINTS),
        CUDA_TEST(test_fabric_capture, ENDPOINTS),
        CUDA_TEST(test_kernel_context, "cuda.driver_version=13050"),
        CUDA_TEST(test_location, "cuda.driver_version=13050"),
        CUDA_TEST(test_recapture, "cuda.driver_version=13050"),
        CUDA_TEST(test_recapture_fails, "cuda.driver_version=13050"),
        CUDA_TEST(test_checkpoint, "cuda.driver_version=13050"),
        CUDA_TEST(test_tensor_class, "cuda.driver_version=13050"),
        CUDA_TEST_END,
    };
    return cuda_test_main(tests, argc, argv);
}
