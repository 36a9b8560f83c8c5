/* Rules 40 to 52: unbinding, release, export and import. One test a rule. */
#include "tests/api/cuda_test.h"

#define FD CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
#define FABRIC CU_MEM_HANDLE_TYPE_FABRIC

static int exported(Handle handle)
{
    int fd = -1;
    OK(cuMemExportToShareableHandle(&fd, handle, FD, 0));
    return fd;
}

static Handle imported(int fd)
{
    Handle handle = 0;
    OK(cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)fd, FD));
    return handle;
}

/* Unbinding names a member, and a range within the object. */
static void test_rule_40(void)
{
    const size_t huge = ~(size_t)0 - GRAIN + 1;

    start();
    Handle object = full_team(2, 2 * GRAIN, 0), mem = memory(0, GRAIN, 0);
    OK(cuMulticastBindMem(object, 0, mem, 0, GRAIN, 0));
    EXPECT(CUDA_ERROR_INVALID_DEVICE, cuMulticastUnbind(object, 5, 0, GRAIN));
    INVALID(cuMulticastUnbind(object, 0, 4096, GRAIN));
    INVALID(cuMulticastUnbind(object, 0, 0, 4096));
    INVALID(cuMulticastUnbind(object, 0, 0, 0));
    INVALID(cuMulticastUnbind(object, 0, 2 * GRAIN, GRAIN));
    INVALID(cuMulticastUnbind(object, 0, huge, GRAIN));
    INVALID(cuMulticastUnbind(object, 0, GRAIN, huge));
    OK(cuMulticastUnbind(object, 0, 0, GRAIN));
}

/* Only what was bound is unbound: other ranges are undefined, refused and reported; nothing
 * changes. */
static void test_rule_41(void)
{
    start();
    Handle object = full_team(2, 4 * GRAIN, 0), mem = memory(0, 4 * GRAIN, 0);
    OK(cuMulticastBindMem(object, 0, mem, 0, 2 * GRAIN, 0));
    OK(cuMulticastBindMem(object, 2 * GRAIN, mem, 2 * GRAIN, 2 * GRAIN, 0));
    INVALID(cuMulticastUnbind(object, 0, 0, 4 * GRAIN));
    INVALID(cuMulticastUnbind(object, 0, 0, GRAIN));
    INVALID(cuMulticastUnbind(object, 0, GRAIN, GRAIN));
    OK(cuMulticastUnbind(object, 0, 0, 2 * GRAIN));
    INVALID(cuMulticastUnbind(object, 0, 0, 2 * GRAIN));
    OK(cuMulticastUnbind(object, 0, 2 * GRAIN, 2 * GRAIN));
}

/* With the knob the start decides, as in the kernel module. */
static void test_rule_41_knob(void)
{
    start();
    Handle object = full_team(2, 4 * GRAIN, 0), mem = memory(0, 4 * GRAIN, 0);
    OK(cuMulticastBindMem(object, 0, mem, 0, 2 * GRAIN, 0));
    INVALID(cuMulticastUnbind(object, 0, GRAIN, GRAIN));
    OK(cuMulticastUnbind(object, 0, 0, GRAIN));
    INVALID(cuMulticastUnbind(object, 0, 0, 2 * GRAIN));
}

/* Only the named device's memory is unbound. */
static void test_rule_42(void)
{
    Handle object, mem[3];
    CUdeviceptr va[3];

    start();
    bound_team(3, GRAIN, &object, mem, va);
    OK(cuMulticastUnbind(object, 1, 0, GRAIN));
    INVALID(cuMulticastUnbind(object, 1, 0, GRAIN));
    OK(cuMulticastUnbind(object, 0, 0, GRAIN));
    OK(cuMulticastUnbind(object, 2, 0, GRAIN));
}

/* It works while the object is mapped, and memory can be bound again, another way. */
static void test_rule_43(void)
{
    Handle object, mem[2];
    CUdeviceptr va[2], mc;

    start();
    mc = bound_team(2, GRAIN, &object, mem, va);
    OK(cuMulticastUnbind(object, 0, 0, GRAIN));
    OK(cuMulticastBindAddr(object, 0, va[0], GRAIN, 0));
    OK(cuMemsetD32(mc, 13, 4));
    assert_int_equal(word_at(va[0]), 13);
    assert_int_equal(word_at(va[1]), 13);
}

/* Unbinding is not needed before the release: the memory is free afterwards. */
static void test_rule_44(void)
{
    Handle object, mem[2];
    CUdeviceptr va[2], mc;
    size_t before, after, total;

    start();
    use_device(0);
    OK(cuMemGetInfo(&before, &total));
    mc = bound_team(2, GRAIN, &object, mem, va);
    OK(cuMemUnmap(mc, GRAIN));
    OK(cuMemGetInfo(&after, &total));
    assert_int_equal(after, before - GRAIN);
    OK(cuMulticastUnbind(object, 1, 0, GRAIN));
    OK(cuMemUnmap(va[0], GRAIN));
    OK(cuMemRelease(mem[0])); /* bound all the same: detached with it */
    OK(cuMemRelease(object));
    OK(cuMemGetInfo(&after, &total));
    assert_int_equal(after, before);
}

/* A release drops one reference; what is mapped stays until it is unmapped; either order works. */
static void test_rule_45(void)
{
    Handle object, mem[2];
    CUdeviceptr va[2], mc;

    start();
    mc = bound_team(2, GRAIN, &object, mem, va);
    OK(cuMemRelease(object));
    INVALID(cuMemRelease(object));
    OK(cuMemsetD32(mc, 21, 4));
    assert_int_equal(word_at(va[1]), 21);
    OK(cuMemUnmap(mc, GRAIN));
    mc = bound_team(2, GRAIN, &object, mem, va);
    OK(cuMemUnmap(mc, GRAIN));
    OK(cuMemRelease(object));
}

/* The last reference gone, the team's table entry is free: more teams than entries, one after
 * another. */
static void test_rule_46(void)
{
    start();
    Handle mem = memory(0, GRAIN, 0);
    for (int i = 0; i < 300; i++) {
        Handle object = full_team(2, GRAIN, 0);
        OK(cuMulticastBindMem(object, 0, mem, 0, GRAIN, 0));
        OK(cuMemRelease(object));
    }
}

/* Every order of taking down that clients use: u unbind, m unmap, f free the address, r release. */
static void test_rule_47(void)
{
    const char *const orders[] = {"umfr", "umr", "mur", "mfur", "urm", "rm", "mr", "rmf"};

    start();
    for (gsize i = 0; i < G_N_ELEMENTS(orders); i++) {
        Handle object, mem[2];
        CUdeviceptr va[2], mc = bound_team(2, GRAIN, &object, mem, va);
        for (const char *step = orders[i]; *step; step++) {
            if (*step == 'u')
                for (int d = 0; d < 2; d++)
                    OK(cuMulticastUnbind(object, d, 0, GRAIN));
            else if (*step == 'm')
                OK(cuMemUnmap(mc, GRAIN));
            else if (*step == 'f')
                OK(cuMemAddressFree(mc, GRAIN));
            else
                OK(cuMemRelease(object));
        }
    }
}

/* Export: one declared type, no flags, a new descriptor each time. */
static void test_rule_48(void)
{
    CUmemFabricHandle name;
    int fd = -7;

    start();
    Handle object = team(2, GRAIN, FD), mem = memory(0, GRAIN, FD);
    INVALID(cuMemExportToShareableHandle(&fd, object, FABRIC, 0));
    INVALID(cuMemExportToShareableHandle(&fd, object, FD, 1));
    INVALID(cuMemExportToShareableHandle(&fd, object, (CUmemAllocationHandleType)(FD | FABRIC), 0));
    INVALID(cuMemExportToShareableHandle(&fd, object, CU_MEM_HANDLE_TYPE_NONE, 0));
    INVALID(cuMemExportToShareableHandle(NULL, object, FD, 0));
    INVALID(cuMemExportToShareableHandle(&fd, 0, FD, 0));
    assert_int_equal(fd, -7);
    assert_int_not_equal(exported(object), exported(object));
    assert_int_not_equal(exported(mem), exported(mem));
    Handle both = team(2, GRAIN, FD | FABRIC);
    OK(cuMemExportToShareableHandle(&name, both, FABRIC, 0));
    OK(cuMemExportToShareableHandle(&fd, both, FD, 0));
}

/* Import: the descriptor may be closed at once; wrong kinds are refused; each import is a handle of
 * its own. */
static void test_rule_49(void)
{
    Handle handle = 77;
    CUmemFabricHandle name = {{0}};

    start();
    Handle object = team(2, GRAIN, FD), mem = memory(0, GRAIN, FD);
    int fd = exported(object), closed = exported(mem);
    Handle again = imported(fd), third = imported(fd);
    assert_true(again != object && third != again);
    close(fd);
    OK(cuMulticastAddDevice(again, 0));
    INVALID(cuMulticastAddDevice(object, 0)); /* the same team */
    OK(cuMemRelease(again));
    OK(cuMemRelease(third));
    INVALID(cuMemImportFromShareableHandle(&handle, (void *)0, FD)); /* stdin */
    close(closed);
    EXPECT(CUDA_ERROR_UNKNOWN, cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)closed, FD));
    INVALID(cuMemImportFromShareableHandle(NULL, (void *)0, FD));
    INVALID(cuMemImportFromShareableHandle(&handle, &name, FABRIC));
    INVALID(cuMemImportFromShareableHandle(&handle, NULL, FABRIC));
    INVALID(cuMemImportFromShareableHandle(&handle, (void *)0, CU_MEM_HANDLE_TYPE_WIN32));
    assert_int_equal(handle, 77);
}

static void second_rank(int socket)
{
    if (cuInit(0) != CUDA_SUCCESS)
        _exit(1);
    Handle object = imported(receive_fd(socket)), mem = memory(1, GRAIN, FD);
    OK(cuMulticastAddDevice(object, 1));
    OK(cuMulticastBindMem(object, 0, mem, 0, GRAIN, 0));
    CUdeviceptr va = mapped(mem, GRAIN, 1);
    use_device(1);
    OK(cuMemsetD32(va, 1, 4));
    tell(socket);
    hear(socket); /* the first rank has stored */
    if (word_at(va) != 42)
        _exit(2);
}

/* Two processes, one device each, one team: a store of the first lands in the second's memory. */
static void test_rule_50(void)
{
    int socket;
    pid_t pid = fork_child(second_rank, &socket);

    start();
    Handle object = team(2, GRAIN, FD), mem = memory(0, GRAIN, FD);
    OK(cuMulticastAddDevice(object, 0));
    send_fd(socket, exported(object));
    OK(cuMulticastBindMem(object, 0, mem, 0, GRAIN, 0));
    CUdeviceptr va = mapped(mem, GRAIN, 0);
    use_device(0);
    hear(socket);
    CUdeviceptr mc = mapped(object, GRAIN, 0);
    OK(cuMemsetD32(mc, 42, 4));
    assert_int_equal(word_at(va), 42);
    tell(socket);
    join_child(pid);
}

/* Importing after the creator's release is refused; memory is another matter. */
static void test_rule_51(void)
{
    Handle handle = 77;

    start();
    Handle object = team(2, GRAIN, FD), mem = memory(0, GRAIN, FD);
    int fd = exported(object), fd2 = exported(mem);
    OK(cuMemRelease(object));
    INVALID(cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)fd, FD));
    assert_int_equal(handle, 77);
    OK(cuMemRelease(mem));
    OK(cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)fd2, FD));
}

/* The knob shows the trap: a fresh, empty object that takes devices all over again. */
static void test_rule_51_knob(void)
{
    Handle handle;

    start();
    Handle object = full_team(2, GRAIN, FD);
    int fd = exported(object);
    OK(cuMemRelease(object));
    OK(cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)fd, FD));
    OK(cuMulticastAddDevice(handle, 0));
}

/* The knob's third value: the object lives while its descriptor is open, with the devices that were added. */
static void test_rule_51_join(void)
{
    Handle handle;

    start();
    Handle object = full_team(2, GRAIN, FD), mem = memory(0, GRAIN, FD);
    int fd = exported(object);
    OK(cuMemRelease(object));
    OK(cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)fd, FD));
    INVALID(cuMulticastAddDevice(handle, 0));
    OK(cuMulticastBindMem(handle, 0, mem, 0, GRAIN, 0));
}

static void imports_fabric(int socket)
{
    CUmemFabricHandle name, out;
    Handle handle;
    if (read(socket, &name, sizeof name) != sizeof name || cuInit(0) != CUDA_SUCCESS ||
        cuMemImportFromShareableHandle(&handle, &name, FABRIC) != CUDA_SUCCESS)
        _exit(1);
    if (cuMemExportToShareableHandle(&out, handle, FABRIC, 0) != CUDA_ERROR_NOT_SUPPORTED)
        _exit(2);
    if (cuMulticastAddDevice(handle, 1) != CUDA_SUCCESS)
        _exit(3);
}

/* What came by a fabric handle cannot be exported again. */
static void test_rule_52(void)
{
    CUmemFabricHandle name;
    int socket;
    pid_t pid = fork_child(imports_fabric, &socket);

    start();
    Handle object = team(2, GRAIN, FABRIC);
    OK(cuMemExportToShareableHandle(&name, object, FABRIC, 0));
    assert_int_equal(write(socket, &name, sizeof name), sizeof name);
    join_child(pid);
    INVALID(cuMulticastAddDevice(object, 1)); /* the child added it */
}

int main(int argc, char **argv)
{
    static const CudaTest tests[] = {
        CUDA_TEST(test_rule_40, ""),
        CUDA_TEST(test_rule_41, ""),
        CUDA_TEST(test_rule_41_knob, "cuda.unbind_mismatch=by-offset"),
        CUDA_TEST(test_rule_42, ""),
        CUDA_TEST(test_rule_43, ""),
        CUDA_TEST(test_rule_44, ""),
        CUDA_TEST(test_rule_45, ""),
        CUDA_TEST(test_rule_46, ""),
        CUDA_TEST(test_rule_47, ""),
        CUDA_TEST(test_rule_48, "cuda.imex_channel=true"),
        CUDA_TEST(test_rule_49, "cuda.imex_channel=true"),
        CUDA_TEST(test_rule_50, ""),
        CUDA_TEST(test_rule_51, ""),
        CUDA_TEST(test_rule_51_knob, "cuda.late_import=fresh"),
        CUDA_TEST(test_rule_51_join, "cuda.late_import=join"),
        CUDA_TEST(test_rule_52, "cuda.imex_channel=true"),
        CUDA_TEST_END,
    };
    return cuda_test_main(tests, argc, argv);
}
