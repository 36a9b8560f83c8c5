/* Devices: identity, attributes, peers. Primary contexts are in primary.c. */
#include <stdio.h>
#include <string.h>

#include "api/cuda/context/process.h"

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    CUDA_BEGIN(call);
    if (!device)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    if (!cuda_device(call.cuda, ordinal))
        CUDA_RETURN(call, CUDA_ERROR_INVALID_DEVICE);
    *device = ordinal;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuDeviceGetCount(int *count)
{
    CUDA_BEGIN(call);
    if (!count)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    *count = (int)call.cuda->n_devices;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

/* Opens most functions of this file: the pointer, then the device. */
#define DEVICE_OR_RETURN(call, device, ordinal, sound)                                                                 \
    CudaDevice *device = cuda_device((call).cuda, ordinal);                                                            \
    if (!(sound))                                                                                                      \
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);                                                                   \
    if (!(device))                                                                                                     \
    CUDA_RETURN(call, CUDA_ERROR_INVALID_DEVICE)

CUresult cuDeviceGetName(char *name, int bytes, CUdevice ordinal)
{
    CUDA_BEGIN(call);
    DEVICE_OR_RETURN(call, device, ordinal, name && bytes > 0);
    g_strlcpy(name, device->kind->name, (gsize)bytes);
    CUDA_RETURN(call, CUDA_SUCCESS);
}

static CUresult device_uuid(Call *call, CUuuid *uuid, CUdevice ordinal)
{
    DEVICE_OR_RETURN(*call, device, ordinal, uuid != NULL);
    *uuid = device->uuid;
    return CUDA_SUCCESS;
}

#undef cuDeviceGetUuid
CUDA_ALIAS_PTSZ CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice ordinal);
CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice ordinal)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, device_uuid(&call, uuid, ordinal));
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice ordinal)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, device_uuid(&call, uuid, ordinal));
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice ordinal)
{
    CUDA_BEGIN(call);
    DEVICE_OR_RETURN(call, device, ordinal, bytes != NULL);
    *bytes = device->total_bytes;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

/* Of a device that has logical endpoints. */
static void endpoint_attribute(const CudaDevice *device, int attribute, int *value)
{
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_LOGICAL_ENDPOINT_UNICAST_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_LOGICAL_ENDPOINT_COUNTED_OPS_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_LOGICAL_ENDPOINT_UNICAST_ACCESS_ON_OWNER_DEVICE_SUPPORTED: *value = 1; return;
    case CU_DEVICE_ATTRIBUTE_LOGICAL_ENDPOINT_MULTICAST_SUPPORTED: *value = device->multicast; return;
    case CU_DEVICE_ATTRIBUTE_LOGICAL_ENDPOINT_SUPPORTED_HANDLE_TYPES:
        *value = CU_LOGICAL_ENDPOINT_IPC_HANDLE_TYPE_FABRIC;
        return;
    default: return;
    }
}

gboolean cuda_device_attribute(const Cuda *cuda, const CudaDevice *device, int attribute, int *value)
{
    if (!cuda_class_attribute(device->kind, device->slot, attribute, (int)cuda->spec.driver_version, value))
        return FALSE;
    /* what the configuration decides rather than the model of GPU */
    if (attribute == CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED)
        *value = device->multicast;
    if (attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
        *value = (int)cuda->fabric.sm.count;
    if (cuda_spec_endpoints(&cuda->spec))
        endpoint_attribute(device, attribute, value);
    return TRUE;
}

static CUresult get_attribute(Call *call, int *value, int attribute, CUdevice ordinal)
{
    int found;

    DEVICE_OR_RETURN(*call, device, ordinal, value != NULL);
    if (!cuda_device_attribute(call->cuda, device, attribute, &found))
        return CUDA_ERROR_INVALID_VALUE;
    *value = found;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice ordinal)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, get_attribute(&call, value, (int)attribute, ordinal));
}

static int attribute_of(Call *call, CUdevice ordinal, CUdevice_attribute attribute)
{
    int value = 0;
    get_attribute(call, &value, (int)attribute, ordinal);
    return value;
}

CUresult cuDeviceGetPCIBusId(char *bus_id, int bytes, CUdevice ordinal)
{
    CUDA_BEGIN(call);
    DEVICE_OR_RETURN(call, device, ordinal, bus_id && bytes > 0);
    g_snprintf(bus_id, (gulong)bytes, "%04x:%02x:%02x.0",
               attribute_of(&call, ordinal, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID),
               attribute_of(&call, ordinal, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID),
               attribute_of(&call, ordinal, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID));
    CUDA_RETURN(call, CUDA_SUCCESS);
}

/* [domain]:[bus]:[device].[function], [domain]:[bus]:[device] or [bus]:[device].[function] */
static gboolean parse_bus_id(const char *text, unsigned place[3])
{
    unsigned function = 0;
    int end = 0;

    place[0] = 0;
    if (sscanf(text, "%x:%x:%x%n.%x%n", &place[0], &place[1], &place[2], &end, &function, &end) >= 3)
        return text[end] == '\0' && function == 0;
    place[0] = 0;
    if (sscanf(text, "%x:%x%n.%x%n", &place[1], &place[2], &end, &function, &end) >= 2)
        return text[end] == '\0' && function == 0;
    return FALSE;
}

CUresult cuDeviceGetByPCIBusId(CUdevice *ordinal, const char *bus_id)
{
    unsigned place[3];
    CUDA_BEGIN(call);

    if (!ordinal || !bus_id || !parse_bus_id(bus_id, place))
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    for (int i = 0; i < (int)call.cuda->n_devices; i++)
        if ((unsigned)attribute_of(&call, i, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID) == place[0] &&
            (unsigned)attribute_of(&call, i, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID) == place[1] &&
            (unsigned)attribute_of(&call, i, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID) == place[2]) {
            *ordinal = i;
            CUDA_RETURN(call, CUDA_SUCCESS);
        }
    CUDA_RETURN(call, CUDA_ERROR_INVALID_DEVICE);
}

CUresult cuDeviceGetProperties(CUdevprop *p, CUdevice ordinal)
{
    CUDA_BEGIN(call);
    DEVICE_OR_RETURN(call, device, ordinal, p != NULL);
    for (int i = 0; i < 3; i++) {
        p->maxThreadsDim[i] = attribute_of(&call, ordinal, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + i);
        p->maxGridSize[i] = attribute_of(&call, ordinal, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + i);
    }
    p->maxThreadsPerBlock = attribute_of(&call, ordinal, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    p->sharedMemPerBlock = attribute_of(&call, ordinal, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    p->totalConstantMemory = attribute_of(&call, ordinal, CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
    p->SIMDWidth = attribute_of(&call, ordinal, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
    p->memPitch = attribute_of(&call, ordinal, CU_DEVICE_ATTRIBUTE_MAX_PITCH);
    p->regsPerBlock = attribute_of(&call, ordinal, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
    p->clockRate = attribute_of(&call, ordinal, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
    p->textureAlign = attribute_of(&call, ordinal, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT);
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice ordinal)
{
    CUDA_BEGIN(call);
    DEVICE_OR_RETURN(call, device, ordinal, major && minor);
    *major = attribute_of(&call, ordinal, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    *minor = attribute_of(&call, ordinal, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuDeviceCanAccessPeer(int *can_access, CUdevice ordinal, CUdevice peer)
{
    CUDA_BEGIN(call);
    DEVICE_OR_RETURN(call, device, ordinal, can_access != NULL);
    if (!cuda_device(call.cuda, peer))
        CUDA_RETURN(call, CUDA_ERROR_INVALID_DEVICE);
    *can_access = ordinal != peer; /* every GPU of a system hangs on the same fabric */
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attribute, CUdevice source, CUdevice destination)
{
    CUDA_BEGIN(call);
    if (!value)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    if (!cuda_device(call.cuda, source) || !cuda_device(call.cuda, destination) || source == destination)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_DEVICE);
    switch (attribute) {
    case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK: *value = 0; break;
    case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED: *value = 1; break;
    case CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED: *value = 0; break;
    default: CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    }
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuDeviceGetExecAffinitySupport(int *supported, CUexecAffinityType type, CUdevice ordinal)
{
    CUDA_BEGIN(call);
    DEVICE_OR_RETURN(call, device, ordinal, supported && type == CU_EXEC_AFFINITY_TYPE_SM_COUNT);
    *supported = 0; /* only under MPS */
    CUDA_RETURN(call, CUDA_SUCCESS);
}
