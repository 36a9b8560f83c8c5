/* Rules 1 to 15: what every call checks, granularity, creation. One test a rule. */
#include "tests/api/cuda_test.h"

/* Before cuInit the answer is NOT_INITIALIZED, and outputs stay as they were. */
static void test_rule_01(void)
{
    CUmulticastObjectProp prop = team_prop(2, GRAIN, 0);
    CUmemAllocationProp mem = memory_prop(CU_MEM_LOCATION_TYPE_DEVICE, 0, 0);
    Handle handle = 77;
    size_t size = 77;
    CUdeviceptr va = 77;
    int n = 77;

    EXPECT(CUDA_ERROR_NOT_INITIALIZED, cuMulticastCreate(&handle, &prop));
    EXPECT(CUDA_ERROR_NOT_INITIALIZED, cuMulticastAddDevice(1, 0));
    EXPECT(CUDA_ERROR_NOT_INITIALIZED, cuMulticastBindMem(1, 0, 1, 0, GRAIN, 0));
    EXPECT(CUDA_ERROR_NOT_INITIALIZED, cuMulticastBindMem_v2(1, 0, 0, 1, 0, GRAIN, 0));
    EXPECT(CUDA_ERROR_NOT_INITIALIZED, cuMulticastBindAddr(1, 0, 1, GRAIN, 0));
    EXPECT(CUDA_ERROR_NOT_INITIALIZED, cuMulticastBindAddr_v2(1, 0, 0, 1, GRAIN, 0));
    EXPECT(CUDA_ERROR_NOT_INITIALIZED, cuMulticastUnbind(1, 0, 0, GRAIN));
    EXPECT(CUDA_ERROR_NOT_INITIALIZED, cuMulticastGetGranularity(&size, &prop, 0));
    EXPECT(CUDA_ERROR_NOT_INITIALIZED, cuMemCreate(&handle, GRAIN, &mem, 0));
    EXPECT(CUDA_ERROR_NOT_INITIALIZED, cuMemAddressReserve(&va, GRAIN, 0, 0, 0));
    EXPECT(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&n));
    assert_int_equal(handle, 77);
    assert_int_equal(size, 77);
    assert_int_equal(va, 77);
    assert_int_equal(n, 77);
    start();
    OK(cuDeviceGetCount(&n));
    assert_int_equal(n, 8);
}

static void after_exit(void)
{
    int n;
    if (cuDeviceGetCount(&n) != CUDA_ERROR_DEINITIALIZED)
        _exit(3);
}
static void exits(int socket)
{
    atexit(after_exit); /* runs behind the driver's own handler, which is registered later */
    if (cuInit(0) != CUDA_SUCCESS)
        _exit(4);
    tell(socket);
    exit(0);
}

/* While the process ends the answer is DEINITIALIZED; in a forked child it is NOT_INITIALIZED. */
static void test_rule_01_teardown(void)
{
    int socket, n;
    pid_t pid = fork_child(exits, &socket);

    hear(socket);
    join_child(pid);
    start();
    pid = fork();
    if (pid == 0)
        _exit(cuDeviceGetCount(&n) == CUDA_ERROR_NOT_INITIALIZED && cuInit(0) == CUDA_ERROR_NOT_INITIALIZED ? 0 : 5);
    join_child(pid);
}

/* None of the multicast and virtual memory calls needs a current context. */
static void test_rule_02(void)
{
    CUcontext current = (CUcontext)1;

    start();
    OK(cuCtxGetCurrent(&current));
    assert_null(current);
    Handle object = full_team(2, GRAIN, 0), mem = memory(0, GRAIN, 0);
    OK(cuMulticastBindMem(object, 0, mem, 0, GRAIN, 0));
    CUdeviceptr va = mapped(object, GRAIN, 0);
    OK(cuMulticastUnbind(object, 0, 0, GRAIN));
    OK(cuMemUnmap(va, GRAIN));
    OK(cuMemAddressFree(va, GRAIN));
    OK(cuMemRelease(object));
    OK(cuMemRelease(mem));
}

/* Devices without multicast: the whole family is NOT_SUPPORTED, whatever else is wrong; outputs
 * untouched. */
static void test_rule_03(void)
{
    CUmulticastObjectProp prop = team_prop(2, GRAIN, 0);
    Handle handle = 77;
    size_t size = 77;
    int supported = 1;

    start();
    OK(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, 0));
    assert_int_equal(supported, 0);
    EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuMulticastCreate(&handle, &prop));
    EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuMulticastAddDevice(5, 0));
    EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuMulticastBindMem(5, 0, 0, 0, GRAIN, 0));
    EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuMulticastBindMem_v2(5, 0, 0, 0, 0, GRAIN, 0));
    EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuMulticastBindAddr(5, 0, 0, GRAIN, 0));
    EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuMulticastBindAddr_v2(5, 0, 0, 0, GRAIN, 0));
    EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuMulticastUnbind(5, 0, 0, GRAIN));
    EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuMulticastGetGranularity(&size, &prop, 0));
    assert_int_equal(handle, 77);
    assert_int_equal(size, 77);
}

/* NULL pointers are INVALID_VALUE, devices that do not exist INVALID_DEVICE. */
static void test_rule_04(void)
{
    CUmulticastObjectProp prop = team_prop(2, GRAIN, 0);
    Handle handle = 77;
    size_t size = 77;

    start();
    INVALID(cuMulticastCreate(NULL, &prop));
    INVALID(cuMulticastCreate(&handle, NULL));
    INVALID(cuMulticastGetGranularity(NULL, &prop, 0));
    INVALID(cuMulticastGetGranularity(&size, NULL, 0));
    assert_int_equal(handle, 77);
    assert_int_equal(size, 77);
    Handle object = team(2, GRAIN, 0);
    EXPECT(CUDA_ERROR_INVALID_DEVICE, cuMulticastAddDevice(object, 8));
    EXPECT(CUDA_ERROR_INVALID_DEVICE, cuMulticastAddDevice(object, -1));
    EXPECT(CUDA_ERROR_INVALID_DEVICE, cuMulticastUnbind(object, 8, 0, GRAIN));
}

/* What is no live multicast object is INVALID_VALUE: 0, forged, released, memory. */
static void test_rule_05(void)
{
    start();
    Handle mem = memory(0, GRAIN, 0), object = team(2, GRAIN, 0), dead = team(2, GRAIN, 0);
    OK(cuMemRelease(dead));
    const Handle wrong[] = {0, 1, 0xdeadbeef, ~(Handle)0, mem, dead, object + 16, object ^ (1ull << 40)};
    for (gsize i = 0; i < G_N_ELEMENTS(wrong); i++) {
        INVALID(cuMulticastAddDevice(wrong[i], 0));
        INVALID(cuMulticastBindMem(wrong[i], 0, mem, 0, GRAIN, 0));
        INVALID(cuMulticastUnbind(wrong[i], 0, 0, GRAIN));
    }
    INVALID(cuMemRelease(dead));
    OK(cuMemRelease(object));
}

/* Fabric handles without an IMEX channel are NOT_PERMITTED. */
static void test_rule_06(void)
{
    CUmulticastObjectProp prop = team_prop(2, GRAIN, CU_MEM_HANDLE_TYPE_FABRIC);
    CUmemFabricHandle name = {{1}};
    Handle handle = 77;

    start();
    EXPECT(CUDA_ERROR_NOT_PERMITTED, cuMulticastCreate(&handle, &prop));
    EXPECT(CUDA_ERROR_NOT_PERMITTED, cuMemImportFromShareableHandle(&handle, &name, CU_MEM_HANDLE_TYPE_FABRIC));
    assert_int_equal(handle, 77);
}

/* Only the two options exist. */
static void test_rule_07(void)
{
    CUmulticastObjectProp prop = team_prop(4, GRAIN, 0);
    size_t size = 77;

    start();
    INVALID(cuMulticastGetGranularity(&size, &prop, 2));
    INVALID(cuMulticastGetGranularity(&size, &prop, (CUmulticastGranularity_flags)-1));
    assert_int_equal(size, 77);
    OK(cuMulticastGetGranularity(&size, &prop, CU_MULTICAST_GRANULARITY_MINIMUM));
    assert_int_equal(size, GRAIN);
    Handle object = full_team(2, size, 0), mem = memory(0, size, 0);
    OK(cuMulticastBindMem(object, 0, mem, 0, size, 0));
}

/* The size may be raw or missing at this point, and several handle types may be asked for at once.
 */
static void test_rule_08(void)
{
    const size_t sizes[] = {0, 1, 24576, GRAIN + 1, 3 * GIB + 5};
    size_t got;

    start();
    for (gsize i = 0; i < G_N_ELEMENTS(sizes); i++) {
        CUmulticastObjectProp prop = team_prop(8, sizes[i],
                                               CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | CU_MEM_HANDLE_TYPE_FABRIC);
        OK(cuMulticastGetGranularity(&got, &prop, CU_MULTICAST_GRANULARITY_RECOMMENDED));
        assert_true(got >= GRAIN && got % GRAIN == 0);
    }
}

/* Minimum 2 MiB; recommended 2 MiB below 512 MiB, and 512 MiB from there up. */
static void test_rule_09(void)
{
    size_t got;

    start();
    CUmulticastObjectProp small = team_prop(8, 24576, 0), large = team_prop(8, 512 * MIB, 0);
    OK(cuMulticastGetGranularity(&got, &small, CU_MULTICAST_GRANULARITY_RECOMMENDED));
    assert_int_equal(got, GRAIN);
    OK(cuMulticastGetGranularity(&got, &large, CU_MULTICAST_GRANULARITY_RECOMMENDED));
    assert_int_equal(got, 512 * MIB);
    OK(cuMulticastGetGranularity(&got, &large, CU_MULTICAST_GRANULARITY_MINIMUM));
    assert_int_equal(got, GRAIN);
}

/* The recommended granularity is a knob: a client must live with either value. */
static void test_rule_09_knob(void)
{
    CUmulticastObjectProp prop = team_prop(8, 24576, 0);
    size_t got;

    start();
    OK(cuMulticastGetGranularity(&got, &prop, CU_MULTICAST_GRANULARITY_RECOMMENDED));
    assert_int_equal(got, 32 * MIB);
    full_team(2, got, 0);
}

/* A team of nobody has no granularity. */
static void test_rule_10(void)
{
    CUmulticastObjectProp prop = team_prop(0, GRAIN, 0);
    size_t got = 77;

    start();
    INVALID(cuMulticastGetGranularity(&got, &prop, CU_MULTICAST_GRANULARITY_MINIMUM));
    assert_int_equal(got, 77);
}

/* The size is a multiple of the minimum; the recommended one is advice. */
static void test_rule_11(void)
{
    const size_t wrong[] = {0, 1, 4096, MIB, GRAIN - 1, GRAIN + 4096, ~(size_t)0};
    Handle handle = 77;

    start();
    for (gsize i = 0; i < G_N_ELEMENTS(wrong); i++) {
        CUmulticastObjectProp prop = team_prop(2, wrong[i], 0);
        INVALID(cuMulticastCreate(&handle, &prop));
    }
    assert_int_equal(handle, 77);
    team(2, 514 * MIB, 0);
}

/* Flags are 0; handle types are known bits; none means not exportable. */
static void test_rule_12(void)
{
    CUmulticastObjectProp prop = team_prop(2, GRAIN, 0);
    Handle handle = 77;

    start();
    prop.flags = 1;
    INVALID(cuMulticastCreate(&handle, &prop));
    prop.flags = 0;
    prop.handleTypes = 16;
    INVALID(cuMulticastCreate(&handle, &prop));
    prop.handleTypes = 1ull << 40;
    INVALID(cuMulticastCreate(&handle, &prop));
    assert_int_equal(handle, 77);
    int fd = -9;
    INVALID(cuMemExportToShareableHandle(&fd, team(2, GRAIN, 0), CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    assert_int_equal(fd, -9);
}

/* Teams of one are refused as the real driver does; teams larger than this machine are not. */
static void test_rule_13(void)
{
    CUmulticastObjectProp prop = team_prop(1, GRAIN, 0);
    Handle handle = 77;

    start();
    INVALID(cuMulticastCreate(&handle, &prop));
    prop.numDevices = 0;
    INVALID(cuMulticastCreate(&handle, &prop));
    assert_int_equal(handle, 77);
    team(72, GRAIN, 0);
}

/* The knob accepts a team of one, which works. */
static void test_rule_13_knob(void)
{
    start();
    Handle object = full_team(1, GRAIN, 0);
    OK(cuMulticastBindMem(object, 0, memory(0, GRAIN, 0), 0, GRAIN, 0));
}

/* Creation takes nothing of the switch: with no table entry left it works, and the bind says so. */
static void test_rule_14(void)
{
    start();
    Handle first = full_team(2, GRAIN, 0), object = full_team(2, GRAIN, 0), mem = memory(0, GRAIN, 0);
    OK(cuMulticastBindMem(first, 0, mem, 0, GRAIN, 0));
    EXPECT(CUDA_ERROR_OUT_OF_MEMORY, cuMulticastBindMem(object, 0, mem, 0, GRAIN, 0));
    OK(cuMemRelease(first));
    Handle again = full_team(2, GRAIN, 0); /* the entry is free again */
    OK(cuMulticastBindMem(again, 0, mem, 0, GRAIN, 0));
}

/* The handle is released as memory is; it has no allocation properties; declared types export. */
static void test_rule_15(void)
{
    CUmemAllocationProp prop;
    int fd = -1;

    start();
    Handle object = team(2, GRAIN, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    INVALID(cuMemGetAllocationPropertiesFromHandle(&prop, object));
    OK(cuMemExportToShareableHandle(&fd, object, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    assert_true(fd > 2);
    close(fd);
    OK(cuMemRelease(object));
    INVALID(cuMulticastAddDevice(object, 0));
}

int main(int argc, char **argv)
{
    static const CudaTest tests[] = {
        CUDA_TEST(test_rule_01, ""),
        CUDA_TEST(test_rule_01_teardown, ""),
        CUDA_TEST(test_rule_02, ""),
        CUDA_TEST(test_rule_03, "cuda.multicast=false"),
        CUDA_TEST(test_rule_04, ""),
        CUDA_TEST(test_rule_05, ""),
        CUDA_TEST(test_rule_06, ""),
        CUDA_TEST(test_rule_07, ""),
        CUDA_TEST(test_rule_08, ""),
        CUDA_TEST(test_rule_09, ""),
        CUDA_TEST(test_rule_09_knob, "cuda.multicast_recommended_bytes=33554432"),
        CUDA_TEST(test_rule_10, ""),
        CUDA_TEST(test_rule_11, ""),
        CUDA_TEST(test_rule_12, ""),
        CUDA_TEST(test_rule_13, ""),
        CUDA_TEST(test_rule_13_knob, "cuda.multicast_single_member=true"),
        CUDA_TEST(test_rule_14, "cuda.multicast_slots=1"),
        CUDA_TEST(test_rule_15, ""),
        CUDA_TEST_END,
    };
    return cuda_test_main(tests, argc, argv);
}
