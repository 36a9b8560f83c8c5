/* Libraries, which get a module in every context that uses them, and their kernels. */
#include "api/cuda/module/module.h"

#include "api/cuda/memory/mem.h"

Library *library_get(Call *call, CUlibrary handle)
{
    return cuda_object(call, HANDLE_LIBRARY, (guint64)handle, "use of an unloaded library", "not a library");
}

Kernel *kernel_get(Call *call, CUkernel handle)
{
    return cuda_object(call, HANDLE_KERNEL, (guint64)handle, "use of a kernel whose library is unloaded",
                       "not a kernel");
}

CUresult library_module(Call *call, Library *library, Context *context, Module **module)
{
    for (guint i = 0; i < library->modules->len; i++) {
        *module = library->modules->pdata[i];
        if ((*module)->context == context)
            return CUDA_SUCCESS;
    }
    CUresult result = module_new(call, context, library->program, module);
    if (result == CUDA_SUCCESS) {
        (*module)->library = library;
        g_ptr_array_add(library->modules, *module);
    }
    return result;
}

static CUresult library_kernel(Call *call, Library *library, Entry *entry, Kernel **kernel)
{
    Kernel *found = g_hash_table_lookup(library->kernels, entry);

    if (!found) {
        CUresult result = program_entry_use(call, entry);
        if (result != CUDA_SUCCESS)
            return result;
        found = g_new0(Kernel, 1);
        found->library = library;
        found->entry = entry;
        found->settings = g_hash_table_new_full(NULL, NULL, NULL, g_free);
        found->handle = handle_new(call->cuda->handles, HANDLE_KERNEL, found);
        g_hash_table_insert(library->kernels, entry, found);
        for (guint i = 0; i < library->modules->len; i++) { /* functions that were asked of the modules before */
            Module *module = library->modules->pdata[i];
            Function *function = g_hash_table_lookup(module->functions, entry);
            if (!function)
                continue;
            Settings *settings = kernel_settings(found, module->context->device);
            *settings = *function->settings;
            function->settings = settings;
        }
    }
    *kernel = found;
    return CUDA_SUCCESS;
}

/* ---- the API */

static CUresult check_options(unsigned int n, const CUlibraryOption *options)
{
    if (n > 0 && !options)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned int i = 0; i < n; i++) {
        if ((unsigned)options[i] >= CU_LIBRARY_NUM_OPTIONS)
            return CUDA_ERROR_INVALID_VALUE;
        if (options[i] == CU_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE)
            return CUDA_ERROR_NOT_SUPPORTED; /* of compilers for both sides at once */
    }
    return CUDA_SUCCESS;
}

/* Needs no context: the text is chosen for the first device that the process sees. */
static CUresult load(Call *call, CUlibrary *handle, const char *name, const void *image, gsize bytes, JitOptions *jit)
{
    Program *program;
    const Context *context = context_current(call, NULL);
    int device = context ? context->device : 0;

    if (!handle || !image)
        return CUDA_ERROR_INVALID_VALUE;
    call->device = device;
    CUresult result = program_from_image(call, jit, device_sm(call->cuda, device), name, image, bytes, &program);
    if (result != CUDA_SUCCESS)
        return result;
    Library *library = g_new0(Library, 1);
    library->program = program;
    library->modules = g_ptr_array_new();
    library->kernels = g_hash_table_new(NULL, NULL);
    library->handle = handle_new(call->cuda->handles, HANDLE_LIBRARY, library);
    *handle = (CUlibrary)library->handle;
    return CUDA_SUCCESS;
}

static CUresult load_options(Call *call, CUlibrary *library, const char *name, const void *image, gsize bytes,
                             unsigned int n, CUjit_option *options, void **values)
{
    JitOptions jit;
    CUresult result = jit_options_read(&jit, n, options, values);

    if (result == CUDA_SUCCESS)
        result = load(call, library, name, image, bytes, &jit);
    jit_options_answer(&jit);
    return result;
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *options, void **values, unsigned int n,
                           CUlibraryOption *library_options, void **library_values, unsigned int library_n)
{
    CUDA_BEGIN(call);
    (void)library_values;
    CUresult result = check_options(library_n, library_options);
    if (result == CUDA_SUCCESS)
        result = load_options(&call, library, "image", code, IMAGE_BYTES_UNKNOWN, n, options, values);
    CUDA_RETURN(call, result);
}

CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *path, CUjit_option *options, void **values,
                               unsigned int n, CUlibraryOption *library_options, void **library_values,
                               unsigned int library_n)
{
    g_autofree char *bytes = NULL;
    gsize size;
    CUDA_BEGIN(call);

    (void)library_values;
    CUresult result = check_options(library_n, library_options);
    if (result == CUDA_SUCCESS && (!library || !path))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && !g_file_get_contents(path, &bytes, &size, NULL))
        result = CUDA_ERROR_FILE_NOT_FOUND;
    if (result == CUDA_SUCCESS)
        result = load_options(&call, library, path, bytes, size, n, options, values);
    CUDA_RETURN(call, result);
}

CUresult cuLibraryUnload(CUlibrary handle)
{
    GHashTableIter iter;
    gpointer value;
    CUDA_BEGIN(call);
    Library *library = library_get(&call, handle);

    if (!library)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_HANDLE);
    CUresult result = library->modules->len > 0 ? memory_wait_device(&call) : CUDA_SUCCESS;
    if (handle_get(call.cuda->handles, HANDLE_LIBRARY, (guint64)handle, NULL) != library)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_HANDLE);
    while (library->modules->len > 0)
        module_free(&call, library->modules->pdata[library->modules->len - 1]);
    g_hash_table_iter_init(&iter, library->kernels);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        Kernel *kernel = value;
        handle_unref(call.cuda->handles, kernel->handle);
        g_hash_table_unref(kernel->settings);
        g_free(kernel);
    }
    g_hash_table_unref(library->kernels);
    g_ptr_array_unref(library->modules);
    program_unref(library->program);
    handle_unref(call.cuda->handles, library->handle);
    g_free(library);
    CUDA_RETURN(call, result);
}

CUresult cuLibraryGetKernel(CUkernel *handle, CUlibrary of, const char *name)
{
    Kernel *kernel;
    CUDA_BEGIN(call);

    if (!handle || !name)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    Library *library = library_get(&call, of);
    if (!library)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_HANDLE);
    Entry *entry = program_entry(library->program, name);
    if (!entry)
        CUDA_RETURN(call, program_no_symbol(&call, library->program, name));
    CUresult result = library_kernel(&call, library, entry, &kernel);
    if (result == CUDA_SUCCESS)
        *handle = (CUkernel)kernel->handle;
    CUDA_RETURN(call, result);
}

CUresult cuLibraryGetKernelCount(unsigned int *count, CUlibrary of)
{
    CUDA_BEGIN(call);
    if (!count)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    Library *library = library_get(&call, of);
    if (!library)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_HANDLE);
    *count = library->program->entries->len;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int n, CUlibrary of)
{
    CUDA_BEGIN(call);
    CUresult result = CUDA_SUCCESS;

    if (!kernels || n == 0)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    Library *library = library_get(&call, of);
    if (!library)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_HANDLE);
    for (guint i = 0; i < n && i < library->program->entries->len && result == CUDA_SUCCESS; i++) {
        Kernel *kernel;
        result = library_kernel(&call, library, library->program->entries->pdata[i], &kernel);
        if (result == CUDA_SUCCESS)
            kernels[i] = (CUkernel)kernel->handle;
    }
    CUDA_RETURN(call, result);
}

/* The library's module in the current context. */
static CUresult current_module(Call *call, CUlibrary of, Module **module)
{
    Context *context;
    Library *library = library_get(call, of);

    if (!library)
        return CUDA_ERROR_INVALID_HANDLE;
    CUresult result = context_need(call, &context);
    return result == CUDA_SUCCESS ? library_module(call, library, context, module) : result;
}

CUresult cuLibraryGetModule(CUmodule *handle, CUlibrary of)
{
    Module *module;
    CUDA_BEGIN(call);

    if (!handle)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    CUresult result = current_module(&call, of, &module);
    if (result == CUDA_SUCCESS)
        *handle = (CUmodule)module->handle;
    CUDA_RETURN(call, result);
}

CUresult cuLibraryGetGlobal(CUdeviceptr *address, size_t *bytes, CUlibrary of, const char *name)
{
    Module *module;
    CUDA_BEGIN(call);
    CUresult result = current_module(&call, of, &module);

    CUDA_RETURN(call, result == CUDA_SUCCESS ? module_global(&call, module, name, FALSE, address, bytes) : result);
}

CUresult cuLibraryGetManaged(CUdeviceptr *address, size_t *bytes, CUlibrary of, const char *name)
{
    Module *module;
    CUDA_BEGIN(call);
    CUresult result = current_module(&call, of, &module);

    CUDA_RETURN(call, result == CUDA_SUCCESS ? module_global(&call, module, name, TRUE, address, bytes) : result);
}

/* ---- kernels */

CUresult cuKernelGetFunction(CUfunction *handle, CUkernel of)
{
    Context *context;
    Module *module;
    Function *function;
    CUDA_BEGIN(call);

    if (!handle)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    Kernel *kernel = kernel_get(&call, of);
    if (!kernel)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_HANDLE);
    CUresult result = context_need(&call, &context);
    if (result == CUDA_SUCCESS)
        result = library_module(&call, kernel->library, context, &module);
    if (result == CUDA_SUCCESS)
        result = module_function(&call, module, kernel->entry, &function);
    if (result == CUDA_SUCCESS)
        *handle = (CUfunction)function->handle;
    CUDA_RETURN(call, result);
}

CUresult cuKernelGetLibrary(CUlibrary *library, CUkernel of)
{
    CUDA_BEGIN(call);
    if (!library)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    Kernel *kernel = kernel_get(&call, of);
    if (!kernel)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_HANDLE);
    *library = (CUlibrary)kernel->library->handle;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel of, CUdevice device)
{
    CUDA_BEGIN(call);
    if (!value)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    Kernel *kernel = kernel_get(&call, of);
    if (!kernel)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_HANDLE);
    if (!cuda_device(call.cuda, device))
        CUDA_RETURN(call, CUDA_ERROR_INVALID_DEVICE);
    CUDA_RETURN(call, settings_get(&call, kernel->entry, kernel->library->program, kernel_settings(kernel, device),
                                   device, attribute, value));
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel of, CUdevice device)
{
    CUDA_BEGIN(call);
    Kernel *kernel = kernel_get(&call, of);

    if (!kernel)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_HANDLE);
    if (!cuda_device(call.cuda, device))
        CUDA_RETURN(call, CUDA_ERROR_INVALID_DEVICE);
    CUDA_RETURN(call, settings_set(&call, kernel->entry, kernel_settings(kernel, device), device, attribute, value));
}

CUresult cuKernelSetCacheConfig(CUkernel of, CUfunc_cache config, CUdevice device)
{
    CUDA_BEGIN(call);
    Kernel *kernel = kernel_get(&call, of);

    if (!kernel)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_HANDLE);
    if (!cuda_device(call.cuda, device))
        CUDA_RETURN(call, CUDA_ERROR_INVALID_DEVICE);
    if ((unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    kernel_settings(kernel, device)->cache = config;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuKernelGetName(const char **name, CUkernel of)
{
    CUDA_BEGIN(call);
    if (!name || !of)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    Kernel *kernel = kernel_get(&call, of);
    if (!kernel)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_HANDLE);
    *name = kernel->entry->function->symbol->name;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuKernelGetParamInfo(CUkernel of, size_t index, size_t *offset, size_t *bytes)
{
    CUDA_BEGIN(call);
    Kernel *kernel = kernel_get(&call, of);

    if (!kernel)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_HANDLE);
    CUDA_RETURN(call, entry_parameter(kernel->entry, index, offset, bytes));
}

CUresult cuKernelGetParamCount(CUkernel of, size_t *count)
{
    CUDA_BEGIN(call);
    if (!count)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    Kernel *kernel = kernel_get(&call, of);
    if (!kernel)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_HANDLE);
    *count = kernel->entry->function->params->len;
    CUDA_RETURN(call, CUDA_SUCCESS);
}
