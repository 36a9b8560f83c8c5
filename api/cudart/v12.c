/* What libcudart.so.12 has beside: forms that 13 dropped, and older ones under the plain names. */
#include "api/cudart/runtime.h"

#include <stddef.h>
#include <string.h>

/* The structure as it was in CUDA 11: a shorter one, with the same beginning. */
cudaError_t cudaGetDeviceProperties_v2(cudaDeviceProp *prop, int device);
RT cudaGetDeviceProperties(cudaDeviceProp *prop, int device)
{
    cudaDeviceProp whole;
    cudaError_t error = cudaGetDeviceProperties_v2(prop ? &whole : NULL, device);
    if (error == 0)
        memcpy(prop, &whole, offsetof(cudaDeviceProp, hostRegisterSupported));
    return error;
}
RT cudaEventElapsedTime_v2(float *ms, CUevent a, CUevent b) { CALL(cuEventElapsedTime(ms, a, b)); }
RT cudaStreamGetCaptureInfo(CUstream s, CUstreamCaptureStatus *status, cuuint64_t *id)
{
    CALL(cuStreamGetCaptureInfo(s, status, id, NULL, NULL, NULL, NULL));
}
RT cudaStreamGetCaptureInfo_v2(CUstream s, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *g,
                               const CUgraphNode **nodes, size_t *n)
{
    CALL(cuStreamGetCaptureInfo(s, status, id, g, nodes, NULL, n));
}
RT cudaStreamUpdateCaptureDependencies(CUstream s, CUgraphNode *nodes, size_t n, unsigned flags)
{
    CALL(cuStreamUpdateCaptureDependencies(s, nodes, NULL, n, flags));
}
RT cudaGraphAddDependencies(CUgraph g, const CUgraphNode *from, const CUgraphNode *to, size_t n)
{
    CALL(cuGraphAddDependencies(g, from, to, NULL, n));
}
/* Old names of calls of device.c. */
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaDeviceReset(void);
RT cudaThreadSynchronize(void) { return cudaDeviceSynchronize(); }
RT cudaThreadExit(void) { return cudaDeviceReset(); }
