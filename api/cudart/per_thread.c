/* The names that programs call when they are built with --default-stream per-thread: stream 0 is the thread's own. */
#include "api/cudart/runtime.h"

/* Of other files here. */
cudaError_t __cudaLaunchKernel(CUkernel kernel, dim3 grid, dim3 block, void **args, size_t shared, CUstream stream);
cudaError_t cudaEventRecord(CUevent e, CUstream s);
cudaError_t cudaEventRecordWithFlags(CUevent e, CUstream s, unsigned flags);
cudaError_t cudaFreeAsync(void *at, CUstream stream);
cudaError_t cudaGraphLaunch(CUgraphExec x, CUstream s);
cudaError_t cudaGraphUpload(CUgraphExec x, CUstream s);
cudaError_t cudaLaunchCooperativeKernel(const void *host, dim3 grid, dim3 block, void **args, size_t shared,
                                        CUstream stream);
cudaError_t cudaLaunchHostFunc(CUstream s, CUhostFn f, void *user);
cudaError_t cudaLaunchKernel(const void *host, dim3 grid, dim3 block, void **args, size_t shared, CUstream stream);
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig *config, const void *host, void **args);
cudaError_t cudaMallocAsync(void **at, size_t bytes, CUstream stream);
cudaError_t cudaMallocFromPoolAsync(void **at, size_t bytes, CUmemoryPool pool, CUstream stream);
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, int kind, CUstream stream);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t n, int kind, CUstream stream);
cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t n, size_t offset, int kind, CUstream stream);
cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t n, size_t offset, int kind,
                                    CUstream stream);
cudaError_t cudaMemsetAsync(void *at, int value, size_t n, CUstream stream);
cudaError_t cudaStreamAddCallback(CUstream s, CUstreamCallback callback, void *user, unsigned flags);
cudaError_t cudaStreamAttachMemAsync(CUstream s, void *at, size_t bytes, unsigned flags);
cudaError_t cudaStreamBeginCapture(CUstream s, int mode);
cudaError_t cudaStreamCopyAttributes(CUstream to, CUstream from);
cudaError_t cudaStreamEndCapture(CUstream s, CUgraph *g);
cudaError_t cudaStreamGetAttribute(CUstream s, int attribute, CUstreamAttrValue *value);
cudaError_t cudaStreamGetFlags(CUstream s, unsigned *flags);
cudaError_t cudaStreamGetId(CUstream s, unsigned long long *id);
cudaError_t cudaStreamGetPriority(CUstream s, int *priority);
cudaError_t cudaStreamIsCapturing(CUstream s, CUstreamCaptureStatus *status);
cudaError_t cudaStreamQuery(CUstream s);
cudaError_t cudaStreamSetAttribute(CUstream s, int attribute, const CUstreamAttrValue *value);
cudaError_t cudaStreamSynchronize(CUstream s);
cudaError_t cudaStreamWaitEvent(CUstream s, CUevent e, unsigned flags);

static CUstream own(CUstream s) { return s ? s : (CUstream)2; /* CU_STREAM_PER_THREAD */ }

/* Calls without a stream are those of the own one, waited for. */
static cudaError_t waited(cudaError_t result) { return result == 0 ? cudaStreamSynchronize(own(NULL)) : result; }

RT cudaMemcpy_ptds(void *to, const void *from, size_t n, int kind)
{
    return waited(cudaMemcpyAsync(to, from, n, kind, own(NULL)));
}
RT cudaMemcpyAsync_ptsz(void *to, const void *from, size_t n, int kind, CUstream s)
{
    return cudaMemcpyAsync(to, from, n, kind, own(s));
}
RT cudaMemcpyToSymbol_ptds(const void *symbol, const void *from, size_t n, size_t offset, int kind)
{
    return waited(cudaMemcpyToSymbolAsync(symbol, from, n, offset, kind, own(NULL)));
}
RT cudaMemcpyToSymbolAsync_ptsz(const void *symbol, const void *from, size_t n, size_t offset, int kind, CUstream s)
{
    return cudaMemcpyToSymbolAsync(symbol, from, n, offset, kind, own(s));
}
RT cudaMemcpyFromSymbol_ptds(void *to, const void *symbol, size_t n, size_t offset, int kind)
{
    return waited(cudaMemcpyFromSymbolAsync(to, symbol, n, offset, kind, own(NULL)));
}
RT cudaMemcpyFromSymbolAsync_ptsz(void *to, const void *symbol, size_t n, size_t offset, int kind, CUstream s)
{
    return cudaMemcpyFromSymbolAsync(to, symbol, n, offset, kind, own(s));
}
RT cudaMemcpy2D_ptds(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t w, size_t h, int kind)
{
    return waited(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, w, h, kind, own(NULL)));
}
RT cudaMemcpy2DAsync_ptsz(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t w, size_t h, int kind,
                          CUstream s)
{
    return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, w, h, kind, own(s));
}
RT cudaMemset_ptds(void *at, int value, size_t n) { return cudaMemsetAsync(at, value, n, own(NULL)); }
RT cudaMemsetAsync_ptsz(void *at, int value, size_t n, CUstream s) { return cudaMemsetAsync(at, value, n, own(s)); }

RT cudaLaunchKernel_ptsz(const void *host, dim3 grid, dim3 block, void **args, size_t shared, CUstream s)
{
    return cudaLaunchKernel(host, grid, block, args, shared, own(s));
}
RT __cudaLaunchKernel_ptsz(CUkernel kernel, dim3 grid, dim3 block, void **args, size_t shared, CUstream s)
{
    return __cudaLaunchKernel(kernel, grid, block, args, shared, own(s));
}
RT cudaLaunchCooperativeKernel_ptsz(const void *host, dim3 grid, dim3 block, void **args, size_t shared, CUstream s)
{
    return cudaLaunchCooperativeKernel(host, grid, block, args, shared, own(s));
}
RT cudaLaunchKernelExC_ptsz(const cudaLaunchConfig *config, const void *host, void **args)
{
    cudaLaunchConfig c;
    if (!config)
        return cudaLaunchKernelExC(config, host, args);
    c = *config;
    c.stream = own(c.stream);
    return cudaLaunchKernelExC(&c, host, args);
}
RT cudaLaunchHostFunc_ptsz(CUstream s, CUhostFn f, void *user) { return cudaLaunchHostFunc(own(s), f, user); }

RT cudaStreamSynchronize_ptsz(CUstream s) { return cudaStreamSynchronize(own(s)); }
RT cudaStreamQuery_ptsz(CUstream s) { return cudaStreamQuery(own(s)); }
RT cudaStreamGetId_ptsz(CUstream s, unsigned long long *id) { return cudaStreamGetId(own(s), id); }
RT cudaStreamGetFlags_ptsz(CUstream s, unsigned *flags) { return cudaStreamGetFlags(own(s), flags); }
RT cudaStreamGetPriority_ptsz(CUstream s, int *priority) { return cudaStreamGetPriority(own(s), priority); }
RT cudaStreamSetAttribute_ptsz(CUstream s, int attribute, const CUstreamAttrValue *value)
{
    return cudaStreamSetAttribute(own(s), attribute, value);
}
RT cudaStreamGetAttribute_ptsz(CUstream s, int attribute, CUstreamAttrValue *value)
{
    return cudaStreamGetAttribute(own(s), attribute, value);
}
RT cudaStreamCopyAttributes_ptsz(CUstream to, CUstream from) { return cudaStreamCopyAttributes(own(to), own(from)); }
RT cudaStreamWaitEvent_ptsz(CUstream s, CUevent e, unsigned flags) { return cudaStreamWaitEvent(own(s), e, flags); }
RT cudaStreamAddCallback_ptsz(CUstream s, CUstreamCallback f, void *user, unsigned flags)
{
    return cudaStreamAddCallback(own(s), f, user, flags);
}
RT cudaStreamAttachMemAsync_ptsz(CUstream s, void *at, size_t bytes, unsigned flags)
{
    return cudaStreamAttachMemAsync(own(s), at, bytes, flags);
}
RT cudaEventRecord_ptsz(CUevent e, CUstream s) { return cudaEventRecord(e, own(s)); }
RT cudaEventRecordWithFlags_ptsz(CUevent e, CUstream s, unsigned f) { return cudaEventRecordWithFlags(e, own(s), f); }
RT cudaStreamBeginCapture_ptsz(CUstream s, int mode) { return cudaStreamBeginCapture(own(s), mode); }
RT cudaStreamEndCapture_ptsz(CUstream s, CUgraph *g) { return cudaStreamEndCapture(own(s), g); }
RT cudaStreamIsCapturing_ptsz(CUstream s, CUstreamCaptureStatus *status)
{
    return cudaStreamIsCapturing(own(s), status);
}
RT cudaGraphLaunch_ptsz(CUgraphExec x, CUstream s) { return cudaGraphLaunch(x, own(s)); }
RT cudaGraphUpload_ptsz(CUgraphExec x, CUstream s) { return cudaGraphUpload(x, own(s)); }
RT cudaMallocAsync_ptsz(void **at, size_t bytes, CUstream s) { return cudaMallocAsync(at, bytes, own(s)); }
RT cudaMallocFromPoolAsync_ptsz(void **at, size_t bytes, CUmemoryPool pool, CUstream s)
{
    return cudaMallocFromPoolAsync(at, bytes, pool, own(s));
}
RT cudaFreeAsync_ptsz(void *at, CUstream s) { return cudaFreeAsync(at, own(s)); }
