/* Attributes of functions and kernels: what their text decides, and what a program sets. */
#include "api/cuda/module/module.h"

#define SHARED_DEFAULT_BYTES 49152u /* what a CTA may ask for without more ado. source: CUDA C++ Programming Guide */

void settings_init(Settings *settings, const Entry *entry)
{
    guint fixed = entry->usage.shared_bytes;

    settings->dynamic_shared_max = fixed > SHARED_DEFAULT_BYTES ? 0 : SHARED_DEFAULT_BYTES - fixed;
    settings->carveout = CU_SHAREDMEM_CARVEOUT_DEFAULT;
}

guint threads_max(Call *call, const Entry *entry, int device)
{
    const PtxFunction *function = entry->function;
    guint most = (guint)device_attribute(call->cuda, device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    guint registers = (guint)device_attribute(call->cuda, device, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
    guint of_warp = MAX((entry->usage.registers * 32 + 255) & ~255u, 256u); /* source: as kernel_occupancy */
    const guint32 *said = function->reqntid[0] != 0 ? function->reqntid : function->maxntid;

    if (said[0] != 0)
        most = MIN(most, said[0] * MAX(said[1], 1u) * MAX(said[2], 1u));
    return MIN(most, registers / of_warp / 4 * 4 * 32);
}

static int required_cluster(const Entry *entry, const Settings *settings, guint i)
{
    return entry->function->cluster[0] != 0 ? (int)MAX(entry->function->cluster[i], 1u) : (int)settings->cluster[i];
}

CUresult settings_get(Call *call, const Entry *entry, const Program *program, const Settings *settings, int device,
                      CUfunction_attribute attribute, int *value)
{
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = (int)threads_max(call, entry, device); break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = (int)entry->usage.shared_bytes; break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = (int)program->ptx->const_bytes; break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = (int)entry->usage.local_bytes; break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = (int)entry->usage.registers; break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: /* the virtual architecture, as drivers answer */
        *value = (int)entry->function->unit->sm;
        break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = (int)device_sm(call->cuda, device); break;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA: *value = 0; break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = (int)settings->dynamic_shared_max; break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *value = settings->carveout; break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
        *value = entry->function->explicit_cluster && entry->function->cluster[0] == 0;
        break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        *value = required_cluster(entry, settings, attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH);
        break;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: *value = settings->non_portable; break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: *value = settings->cluster_policy; break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

static CUresult set_dynamic_shared(Call *call, const Entry *entry, Settings *settings, int device, int value)
{
    int most = device_attribute(call->cuda, device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);

    if (value < 0 || value > most - (int)entry->usage.shared_bytes)
        return CUDA_ERROR_INVALID_VALUE;
    settings->dynamic_shared_max = (guint)value;
    return CUDA_SUCCESS;
}

/* A size that the kernel's own text fixes cannot be changed. source: cuda.h on CUfunction_attribute */
static CUresult set_cluster(const Entry *entry, Settings *settings, guint i, int value)
{
    if (value < 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (entry->function->cluster[0] != 0)
        return CUDA_ERROR_NOT_PERMITTED;
    settings->cluster[i] = (guint)value;
    return CUDA_SUCCESS;
}

CUresult settings_set(Call *call, const Entry *entry, Settings *settings, int device, CUfunction_attribute attribute,
                      int value)
{
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        return set_dynamic_shared(call, entry, settings, device, value);
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        if (value < CU_SHAREDMEM_CARVEOUT_DEFAULT || value > CU_SHAREDMEM_CARVEOUT_MAX_SHARED)
            return CUDA_ERROR_INVALID_VALUE;
        settings->carveout = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        return set_cluster(entry, settings, attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, value);
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        if (value != 0 && value != 1)
            return CUDA_ERROR_INVALID_VALUE;
        settings->non_portable = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        if (value < CU_CLUSTER_SCHEDULING_POLICY_DEFAULT || value > CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING)
            return CUDA_ERROR_INVALID_VALUE;
        settings->cluster_policy = value;
        return CUDA_SUCCESS;
    default: /* what the text decides can only be read */ return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult entry_parameter(const Entry *entry, size_t index, size_t *offset, size_t *bytes)
{
    const GArray *params = entry->function->params;

    if (!offset || index >= params->len)
        return CUDA_ERROR_INVALID_VALUE;
    const PtxParam *param = &g_array_index(params, PtxParam, index);
    *offset = param->offset;
    if (bytes)
        *bytes = param->bytes;
    return CUDA_SUCCESS;
}

Settings *kernel_settings(Kernel *kernel, int device)
{
    Settings *settings = g_hash_table_lookup(kernel->settings, GINT_TO_POINTER(device));

    if (!settings) {
        settings = g_new0(Settings, 1);
        settings_init(settings, kernel->entry);
        g_hash_table_insert(kernel->settings, GINT_TO_POINTER(device), settings);
    }
    return settings;
}
