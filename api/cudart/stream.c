/* Streams, events, captures and graphs of the runtime API: the driver's, under other names. */
#include "api/cudart/runtime.h"

RT cudaStreamCreate(CUstream *s) { CALL(cuStreamCreate(s, 0)); }
RT cudaStreamCreateWithFlags(CUstream *s, unsigned flags) { CALL(cuStreamCreate(s, flags)); }
RT cudaStreamCreateWithPriority(CUstream *s, unsigned flags, int p) { CALL(cuStreamCreateWithPriority(s, flags, p)); }
RT cudaStreamDestroy(CUstream s) { CALL(cuStreamDestroy(s)); }
RT cudaStreamSynchronize(CUstream s) { CALL(cuStreamSynchronize(s)); }
RT cudaStreamQuery(CUstream s) { CALL(cuStreamQuery(s)); }
RT cudaStreamGetId(CUstream s, unsigned long long *id) { CALL(cuStreamGetId(s, id)); }
RT cudaStreamWaitEvent(CUstream s, CUevent e, unsigned flags) { CALL(cuStreamWaitEvent(s, e, flags)); }
RT cudaLaunchHostFunc(CUstream s, CUhostFn f, void *user) { CALL(cuLaunchHostFunc(s, f, user)); }
RT cudaEventCreate(CUevent *e) { CALL(cuEventCreate(e, 0)); }
RT cudaEventCreateWithFlags(CUevent *e, unsigned flags) { CALL(cuEventCreate(e, flags)); }
RT cudaEventRecord(CUevent e, CUstream s) { CALL(cuEventRecord(e, s)); }
RT cudaEventSynchronize(CUevent e) { CALL(cuEventSynchronize(e)); }
RT cudaEventQuery(CUevent e) { CALL(cuEventQuery(e)); }
RT cudaEventDestroy(CUevent e) { CALL(cuEventDestroy(e)); }
RT cudaIpcGetEventHandle(CUipcEventHandle *handle, CUevent e) { CALL(cuIpcGetEventHandle(handle, e)); }
RT cudaIpcOpenEventHandle(CUevent *e, CUipcEventHandle handle) { CALL(cuIpcOpenEventHandle(e, handle)); }
RT cudaEventElapsedTime(float *ms, CUevent a, CUevent b) { CALL(cuEventElapsedTime(ms, a, b)); }

RT cudaStreamBeginCapture(CUstream s, int mode) { CALL(cuStreamBeginCapture(s, (CUstreamCaptureMode)mode)); }
RT cudaStreamBeginRecaptureToGraph(CUstream s, int mode, CUgraph g, CUgraphRecaptureCallback mismatch, void *user)
{
    /* the function would be told of kernels as the driver names them, which the program does not know */
    CALL(mismatch ? CUDA_ERROR_NOT_SUPPORTED
                  : cuStreamBeginRecaptureToGraph(s, (CUstreamCaptureMode)mode, g, NULL, user));
}
RT cudaStreamEndCapture(CUstream s, CUgraph *g) { CALL(cuStreamEndCapture(s, g)); }
RT cudaStreamIsCapturing(CUstream s, CUstreamCaptureStatus *status) { CALL(cuStreamIsCapturing(s, status)); }
RT V3(cudaStreamGetCaptureInfo)(CUstream s, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *g,
                                const CUgraphNode **nodes, const CUgraphEdgeData **edges, size_t *n)
{
    CALL(cuStreamGetCaptureInfo(s, status, id, g, nodes, edges, n));
}
RT V2(cudaStreamUpdateCaptureDependencies)(CUstream s, CUgraphNode *nodes, const CUgraphEdgeData *edges, size_t n,
                                           unsigned flags)
{
    CALL(cuStreamUpdateCaptureDependencies(s, nodes, edges, n, flags));
}
RT cudaThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) { CALL(cuThreadExchangeStreamCaptureMode(mode)); }
RT cudaGraphCreate(CUgraph *g, unsigned flags) { CALL(cuGraphCreate(g, flags)); }
RT cudaGraphDestroy(CUgraph g) { CALL(cuGraphDestroy(g)); }
RT cudaGraphInstantiate(CUgraphExec *x, CUgraph g, unsigned long long flags) { CALL(cuGraphInstantiate(x, g, flags)); }
RT cudaGraphLaunch(CUgraphExec x, CUstream s) { CALL(cuGraphLaunch(x, s)); }
RT cudaGraphExecDestroy(CUgraphExec x) { CALL(cuGraphExecDestroy(x)); }
RT cudaGraphAddEventRecordNode(CUgraphNode *node, CUgraph g, const CUgraphNode *before, size_t n, CUevent e)
{
    CALL(cuGraphAddEventRecordNode(node, g, before, n, e));
}
RT V2(cudaGraphAddDependencies)(CUgraph g, const CUgraphNode *from, const CUgraphNode *to, const CUgraphEdgeData *edges,
                                size_t n)
{
    CALL(cuGraphAddDependencies(g, from, to, edges, n));
}
RT cudaUserObjectCreate(CUuserObject *o, void *data, CUhostFn destroy, unsigned n, unsigned flags)
{
    CALL(cuUserObjectCreate(o, data, destroy, n, flags));
}
RT cudaGraphRetainUserObject(CUgraph g, CUuserObject o, unsigned n, unsigned flags)
{
    CALL(cuGraphRetainUserObject(g, o, n, flags));
}
