/* Device programs on streams: order with copies, kernels of two threads that wait for each other,
 * faults. */
#include "tests/api/cuda_test.h"

typedef struct {
    FoAddress flag, data;
    uint64_t value;
} Args;

static void store_one(FoCta *cta, const void *data)
{
    const Args *args = data;
    FoReg *value = fo_reg(cta, 4);
    fo_set_u64(cta, value, args->value);
    fo_only(cta, 0, 1);
    fo_st_sys(cta, args->data, value, FO_RELAXED);
    fo_fence(cta);
    fo_st_sys(cta, args->flag, value, FO_RELEASE);
}

static void wait_for_flag(FoCta *cta, const void *data)
{
    const Args *args = data;
    FoReg *value = fo_reg(cta, 4);
    fo_only(cta, 0, 1);
    fo_poll(cta, args->flag, 4, FO_EQ, args->value, FO_ACQUIRE);
    fo_ld_sys(cta, value, args->data, FO_ACQUIRE);
    fo_st_sys(cta, args->data + 8, value, FO_RELAXED);
}

static void store_to_all(FoCta *cta, const void *data)
{
    const Args *args = data;
    FoLoop loop = {.bytes = args->value,
                   .width = 16,
                   .unroll = 1,
                   .destinations = 1,
                   .destination = {{FO_MULTIMEM_ST, args->data}},
                   .fill = {7, 7, 7, 7}};
    fo_loop(cta, &loop);
}

static CUresult launch(FoProgram program, const Args *args, CUstream stream)
{
    FoKernel kernel = {"test", program, args, sizeof *args, 1, 32};
    return fo_launch(&kernel, stream);
}

/* A kernel runs behind the copy before it and before the copy behind it. */
static void test_order_with_copies(void)
{
    CUdeviceptr va;
    guint32 word = 1, after[4] = {0};

    start();
    use_device(0);
    OK(cuMemAlloc(&va, 4096));
    OK(cuMemsetD32Async(va, 0, 1024, NULL));
    OK(cuMemcpyHtoDAsync(va + 4, &word, 4, NULL));
    Args args = {va, va + 8, 5};
    OK(launch(store_one, &args, NULL));
    OK(cuMemcpyDtoHAsync(after, va, sizeof after, NULL));
    OK(cuCtxSynchronize());
    assert_int_equal(after[0], 5);
    assert_int_equal(after[1], 1);
    assert_int_equal(after[2], 5);
}

typedef struct {
    CUcontext context;
    Args args;
} Late;

static gpointer launch_late(gpointer data)
{
    Late *late = data;
    CUstream stream;
    OK(cuCtxSetCurrent(late->context));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    g_usleep(100000);
    OK(launch(store_one, &late->args, stream));
    OK(cuStreamSynchronize(stream));
    return NULL;
}

/* One thread's kernel waits for what another thread's kernel, not launched yet, will store: legal.
 */
static void test_kernels_of_two_threads(void)
{
    CUdeviceptr va;
    CUstream stream;
    Late late;

    start();
    use_device(0);
    OK(cuMemAlloc(&va, 4096));
    OK(cuMemsetD32(va, 0, 1024));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    late.args = (Args){va, va + 64, 9};
    OK(cuCtxGetCurrent(&late.context));
    OK(launch(wait_for_flag, &late.args, stream));
    EXPECT(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
    GThread *thread = g_thread_new("late", launch_late, &late);
    OK(cuStreamSynchronize(stream));
    g_thread_join(thread);
    assert_int_equal(word_at(va + 72), 9);
}

/* A kernel that nobody will wake is an answer, not a hang. */
static void test_kernel_that_waits_for_ever(void)
{
    CUdeviceptr va;

    start();
    use_device(0);
    OK(cuMemAlloc(&va, 4096));
    OK(cuMemsetD32(va, 0, 1024));
    Args args = {va, va + 64, 9};
    OK(launch(wait_for_flag, &args, NULL));
    EXPECT(CUDA_ERROR_LAUNCH_TIMEOUT, cuCtxSynchronize());
}

/* What no GPU does, and then the wait. */
static void fault_then_wait(FoCta *cta, const void *args)
{
    FoReg *value = fo_reg(cta, 4);
    fo_set_u64(cta, value, 1);
    fo_st(cta, 4096, value);
    wait_for_flag(cta, args);
}

/* A kernel that met a fault and then waits for ever is told by its fault, as on a device, which ends it there. */
static void test_fault_before_a_wait(void)
{
    CUdeviceptr va;

    start();
    use_device(0);
    OK(cuMemAlloc(&va, 4096));
    OK(cuMemsetD32(va, 0, 1024));
    Args args = {va, va + 64, 9};
    OK(launch(fault_then_wait, &args, NULL));
    EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
}

/* One multimem.st, and nothing else. */
static void store_to_team(FoCta *cta, const void *args)
{
    const CUdeviceptr *va = args;
    const FoMultimem form = {.type = FO_U32};
    FoReg *value = fo_reg(cta, 4);
    fo_set_u64(cta, value, 1);
    fo_multimem_st(cta, *va, value, &form);
}

static CUresult after_a_store_to_a_team(void)
{
    Handle object, mem[2];
    CUdeviceptr va[2], team;

    start();
    team = bound_team(2, GRAIN, &object, mem, va);
    FoKernel kernel = {"store", store_to_team, &team, sizeof team, 1, 32};
    OK(fo_launch(&kernel, NULL));
    return cuCtxSynchronize();
}

/* A GPU that has no multimem ends a kernel that uses it with an illegal instruction; one that has does not. */
static void test_multimem_where_there_is_none(void)
{
    EXPECT(CUDA_ERROR_ILLEGAL_INSTRUCTION, after_a_store_to_a_team());
}

/* The same kernel ends well on a GPU that has it. */
static void test_multimem_where_there_is(void) { OK(after_a_store_to_a_team()); }

static gpointer idle(gpointer data)
{
    g_usleep(3000000);
    return data;
}

/* An idle thread might act; the watchdog ends the wait all the same. */
static void test_watchdog_ends_a_wait(void)
{
    CUdeviceptr va;

    start();
    use_device(0);
    g_thread_unref(g_thread_new("idle", idle, NULL));
    OK(cuMemAlloc(&va, 4096));
    OK(cuMemsetD32(va, 0, 1024));
    Args args = {va, va + 64, 9};
    OK(launch(wait_for_flag, &args, NULL));
    EXPECT(CUDA_ERROR_LAUNCH_TIMEOUT, cuCtxSynchronize());
}

/* A store to a slot that nobody bound: whoever waits learns it, and the context keeps it. */
static void test_fault_of_a_kernel(void)
{
    Handle object, mem[2];
    CUdeviceptr va[2], plain;

    start();
    use_device(0);
    object = full_team(2, 2 * GRAIN, 0);
    for (int i = 0; i < 2; i++) {
        mem[i] = memory(i, GRAIN, 0);
        va[i] = mapped(mem[i], GRAIN, i);
        OK(cuMulticastBindMem(object, 0, mem[i], 0, GRAIN, 0));
    }
    CUdeviceptr mc = mapped(object, 2 * GRAIN, 0);
    OK(cuMemAlloc(&plain, 4096));
    Args args = {0, mc, 4096};
    OK(launch(store_to_all, &args, NULL));
    OK(cuCtxSynchronize());
    assert_int_equal(word_at(va[1] + 4092), 7);
    args.data = mc + GRAIN; /* bound by nobody */
    OK(launch(store_to_all, &args, NULL));
    EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemsetD8(plain, 1, 1));
    use_device(1); /* another context is not touched by it */
    OK(cuMemsetD8(va[1], 1, 1));
}

static void waits_for_parent(int socket)
{
    Handle mem = 0;
    CUstream stream;
    int fd = receive_fd(socket);
    if (cuInit(0) != CUDA_SUCCESS)
        _exit(1);
    OK(cuMemImportFromShareableHandle(&mem, (void *)(intptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    use_device(1);
    CUdeviceptr va = mapped(mem, GRAIN, 1);
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    Args args = {va, va + 64, 9};
    OK(launch(wait_for_flag, &args, NULL));
    OK(cuStreamWaitValue32(stream, va, 9, CU_STREAM_WAIT_VALUE_EQ));
    tell(socket);
    if (cuStreamSynchronize(stream) != CUDA_SUCCESS || cuCtxSynchronize() != CUDA_SUCCESS)
        _exit(2);
    if (word_at(va + 72) != 9)
        _exit(3);
}

/* A kernel and a stream wait for what another process's kernel stores, long after every thread of
 * their own process waits. */
static void test_flag_of_another_process(void)
{
    int socket, fd;
    pid_t pid = fork_child(waits_for_parent, &socket);

    start();
    use_device(0);
    Handle mem = memory(1, GRAIN, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR); /* of the one that polls */
    CUdeviceptr va = mapped(mem, GRAIN, 0);
    OK(cuMemsetD32(va, 0, 1024));
    OK(cuMemExportToShareableHandle(&fd, mem, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    send_fd(socket, fd);
    hear(socket);
    g_usleep(700000); /* longer than a process alone would wait */
    Args args = {va, va + 64, 9};
    OK(launch(store_one, &args, NULL));
    OK(cuCtxSynchronize());
    join_child(pid);
}

/* With nobody else alive who shares the memory, waiting for ever is an answer as before. */
static void test_shared_with_nobody(void)
{
    int fd;

    start();
    use_device(0);
    Handle mem = memory(0, GRAIN, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    CUdeviceptr va = mapped(mem, GRAIN, 0);
    OK(cuMemsetD32(va, 0, 1024));
    OK(cuMemExportToShareableHandle(&fd, mem, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    Args args = {va, va + 64, 9};
    OK(launch(wait_for_flag, &args, NULL));
    EXPECT(CUDA_ERROR_LAUNCH_TIMEOUT, cuCtxSynchronize());
}

/* A linked image that is cut off, in its head too, is told as such, and nothing is read behind it; a whole one is
 * taken. */
static void test_linked_image_cut_off(void)
{
    static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n";
    CUlinkState linker, other;
    CUmodule module;
    void *image;
    size_t bytes;

    start();
    use_device(0);
    OK(cuLinkCreate(0, NULL, NULL, &linker));
    OK(cuLinkAddData(linker, CU_JIT_INPUT_PTX, (void *)(guintptr)text, sizeof text, "k", 0, NULL, NULL));
    OK(cuLinkComplete(linker, &image, &bytes));
    OK(cuModuleLoadData(&module, image));
    const size_t lengths[] = {8, 16, 23, 24, bytes - 1, bytes};
    for (guint i = 0; i < G_N_ELEMENTS(lengths); i++) {
        g_autofree void *part = g_memdup2(image, lengths[i]);
        OK(cuLinkCreate(0, NULL, NULL, &other));
        EXPECT(lengths[i] < bytes ? CUDA_ERROR_INVALID_IMAGE : CUDA_SUCCESS,
               cuLinkAddData(other, CU_JIT_INPUT_CUBIN, part, lengths[i], "part", 0, NULL, NULL));
        OK(cuLinkDestroy(other));
    }
    OK(cuLinkDestroy(linker));
}

int main(int argc, char **argv)
{
    static const CudaTest tests[] = {
        CUDA_TEST(test_order_with_copies, ""),
        CUDA_TEST(test_kernels_of_two_threads, ""),
        CUDA_TEST(test_kernel_that_waits_for_ever, ""),
        CUDA_TEST(test_fault_before_a_wait, ""),
        CUDA_TEST(test_multimem_where_there_is_none, "sm.arch=70"),
        CUDA_TEST(test_multimem_where_there_is, ""),
        CUDA_TEST(test_watchdog_ends_a_wait, "cuda.watchdog_ms=300"),
        CUDA_TEST(test_fault_of_a_kernel, ""),
        CUDA_TEST(test_flag_of_another_process, ""),
        CUDA_TEST(test_shared_with_nobody, ""),
        CUDA_TEST(test_linked_image_cut_off, ""),
        CUDA_TEST_END,
    };
    return cuda_test_main(tests, argc, argv);
}
