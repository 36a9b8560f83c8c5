/* Functions and their attributes. */
#include "api/cuda/module/module.h"

#define SHARED_DEFAULT_BYTES 49152u /* what a CTA may ask for without more ado. source: CUDA C++ Programming Guide */

CUresult function_get(Call *call, CUfunction handle, Function **function)
{
    HandleTable *handles = call->cuda->handles;
    Context *context;
    Module *module;

    *function = handle_get(handles, HANDLE_FUNCTION, (guint64)handle, NULL);
    if (*function != NULL)
        return CUDA_SUCCESS;
    Kernel *kernel = handle_get(handles, HANDLE_KERNEL, (guint64)handle, NULL);
    if (kernel == NULL) {
        cuda_diagnose(call, (guint64)handle, -1, 0, "neither a function nor a kernel");
        return CUDA_ERROR_INVALID_HANDLE;
    }
    CUresult result = context_need(call, &context);
    if (result == CUDA_SUCCESS)
        result = library_module(call, kernel->library, context, &module);
    return result == CUDA_SUCCESS ? module_function(call, module, kernel->entry, function) : result;
}

/* ---- attributes */

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
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = (int)threads_max(call, entry, device);
        break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = (int)entry->usage.shared_bytes;
        break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
        *value = (int)program->ptx->const_bytes;
        break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = (int)entry->usage.local_bytes;
        break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        *value = (int)entry->usage.registers;
        break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: /* the virtual architecture, as drivers answer */
        *value = (int)entry->function->unit->sm;
        break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = (int)device_sm(call->cuda, device);
        break;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
        *value = 0;
        break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = (int)settings->dynamic_shared_max;
        break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *value = settings->carveout;
        break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
        *value = entry->function->explicit_cluster && entry->function->cluster[0] == 0;
        break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        *value = required_cluster(entry, settings, attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH);
        break;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        *value = settings->non_portable;
        break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        *value = settings->cluster_policy;
        break;
    default:
        return CUDA_ERROR_INVALID_VALUE;
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
    default: /* what the text decides can only be read */
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult entry_parameter(const Entry *entry, size_t index, size_t *offset, size_t *bytes)
{
    const GArray *params = entry->function->params;

    if (offset == NULL || index >= params->len)
        return CUDA_ERROR_INVALID_VALUE;
    const PtxParam *param = &g_array_index(params, PtxParam, index);
    *offset = param->offset;
    if (bytes != NULL)
        *bytes = param->bytes;
    return CUDA_SUCCESS;
}

/* ---- the API */

/* Opens a call about one function; it ends the caller where there is none. */
#define FUNCTION(call, handle, function)                                                           \
    Function *function;                                                                            \
    CUresult found_##function = function_get(&call, handle, &function);                            \
    if (found_##function != CUDA_SUCCESS)                                                          \
    CUDA_RETURN(call, found_##function)

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction handle)
{
    CUDA_BEGIN(call);
    if (value == NULL)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    FUNCTION(call, handle, function);
    CUDA_RETURN(call, settings_get(&call, function->entry, function->module->program, function->settings,
                                   function->module->context->device, attribute, value));
}

CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value)
{
    CUDA_BEGIN(call);
    FUNCTION(call, handle, function);
    CUDA_RETURN(call, settings_set(&call, function->entry, function->settings, function->module->context->device,
                                   attribute, value));
}

CUresult cuFuncSetCacheConfig(CUfunction handle, CUfunc_cache config)
{
    CUDA_BEGIN(call);
    FUNCTION(call, handle, function);
    if ((unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    function->settings->cache = config;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

/* Banks have one width on everything that is simulated. */
CUDA_ALIAS_PTSZ CUresult cuFuncSetSharedMemConfig(CUfunction handle, CUsharedconfig config);
CUresult cuFuncSetSharedMemConfig(CUfunction handle, CUsharedconfig config)
{
    CUDA_BEGIN(call);
    FUNCTION(call, handle, function);
    (void)function;
    CUDA_RETURN(call, (unsigned)config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE ? CUDA_ERROR_INVALID_VALUE
                                                                                   : CUDA_SUCCESS);
}

CUresult cuFuncGetModule(CUmodule *module, CUfunction handle)
{
    CUDA_BEGIN(call);
    if (module == NULL)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    FUNCTION(call, handle, function);
    *module = (CUmodule)function->module->handle;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuFuncGetName(const char **name, CUfunction handle)
{
    CUDA_BEGIN(call);
    if (name == NULL || handle == NULL)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    FUNCTION(call, handle, function);
    *name = function->entry->function->symbol->name;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuFuncGetParamInfo(CUfunction handle, size_t index, size_t *offset, size_t *bytes)
{
    CUDA_BEGIN(call);
    FUNCTION(call, handle, function);
    CUDA_RETURN(call, entry_parameter(function->entry, index, offset, bytes));
}

CUresult cuFuncGetParamCount(CUfunction handle, size_t *count)
{
    CUDA_BEGIN(call);
    if (count == NULL)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    FUNCTION(call, handle, function);
    *count = function->entry->function->params->len;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

/* A handle is given only for what has been read. */
CUresult cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction handle)
{
    CUDA_BEGIN(call);
    if (state == NULL)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    FUNCTION(call, handle, function);
    (void)function;
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuFuncLoad(CUfunction handle)
{
    CUDA_BEGIN(call);
    FUNCTION(call, handle, function);
    (void)function;
    CUDA_RETURN(call, CUDA_SUCCESS);
}
