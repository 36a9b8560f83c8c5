/* Modules: programs in contexts. */
#include "api/cuda/module/module.h"

#include <string.h>
#include <unistd.h>

#include "api/cuda/memory/mem.h"

Module *module_get(Call *call, CUmodule handle)
{
    return cuda_object(call, HANDLE_MODULE, (guint64)handle, "use of an unloaded module", "not a module");
}

/* Memory for variables, filled. The bytes go straight into the memory's file: loading takes no simulated time. */
static CUresult bank_new(Call *call, const Context *context, guint64 bytes, gboolean managed, guint64 *va)
{
    Range *range;

    if (bytes == 0)
        return CUDA_SUCCESS;
    CUresult result = managed ? managed_new(call, context->device, bytes + PTX_ALIGN_MAX, &range)
                              : device_memory_new(call, RANGE_ALLOC, context->device, bytes + PTX_ALIGN_MAX, 0, &range);
    if (result != CUDA_SUCCESS)
        return result;
    range->context = context->id;
    range->of_module = TRUE;
    *va = range->va;
    return CUDA_SUCCESS;
}

static guint64 bank_base(guint64 va) { return (va + PTX_ALIGN_MAX - 1) & ~(guint64)(PTX_ALIGN_MAX - 1); }

static gboolean bank_fill(Call *call, const Module *module, PtxSpace space, guint64 va, guint64 bytes)
{
    const Range *range = va != 0 ? range_find(call->cuda->ranges, va) : NULL;

    if (!range)
        return TRUE;
    g_autofree guint8 *data = g_try_malloc(bytes);
    if (!data)
        return FALSE;
    ptx_module_bank(module->program->ptx, space, bank_base(module->global_va), bank_base(module->const_va), data);
    guint64 at = range->offset + (bank_base(va) - va);
    for (guint64 done = 0; done < bytes;) {
        gssize n = pwrite(range->phys->fd, data + done, bytes - done, (off_t)(at + done));
        if (n <= 0)
            return FALSE;
        done += (guint64)n;
    }
    return TRUE;
}

static void bank_free(Call *call, guint64 va)
{
    Range *range = va != 0 ? range_find(call->cuda->ranges, va) : NULL;

    if (range)
        memory_free_range(call, range);
}

/* The host touches some variable. */
static gboolean has_managed(const PtxModule *ptx)
{
    for (guint i = 0; i < ptx->symbols->len; i++)
        if (((const PtxSymbol *)ptx->symbols->pdata[i])->managed)
            return TRUE;
    return FALSE;
}

CUresult module_new(Call *call, Context *context, Program *program, Module **module)
{
    Module *made = g_new0(Module, 1);
    const PtxModule *ptx = program->ptx;
    CUresult result = bank_new(call, context, ptx->global_bytes, has_managed(ptx), &made->global_va);

    made->context = context;
    made->program = program_ref(program);
    made->functions = g_hash_table_new(NULL, NULL);
    if (result == CUDA_SUCCESS)
        result = bank_new(call, context, ptx->const_bytes, FALSE, &made->const_va);
    if (result == CUDA_SUCCESS && (!bank_fill(call, made, SPACE_GLOBAL, made->global_va, ptx->global_bytes) ||
                                   !bank_fill(call, made, SPACE_CONST, made->const_va, ptx->const_bytes)))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    made->image = ptx_image_new(program->ptx, bank_base(made->global_va), bank_base(made->const_va));
    made->handle = handle_new(call->cuda->handles, HANDLE_MODULE, made);
    if (result != CUDA_SUCCESS) {
        module_free(call, made);
        return result;
    }
    *module = made;
    return CUDA_SUCCESS;
}

void module_free(Call *call, Module *module)
{
    GHashTableIter iter;
    gpointer value;

    if (module->library)
        g_ptr_array_remove(module->library->modules, module);
    g_hash_table_iter_init(&iter, module->functions);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        handle_unref(call->cuda->handles, ((Function *)value)->handle);
        g_free(value);
    }
    g_hash_table_unref(module->functions);
    engine_image_gone(call->cuda->engine, module->image);
    ptx_image_free(module->image);
    bank_free(call, module->global_va);
    bank_free(call, module->const_va);
    program_unref(module->program);
    handle_unref(call->cuda->handles, module->handle);
    g_free(module);
}

typedef struct {
    const Context *context;
    GPtrArray *found;
} OfContext;

static void collect(guint64 handle, void *object, void *user)
{
    OfContext *of = user;
    (void)handle;
    if (((Module *)object)->context == of->context)
        g_ptr_array_add(of->found, object);
}

void module_context_gone(Call *call, Context *context)
{
    g_autoptr(GPtrArray) found = g_ptr_array_new();
    OfContext of = {context, found};

    handle_visit(call->cuda->handles, HANDLE_MODULE, collect, &of);
    if (found->len > 0) { /* a kernel that runs still reads its code */
        EngineRequest request = {.op = ENGINE_WAIT_CONTEXT, .object = (guint32)context->id};
        EngineReply reply;
        engine_call(call->cuda->engine, &request, &reply);
    }
    for (guint i = 0; i < found->len; i++)
        module_free(call, found->pdata[i]);
}

CUresult module_function(Call *call, Module *module, Entry *entry, Function **function)
{
    Function *found = g_hash_table_lookup(module->functions, entry);

    if (!found) {
        CUresult result = program_entry_use(call, entry);
        if (result != CUDA_SUCCESS)
            return result;
        found = g_new0(Function, 1);
        found->module = module;
        found->entry = entry;
        found->settings = &found->own;
        settings_init(&found->own, entry);
        found->handle = handle_new(call->cuda->handles, HANDLE_FUNCTION, found);
        g_hash_table_insert(module->functions, entry, found);
        Kernel *kernel = module->library ? g_hash_table_lookup(module->library->kernels, entry) : NULL;
        if (kernel)
            found->settings = kernel_settings(kernel, module->context->device);
    }
    *function = found;
    return CUDA_SUCCESS;
}

CUresult module_global(Call *call, Module *module, const char *name, gboolean managed, CUdeviceptr *address,
                       size_t *bytes)
{
    const PtxSymbol *symbol = name ? ptx_module_variable(module->program->ptx, name) : NULL;

    if (!name || (!address && !bytes) || program_entry(module->program, name))
        return CUDA_ERROR_INVALID_VALUE;
    if (!symbol)
        return program_no_symbol(call, module->program, name);
    if (managed && !symbol->managed)
        return CUDA_ERROR_NOT_FOUND;
    if (address)
        *address = ptx_symbol_address(symbol, bank_base(module->global_va), bank_base(module->const_va));
    if (bytes)
        *bytes = symbol->resolved->bytes;
    return CUDA_SUCCESS;
}

/* ---- the API */

static CUresult load(Call *call, CUmodule *module, const char *name, const void *image, gsize bytes, JitOptions *jit)
{
    Context *context;
    Program *program;
    Module *made;
    CUresult result = context_need(call, &context);

    if (result != CUDA_SUCCESS)
        return result;
    if (!module || !image)
        return CUDA_ERROR_INVALID_VALUE;
    call->device = context->device;
    result = program_from_image(call, jit, device_sm(call->cuda, context->device), name, image, bytes, &program);
    if (result != CUDA_SUCCESS)
        return result;
    result = module_new(call, context, program, &made);
    program_unref(program);
    if (result == CUDA_SUCCESS)
        *module = (CUmodule)made->handle;
    return result;
}

static CUresult load_options(Call *call, CUmodule *module, const char *name, const void *image, gsize bytes,
                             unsigned int n, CUjit_option *options, void **values)
{
    JitOptions jit;
    CUresult result = jit_options_read(&jit, n, options, values);

    if (result == CUDA_SUCCESS)
        result = load(call, module, name, image, bytes, &jit);
    jit_options_answer(&jit);
    return result;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, load_options(&call, module, "image", image, IMAGE_BYTES_UNKNOWN, 0, NULL, NULL));
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int n, CUjit_option *options, void **values)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, load_options(&call, module, "image", image, IMAGE_BYTES_UNKNOWN, n, options, values));
}

CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, load_options(&call, module, "fatbinary", image, IMAGE_BYTES_UNKNOWN, 0, NULL, NULL));
}

CUresult cuModuleLoad(CUmodule *module, const char *path)
{
    g_autofree char *bytes = NULL;
    gsize n;
    CUDA_BEGIN(call);

    if (!module || !path)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    if (!g_file_get_contents(path, &bytes, &n, NULL))
        CUDA_RETURN(call, CUDA_ERROR_FILE_NOT_FOUND);
    CUDA_RETURN(call, load_options(&call, module, path, bytes, n, 0, NULL, NULL));
}

CUresult cuModuleUnload(CUmodule handle)
{
    Context *context;
    CUDA_BEGIN(call);
    Module *module = module_get(&call, handle);

    if (!module)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_HANDLE);
    CUresult result = context_need(&call, &context);
    if (result != CUDA_SUCCESS)
        CUDA_RETURN(call, result);
    if (module->library) /* it goes with its library. source: cuda.h on cuLibraryGetModule */
        CUDA_RETURN(call, CUDA_ERROR_NOT_PERMITTED);
    result = memory_wait_device(&call); /* a kernel that runs still reads its code */
    if (handle_get(call.cuda->handles, HANDLE_MODULE, (guint64)handle, NULL) != module)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_HANDLE);
    module_free(&call, module);
    CUDA_RETURN(call, result);
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
    CUDA_BEGIN(call);
    if (!mode)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    const char *asked = g_getenv("CUDA_MODULE_LOADING");
    *mode = asked && strcmp(asked, "EAGER") == 0 ? CU_MODULE_EAGER_LOADING : CU_MODULE_LAZY_LOADING;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuModuleGetFunction(CUfunction *handle, CUmodule of, const char *name)
{
    Function *function;
    CUDA_BEGIN(call);

    if (!handle || !name || name[0] == '\0')
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    Module *module = module_get(&call, of);
    if (!module)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_HANDLE);
    Entry *entry = program_entry(module->program, name);
    call.device = module->context->device;
    if (!entry)
        CUDA_RETURN(call, program_no_symbol(&call, module->program, name));
    CUresult result = module_function(&call, module, entry, &function);
    if (result == CUDA_SUCCESS)
        *handle = (CUfunction)function->handle;
    CUDA_RETURN(call, result);
}

CUresult cuModuleGetFunctionCount(unsigned int *count, CUmodule of)
{
    CUDA_BEGIN(call);
    if (!count)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    Module *module = module_get(&call, of);
    if (!module)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_HANDLE);
    *count = module->program->entries->len;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuModuleEnumerateFunctions(CUfunction *functions, unsigned int n, CUmodule of)
{
    CUDA_BEGIN(call);
    CUresult result = CUDA_SUCCESS;

    if (!functions || n == 0)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    Module *module = module_get(&call, of);
    if (!module)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_HANDLE);
    for (guint i = 0; i < n && i < module->program->entries->len && result == CUDA_SUCCESS; i++) {
        Function *function;
        result = module_function(&call, module, module->program->entries->pdata[i], &function);
        if (result == CUDA_SUCCESS)
            functions[i] = (CUfunction)function->handle;
    }
    CUDA_RETURN(call, result);
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule of, const char *name)
{
    CUDA_BEGIN(call);
    Module *module = module_get(&call, of);

    if (!module)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_HANDLE);
    CUDA_RETURN(call, module_global(&call, module, name, FALSE, address, bytes));
}
