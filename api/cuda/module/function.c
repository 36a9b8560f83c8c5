/* Functions and their attributes. */
#include "api/cuda/module/module.h"

CUresult function_get(Call *call, CUfunction handle, Function **function)
{
    HandleTable *handles = call->cuda->handles;
    Context *context;
    Module *module;

    *function = handle_get(handles, HANDLE_FUNCTION, (guint64)handle, NULL);
    if (*function)
        return CUDA_SUCCESS;
    Kernel *kernel = handle_get(handles, HANDLE_KERNEL, (guint64)handle, NULL);
    if (!kernel) {
        cuda_diagnose(call, (guint64)handle, -1, 0, "neither a function nor a kernel");
        return CUDA_ERROR_INVALID_HANDLE;
    }
    CUresult result = context_need(call, &context);
    if (result == CUDA_SUCCESS)
        result = library_module(call, kernel->library, context, &module);
    return result == CUDA_SUCCESS ? module_function(call, module, kernel->entry, function) : result;
}

/* ---- the API */

/* Opens a call about one function; it ends the caller where there is none. */
#define FUNCTION(call, handle, function)                                                                               \
    Function *function;                                                                                                \
    CUresult found_##function = function_get(&call, handle, &function);                                                \
    if (found_##function != CUDA_SUCCESS)                                                                              \
    CUDA_RETURN(call, found_##function)

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction handle)
{
    CUDA_BEGIN(call);
    if (!value)
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
    CUDA_RETURN(call,
                (unsigned)config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS);
}

CUresult cuFuncGetModule(CUmodule *module, CUfunction handle)
{
    CUDA_BEGIN(call);
    if (!module)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    FUNCTION(call, handle, function);
    *module = (CUmodule)function->module->handle;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuFuncGetName(const char **name, CUfunction handle)
{
    CUDA_BEGIN(call);
    if (!name || !handle)
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
    if (!count)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    FUNCTION(call, handle, function);
    *count = function->entry->function->params->len;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

/* A handle is given only for what has been read. */
CUresult cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction handle)
{
    CUDA_BEGIN(call);
    if (!state)
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
