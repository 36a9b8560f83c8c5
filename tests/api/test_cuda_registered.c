/* Memory that a program registers: kernels reach its own bytes, at its own addresses, with the rights that were asked
 * for, and no longer than it is registered. */
#include "tests/api/cuda_test.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>

static const char text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    /* adds 5 to a word of each thread; adds 1 to the word behind those of 32 threads */
    ".visible .entry inc(.param .u64 p) { .reg .b64 %a, %t; .reg .b32 %i, %v;\n"
    "ld.param.u64 %a, [p]; mov.u32 %i, %tid.x; mul.wide.u32 %t, %i, 4; add.s64 %t, %t, %a;\n"
    "ld.global.u32 %v, [%t]; add.u32 %v, %v, 5; st.global.u32 [%t], %v; red.global.add.u32 [%a+128], 1; ret; }\n"
    ".visible .entry get(.param .u64 p, .param .u64 q) { .reg .b64 %a, %b; .reg .b32 %v;\n"
    "ld.param.u64 %a, [p]; ld.param.u64 %b, [q]; ld.global.u32 %v, [%a]; st.global.u32 [%b], %v; ret; }\n"
    /* waits for a word, and answers in the next */
    ".visible .entry echo(.param .u64 p) { .reg .b64 %a; .reg .b32 %v; .reg .pred %q;\n"
    "ld.param.u64 %a, [p]; $L: ld.acquire.sys.global.u32 %v, [%a]; setp.eq.u32 %q, %v, 0; @%q bra $L;\n"
    "add.u32 %v, %v, 1; st.release.sys.global.u32 [%a+4], %v; ret; }\n";

static CUfunction function_of(const char *name)
{
    CUmodule module;
    CUfunction function;

    OK(cuModuleLoadData(&module, text));
    OK(cuModuleGetFunction(&function, module, name));
    return function;
}

static CUresult run(const char *name, guint threads, void *p, CUdeviceptr q)
{
    CUdeviceptr a = (CUdeviceptr)(guintptr)p;
    void *params[] = {&a, &q};
    OK(cuLaunchKernel(function_of(name), 1, 1, 1, threads, 1, 1, 0, NULL, params, NULL));
    return cuCtxSynchronize();
}

/* Proves that a kernel reads and writes the program's own bytes, wherever they begin, and does atomics on them. */
static void test_reached(void)
{
    g_autofree guint8 *memory = g_malloc0(65536);
    guint32 *word = (guint32 *)(void *)(memory + 20); /* on no page's begin */
    CUdeviceptr there;

    start();
    use_device(0);
    for (guint32 i = 0; i < 32; i++)
        word[i] = i;
    OK(cuMemHostRegister(word, 4 * 33, CU_MEMHOSTREGISTER_DEVICEMAP));
    OK(cuMemHostGetDevicePointer(&there, word, 0));
    assert_true(there == (CUdeviceptr)(guintptr)word);
    OK(run("inc", 32, word, 0));
    for (guint32 i = 0; i < 32; i++)
        assert_int_equal(word[i], i + 5);
    assert_int_equal(word[32], 32);
    OK(cuMemHostUnregister(word));
    EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, run("inc", 32, word, 0));
    assert_int_equal(word[0], 5);
}

/* Proves that the mapping ends where what was registered ends, not with its page. */
static void test_end(void)
{
    guint32 *word = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    start();
    use_device(0);
    OK(cuMemHostRegister(word, 128, 0));
    EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, run("inc", 32, word, 0)); /* its sum lies behind */
    assert_int_equal(word[32], 0);
}

/* Proves that a kernel and the program talk through registered memory, as a proxy thread and its kernel do. */
static void test_talk(void)
{
    guint32 *word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CUdeviceptr a = (CUdeviceptr)(guintptr)word;
    void *params[] = {&a};

    start();
    use_device(0);
    OK(cuMemHostRegister(word, 4096, 0));
    OK(cuLaunchKernel(function_of("echo"), 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    EXPECT(CUDA_ERROR_NOT_READY, cuStreamQuery(NULL));
    assert_int_equal(word[1], 0);
    __atomic_store_n(&word[0], 41, __ATOMIC_RELEASE);
    OK(cuCtxSynchronize());
    assert_int_equal(word[1], 42);
}

/* Proves that memory registered to be read is read, and not written. */
static void test_read_only(void)
{
    guint32 *word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), got = 0;
    CUdeviceptr out;

    start();
    use_device(0);
    word[0] = 77;
    assert_int_equal(mprotect(word, 4096, PROT_READ), 0);
    INVALID(cuMemHostRegister(word, 4096, 0)); /* the program itself may not write it */
    OK(cuMemHostRegister(word, 4096, CU_MEMHOSTREGISTER_READ_ONLY));
    OK(cuMemAlloc(&out, 4));
    OK(run("get", 1, word, out));
    OK(cuMemcpyDtoH(&got, out, 4));
    assert_int_equal(got, 77);
    EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, run("inc", 32, word, 0));
}

/* Proves that memory that is not there is refused, and that memory that goes without a word makes an error of the
 * kernel and not the end of the process. */
static void test_gone(void)
{
    guint32 *word = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    start();
    use_device(0);
    INVALID(cuMemHostRegister((void *)4096, 4096, 0));
    assert_int_equal(munmap(word + 1024, 4096), 0);
    INVALID(cuMemHostRegister(word, 8192, 0));
    OK(cuMemHostRegister(word, 4096, 0));
    assert_int_equal(munmap(word, 4096), 0);
    EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, run("inc", 32, word, 0));
}

/* Proves that two processes that have registered one file see each other's kernels write, as NCCL's transport by shared
 * memory needs it, and that a wait for a process that lives is not called stuck. */
static void test_shared(void)
{
    guint32 *word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status = -1;
    pid_t child = fork();

    alarm(60);
    start();
    use_device(0);
    OK(cuMemHostRegister(word, 4096, 0));
    if (child == 0) {
        CUresult result = run("echo", 1, word, 0); /* until the parent's kernel has written the first word */
        _exit(result == CUDA_SUCCESS && word[1] == 6 ? 0 : 1);
    }
    g_usleep(500000); /* the child's kernel waits by now, most likely: what it sees is the same */
    OK(run("inc", 1, word, 0));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(word[1], 6);
    alarm(0);
}

/* Proves that a wait for what a process would write that has ended, but that nobody has waited for, is told to be
 * stuck. */
static void test_zombie(void)
{
    siginfo_t how;
    int pipes[2][2];
    char path[64] = "";

    assert_true(pipe(pipes[0]) == 0 && pipe(pipes[1]) == 0);
    pid_t child = fork();
    start();
    use_device(0);
    if (child == 0) {
        Handle other;
        assert_true(read(pipes[0][0], path, sizeof path) == sizeof path);
        int fd = open(path, O_RDWR);
        OK(cuMemImportFromShareableHandle(&other, (void *)(guintptr)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
        assert_true(write(pipes[1][1], path, 1) == 1);
        _exit(0);
    }
    Handle mem = memory(0, GRAIN, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    CUdeviceptr va = reserve(GRAIN);
    int fd = -1;
    OK(cuMemMap(va, GRAIN, 0, mem, 0));
    const CUmemAccessDesc desc = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    OK(cuMemSetAccess(va, GRAIN, &desc, 1));
    OK(cuMemExportToShareableHandle(&fd, mem, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    g_snprintf(path, sizeof path, "/proc/%d/fd/%d", getpid(), fd);
    assert_true(write(pipes[0][1], path, sizeof path) == sizeof path && read(pipes[1][0], path, 1) == 1);
    assert_int_equal(waitid(P_PID, (id_t)child, &how, WEXITED | WNOWAIT), 0); /* it stays a zombie */
    assert_int_equal(kill(child, 0), 0);
    alarm(60);
    EXPECT(CUDA_ERROR_LAUNCH_TIMEOUT, run("echo", 1, (void *)(guintptr)va, 0));
    alarm(0);
}

/* Proves that two processes that have registered the same part of a file, at addresses of their own, have one memory:
 * the parent's kernel writes what the child's waits for. */
static void test_part(void)
{
    int fd = memfd_create("part", MFD_CLOEXEC), status = -1;

    assert_int_equal(ftruncate(fd, 5 * 4096), 0);
    pid_t child = fork();
    guint8 *all = mmap(NULL, 5 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    guint32 *word = (guint32 *)(void *)(all + 3 * 4096);
    alarm(60);
    start();
    use_device(0);
    OK(cuMemHostRegister(word, 4096, 0));
    if (child == 0)
        _exit(run("echo", 1, word, 0) == CUDA_SUCCESS && word[1] == 6 ? 0 : 1);
    g_usleep(200000);
    OK(run("inc", 1, word, 0));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(word[1], 6);
    assert_int_equal(all[2 * 4096 + 4], 0);
    alarm(0);
}

/* Proves that two registrations in one page do not part each other's bytes, whichever ends first, nor those between. */
static void test_neighbours(void)
{
    guint32 *word = mmap(NULL, 4 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    start();
    use_device(0);
    word[40] = 1;
    OK(cuMemHostRegister(word, 140, 0));
    OK(cuMemHostRegister(word + 64, 2 * 4096, 0)); /* from the same page to one behind */
    OK(run("inc", 1, word, 0));
    OK(run("inc", 1, word + 64, 0));
    assert_true(word[0] == 5 && word[64] == 5 && word[32] == 1 && word[96] == 1 && word[40] == 1);
    OK(cuMemHostUnregister(word + 64));
    OK(run("inc", 1, word, 0));
    assert_true(word[0] == 10 && word[64] == 5 && word[40] == 1);
    OK(cuMemHostUnregister(word));
    assert_true(word[0] == 10 && word[64] == 5 && word[40] == 1);
    OK(cuMemHostRegister(word, 140, 0));
    OK(run("inc", 1, word, 0));
    assert_true(word[0] == 15 && word[64] == 5);
}

typedef struct {
    guint32 *word;
    gint stop;
} Writer;

static gpointer writer_main(gpointer data)
{
    Writer *writer = data;
    guint32 n = 0;

    for (; !g_atomic_int_get(&writer->stop) && n < 100000000; n++)
        __atomic_add_fetch(writer->word, 1, __ATOMIC_RELAXED);
    return GUINT_TO_POINTER(n);
}

/* Proves that nothing is lost of what another thread writes beside memory while that is registered and let go. */
static void test_beside(void)
{
    guint32 *word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    Writer writer = {word + 512, 0};

    start();
    use_device(0);
    GThread *thread = g_thread_new("writer", writer_main, &writer);
    for (guint i = 0; i < 20; i++) {
        OK(cuMemHostRegister(word, 128, 0));
        OK(cuMemHostUnregister(word));
    }
    g_atomic_int_set(&writer.stop, 1);
    const guint32 n = GPOINTER_TO_UINT(g_thread_join(thread)); /* before the word is read: it may write until then */
    assert_int_equal(n, word[512]);
}

/* Proves that a forked child has the registered bytes, and that what it writes there is its own. */
static void test_fork(void)
{
    guint32 *word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int status = -1;

    start();
    use_device(0);
    word[0] = 7;
    OK(cuMemHostRegister(word, 4096, 0));
    pid_t child = fork();
    if (child == 0) {
        gboolean same = word[0] == 7;
        word[0] = 9;
        _exit(same && cuMemHostUnregister(word) == CUDA_ERROR_NOT_INITIALIZED ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(word[0], 7);
    OK(run("inc", 1, word, 0));
    assert_int_equal(word[0], 12);
}

/* Proves that a file which is made shorter under the owner of the machine does not end that: what was there reads as
 * zeros, and other memory is as ever. */
static void test_cut(void)
{
    int fd = memfd_create("cut", MFD_CLOEXEC);
    guint32 got = 1, *other = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CUdeviceptr out;

    if (!g_getenv("FANOUT_OWNER")) /* then the program's own mapping would end it */
        return;
    assert_int_equal(ftruncate(fd, 4096), 0);
    guint32 *word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    start();
    use_device(0);
    word[0] = 77;
    OK(cuMemHostRegister(word, 4096, 0));
    OK(cuMemHostRegister(other, 4096, 0));
    OK(cuMemAlloc(&out, 4));
    OK(run("get", 1, word, out));
    OK(cuMemcpyDtoH(&got, out, 4));
    assert_int_equal(got, 77);
    assert_int_equal(ftruncate(fd, 0), 0);
    OK(run("get", 1, word, out));
    OK(cuMemcpyDtoH(&got, out, 4));
    assert_int_equal(got, 0);
    OK(run("inc", 1, word, 0));
    OK(run("inc", 1, other, 0));
    assert_int_equal(other[0], 5);
}

int main(int argc, char **argv)
{
    static const CudaTest tests[] = {CUDA_TEST(test_reached, ""),
                                     CUDA_TEST(test_end, ""),
                                     CUDA_TEST(test_talk, ""),
                                     CUDA_TEST(test_read_only, ""),
                                     CUDA_TEST(test_gone, ""),
                                     CUDA_TEST(test_shared, ""),
                                     CUDA_TEST(test_zombie, ""),
                                     CUDA_TEST(test_part, ""),
                                     CUDA_TEST(test_neighbours, ""),
                                     CUDA_TEST(test_beside, ""),
                                     CUDA_TEST(test_fork, ""),
                                     CUDA_TEST(test_cut, ""),
                                     CUDA_TEST_END};
    return cuda_test_main(tests, argc, argv);
}
