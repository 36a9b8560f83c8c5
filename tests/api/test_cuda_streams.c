/* Streams, events, copies, pools and host memory: order, simulated time, and what waits for what.
 */
#include "tests/api/cuda_test.h"

/* Event times are simulated: a copy of a known size takes what the host link takes, twice the same.
 */
static void test_event_times_are_simulated(void)
{
    CUevent a, b, c;
    CUdeviceptr va;
    float first, second;
    g_autofree void *data = g_malloc0(8 * MIB);

    start();
    use_device(0);
    OK(cuMemAlloc(&va, 8 * MIB));
    OK(cuEventCreate(&a, 0));
    OK(cuEventCreate(&b, 0));
    OK(cuEventCreate(&c, 0));
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&first, a, b)); /* never recorded */
    OK(cuEventRecord(a, NULL));
    OK(cuMemcpyHtoDAsync(va, data, 8 * MIB, NULL));
    OK(cuEventRecord(b, NULL));
    OK(cuMemcpyHtoDAsync(va, data, 8 * MIB, NULL));
    OK(cuEventRecord(c, NULL));
    EXPECT(CUDA_ERROR_NOT_READY, cuEventElapsedTime(&first, a, c));
    OK(cuEventSynchronize(c));
    OK(cuEventElapsedTime(&first, a, b));
    OK(cuEventElapsedTime(&second, b, c));
    assert_true(first > 0.1 && first < 0.3); /* 55 GB/s: 0.15 ms */
    assert_true(second > 0.99 * first && second < 1.01 * first);
}

/* Polling ends: each query lets time pass. */
static void test_queries_let_time_pass(void)
{
    CUdeviceptr va;
    CUstream stream;
    CUresult result;
    int n = 0;

    start();
    use_device(0);
    OK(cuMemAlloc(&va, 64 * MIB));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuMemsetD8Async(va, 1, 64 * MIB, stream));
    while ((result = cuStreamQuery(stream)) == CUDA_ERROR_NOT_READY)
        n++;
    OK(result);
    assert_true(n > 1 && n < 1000);
}

/* What asking about each of these, once, lets pass in all. */
static uint64_t round_ps(const CUstream *streams, int n, CUevent event)
{
    uint64_t before, after;

    OK(fo_now_ps(&before));
    for (int i = 0; i < n; i++)
        assert_int_equal(cuStreamQuery(streams[i]), CUDA_ERROR_NOT_READY);
    if (event)
        assert_int_equal(cuEventQuery(event), CUDA_ERROR_NOT_READY);
    OK(fo_now_ps(&after));
    return after - before;
}

/* A poller that goes round over eight streams and an event lets one quantum of 10 us pass a round, not nine, and one
 * that asks about the same stream again begins the next. */
static void test_a_round_of_queries_is_one_quantum(void)
{
    CUdeviceptr va;
    CUstream streams[8];
    CUevent event;

    start();
    use_device(0);
    OK(cuMemAlloc(&va, 512 * MIB));
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    for (int i = 0; i < 8; i++) {
        OK(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
        OK(cuMemsetD8Async(va + (CUdeviceptr)i * 64 * MIB, 1, 64 * MIB,
                           streams[i])); /* far more than all rounds here */
    }
    OK(cuEventRecord(event, streams[7]));
    assert_int_equal(round_ps(streams, 8, event), 10000000);
    assert_int_equal(round_ps(streams, 8, event), 10000000);
    assert_int_equal(round_ps(streams + 7, 1, NULL), 10000000);
    assert_int_equal(round_ps(streams, 7, NULL), 0); /* of the same round */
    assert_int_equal(round_ps(streams, 1, NULL), 10000000);
    OK(cuStreamQuery(CU_STREAM_PER_THREAD)); /* what is done already, too, costs nothing more */
    assert_int_equal(round_ps(streams + 1, 7, NULL), 0);
    for (int i = 0; i < 8; i++)
        OK(cuStreamSynchronize(streams[i]));
}

/* A stream waits for another's event; the legacy default stream for all blocking ones, and they for
 * it. */
static void test_streams_are_ordered(void)
{
    CUdeviceptr va;
    CUstream one, two;
    CUevent done;

    start();
    use_device(0);
    OK(cuMemAlloc(&va, 16 * MIB));
    OK(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&two, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&done, CU_EVENT_DISABLE_TIMING));
    OK(cuMemsetD32Async(va, 1, 4 * MIB, one)); /* long */
    OK(cuEventRecord(done, one));
    OK(cuStreamWaitEvent(two, done, 0));
    OK(cuMemsetD32Async(va, 2, 1, two)); /* short, but behind it */
    OK(cuStreamSynchronize(two));
    assert_int_equal(word_at(va), 2);
    OK(cuStreamCreate(&one, CU_STREAM_DEFAULT));
    OK(cuStreamCreate(&two, CU_STREAM_DEFAULT));
    OK(cuMemsetD32Async(va, 3, 4 * MIB, one));
    OK(cuMemsetD32Async(va, 4, 1, NULL));
    OK(cuMemsetD32Async(va, 5, 1, two));
    OK(cuStreamSynchronize(two));
    assert_int_equal(word_at(va), 5);
}

typedef struct {
    CUdeviceptr flag;
    CUcontext context;
} Setter;

static gpointer set_flag_later(gpointer data)
{
    Setter *s = data;
    CUstream stream;
    OK(cuCtxSetCurrent(s->context));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    g_usleep(100000);
    OK(cuStreamWriteValue32(stream, s->flag, 7, 0));
    return NULL;
}

/* Work that waits for a flag which another host thread sets later: legal, and it ends. */
static void test_threads_whose_work_waits_for_each_other(void)
{
    Setter s;
    CUstream stream;

    start();
    use_device(0);
    OK(cuCtxGetCurrent(&s.context));
    OK(cuMemAlloc(&s.flag, 4096));
    OK(cuMemsetD32(s.flag, 0, 1));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamWaitValue32(stream, s.flag, 7, CU_STREAM_WAIT_VALUE_EQ));
    GThread *thread = g_thread_new("setter", set_flag_later, &s);
    OK(cuStreamSynchronize(stream));
    g_thread_join(thread);
    assert_int_equal(word_at(s.flag), 7);
}

/* Nobody is left to set the flag: the wait ends with an error instead of hanging. */
static void test_stuck_is_an_answer(void)
{
    CUdeviceptr flag;
    CUstream stream;

    start();
    use_device(0);
    OK(cuMemAlloc(&flag, 4096));
    OK(cuMemsetD32(flag, 0, 1));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamWaitValue32(stream, flag, 7, CU_STREAM_WAIT_VALUE_EQ));
    EXPECT(CUDA_ERROR_LAUNCH_TIMEOUT, cuStreamSynchronize(stream));
}

static void note(void *user) { g_atomic_int_inc((gint *)user); }

/* Host functions run in their stream's order. */
static void test_host_functions(void)
{
    CUdeviceptr va;
    gint n = 0;

    start();
    use_device(0);
    OK(cuMemAlloc(&va, MIB));
    OK(cuMemsetD8Async(va, 1, MIB, NULL));
    OK(cuLaunchHostFunc(NULL, note, &n));
    OK(cuMemsetD8Async(va, 2, MIB, NULL));
    OK(cuLaunchHostFunc(NULL, note, &n));
    OK(cuCtxSynchronize());
    assert_int_equal(g_atomic_int_get(&n), 2);
    assert_int_equal(word_at(va), 0x02020202);
}

/* Pageable memory may change after the call; pinned memory is read and written in place. */
static void test_host_memory(void)
{
    CUdeviceptr va;
    guint32 word = 5, *pinned;
    unsigned flags;

    start();
    use_device(0);
    OK(cuMemAlloc(&va, 4096));
    OK(cuMemcpyHtoDAsync(va, &word, sizeof word, NULL));
    word = 6;
    OK(cuCtxSynchronize());
    assert_int_equal(word_at(va), 5);
    OK(cuMemHostAlloc((void **)&pinned, 4096, 0));
    OK(cuMemHostGetFlags(&flags, pinned));
    assert_int_equal(flags, CU_MEMHOSTALLOC_DEVICEMAP);
    pinned[3] = 99;
    OK(cuMemcpyHtoD(va, pinned + 3, 4));
    assert_int_equal(word_at(va), 99);
    OK(cuMemsetD32((CUdeviceptr)(uintptr_t)pinned, 8, 2));
    assert_int_equal(pinned[1], 8);
    INVALID(cuMemHostUnregister(pinned));
    OK(cuMemFreeHost(pinned));
    INVALID(cuMemFreeHost(pinned));
    INVALID(cuMemcpyHtoD(va, (void *)16, 4)); /* a bad host address is an answer, not a crash */
    INVALID(cuMemcpyDtoH((void *)16, va, 4));
    assert_int_equal(word_at(va), 99);
}

/* Registered memory: covered once, told apart from allocated memory. */
static void test_registered_memory(void)
{
    g_autofree guint8 *memory = g_malloc0(65536);

    start();
    use_device(0);
    OK(cuMemHostRegister(memory + 5, 8192, 0));
    EXPECT(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister(memory + 100, 16, 0));
    EXPECT(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(memory + 20000));
    OK(cuMemHostUnregister(memory + 5));
    EXPECT(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(memory + 5));
}

/* Pools: counters, stream-ordered frees, use after free. */
static void test_pools(void)
{
    CUmemoryPool pool, own;
    CUdeviceptr a, b;
    cuuint64_t used;
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 1}};

    start();
    use_device(0);
    OK(cuDeviceGetDefaultMemPool(&pool, 0));
    OK(cuMemAllocAsync(&a, 3 * MIB, NULL));
    OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    assert_int_equal(used, 3 * MIB);
    OK(cuMemsetD8Async(a, 1, 3 * MIB, NULL));
    OK(cuMemFreeAsync(a, NULL));
    INVALID(cuMemsetD8(a, 1, 1));
    INVALID(cuMemFreeAsync(a, NULL));
    OK(cuCtxSynchronize());
    OK(cuMemPoolTrimTo(pool, 0));
    OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    assert_int_equal(used, 0);
    OK(cuMemPoolCreate(&own, &props));
    OK(cuMemAllocFromPoolAsync(&b, MIB, own, NULL));
    OK(cuMemFree(b));
    OK(cuMemPoolDestroy(own));
    INVALID(cuMemAllocFromPoolAsync(&b, MIB, own, NULL));
    INVALID(cuMemPoolDestroy(pool)); /* a default pool stays */
}

/* Small allocations share memory, large ones have their own; both come back. */
static void test_allocations(void)
{
    CUdeviceptr va[2000];
    size_t before, after, total;

    start();
    use_device(0);
    OK(cuMemGetInfo(&before, &total));
    for (gsize i = 0; i < G_N_ELEMENTS(va); i++) {
        OK(cuMemAlloc(&va[i], 1 + i * 97 % 5000));
        assert_int_equal(va[i] % 256, 0);
    }
    for (gsize i = 0; i < G_N_ELEMENTS(va); i++)
        OK(cuMemFree(va[i]));
    INVALID(cuMemFree(va[0]));
    OK(cuMemGetInfo(&after, &total));
    assert_int_equal(before, after);
    INVALID(cuMemAlloc(&va[0], 0));
    EXPECT(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&va[0], (size_t)1 << 40));
}

/* Copies from GPU to GPU cross the fabric and take its time; two-dimensional ones keep to their
 * rows. */
static void test_peer_and_2d_copies(void)
{
    CUdeviceptr a, b;
    guint8 out[64] = {0};

    start();
    use_device(1);
    OK(cuMemAlloc(&b, 4 * MIB));
    use_device(0);
    OK(cuMemAlloc(&a, 4 * MIB));
    OK(cuMemsetD8(a, 9, 4 * MIB));
    OK(cuMemcpyDtoD(b, a, 4 * MIB));
    assert_int_equal(word_at(b + 4 * MIB - 4), 0x09090909);
    OK(cuMemsetD2D8(b, 16, 7, 4, 4));
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = b,
                          .srcPitch = 16,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = out,
                          .dstPitch = 8,
                          .WidthInBytes = 6,
                          .Height = 4};
    OK(cuMemcpy2D(&copy));
    for (int row = 0; row < 4; row++)
        for (int x = 0; x < 8; x++)
            assert_int_equal(out[row * 8 + x], x < 4 ? 7 : x < 6 ? 9 : 0);
}

/* With the knob, calls take the simulated time that they took a real driver. */
static void test_host_cost(void)
{
    uint64_t before, after;
    CUmemAllocationProp prop = memory_prop(CU_MEM_LOCATION_TYPE_DEVICE, 0, 0);
    Handle handle;

    start();
    OK(fo_now_ps(&before));
    OK(cuMemCreate(&handle, GRAIN, &prop, 0));
    OK(fo_now_ps(&after));
    assert_int_equal(after - before, 5470000);
    OK(cuMemRelease(handle));
    OK(fo_now_ps(&after));
    assert_int_equal(after - before, 5470000 + 8200000);
}

/* With the knob, each wait ends up to so much later, by a random stream of its rank: a hundred waits for nothing take
 * half of a hundred times the most, to within four standard deviations (2.89 us each), and never the same. */
static void test_rank_skew(void)
{
    uint64_t before, after, least = UINT64_MAX, most = 0, all = 0;

    start();
    use_device(0);
    for (int i = 0; i < 100; i++) {
        OK(fo_now_ps(&before));
        OK(cuStreamSynchronize(NULL));
        OK(fo_now_ps(&after));
        uint64_t took = after - before;
        least = took < least ? took : least;
        most = took > most ? took : most;
        all += took;
    }
    assert_true(most <= 10000000 && least < 1000000 && most > 9000000);
    assert_true(all > 500000000 - 4 * 28900000 && all < 500000000 + 4 * 28900000);
}

/* Batches: words that streams write and wait for, and copies to several places, also to a multicast
 * address. All or nothing. */
static void test_batches(void)
{
    Handle object, mem[2];
    CUdeviceptr va[2], words;
    CUstream stream;
    CUstreamBatchMemOpParams ops[3];

    start();
    CUdeviceptr mc = bound_team(2, GRAIN, &object, mem, va);
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuMemAlloc(&words, 4096));
    OK(cuMemsetD32(words, 0, 1024));
    memset(ops, 0, sizeof ops);
    ops[0].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    ops[0].writeValue.address = words;
    ops[0].writeValue.value = 5;
    ops[1].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    ops[1].waitValue.address = words;
    ops[1].waitValue.value = 5;
    ops[1].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
    ops[2].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
    ops[2].writeValue.address = words + 8;
    ops[2].writeValue.value64 = 6;
    OK(cuStreamBatchMemOp(stream, 3, ops, 0));
    OK(cuStreamSynchronize(stream));
    assert_int_equal(word_at(words + 8), 6);
    ops[0].writeValue.value = 7;
    ops[2].writeValue.address = mc; /* not for words of streams */
    INVALID(cuStreamBatchMemOp(stream, 3, ops, 0));
    INVALID(cuStreamBatchMemOp(stream, 257, ops, 0));
    OK(cuStreamSynchronize(stream));
    assert_int_equal(word_at(words), 5);

    CUdeviceptr to[2] = {mc, words + 64}, from[2] = {words, words + 8};
    size_t bytes[2] = {64, 4}, first[1] = {0};
    CUmemcpyAttributes how = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    OK(cuMemcpyBatchAsync(to, from, bytes, 2, &how, first, 1, stream));
    OK(cuStreamSynchronize(stream));
    for (int i = 0; i < 2; i++)
        assert_int_equal(word_at(va[i]), 5);
    assert_int_equal(word_at(words + 64), 6);
    INVALID(cuMemcpyBatchAsync(to, from, bytes, 2, &how, first, 1, NULL));
    how.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_INVALID;
    INVALID(cuMemcpyBatchAsync(to, from, bytes, 2, &how, first, 1, stream));
}

/* A host function by its newest name; a stream's context, with no green one. */
static void test_newer_names(void)
{
    CUcontext context, current;
    CUgreenCtx green = (CUgreenCtx)&context;
    CUstream stream;
    gint n = 0;

    start();
    use_device(0);
    OK(cuStreamCreate(&stream, 0));
    OK(cuLaunchHostFunc_v2(stream, note, &n, 1));
    INVALID(cuLaunchHostFunc_v2(stream, note, &n, 2));
    OK(cuStreamSynchronize(stream));
    assert_int_equal(n, 1);
    OK(cuStreamGetCtx_v2(stream, &context, &green));
    OK(cuCtxGetCurrent(&current));
    assert_true(context == current && !green);
}

/* The launch of a graph returns at once, also where a node copies to memory that the host has not pinned: what the
 * stream waits for comes only after it. */
static void test_a_graph_is_not_waited_for(void)
{
    CUdeviceptr from, flag;
    CUstream stream;
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec ready;
    guint8 to[64] = {0};

    start();
    use_device(0);
    OK(cuMemAlloc(&from, MIB));
    OK(cuMemAlloc(&flag, MIB));
    OK(cuMemsetD32(flag, 0, 1));
    OK(cuMemsetD8(from, 7, sizeof to));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    const CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = from,
                                .dstMemoryType = CU_MEMORYTYPE_HOST,
                                .dstHost = to,
                                .WidthInBytes = sizeof to,
                                .Height = 1,
                                .Depth = 1};
    CUcontext context;
    OK(cuCtxGetCurrent(&context));
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, context));
    OK(cuGraphInstantiateWithFlags(&ready, graph, 0));
    OK(cuStreamWaitValue32(stream, flag, 1, CU_STREAM_WAIT_VALUE_EQ));
    OK(cuGraphLaunch(ready, stream));
    assert_int_equal(to[63], 0);
    OK(cuMemsetD32Async(flag, 1, 1, CU_STREAM_PER_THREAD));
    OK(cuStreamSynchronize(stream));
    assert_int_equal(to[0], 7);
    assert_int_equal(to[63], 7);
}

int main(int argc, char **argv)
{
    static const CudaTest tests[] = {
        CUDA_TEST(test_event_times_are_simulated, ""),
        CUDA_TEST(test_queries_let_time_pass, "cuda.query_quantum_ns=10000"),
        CUDA_TEST(test_a_round_of_queries_is_one_quantum, "cuda.query_quantum_ns=10000"),
        CUDA_TEST(test_streams_are_ordered, ""),
        CUDA_TEST(test_threads_whose_work_waits_for_each_other, ""),
        CUDA_TEST(test_stuck_is_an_answer, ""),
        CUDA_TEST(test_host_functions, ""),
        CUDA_TEST(test_host_memory, ""),
        CUDA_TEST(test_registered_memory, ""),
        CUDA_TEST(test_pools, ""),
        CUDA_TEST(test_allocations, ""),
        CUDA_TEST(test_peer_and_2d_copies, ""),
        CUDA_TEST(test_host_cost, "cuda.host_cost=true"),
        CUDA_TEST(test_rank_skew, "cuda.rank_skew_us=10"),
        CUDA_TEST(test_batches, ""),
        CUDA_TEST(test_newer_names, ""),
        CUDA_TEST(test_a_graph_is_not_waited_for, ""),
        CUDA_TEST_END,
    };
    return cuda_test_main(tests, argc, argv);
}
