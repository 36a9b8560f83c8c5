/* Graphs of the runtime API that are built node by node; those of captures are in stream.c. */
#include "api/cudart/runtime.h"

#include <string.h>

typedef struct {
    void *func;
    dim3 grid, block;
    unsigned shared;
    void **params, **extra;
} cudaKernelNodeParams;
typedef struct {
    void *at;
    size_t pitch, xsize, ysize;
} cudaPitchedPtr;
typedef struct {
    size_t x, y, z;
} cudaPos;
typedef struct {
    void *srcArray;
    cudaPos srcPos;
    cudaPitchedPtr srcPtr;
    void *dstArray;
    cudaPos dstPos;
    cudaPitchedPtr dstPtr;
    struct {
        size_t width, height, depth;
    } extent;
    int kind;
} cudaMemcpy3DParms;

static CUresult kernel_params(const cudaKernelNodeParams *p, CUDA_KERNEL_NODE_PARAMS *to)
{
    CUkernel kernel;
    CUresult result = p ? runtime_kernel(p->func, &kernel) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *to = (CUDA_KERNEL_NODE_PARAMS){.kern = kernel,
                                        .gridDimX = p->grid.x,
                                        .gridDimY = p->grid.y,
                                        .gridDimZ = p->grid.z,
                                        .blockDimX = p->block.x,
                                        .blockDimY = p->block.y,
                                        .blockDimZ = p->block.z,
                                        .sharedMemBytes = p->shared,
                                        .kernelParams = p->params,
                                        .extra = p->extra};
    return result;
}
static CUresult add_kernel(CUgraphNode *node, CUgraph g, const CUgraphNode *before, size_t n,
                           const cudaKernelNodeParams *p)
{
    CUDA_KERNEL_NODE_PARAMS params;
    CUresult result = kernel_params(p, &params);
    return result == CUDA_SUCCESS ? cuGraphAddKernelNode(node, g, before, n, &params) : result;
}
RT cudaGraphAddKernelNode(CUgraphNode *node, CUgraph g, const CUgraphNode *before, size_t n,
                          const cudaKernelNodeParams *p)
{
    CALL(add_kernel(node, g, before, n, p));
}
static CUresult exec_kernel(CUgraphExec x, CUgraphNode node, const cudaKernelNodeParams *p)
{
    CUDA_KERNEL_NODE_PARAMS params;
    CUresult result = kernel_params(p, &params);
    return result == CUDA_SUCCESS ? cuGraphExecKernelNodeSetParams(x, node, &params) : result;
}
RT cudaGraphExecKernelNodeSetParams(CUgraphExec x, CUgraphNode node, const cudaKernelNodeParams *p)
{
    CALL(exec_kernel(x, node, p));
}

static CUmemorytype side(int kind, int is_source)
{
    return kind == MEMCPY_DEFAULT ? CU_MEMORYTYPE_UNIFIED
           : kind == (is_source ? MEMCPY_DEVICE_TO_HOST : MEMCPY_HOST_TO_DEVICE) || kind == MEMCPY_DEVICE_TO_DEVICE
               ? CU_MEMORYTYPE_DEVICE
               : CU_MEMORYTYPE_HOST;
}
static CUresult add_copy(CUgraphNode *node, CUgraph g, const CUgraphNode *before, size_t n, const cudaMemcpy3DParms *p)
{
    CUcontext context = NULL;
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    if (p->srcArray || p->dstArray)
        return CUDA_ERROR_NOT_SUPPORTED;
    CUresult result = cuCtxGetCurrent(&context);
    const CUDA_MEMCPY3D c = {.srcMemoryType = side(p->kind, 1),
                             .srcHost = p->srcPtr.at,
                             .srcDevice = (CUdeviceptr)(uintptr_t)p->srcPtr.at,
                             .srcPitch = p->srcPtr.pitch,
                             .srcHeight = p->srcPtr.ysize,
                             .srcXInBytes = p->srcPos.x,
                             .srcY = p->srcPos.y,
                             .srcZ = p->srcPos.z,
                             .dstMemoryType = side(p->kind, 0),
                             .dstHost = p->dstPtr.at,
                             .dstDevice = (CUdeviceptr)(uintptr_t)p->dstPtr.at,
                             .dstPitch = p->dstPtr.pitch,
                             .dstHeight = p->dstPtr.ysize,
                             .dstXInBytes = p->dstPos.x,
                             .dstY = p->dstPos.y,
                             .dstZ = p->dstPos.z,
                             .WidthInBytes = p->extent.width,
                             .Height = p->extent.height,
                             .Depth = p->extent.depth};
    return result == CUDA_SUCCESS ? cuGraphAddMemcpyNode(node, g, before, n, &c, context) : result;
}
RT cudaGraphAddMemcpyNode(CUgraphNode *node, CUgraph g, const CUgraphNode *before, size_t n, const cudaMemcpy3DParms *p)
{
    CALL(add_copy(node, g, before, n, p));
}
RT cudaGraphAddMemcpyNode1D(CUgraphNode *node, CUgraph g, const CUgraphNode *before, size_t n, void *to,
                            const void *from, size_t bytes, int kind)
{
    const cudaMemcpy3DParms p = {.srcPtr = {(void *)(uintptr_t)from, bytes, bytes, 1},
                                 .dstPtr = {to, bytes, bytes, 1},
                                 .extent = {bytes, 1, 1},
                                 .kind = kind};
    CALL(add_copy(node, g, before, n, &p));
}
static CUresult add_fill(CUgraphNode *node, CUgraph g, const CUgraphNode *before, size_t n,
                         const CUDA_MEMSET_NODE_PARAMS *p)
{
    CUcontext context = NULL;
    CUresult result = cuCtxGetCurrent(&context);
    return result == CUDA_SUCCESS ? cuGraphAddMemsetNode(node, g, before, n, p, context) : result;
}
RT cudaGraphAddMemsetNode(CUgraphNode *node, CUgraph g, const CUgraphNode *before, size_t n,
                          const CUDA_MEMSET_NODE_PARAMS *p)
{
    CALL(add_fill(node, g, before, n, p));
}
RT cudaGraphAddHostNode(CUgraphNode *node, CUgraph g, const CUgraphNode *before, size_t n,
                        const CUDA_HOST_NODE_PARAMS *p)
{
    CALL(cuGraphAddHostNode(node, g, before, n, p));
}
RT cudaGraphAddEmptyNode(CUgraphNode *node, CUgraph g, const CUgraphNode *before, size_t n)
{
    CALL(cuGraphAddEmptyNode(node, g, before, n));
}
RT cudaGraphAddChildGraphNode(CUgraphNode *node, CUgraph g, const CUgraphNode *before, size_t n, CUgraph child)
{
    CALL(cuGraphAddChildGraphNode(node, g, before, n, child));
}
RT cudaGraphAddEventWaitNode(CUgraphNode *node, CUgraph g, const CUgraphNode *before, size_t n, CUevent e)
{
    CALL(cuGraphAddEventWaitNode(node, g, before, n, e));
}
RT cudaGraphGetNodes(CUgraph g, CUgraphNode *nodes, size_t *n) { CALL(cuGraphGetNodes(g, nodes, n)); }
RT cudaGraphGetRootNodes(CUgraph g, CUgraphNode *nodes, size_t *n) { CALL(cuGraphGetRootNodes(g, nodes, n)); }
RT cudaGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type) { CALL(cuGraphNodeGetType(node, type)); }
RT cudaGraphDestroyNode(CUgraphNode node) { CALL(cuGraphDestroyNode(node)); }
RT cudaGraphClone(CUgraph *copy, CUgraph g) { CALL(cuGraphClone(copy, g)); }
RT cudaGraphUpload(CUgraphExec x, CUstream s) { CALL(cuGraphUpload(x, s)); }
RT cudaGraphInstantiateWithFlags(CUgraphExec *x, CUgraph g, unsigned long long flags)
{
    CALL(cuGraphInstantiate(x, g, flags));
}
