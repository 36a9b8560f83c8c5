/* Devices, errors, limits: each thread has a current device, whose primary context is made at the first use. */
#include "api/cudart/runtime.h"

#include <stdio.h>
#include <string.h>

#define DEVICES_MAX 256
static _Thread_local cudaError_t last_error;
static _Thread_local int current_device;
static CUcontext primary[DEVICES_MAX]; /* retained once for the process */

cudaError_t runtime_note(CUresult result)
{
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY)
        last_error = (cudaError_t)result;
    return (cudaError_t)result;
}

static CUresult use_device(int device)
{
    CUcontext context = __atomic_load_n(&primary[device], __ATOMIC_ACQUIRE);
    CUresult result = CUDA_SUCCESS;

    if (!context) {
        result = cuDevicePrimaryCtxRetain(&context, device);
        if (result == CUDA_SUCCESS)
            __atomic_store_n(&primary[device], context, __ATOMIC_RELEASE);
    }
    return result == CUDA_SUCCESS ? cuCtxSetCurrent(context) : result;
}

CUresult runtime_open(void)
{
    CUcontext context = NULL;
    CUresult result = cuInit(0);

    if (result != CUDA_SUCCESS)
        return result;
    if (cuCtxGetCurrent(&context) == CUDA_SUCCESS && context)
        return CUDA_SUCCESS;
    return use_device(current_device);
}

RT cudaGetLastError(void)
{
    cudaError_t error = last_error;
    last_error = 0;
    return error;
}
RT cudaPeekAtLastError(void) { return last_error; }

RT cudaGetDeviceCount(int *count)
{
    CUresult result = cuInit(0);
    NOTE(result ? result : cuDeviceGetCount(count));
}

RT cudaSetDevice(int device)
{
    int count = 0;
    CUresult result = cuInit(0);
    if (result == CUDA_SUCCESS)
        result = cuDeviceGetCount(&count);
    if (result == CUDA_SUCCESS && (device < 0 || device >= count || device >= DEVICES_MAX))
        result = CUDA_ERROR_INVALID_DEVICE;
    if (result == CUDA_SUCCESS)
        result = use_device(device);
    if (result == CUDA_SUCCESS)
        current_device = device;
    NOTE(result);
}

/* Starts the driver, as the real one: programs ask it for the device, and the driver itself from then on. */
RT cudaGetDevice(int *device)
{
    CUdevice now;
    CUresult result = cuInit(0);
    if (!device)
        NOTE(CUDA_ERROR_INVALID_VALUE);
    if (result != CUDA_SUCCESS)
        NOTE(result);
    *device = cuCtxGetDevice(&now) == CUDA_SUCCESS ? now : current_device;
    return 0;
}

RT cudaDeviceSynchronize(void) { CALL(cuCtxSynchronize()); }
RT cudaDeviceGetAttribute(int *value, int attribute, int device)
{
    CALL(cuDeviceGetAttribute(value, (CUdevice_attribute)attribute, device));
}
RT cudaDeviceCanAccessPeer(int *can, int device, int peer) { CALL(cuDeviceCanAccessPeer(can, device, peer)); }
RT cudaDeviceGetPCIBusId(char *text, int bytes, int device) { CALL(cuDeviceGetPCIBusId(text, bytes, device)); }
RT cudaDeviceGetByPCIBusId(int *device, const char *text) { CALL(cuDeviceGetByPCIBusId(device, text)); }
RT cudaDeviceSetLimit(int limit, size_t value) { CALL(cuCtxSetLimit((CUlimit)limit, value)); }
RT cudaDeviceGetLimit(size_t *value, int limit) { CALL(cuCtxGetLimit(value, (CUlimit)limit)); }
RT cudaDeviceGetStreamPriorityRange(int *least, int *most) { CALL(cuCtxGetStreamPriorityRange(least, most)); }
RT cudaDriverGetVersion(int *version) { NOTE(cuDriverGetVersion(version)); }
RT cudaRuntimeGetVersion(int *version)
{
    if (!version)
        NOTE(CUDA_ERROR_INVALID_VALUE);
    *version = CUDART_NUMBER;
    return 0;
}

static CUresult peer(int device, CUresult (*change)(CUcontext))
{
    CUcontext mine = NULL, other = NULL;
    CUresult result = cuCtxGetCurrent(&mine);
    if (result == CUDA_SUCCESS && (device < 0 || device >= DEVICES_MAX))
        result = CUDA_ERROR_INVALID_DEVICE;
    if (result == CUDA_SUCCESS)
        result = use_device(device);
    if (result == CUDA_SUCCESS)
        result = cuCtxGetCurrent(&other);
    cuCtxSetCurrent(mine);
    return result == CUDA_SUCCESS ? change(other) : result;
}
static CUresult enable(CUcontext context) { return cuCtxEnablePeerAccess(context, 0); }
RT cudaDeviceEnablePeerAccess(int device, unsigned flags)
{
    CALL(flags ? CUDA_ERROR_INVALID_VALUE : peer(device, enable));
}
RT cudaDeviceDisablePeerAccess(int device) { CALL(peer(device, cuCtxDisablePeerAccess)); }

RT cudaDeviceReset(void)
{
    CUdevice device;
    CUresult result = runtime_open();
    if (result == CUDA_SUCCESS)
        result = cuCtxGetDevice(&device);
    NOTE(result ? result : cuDevicePrimaryCtxReset(device));
}

RT V2(cudaGetDeviceProperties)(cudaDeviceProp *prop, int device)
{
    CUresult result = cuInit(0);
    size_t total = 0;
    int value = 0;

    if (!prop)
        NOTE(CUDA_ERROR_INVALID_VALUE);
    memset(prop, 0, sizeof *prop);
    if (result == CUDA_SUCCESS)
        result = cuDeviceGetName(prop->name, sizeof prop->name, device);
    if (result != CUDA_SUCCESS)
        NOTE(result);
    cuDeviceGetUuid(&prop->uuid, device);
    cuDeviceTotalMem(&total, device);
    prop->totalGlobalMem = total;
#define READ(attribute) (value = 0, cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_##attribute, device), value)
#define FIELD(field, attribute) prop->field = (__typeof__(prop->field))READ(attribute);
#include "api/cudart/device_fields.h"
#ifdef CUDART_12
    FIELD(clockRate, CLOCK_RATE)
    FIELD(deviceOverlap, GPU_OVERLAP)
    FIELD(kernelExecTimeoutEnabled, KERNEL_EXEC_TIMEOUT)
    FIELD(computeMode, COMPUTE_MODE)
    FIELD(maxTexture1DLinear, MAXIMUM_TEXTURE1D_LINEAR_WIDTH)
    FIELD(memoryClockRate, MEMORY_CLOCK_RATE)
    FIELD(singleToDoublePrecisionPerfRatio, SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO)
    FIELD(cooperativeMultiDeviceLaunch, COOPERATIVE_MULTI_DEVICE_LAUNCH)
#endif
    prop->maxThreadsDim[0] = READ(MAX_BLOCK_DIM_X);
    prop->maxThreadsDim[1] = READ(MAX_BLOCK_DIM_Y);
    prop->maxThreadsDim[2] = READ(MAX_BLOCK_DIM_Z);
    prop->maxGridSize[0] = READ(MAX_GRID_DIM_X);
    prop->maxGridSize[1] = READ(MAX_GRID_DIM_Y);
    prop->maxGridSize[2] = READ(MAX_GRID_DIM_Z);
    return 0;
}

RT cudaGetDriverEntryPointByVersion(const char *symbol, void **function, unsigned version, unsigned long long flags,
                                    int *found)
{
    CUdriverProcAddressQueryResult status;
    CUresult result = cuInit(0);
    if (result != CUDA_SUCCESS)
        NOTE(result);
    result = cuGetProcAddress(symbol, function, (int)version, flags, &status);
    if (found)
        *found = (int)status;
    NOTE(result);
}
RT cudaGetDriverEntryPoint(const char *symbol, void **function, unsigned long long flags, int *found)
{
    return cudaGetDriverEntryPointByVersion(symbol, function, 13000, flags, found);
}
