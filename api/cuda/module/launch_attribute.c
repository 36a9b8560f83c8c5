/* Attributes of a launch, as cuLaunchKernelEx and nodes of graphs have them: see module.h. */
#include "api/cuda/module/module.h"
#include "api/cuda/stream/attribute.h"

static CUresult attribute_event(Call *call, Launch *launch, CUevent event, int flags)
{
    if ((flags & ~CU_EVENT_RECORD_EXTERNAL) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (!event_get(call, event))
        return CUDA_ERROR_INVALID_HANDLE;
    launch->event = event;
    return CUDA_SUCCESS;
}

/* Hints, which change no result and no time, are looked at as a real driver looks at them. source: probed on an H200,
 * driver 580 (tests/clients/codes.c). */
static gboolean hint_fits(const Cuda *cuda, int device, const CUlaunchAttribute *attribute)
{
    const CUlaunchAttributeValue *value = &attribute->value;

    switch (attribute->id) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        return attribute_window_fits(cuda, device, &value->accessPolicyWindow);
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        return (guint)value->clusterSchedulingPolicyPreference <= CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP: return attribute_domains_fit(cuda, device, &value->memSyncDomainMap);
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN: return attribute_domain_fits(value->memSyncDomain);
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        return (int)value->sharedMemCarveout >= CU_SHAREDMEM_CARVEOUT_DEFAULT &&
               (int)value->sharedMemCarveout <= CU_SHAREDMEM_CARVEOUT_MAX_SHARED;
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING: return TRUE;
    default: return FALSE; /* the policy of synchronisation is one of streams alone */
    }
}

CUresult launch_attribute(Call *call, Launch *launch, const CUlaunchAttribute *attribute)
{
    const CUlaunchAttributeValue *value = &attribute->value;

    switch (attribute->id) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE: launch->spec.cooperative = value->cooperative != 0; return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        launch->spec.cluster[0] = value->clusterDim.x;
        launch->spec.cluster[1] = value->clusterDim.y;
        launch->spec.cluster[2] = value->clusterDim.z;
        return value->clusterDim.x == 0 || value->clusterDim.y == 0 || value->clusterDim.z == 0
                   ? CUDA_ERROR_INVALID_CLUSTER_SIZE
                   : CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
        launch->programmatic = value->programmaticStreamSerializationAllowed != 0;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
        return attribute_event(call, launch, value->programmaticEvent.event, value->programmaticEvent.flags);
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
        return attribute_event(call, launch, value->launchCompletionEvent.event, value->launchCompletionEvent.flags);
    case CU_LAUNCH_ATTRIBUTE_PRIORITY: launch->priority = value->priority; return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE: return CUDA_ERROR_NOT_SUPPORTED;
    default:
        return hint_fits(call->cuda, launch->function->module->context->device, attribute) ? CUDA_SUCCESS
                                                                                           : CUDA_ERROR_INVALID_VALUE;
    }
}
