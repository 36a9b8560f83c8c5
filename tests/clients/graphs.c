/* Graphs: captured from streams that fork and join, made node by node, launched again and again, changed between
 * launches; and what capturing forbids. Prints ok. */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CK(call) ck((call), CUDA_SUCCESS, #call, __LINE__)
#define IS(code, call) ck((call), code, #call, __LINE__)
static void ck(CUresult got, CUresult expected, const char *call, int line)
{
    if (got == expected)
        return;
    fprintf(stderr, "line %d: %s: %d, expected %d\n", line, call, got, expected);
    exit(1);
}
static void same(long got, long expected, int line)
{
    if (got == expected)
        return;
    fprintf(stderr, "line %d: %ld, expected %ld\n", line, got, expected);
    exit(1);
}
#define SAME(got, expected) same(got, expected, __LINE__)

static const char text[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n"
    ".visible .entry add(.param .u64 p, .param .u32 v) { .reg .b32 %r<5>; .reg .b64 %d<5>;\n"
    "  ld.param.u64 %d1, [p]; ld.param.u32 %r1, [v]; mov.u32 %r2, %tid.x; mul.wide.u32 %d2, %r2, 4;\n"
    "  add.s64 %d3, %d1, %d2; ld.global.u32 %r3, [%d3]; add.u32 %r4, %r3, %r1; st.global.u32 [%d3], %r4; ret; }\n";
#define N 64
static CUfunction add;
static CUstream s1, s2;
static CUdeviceptr a, b;
static unsigned host[N];
static int called;

static void count(void *user) { called += *(int *)user; }

static unsigned word(CUdeviceptr p)
{
    unsigned v;
    CK(cuMemcpyDtoH(&v, p + 4 * (N - 1), 4));
    return v;
}

static CUresult launch(CUstream s, CUdeviceptr p, unsigned v)
{
    void *args[] = {&p, &v};
    return cuLaunchKernel(add, 1, 1, 1, N, 1, 1, 0, s, args, NULL);
}

/* memset a; then, side by side, a += 1 and b = a + 10; then b += a's copy. */
static void captured(void)
{
    CUgraph g;
    CUgraphExec x;
    CUevent fork_, join;
    CUstreamCaptureStatus status;
    size_t n;
    int one = 1;

    CK(cuEventCreate(&fork_, CU_EVENT_DISABLE_TIMING));
    CK(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
    CK(cuStreamBeginCapture(s1, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CK(cuStreamIsCapturing(s1, &status));
    SAME(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    CK(cuMemsetD32Async(a, 5, N, s1));
    CK(cuEventRecord(fork_, s1));
    CK(cuStreamWaitEvent(s2, fork_, 0));
    CK(cuMemcpyDtoDAsync(b, a, 4 * N, s2));
    CK(launch(s2, b, 10));
    CK(cuLaunchHostFunc(s1, count, &one));
    CK(cuEventRecord(join, s2));
    CK(cuStreamWaitEvent(s1, join, 0));
    CK(launch(s1, a, 1));
    CK(cuMemcpyDtoHAsync(host, b, 4 * N, s1));
    CK(cuStreamEndCapture(s1, &g));
    SAME(called, 0); /* nothing has run */
    CK(cuStreamIsCapturing(s2, &status));
    SAME(status, CU_STREAM_CAPTURE_STATUS_NONE);
    CK(cuGraphGetNodes(g, NULL, &n));
    SAME((long)n, 6);
    CK(cuGraphGetEdges(g, NULL, NULL, NULL, &n));
    SAME((long)n, 6);
    CK(cuGraphInstantiate(&x, g, 0));
    CK(cuGraphDestroy(g));
    for (int i = 0; i < 3; i++)
        CK(cuGraphLaunch(x, s1));
    CK(cuStreamSynchronize(s1));
    SAME(called, 3);
    SAME(word(a), 6);
    SAME(host[N - 1], 15);
    CK(cuGraphExecDestroy(x));
    CK(cuEventDestroy(fork_));
    CK(cuEventDestroy(join));
}

static void made(void)
{
    CUgraph g, child;
    CUgraphNode fill, kernel, copy, node, list[8];
    CUgraphExec x;
    CUgraphNodeType type;
    size_t n = 8;
    unsigned v = 7, w = 70;
    void *args[] = {&a, &v}, *other[] = {&a, &w};
    CUDA_KERNEL_NODE_PARAMS k = {.func = add, .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1}, got;
    CUDA_MEMSET_NODE_PARAMS m = {.dst = a, .value = 1, .elementSize = 4, .width = N, .height = 1};
    CUDA_MEMCPY3D c = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                       .srcDevice = a,
                       .dstMemoryType = CU_MEMORYTYPE_HOST,
                       .dstHost = host,
                       .WidthInBytes = 4 * N,
                       .Height = 1,
                       .Depth = 1};
    CUcontext context;

    k.blockDimX = N;
    k.blockDimY = k.blockDimZ = 1;
    k.kernelParams = args;
    CK(cuCtxGetCurrent(&context));
    CK(cuGraphCreate(&g, 0));
    CK(cuGraphAddMemsetNode(&fill, g, NULL, 0, &m, context));
    CK(cuGraphAddKernelNode(&kernel, g, &fill, 1, &k));
    CK(cuGraphAddMemcpyNode(&copy, g, &kernel, 1, &c, context));
    v = 1000; /* parameters were copied */
    CK(cuGraphCreate(&child, 0));
    v = 3;
    CK(cuGraphAddKernelNode(&node, child, NULL, 0, &k));
    CK(cuGraphAddChildGraphNode(&node, g, &copy, 1, child));
    CK(cuGraphDestroy(child));
    CK(cuGraphKernelNodeGetParams(kernel, &got));
    SAME(*(unsigned *)got.kernelParams[1], 7);
    CK(cuGraphNodeGetType(copy, &type));
    SAME(type, CU_GRAPH_NODE_TYPE_MEMCPY);
    CK(cuGraphGetRootNodes(g, list, &n));
    SAME(n == 1 && list[0] == fill, 1);
    IS(CUDA_ERROR_INVALID_VALUE, cuGraphAddEmptyNode(&node, g, (CUgraphNode[]){(CUgraphNode)&n}, 1));
    CK(cuGraphAddDependencies(g, &copy, &node, NULL, 0));
    CK(cuGraphInstantiate(&x, g, 0));
    CK(cuGraphLaunch(x, s1));
    CK(cuStreamSynchronize(s1));
    SAME(host[N - 1], 8);
    SAME(word(a), 11);
    k.kernelParams = other;
    CK(cuGraphExecKernelNodeSetParams(x, kernel, &k));
    CK(cuGraphLaunch(x, s1));
    CK(cuStreamSynchronize(s1));
    SAME(host[N - 1], 71);
    CK(cuGraphNodeSetEnabled(x, kernel, 0));
    CK(cuGraphLaunch(x, s1));
    CK(cuStreamSynchronize(s1));
    SAME(host[N - 1], 1);
    CK(cuGraphNodeSetEnabled(x, kernel, 1));
    CUgraphExecUpdateResultInfo info;
    CK(cuGraphExecUpdate(x, g, &info));
    CK(cuGraphLaunch(x, s1));
    CK(cuStreamSynchronize(s1));
    SAME(host[N - 1], 8);
    CK(cuGraphDestroyNode(copy));
    IS(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(x, g, &info));
    SAME(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    CK(cuGraphAddDependencies(g, &kernel, &fill, NULL, 1)); /* a circle */
    CK(cuGraphExecDestroy(x));
    IS(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiate(&x, g, 0));
    CK(cuGraphDestroy(g));
}

/* The same by the calls that take a node of any type. */
static void any(void)
{
    CUgraph g;
    CUgraphNode fill, kernel, copy;
    CUgraphExec x;
    unsigned v = 7;
    void *args[] = {&a, &v};
    CUgraphNodeParams m = {.type = CU_GRAPH_NODE_TYPE_MEMSET}, k = {.type = CU_GRAPH_NODE_TYPE_KERNEL},
                      c = {.type = CU_GRAPH_NODE_TYPE_MEMCPY}, none = {.type = CU_GRAPH_NODE_TYPE_EMPTY};
    CUcontext context;

    CK(cuCtxGetCurrent(&context));
    m.memset.dst = a, m.memset.value = 1, m.memset.elementSize = 4, m.memset.width = N, m.memset.height = 1;
    m.memset.ctx = context;
    k.kernel.func = add, k.kernel.gridDimX = k.kernel.gridDimY = k.kernel.gridDimZ = k.kernel.blockDimY = 1;
    k.kernel.blockDimX = N, k.kernel.blockDimZ = 1, k.kernel.kernelParams = args;
    c.memcpy.copyCtx = context;
    c.memcpy.copyParams.srcMemoryType = CU_MEMORYTYPE_DEVICE, c.memcpy.copyParams.srcDevice = a;
    c.memcpy.copyParams.dstMemoryType = CU_MEMORYTYPE_HOST, c.memcpy.copyParams.dstHost = host;
    c.memcpy.copyParams.WidthInBytes = 4 * N, c.memcpy.copyParams.Height = c.memcpy.copyParams.Depth = 1;
    CK(cuGraphCreate(&g, 0));
    CK(cuGraphAddNode(&fill, g, NULL, NULL, 0, &m));
    CK(cuGraphAddNode(&kernel, g, &fill, NULL, 1, &k));
    CK(cuGraphAddNode(&copy, g, &kernel, NULL, 1, &c));
    m.memset.value = 2;
    CK(cuGraphNodeSetParams(fill, &m));
    IS(CUDA_ERROR_INVALID_VALUE, cuGraphNodeSetParams(kernel, &m)); /* of another type */
    CK(cuGraphInstantiate(&x, g, 0));
    CK(cuGraphLaunch(x, s1));
    CK(cuStreamSynchronize(s1));
    SAME(host[N - 1], 9);
    v = 70;
    CK(cuGraphExecNodeSetParams(x, kernel, &k));
    CK(cuGraphLaunch(x, s1));
    CK(cuStreamSynchronize(s1));
    SAME(host[N - 1], 72);
    none.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    IS(CUDA_ERROR_NOT_SUPPORTED, cuGraphAddNode(&copy, g, NULL, NULL, 0, &none));
    IS(CUDA_ERROR_INVALID_VALUE, cuGraphExecNodeSetParams(x, kernel, NULL));
    CK(cuGraphExecDestroy(x));
    CK(cuGraphDestroy(g));
}

static void forbidden(void)
{
    CUgraph g;
    CUevent e;

    CK(cuEventCreate(&e, 0));
    IS(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamBeginCapture(NULL, CU_STREAM_CAPTURE_MODE_RELAXED));
    IS(CUDA_ERROR_ILLEGAL_STATE, cuStreamEndCapture(s1, &g));
    CK(cuStreamBeginCapture(s1, CU_STREAM_CAPTURE_MODE_RELAXED));
    IS(CUDA_ERROR_ILLEGAL_STATE, cuStreamBeginCapture(s1, CU_STREAM_CAPTURE_MODE_RELAXED));
    IS(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamSynchronize(s1));
    IS(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, launch(s1, a, 1));
    IS(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(s1, &g));
    SAME(!g, 1);
    CK(cuStreamBeginCapture(s1, CU_STREAM_CAPTURE_MODE_RELAXED));
    CK(launch(s1, a, 1));
    CK(cuEventRecord(e, s1));
    CK(cuStreamWaitEvent(s2, e, 0));
    CK(launch(s2, b, 1));
    IS(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, cuStreamEndCapture(s2, &g));
    IS(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(s1, &g));
    CK(cuStreamBeginCapture(s1, CU_STREAM_CAPTURE_MODE_RELAXED));
    CK(launch(s1, a, 1));
    CK(cuEventRecord(e, s1));
    CK(cuStreamWaitEvent(s2, e, 0));
    CK(launch(s2, b, 1));
    IS(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, cuStreamEndCapture(s1, &g));
    CK(launch(s1, a, 1));
    CK(cuStreamSynchronize(s1));
    CK(cuEventDestroy(e));
}

int main(void)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;

    CK(cuInit(0));
    CK(cuDeviceGet(&device, 0));
    CK(cuDevicePrimaryCtxRetain(&context, device));
    CK(cuCtxSetCurrent(context));
    CK(cuModuleLoadData(&module, text));
    CK(cuModuleGetFunction(&add, module, "add"));
    CK(cuStreamCreate(&s1, CU_STREAM_NON_BLOCKING));
    CK(cuStreamCreate(&s2, CU_STREAM_NON_BLOCKING));
    CK(cuMemAlloc(&a, 4 * N));
    CK(cuMemAlloc(&b, 4 * N));
    captured();
    made();
    any();
    forbidden();
    CK(cuModuleUnload(module));
    puts("ok");
    return 0;
}
