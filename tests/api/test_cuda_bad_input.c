/* Bad input to the calls for devices and contexts: see tests/api/cuda_bad.h. */
#include "tests/api/cuda_bad.h"

static void bad_devices(const World *w)
{
    Out out;
    (void)w;
    BAD(INVALID_VALUE, cuInit(1));
    BAD(INVALID_VALUE, cuDriverGetVersion(NULL));
    BAD(INVALID_VALUE, cuGetErrorName(CUDA_SUCCESS, NULL));
    BAD(INVALID_VALUE, cuGetErrorString(CUDA_SUCCESS, NULL));
    BAD(INVALID_VALUE, cuGetProcAddress_v2(NULL, &out.a.pointer, 12000, 0, &out.b.found));
    BAD(INVALID_VALUE, cuGetProcAddress_v2("cuInit", NULL, 12000, 0, &out.b.found));
    BAD(INVALID_VALUE, cuGetProcAddress_v2("cuInit", &out.a.pointer, 99000, 0, &out.b.found));
    BAD(INVALID_VALUE, cuGetProcAddress_v2("cuInit", &out.a.pointer, 12000, 4, &out.b.found));
    BAD(INVALID_VALUE, cuGetExportTable(NULL, NULL));
    BAD(INVALID_VALUE, cuDeviceGet(NULL, 0));
    BAD(INVALID_DEVICE, cuDeviceGet(&out.a.i, 99));
    BAD(INVALID_DEVICE, cuDeviceGet(&out.a.i, -1));
    BAD(INVALID_VALUE, cuDeviceGetCount(NULL));
    BAD(INVALID_VALUE, cuDeviceGetName(NULL, 10, 0));
    BAD(INVALID_VALUE, cuDeviceGetName(out.a.text, 0, 0));
    BAD(INVALID_VALUE, cuDeviceGetName(out.a.text, -1, 0));
    BAD(INVALID_DEVICE, cuDeviceGetName(out.a.text, 10, NOPE));
    BAD(INVALID_VALUE, cuDeviceGetUuid(NULL, 0));
    BAD(INVALID_DEVICE, cuDeviceGetUuid(&out.a.uuid, NOPE));
    BAD(INVALID_VALUE, cuDeviceTotalMem(NULL, 0));
    BAD(INVALID_DEVICE, cuDeviceTotalMem(&out.a.size, NOPE));
    BAD(INVALID_VALUE, cuDeviceGetAttribute(NULL, 16, 0));
    BAD(INVALID_VALUE, cuDeviceGetAttribute(&out.a.i, 0, 0));
    BAD(INVALID_VALUE, cuDeviceGetAttribute(&out.a.i, CU_DEVICE_ATTRIBUTE_MAX, 0));
    BAD(INVALID_DEVICE, cuDeviceGetAttribute(&out.a.i, 16, NOPE));
    BAD(INVALID_VALUE, cuDeviceGetByPCIBusId(NULL, "0000:1b:00.0"));
    BAD(INVALID_VALUE, cuDeviceGetByPCIBusId(&out.a.i, NULL));
    BAD(INVALID_VALUE, cuDeviceGetByPCIBusId(&out.a.i, "nonsense"));
    BAD(INVALID_DEVICE, cuDeviceGetByPCIBusId(&out.a.i, "7777:77:77.0"));
    BAD(INVALID_VALUE, cuDeviceGetPCIBusId(NULL, 16, 0));
    BAD(INVALID_VALUE, cuDeviceGetPCIBusId(out.a.text, 0, 0));
    BAD(INVALID_DEVICE, cuDeviceGetPCIBusId(out.a.text, 16, NOPE));
    BAD(INVALID_VALUE, cuDeviceGetProperties(NULL, 0));
    BAD(INVALID_DEVICE, cuDeviceGetProperties(&out.a.properties, NOPE));
    BAD(INVALID_VALUE, cuDeviceComputeCapability(NULL, &out.a.i, 0));
    BAD(INVALID_DEVICE, cuDeviceComputeCapability(&out.a.i, &out.b.i, NOPE));
    BAD(INVALID_VALUE, cuDeviceCanAccessPeer(NULL, 0, 1));
    BAD(INVALID_DEVICE, cuDeviceCanAccessPeer(&out.a.i, NOPE, 1));
    BAD(INVALID_DEVICE, cuDeviceCanAccessPeer(&out.a.i, 0, NOPE));
    BAD(INVALID_VALUE, cuDeviceGetP2PAttribute(NULL, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 1));
    BAD(INVALID_VALUE, cuDeviceGetP2PAttribute(&out.a.i, (CUdevice_P2PAttribute)77, 0, 1));
    BAD(INVALID_DEVICE, cuDeviceGetP2PAttribute(&out.a.i, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 0));
    BAD(INVALID_VALUE, cuDevicePrimaryCtxRetain(NULL, 0));
    BAD(INVALID_DEVICE, cuDevicePrimaryCtxRetain(&out.a.context, NOPE));
    BAD(INVALID_DEVICE, cuDevicePrimaryCtxRelease(NOPE));
    BAD(INVALID_CONTEXT, cuDevicePrimaryCtxRelease(7)); /* never retained */
    BAD(INVALID_VALUE, cuDevicePrimaryCtxSetFlags(0, 1u << 30));
    BAD(INVALID_DEVICE, cuDevicePrimaryCtxSetFlags(NOPE, 0));
    BAD(INVALID_VALUE, cuDevicePrimaryCtxGetState(0, NULL, &out.a.i));
    BAD(INVALID_DEVICE, cuDevicePrimaryCtxGetState(NOPE, &out.a.u, &out.b.i));
    BAD(INVALID_DEVICE, cuDevicePrimaryCtxReset(NOPE));
    BAD(INVALID_VALUE, cuDeviceGetExecAffinitySupport(NULL, CU_EXEC_AFFINITY_TYPE_SM_COUNT, 0));
    BAD(INVALID_VALUE, cuDeviceGetExecAffinitySupport(&out.a.i, (CUexecAffinityType)9, 0));
    BAD(INVALID_DEVICE, cuDeviceGetExecAffinitySupport(&out.a.i, CU_EXEC_AFFINITY_TYPE_SM_COUNT, NOPE));
}

static void bad_contexts(const World *w)
{
    Out out;
    CUcontext junk = (CUcontext)(uintptr_t)0x1230;

    BAD(INVALID_VALUE, cuCtxCreate_v2(NULL, 0, 0));
    BAD(INVALID_VALUE, cuCtxCreate_v2(&out.a.context, 1u << 20, 0));
    BAD(INVALID_DEVICE, cuCtxCreate_v2(&out.a.context, 0, NOPE));
    BAD(INVALID_VALUE, cuCtxCreate_v3(&out.a.context, NULL, 1, 0, 0));
    BAD(INVALID_VALUE, cuCtxCreate_v4(NULL, NULL, 0, 0));
    BAD(INVALID_VALUE, cuCtxDestroy(NULL));
    BAD(INVALID_CONTEXT, cuCtxDestroy(junk));
    BAD(INVALID_CONTEXT, cuCtxDestroy(w->dead_context));
    BAD(INVALID_CONTEXT, cuCtxPushCurrent(NULL));
    BAD(INVALID_CONTEXT, cuCtxPushCurrent(w->dead_context));
    BAD(INVALID_CONTEXT, cuCtxSetCurrent(junk));
    BAD(INVALID_VALUE, cuCtxGetCurrent(NULL));
    BAD(INVALID_VALUE, cuCtxGetDevice(NULL));
    BAD(INVALID_CONTEXT, cuCtxGetDevice_v2(&out.a.i, junk));
    BAD(INVALID_VALUE, cuCtxGetFlags(NULL));
    BAD(INVALID_VALUE, cuCtxSetFlags(1u << 20));
    BAD(INVALID_VALUE, cuCtxGetId(w->context, NULL));
    BAD(INVALID_CONTEXT, cuCtxGetId(junk, &out.a.u64));
    BAD(INVALID_CONTEXT, cuCtxSynchronize_v2(junk));
    BAD(INVALID_VALUE, cuCtxGetApiVersion(w->context, NULL));
    BAD(INVALID_CONTEXT, cuCtxGetApiVersion(junk, &out.a.u));
    BAD(INVALID_VALUE, cuCtxGetLimit(NULL, CU_LIMIT_STACK_SIZE));
    BAD(UNSUPPORTED_LIMIT, cuCtxGetLimit(&out.a.size, CU_LIMIT_MAX));
    BAD(UNSUPPORTED_LIMIT, cuCtxSetLimit((CUlimit)-1, 1));
    BAD(INVALID_VALUE, cuCtxGetCacheConfig(NULL));
    BAD(INVALID_VALUE, cuCtxSetCacheConfig((CUfunc_cache)9));
    BAD(INVALID_VALUE, cuCtxAttach(NULL, 0));
    BAD(INVALID_CONTEXT, cuCtxDetach(junk));
    BAD(INVALID_CONTEXT, cuCtxEnablePeerAccess(junk, 0));
    BAD(INVALID_VALUE, cuCtxEnablePeerAccess(w->context, 1));
    BAD(INVALID_CONTEXT, cuCtxDisablePeerAccess(junk));
}

static void all_bad(const World *w)
{
    bad_devices(w);
    bad_contexts(w);
}

/* Calls that need a context say so when there is none, or when it was destroyed. */
static void test_without_context(void)
{
    CUcontext context;
    CUdeviceptr va = 77;
    CUstream stream;

    start();
    EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&va, 1));
    EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuStreamCreate(&stream, 0));
    EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuCtxSynchronize());
    EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuCtxPopCurrent(&context));
    EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuMemcpyHtoD(4096, &va, 1));
    OK(cuCtxCreate_v2(&context, 0, 0));
    OK(cuCtxPushCurrent(context));
    OK(cuCtxDestroy(context));
    EXPECT(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuMemAlloc(&va, 1));
    assert_int_equal(va, 77);
}

int main(int argc, char **argv)
{
    static const CudaTest tests[] = {BAD_TESTS, CUDA_TEST(test_without_context, ""), CUDA_TEST_END};
    return cuda_test_main(tests, argc, argv);
}
