/* Attributes of streams: a window of the L2 for data that is to stay, how the host waits, priority, and domains of
 * memory synchronisation. They are hints: kept and given back, and no kernel's result or time depends on them. The
 * simulated L2 keeps no data apart, waits of the host cost no simulated time, streams share a GPU without ranks, and
 * fences order the same in every domain.
 *
 * source: rules and codes as the CUDA driver API has them, and where its pages are silent an H200's driver 580 (what
 * it takes of properties, the sync policy -1 of a new stream, which attributes are copied). */
#include "api/cuda/stream/attribute.h"

#include <string.h>

static guint device_limit(const Cuda *cuda, int device, CUdevice_attribute attribute)
{
    int value = 0;

    cuda_device_attribute(cuda, &cuda->device[device], attribute, &value);
    return (guint)value;
}

/* The real driver looks at no other property: not at the pointer, nor at values that name no property. */
gboolean attribute_window_fits(const Cuda *cuda, int device, const CUaccessPolicyWindow *window)
{
    return window->num_bytes <= device_limit(cuda, device, CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE) &&
           !(window->hitRatio < 0) && !(window->hitRatio > 1) && window->missProp != CU_ACCESS_PROPERTY_PERSISTING;
}

gboolean attribute_domains_fit(const Cuda *cuda, int device, const CUlaunchMemSyncDomainMap *domains)
{
    const guint n = device_limit(cuda, device, CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT);

    return domains->default_ < n && domains->remote < n;
}

gboolean attribute_domain_fits(CUlaunchMemSyncDomain domain)
{
    return domain == CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT || domain == CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE;
}

static gboolean put(const Cuda *cuda, int device, StreamAttributes *into, CUstreamAttrID attribute,
                    const CUstreamAttrValue *value)
{
    const int policy = (int)value->syncPolicy;

    switch (attribute) {
    case CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        into->window = value->accessPolicyWindow;
        return attribute_window_fits(cuda, device, &into->window);
    case CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        into->sync_policy = policy;
        return policy >= CU_SYNC_POLICY_AUTO && policy <= CU_SYNC_POLICY_BLOCKING_SYNC;
    case CU_STREAM_ATTRIBUTE_PRIORITY:
        into->priority = CLAMP(value->priority, STREAM_PRIORITY_GREATEST, STREAM_PRIORITY_LEAST);
        return TRUE;
    case CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        into->domains = value->memSyncDomainMap;
        return attribute_domains_fit(cuda, device, &into->domains);
    case CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN:
        into->domain = value->memSyncDomain;
        return attribute_domain_fits(into->domain);
    default: return FALSE;
    }
}

static CUresult set(Call *call, CUstream handle, CUstream standard, CUstreamAttrID attribute,
                    const CUstreamAttrValue *value)
{
    Stream stream;
    CUresult result = stream_get(call, handle, standard, &stream);

    if (result != CUDA_SUCCESS)
        return result;
    if (!value)
        return CUDA_ERROR_INVALID_VALUE;
    StreamAttributes changed = *stream.attributes;
    if (!put(call->cuda, stream.context->device, &changed, attribute, value))
        return CUDA_ERROR_INVALID_VALUE;
    *stream.attributes = changed;
    return CUDA_SUCCESS;
}

/* Writes the attribute's own member and leaves the rest of the union as it is. */
static CUresult get(Call *call, CUstream handle, CUstream standard, CUstreamAttrID attribute, CUstreamAttrValue *value)
{
    Stream stream;
    CUresult result = stream_get(call, handle, standard, &stream);

    if (result != CUDA_SUCCESS)
        return result;
    if (!value)
        return CUDA_ERROR_INVALID_VALUE;
    const StreamAttributes *from = stream.attributes;
    switch (attribute) {
    case CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        memcpy(&value->accessPolicyWindow, &from->window, sizeof from->window);
        return CUDA_SUCCESS;
    case CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        memcpy(&value->syncPolicy, &from->sync_policy, sizeof from->sync_policy);
        return CUDA_SUCCESS;
    case CU_STREAM_ATTRIBUTE_PRIORITY:
        memcpy(&value->priority, &from->priority, sizeof from->priority);
        return CUDA_SUCCESS;
    case CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        memcpy(&value->memSyncDomainMap, &from->domains, sizeof from->domains);
        return CUDA_SUCCESS;
    case CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN:
        memcpy(&value->memSyncDomain, &from->domain, sizeof from->domain);
        return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult copy(Call *call, CUstream to_handle, CUstream standard, CUstream from_handle)
{
    Stream to, from;
    CUresult result = stream_get(call, to_handle, standard, &to);

    if (result == CUDA_SUCCESS)
        result = stream_get(call, from_handle, standard, &from);
    if (result != CUDA_SUCCESS)
        return result;
    if (to.context != from.context)
        return CUDA_ERROR_INVALID_VALUE;
    *to.attributes = *from.attributes;
    return CUDA_SUCCESS;
}

STREAM_TWINS(cuStreamSetAttribute, (CUstream stream, CUstreamAttrID attribute, const CUstreamAttrValue *value), set,
             (&call, stream, standard, attribute, value))
STREAM_TWINS(cuStreamGetAttribute, (CUstream stream, CUstreamAttrID attribute, CUstreamAttrValue *value), get,
             (&call, stream, standard, attribute, value))
STREAM_TWINS(cuStreamCopyAttributes, (CUstream to, CUstream from), copy, (&call, to, standard, from))
