/* Rules 53 to 60: the virtual memory calls around multicast, and copies to multicast addresses. */
#include <signal.h>

#include "tests/api/cuda_test.h"

/* Reservations: sizes of whole granules, alignment a power of two, a hint that may be taken. */
static void test_rule_53(void)
{
    CUdeviceptr va = 77, other;

    start();
    INVALID(cuMemAddressReserve(NULL, GRAIN, 0, 0, 0));
    INVALID(cuMemAddressReserve(&va, 0, 0, 0, 0));
    INVALID(cuMemAddressReserve(&va, 4096, 0, 0, 0));
    INVALID(cuMemAddressReserve(&va, GRAIN + 1, 0, 0, 0));
    INVALID(cuMemAddressReserve(&va, GRAIN, 3, 0, 0));
    INVALID(cuMemAddressReserve(&va, GRAIN, 0, 0, 1));
    EXPECT(CUDA_ERROR_OUT_OF_MEMORY, cuMemAddressReserve(&va, (size_t)1 << 60, 0, 0, 0));
    assert_int_equal(va, 77);
    OK(cuMemAddressReserve(&va, GRAIN, GIB, 0, 0));
    assert_int_equal(va % GIB, 0);
    OK(cuMemAddressReserve(&other, GRAIN, 0, va, 0));
    assert_true(other != va);
    OK(cuMemAddressFree(va, GRAIN));
    OK(cuMemAddressReserve(&other, GRAIN, 0, va, 0));
    assert_int_equal(other, va); /* free now: the hint is followed */
}

/* A reservation is freed as it was made, with nothing mapped in it. */
static void test_rule_54(void)
{
    start();
    CUdeviceptr va = reserve(4 * GRAIN);
    INVALID(cuMemAddressFree(va, 2 * GRAIN));
    INVALID(cuMemAddressFree(va + GRAIN, 3 * GRAIN));
    INVALID(cuMemAddressFree(0x10000, GRAIN));
    OK(cuMemMap(va + GRAIN, GRAIN, 0, memory(0, GRAIN, 0), 0));
    INVALID(cuMemAddressFree(va, 4 * GRAIN));
    OK(cuMemUnmap(va + GRAIN, GRAIN));
    OK(cuMemAddressFree(va, 4 * GRAIN));
    INVALID(cuMemAddressFree(va, 4 * GRAIN));
}

/* Mapping: one reservation, nothing there yet, memory whole and from its start; objects also in
 * part. */
static void test_rule_55(void)
{
    start();
    CUdeviceptr va = reserve(8 * GRAIN);
    Handle mem = memory(0, 2 * GRAIN, 0), object = full_team(2, 4 * GRAIN, 0);
    INVALID(cuMemMap(va, 0, 0, mem, 0));
    INVALID(cuMemMap(va, 2 * GRAIN, 0, mem, 1));
    INVALID(cuMemMap(va + 4096, 2 * GRAIN, 0, mem, 0));
    INVALID(cuMemMap(va, 2 * GRAIN, 4096, mem, 0));
    INVALID(cuMemMap(va + 7 * GRAIN, 2 * GRAIN, 0, mem, 0));
    INVALID(cuMemMap(GRAIN, 2 * GRAIN, 0, mem, 0));
    INVALID(cuMemMap(va, ~(size_t)0 - GRAIN + 1, 0, mem, 0));
    EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuMemMap(va, GRAIN, 0, mem, 0));
    EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuMemMap(va, GRAIN, GRAIN, mem, 0));
    EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuMemMap(va, 4 * GRAIN, 0, mem, 0));
    OK(cuMemMap(va, 2 * GRAIN, 0, mem, 0));
    INVALID(cuMemMap(va, 2 * GRAIN, 0, mem, 0));
    INVALID(cuMemMap(va + GRAIN, 2 * GRAIN, 0, mem, 0));
    OK(cuMemMap(va + 2 * GRAIN, 3 * GRAIN, 0, object, 0)); /* less than the object */
    INVALID(cuMemMap(va + 5 * GRAIN, GRAIN + 4096, 0, object, 0));
    EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuMemMap(va + 5 * GRAIN, GRAIN, GRAIN, object, 0));
    CUdeviceptr all = reserve(16 * GRAIN);
    OK(cuMemMap(all, 4 * GRAIN, 0, object, 0));
    INVALID(cuMemMap(all + 4 * GRAIN, 5 * GRAIN, 0, object, 0)); /* more than the object */
}

/* Access: none at first; over several mappings at once; to a multicast address only for members. */
static void test_rule_56(void)
{
    CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CUmemAccessDesc desc = {here, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    unsigned long long flags = 9;

    start();
    use_device(0);
    CUdeviceptr va = reserve(4 * GRAIN);
    OK(cuMemMap(va, GRAIN, 0, memory(0, GRAIN, 0), 0));
    OK(cuMemMap(va + GRAIN, GRAIN, 0, memory(1, GRAIN, 0), 0));
    OK(cuMemGetAccess(&flags, &here, va));
    assert_int_equal(flags, CU_MEM_ACCESS_FLAGS_PROT_NONE);
    INVALID(cuMemsetD8(va, 1, 16));
    OK(cuMemSetAccess(va, 2 * GRAIN, &desc, 1));
    OK(cuMemGetAccess(&flags, &here, va + GRAIN));
    assert_int_equal(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    OK(cuMemsetD8(va, 1, 2 * GRAIN));
    INVALID(cuMemSetAccess(va, 3 * GRAIN, &desc, 1));
    INVALID(cuMemSetAccess(va, GRAIN / 2, &desc, 1));
    desc.location.id = 99;
    INVALID(cuMemSetAccess(va, GRAIN, &desc, 1));
    desc.location.id = 0;
    desc.flags = 2;
    INVALID(cuMemSetAccess(va, GRAIN, &desc, 1));
    desc.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
    OK(cuMemSetAccess(va, GRAIN, &desc, 1)); /* to be read alone */
    assert_int_equal(word_at(va), 0x01010101);
    INVALID(cuMemsetD8(va, 1, 16));
    INVALID(cuMemcpyHtoD(va, &flags, 8));
    OK(cuMemcpyDtoD(va + GRAIN, va, 16));
    desc.location.type = CU_MEM_LOCATION_TYPE_HOST;
    EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuMemSetAccess(va, GRAIN, &desc, 1));
    Handle object = full_team(2, GRAIN, 0);
    CUdeviceptr mc = reserve(GRAIN);
    OK(cuMemMap(mc, GRAIN, 0, object, 0));
    EXPECT(CUDA_ERROR_ILLEGAL_STATE, set_access(mc, GRAIN, 5)); /* as on hardware */
    OK(set_access(mc, GRAIN, 1));
    desc.location = here;
    OK(cuMemSetAccess(mc, GRAIN, &desc, 1)); /* READ on multicast is accepted */
}

/* The host may touch host memory that it was given access to; device addresses fault. */
static void test_rule_56_host(void)
{
    CUmemAllocationProp prop = memory_prop(CU_MEM_LOCATION_TYPE_HOST_NUMA, 0, 0);
    CUmemAccessDesc desc = {{CU_MEM_LOCATION_TYPE_HOST, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    Handle host;

    start();
    use_device(0);
    OK(cuMemCreate(&host, GRAIN, &prop, 0));
    CUdeviceptr va = mapped(host, GRAIN, 0);
    OK(cuMemSetAccess(va, GRAIN, &desc, 1));
    *(volatile guint32 *)(uintptr_t)va = 0xabcd;
    assert_int_equal(word_at(va), 0xabcd);
    OK(cuMemsetD32(va, 3, 1));
    assert_int_equal(*(volatile guint32 *)(uintptr_t)va, 3);
    unsigned char residency;
    CUdeviceptr device = mapped(memory(0, GRAIN, 0), GRAIN, 0);
    pid_t pid = fork(); /* a stray host load ends the child */
    if (pid == 0) {
        signal(SIGSEGV, SIG_DFL);
        residency = *(volatile unsigned char *)(uintptr_t)device;
        _exit(residency);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
}

/* Unmapping takes whole mappings, several side by side too; with nothing there it does nothing. */
static void test_rule_57(void)
{
    start();
    CUdeviceptr va = reserve(8 * GRAIN);
    Handle mem = memory(0, 2 * GRAIN, 0);
    for (int i = 0; i < 3; i++)
        OK(cuMemMap(va + (size_t)i * 2 * GRAIN, 2 * GRAIN, 0, mem, 0));
    INVALID(cuMemUnmap(va, GRAIN));
    INVALID(cuMemUnmap(va + GRAIN, 2 * GRAIN));
    INVALID(cuMemUnmap(va, 8 * GRAIN));
    INVALID(cuMemUnmap(va, 0));
    OK(cuMemUnmap(va, 4 * GRAIN));
    OK(cuMemUnmap(va, 4 * GRAIN)); /* source: h200/driver.csv */
    OK(cuMemUnmap(va + 4 * GRAIN, 2 * GRAIN));
    INVALID(cuMemUnmap(GRAIN, GRAIN)); /* not reserved */
}

/* Creation: sizes, kinds of memory, places, handle types, and no more than the device has. */
static void test_rule_58(void)
{
    Handle handle = 77;
    CUmemAllocationProp prop = memory_prop(CU_MEM_LOCATION_TYPE_DEVICE, 0, 0);

    start();
    INVALID(cuMemCreate(&handle, 0, &prop, 0));
    INVALID(cuMemCreate(&handle, MIB, &prop, 0));
    INVALID(cuMemCreate(&handle, GRAIN, &prop, 1));
    INVALID(cuMemCreate(NULL, GRAIN, &prop, 0));
    INVALID(cuMemCreate(&handle, GRAIN, NULL, 0));
    EXPECT(CUDA_ERROR_OUT_OF_MEMORY, cuMemCreate(&handle, (size_t)1 << 50, &prop, 0));
    prop.type = CU_MEM_ALLOCATION_TYPE_INVALID;
    INVALID(cuMemCreate(&handle, GRAIN, &prop, 0));
    prop = memory_prop(CU_MEM_LOCATION_TYPE_DEVICE, 99, 0);
    EXPECT(CUDA_ERROR_INVALID_DEVICE, cuMemCreate(&handle, GRAIN, &prop, 0));
    prop = memory_prop(CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 0, 0);
    INVALID(cuMemCreate(&handle, GRAIN, &prop, 0));
    prop = memory_prop(CU_MEM_LOCATION_TYPE_HOST, 0, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    INVALID(cuMemCreate(&handle, GRAIN, &prop, 0));
    prop = memory_prop(CU_MEM_LOCATION_TYPE_HOST_NUMA, 99, 0);
    EXPECT(CUDA_ERROR_INVALID_DEVICE, cuMemCreate(&handle, GRAIN, &prop, 0));
    prop = memory_prop(CU_MEM_LOCATION_TYPE_DEVICE, 0, CU_MEM_HANDLE_TYPE_FABRIC);
    EXPECT(CUDA_ERROR_NOT_PERMITTED, cuMemCreate(&handle, GRAIN, &prop, 0));
    prop = memory_prop(CU_MEM_LOCATION_TYPE_DEVICE, 0, 16);
    INVALID(cuMemCreate(&handle, GRAIN, &prop, 0));
    assert_int_equal(handle, 77);
}

/* All of a device's memory can be had, once. */
static void test_rule_58_full(void)
{
    size_t free_bytes, total;
    Handle all, more = 77;

    start();
    use_device(0);
    OK(cuMemGetInfo(&free_bytes, &total));
    assert_int_equal(free_bytes, GIB);
    CUmemAllocationProp prop = memory_prop(CU_MEM_LOCATION_TYPE_DEVICE, 0, 0);
    OK(cuMemCreate(&all, GIB, &prop, 0));
    EXPECT(CUDA_ERROR_OUT_OF_MEMORY, cuMemCreate(&more, GRAIN, &prop, 0));
    assert_int_equal(more, 77);
    OK(cuMemRelease(all));
    OK(cuMemCreate(&more, GRAIN, &prop, 0));
}

/* Retaining by address gives the handle that was mapped, one reference more, even after its
 * release. */
static void test_rule_59(void)
{
    Handle got = 77;
    CUdeviceptr base, plain;
    size_t bytes;

    start();
    use_device(0);
    Handle mem = memory(0, 2 * GRAIN, 0);
    CUdeviceptr va = mapped(mem, 2 * GRAIN, 0), empty = reserve(GRAIN);
    OK(cuMemRetainAllocationHandle(&got, (void *)(uintptr_t)(va + GRAIN + 5)));
    assert_true(got == mem);
    OK(cuMemRelease(got));
    OK(cuMemRelease(mem));
    INVALID(cuMemRelease(mem));
    OK(cuMemRetainAllocationHandle(&got, (void *)(uintptr_t)va));
    assert_true(got == mem);
    INVALID(cuMemRetainAllocationHandle(&got, (void *)(uintptr_t)empty));
    OK(cuMemAlloc(&plain, MIB));
    INVALID(cuMemRetainAllocationHandle(&got, (void *)(uintptr_t)plain));
    INVALID(cuMemRetainAllocationHandle(NULL, (void *)(uintptr_t)va));
    OK(cuMemGetAddressRange(&base, &bytes, va + GRAIN + 5));
    assert_int_equal(base, va);
    assert_int_equal(bytes, 2 * GRAIN);
    EXPECT(CUDA_ERROR_NOT_FOUND, cuMemGetAddressRange(&base, &bytes, empty));
}

/* Copies and fills to a multicast address reach every copy; reads through it are refused and
 * reported. */
static void test_rule_60(void)
{
    Handle object, mem[4];
    CUdeviceptr va[4], mc;
    guint32 data[64], back[64];
    int ordinal = -1;

    start();
    mc = bound_team(4, 2 * GRAIN, &object, mem, va);
    for (guint32 i = 0; i < G_N_ELEMENTS(data); i++)
        data[i] = i * 0x01010101u;
    OK(cuMemcpyHtoD(mc + 4096, data, sizeof data));
    for (int i = 0; i < 4; i++) {
        OK(cuMemcpyDtoH(back, va[i] + 4096, sizeof back));
        assert_memory_equal(back, data, sizeof data);
    }
    OK(cuMemcpyDtoD(mc + GRAIN, va[2] + 4096, sizeof data));
    OK(cuMemcpyAsync(mc + GRAIN + 4096, va[0] + 4096, sizeof data, NULL));
    OK(cuCtxSynchronize());
    OK(cuMemsetD16(mc, 0x1234, 3));
    for (int i = 0; i < 4; i++) {
        assert_int_equal(word_at(va[i] + GRAIN + 4), data[1]);
        assert_int_equal(word_at(va[i] + GRAIN + 4096 + 8), data[2]);
        assert_int_equal(word_at(va[i]), 0x12341234);
        assert_int_equal(word_at(va[i] + 4), 0x1234);
    }
    INVALID(cuMemcpyDtoH(back, mc, 64));
    INVALID(cuMemcpyDtoD(va[0], mc, 64));
    OK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, mc));
    assert_int_equal(ordinal, 0);
    OK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, va[3]));
    assert_int_equal(ordinal, 3);
}

/* Unbind by a handle that was released while it is mapped: the mapping keeps the object. Unmapped, it is no handle. */
static void test_unbind_released(void)
{
    start();
    use_device(0);
    Handle object = full_team(2, GRAIN, 0), mem = memory(0, GRAIN, 0), same = 0;
    CUdeviceptr va = reserve(GRAIN);
    OK(cuMulticastBindMem(object, 0, mem, 0, GRAIN, 0));
    OK(cuMemMap(va, GRAIN, 0, object, 0));
    OK(cuMemRelease(object));
    OK(cuMemRetainAllocationHandle(&same, (void *)(guintptr)va)); /* the mapping knows it by the same number */
    assert_true(same == object);
    OK(cuMemRelease(same));
    INVALID(cuMulticastAddDevice(object, 1));
    EXPECT(CUDA_ERROR_INVALID_DEVICE, cuMulticastUnbind(object, 99, 0, GRAIN));
    OK(cuMulticastUnbind(object, 0, 0, GRAIN));
    INVALID(cuMulticastUnbind(object, 0, 0, GRAIN)); /* nothing is bound any more */
    OK(cuMemUnmap(va, GRAIN));
    INVALID(cuMulticastUnbind(object, 0, 0, GRAIN));
}
/* The same is refused where the knob says so. */
static void test_unbind_released_refused(void)
{
    start();
    use_device(0);
    Handle object = full_team(2, GRAIN, 0), mem = memory(0, GRAIN, 0);
    CUdeviceptr va = reserve(GRAIN);
    OK(cuMulticastBindMem(object, 0, mem, 0, GRAIN, 0));
    OK(cuMemMap(va, GRAIN, 0, object, 0));
    OK(cuMemRelease(object));
    INVALID(cuMulticastUnbind(object, 0, 0, GRAIN));
}

int main(int argc, char **argv)
{
    static const CudaTest tests[] = {
        CUDA_TEST(test_rule_53, ""),
        CUDA_TEST(test_rule_54, ""),
        CUDA_TEST(test_rule_55, ""),
        CUDA_TEST(test_rule_56, ""),
        CUDA_TEST(test_rule_56_host, ""),
        CUDA_TEST(test_rule_57, ""),
        CUDA_TEST(test_rule_58, ""),
        CUDA_TEST(test_rule_58_full, "cuda.memory_bytes=1073741824"),
        CUDA_TEST(test_rule_59, ""),
        CUDA_TEST(test_rule_60, ""),
        CUDA_TEST(test_unbind_released, ""),
        CUDA_TEST(test_unbind_released_refused, "cuda.unbind_released=refuse"),
        CUDA_TEST_END,
    };
    return cuda_test_main(tests, argc, argv);
}
