/* Bad input: what the test_cuda_bad_* files share. Every parameter of every call in turn is wrong:
 * the documented code, outputs untouched, nothing changed; and the same from many threads at once.
 * A file defines all_bad() and lists BAD_TESTS. */
#ifndef TESTS_API_CUDA_BAD_H
#define TESTS_API_CUDA_BAD_H

#include "tests/api/cuda_test.h"

/* Where calls would write: must look the same after each of them. */
typedef struct {
    union {
        int i;
        unsigned u;
        size_t size;
        float f;
        void *pointer;
        Handle handle;
        CUdeviceptr va;
        CUcontext context;
        CUstream stream;
        CUevent event;
        CUmemoryPool pool;
        CUuuid uuid;
        CUdevprop properties;
        CUmemAllocationProp prop;
        CUmemFabricHandle fabric;
        CUmemAccess_flags access;
        CUstreamCaptureStatus capture;
        CUdriverProcAddressQueryResult found;
        unsigned long long u64;
        char text[256];
    } a, b;
} Out;

typedef struct {
    Handle object, memory, dead;
    CUdeviceptr va, plain;
    CUcontext context, dead_context;
    CUstream stream, dead_stream;
    CUevent event, dead_event;
    CUmemoryPool pool;
} World;

static inline void bad(CUresult got, CUresult expected, const Out *out, const char *call)
{
    Out fresh;
    memset(&fresh, 0x5a, sizeof fresh);
    if (got != expected)
        fail_msg("%s: %d, not %d", call, got, expected);
    if (memcmp(&fresh, out, sizeof fresh) != 0)
        fail_msg("%s wrote an output", call);
}
#define BAD(code, call) (memset(&out, 0x5a, sizeof out), bad(call, CUDA_ERROR_##code, &out, #call))
#define NOPE ((CUdevice)99)

static inline void make_world(World *w)
{
    use_device(0);
    OK(cuCtxGetCurrent(&w->context));
    w->object = full_team(2, 2 * GRAIN, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    w->memory = memory(0, 2 * GRAIN, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    w->va = mapped(w->memory, 2 * GRAIN, 0);
    w->dead = memory(0, GRAIN, 0);
    OK(cuMemRelease(w->dead));
    OK(cuMemAlloc(&w->plain, 4096));
    OK(cuStreamCreate(&w->stream, 0));
    OK(cuStreamCreate(&w->dead_stream, 0));
    OK(cuStreamDestroy(w->dead_stream));
    OK(cuEventCreate(&w->event, 0));
    OK(cuEventCreate(&w->dead_event, 0));
    OK(cuEventDestroy(w->dead_event));
    OK(cuDeviceGetDefaultMemPool(&w->pool, 0));
    OK(cuCtxCreate_v2(&w->dead_context, 0, 0));
    OK(cuCtxDestroy(w->dead_context));
}

/* Every wrong call of the file. */
static void all_bad(const World *w);

/* Each wrong parameter gets its code, and nothing has changed afterwards: memory, time, a working
 * object. */
static void test_every_parameter(void)
{
    World w;
    size_t before, after, total;
    uint64_t time_before, time_after;

    start();
    make_world(&w);
    OK(cuMemGetInfo(&before, &total));
    OK(fo_now_ps(&time_before));
    all_bad(&w);
    OK(cuMemGetInfo(&after, &total));
    OK(fo_now_ps(&time_after));
    assert_int_equal(before, after);
    assert_int_equal(time_before, time_after);
    OK(cuMulticastBindMem(w.object, 0, w.memory, 0, 2 * GRAIN, 0));
    OK(cuMulticastBindMem(w.object, 0, memory(1, 2 * GRAIN, 1), 0, 2 * GRAIN, 0));
    CUdeviceptr mc = mapped(w.object, 2 * GRAIN, 0);
    OK(cuMemsetD32(mc, 0x77, 4));
    assert_int_equal(word_at(w.va), 0x77);
}

static gpointer one_of_many(gpointer data)
{
    const World *w = data;
    OK(cuCtxSetCurrent(w->context));
    for (int i = 0; i < 3; i++)
        all_bad(w);
    return NULL;
}

/* The same from eight threads at once, while another makes and drops teams. */
static void test_from_many_threads(void)
{
    World w;
    GThread *thread[8];

    start();
    make_world(&w);
    for (gsize i = 0; i < G_N_ELEMENTS(thread); i++)
        thread[i] = g_thread_new("bad", one_of_many, &w);
    for (int i = 0; i < 30; i++) {
        Handle object = full_team(2, GRAIN, 0), mem = memory(1, GRAIN, 0);
        OK(cuMulticastBindMem(object, 0, mem, 0, GRAIN, 0));
        CUdeviceptr mc = mapped(object, GRAIN, 1);
        OK(cuMemUnmap(mc, GRAIN));
        OK(cuMemRelease(object));
        OK(cuMemRelease(mem));
    }
    for (gsize i = 0; i < G_N_ELEMENTS(thread); i++)
        g_thread_join(thread[i]);
}

#define BAD_TESTS CUDA_TEST(test_every_parameter, ""), CUDA_TEST(test_from_many_threads, "")

#endif
