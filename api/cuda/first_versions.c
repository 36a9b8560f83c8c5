/* Names without suffix whose later versions have other parameters: the first version of each, for programs that ask the
 * library for the plain name.
 *
 * CUDA 10 and 11's take what these releases had (graphs: no kernel handle, no edge data). CUDA 3.1's hold sizes and
 * device addresses in 32 bits: sizes that do not fit are the largest that do, an allocation whose address does not fit
 * is OUT_OF_MEMORY, which here is every one, and an address of 32 bits is one that nothing lies at. */
#include "api/cuda/context/ctx.h"

#undef cuArray3DCreate
#undef cuArray3DGetDescriptor
#undef cuArrayCreate
#undef cuArrayGetDescriptor
#undef cuDeviceTotalMem
#undef cuGraphAddKernelNode
#undef cuGraphExecKernelNodeSetParams
#undef cuGraphExecUpdate
#undef cuGraphInstantiate
#undef cuGraphKernelNodeGetParams
#undef cuGraphKernelNodeSetParams
#undef cuMemAlloc
#undef cuMemAllocHost
#undef cuMemAllocPitch
#undef cuMemFree
#undef cuMemGetAddressRange
#undef cuMemGetInfo
#undef cuMemHostGetDevicePointer
#undef cuMemHostRegister
#undef cuMemcpy2D
#undef cuMemcpy2DAsync
#undef cuMemcpy3D
#undef cuMemcpy3DAsync
#undef cuMemcpyAtoA
#undef cuMemcpyAtoD
#undef cuMemcpyAtoH
#undef cuMemcpyAtoHAsync
#undef cuMemcpyDtoA
#undef cuMemcpyDtoD
#undef cuMemcpyDtoDAsync
#undef cuMemcpyDtoH
#undef cuMemcpyDtoHAsync
#undef cuMemcpyHtoA
#undef cuMemcpyHtoAAsync
#undef cuMemcpyHtoD
#undef cuMemcpyHtoDAsync
#undef cuMemsetD16
#undef cuMemsetD2D32
#undef cuMemsetD2D8
#undef cuMemsetD32
#undef cuMemsetD8
#undef cuModuleGetGlobal
#undef cuStreamBeginCapture
#undef cuStreamGetCaptureInfo

#define FIRST(name, parameters)                                                                                        \
    CUDA_ALIAS_PTSZ CUresult name parameters;                                                                          \
    CUresult name parameters

typedef unsigned int Address; /* CUdeviceptr_v1 */

static unsigned int of_32(size_t value) { return (unsigned int)MIN(value, G_MAXUINT32); }

/* An address that was found, in 32 bits. */
static CUresult give_address(CUresult result, Address *to, CUdeviceptr address)
{
    if (result != CUDA_SUCCESS)
        return result;
    if (address > G_MAXUINT32)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (to)
        *to = (Address)address;
    return CUDA_SUCCESS;
}

/* ---- graphs and streams, CUDA 10 and 11 */

typedef struct {
    CUfunction func;
    unsigned int grid[3], block[3], shared;
    void **params, **extra;
} KernelParams;

static CUDA_KERNEL_NODE_PARAMS later(const KernelParams *p)
{
    return (CUDA_KERNEL_NODE_PARAMS){p->func,     p->grid[0], p->grid[1], p->grid[2], p->block[0], p->block[1],
                                     p->block[2], p->shared,  p->params,  p->extra,   NULL,        NULL};
}

FIRST(cuGraphAddKernelNode,
      (CUgraphNode * node, CUgraph graph, const CUgraphNode *before, size_t n, const KernelParams *params))
{
    const CUDA_KERNEL_NODE_PARAMS all = params ? later(params) : (CUDA_KERNEL_NODE_PARAMS){0};
    return cuGraphAddKernelNode_v2(node, graph, before, n, params ? &all : NULL);
}

FIRST(cuGraphKernelNodeGetParams, (CUgraphNode node, KernelParams *params))
{
    CUDA_KERNEL_NODE_PARAMS all;
    CUresult result = cuGraphKernelNodeGetParams_v2(node, params ? &all : NULL);
    if (result == CUDA_SUCCESS)
        *params = (KernelParams){all.func,
                                 {all.gridDimX, all.gridDimY, all.gridDimZ},
                                 {all.blockDimX, all.blockDimY, all.blockDimZ},
                                 all.sharedMemBytes,
                                 all.kernelParams,
                                 all.extra};
    return result;
}

FIRST(cuGraphKernelNodeSetParams, (CUgraphNode node, const KernelParams *params))
{
    const CUDA_KERNEL_NODE_PARAMS all = params ? later(params) : (CUDA_KERNEL_NODE_PARAMS){0};
    return cuGraphKernelNodeSetParams_v2(node, params ? &all : NULL);
}

FIRST(cuGraphExecKernelNodeSetParams, (CUgraphExec instance, CUgraphNode node, const KernelParams *params))
{
    const CUDA_KERNEL_NODE_PARAMS all = params ? later(params) : (CUDA_KERNEL_NODE_PARAMS){0};
    return cuGraphExecKernelNodeSetParams_v2(instance, node, params ? &all : NULL);
}

CUDA_ALIAS_PTSZ CUresult cuGraphInstantiate_v2(CUgraphExec *instance, CUgraph graph, CUgraphNode *error, char *log,
                                               size_t n);
FIRST(cuGraphInstantiate, (CUgraphExec * instance, CUgraph graph, CUgraphNode *error, char *log, size_t n))
{
    return cuGraphInstantiate_v2(instance, graph, error, log, n);
}

FIRST(cuGraphExecUpdate, (CUgraphExec instance, CUgraph graph, CUgraphNode *error, CUgraphExecUpdateResult *how))
{
    CUgraphExecUpdateResultInfo info = {0};
    CUresult result = cuGraphExecUpdate_v2(instance, graph, &info);
    if (error)
        *error = info.errorNode;
    if (how)
        *how = info.result;
    return result;
}

CUDA_ALIAS_PTSZ CUresult cuStreamBeginCapture_v2_ptsz(CUstream stream, CUstreamCaptureMode mode);
FIRST(cuStreamBeginCapture, (CUstream stream))
{
    return cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}
FIRST(cuStreamBeginCapture_ptsz, (CUstream stream))
{
    return cuStreamBeginCapture_v2_ptsz(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

CUDA_ALIAS_PTSZ CUresult cuStreamGetCaptureInfo_v3_ptsz(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
                                                        CUgraph *graph, const CUgraphNode **nodes,
                                                        const CUgraphEdgeData **edges, size_t *n);
FIRST(cuStreamGetCaptureInfo, (CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id))
{
    return cuStreamGetCaptureInfo_v3(stream, status, id, NULL, NULL, NULL, NULL);
}
FIRST(cuStreamGetCaptureInfo_ptsz, (CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id))
{
    return cuStreamGetCaptureInfo_v3_ptsz(stream, status, id, NULL, NULL, NULL, NULL);
}

/* ---- memory, CUDA 3.1 (and cuMemHostRegister of 4.0) */

FIRST(cuDeviceTotalMem, (unsigned int *bytes, CUdevice device))
{
    size_t all = 0;
    CUresult result = cuDeviceTotalMem_v2(bytes ? &all : NULL, device);
    if (result == CUDA_SUCCESS)
        *bytes = of_32(all);
    return result;
}

FIRST(cuMemGetInfo, (unsigned int *unused, unsigned int *total))
{
    size_t bytes[2] = {0};
    CUresult result = cuMemGetInfo_v2(&bytes[0], &bytes[1]);
    if (result == CUDA_SUCCESS && unused)
        *unused = of_32(bytes[0]);
    if (result == CUDA_SUCCESS && total)
        *total = of_32(bytes[1]);
    return result;
}

static CUresult give_memory(CUresult result, Address *to, CUdeviceptr made)
{
    CUresult given = give_address(result, to, made);
    if (result == CUDA_SUCCESS && given != CUDA_SUCCESS)
        cuMemFree_v2(made);
    return given;
}

FIRST(cuMemAlloc, (Address * address, unsigned int bytes))
{
    CUdeviceptr made = 0;
    CUresult result = cuMemAlloc_v2(address ? &made : NULL, bytes);
    return give_memory(result, address, made);
}

FIRST(cuMemAllocPitch,
      (Address * address, unsigned int *pitch, unsigned int width, unsigned int height, unsigned int element))
{
    CUdeviceptr made = 0;
    size_t bytes = 0;
    gboolean both = address && pitch;
    CUresult result = cuMemAllocPitch_v2(both ? &made : NULL, &bytes, width, height, element);
    if (result == CUDA_SUCCESS)
        *pitch = of_32(bytes);
    return give_memory(result, address, made);
}

FIRST(cuMemFree, (Address address)) { return cuMemFree_v2(address); }
FIRST(cuMemAllocHost, (void **address, unsigned int bytes)) { return cuMemAllocHost_v2(address, bytes); }
FIRST(cuMemHostRegister, (void *address, size_t bytes, unsigned int flags))
{
    return cuMemHostRegister_v2(address, bytes, flags);
}

FIRST(cuMemGetAddressRange, (Address * base, unsigned int *bytes, Address address))
{
    CUdeviceptr first = 0;
    size_t all = 0;
    CUresult result = cuMemGetAddressRange_v2(&first, &all, address);
    if (result == CUDA_SUCCESS && bytes)
        *bytes = of_32(all);
    return give_address(result, base, first);
}

FIRST(cuMemHostGetDevicePointer, (Address * address, void *host, unsigned int flags))
{
    CUdeviceptr at = 0;
    CUresult result = cuMemHostGetDevicePointer_v2(address ? &at : NULL, host, flags);
    return give_address(result, address, at);
}

FIRST(cuModuleGetGlobal, (Address * address, unsigned int *bytes, CUmodule module, const char *name))
{
    CUdeviceptr at = 0;
    size_t all = 0;
    CUresult result = cuModuleGetGlobal_v2(&at, &all, module, name);
    if (result == CUDA_SUCCESS && bytes)
        *bytes = of_32(all);
    return !address ? result : give_address(result, address, at);
}

/* The same call with wider parameters. */
#define WIDER(name, parameters, arguments)                                                                             \
    FIRST(name, parameters) { return name##_v2 arguments; }
WIDER(cuMemcpyHtoD, (Address to, const void *from, unsigned int n), (to, from, n))
WIDER(cuMemcpyDtoH, (void *to, Address from, unsigned int n), (to, from, n))
WIDER(cuMemcpyDtoD, (Address to, Address from, unsigned int n), (to, from, n))
WIDER(cuMemcpyHtoDAsync, (Address to, const void *from, unsigned int n, CUstream stream), (to, from, n, stream))
WIDER(cuMemcpyDtoHAsync, (void *to, Address from, unsigned int n, CUstream stream), (to, from, n, stream))
WIDER(cuMemcpyDtoDAsync, (Address to, Address from, unsigned int n, CUstream stream), (to, from, n, stream))
WIDER(cuMemcpyDtoA, (CUarray to, unsigned int at, Address from, unsigned int n), (to, at, from, n))
WIDER(cuMemcpyAtoD, (Address to, CUarray from, unsigned int at, unsigned int n), (to, from, at, n))
WIDER(cuMemcpyHtoA, (CUarray to, unsigned int at, const void *from, unsigned int n), (to, at, from, n))
WIDER(cuMemcpyAtoH, (void *to, CUarray from, unsigned int at, unsigned int n), (to, from, at, n))
WIDER(cuMemcpyAtoA, (CUarray to, unsigned int at, CUarray from, unsigned int from_at, unsigned int n),
      (to, at, from, from_at, n))
WIDER(cuMemcpyHtoAAsync, (CUarray to, unsigned int at, const void *from, unsigned int n, CUstream stream),
      (to, at, from, n, stream))
WIDER(cuMemcpyAtoHAsync, (void *to, CUarray from, unsigned int at, unsigned int n, CUstream stream),
      (to, from, at, n, stream))
WIDER(cuMemsetD8, (Address to, unsigned char value, unsigned int n), (to, value, n))
WIDER(cuMemsetD16, (Address to, unsigned short value, unsigned int n), (to, value, n))
WIDER(cuMemsetD32, (Address to, unsigned int value, unsigned int n), (to, value, n))
WIDER(cuMemsetD2D8, (Address to, unsigned int pitch, unsigned char value, unsigned int width, unsigned int height),
      (to, pitch, value, width, height))
WIDER(cuMemsetD2D32, (Address to, unsigned int pitch, unsigned int value, unsigned int width, unsigned int height),
      (to, pitch, value, width, height))

/* ---- copies and arrays that a structure describes, CUDA 3.1 */

typedef struct {
    unsigned int x, y;
    CUmemorytype type;
    void *host;
    Address device;
    CUarray array;
    unsigned int pitch;
} Side2D;

typedef struct {
    Side2D from, to;
    unsigned int width, height;
} Copy2D;

static CUDA_MEMCPY2D wider_2d(const Copy2D *c)
{
    const Side2D *f = &c->from, *t = &c->to;
    return (CUDA_MEMCPY2D){f->x, f->y,    f->type, f->host,   f->device, f->array, f->pitch, t->x,
                           t->y, t->type, t->host, t->device, t->array,  t->pitch, c->width, c->height};
}

#define COPY_2D(name, parameters, arguments)                                                                           \
    FIRST(name, parameters)                                                                                            \
    {                                                                                                                  \
        const CUDA_MEMCPY2D all = copy ? wider_2d(copy) : (CUDA_MEMCPY2D){0}, *wider = copy ? &all : NULL;             \
        return name##_v2 arguments;                                                                                    \
    }
COPY_2D(cuMemcpy2D, (const Copy2D *copy), (wider))
COPY_2D(cuMemcpy2DAsync, (const Copy2D *copy, CUstream stream), (wider, stream))

typedef struct {
    unsigned int x, y, z, level;
    CUmemorytype type;
    void *host;
    Address device;
    CUarray array;
    void *reserved;
    unsigned int pitch, height;
} Side3D;

typedef struct {
    Side3D from, to;
    unsigned int width, height, depth;
} Copy3D;

static CUDA_MEMCPY3D wider_3d(const Copy3D *c)
{
    const Side3D *f = &c->from, *t = &c->to;
    return (CUDA_MEMCPY3D){f->x,      f->y,     f->z,      f->level,  f->type,  f->host, f->device,
                           f->array,  NULL,     f->pitch,  f->height, t->x,     t->y,    t->z,
                           t->level,  t->type,  t->host,   t->device, t->array, NULL,    t->pitch,
                           t->height, c->width, c->height, c->depth};
}

#define COPY_3D(name, parameters, arguments)                                                                           \
    FIRST(name, parameters)                                                                                            \
    {                                                                                                                  \
        const CUDA_MEMCPY3D all = copy ? wider_3d(copy) : (CUDA_MEMCPY3D){0}, *wider = copy ? &all : NULL;             \
        return name##_v2 arguments;                                                                                    \
    }
COPY_3D(cuMemcpy3D, (const Copy3D *copy), (wider))
COPY_3D(cuMemcpy3DAsync, (const Copy3D *copy, CUstream stream), (wider, stream))

typedef struct {
    unsigned int width, height;
    CUarray_format format;
    unsigned int channels;
} Array2D;

typedef struct {
    unsigned int width, height, depth;
    CUarray_format format;
    unsigned int channels, flags;
} Array3D;

FIRST(cuArrayCreate, (CUarray * array, const Array2D *as))
{
    const CUDA_ARRAY_DESCRIPTOR all = as ? (CUDA_ARRAY_DESCRIPTOR){as->width, as->height, as->format, as->channels}
                                         : (CUDA_ARRAY_DESCRIPTOR){0};
    return cuArrayCreate_v2(array, as ? &all : NULL);
}

FIRST(cuArray3DCreate, (CUarray * array, const Array3D *as))
{
    const CUDA_ARRAY3D_DESCRIPTOR all = as ? (CUDA_ARRAY3D_DESCRIPTOR){as->width,  as->height,   as->depth,
                                                                       as->format, as->channels, as->flags}
                                           : (CUDA_ARRAY3D_DESCRIPTOR){0};
    return cuArray3DCreate_v2(array, as ? &all : NULL);
}

FIRST(cuArrayGetDescriptor, (Array2D * as, CUarray array))
{
    CUDA_ARRAY_DESCRIPTOR all;
    CUresult result = cuArrayGetDescriptor_v2(as ? &all : NULL, array);
    if (result == CUDA_SUCCESS)
        *as = (Array2D){of_32(all.Width), of_32(all.Height), all.Format, all.NumChannels};
    return result;
}

FIRST(cuArray3DGetDescriptor, (Array3D * as, CUarray array))
{
    CUDA_ARRAY3D_DESCRIPTOR all;
    CUresult result = cuArray3DGetDescriptor_v2(as ? &all : NULL, array);
    if (result == CUDA_SUCCESS)
        *as = (Array3D){of_32(all.Width), of_32(all.Height), of_32(all.Depth), all.Format, all.NumChannels, all.Flags};
    return result;
}
