/* Cliques: which devices have each other's memory by which means, as the fabric manager has joined them.
 *
 * Pointers to memory reach every GPU of the simulated fabric; multicast objects and logical endpoints those of a
 * clique, which is what cuda.clique_gpus says. A device that lacks a means is in no clique of it. */
#include "api/cuda/endpoint/endpoint.h"

#include "machine/machine.h"

/* The device, if it is one of a fabric that has handles. */
static CUresult fabric_device(Call *call, CUdevice ordinal, const CudaDevice **device)
{
    int fabric = 0;

    *device = cuda_device(call->cuda, ordinal);
    if (!*device)
        return CUDA_ERROR_INVALID_VALUE; /* the page lists no INVALID_DEVICE */
    cuda_device_attribute(call->cuda, *device, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED, &fabric);
    return fabric ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

#define CLIQUES_MAX 4u

static guint cliques_of(const Cuda *cuda, const CudaDevice *device, CUcliqueInfo clique[CLIQUES_MAX])
{
    const guint32 id = cuda_spec_clique(&cuda->spec, device->gpu);
    const gboolean endpoints = cuda_spec_endpoints(&cuda->spec);
    guint n = 0;

    clique[n++] = (CUcliqueInfo){CU_CLIQUE_TYPE_UNICAST_POINTER, 0};
    if (device->multicast)
        clique[n++] = (CUcliqueInfo){CU_CLIQUE_TYPE_MULTICAST_POINTER, id};
    if (endpoints)
        clique[n++] = (CUcliqueInfo){CU_CLIQUE_TYPE_UNICAST_LOGICAL_ENDPOINT, id};
    if (endpoints && device->multicast)
        clique[n++] = (CUcliqueInfo){CU_CLIQUE_TYPE_MULTICAST_LOGICAL_ENDPOINT, id};
    return n;
}

CUresult cuDeviceGetFabricClusterUuid(CUuuid *uuid, CUdevice ordinal)
{
    const CudaDevice *device;
    CUDA_BEGIN(call);
    call.device = ordinal;
    CUresult result = uuid ? fabric_device(&call, ordinal, &device) : CUDA_ERROR_INVALID_VALUE;

    if (result != CUDA_SUCCESS)
        CUDA_RETURN(call, result);
    memset(uuid, 0, sizeof *uuid); /* a cluster of one host has no name, as NVML says it */
    if (cuda_gpu_is_of_rack((CudaGpu)call.cuda->spec.gpu))
        machine_uuid(uuid, call.cuda->system, MACHINE_CLUSTER);
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuDeviceGetCliqueCount(size_t *count, CUdevice ordinal)
{
    CUcliqueInfo clique[CLIQUES_MAX];
    const CudaDevice *device;
    CUDA_BEGIN(call);
    call.device = ordinal;
    CUresult result = count ? fabric_device(&call, ordinal, &device) : CUDA_ERROR_INVALID_VALUE;

    if (result == CUDA_SUCCESS)
        *count = cliques_of(call.cuda, device, clique);
    CUDA_RETURN(call, result);
}

CUresult cuDeviceGetCliqueInfo(CUcliqueInfo *cliques, size_t *count, CUdevice ordinal)
{
    CUcliqueInfo clique[CLIQUES_MAX];
    const CudaDevice *device;
    CUDA_BEGIN(call);
    call.device = ordinal;
    CUresult result = cliques && count ? fabric_device(&call, ordinal, &device) : CUDA_ERROR_INVALID_VALUE;

    if (result != CUDA_SUCCESS)
        CUDA_RETURN(call, result);
    *count = MIN(*count, cliques_of(call.cuda, device, clique));
    memcpy(cliques, clique, *count * sizeof *clique);
    CUDA_RETURN(call, CUDA_SUCCESS);
}
