/* Tests of the CUDA front end: each runs in a process of its own, because a process has one driver
 * and its options are read once.
 *
 *     static void test_rule_10(void) { ... }
 *     static const CudaTest tests[] = {CUDA_TEST(test_rule_10, "cuda.fm_state=absent"),
 * CUDA_TEST_END}; int main(int argc, char **argv) { return cuda_test_main(tests, argc, argv); }
 *
 * The program runs itself again for each test, with the test's name as its argument. */
#ifndef TESTS_API_CUDA_TEST_H
#define TESTS_API_CUDA_TEST_H

#include "tests/test.h"

#include <fanout/fanout.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
    const char *name;
    void (*run)(void);
    const char *sets;   /* "cuda.x=1 cuda.y=2", or "" */
    const char *system; /* NULL: dgx-h100 */
} CudaTest;
#define CUDA_TEST(function, sets)                                                                                      \
    {                                                                                                                  \
#function, function, sets, NULL                                                                                \
    }
#define CUDA_TEST_ON(system, function, sets)                                                                           \
    {                                                                                                                  \
#function, function, sets, system                                                                              \
    }
#define CUDA_TEST_END                                                                                                  \
    {                                                                                                                  \
        NULL, NULL, NULL, NULL                                                                                         \
    }

#define MIB ((size_t)1 << 20)
#define GIB ((size_t)1 << 30)
#define GRAIN (2 * MIB)

static const CudaTest *cuda_test_now;
static void cuda_test_inside(void **state)
{
    (void)state;
    cuda_test_now->run();
}

/* A test in a process of its own; what it prints is shown. */
static void cuda_test_outside(void **state)
{
    const CudaTest *test = *state;
    g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
    g_auto(GStrv) env = g_get_environ();
    g_autofree char *sets = g_strdelimit(g_strdup(test->sets), " ", '\n');
    char *argv[] = {self, (char *)test->name, NULL};
    gint status;

    env = g_environ_setenv(env, "FANOUT_SET", sets, TRUE);
    env = g_environ_setenv(env, "FANOUT_SYSTEM", test->system ? test->system : "dgx-h100", TRUE);
    env = g_environ_setenv(env, "FANOUT_LOG", "cuda:error", FALSE);
    assert_true(g_spawn_sync(NULL, argv, env, G_SPAWN_DEFAULT, NULL, NULL, NULL, NULL, &status, NULL));
    assert_int_equal(status, 0);
}

static inline int cuda_test_main(const CudaTest *tests, int argc, char **argv)
{
    struct CMUnitTest unit[128] = {{0}};
    gsize n = 0;

    for (const CudaTest *test = tests; test->name != NULL; test++) {
        if (argc > 1 && strcmp(argv[1], test->name) != 0)
            continue;
        cuda_test_now = test;
        unit[n++] = (struct CMUnitTest){.name = test->name,
                                        .test_func = argc > 1 ? cuda_test_inside : cuda_test_outside,
                                        .initial_state = (void *)test};
    }
    assert_true(n > 0 && n <= G_N_ELEMENTS(unit));
    return _cmocka_run_group_tests(argc > 1 ? argv[1] : "cuda", unit, n, NULL, NULL);
}

/* ---- short forms; every call is checked where it stands */
#define EXPECT(code, call) assert_int_equal(call, code)
#define OK(call) EXPECT(CUDA_SUCCESS, call)
#define INVALID(call) EXPECT(CUDA_ERROR_INVALID_VALUE, call)

typedef CUmemGenericAllocationHandle Handle;

static inline CUmulticastObjectProp team_prop(unsigned n, size_t bytes, unsigned long long types)
{
    CUmulticastObjectProp prop;
    memset(&prop, 0xee, sizeof prop); /* the padding is never to be read */
    prop.numDevices = n;
    prop.size = bytes;
    prop.handleTypes = types;
    prop.flags = 0;
    return prop;
}

static inline Handle team(unsigned n, size_t bytes, unsigned long long types)
{
    CUmulticastObjectProp prop = team_prop(n, bytes, types);
    Handle handle = 0;
    OK(cuMulticastCreate(&handle, &prop));
    return handle;
}

/* A complete team of the devices 0 .. n - 1. */
static inline Handle full_team(int n, size_t bytes, unsigned long long types)
{
    Handle handle = team((unsigned)n, bytes, types);
    for (int i = 0; i < n; i++)
        OK(cuMulticastAddDevice(handle, i));
    return handle;
}

static inline CUmemAllocationProp memory_prop(CUmemLocationType where, int id, int types)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .requestedHandleTypes = (CUmemAllocationHandleType)types,
                                .location = {where, id}};
    return prop;
}

static inline Handle memory(int device, size_t bytes, int types)
{
    CUmemAllocationProp prop = memory_prop(CU_MEM_LOCATION_TYPE_DEVICE, device, types);
    Handle handle = 0;
    OK(cuMemCreate(&handle, bytes, &prop, 0));
    return handle;
}

static inline CUdeviceptr reserve(size_t bytes)
{
    CUdeviceptr va = 0;
    OK(cuMemAddressReserve(&va, bytes, 0, 0, 0));
    return va;
}

static inline CUresult set_access(CUdeviceptr va, size_t bytes, int device)
{
    CUmemAccessDesc desc = {{CU_MEM_LOCATION_TYPE_DEVICE, device}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    return cuMemSetAccess(va, bytes, &desc, 1);
}

/* Reserved, mapped and accessible for one device. */
static inline CUdeviceptr mapped(Handle handle, size_t bytes, int device)
{
    CUdeviceptr va = reserve(bytes);
    OK(cuMemMap(va, bytes, 0, handle, 0));
    OK(set_access(va, bytes, device));
    return va;
}

static inline void use_device(int device)
{
    CUcontext context;
    OK(cuDevicePrimaryCtxRetain(&context, device));
    OK(cuCtxSetCurrent(context));
}

static inline void start(void) { OK(cuInit(0)); }

/* A team of n with memory of `bytes` bound at 0 on every device; unicast addresses in va[], the
 * multicast address is returned. Device 0 is current. */
static inline CUdeviceptr bound_team(int n, size_t bytes, Handle *object, Handle *mem, CUdeviceptr *va)
{
    *object = full_team(n, bytes, 0);
    for (int i = 0; i < n; i++) {
        mem[i] = memory(i, bytes, 0);
        OK(cuMulticastBindMem(*object, 0, mem[i], 0, bytes, 0));
        va[i] = mapped(mem[i], bytes, i);
    }
    use_device(0);
    return mapped(*object, bytes, 0);
}

static inline guint32 word_at(CUdeviceptr va)
{
    guint32 word = 0;
    OK(cuMemcpyDtoH(&word, va, sizeof word));
    return word;
}

/* ---- other processes: fork before the first call; descriptors over a socket */
static inline void send_fd(int to, int fd)
{
    char byte = 'f', control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec io = {&byte, 1};
    struct msghdr msg = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
    assert_int_equal(sendmsg(to, &msg, 0), 1);
}

static inline int receive_fd(int from)
{
    char byte, control[CMSG_SPACE(sizeof(int))];
    struct iovec io = {&byte, 1};
    struct msghdr msg = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    int fd;
    assert_int_equal(recvmsg(from, &msg, 0), 1);
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof fd);
    return fd;
}

static inline void tell(int to) { assert_int_equal(write(to, "x", 1), 1); }
static inline void hear(int from)
{
    char byte;
    assert_int_equal(read(from, &byte, 1), 1);
}

/* Runs `child` in another process; its failures are the test's: give the result to join_child. */
static inline pid_t fork_child(void (*child)(int socket), int *socket)
{
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        alarm(60);
        close(pair[0]);
        child(pair[1]);
        _exit(0);
    }
    close(pair[1]);
    *socket = pair[0];
    return pid;
}

static inline void join_child(pid_t pid)
{
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

#endif
