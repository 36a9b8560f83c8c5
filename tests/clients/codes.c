/* What wrong arguments of modules, functions, linkers and launches are answered with: a table of calls with the code
 * that a real driver gives (probed on an H100, driver 580; `codes print` prints what this driver gives).
 * Also that right ones work: the last rows launch and look at the result. */
#include <cuda.h>
#include <stdio.h>
#include <stdint.h>
#include <string.h>

static const char text[] = ".version 7.8\n.target sm_80\n.address_size 64\n"
                           ".visible .global .align 4 .u32 counter = 7;\n"
                           ".visible .const .align 4 .b8 table[12];\n"
                           ".visible .entry put(.param .u64 p, .param .u32 v, .param .u32 i) {\n"
                           "  .reg .b32 %r<4>; .reg .b64 %d<4>;\n"
                           "  ld.param.u64 %d1, [p]; ld.param.u32 %r1, [v]; ld.param.u32 %r2, [i];\n"
                           "  mul.wide.u32 %d2, %r2, 4; add.s64 %d3, %d1, %d2; st.global.u32 [%d3], %r1; ret; }\n"
                           ".visible .entry bounded() .maxntid 64, 1, 1 { ret; }\n"
                           ".visible .entry exactly() .reqntid 32, 1, 1 { ret; }\n"
                           ".visible .entry fixed() { .shared .align 4 .b8 s[40000]; .reg .b32 %r<2>;\n"
                           "  mov.u32 %r1, 1; st.shared.u32 [s], %r1; ret; }\n"
                           ".visible .entry stray() { .reg .b64 %d<2>; .reg .b32 %r<2>; mov.u64 %d1, 16;\n"
                           "  mov.u32 %r1, 1; st.global.u32 [%d1], %r1; ret; }\n";
static const char broken[] = ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k() { add.u32 ; ret; }\n";
static const char later[] = ".version 8.6\n.target sm_100\n.address_size 64\n.visible .entry k() { ret; }\n";
static const char no_form[] = ".version 8.8\n.target sm_90\n.address_size 64\n"
                              ".visible .entry k(.param .u64 p) { .reg .b64 %a, %q;\n"
                              "ld.param.u64 %a, [p]; multimem.ld_reduce.weak.global.add.s64 %q, [%a];\n"
                              "st.global.b64 [%a], %q; ret; }\n"; /* of s64 there is min and max alone */
static const char no_word[] = ".version 7.8\n.target sm_80\n.address_size 64\n"
                              ".visible .entry k() { .reg .b32 %r<2>; add.sideways.u32 %r1, %r1, 1; ret; }\n";
static const char not_here[] =
    ".version 8.0\n.target sm_90a\n.address_size 64\n"
    ".visible .entry k() { .reg .b32 %r<9>; .reg .b64 %a; wmma.load.c.sync.aligned.row.m16n16k16.global.f16\n"
    "{%r1, %r2, %r3, %r4}, [%a]; ret; }\n";
static const char future[] = ".version 99.9\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n";
static const char outside[] = ".version 7.8\n.target sm_80\n.address_size 64\n.extern .func gone;\n"
                              ".visible .entry k() { call gone; ret; }\n";

static CUmodule module;
static CUlibrary library;
static CUkernel kernel;
static CUfunction put, bounded, exactly, fixed;
static CUdevice device;
static CUcontext context;
static CUstream stream;
static CUdeviceptr memory;
static CUlinkState linker;
static int value;
static size_t bytes;
static unsigned count;
static const char *name;
static unsigned word = 5, at = 1;
static void *args[] = {&memory, &word, &at};
#define LAUNCH(f, grid, block, shared, params, extra)                                                                  \
    cuLaunchKernel(f, grid, 1, 1, block, 1, 1, shared, stream, params, extra)

static CUresult load(const void *image)
{
    CUmodule m;
    CUresult r = cuModuleLoadData(&m, image);
    return r == CUDA_SUCCESS ? cuModuleUnload(m) : r;
}

static CUresult packed(size_t n, int ended)
{
    struct {
        CUdeviceptr p;
        unsigned v, i;
    } a = {memory, 6, 2};
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER,          &a,   CU_LAUNCH_PARAM_BUFFER_SIZE, &n,
                     ended ? CU_LAUNCH_PARAM_END : (void *)9, NULL, CU_LAUNCH_PARAM_END};
    return LAUNCH(put, 1, 1, 0, NULL, extra);
}

static CUresult with(CUfunction f, unsigned grid, CUlaunchAttributeID id, CUlaunchAttributeValue v)
{
    CUlaunchAttribute a = {.id = id, .value = v};
    CUlaunchConfig c = {grid, 1, 1, 32, 1, 1, 0, stream, &a, 1};
    return cuLaunchKernelEx(&c, f, f == put ? args : NULL, NULL);
}
#define CLUSTER(f, grid, n)                                                                                            \
    with(f, grid, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, (CUlaunchAttributeValue){.clusterDim = {n, 1, 1}})

#define HINT(id, ...) with(bounded, 1, CU_LAUNCH_ATTRIBUTE_##id, (CUlaunchAttributeValue){__VA_ARGS__})
#define WINDOW(n, ratio, miss)                                                                                         \
    HINT(ACCESS_POLICY_WINDOW, .accessPolicyWindow = {NULL, n, ratio, CU_ACCESS_PROPERTY_PERSISTING, miss})

static CUresult option(CUjit_option o, void *v)
{
    CUmodule m;
    CUresult r = cuModuleLoadDataEx(&m, text, 1, &o, &v);
    return r == CUDA_SUCCESS ? cuModuleUnload(m) : r;
}

/* Each: the i-th call, its text, and what it is to answer; *call NULL: there is none. */
#define ROW(c, code)                                                                                                   \
    if (i == n++) {                                                                                                    \
        *call = #c;                                                                                                    \
        *expected = code;                                                                                              \
        return c;                                                                                                      \
    }
typedef CUresult Rows(int i, const char **call, CUresult *expected);

static CUresult loads(int i, const char **call, CUresult *expected)
{
    CUjit_option unknown = (CUjit_option)999;
    int n = 0;
    ROW(cuModuleLoadData(NULL, text), CUDA_ERROR_INVALID_VALUE)
    ROW(cuModuleLoadData(&module, NULL), CUDA_ERROR_INVALID_VALUE)
    ROW(load("no PTX at all"), CUDA_ERROR_INVALID_IMAGE)
    ROW(load(broken), CUDA_ERROR_INVALID_PTX)
    ROW(load(later), CUDA_ERROR_INVALID_PTX)
    ROW(load(no_form), CUDA_ERROR_INVALID_PTX)
    ROW(load(no_word), CUDA_ERROR_INVALID_PTX)
    ROW(load(not_here), CUDA_ERROR_NOT_SUPPORTED)
    ROW(load(future), CUDA_ERROR_UNSUPPORTED_PTX_VERSION)
    ROW(load(outside), CUDA_ERROR_INVALID_PTX)
    ROW(load("\177ELF"), CUDA_ERROR_INVALID_IMAGE)
    ROW(cuModuleLoad(&module, "/nonexistent"), CUDA_ERROR_FILE_NOT_FOUND)
    ROW(cuModuleLoad(&module, NULL), CUDA_ERROR_INVALID_VALUE)
    ROW(option(unknown, NULL), CUDA_ERROR_INVALID_VALUE)
    ROW(option(CU_JIT_OPTIMIZATION_LEVEL, (void *)3), CUDA_SUCCESS)
    ROW(cuModuleLoadData(&module, text), CUDA_SUCCESS)
    ROW(cuModuleGetFunction(NULL, module, "put"), CUDA_ERROR_INVALID_VALUE)
    ROW(cuModuleGetFunction(&put, module, NULL), CUDA_ERROR_INVALID_VALUE)
    ROW(cuModuleGetFunction(&put, module, "missing"), CUDA_ERROR_NOT_FOUND)
    ROW(cuModuleGetFunction(&put, module, ""), CUDA_ERROR_INVALID_VALUE)
    ROW(cuModuleGetFunction(&put, module, "counter"), CUDA_ERROR_NOT_FOUND)
    ROW(cuModuleGetFunction(&put, NULL, "put"), CUDA_ERROR_INVALID_HANDLE)
    ROW(cuModuleGetFunction(&put, module, "put"), CUDA_SUCCESS)
    ROW(cuModuleGetFunction(&bounded, module, "bounded"), CUDA_SUCCESS)
    ROW(cuModuleGetFunction(&exactly, module, "exactly"), CUDA_SUCCESS)
    ROW(cuModuleGetFunction(&fixed, module, "fixed"), CUDA_SUCCESS)
    ROW(cuModuleGetFunctionCount(&count, module), CUDA_SUCCESS)
    ROW((CUresult)(count != 5), CUDA_SUCCESS)
    ROW(cuModuleGetFunctionCount(NULL, module), CUDA_ERROR_INVALID_VALUE)
    ROW(cuModuleGetGlobal(&memory, &bytes, module, "counter"), CUDA_SUCCESS)
    ROW((CUresult)(bytes != 4), CUDA_SUCCESS)
    ROW(cuModuleGetGlobal(NULL, NULL, module, "counter"), CUDA_ERROR_INVALID_VALUE)
    ROW(cuModuleGetGlobal(NULL, &bytes, module, "table"), CUDA_SUCCESS)
    ROW((CUresult)(bytes != 12), CUDA_SUCCESS)
    ROW(cuModuleGetGlobal(&memory, &bytes, module, "missing"), CUDA_ERROR_NOT_FOUND)
    ROW(cuModuleGetGlobal(&memory, &bytes, module, "put"), CUDA_ERROR_INVALID_VALUE)
    ROW(cuModuleGetGlobal(&memory, &bytes, module, NULL), CUDA_ERROR_INVALID_VALUE)
    *call = NULL;
    return CUDA_SUCCESS;
}

static CUresult functions(int i, const char **call, CUresult *expected)
{
    int n = 0;
    ROW(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX, put), CUDA_ERROR_INVALID_VALUE)
    ROW(cuFuncGetAttribute(NULL, CU_FUNC_ATTRIBUTE_NUM_REGS, put), CUDA_ERROR_INVALID_VALUE)
    ROW(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, NULL), CUDA_ERROR_INVALID_HANDLE)
    ROW(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, put), CUDA_SUCCESS)
    ROW((CUresult)(value != 1024), CUDA_SUCCESS)
    ROW(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, bounded), CUDA_SUCCESS)
    ROW((CUresult)(value != 64), CUDA_SUCCESS)
    ROW(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, fixed), CUDA_SUCCESS)
    ROW((CUresult)(value != 40000), CUDA_SUCCESS)
    ROW(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_PTX_VERSION, put), CUDA_SUCCESS)
    ROW((CUresult)(value != 80), CUDA_SUCCESS)
    ROW(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_BINARY_VERSION, put), CUDA_SUCCESS)
    ROW((CUresult)(value != 90), CUDA_SUCCESS)
    ROW(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, put), CUDA_SUCCESS)
    ROW((CUresult)(value != 49152), CUDA_SUCCESS)
    ROW(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, fixed), CUDA_SUCCESS)
    ROW((CUresult)(value != 49152 - 40000), CUDA_SUCCESS)
    ROW(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, put), CUDA_SUCCESS)
    ROW((CUresult)(value != -1), CUDA_SUCCESS)
    ROW(cuFuncSetAttribute(put, CU_FUNC_ATTRIBUTE_NUM_REGS, 8), CUDA_ERROR_INVALID_VALUE)
    ROW(cuFuncSetAttribute(put, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 300000), CUDA_ERROR_INVALID_VALUE)
    ROW(cuFuncSetAttribute(put, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, -1), CUDA_ERROR_INVALID_VALUE)
    ROW(cuFuncSetAttribute(fixed, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 200000), CUDA_ERROR_INVALID_VALUE)
    ROW(cuFuncSetAttribute(put, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 101), CUDA_ERROR_INVALID_VALUE)
    ROW(cuFuncSetAttribute(put, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 50), CUDA_SUCCESS)
    ROW(cuFuncSetCacheConfig(put, (CUfunc_cache)9), CUDA_ERROR_INVALID_VALUE)
    ROW(cuFuncSetCacheConfig(put, CU_FUNC_CACHE_PREFER_L1), CUDA_SUCCESS)
    ROW(cuFuncGetName(&name, put), CUDA_SUCCESS)
    ROW(cuFuncGetName(&name, NULL), CUDA_ERROR_INVALID_VALUE)
    ROW((CUresult)strcmp(name, "put"), CUDA_SUCCESS)
    ROW(cuFuncGetParamInfo(put, 1, &bytes, NULL), CUDA_SUCCESS)
    ROW((CUresult)(bytes != 8), CUDA_SUCCESS)
    ROW(cuFuncGetParamInfo(put, 3, &bytes, NULL), CUDA_ERROR_INVALID_VALUE)
    ROW(cuFuncGetParamInfo(put, 0, NULL, NULL), CUDA_ERROR_INVALID_VALUE)
    *call = NULL;
    return CUDA_SUCCESS;
}

static CUresult launches(int i, const char **call, CUresult *expected)
{
    int n = 0;
    ROW(cuMemAlloc(&memory, 64), CUDA_SUCCESS)
    ROW(LAUNCH(put, 1, 1, 0, args, NULL), CUDA_SUCCESS)
    ROW(packed(16, 1), CUDA_SUCCESS)
    ROW(packed(12, 1), CUDA_SUCCESS)
    ROW(packed(24, 1), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)
    ROW(packed(0, 1), CUDA_ERROR_INVALID_VALUE)
    ROW(packed(16, 0), CUDA_ERROR_INVALID_VALUE)
    ROW(LAUNCH(put, 0, 1, 0, args, NULL), CUDA_ERROR_INVALID_VALUE)
    ROW(LAUNCH(put, 1, 0, 0, args, NULL), CUDA_ERROR_INVALID_VALUE)
    ROW(LAUNCH(put, 1, 1025, 0, args, NULL), CUDA_ERROR_INVALID_VALUE)
    ROW(LAUNCH(put, 0x80000000u, 1, 0, args, NULL), CUDA_ERROR_INVALID_VALUE)
    ROW(cuLaunchKernel(put, 1, 65536, 1, 1, 1, 1, 0, stream, args, NULL), CUDA_ERROR_INVALID_VALUE)
    ROW(cuLaunchKernel(put, 1, 1, 1, 1, 1, 65, 0, stream, args, NULL), CUDA_ERROR_INVALID_VALUE)
    ROW(LAUNCH(put, 1, 1, 49153, args, NULL), CUDA_ERROR_INVALID_VALUE)
    ROW(LAUNCH(fixed, 1, 1, 49152 - 40000 + 1, NULL, NULL), CUDA_ERROR_INVALID_VALUE)
    ROW(LAUNCH(fixed, 1, 1, 49152 - 40000, NULL, NULL), CUDA_SUCCESS)
    ROW(LAUNCH(put, 1, 1, 0, NULL, NULL), CUDA_ERROR_INVALID_VALUE)
    ROW(LAUNCH(put, 1, 1, 0, args, args), CUDA_ERROR_INVALID_VALUE)
    ROW(LAUNCH(NULL, 1, 1, 0, args, NULL), CUDA_ERROR_INVALID_HANDLE)
    ROW(LAUNCH(bounded, 1, 65, 0, NULL, NULL), CUDA_ERROR_INVALID_VALUE)
    ROW(LAUNCH(bounded, 1, 64, 0, NULL, NULL), CUDA_SUCCESS)
    ROW(LAUNCH(exactly, 1, 16, 0, NULL, NULL), CUDA_ERROR_INVALID_VALUE)
    ROW(LAUNCH(exactly, 1, 32, 0, NULL, NULL), CUDA_SUCCESS)
    ROW(cuLaunchCooperativeKernel(bounded, 1, 1, 1, 32, 1, 1, 0, stream, NULL), CUDA_SUCCESS)
    ROW(cuLaunchCooperativeKernel(bounded, 100000, 1, 1, 32, 1, 1, 0, stream, NULL),
        CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE)
    ROW(CLUSTER(bounded, 4, 2), CUDA_SUCCESS)
    ROW(CLUSTER(bounded, 3, 2), CUDA_ERROR_INVALID_CLUSTER_SIZE)
    ROW(CLUSTER(bounded, 16, 16), CUDA_ERROR_INVALID_CLUSTER_SIZE)
    ROW(CLUSTER(bounded, 32, 32), CUDA_ERROR_INVALID_CLUSTER_SIZE)
    ROW(CLUSTER(bounded, 4, 0), CUDA_ERROR_INVALID_CLUSTER_SIZE)
    ROW(with(bounded, 1, (CUlaunchAttributeID)99, (CUlaunchAttributeValue){.cooperative = 0}), CUDA_ERROR_INVALID_VALUE)
    ROW(with(bounded, 1, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
             (CUlaunchAttributeValue){.programmaticStreamSerializationAllowed = 1}),
        CUDA_SUCCESS)
    ROW(with(bounded, 1, CU_LAUNCH_ATTRIBUTE_PRIORITY, (CUlaunchAttributeValue){.priority = -1}), CUDA_SUCCESS)
    ROW(WINDOW(4096, 0.5f, CU_ACCESS_PROPERTY_NORMAL), CUDA_SUCCESS)
    ROW(WINDOW(4096, 1.5f, CU_ACCESS_PROPERTY_NORMAL), CUDA_ERROR_INVALID_VALUE)
    ROW(WINDOW((size_t)1 << 30, 0.5f, CU_ACCESS_PROPERTY_NORMAL), CUDA_ERROR_INVALID_VALUE)
    ROW(WINDOW(9, 0.5f, CU_ACCESS_PROPERTY_PERSISTING), CUDA_ERROR_INVALID_VALUE)
    ROW(HINT(SYNCHRONIZATION_POLICY, .syncPolicy = CU_SYNC_POLICY_AUTO), CUDA_ERROR_INVALID_VALUE)
    ROW(HINT(MEM_SYNC_DOMAIN_MAP, .memSyncDomainMap = {0, 4}), CUDA_ERROR_INVALID_VALUE)
    ROW(HINT(MEM_SYNC_DOMAIN_MAP, .memSyncDomainMap = {0, 3}), CUDA_SUCCESS)
    ROW(HINT(MEM_SYNC_DOMAIN, .memSyncDomain = CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE), CUDA_SUCCESS)
    ROW(HINT(MEM_SYNC_DOMAIN, .memSyncDomain = (CUlaunchMemSyncDomain)2), CUDA_ERROR_INVALID_VALUE)
    ROW(HINT(CLUSTER_SCHEDULING_POLICY_PREFERENCE, .cooperative = 9), CUDA_ERROR_INVALID_VALUE)
    ROW(HINT(CLUSTER_SCHEDULING_POLICY_PREFERENCE, .cooperative = 1), CUDA_SUCCESS)
    ROW(HINT(PREFERRED_SHARED_MEMORY_CARVEOUT, .sharedMemCarveout = 101), CUDA_ERROR_INVALID_VALUE)
    ROW(cuLaunchKernelEx(NULL, put, args, NULL), CUDA_ERROR_INVALID_VALUE)
    ROW(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, put, 256, 0), CUDA_SUCCESS)
    ROW((CUresult)(value != 8), CUDA_SUCCESS)
    ROW(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, fixed, 32, 0), CUDA_SUCCESS)
    ROW((CUresult)(value != 5), CUDA_SUCCESS)
    ROW(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, put, 0, 0), CUDA_ERROR_INVALID_VALUE)
    ROW(cuOccupancyMaxActiveBlocksPerMultiprocessor(NULL, put, 32, 0), CUDA_ERROR_INVALID_VALUE)
    ROW(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, put, 2048, 0), CUDA_SUCCESS)
    ROW((CUresult)(value != 0), CUDA_SUCCESS)
    ROW(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, put, 32, 0), CUDA_SUCCESS)
    ROW((CUresult)(value != 32), CUDA_SUCCESS)
    *call = NULL;
    return CUDA_SUCCESS;
}

static CUresult libraries(int i, const char **call, CUresult *expected)
{
    int n = 0;
    ROW(cuLibraryLoadData(NULL, text, NULL, NULL, 0, NULL, NULL, 0), CUDA_ERROR_INVALID_VALUE)
    ROW(cuLibraryLoadData(&library, NULL, NULL, NULL, 0, NULL, NULL, 0), CUDA_ERROR_INVALID_VALUE)
    ROW(cuLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0), CUDA_SUCCESS)
    ROW(cuLibraryGetKernel(&kernel, library, "missing"), CUDA_ERROR_NOT_FOUND)
    ROW(cuLibraryGetKernel(NULL, library, "put"), CUDA_ERROR_INVALID_VALUE)
    ROW(cuLibraryGetKernel(&kernel, library, "put"), CUDA_SUCCESS)
    ROW(cuLibraryGetKernelCount(&count, library), CUDA_SUCCESS)
    ROW((CUresult)(count != 5), CUDA_SUCCESS)
    ROW(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel, 99), CUDA_ERROR_INVALID_DEVICE)
    ROW(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel, device), CUDA_SUCCESS)
    ROW(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000, kernel, device), CUDA_SUCCESS)
    ROW(LAUNCH((CUfunction)kernel, 1, 1, 100000, args, NULL), CUDA_SUCCESS)
    ROW(cuLibraryGetGlobal(&memory, &bytes, library, "missing"), CUDA_ERROR_NOT_FOUND)
    ROW(cuLibraryGetManaged(&memory, &bytes, library, "counter"), CUDA_ERROR_NOT_FOUND)
    ROW(cuKernelGetName(&name, kernel), CUDA_SUCCESS)
    ROW(cuKernelGetName(&name, NULL), CUDA_ERROR_INVALID_VALUE)
    ROW(cuLinkCreate(0, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE)
    ROW(cuLinkCreate(0, NULL, NULL, &linker), CUDA_SUCCESS)
    ROW(cuLinkAddData(linker, CU_JIT_INPUT_PTX, NULL, 4, "x", 0, NULL, NULL), CUDA_ERROR_INVALID_VALUE)
    ROW(cuLinkAddData(linker, CU_JIT_INPUT_PTX, (void *)broken, sizeof broken, "x", 0, NULL, NULL),
        CUDA_ERROR_INVALID_PTX)
    ROW(cuLinkAddFile(linker, CU_JIT_INPUT_PTX, "/nonexistent", 0, NULL, NULL), CUDA_ERROR_FILE_NOT_FOUND)
    ROW(cuLinkAddData(linker, CU_JIT_INPUT_PTX, (void *)text, sizeof text, "x", 0, NULL, NULL), CUDA_SUCCESS)
    ROW(cuLinkDestroy(linker), CUDA_SUCCESS)
    ROW(cuStreamSynchronize(stream), CUDA_SUCCESS)
    ROW(cuLibraryUnload(library), CUDA_SUCCESS)
    ROW(cuModuleUnload(module), CUDA_SUCCESS)
    ROW(cuCtxPopCurrent(&context), CUDA_SUCCESS)
    ROW(load(text), CUDA_ERROR_INVALID_CONTEXT)
    *call = NULL;
    return CUDA_SUCCESS;
}

int main(int argc, char **argv)
{
    static Rows *const parts[] = {loads, functions, launches, libraries};
    int bad = 0, print = argc > 1 && strcmp(argv[1], "print") == 0;
    const char *call = "";
    CUresult expected;

    if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) ||
        cuCtxSetCurrent(context) || cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING))
        return 1;
    for (int part = 0, i = 0; part < (int)(sizeof parts / sizeof parts[0]); i++) {
        CUresult got = parts[part](i, &call, &expected);
        if (!call) {
            part++;
            i = -1;
            continue;
        }
        if (got == expected && !print)
            continue;
        printf("%s %d, expected %d: %s (value %d, bytes %zu)\n", got == expected ? "ok" : "BAD", got, expected, call,
               value, bytes);
        bad += got != expected;
    }
    puts(bad ? "bad" : "ok");
    return bad != 0;
}
