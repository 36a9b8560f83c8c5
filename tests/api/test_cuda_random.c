/* Random driver calls from several threads against a model of handles, teams and memory (cuda_model.h).
 *
 *     FANOUT_CALLS=100000   steps of each thread (2,000); FANOUT_CALLS_SEED=1  what is drawn
 *     FANOUT_CALLS_ALONE=1  without other processes
 *
 * What goes wrong is printed with the thread's last calls; the seed repeats them, though not how threads take turns. */
#include "tests/api/cuda_model.h"

#include <stdio.h>
#include <stdlib.h>

#define THREADS 4

static guint64 variable(const char *name, guint64 usual)
{
    const char *text = g_getenv(name);
    return text ? g_ascii_strtoull(text, NULL, 10) : usual;
}

static gint failures;
static guint64 calls[THREADS], team_writes[THREADS], processes[THREADS];

static gpointer run_thread(gpointer number)
{
    int t = GPOINTER_TO_INT(number), devices = 0;
    guint64 steps = variable("FANOUT_CALLS", 2000), seed = variable("FANOUT_CALLS_SEED", 1) * 131 + (guint64)t;
    cuDeviceGetCount(&devices);
    Model *model = model_new(t, seed, MIN(devices, MODEL_DEVICES));
    for (guint64 i = 0; i < steps && !model->wrong && !g_atomic_int_get(&failures); i++)
        if (t == 0 && i == steps / 2 && !g_getenv("FANOUT_CALLS_ALONE"))
            model_processes(model);
        else
            model_step(model);
    calls[t] = model->calls;
    team_writes[t] = model->team_writes;
    processes[t] = model->processes;
    if (model->wrong) {
        g_atomic_int_inc(&failures);
        fprintf(stderr, "thread %d: %s\n%s", t, model->wrong, model->log->str);
    }
    model_free(model);
    return NULL;
}

/* Proves that every call of four threads gives what the model says, and that every byte is where it was put. */
static void test_threads(void)
{
    GThread *thread[THREADS];
    guint64 all = 0, writes = 0, children = 0;
    start();
    for (int t = 0; t < THREADS; t++)
        thread[t] = g_thread_new("random", run_thread, GINT_TO_POINTER(t));
    for (int t = 0; t < THREADS; t++) {
        g_thread_join(thread[t]);
        all += calls[t];
        writes += team_writes[t];
        children += processes[t];
    }
    print_message("%" G_GUINT64_FORMAT " calls, %" G_GUINT64_FORMAT " writes to teams, %" G_GUINT64_FORMAT
                  " times other processes\n",
                  all, writes, children);
    assert_int_equal(failures, 0);
    assert_true(all >= variable("FANOUT_CALLS", 2000) && writes > 0);
    assert_true(children > 0 || g_getenv("FANOUT_CALLS_ALONE"));
}

/* The program that a thread starts: the descriptor's memory has what the thread's model has, and gets a byte more. */
static int run_import(int fd, size_t bytes, guint8 first)
{
    Handle handle = 0;
    CUdeviceptr va = 0;
    guint8 here[2] = {0}, next = (guint8)(first + 1);
    CUcontext context;
    CUmemAccessDesc desc = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    alarm(60);
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context))
        return 2;
    if (cuMemImportFromShareableHandle(&handle, (void *)(uintptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) ||
        cuMemAddressReserve(&va, bytes, 0, 0, 0) || cuMemMap(va, bytes, 0, handle, 0) ||
        cuMemSetAccess(va, bytes, &desc, 1))
        return 3;
    if (cuMemcpyDtoH(here, va + 7, 1) || here[0] != first)
        return 4;
    return cuMemcpyHtoD(va + 8, &next, 1) ? 5 : 0;
}

static const CudaTest tests[] = {CUDA_TEST(test_threads, ""), CUDA_TEST_END};

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "--import") == 0)
        return run_import((int)g_ascii_strtoll(argv[2], NULL, 10), (size_t)g_ascii_strtoull(argv[3], NULL, 10),
                          (guint8)g_ascii_strtoull(argv[4], NULL, 10));
    return cuda_test_main(tests, argc, argv);
}
