/* Primary contexts: one for each device, counted. */
#include "api/cuda/context/ctx.h"

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice ordinal)
{
    CUDA_BEGIN(call);
    CudaDevice *device = cuda_device(call.cuda, ordinal);

    if (!context)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    if (!device)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_DEVICE);
    if (!device->primary) {
        CUresult result = context_new(&call, ordinal, device->primary_flags, &device->primary);
        if (result != CUDA_SUCCESS)
            CUDA_RETURN(call, result);
        device->primary->primary = TRUE;
    } else {
        device->primary->refs++;
    }
    *context = (CUcontext)device->primary->handle;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

static void end(Call *call, CudaDevice *device)
{
    context_free(call, device->primary);
    device->primary = NULL;
}

static CUresult release(Call *call, CUdevice ordinal)
{
    CudaDevice *device = cuda_device(call->cuda, ordinal);

    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    if (!device->primary)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (--device->primary->refs == 0)
        end(call, device);
    return CUDA_SUCCESS;
}

static CUresult set_flags(Call *call, CUdevice ordinal, unsigned int flags)
{
    CudaDevice *device = cuda_device(call->cuda, ordinal);

    if ((flags & ~(unsigned)CONTEXT_FLAGS_KNOWN) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    device->primary_flags = flags;
    if (device->primary)
        device->primary->flags = flags;
    return CUDA_SUCCESS;
}

static CUresult reset(Call *call, CUdevice ordinal)
{
    CudaDevice *device = cuda_device(call->cuda, ordinal);

    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    if (device->primary)
        end(call, device);
    return CUDA_SUCCESS;
}

/* The names of before 11.0 have the same signature. */
#undef cuDevicePrimaryCtxRelease
#undef cuDevicePrimaryCtxSetFlags
#undef cuDevicePrimaryCtxReset
CUDA_ALIAS_PTSZ CUresult cuDevicePrimaryCtxRelease(CUdevice device);
CUDA_ALIAS_PTSZ CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned int flags);
CUDA_ALIAS_PTSZ CUresult cuDevicePrimaryCtxReset(CUdevice device);

CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, release(&call, device));
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, release(&call, device));
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned int flags)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, set_flags(&call, device, flags));
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned int flags)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, set_flags(&call, device, flags));
}

CUresult cuDevicePrimaryCtxReset(CUdevice device)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, reset(&call, device));
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, reset(&call, device));
}

CUresult cuDevicePrimaryCtxGetState(CUdevice ordinal, unsigned int *flags, int *active)
{
    CUDA_BEGIN(call);
    CudaDevice *device = cuda_device(call.cuda, ordinal);

    if (!flags || !active)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    if (!device)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_DEVICE);
    *flags = device->primary_flags;
    *active = device->primary != NULL;
    CUDA_RETURN(call, CUDA_SUCCESS);
}
