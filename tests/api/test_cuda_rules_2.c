/* Rules 16 to 28: members, and waiting for the team. One test a rule. */
#include "tests/api/cuda_test.h"

/* A slot is taken for the object's life: nothing gives it back, not even unbinding. */
static void test_rule_16(void)
{
    start();
    Handle object = full_team(2, GRAIN, 0), mem = memory(0, GRAIN, 0);
    OK(cuMulticastBindMem(object, 0, mem, 0, GRAIN, 0));
    OK(cuMulticastUnbind(object, 0, 0, GRAIN));
    INVALID(cuMulticastAddDevice(object, 0));
    INVALID(cuMulticastAddDevice(object, 2));
}

/* The same device twice, and more devices than the team has, are INVALID_VALUE; the team stays
 * usable. */
static void test_rule_17(void)
{
    start();
    Handle object = team(2, GRAIN, 0);
    OK(cuMulticastAddDevice(object, 1));
    INVALID(cuMulticastAddDevice(object, 1));
    OK(cuMulticastAddDevice(object, 0));
    INVALID(cuMulticastAddDevice(object, 2));
    OK(cuMulticastBindMem(object, 0, memory(1, GRAIN, 0), 0, GRAIN, 0));
}

/* A system whose GPUs lack multicast refuses the device. */
static void test_rule_18(void)
{
    int major;

    start();
    OK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
    assert_int_equal(major, 8);
    EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuMulticastAddDevice(1, 0));
}

/* Adding never waits, even when the fabric manager takes very long: no time passes. */
static void test_rule_19(void)
{
    uint64_t before, after;

    start();
    OK(fo_now_ps(&before));
    full_team(8, GRAIN, 0);
    OK(fo_now_ps(&after));
    assert_true(before == after);
}

/* A sick fabric does not stop adding here; it is seen at the bind, and stays. */
static void test_rule_20(void)
{
    start();
    Handle object = full_team(2, GRAIN, 0);
    EXPECT(CUDA_ERROR_ILLEGAL_STATE, cuMulticastBindMem(object, 0, memory(0, GRAIN, 0), 0, GRAIN, 0));
    EXPECT(CUDA_ERROR_ILLEGAL_STATE, cuMulticastBindMem(object, 0, memory(1, GRAIN, 0), 0, GRAIN, 0));
}

/* One process adds all devices, and a device is in many objects. */
static void test_rule_21(void)
{
    start();
    for (int i = 0; i < 20; i++) {
        Handle object = full_team(8, GRAIN, 0);
        OK(cuMulticastBindMem(object, 0, memory(3, GRAIN, 0), 0, GRAIN, 0));
    }
}

typedef struct {
    Handle object;
    gint done; /* atomic */
    CUresult result;
} Waiter;

static gpointer bind_and_say(gpointer data)
{
    Waiter *w = data;
    w->result = cuMulticastBindMem(w->object, 0, memory(0, GRAIN, 0), 0, GRAIN, 0);
    g_atomic_int_set(&w->done, 1);
    return NULL;
}

static gpointer map_and_say(gpointer data)
{
    Waiter *w = data;
    w->result = cuMemMap(reserve(GRAIN), GRAIN, 0, w->object, 0);
    g_atomic_int_set(&w->done, 1);
    return NULL;
}

/* Binds and maps wait until the last device is there, and not a moment longer. */
static void test_rule_22(void)
{
    start();
    for (int map = 0; map < 2; map++) {
        Waiter w = {.object = team(3, GRAIN, 0)};
        OK(cuMulticastAddDevice(w.object, 0));
        OK(cuMulticastAddDevice(w.object, 1));
        GThread *thread = g_thread_new("w", map ? map_and_say : bind_and_say, &w);
        g_usleep(100000);
        assert_int_equal(g_atomic_int_get(&w.done), 0);
        OK(cuMulticastAddDevice(w.object, 2));
        g_thread_join(thread);
        OK(w.result);
    }
}

/* The object that a bind or a map waits for is released by another thread: the call ends with an error of the page, and
 * does not wait for ranks that can never come. */
static void test_released_while_waiting(void)
{
    start();
    for (int map = 0; map < 2; map++) {
        Waiter w = {.object = team(3, GRAIN, 0)};
        OK(cuMulticastAddDevice(w.object, 0));
        GThread *thread = g_thread_new("w", map ? map_and_say : bind_and_say, &w);
        g_usleep(100000);
        assert_int_equal(g_atomic_int_get(&w.done), 0);
        OK(cuMemRelease(w.object));
        g_thread_join(thread);
        EXPECT(CUDA_ERROR_INVALID_VALUE, w.result);
    }
}

static gpointer bind_each_way(gpointer data)
{
    Waiter *w = data;
    Handle mem = memory(0, 4 * GRAIN, 0);
    CUdeviceptr va = mapped(mem, 4 * GRAIN, 0);
    CUresult r = cuMulticastBindAddr_v2(w->object, 0, 0, va, GRAIN, 0);
    r = r ? r : cuMulticastBindAddr(w->object, GRAIN, va + GRAIN, GRAIN, 0);
    r = r ? r : cuMulticastBindMem_v2(w->object, 0, 2 * GRAIN, mem, 2 * GRAIN, GRAIN, 0);
    w->result = r ? r : cuMulticastBindMem(w->object, 3 * GRAIN, mem, 3 * GRAIN, GRAIN, 0);
    g_atomic_int_set(&w->done, 1);
    return NULL;
}

/* All four kinds of bind wait. */
static void test_rule_22_binds(void)
{
    start();
    Waiter w = {.object = team(2, 4 * GRAIN, 0)};
    OK(cuMulticastAddDevice(w.object, 0));
    GThread *thread = g_thread_new("w", bind_each_way, &w);
    g_usleep(50000);
    assert_int_equal(g_atomic_int_get(&w.done), 0);
    OK(cuMulticastAddDevice(w.object, 1));
    g_thread_join(thread);
    OK(w.result);
}

static void adds_second(int socket)
{
    Handle object;
    int fd = receive_fd(socket);
    if (cuInit(0) != CUDA_SUCCESS ||
        cuMemImportFromShareableHandle(&object, (void *)(intptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) !=
            CUDA_SUCCESS)
        _exit(1);
    hear(socket);
    g_usleep(100000);
    if (cuMulticastAddDevice(object, 1) != CUDA_SUCCESS)
        _exit(2);
    hear(socket);
}

/* The missing device comes from another process; nobody holds a lock while waiting. */
static void test_rule_23(void)
{
    int socket, fd;
    pid_t pid = fork_child(adds_second, &socket);

    start();
    Waiter w = {.object = team(2, GRAIN, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)};
    OK(cuMulticastAddDevice(w.object, 0));
    OK(cuMemExportToShareableHandle(&fd, w.object, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    send_fd(socket, fd);
    GThread *thread = g_thread_new("w", map_and_say, &w);
    g_usleep(50000);
    assert_int_equal(g_atomic_int_get(&w.done), 0);
    memory(3, GRAIN, 0); /* other calls go on meanwhile */
    tell(socket);
    g_thread_join(thread);
    OK(w.result);
    tell(socket);
    join_child(pid);
}

/* Map and set access first, bind afterwards; or the other way round: both reach every copy. */
static void test_rule_24(void)
{
    for (int bind_first = 0; bind_first < 2; bind_first++) {
        start();
        use_device(0);
        Handle object = full_team(2, GRAIN, 0), mem[2];
        CUdeviceptr va[2], mc = 0;
        if (!bind_first)
            mc = mapped(object, GRAIN, 0);
        for (int i = 0; i < 2; i++) {
            mem[i] = memory(i, GRAIN, 0);
            OK(cuMulticastBindMem(object, 0, mem[i], 0, GRAIN, 0));
            va[i] = mapped(mem[i], GRAIN, i);
        }
        if (bind_first)
            mc = mapped(object, GRAIN, 0);
        OK(cuMemsetD32(mc, 0x600d0000u + (unsigned)bind_first, GRAIN / 4));
        for (int i = 0; i < 2; i++)
            assert_int_equal(word_at(va[i] + GRAIN - 4), 0x600d0000u + (unsigned)bind_first);
    }
}

/* Everything else goes on while the team is incomplete. */
static void test_rule_25(void)
{
    size_t got;
    int fd;
    Handle again;

    start();
    CUmulticastObjectProp prop = team_prop(2, GRAIN, 0);
    Handle object = team(2, GRAIN, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    OK(cuMulticastGetGranularity(&got, &prop, CU_MULTICAST_GRANULARITY_MINIMUM));
    OK(cuMulticastAddDevice(object, 0));
    OK(cuMemExportToShareableHandle(&fd, object, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    OK(cuMemImportFromShareableHandle(&again, (void *)(intptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    OK(cuMemRelease(again));
    OK(cuMemRelease(object));
}

/* A slow fabric manager: not ready after the time-out, and later it works after all. */
static void test_rule_26(void)
{
    uint64_t time_ps;

    start();
    Handle object = full_team(2, GRAIN, 0), mem = memory(0, GRAIN, 0);
    EXPECT(CUDA_ERROR_SYSTEM_NOT_READY, cuMulticastBindMem(object, 0, mem, 0, GRAIN, 0));
    OK(fo_now_ps(&time_ps));
    assert_true(time_ps == 5500000ull * 1000000);
    OK(cuMulticastBindMem(object, 0, mem, 0, GRAIN, 0));
    OK(fo_now_ps(&time_ps));
    assert_true(time_ps == 7000000ull * 1000000);
}

/* The fabric manager is absent: bind and map fail, for good; the memory is untouched by it. */
static void test_rule_27(void)
{
    start();
    Handle object = full_team(2, GRAIN, 0), mem = memory(0, GRAIN, 0);
    CUdeviceptr va = reserve(GRAIN);
    for (int i = 0; i < 2; i++) {
        EXPECT(CUDA_ERROR_ILLEGAL_STATE, cuMulticastBindMem(object, 0, mem, 0, GRAIN, 0));
        EXPECT(CUDA_ERROR_ILLEGAL_STATE, cuMemMap(va, GRAIN, 0, object, 0));
    }
    OK(cuMemMap(va, GRAIN, 0, mem, 0));
}

/* The table of multicast IDs has 128 entries: the 129th team binds with OUT_OF_MEMORY, again and
 * again. */
static void test_rule_27_table(void)
{
    start();
    Handle mem = memory(0, GRAIN, 0);
    for (int i = 0; i < 128; i++)
        OK(cuMulticastBindMem(full_team(2, GRAIN, 0), 0, mem, 0, GRAIN, 0));
    Handle object = full_team(2, GRAIN, 0);
    EXPECT(CUDA_ERROR_OUT_OF_MEMORY, cuMulticastBindMem(object, 0, mem, 0, GRAIN, 0));
    EXPECT(CUDA_ERROR_OUT_OF_MEMORY, cuMemMap(reserve(GRAIN), GRAIN, 0, object, 0));
}

/* A rank that never comes: without a watchdog the wait goes on until it does come. */
static void test_rule_28(void)
{
    start();
    Waiter w = {.object = team(3, GRAIN, 0)};
    OK(cuMulticastAddDevice(w.object, 0));
    GThread *thread = g_thread_new("w", bind_and_say, &w);
    g_usleep(300000);
    assert_int_equal(g_atomic_int_get(&w.done), 0);
    OK(cuMulticastAddDevice(w.object, 4));
    OK(cuMulticastAddDevice(w.object, 5));
    g_thread_join(thread);
    OK(w.result);
}

/* The watchdog ends every call that waits for a rank that never comes, says who is missing, and leaves the object as
 * it is: when the ranks do come, it works. */
static void test_rule_28_watchdog(void)
{
    start();
    Handle object = team(3, GRAIN, 0), mem = memory(0, GRAIN, 0);
    CUdeviceptr va = mapped(mem, GRAIN, 0), mc = reserve(GRAIN);
    OK(cuMulticastAddDevice(object, 0));
    EXPECT(CUDA_ERROR_LAUNCH_TIMEOUT, cuMulticastBindMem(object, 0, mem, 0, GRAIN, 0));
    EXPECT(CUDA_ERROR_LAUNCH_TIMEOUT, cuMulticastBindMem_v2(object, 0, 0, mem, 0, GRAIN, 0));
    EXPECT(CUDA_ERROR_LAUNCH_TIMEOUT, cuMulticastBindAddr(object, 0, va, GRAIN, 0));
    EXPECT(CUDA_ERROR_LAUNCH_TIMEOUT, cuMulticastBindAddr_v2(object, 0, 0, va, GRAIN, 0));
    EXPECT(CUDA_ERROR_LAUNCH_TIMEOUT, cuMemMap(mc, GRAIN, 0, object, 0));
    OK(cuMulticastAddDevice(object, 4));
    OK(cuMulticastAddDevice(object, 5));
    OK(cuMulticastBindMem(object, 0, mem, 0, GRAIN, 0));
    OK(cuMemMap(mc, GRAIN, 0, object, 0));
}

/* A fabric manager that was restarted without a reset of the GPUs: objects can be made, and no device added. */
static void test_fabric_manager_restarted(void)
{
    start();
    Handle object = team(2, GRAIN, 0), mem = memory(0, GRAIN, 0);
    for (int i = 0; i < 2; i++)
        INVALID(cuMulticastAddDevice(object, i));
    EXPECT(CUDA_ERROR_INVALID_DEVICE, cuMulticastBindMem(object, 0, mem, 0, GRAIN, 0));
    OK(cuMemRelease(object));
    OK(cuMemMap(reserve(GRAIN), GRAIN, 0, mem, 0)); /* memory is as ever */
}

int main(int argc, char **argv)
{
    static const CudaTest tests[] = {
        CUDA_TEST(test_rule_16, ""),
        CUDA_TEST(test_rule_17, ""),
        CUDA_TEST_ON("dgx-a100", test_rule_18, ""),
        CUDA_TEST(test_rule_19, "cuda.fm_latency_us=1000000000"),
        CUDA_TEST(test_rule_20, "cuda.fm_state=broken"),
        CUDA_TEST(test_rule_21, ""),
        CUDA_TEST(test_rule_22, ""),
        CUDA_TEST(test_rule_22_binds, ""),
        CUDA_TEST(test_released_while_waiting, ""),
        CUDA_TEST(test_rule_23, ""),
        CUDA_TEST(test_rule_24, ""),
        CUDA_TEST(test_rule_25, ""),
        CUDA_TEST(test_rule_26, "cuda.fm_latency_us=7000000"),
        CUDA_TEST(test_rule_27, "cuda.fm_state=absent"),
        CUDA_TEST(test_rule_27_table, ""),
        CUDA_TEST(test_rule_28, ""),
        CUDA_TEST(test_rule_28_watchdog, "cuda.watchdog_ms=100"),
        CUDA_TEST(test_fabric_manager_restarted, "cuda.fm_state=restarted"),
        CUDA_TEST_END,
    };
    return cuda_test_main(tests, argc, argv);
}
