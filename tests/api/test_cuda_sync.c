/* When calls return: every rule of the driver API's page "API synchronization behavior", for copies and
 * fills of pageable, pinned, registered, device and peer memory. The page's words are in the comments'
 * own; where it says "may", what Fanout does is tested. */
#include "tests/api/cuda_test.h"

#define BYTES (4 * MIB)

typedef enum { PAGEABLE, PINNED, REGISTERED, DEVICE, PEER, KINDS } Kind;
typedef enum { COPY, COPY_ASYNC, COPY_2D, COPY_2D_ASYNC, COPY_BATCH, WAYS } Way;

typedef struct {
    CUdeviceptr at[KINDS];
    CUdeviceptr flag; /* a word on device 0 */
    CUstream stream;  /* non-blocking */
    CUcontext context[2];
} Memory;

static gboolean is_host(Kind kind) { return kind < DEVICE; }

static void memory_open(Memory *m)
{
    void *pinned;
    guint8 *host = g_malloc(2 * BYTES);

    start();
    use_device(1);
    OK(cuCtxGetCurrent(&m->context[1]));
    OK(cuMemAlloc(&m->at[PEER], BYTES));
    use_device(0);
    OK(cuCtxGetCurrent(&m->context[0]));
    OK(cuMemAlloc(&m->at[DEVICE], BYTES));
    OK(cuMemAlloc(&m->flag, 4096));
    OK(cuMemsetD32(m->flag, 0, 1));
    OK(cuMemHostAlloc(&pinned, BYTES, 0));
    OK(cuMemHostRegister(host + BYTES, BYTES, 0));
    m->at[PAGEABLE] = (CUdeviceptr)(uintptr_t)host;
    m->at[REGISTERED] = (CUdeviceptr)(uintptr_t)(host + BYTES);
    m->at[PINNED] = (CUdeviceptr)(uintptr_t)pinned;
    OK(cuStreamCreate(&m->stream, CU_STREAM_NON_BLOCKING));
}

/* All bytes of a memory, with nothing under way. */
static void put(const Memory *m, Kind kind, guint8 value)
{
    if (is_host(kind))
        memset((void *)(uintptr_t)m->at[kind], value, BYTES);
    else
        OK(cuMemsetD8Async(m->at[kind], value, BYTES, m->stream));
    OK(cuCtxSynchronize());
}

static guint8 *bytes_of(const Memory *m, Kind kind)
{
    static guint8 read[BYTES];

    if (is_host(kind))
        return (guint8 *)(uintptr_t)m->at[kind];
    OK(cuMemcpyDtoH(read, m->at[kind], BYTES));
    return read;
}

static gboolean holds(const Memory *m, Kind kind, guint8 value)
{
    const guint8 *bytes = bytes_of(m, kind);
    return bytes[0] == value && bytes[BYTES / 2] == value && bytes[BYTES - 1] == value;
}

/* One copy of everything. */
static CUresult copy(const Memory *m, Way way, Kind to, Kind from, CUstream stream)
{
    CUDA_MEMCPY2D rows = {.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
                          .srcDevice = m->at[from],
                          .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
                          .dstDevice = m->at[to],
                          .WidthInBytes = BYTES / 16,
                          .Height = 16};
    CUmemcpyAttributes how = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL};
    CUdeviceptr target = m->at[to], source = m->at[from];
    size_t bytes = BYTES, first = 0;

    switch (way) {
    case COPY:
        return to == PAGEABLE && !is_host(from) ? cuMemcpyDtoH((void *)(uintptr_t)target, source, bytes)
                                                : cuMemcpy(target, source, bytes);
    case COPY_ASYNC: return cuMemcpyAsync(target, source, bytes, stream);
    case COPY_2D: return cuMemcpy2D(&rows);
    case COPY_2D_ASYNC: return cuMemcpy2DAsync(&rows, stream);
    default: return cuMemcpyBatchAsync(&target, &source, &bytes, 1, &how, &first, 1, stream);
    }
}

static gboolean is_synchronous(Way way) { return way == COPY || way == COPY_2D; }

/* The stream waits for the flag, which set_flag() alone sets. */
static void block(const Memory *m, CUstream stream)
{
    OK(cuMemsetD32Async(m->flag, 0, 1, m->stream));
    OK(cuStreamSynchronize(m->stream));
    OK(cuStreamWaitValue32(stream, m->flag, 1, CU_STREAM_WAIT_VALUE_EQ));
}

static void set_flag(const Memory *m)
{
    OK(cuStreamWriteValue32(m->stream, m->flag, 1, 0));
    OK(cuStreamSynchronize(m->stream));
}

/* Proves for every way to copy and every pair of memories: a call that touches pageable memory, a
 * synchronous one with host memory, and one within host memory have done their copy when they return, and
 * write nothing afterwards. */
static void test_done_when_it_returns(void)
{
    Memory m;

    memory_open(&m);
    for (int way = 0; way < WAYS; way++)
        for (int to = 0; to < KINDS; to++)
            for (int from = 0; from < KINDS; from++) {
                gboolean host = is_host((Kind)to) || is_host((Kind)from);
                gboolean both = is_host((Kind)to) && is_host((Kind)from);
                if (to == from || !(to == PAGEABLE || both || (is_synchronous((Way)way) && host)))
                    continue;
                put(&m, (Kind)from, 0x31);
                put(&m, (Kind)to, 0);
                OK(copy(&m, (Way)way, (Kind)to, (Kind)from, m.stream));
                if (!holds(&m, (Kind)to, 0x31))
                    fail_msg("way %d from %d to %d: not done when it returned", way, from, to);
                if (!is_host((Kind)to))
                    continue;
                memset((void *)(uintptr_t)m.at[to], 0x77, BYTES);
                OK(cuCtxSynchronize());
                if (!holds(&m, (Kind)to, 0x77))
                    fail_msg("way %d from %d to %d: written after it returned", way, from, to);
            }
}

/* Proves that a pageable source may be changed when any call returns, and a pinned one only when the copy is
 * done: it is read when the stream gets there. */
static void test_sources(void)
{
    Memory m;

    memory_open(&m);
    for (int way = 0; way < WAYS; way++)
        for (int from = PAGEABLE; from <= REGISTERED; from++) {
            put(&m, (Kind)from, 0x11);
            if (!is_synchronous((Way)way))
                block(&m, m.stream);
            OK(copy(&m, (Way)way, DEVICE, (Kind)from, m.stream));
            memset((void *)(uintptr_t)m.at[from], 0x22, BYTES);
            if (!is_synchronous((Way)way)) {
                CUstream other;
                OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
                OK(cuStreamWriteValue32(other, m.flag, 1, 0));
                OK(cuStreamSynchronize(m.stream));
            }
            guint8 right = from == PAGEABLE || is_synchronous((Way)way) ? 0x11 : 0x22;
            if (!holds(&m, DEVICE, right))
                fail_msg("way %d from %d: the source was read at the wrong time", way, from);
        }
}

typedef struct {
    void *at;
    guint8 value;
} Filling;

static void fill_host(void *user)
{
    const Filling *filling = user;
    g_usleep(20000);
    memset(filling->at, filling->value, BYTES);
}

/* Proves that a synchronous copy reads its host source only when its stream is idle, and an asynchronous one
 * of pinned memory in its stream's order: host functions queued before write it. */
static void test_source_after_earlier_work(void)
{
    Memory m;

    memory_open(&m);
    for (int from = PAGEABLE; from <= REGISTERED; from++)
        for (int way = 0; way < COPY_BATCH; way++) {
            Filling filling = {(void *)(uintptr_t)m.at[from], (guint8)(0x40 + 8 * from + way)};
            CUstream stream = is_synchronous((Way)way) ? NULL : m.stream;
            if (from == PAGEABLE && !is_synchronous((Way)way))
                continue; /* staged at once */
            put(&m, (Kind)from, 0);
            OK(cuLaunchHostFunc(stream, fill_host, &filling));
            OK(copy(&m, (Way)way, DEVICE, (Kind)from, m.stream));
            OK(cuCtxSynchronize());
            if (!holds(&m, DEVICE, filling.value))
                fail_msg("from %d, way %d: the source was read too early", from, way);
        }
}

/* Proves that copies within device memory and to peers, and all asynchronous ones but those to pageable
 * memory, return although their stream waits for something that this thread does next. */
static void test_never_waits(void)
{
    Memory m;

    memory_open(&m);
    for (int way = 0; way < WAYS; way++)
        for (int to = 0; to < KINDS; to++)
            for (int from = 0; from < KINDS; from++) {
                gboolean host = is_host((Kind)to) || is_host((Kind)from);
                gboolean both = is_host((Kind)to) && is_host((Kind)from);
                CUstream stream;
                if (to == from || to == PAGEABLE || both || (host && is_synchronous((Way)way)))
                    continue;
                OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
                put(&m, (Kind)from, 0x51);
                put(&m, (Kind)to, 0);
                block(&m, is_synchronous((Way)way) ? NULL : stream);
                CUresult result = copy(&m, (Way)way, (Kind)to, (Kind)from, stream);
                if (result != CUDA_SUCCESS)
                    fail_msg("way %d from %d to %d: %d", way, from, to, result);
                set_flag(&m);
                OK(cuCtxSynchronize());
                if (!holds(&m, (Kind)to, 0x51))
                    fail_msg("way %d from %d to %d: wrong bytes", way, from, to);
                OK(cuStreamDestroy(stream));
            }
}

/* Proves that fills never wait for what their stream waits for, except of pinned memory, which they have
 * filled when they return; and that a synchronous one may be asked to wait for its memory. */
static void test_fills(void)
{
    const unsigned yes = 1;
    Memory m;

    memory_open(&m);
    for (int to = PINNED; to < KINDS; to++)
        for (int asynchronous = 0; asynchronous < 2; asynchronous++) {
            put(&m, (Kind)to, 0);
            if (!is_host((Kind)to) || asynchronous) {
                block(&m, asynchronous ? m.stream : NULL);
                OK(asynchronous ? cuMemsetD32Async(m.at[to], 0x61616161, BYTES / 4, m.stream)
                                : cuMemsetD32(m.at[to], 0x61616161, BYTES / 4));
                CUstream other;
                OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
                OK(cuStreamWriteValue32(other, m.flag, 1, 0));
                OK(cuCtxSynchronize());
            } else {
                OK(cuMemsetD2D8(m.at[to], BYTES / 16, 0x61, BYTES / 16, 16));
            }
            if (!holds(&m, (Kind)to, 0x61))
                fail_msg("memset of %d, asynchronous %d: wrong bytes", to, asynchronous);
        }
    OK(cuMemsetD8Async(m.at[DEVICE], 1, BYTES, NULL));
    OK(cuMemsetD8(m.at[DEVICE], 2, BYTES));
    EXPECT(CUDA_ERROR_NOT_READY, cuStreamQuery(NULL));
    OK(cuCtxSynchronize());
    OK(cuPointerSetAttribute(&yes, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, m.at[DEVICE]));
    OK(cuMemsetD8Async(m.at[DEVICE], 1, BYTES, NULL));
    OK(cuMemsetD8(m.at[DEVICE], 2, BYTES));
    OK(cuStreamQuery(NULL));
}

static gpointer set_flag_later(gpointer user)
{
    const Memory *m = user;
    CUstream stream;

    OK(cuCtxSetCurrent(m->context[0]));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamWriteValue32(stream, m->flag, 1, 0));
    OK(cuStreamSynchronize(stream));
    OK(cuCtxSynchronize());
    return NULL;
}

/* Proves that a copy whose call was answered with an error while it waited never touches host memory again,
 * although its stream goes on later. */
static void test_nothing_is_written_after_an_error(void)
{
    Memory m;

    memory_open(&m);
    for (int way = 0; way < COPY_BATCH; way++)
        for (int to = PAGEABLE; to <= REGISTERED; to++) {
            if (to != PAGEABLE && !is_synchronous((Way)way))
                continue;
            put(&m, DEVICE, 0x13);
            put(&m, (Kind)to, 0x24);
            block(&m, is_synchronous((Way)way) ? NULL : m.stream);
            EXPECT(CUDA_ERROR_LAUNCH_TIMEOUT, copy(&m, (Way)way, (Kind)to, DEVICE, m.stream));
            g_thread_join(g_thread_new("setter", set_flag_later, &m));
            if (!holds(&m, (Kind)to, to == PINNED ? bytes_of(&m, (Kind)to)[0] : 0x24))
                fail_msg("way %d to %d: written after an error", way, to);
        }
}

/* Proves that cuMemcpyPeer goes behind all work of both contexts and before what they are given later, and
 * that cuMemcpyPeerAsync does not. */
static void test_peer_copies_between_contexts(void)
{
    CUstream theirs, later;
    Memory m;

    memory_open(&m);
    OK(cuCtxSetCurrent(m.context[1]));
    OK(cuStreamCreate(&theirs, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&later, CU_STREAM_NON_BLOCKING));
    OK(cuCtxSetCurrent(m.context[0]));
    put(&m, DEVICE, 0x33);
    for (int asynchronous = 0; asynchronous < 2; asynchronous++) {
        for (int i = 0; i < 32; i++) /* longer than the copy */
            OK(cuMemsetD8Async(m.at[PEER], 0x11, BYTES, theirs));
        OK(asynchronous ? cuMemcpyPeerAsync(m.at[PEER], m.context[1], m.at[DEVICE], m.context[0], 4, NULL)
                        : cuMemcpyPeer(m.at[PEER], m.context[1], m.at[DEVICE], m.context[0], 4));
        OK(cuMemsetD8Async(m.at[PEER] + 1, 0x55, 1, later));
        OK(cuCtxSynchronize());
        OK(cuStreamSynchronize(theirs));
        OK(cuStreamSynchronize(later));
        const guint8 *bytes = bytes_of(&m, PEER);
        assert_int_equal(bytes[0], asynchronous ? 0x11 : 0x33);
        assert_int_equal(bytes[1], asynchronous ? 0x11 : 0x55);
        assert_int_equal(bytes[2], asynchronous ? 0x11 : 0x33);
        assert_int_equal(bytes[4], 0x11);
    }
}

/* Proves that a batch reads pageable sources when its attributes say: in stream order, or before it
 * returns. */
static void test_batches_read_when_they_say(void)
{
    const CUmemcpySrcAccessOrder orders[] = {CU_MEMCPY_SRC_ACCESS_ORDER_STREAM,
                                             CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL};
    CUmemcpyAttributes how[2];
    size_t bytes[2] = {4, 4}, first[2] = {0, 1};
    guint32 source[2] = {1, 1};
    Memory m;

    memory_open(&m);
    CUdeviceptr to[2] = {m.at[DEVICE], m.at[DEVICE] + 4};
    CUdeviceptr from[2] = {(CUdeviceptr)(uintptr_t)&source[0], (CUdeviceptr)(uintptr_t)&source[1]};
    for (int i = 0; i < 2; i++)
        how[i] = (CUmemcpyAttributes){.srcAccessOrder = orders[i]};
    block(&m, m.stream);
    OK(cuMemcpyBatchAsync(to, from, bytes, 2, how, first, 2, m.stream));
    source[0] = source[1] = 2;
    g_thread_join(g_thread_new("setter", set_flag_later, &m));
    assert_int_equal(word_at(m.at[DEVICE]), 2);
    assert_int_equal(word_at(m.at[DEVICE] + 4), 1);
}

int main(int argc, char **argv)
{
    static const CudaTest tests[] = {
        CUDA_TEST(test_done_when_it_returns, ""),
        CUDA_TEST(test_sources, ""),
        CUDA_TEST(test_source_after_earlier_work, ""),
        CUDA_TEST(test_never_waits, ""),
        CUDA_TEST(test_fills, ""),
        CUDA_TEST(test_nothing_is_written_after_an_error, ""),
        CUDA_TEST(test_peer_copies_between_contexts, ""),
        CUDA_TEST(test_batches_read_when_they_say, ""),
        CUDA_TEST_END,
    };
    return cuda_test_main(tests, argc, argv);
}
