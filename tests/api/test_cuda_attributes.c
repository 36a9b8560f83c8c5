/* Attributes of streams: what is set is given back, each default stream has its own, wrong values change nothing, and
 * neither a kernel's work nor its time depends on them. Codes and values of new streams are those of an H200's driver
 * 580. */
#include "tests/api/cuda_test.h"

#include <math.h>

/* What programs built for streams of each thread call. */
CUresult cuStreamCopyAttributes_ptsz(CUstream to, CUstream from);

typedef CUstreamAttrValue Value;
#define WINDOW CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW
#define POLICY CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY
#define PRIORITY CU_STREAM_ATTRIBUTE_PRIORITY
#define DOMAINS CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP
#define DOMAIN CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN
#define WINDOW_MAX ((size_t)128 << 20) /* of every model of GPU here */

static CUresult set(CUstream stream, CUstreamAttrID attribute, Value value)
{
    return cuStreamSetAttribute(stream, attribute, &value);
}

static Value get(CUstream stream, CUstreamAttrID attribute)
{
    Value value;

    memset(&value, 0xee, sizeof value);
    OK(cuStreamGetAttribute(stream, attribute, &value));
    return value;
}

static Value window(guint64 at, size_t bytes, float ratio, int hit, int miss)
{
    return (Value){
        .accessPolicyWindow = {(void *)(guintptr)at, bytes, ratio, (CUaccessProperty)hit, (CUaccessProperty)miss}};
}

static void assert_window(CUstream stream, guint64 at, size_t bytes, float ratio, int hit, int miss)
{
    const Value want = window(at, bytes, ratio, hit, miss), got = get(stream, WINDOW);

    assert_memory_equal(&got, &want, sizeof want.accessPolicyWindow);
}

static int policy(CUstream stream) { return (int)get(stream, POLICY).syncPolicy; }
static int priority(CUstream stream) { return get(stream, PRIORITY).priority; }
static int domain(CUstream stream) { return (int)get(stream, DOMAIN).memSyncDomain; }

static void assert_domains(CUstream stream, int standard, int remote)
{
    const Value got = get(stream, DOMAINS);

    assert_int_equal(got.memSyncDomainMap.default_, standard);
    assert_int_equal(got.memSyncDomainMap.remote, remote);
    assert_int_equal((guint8)got.pad[2], 0xee); /* only the attribute's own member is written */
}

/* A new stream has no window, no policy (-1), the priority that it was made with, and domains 0 and 1; so have the
 * default streams. */
static void test_new_streams(void)
{
    CUstream made;

    start();
    use_device(0);
    OK(cuStreamCreateWithPriority(&made, CU_STREAM_NON_BLOCKING, -2));
    const CUstream streams[] = {made, NULL, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD};
    for (guint i = 0; i < G_N_ELEMENTS(streams); i++) {
        assert_window(streams[i], 0, 0, 0, 0, 0);
        assert_int_equal(policy(streams[i]), -1);
        assert_int_equal(priority(streams[i]), i == 0 ? -2 : 0);
        assert_domains(streams[i], 0, 1);
        assert_int_equal(domain(streams[i]), 0);
    }
}

/* A window is given back as it was set, whatever its address and length; one that is too long, a ratio beyond 0 to 1
 * and a miss that persists are refused, and what was set before stays. */
static void test_windows(void)
{
    CUstream stream;

    start();
    use_device(0);
    OK(cuStreamCreate(&stream, 0));
    OK(set(stream, WINDOW, window(0x10000, WINDOW_MAX, 0.5f, 2, 1)));
    assert_window(stream, 0x10000, WINDOW_MAX, 0.5f, 2, 1);
    INVALID(set(stream, WINDOW, window(0x10000, WINDOW_MAX + 1, 0.5f, 2, 1)));
    INVALID(set(stream, WINDOW, window(0x10000, 1, -0.1f, 2, 1)));
    INVALID(set(stream, WINDOW, window(0x10000, 1, 1.1f, 2, 1)));
    INVALID(set(stream, WINDOW, window(0x10000, 1, 1, 2, 2)));
    assert_window(stream, 0x10000, WINDOW_MAX, 0.5f, 2, 1);
    OK(set(stream, WINDOW, window(0x10005, 777, 0.3f, 1, 0)));
    assert_window(stream, 0x10005, 777, 0.3f, 1, 0);
    OK(set(stream, WINDOW, window(0x10000, 1, 1, 3, 3)));   /* values that name no property are taken, and */
    OK(set(stream, WINDOW, window(0x10000, 1, NAN, 2, 0))); /* so is what is no number, as by the real driver */
    OK(set(stream, WINDOW, window(0, 0, 0, 0, 1)));
    assert_window(stream, 0, 0, 0, 0, 1);
}

/* Policies are 1 to 4, priorities are cut to -5 to 0 and cuStreamGetPriority sees them, domains are 0 and 1, and a map
 * has numbers below the device's four. */
static void test_numbers(void)
{
    CUstream stream;
    int n;

    start();
    use_device(0);
    OK(cuStreamCreate(&stream, 0));
    for (int i = CU_SYNC_POLICY_AUTO; i <= CU_SYNC_POLICY_BLOCKING_SYNC; i++) {
        OK(set(stream, POLICY, (Value){.syncPolicy = (CUsynchronizationPolicy)i}));
        assert_int_equal(policy(stream), i);
    }
    INVALID(set(stream, POLICY, (Value){.syncPolicy = (CUsynchronizationPolicy)0}));
    INVALID(set(stream, POLICY, (Value){.syncPolicy = (CUsynchronizationPolicy)5}));
    assert_int_equal(policy(stream), CU_SYNC_POLICY_BLOCKING_SYNC);
    static const int given[] = {-9, -1, 1}, kept[] = {-5, -1, 0};
    for (guint i = 0; i < 3; i++) {
        OK(set(stream, PRIORITY, (Value){.priority = given[i]}));
        OK(cuStreamGetPriority(stream, &n));
        assert_int_equal(n, kept[i]);
        assert_int_equal(priority(stream), kept[i]);
    }
    OK(set(stream, DOMAIN, (Value){.memSyncDomain = CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE}));
    INVALID(set(stream, DOMAIN, (Value){.memSyncDomain = (CUlaunchMemSyncDomain)2}));
    INVALID(set(stream, DOMAIN, (Value){.memSyncDomain = (CUlaunchMemSyncDomain)-1}));
    assert_int_equal(domain(stream), 1);
    OK(set(stream, DOMAINS, (Value){.memSyncDomainMap = {3, 0}}));
    INVALID(set(stream, DOMAINS, (Value){.memSyncDomainMap = {0, 4}}));
    INVALID(set(stream, DOMAINS, (Value){.memSyncDomainMap = {4, 0}}));
    assert_domains(stream, 3, 0);
}

/* Only five attributes are a stream's; no value, a stream that is gone and none at all are answered as elsewhere. */
static void test_wrong_calls(void)
{
    CUstream stream, gone;
    Value value = {{0}};

    start();
    EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuStreamSetAttribute(NULL, DOMAIN, &value));
    EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuStreamGetAttribute(NULL, DOMAIN, &value));
    use_device(0);
    OK(cuStreamCreate(&stream, 0));
    OK(cuStreamCreate(&gone, 0));
    OK(cuStreamDestroy(gone));
    for (int id = 0; id < 20; id++) {
        const gboolean has = id == 1 || id == 3 || id == 8 || id == 9 || id == 10;
        EXPECT(has ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE, cuStreamGetAttribute(stream, (CUstreamAttrID)id, &value));
        if (!has)
            INVALID(set(stream, (CUstreamAttrID)id, (Value){.cooperative = 1}));
    }
    INVALID(cuStreamSetAttribute(stream, DOMAIN, NULL));
    INVALID(cuStreamGetAttribute(stream, DOMAIN, NULL));
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cuStreamSetAttribute(gone, DOMAIN, &value));
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cuStreamGetAttribute(gone, DOMAIN, &value));
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cuStreamCopyAttributes(stream, gone));
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cuStreamCopyAttributes(gone, stream));
}

/* A copy takes all five, from and to default streams too, also while a stream captures; between contexts there is
 * none. The twin whose stream 0 is the thread's own means that one. */
static void test_copies(void)
{
    CUstream from, to, other;
    CUgraph graph;

    start();
    use_device(1);
    OK(cuStreamCreate(&other, 0));
    use_device(0);
    OK(cuStreamCreateWithPriority(&from, 0, -3));
    OK(cuStreamCreate(&to, 0));
    OK(set(from, WINDOW, window(4096, 64, 1, 2, 0)));
    OK(set(from, POLICY, (Value){.syncPolicy = CU_SYNC_POLICY_SPIN}));
    OK(set(from, DOMAINS, (Value){.memSyncDomainMap = {2, 2}}));
    OK(set(from, DOMAIN, (Value){.memSyncDomain = CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE}));
    OK(cuStreamBeginCapture(to, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuStreamCopyAttributes(to, from));
    OK(cuStreamEndCapture(to, &graph));
    OK(cuStreamCopyAttributes(to, to));
    assert_window(to, 4096, 64, 1, 2, 0);
    assert_int_equal(policy(to), CU_SYNC_POLICY_SPIN);
    assert_int_equal(priority(to), -3);
    assert_domains(to, 2, 2);
    assert_int_equal(domain(to), 1);
    OK(cuStreamCopyAttributes_ptsz(NULL, from));
    assert_int_equal(policy(CU_STREAM_PER_THREAD), CU_SYNC_POLICY_SPIN);
    assert_int_equal(policy(CU_STREAM_LEGACY), -1);
    OK(cuStreamCopyAttributes(to, NULL));
    assert_int_equal(policy(to), -1);
    INVALID(cuStreamCopyAttributes(other, from));
    INVALID(cuStreamCopyAttributes(from, other));
    assert_int_equal(policy(other), -1);
}

/* Each context has its own legacy stream: what is set on one is not the other's. */
static void test_each_context_has_its_own(void)
{
    start();
    use_device(1);
    OK(set(NULL, POLICY, (Value){.syncPolicy = CU_SYNC_POLICY_YIELD}));
    use_device(0);
    assert_int_equal(policy(NULL), -1);
    use_device(1);
    assert_int_equal(policy(NULL), CU_SYNC_POLICY_YIELD);
}

static float fill_ms(CUdeviceptr at, CUstream stream)
{
    CUevent begin, end;
    float ms;

    OK(cuEventCreate(&begin, 0));
    OK(cuEventCreate(&end, 0));
    OK(cuEventRecord(begin, stream));
    OK(cuMemsetD32Async(at, 7, MIB, stream));
    OK(cuEventRecord(end, stream));
    OK(cuEventSynchronize(end));
    OK(cuEventElapsedTime(&ms, begin, end));
    return ms;
}

/* They are hints alone: the same work takes the same time to the picosecond with all of them set. */
static void test_no_time_depends_on_them(void)
{
    CUstream plain, hinted;
    CUdeviceptr at;

    start();
    use_device(0);
    OK(cuMemAlloc(&at, 4 * MIB));
    OK(cuStreamCreate(&plain, 0));
    OK(cuStreamCreate(&hinted, 0));
    OK(cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 4 * MIB));
    OK(set(hinted, WINDOW, window(at, 4 * MIB, 1, 2, 1)));
    OK(set(hinted, DOMAIN, (Value){.memSyncDomain = CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE}));
    (void)fill_ms(at, plain);
    const float without = fill_ms(at, plain), with = fill_ms(at, hinted);
    assert_true(without > 0 && without == with);
    assert_int_equal(word_at(at + 4 * MIB - 4), 7);
}

/* The part of the L2 for persisting data is a number of sixteenths of 50 MiB, 3,276,800 bytes, and ten at most. */
static void test_the_persisting_part(void)
{
    const CUlimit limit = CU_LIMIT_PERSISTING_L2_CACHE_SIZE;
    static const size_t given[] = {1, 3276800, 3276801, 32768000, 0}, kept[] = {3276800, 3276800, 6553600, 32768000, 0};
    size_t bytes;

    start();
    use_device(0);
    for (guint i = 0; i < G_N_ELEMENTS(given); i++) {
        OK(cuCtxSetLimit(limit, given[i]));
        OK(cuCtxGetLimit(&bytes, limit));
        assert_int_equal(bytes, kept[i]);
    }
    INVALID(cuCtxSetLimit(limit, 32768001));
    OK(cuCtxGetLimit(&bytes, limit));
    assert_int_equal(bytes, 0);
    OK(cuCtxResetPersistingL2Cache());
}

int main(int argc, char **argv)
{
    static const CudaTest tests[] = {
        CUDA_TEST(test_new_streams, ""),
        CUDA_TEST(test_windows, ""),
        CUDA_TEST(test_numbers, ""),
        CUDA_TEST(test_wrong_calls, ""),
        CUDA_TEST(test_copies, ""),
        CUDA_TEST(test_each_context_has_its_own, ""),
        CUDA_TEST(test_no_time_depends_on_them, ""),
        CUDA_TEST(test_the_persisting_part, ""),
        CUDA_TEST_END,
    };
    return cuda_test_main(tests, argc, argv);
}
