/* Memory of logical endpoints, the pages of the driver of 13.5 sentence by sentence: binds, unbinding, copies. */
#include "tests/api/endpoint_test.h"

/* Offsets, sizes and the place in memory are multiples of the alignment, and stay within both. */
static void test_sizes(void)
{
    start();
    Id id = ready_unicast(1, 4 * GRAIN);
    Handle mem = memory(1, 4 * GRAIN, 0);
    INVALID(bind_memory(id, 1, 0, mem, 0, 0));
    INVALID(bind_memory(id, 1, 0, mem, 0, GRAIN / 2));
    INVALID(bind_memory(id, 1, GRAIN / 2, mem, 0, GRAIN));
    INVALID(bind_memory(id, 1, 0, mem, GRAIN / 2, GRAIN));
    INVALID(bind_memory(id, 1, 0, mem, GRAIN, 4 * GRAIN));
    INVALID(bind_memory(id, 1, GRAIN, mem, 0, 4 * GRAIN));
    INVALID(bind_memory(id, 1, 4 * GRAIN, mem, 0, GRAIN));
    INVALID(bind_memory(id, 1, ~(size_t)0 - GRAIN + 1, mem, 0, GRAIN));
    INVALID(bind_memory(id, 1, 0, mem, ~(size_t)0 - GRAIN + 1, GRAIN));
    INVALID(cuLogicalEndpointBindMem(id, 1, 0, mem, 0, GRAIN, 1)); /* flags */
    INVALID(bind_memory(id, 1, 0, mem + 1, 0, GRAIN));             /* no such handle */
    INVALID(bind_memory(id + 1, 1, 0, mem, 0, GRAIN));             /* no such endpoint */
    INVALID(bind_memory(id, 8, 0, mem, 0, GRAIN));                 /* no such device */
    INVALID(bind_memory(id, 0, 0, mem, 0, GRAIN));                 /* not the owner */
    OK(bind_memory(id, 1, 0, mem, 2 * GRAIN, 2 * GRAIN));
    OK(bind_memory(id, 1, 2 * GRAIN, mem, 0, 2 * GRAIN));
    INVALID(bind_memory(id, 1, GRAIN, mem, 0, GRAIN)); /* over another */
}

/* By address: of cuMemMap or cuMemAllocAsync, in one mapping, on the alignment. */
static void test_addresses(void)
{
    CUdeviceptr pool = 0, alloc = 0;

    start();
    use_device(1);
    Id id = ready_unicast(1, 8 * GRAIN);
    Handle mem = memory(1, 2 * GRAIN, 0);
    CUdeviceptr va = mapped(mem, 2 * GRAIN, 1);
    INVALID(cuLogicalEndpointBindAddr(id, 1, 0, NULL, GRAIN, 0));
    INVALID(cuLogicalEndpointBindAddr(id, 1, 0, (void *)(va + 4096), GRAIN, 0));
    INVALID(cuLogicalEndpointBindAddr(id, 1, 0, (void *)(va + GRAIN), 2 * GRAIN, 0));
    INVALID(cuLogicalEndpointBindAddr(id, 1, 0, (void *)va, GRAIN, 1));
    INVALID(cuLogicalEndpointBindAddr(id, 2, 0, (void *)va, GRAIN, 0));
    OK(cuMemAlloc(&alloc, 4 * GRAIN));
    INVALID(cuLogicalEndpointBindAddr(id, 1, 0, (void *)((alloc + GRAIN - 1) / GRAIN * GRAIN), GRAIN, 0));
    OK(cuLogicalEndpointBindAddr(id, 1, 0, (void *)(va + GRAIN), GRAIN, 0));
    OK(cuMemAllocAsync(&pool, GRAIN, NULL));
    OK(cuLogicalEndpointBindAddr(id, 1, GRAIN, (void *)pool, GRAIN, 0));
}

/* Memory is the device's own, or the host's next to it. */
static void test_location(void)
{
    CUmemAllocationProp near = memory_prop(CU_MEM_LOCATION_TYPE_HOST_NUMA, 0, 0), far = near;
    Handle close_by = 0, far_off = 0;
    int node = -1;

    start();
    OK(cuDeviceGetAttribute(&node, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, 0));
    near.location.id = node;
    far.location.id = 1 - node;
    Id id = ready_unicast(0, 4 * GRAIN), team = full_multicast(2, 4 * GRAIN);
    OK(cuMemCreate(&close_by, GRAIN, &near, 0));
    OK(cuMemCreate(&far_off, GRAIN, &far, 0));
    INVALID(bind_memory(id, 0, 0, memory(1, GRAIN, 0), 0, GRAIN));
    INVALID(bind_memory(id, 0, 0, far_off, 0, GRAIN));
    OK(bind_memory(id, 0, 0, close_by, 0, GRAIN));
    INVALID(bind_memory(team, 0, 0, memory(1, GRAIN, 0), 0, GRAIN));
    INVALID(bind_memory(team, 2, 0, memory(2, GRAIN, 0), 0, GRAIN)); /* no member */
    OK(bind_memory(team, 1, 0, memory(1, GRAIN, 0), 0, GRAIN));
    OK(bind_memory(team, 0, 0, close_by, 0, GRAIN));
}

/* Nothing is bound before the query has said that the endpoint is ready. */
static void test_not_queried(void)
{
    start();
    Id id = unicast(0, GRAIN), team = multicast(2, GRAIN);
    Handle mem = memory(0, GRAIN, 0);
    INVALID(bind_memory(id, 0, 0, mem, 0, GRAIN));
    assert_int_equal(query(id, 1), 0);
    INVALID(bind_memory(id, 0, 0, mem, 0, GRAIN));
    wait_ready(id, 1);
    OK(bind_memory(id, 0, 0, mem, 0, GRAIN));
    OK(cuLogicalEndpointAddDevice(team, 0));
    INVALID(bind_memory(team, 0, 0, mem, 0, GRAIN)); /* before all devices are there */
    OK(cuLogicalEndpointAddDevice(team, 1));
    INVALID(bind_memory(team, 0, 0, mem, 0, GRAIN));
    wait_ready(team, 1);
    OK(bind_memory(team, 0, 0, mem, 0, GRAIN));
}

/* An endpoint that may be exported takes memory that may be shared, and no other. */
static void test_shareable(void)
{
    CUlogicalEndpointProp prop = unicast_prop(0, GRAIN);

    start();
    Id id = reserve_ids(1);
    prop.ipcHandleTypes = CU_LOGICAL_ENDPOINT_IPC_HANDLE_TYPE_FABRIC;
    OK(cuLogicalEndpointCreate(id, &prop));
    wait_ready(id, 1);
    INVALID(bind_memory(id, 0, 0, memory(0, GRAIN, 0), 0, GRAIN));
    OK(bind_memory(id, 0, 0, memory(0, GRAIN, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR), 0, GRAIN));
}

/* An unbind begins where a bind began, and covers it or several side by side, whole. */
static void test_unbind(void)
{
    start();
    Id id = ready_unicast(0, 16 * GRAIN);
    Handle mem = memory(0, 16 * GRAIN, 0);
    for (size_t at = 0; at < 4; at++) /* 0-2, 2-4, 4-6, gap, 8-10 */
        OK(bind_memory(id, 0, (at < 3 ? at : 4) * 2 * GRAIN, mem, at * 2 * GRAIN, 2 * GRAIN));
    INVALID(cuLogicalEndpointUnbind(id, 0, 0, 0));
    INVALID(cuLogicalEndpointUnbind(id, 0, 0, GRAIN / 2));
    INVALID(cuLogicalEndpointUnbind(id, 0, GRAIN / 2, GRAIN));
    INVALID(cuLogicalEndpointUnbind(id, 0, 0, 17 * GRAIN));
    INVALID(cuLogicalEndpointUnbind(id, 1, 0, 2 * GRAIN));         /* not of that device */
    INVALID(cuLogicalEndpointUnbind(id, 0, 0, GRAIN));             /* cuts the first */
    INVALID(cuLogicalEndpointUnbind(id, 0, GRAIN, GRAIN));         /* the same */
    INVALID(cuLogicalEndpointUnbind(id, 0, 0, 3 * GRAIN));         /* cuts the second */
    INVALID(cuLogicalEndpointUnbind(id, 0, GRAIN, 3 * GRAIN));     /* no bind begins there */
    INVALID(cuLogicalEndpointUnbind(id, 0, 6 * GRAIN, GRAIN));     /* nothing there */
    INVALID(cuLogicalEndpointUnbind(id, 0, 4 * GRAIN, 6 * GRAIN)); /* a gap: longer than the two together */
    OK(cuLogicalEndpointUnbind(id, 0, 0, 4 * GRAIN));              /* two at once */
    INVALID(cuLogicalEndpointUnbind(id, 0, 0, 2 * GRAIN));
    OK(cuLogicalEndpointUnbind(id, 0, 4 * GRAIN, 2 * GRAIN));
    OK(cuLogicalEndpointUnbind(id, 0, 8 * GRAIN, 2 * GRAIN));
    OK(bind_memory(id, 0, 0, mem, 0, 16 * GRAIN));
}

/* With the end of the endpoint everything that this process bound is unbound: the memory can go. */
static void test_destroy_unbinds(void)
{
    start();
    use_device(0);
    Id id = ready_unicast(0, GRAIN);
    Handle mem = memory(0, GIB, 0);
    OK(bind_memory(id, 0, 0, mem, 0, GRAIN));
    OK(cuMemRelease(mem)); /* the bind keeps it */
    Handle more = 0;
    CUmemAllocationProp prop = memory_prop(CU_MEM_LOCATION_TYPE_DEVICE, 0, 0);
    EXPECT(CUDA_ERROR_OUT_OF_MEMORY, cuMemCreate(&more, GIB, &prop, 0));
    OK(cuLogicalEndpointDestroy(id));
    OK(cuMemCreate(&more, GIB, &prop, 0));
}

/* ---- fabric copies */

static CUstream stream_of(int device)
{
    CUstream stream;
    use_device(device);
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}

/* Host and device memory reach a multicast endpoint: every member has the words at the offset, and no others. */
static void test_copy_multicast(void)
{
    guint32 words[64];
    CUdeviceptr va[4];

    start();
    Id id = full_multicast(4, 2 * GRAIN);
    for (int i = 0; i < 4; i++) {
        Handle mem = memory(i, 2 * GRAIN, 0);
        OK(bind_memory(id, i, 0, mem, 0, 2 * GRAIN));
        va[i] = mapped(mem, 2 * GRAIN, i);
        use_device(i);
        OK(cuMemsetD32(va[i], 7, 2 * GRAIN / 4));
    }
    CUstream stream = stream_of(0);
    for (guint32 i = 0; i < 64; i++)
        words[i] = 1000 + i;
    OK(fabric_copy(endpoint(id, 4096), pointer((CUdeviceptr)(gsize)words), sizeof words, stream));
    OK(cuStreamSynchronize(stream));
    OK(fabric_copy(endpoint(id, GRAIN), pointer(va[0] + 4096), sizeof words, stream)); /* from device memory */
    OK(cuStreamSynchronize(stream));
    for (int i = 0; i < 4; i++) {
        use_device(i);
        assert_int_equal(word_at(va[i] + 4092), 7);
        assert_int_equal(word_at(va[i] + 4096), 1000);
        assert_int_equal(word_at(va[i] + 4096 + 252), 1063);
        assert_int_equal(word_at(va[i] + 4096 + 256), 7);
        assert_int_equal(word_at(va[i] + GRAIN + 4), 1001);
        assert_int_equal(word_at(va[i] + GRAIN + 252), 1063);
        assert_int_equal(word_at(va[i] + GRAIN + 256), 7);
    }
}

/* To and from a unicast endpoint, over two binds whose memory lies the other way round; also on the owner itself. */
static void test_copy_unicast(void)
{
    guint32 out[1024], in[1024] = {0};

    start();
    Id id = ready_unicast(3, 2 * GRAIN);
    Handle mem = memory(3, 2 * GRAIN, 0);
    CUdeviceptr va = mapped(mem, 2 * GRAIN, 3);
    OK(bind_memory(id, 3, 0, mem, GRAIN, GRAIN));
    OK(bind_memory(id, 3, GRAIN, mem, 0, GRAIN));
    CUstream stream = stream_of(1);
    for (guint32 i = 0; i < 1024; i++)
        out[i] = i * 3;
    OK(fabric_copy(endpoint(id, GRAIN - 2048), pointer((CUdeviceptr)(gsize)out), 4096, stream));
    OK(fabric_copy(pointer((CUdeviceptr)(gsize)in), endpoint(id, GRAIN - 2048), 4096, stream));
    OK(cuStreamSynchronize(stream));
    assert_memory_equal(in, out, 4096);
    use_device(3);
    assert_int_equal(word_at(va + 2 * GRAIN - 2048), 0); /* the first half: at the end of the first bind's memory */
    assert_int_equal(word_at(va + 2 * GRAIN - 4), 511 * 3);
    assert_int_equal(word_at(va), 512 * 3); /* the second half: where the second bind begins */
    CUstream own = stream_of(3);
    OK(fabric_copy(endpoint(id, 0), pointer(va), 4, own));
    OK(cuStreamSynchronize(own));
    assert_int_equal(word_at(va + GRAIN), 512 * 3);
}

/* A batch of all kinds runs in stream order behind what was queued before; one of size 0 does nothing. */
static void test_copy_batch(void)
{
    CUdeviceptr va, other;
    guint32 got = 0;

    start();
    Id id = ready_unicast(1, GRAIN);
    Handle mem = memory(1, GRAIN, 0), own = memory(0, GRAIN, 0);
    va = mapped(mem, GRAIN, 1);
    other = mapped(own, GRAIN, 0);
    OK(bind_memory(id, 1, 0, mem, 0, GRAIN));
    CUstream stream = stream_of(0);
    OK(cuMemsetD32Async(other, 42, 16, stream));
    CUDA_FABRIC_COPY_BATCH_OP op[3] = {
        {.src = pointer(other), .dst = endpoint(id, 64), .size = 4},
        {.src = pointer(other), .dst = pointer(other + 4096), .size = 64},
        {.src = pointer(other), .dst = endpoint(id, 128), .size = 0},
    };
    OK(cuFabricCpyBatchAsync(3, op, 0, stream));
    OK(fabric_copy(pointer((CUdeviceptr)(gsize)&got), endpoint(id, 64), 4, stream));
    OK(cuStreamSynchronize(stream));
    assert_int_equal(got, 42);
    assert_int_equal(word_at(other + 4096 + 60), 42);
    use_device(1);
    assert_int_equal(word_at(va + 128), 0);
}

/* What is refused: wrong arguments, wrong combinations, operands that are not local or not ready; and then nothing of
 * the batch is done. */
static void test_copy_refused(void)
{
    guint32 word = 5;

    start();
    Id id = ready_unicast(1, GRAIN), team = full_multicast(2, GRAIN), young = unicast(1, GRAIN);
    Handle mem = memory(1, GRAIN, 0), own = memory(0, GRAIN, 0);
    CUdeviceptr far = mapped(mem, GRAIN, 0), near = mapped(own, GRAIN, 0), host = (CUdeviceptr)(gsize)&word;
    OK(bind_memory(id, 1, 0, mem, 0, GRAIN));
    CUstream stream = stream_of(0);
    CUDA_FABRIC_COPY_BATCH_OP op = {.src = pointer(host), .dst = endpoint(id, 0), .size = 4}, bad = op;
    INVALID(cuFabricCpyBatchAsync(0, &op, 0, stream));
    INVALID(cuFabricCpyBatchAsync(1, NULL, 0, stream));
    INVALID(cuFabricCpyBatchAsync(1, &op, 1, stream));
    INVALID(cuFabricCpyBatchAsync(1, &op, 0, NULL));
    INVALID(cuFabricCpyBatchAsync(1, &op, 0, CU_STREAM_LEGACY));
    bad.flags = 1;
    INVALID(cuFabricCpyBatchAsync(1, &bad, 0, stream));
    bad = op;
    bad.src.type = (CUfabricCpyOperandType)0;
    INVALID(cuFabricCpyBatchAsync(1, &bad, 0, stream));
    INVALID(fabric_copy(endpoint(id, 0), endpoint(id, 64), 4, stream));          /* two endpoints */
    INVALID(fabric_copy(pointer(near), endpoint(team, 0), 4, stream));           /* from a multicast one */
    INVALID(fabric_copy(endpoint(id, 0), pointer(far), 4, stream));              /* the pointer is not local */
    INVALID(fabric_copy(pointer(far), pointer(far + 64), 4, stream));            /* neither is */
    INVALID(fabric_copy(endpoint(id, GRAIN - 2), pointer(host), 4, stream));     /* beyond its end */
    INVALID(fabric_copy(endpoint(id, ~(size_t)0), pointer(host), 4, stream));    /* the same */
    INVALID(fabric_copy(endpoint(young, 0), pointer(host), 4, stream));          /* not ready */
    INVALID(fabric_copy(endpoint(young + 1, 0), pointer(host), 4, stream));      /* not reserved */
    INVALID(fabric_copy(endpoint(young + 1, 0), pointer(host), 0, stream));      /* checked even if empty */
    INVALID(fabric_copy(endpoint(id, 0), pointer(0), 4, stream));                /* no pointer */
    INVALID(fabric_copy(endpoint(id, 0), pointer(near + GRAIN - 2), 4, stream)); /* beyond its mapping */
    CUDA_FABRIC_COPY_BATCH_OP two[2] = {op, bad};
    INVALID(cuFabricCpyBatchAsync(2, two, 0, stream));
    OK(cuStreamSynchronize(stream));
    assert_int_equal(word_at(far), 0);
    OK(fabric_copy(pointer(near), pointer(far), 4, stream)); /* one is local */
    OK(cuStreamSynchronize(stream));
}

/* An endpoint of another clique cannot be used. */
static void test_copy_clique(void)
{
    guint32 word = 5;

    start();
    Id id = ready_unicast(5, GRAIN);
    OK(bind_memory(id, 5, 0, memory(5, GRAIN, 0), 0, GRAIN));
    INVALID(fabric_copy(endpoint(id, 0), pointer((CUdeviceptr)(gsize)&word), 4, stream_of(3)));
    OK(fabric_copy(endpoint(id, 0), pointer((CUdeviceptr)(gsize)&word), 4, stream_of(4)));
}

/* What is not bound when the copy runs is a fault of the context. */
static void test_copy_unbound(void)
{
    guint32 word = 5;

    start();
    Id id = ready_unicast(1, 2 * GRAIN);
    OK(bind_memory(id, 1, 0, memory(1, GRAIN, 0), 0, GRAIN));
    CUstream stream = stream_of(0);
    OK(fabric_copy(endpoint(id, GRAIN - 4), pointer((CUdeviceptr)(gsize)&word), 4, stream));
    OK(cuStreamSynchronize(stream));
    OK(fabric_copy(endpoint(id, GRAIN - 2), pointer((CUdeviceptr)(gsize)&word), 4, stream));
    EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(stream));
}

/* Unbound or destroyed while a copy waits in its stream: the copy finds nothing, and nothing else is harmed. */
static void test_copy_destroyed(void)
{
    guint32 word = 5;
    CUdeviceptr flag;

    start();
    Id id = ready_unicast(1, GRAIN);
    Handle mem = memory(1, GRAIN, 0), own = memory(0, GRAIN, 0);
    OK(bind_memory(id, 1, 0, mem, 0, GRAIN));
    flag = mapped(own, GRAIN, 0);
    CUstream stream = stream_of(0), second = stream_of(0);
    OK(cuStreamWaitValue32(stream, flag, 1, CU_STREAM_WAIT_VALUE_EQ));
    OK(fabric_copy(endpoint(id, 0), pointer((CUdeviceptr)(gsize)&word), 4, stream));
    OK(cuLogicalEndpointDestroy(id));
    OK(cuLogicalEndpointIdRelease(id, 1));
    OK(cuStreamWriteValue32(second, flag, 1, 0));
    EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(stream));
}

/* An unbind while a copy to a team is queued: what has not arrived is a fault; other members' memory is kept. */
static void test_copy_unbound_meanwhile(void)
{
    CUdeviceptr from;
    Handle mem[2];

    start();
    Id id = full_multicast(2, GRAIN);
    for (int i = 0; i < 2; i++) {
        mem[i] = memory(i, GRAIN, 0);
        OK(bind_memory(id, i, 0, mem[i], 0, GRAIN));
    }
    CUstream stream = stream_of(0);
    OK(cuMemAlloc(&from, MIB));
    OK(fabric_copy(endpoint(id, 0), pointer(from), MIB, stream));
    OK(cuLogicalEndpointUnbind(id, 1, 0, GRAIN));
    EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(stream));
    OK(cuLogicalEndpointUnbind(id, 0, 0, GRAIN));
    OK(cuLogicalEndpointDestroy(id));
}

int main(int argc, char **argv)
{
    static const CudaTest tests[] = {
        CUDA_TEST(test_sizes, ENDPOINTS),
        CUDA_TEST(test_addresses, ENDPOINTS),
        CUDA_TEST(test_location, ENDPOINTS),
        CUDA_TEST(test_not_queried, ENDPOINTS),
        CUDA_TEST(test_shareable, ENDPOINTS),
        CUDA_TEST(test_unbind, ENDPOINTS),
        CUDA_TEST(test_destroy_unbinds, ENDPOINTS "cuda.memory_bytes=1610612736 cuda.freed_bind=hold"),
        CUDA_TEST(test_copy_multicast, ENDPOINTS),
        CUDA_TEST(test_copy_unicast, ENDPOINTS),
        CUDA_TEST(test_copy_batch, ENDPOINTS),
        CUDA_TEST(test_copy_refused, ENDPOINTS),
        CUDA_TEST(test_copy_clique, ENDPOINTS "cuda.clique_gpus=4"),
        CUDA_TEST(test_copy_unbound, ENDPOINTS),
        CUDA_TEST(test_copy_destroyed, ENDPOINTS),
        CUDA_TEST(test_copy_unbound_meanwhile, ENDPOINTS),
        CUDA_TEST_END,
    };
    return cuda_test_main(tests, argc, argv);
}
