/* Bad input to copies, fills, streams and events: see tests/api/cuda_bad.h. */
#include "tests/api/cuda_bad.h"

static void bad_work(const World *w)
{
    Out out;
    guint32 word = 1;
    FoKernel none = {.name = "none"};

    BAD(INVALID_VALUE, cuMemcpyHtoD(0, &word, 4));
    BAD(INVALID_VALUE, cuMemcpyHtoD(0x1234, &word, 4));
    BAD(INVALID_VALUE, cuMemcpyHtoD(w->va, NULL, 4));
    BAD(INVALID_VALUE, cuMemcpyHtoD(w->va, &word, ~(size_t)0));
    BAD(INVALID_VALUE, cuMemcpyDtoH(NULL, w->va, 4));
    BAD(INVALID_VALUE, cuMemcpyDtoH(&out.a, 0x1234, 4));
    BAD(INVALID_VALUE, cuMemcpyDtoD(w->va, 0x1234, 4));
    BAD(INVALID_VALUE, cuMemcpyDtoD(0x1234, w->va, 4));
    BAD(INVALID_VALUE, cuMemcpyDtoD(w->va + 2 * GRAIN - 2, w->va, 4));
    BAD(INVALID_HANDLE, cuMemcpyAsync(w->va, w->va, 4, w->dead_stream));
    BAD(INVALID_HANDLE, cuMemcpyHtoDAsync(w->va, &word, 4, (CUstream)(uintptr_t)w->event));
    BAD(INVALID_CONTEXT, cuMemcpyPeer(w->va, NULL, w->va, w->context, 4));
    BAD(INVALID_VALUE, cuMemcpy2D(NULL));
    BAD(INVALID_VALUE, cuMemsetD8(0, 1, 1));
    BAD(INVALID_VALUE, cuMemsetD8(w->va, 1, ~(size_t)0));
    BAD(INVALID_VALUE, cuMemsetD16(w->va + 1, 1, 1));
    BAD(INVALID_VALUE, cuMemsetD32(w->va + 2, 1, 1));
    BAD(INVALID_VALUE, cuMemsetD32(w->va, 1, ~(size_t)0));
    BAD(INVALID_HANDLE, cuMemsetD8Async(w->va, 1, 1, w->dead_stream));
    BAD(INVALID_VALUE, cuMemsetD2D8(w->va, 4, 1, 8, 2));
    BAD(INVALID_VALUE, cuStreamCreate(NULL, 0));
    BAD(INVALID_VALUE, cuStreamCreate(&out.a.stream, 2));
    BAD(INVALID_VALUE, cuStreamCreateWithPriority(NULL, 0, 0));
    BAD(INVALID_HANDLE, cuStreamDestroy(NULL));
    BAD(INVALID_HANDLE, cuStreamDestroy(w->dead_stream));
    BAD(INVALID_HANDLE, cuStreamSynchronize(w->dead_stream));
    BAD(INVALID_HANDLE, cuStreamQuery((CUstream)(uintptr_t)0x1230));
    BAD(INVALID_HANDLE, cuStreamWaitEvent(w->stream, NULL, 0));
    BAD(INVALID_HANDLE, cuStreamWaitEvent(w->stream, w->dead_event, 0));
    BAD(INVALID_VALUE, cuStreamWaitEvent(w->stream, w->event, 8));
    BAD(INVALID_VALUE, cuStreamGetFlags(w->stream, NULL));
    BAD(INVALID_HANDLE, cuStreamGetFlags(w->dead_stream, &out.a.u));
    BAD(INVALID_VALUE, cuStreamGetPriority(w->stream, NULL));
    BAD(INVALID_VALUE, cuStreamGetCtx(w->stream, NULL));
    BAD(INVALID_VALUE, cuStreamGetId(w->stream, NULL));
    BAD(INVALID_VALUE, cuStreamGetDevice(w->stream, NULL));
    BAD(INVALID_VALUE, cuStreamIsCapturing(w->stream, NULL));
    BAD(INVALID_VALUE, cuStreamAddCallback(w->stream, NULL, NULL, 0));
    BAD(INVALID_VALUE, cuLaunchHostFunc(w->stream, NULL, NULL));
    BAD(INVALID_VALUE, cuStreamWriteValue32(w->stream, 0x1230, 1, 0));
    BAD(INVALID_VALUE, cuStreamWriteValue32(w->stream, w->va + 1, 1, 0));
    BAD(INVALID_VALUE, cuStreamWaitValue64(w->stream, w->va, 1, 64));
    BAD(INVALID_VALUE, cuEventCreate(NULL, 0));
    BAD(INVALID_VALUE, cuEventCreate(&out.a.event, 64));
    BAD(INVALID_VALUE, cuEventCreate(&out.a.event, CU_EVENT_INTERPROCESS));
    BAD(INVALID_HANDLE, cuEventRecord(NULL, w->stream));
    BAD(INVALID_HANDLE, cuEventRecord(w->event, w->dead_stream));
    BAD(INVALID_VALUE, cuEventRecordWithFlags(w->event, w->stream, 64));
    BAD(INVALID_HANDLE, cuEventQuery(w->dead_event));
    BAD(INVALID_HANDLE, cuEventSynchronize(NULL));
    BAD(INVALID_HANDLE, cuEventDestroy(w->dead_event));
    BAD(INVALID_HANDLE, cuEventElapsedTime(&out.a.f, NULL, w->event));
    BAD(INVALID_VALUE, cuEventElapsedTime(NULL, w->event, w->event));
    BAD(INVALID_VALUE, fo_launch(NULL, w->stream));
    BAD(INVALID_VALUE, fo_launch(&none, w->stream));
    BAD(INVALID_VALUE, fo_now_ps(NULL));
}

/* The asynchronous names, batches, and what only newer drivers have. */
static void bad_more_work(const World *w)
{
    Out out;
    guint32 word = 1;
    CUdeviceptr to = w->va, from = w->va + 64, junk = 0x1234;
    size_t bytes = 4, first = 0, late = 1;
    CUmemcpyAttributes how = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_ANY}, flags = how;
    CUstreamBatchMemOpParams op = {.operation = (CUstreamBatchMemOpType)99};
    CUDA_MEMCPY2D flat = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = w->va};
    flags.flags = 8;

    BAD(INVALID_VALUE, cuMemcpy(w->va, 0, 4));
    BAD(INVALID_HANDLE, cuMemcpyDtoDAsync(w->va, w->va, 4, w->dead_stream));
    BAD(INVALID_VALUE, cuMemcpyDtoDAsync(w->va, 0x1234, 4, w->stream));
    BAD(INVALID_HANDLE, cuMemcpyDtoHAsync(&out.a, w->va, 4, w->dead_stream));
    BAD(INVALID_VALUE, cuMemcpyDtoHAsync(NULL, w->va, 4, w->stream));
    BAD(INVALID_VALUE, cuMemcpyHtoDAsync(0x1234, &word, 4, w->stream));
    BAD(INVALID_CONTEXT, cuMemcpyPeerAsync(w->va, w->context, w->va, NULL, 4, w->stream));
    BAD(INVALID_HANDLE, cuMemcpyPeerAsync(w->va, w->context, w->va, w->context, 4, w->dead_stream));
    BAD(INVALID_VALUE, cuMemcpy2DAsync(NULL, w->stream));
    BAD(INVALID_VALUE, cuMemcpy2DAsync(&flat, w->stream)); /* no destination */
    BAD(INVALID_VALUE, cuMemsetD16Async(w->va + 1, 1, 1, w->stream));
    BAD(INVALID_VALUE, cuMemsetD32Async(0x1234, 1, 1, w->stream));
    BAD(INVALID_VALUE, cuMemsetD2D32(w->va, 6, 1, 1, 2));
    BAD(INVALID_VALUE, cuStreamWriteValue64(w->stream, w->va + 4, 1, 0));
    BAD(INVALID_VALUE, cuStreamWriteValue64(w->stream, w->va, 1, 64));
    BAD(INVALID_VALUE, cuStreamWaitValue32(w->stream, 0x1230, 1, 0));
    BAD(INVALID_HANDLE, cuStreamWaitValue32(w->dead_stream, w->va, 1, 0));
    BAD(INVALID_VALUE, cuStreamBatchMemOp(w->stream, 0, &op, 0));
    BAD(INVALID_VALUE, cuStreamBatchMemOp(w->stream, 1, NULL, 0));
    BAD(INVALID_VALUE, cuStreamBatchMemOp(w->stream, 1, &op, 0));
    BAD(INVALID_VALUE, cuStreamBatchMemOp(w->stream, 1, &op, 1));
    BAD(INVALID_HANDLE, cuStreamBatchMemOp(w->dead_stream, 1, &op, 0));
    BAD(INVALID_VALUE, cuMemcpyBatchAsync(NULL, &from, &bytes, 1, &how, &first, 1, w->stream));
    BAD(INVALID_VALUE, cuMemcpyBatchAsync(&to, NULL, &bytes, 1, &how, &first, 1, w->stream));
    BAD(INVALID_VALUE, cuMemcpyBatchAsync(&to, &from, NULL, 1, &how, &first, 1, w->stream));
    BAD(INVALID_VALUE, cuMemcpyBatchAsync(&to, &from, &bytes, 0, &how, &first, 1, w->stream));
    BAD(INVALID_VALUE, cuMemcpyBatchAsync(&to, &from, &bytes, 1, NULL, &first, 1, w->stream));
    BAD(INVALID_VALUE, cuMemcpyBatchAsync(&to, &from, &bytes, 1, &flags, &first, 1, w->stream));
    BAD(INVALID_VALUE, cuMemcpyBatchAsync(&to, &from, &bytes, 1, &how, NULL, 1, w->stream));
    BAD(INVALID_VALUE, cuMemcpyBatchAsync(&to, &from, &bytes, 1, &how, &late, 1, w->stream));
    BAD(INVALID_VALUE, cuMemcpyBatchAsync(&to, &from, &bytes, 1, &how, &first, 2, w->stream));
    BAD(INVALID_VALUE, cuMemcpyBatchAsync(&to, &junk, &bytes, 1, &how, &first, 1, w->stream));
    BAD(INVALID_VALUE, cuMemcpyBatchAsync(&to, &from, &bytes, 1, &how, &first, 1, NULL));
    BAD(INVALID_VALUE, cuLaunchHostFunc_v2(w->stream, NULL, NULL, 0));
    BAD(INVALID_VALUE, cuStreamGetCtx_v2(w->stream, &out.a.context, NULL));
    BAD(INVALID_VALUE, cuStreamGetCtx_v2(w->stream, NULL, (CUgreenCtx *)&out.b));
}

static void all_bad(const World *w)
{
    bad_work(w);
    bad_more_work(w);
}

int main(int argc, char **argv)
{
    static const CudaTest tests[] = {BAD_TESTS, CUDA_TEST_END};
    return cuda_test_main(tests, argc, argv);
}
