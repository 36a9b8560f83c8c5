/* What other processes may do to what is shared with them: shrink it, forge it, fill it with anything, keep its
 * lock. The calls of this process answer; none crashes, none waits for ever. */
#include "tests/api/cuda_test.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "api/cuda/memory/phys.h"
#include "api/cuda/multicast/team.h"

#define FD_TYPE CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR

static guint64 random_state = 1;
static guint64 draw(guint64 below)
{
    random_state += 0x9e3779b97f4a7c15u;
    guint64 z = random_state;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (z ^ z >> 31) % below;
}

static int export(Handle handle)
{
    int fd = -1;
    OK(cuMemExportToShareableHandle(&fd, handle, FD_TYPE, 0));
    return fd;
}

static CUresult import(int fd, Handle *handle)
{
    return cuMemImportFromShareableHandle(handle, (void *)(intptr_t)fd, FD_TYPE);
}

static guint64 size_of(int fd) { return (guint64)lseek(fd, 0, SEEK_END); }

/* A file with the same bytes from `from` on, of another inode; sealed as the library seals its own, or not. */
static int copy_of(int fd, guint64 from, gboolean sealed)
{
    guint64 bytes = size_of(fd);
    int copy = memfd_create("copy", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    guint8 *source = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);

    assert_int_equal(ftruncate(copy, (off_t)bytes), 0);
    assert_int_equal(pwrite(copy, source + from, bytes - from, (off_t)from), bytes - from);
    if (sealed)
        assert_int_equal(fcntl(copy, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
    munmap(source, bytes);
    return copy;
}

/* Proves that nobody can take bytes from under a mapping: neither memory nor objects change their size, exported or
 * not yet, and they go on working. */
static void test_files_keep_their_size(void)
{
    start();
    use_device(0);
    Handle object = team(2, GRAIN, FD_TYPE), mem = memory(0, GRAIN, FD_TYPE);
    int fds[] = {export(object), export(mem)};
    for (gsize i = 0; i < G_N_ELEMENTS(fds); i++) {
        guint64 bytes = size_of(fds[i]);
        assert_int_equal(ftruncate(fds[i], 0), -1);
        assert_int_equal(ftruncate(fds[i], (off_t)bytes - 1), -1);
        assert_int_equal(ftruncate(fds[i], (off_t)bytes + 4096), -1);
        assert_int_equal(size_of(fds[i]), bytes);
        assert_true(fcntl(fds[i], F_ADD_SEALS, F_SEAL_WRITE) < 0);
    }
    OK(cuMulticastAddDevice(object, 0));
    OK(cuMulticastAddDevice(object, 1));
    OK(cuMulticastBindMem(object, 0, mem, 0, GRAIN, 0));
    CUdeviceptr va = mapped(mem, GRAIN, 0);
    OK(cuMemsetD32(va, 5, 16));
    assert_int_equal(word_at(va + 60), 5);
}

/* Proves that only descriptors that can be written and files that keep their size are taken,
 * whatever stands in them. */
static void test_only_sealed_files_are_taken(void)
{
    Handle handle = 0;

    start();
    use_device(0);
    Handle object = team(2, GRAIN, FD_TYPE), mem = memory(0, GRAIN, FD_TYPE);
    int fds[] = {export(object), export(mem)};
    for (gsize i = 0; i < G_N_ELEMENTS(fds); i++) {
        guint64 from = i == 0 ? 0 : GRAIN;
        int loose = copy_of(fds[i], from, FALSE), sealed = copy_of(fds[i], from, TRUE);
        g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", sealed);
        INVALID(import(loose, &handle));
        INVALID(import(open(path, O_RDONLY), &handle));
        OK(import(sealed, &handle)); /* as another process's would be */
        OK(cuMemRelease(handle));
    }
    int others[] = {open("/dev/zero", O_RDWR), open("/dev/null", O_RDWR), open("/etc/passwd", O_RDONLY),
                    open("/tmp", O_RDONLY), memfd_create("empty", 0)};
    for (gsize i = 0; i < G_N_ELEMENTS(others); i++)
        INVALID(import(others[i], &handle));
}

typedef struct {
    gsize offset, bytes;
    gint64 value;
} Forgery;
#define PAGE(type, member, value)                                                                                      \
    {                                                                                                                  \
        offsetof(type, member), sizeof(((type *)NULL)->member), value                                                  \
    }

static void refuse(int fd, guint64 base, const Forgery *forgery, gsize n)
{
    for (gsize i = 0; i < n; i++) {
        Handle handle = 0;
        int copy = copy_of(fd, base, TRUE);
        assert_int_equal(pwrite(copy, &forgery[i].value, forgery[i].bytes, (off_t)(base + forgery[i].offset)),
                         forgery[i].bytes);
        if (import(copy, &handle) != CUDA_ERROR_INVALID_VALUE)
            fail_msg("a page with %" G_GINT64_FORMAT " at %zu was taken", forgery[i].value, forgery[i].offset);
        close(copy);
    }
}

/* Proves that a page with a property that no call makes is refused. */
static void test_forged_properties(void)
{
    const gsize kind = offsetof(pthread_mutex_t, __data.__kind);
    const Forgery memory_forgeries[] = {PAGE(PhysPage, magic, 0),
                                        PAGE(PhysPage, bytes, 0),
                                        PAGE(PhysPage, bytes, GRAIN + 4096),
                                        PAGE(PhysPage, bytes, -1),
                                        PAGE(PhysPage, location_type, 0),
                                        PAGE(PhysPage, location_type, 2),
                                        PAGE(PhysPage, location_type, 4),
                                        PAGE(PhysPage, location_type, -1),
                                        PAGE(PhysPage, location_id, 8),
                                        PAGE(PhysPage, location_id, -1),
                                        PAGE(PhysPage, location_id, 65536),
                                        PAGE(PhysPage, handle_types, 0),
                                        PAGE(PhysPage, handle_types, 3),
                                        PAGE(PhysPage, handle_types, -1),
                                        {offsetof(PhysShared, lock) + kind, 4, 0},
                                        {offsetof(PhysShared, lock) + kind, 4, 0x3f},
                                        {offsetof(PhysShared, lock) + kind, 4, -1}};
    const Forgery team_forgeries[] = {PAGE(TeamPage, magic, 1),
                                      PAGE(TeamPage, bytes, 0),
                                      PAGE(TeamPage, bytes, GRAIN + 1),
                                      PAGE(TeamPage, bytes, -1),
                                      PAGE(TeamPage, handle_types, 0),
                                      PAGE(TeamPage, handle_types, 16),
                                      PAGE(TeamPage, handle_types, -1),
                                      PAGE(TeamPage, n_devices, 0),
                                      PAGE(TeamPage, n_devices, TEAM_MEMBERS_MAX + 1),
                                      PAGE(TeamPage, n_devices, -1),
                                      {offsetof(TeamPage, lock) + kind, 4, 0},
                                      {offsetof(TeamPage, lock) + kind, 4, 0x7f}};

    start();
    use_device(0);
    int fd = export(memory(0, GRAIN, FD_TYPE));
    refuse(fd, GRAIN, memory_forgeries, G_N_ELEMENTS(memory_forgeries));
    refuse(export(team(2, GRAIN, FD_TYPE)), 0, team_forgeries, G_N_ELEMENTS(team_forgeries));
}

/* Everything that a team is for; any answer is good. */
static void use_team(Handle object, Handle mem)
{
    CUdeviceptr va = reserve(GRAIN);
    CUmemAllocationProp prop;
    int fd;

    for (int i = 0; i < 3; i++)
        cuMulticastAddDevice(object, i);
    cuMemGetAllocationPropertiesFromHandle(&prop, object);
    if (cuMulticastBindMem(object, 0, mem, 0, GRAIN, 0) == CUDA_SUCCESS)
        cuMulticastUnbind(object, 0, 0, GRAIN);
    cuMulticastUnbind(object, 1, 0, GRAIN);
    if (cuMemMap(va, GRAIN, 0, object, 0) == CUDA_SUCCESS) {
        if (set_access(va, GRAIN, 0) == CUDA_SUCCESS)
            cuMemsetD32Async(va, 1, 16, NULL);
        cuMemUnmap(va, GRAIN);
    }
    if (cuMemExportToShareableHandle(&fd, object, FD_TYPE, 0) == CUDA_SUCCESS)
        close(fd);
    cuMemAddressFree(va, GRAIN);
}

/* Garbage somewhere in the page, most of it where its counters are; the properties stay as they are. */
static void spoil(guint8 *page, gboolean lock)
{
    const gsize first = offsetof(TeamPage, sequence), binds = offsetof(TeamPage, bind);

    for (guint64 n = 1 + draw(6); n > 0; n--) {
        gsize at = draw(3) ? first + draw(binds + 4 * sizeof(TeamBind) - first)
                           : first + draw(sizeof(TeamPage) - first - 8);
        guint64 value = draw(2) ? draw(256) : draw(G_MAXUINT64);
        memcpy(page + at, &value, draw(2) ? 4 : 1);
    }
    if (lock)
        memset(page + offsetof(TeamPage, lock) + draw(sizeof(pthread_mutex_t)), (int)draw(256), 1);
}

/* Proves that sealed pages with anything behind their properties end no process when they are imported and used, and
 * no call waits where the team is complete. */
static void test_forged_contents(void)
{
    start();
    use_device(0);
    Handle mem = memory(0, GRAIN, FD_TYPE), object = team(2, GRAIN, FD_TYPE), handle;
    int fd = export(object);
    OK(cuMulticastAddDevice(object, 0));
    OK(cuMulticastAddDevice(object, 1));
    OK(cuMulticastBindMem(object, 0, mem, 0, GRAIN, 0));
    for (int i = 0; i < 300; i++) {
        int copy = copy_of(fd, 0, TRUE);
        TeamPage *page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, copy, 0);
        spoil((guint8 *)page, FALSE);
        page->n_members = MAX(page->n_members, 2); /* who is missing would be waited for */
        if (import(copy, &handle) == CUDA_SUCCESS) {
            use_team(handle, mem);
            cuMemRelease(handle);
        }
        munmap(page, sizeof *page);
        close(copy);
    }
    cuCtxSynchronize(); /* accesses to what is bound nowhere are faults */
    CUdeviceptr va = mapped(mem, GRAIN, 0);
    OK(cuMemsetD32(va, 9, 16));
    assert_int_equal(word_at(va), 9);
}

/* Proves the same of an object in use, whose page a peer fills with anything while it is used. */
static void test_a_page_that_changes(void)
{
    Handle object = 0;

    start();
    use_device(0);
    Handle mem = memory(0, GRAIN, FD_TYPE);
    for (int i = 0; i < 150; i++) {
        object = full_team(2, GRAIN, FD_TYPE);
        int fd = export(object);
        TeamPage *page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        cuMulticastBindMem(object, 0, mem, 0, GRAIN, 0);
        for (int k = 0; k < 3; k++) {
            spoil((guint8 *)page, FALSE);
            page->n_members = MAX(page->n_members, 2);
            g_atomic_int_inc(&page->sequence);
            use_team(object, mem);
        }
        cuMemRelease(object);
        munmap(page, sizeof *page);
        close(fd);
    }
}

/* Proves that a bind that the fabric does not make is no success: a peer makes the page say that a bind is elsewhere,
 * so that the call finds room there, and the fabric, which still has it, refuses. It may be tried again. */
static void test_a_bind_that_the_fabric_refuses(void)
{
    start();
    use_device(0);
    Handle mem = memory(0, GRAIN, FD_TYPE), object = full_team(2, 2 * GRAIN, FD_TYPE);
    int fd = export(object);
    TeamPage *page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    OK(cuMulticastBindMem(object, 0, mem, 0, GRAIN, 0));
    page->bind[0].offset = GRAIN;
    assert_int_equal(cuMulticastBindMem(object, 0, mem, 0, GRAIN, 0), CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(page->n_binds, 1);
    OK(cuMulticastUnbind(object, 0, GRAIN, GRAIN));
    OK(cuMulticastBindMem(object, 0, mem, 0, GRAIN, 0));
    munmap(page, sizeof *page);
    close(fd);
}

/* Proves that a lock that a peer keeps for ever, or breaks, is gone past after some seconds, once. */
static void test_locks_that_are_kept(void)
{
    start();
    alarm(30);
    use_device(0);
    Handle mem = memory(0, GRAIN, FD_TYPE);
    for (int broken = 0; broken < 2; broken++) {
        Handle object = team(2, GRAIN, FD_TYPE);
        int fd = export(object);
        TeamPage *page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (broken)
            memset(&page->lock, 0xa5, sizeof page->lock);
        else
            page->lock.__data.__lock = 0x12345;
        OK(cuMulticastAddDevice(object, 0));
        OK(cuMulticastAddDevice(object, 1));
        OK(cuMulticastBindMem(object, 0, mem, 0, GRAIN, 0));
        OK(cuMulticastUnbind(object, 0, 0, GRAIN));
        OK(cuMemRelease(object));
        munmap(page, sizeof *page);
    }
    alarm(0);
}

/* Proves that a fabric handle that names what is no shared file is refused, without opening it. */
static void test_forged_fabric_handles(void)
{
    CUmemFabricHandle name, forged;
    Handle handle = 0;
    int ends[2];

    start();
    use_device(0);
    Handle mem = memory(0, GRAIN, CU_MEM_HANDLE_TYPE_FABRIC);
    assert_int_equal(pipe(ends), 0);
    OK(cuMemExportToShareableHandle(&name, mem, CU_MEM_HANDLE_TYPE_FABRIC, 0));
    OK(cuMemImportFromShareableHandle(&handle, &name, CU_MEM_HANDLE_TYPE_FABRIC));
    for (int i = 0; i < 500; i++) {
        forged = name;
        guint32 at = draw(32); /* what is behind is not looked at */
        ((guint8 *)&forged)[at] ^= (guint8)(1 + draw(255));
        CUresult result = cuMemImportFromShareableHandle(&handle, &forged, CU_MEM_HANDLE_TYPE_FABRIC);
        /* another process or descriptor (from byte 24 on) may lead to the same file, as a thread's number does */
        assert_true(result == CUDA_ERROR_INVALID_VALUE || result == CUDA_ERROR_NOT_PERMITTED ||
                    (at >= 24 && result == CUDA_SUCCESS));
    }
    memcpy((guint8 *)&name + 28, &ends[0], sizeof(int)); /* the descriptor: a pipe */
    INVALID(cuMemImportFromShareableHandle(&handle, &name, CU_MEM_HANDLE_TYPE_FABRIC));
}

int main(int argc, char **argv)
{
    static const CudaTest tests[] = {
        CUDA_TEST(test_files_keep_their_size, ""),
        CUDA_TEST(test_only_sealed_files_are_taken, ""),
        CUDA_TEST(test_forged_properties, ""),
        CUDA_TEST(test_forged_contents, "cuda.sticky_faults=false"),
        CUDA_TEST(test_a_page_that_changes, ""),
        CUDA_TEST(test_a_bind_that_the_fabric_refuses, ""),
        CUDA_TEST(test_locks_that_are_kept, ""),
        CUDA_TEST(test_forged_fabric_handles, "cuda.imex_channel=true"),
        CUDA_TEST_END,
    };
    return cuda_test_main(tests, argc, argv);
}
