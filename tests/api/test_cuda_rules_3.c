/* Rules 29 to 39: binding memory by its handle and by address. One test a rule. */
#include "tests/api/cuda_test.h"

/* Sizes and offsets: multiples of the granularity, within the object and the memory, without
 * wrap-around. */
static void test_rule_29(void)
{
    const size_t huge = ~(size_t)0 - GRAIN + 1;
    const struct {
        size_t object, memory, bytes;
    } wrong[] = {
        {0, 0, 0},
        {0, 0, 4096},
        {4096, 0, GRAIN},
        {0, 4096, GRAIN},
        {0, 0, GRAIN + 1},
        {0, 0, 5 * GRAIN},
        {2 * GRAIN, 0, 3 * GRAIN},
        {0, 3 * GRAIN, GRAIN},
        {0, 2 * GRAIN, 2 * GRAIN},
        {huge, 0, GRAIN},
        {0, huge, GRAIN},
        {0, 0, huge},
        {GRAIN, GRAIN, huge},
        {huge, huge, huge},
    };

    start();
    Handle object = full_team(2, 4 * GRAIN, 0), mem = memory(0, 3 * GRAIN, 0);
    for (gsize i = 0; i < G_N_ELEMENTS(wrong); i++) {
        INVALID(cuMulticastBindMem(object, wrong[i].object, mem, wrong[i].memory, wrong[i].bytes, 0));
        INVALID(cuMulticastBindMem_v2(object, 0, wrong[i].object, mem, wrong[i].memory, wrong[i].bytes, 0));
    }
    OK(cuMulticastBindMem(object, GRAIN, mem, 0, 3 * GRAIN, 0));
}

/* Flags are 0; what is bound is memory, not another object, and alive. */
static void test_rule_30(void)
{
    start();
    Handle object = full_team(2, GRAIN, 0), mem = memory(0, GRAIN, 0), dead = memory(0, GRAIN, 0);
    OK(cuMemRelease(dead));
    INVALID(cuMulticastBindMem(object, 0, mem, 0, GRAIN, 1));
    INVALID(cuMulticastBindMem_v2(object, 0, 0, mem, 0, GRAIN, 1ull << 63));
    INVALID(cuMulticastBindMem(object, 0, object, 0, GRAIN, 0));
    INVALID(cuMulticastBindMem(object, 0, 0, 0, GRAIN, 0));
    INVALID(cuMulticastBindMem(object, 0, dead, 0, GRAIN, 0));
    INVALID(cuMulticastBindMem(object, 0, 0x1234560, 0, GRAIN, 0));
}

/* v1 takes the device from the memory, which must be on a member; host memory names none. */
static void test_rule_31(void)
{
    CUmemAllocationProp prop = memory_prop(CU_MEM_LOCATION_TYPE_HOST_NUMA, 0, 0);
    Handle host;

    start();
    Handle object = full_team(2, GRAIN, 0);
    EXPECT(CUDA_ERROR_INVALID_DEVICE, cuMulticastBindMem(object, 0, memory(5, GRAIN, 0), 0, GRAIN, 0));
    OK(cuMemCreate(&host, GRAIN, &prop, 0));
    INVALID(cuMulticastBindMem(object, 0, host, 0, GRAIN, 0));
}

/* v2 names the device: a member, the memory's own, or with host memory the one of that NUMA node.
 */
static void test_rule_32(void)
{
    CUmemAllocationProp prop = memory_prop(CU_MEM_LOCATION_TYPE_HOST_NUMA, 0, 0);
    Handle near, far, any;

    start();
    Handle object = full_team(2, 2 * GRAIN, 0), mem = memory(0, GRAIN, 0);
    EXPECT(CUDA_ERROR_INVALID_DEVICE, cuMulticastBindMem_v2(object, 5, 0, memory(5, GRAIN, 0), 0, GRAIN, 0));
    EXPECT(CUDA_ERROR_INVALID_DEVICE, cuMulticastBindMem_v2(object, 99, 0, mem, 0, GRAIN, 0));
    EXPECT(CUDA_ERROR_INVALID_DEVICE, cuMulticastBindMem_v2(object, -1, 0, mem, 0, GRAIN, 0));
    INVALID(cuMulticastBindMem_v2(object, 1, 0, mem, 0, GRAIN, 0));
    OK(cuMulticastBindMem_v2(object, 0, 0, mem, 0, GRAIN, 0));
    OK(cuMemCreate(&near, GRAIN, &prop, 0));
    OK(cuMulticastBindMem_v2(object, 0, GRAIN, near, 0, GRAIN, 0));
    prop.location.id = 1;
    OK(cuMemCreate(&far, GRAIN, &prop, 0));
    INVALID(cuMulticastBindMem_v2(object, 1, GRAIN, far, 0, GRAIN, 0));
    prop.location.type = CU_MEM_LOCATION_TYPE_HOST;
    OK(cuMemCreate(&any, GRAIN, &prop, 0));
    INVALID(cuMulticastBindMem_v2(object, 1, GRAIN, any, 0, GRAIN, 0));
}

/* An object that can be shared, or was, takes only memory that can be shared. */
static void test_rule_33(void)
{
    const int fd_type = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    start();
    Handle object = full_team(2, GRAIN, fd_type);
    INVALID(cuMulticastBindMem(object, 0, memory(0, GRAIN, 0), 0, GRAIN, 0));
    INVALID(cuMulticastBindMem_v2(object, 1, 0, memory(1, GRAIN, 0), 0, GRAIN, 0));
    OK(cuMulticastBindMem(object, 0, memory(0, GRAIN, fd_type), 0, GRAIN, 0));
}

/* One that cannot be shared takes any. */
static void test_rule_34(void)
{
    start();
    Handle object = full_team(2, GRAIN, 0);
    OK(cuMulticastBindMem(object, 0, memory(0, GRAIN, 0), 0, GRAIN, 0));
    OK(cuMulticastBindMem(object, 0, memory(1, GRAIN, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR), 0, GRAIN, 0));
}

/* Several ranges a device at different offsets; the same one twice, or an overlap, is refused. */
static void test_rule_35(void)
{
    start();
    Handle object = full_team(2, 8 * GRAIN, 0), mem = memory(0, 8 * GRAIN, 0);
    OK(cuMulticastBindMem(object, 0, mem, 0, 2 * GRAIN, 0));
    OK(cuMulticastBindMem(object, 4 * GRAIN, mem, 2 * GRAIN, 2 * GRAIN, 0));
    INVALID(cuMulticastBindMem(object, 0, mem, 4 * GRAIN, 2 * GRAIN, 0));
    INVALID(cuMulticastBindMem(object, 0, mem, 0, GRAIN, 0));
    INVALID(cuMulticastBindMem(object, GRAIN, mem, 4 * GRAIN, 2 * GRAIN, 0));
    INVALID(cuMulticastBindMem(object, 3 * GRAIN, mem, 4 * GRAIN, 2 * GRAIN, 0));
    OK(cuMulticastBindMem(object, 2 * GRAIN, mem, 4 * GRAIN, 2 * GRAIN, 0));
    OK(cuMulticastBindMem(object, 0, memory(1, GRAIN, 0), 0, GRAIN, 0));
}

/* With the knob the last bind wins where they overlap; the same offset stays an error. */
static void test_rule_35_knob(void)
{
    start();
    Handle object = full_team(2, 4 * GRAIN, 0), mem = memory(0, 4 * GRAIN, 0);
    OK(cuMulticastBindMem(object, 0, mem, 0, 2 * GRAIN, 0));
    INVALID(cuMulticastBindMem(object, 0, mem, 0, GRAIN, 0));
    OK(cuMulticastBindMem(object, GRAIN, mem, 0, 2 * GRAIN, 0));
}

/* A slot without memory is legal until it is touched: then it is a fault of the device. */
static void test_rule_36(void)
{
    Handle object, mem[2];
    CUdeviceptr va[2];

    start();
    use_device(0);
    object = full_team(2, 2 * GRAIN, 0);
    for (int i = 0; i < 2; i++) {
        mem[i] = memory(i, 2 * GRAIN, 0);
        va[i] = mapped(mem[i], 2 * GRAIN, i);
    }
    OK(cuMulticastBindMem(object, 0, mem[0], GRAIN, GRAIN, 0)); /* ranks may use other offsets */
    OK(cuMulticastBindMem(object, 0, mem[1], 0, GRAIN, 0));
    CUdeviceptr mc = mapped(object, 2 * GRAIN, 0);
    OK(cuMemsetD32(mc, 7, 16));
    assert_int_equal(word_at(va[0] + GRAIN), 7);
    assert_int_equal(word_at(va[1]), 7);
    EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemsetD32(mc + GRAIN, 7, 16));
    EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize()); /* sticky, as in CUDA */
}

/* The binding keeps the memory: its handle may go at once, mapped or not. */
static void test_rule_37(void)
{
    Handle object, mem[2];
    CUdeviceptr va[2], mc;

    start();
    mc = bound_team(2, GRAIN, &object, mem, va);
    for (int i = 0; i < 2; i++)
        OK(cuMemRelease(mem[i]));
    OK(cuMemsetD32(mc, 9, 16));
    for (int i = 0; i < 2; i++)
        assert_int_equal(word_at(va[i]), 9);
    OK(cuMulticastUnbind(object, 1, 0, GRAIN));
    Handle never_mapped = memory(1, GRAIN, 0);
    OK(cuMulticastBindMem(object, 0, never_mapped, 0, GRAIN, 0));
    OK(cuMemRelease(never_mapped));
    OK(cuMemsetD32(mc, 10, 16));
    OK(cuMulticastUnbind(object, 1, 0, GRAIN));
}

/* Memory that the user freed completely (handles and mappings) is detached: unbinding it is an
 * error, in either order of freeing; other binds stay; the range can be bound again. */
static void test_rule_37_freed(void)
{
    Handle object, mem[2];
    CUdeviceptr va[2], mc;
    size_t before, after, total;

    start();
    use_device(1);
    OK(cuMemGetInfo(&before, &total));
    mc = bound_team(2, GRAIN, &object, mem, va);
    OK(cuMemRelease(mem[1]));
    OK(cuMemUnmap(va[1], GRAIN));
    use_device(1);
    OK(cuMemGetInfo(&after, &total));
    assert_int_equal(after, before);
    INVALID(cuMulticastUnbind(object, 1, 0, GRAIN));
    mem[1] = memory(1, GRAIN, 0);
    OK(cuMulticastBindMem(object, 0, mem[1], 0, GRAIN, 0));
    va[1] = mapped(mem[1], GRAIN, 1);
    use_device(0);
    OK(cuMemsetD32(mc, 9, 16));
    assert_int_equal(word_at(va[1]), 9);
    OK(cuMemUnmap(va[1], GRAIN));
    OK(cuMemRelease(mem[1]));
    INVALID(cuMulticastUnbind(object, 1, 0, GRAIN));
    EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemsetD32(mc, 9, 16)); /* the slot is unbound now */
    OK(cuMulticastUnbind(object, 0, 0, GRAIN));
}

/* Bound memory of a pool is detached when it is freed. */
static void test_rule_37_pool(void)
{
    CUdeviceptr pooled;

    start();
    use_device(0);
    Handle object = full_team(2, GRAIN, 0);
    OK(cuMemAllocAsync(&pooled, GRAIN, NULL));
    OK(cuMulticastBindAddr(object, 0, pooled, GRAIN, 0));
    OK(cuMemFreeAsync(pooled, NULL));
    OK(cuCtxSynchronize());
    CUdeviceptr other; /* the driver looks at what was freed when it allocates */
    OK(cuMemAllocAsync(&other, GRAIN, NULL));
    INVALID(cuMulticastUnbind(object, 0, 0, GRAIN));
}

/* With the knob the binding holds it for good. */
static void test_rule_37_knob(void)
{
    Handle object, mem[2];
    CUdeviceptr va[2], mc;

    start();
    mc = bound_team(2, GRAIN, &object, mem, va);
    OK(cuMemRelease(mem[1]));
    OK(cuMemUnmap(va[1], GRAIN));
    OK(cuMemsetD32(mc, 9, 16));
    assert_int_equal(word_at(va[0]), 9);
    OK(cuMulticastUnbind(object, 1, 0, GRAIN));
}

/* Bindable addresses: mapped memory or a pool's, within one mapping; a plain allocation is not. */
static void test_rule_38(void)
{
    CUdeviceptr plain, pooled;

    start();
    use_device(0);
    Handle object = full_team(2, 4 * GRAIN, 0), mem = memory(0, 2 * GRAIN, 0), next = memory(0, 2 * GRAIN, 0);
    CUdeviceptr va = reserve(4 * GRAIN);
    OK(cuMemMap(va, 2 * GRAIN, 0, mem, 0));
    OK(cuMemMap(va + 2 * GRAIN, 2 * GRAIN, 0, next, 0));
    OK(cuMemAlloc(&plain, 4 * GRAIN));
    INVALID(cuMulticastBindAddr(object, 0, plain, GRAIN, 0));
    INVALID(cuMulticastBindAddr(object, 0, 0, GRAIN, 0));
    INVALID(cuMulticastBindAddr(object, 0, va + GRAIN, 2 * GRAIN, 0)); /* spans two mappings */
    INVALID(cuMulticastBindAddr(object, 0, va + 4096, GRAIN, 0));
    INVALID(cuMulticastBindAddr(object, 0, va, 4096, 0));
    INVALID(cuMulticastBindAddr(object, 4096, va, GRAIN, 0));
    INVALID(cuMulticastBindAddr(object, 0, va, GRAIN, 1));
    OK(cuMulticastBindAddr(object, 0, va + GRAIN, GRAIN, 0));
    OK(cuMemAllocAsync(&pooled, 2 * GRAIN, 0));
    OK(cuMulticastBindAddr(object, 2 * GRAIN, pooled, 2 * GRAIN, 0));
    CUdeviceptr mc = mapped(object, 4 * GRAIN, 0);
    OK(cuMulticastBindMem(object, 2 * GRAIN, memory(1, 2 * GRAIN, 0), 0, 2 * GRAIN, 0));
    OK(cuMemsetD32(mc + 2 * GRAIN, 5, 4));
    assert_int_equal(word_at(pooled), 5);
}

/* The binding is to the memory behind the address and survives its unmapping; v2 checks the device.
 */
static void test_rule_39(void)
{
    start();
    use_device(0);
    Handle object = full_team(2, GRAIN, 0), mem = memory(0, GRAIN, 0), other = memory(1, GRAIN, 0);
    CUdeviceptr va = mapped(mem, GRAIN, 0), vb = mapped(other, GRAIN, 1);
    INVALID(cuMulticastBindAddr_v2(object, 1, 0, va, GRAIN, 0));
    INVALID(cuMulticastBindAddr_v2(object, 3, 0, va, GRAIN, 0)); /* not where the memory is */
    OK(cuMulticastBindAddr_v2(object, 0, 0, va, GRAIN, 0));
    OK(cuMulticastBindAddr(object, 0, vb, GRAIN, 0));
    OK(cuMemUnmap(va, GRAIN));
    CUdeviceptr mc = mapped(object, GRAIN, 0);
    OK(cuMemsetD32(mc, 11, 4));
    OK(cuMemMap(va, GRAIN, 0, mem, 0));
    OK(set_access(va, GRAIN, 0));
    assert_int_equal(word_at(va), 11);
    assert_int_equal(word_at(vb), 11);
}

int main(int argc, char **argv)
{
    static const CudaTest tests[] = {
        CUDA_TEST(test_rule_29, ""),
        CUDA_TEST(test_rule_30, ""),
        CUDA_TEST(test_rule_31, ""),
        CUDA_TEST(test_rule_32, ""),
        CUDA_TEST(test_rule_33, ""),
        CUDA_TEST(test_rule_34, ""),
        CUDA_TEST(test_rule_35, ""),
        CUDA_TEST(test_rule_35_knob, "cuda.overlapping_binds=last-wins"),
        CUDA_TEST(test_rule_36, ""),
        CUDA_TEST(test_rule_37, ""),
        CUDA_TEST(test_rule_37_freed, ""),
        CUDA_TEST(test_rule_37_pool, ""),
        CUDA_TEST(test_rule_37_knob, "cuda.freed_bind=hold"),
        CUDA_TEST(test_rule_38, ""),
        CUDA_TEST(test_rule_39, ""),
        CUDA_TEST_END,
    };
    return cuda_test_main(tests, argc, argv);
}
