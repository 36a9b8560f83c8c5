/* The driver's linker. It collects texts; cuLinkComplete reads and links them, so that mistakes are answered there or
 * before, and gives the texts back as an image that the loaders know. */
#include "api/cuda/module/module.h"

typedef struct {
    guint64 handle;
    JitOptions jit; /* of cuLinkCreate: their logs are written whenever a call ends */
    GPtrArray *units;
    void *image; /* of cuLinkComplete, until cuLinkDestroy */
    gsize bytes;
} LinkState;

static LinkState *link_get(Call *call, CUlinkState handle)
{
    return cuda_object(call, HANDLE_LINK, (guint64)handle, "use of a destroyed linker", "not a linker");
}

static CUresult create(Call *call, unsigned int n, CUjit_option *options, void **values, CUlinkState *handle)
{
    Context *context;
    LinkState *link = g_new0(LinkState, 1);
    CUresult result = jit_options_read(&link->jit, n, options, values);

    if (result == CUDA_SUCCESS)
        result = context_need(call, &context);
    if (result == CUDA_SUCCESS && !handle)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS) {
        jit_options_answer(&link->jit);
        g_free(link);
        return result;
    }
    link->units = units_new();
    link->handle = handle_new(call->cuda->handles, HANDLE_LINK, link);
    *handle = (CUlinkState)link->handle;
    return CUDA_SUCCESS;
}

/* One text by itself must be PTX: a mistake in it is told by the call that adds it. */
static CUresult check_unit(Call *call, JitOptions *jit, const Unit *unit)
{
    g_autoptr(GError) error = NULL;
    PtxModule *module = ptx_module_new();
    gboolean good = ptx_module_add(module, unit->name, unit->text, unit->bytes, &error) &&
                    ptx_module_link(module, NULL);

    for (guint i = 0; good && i < module->functions->len && unit->bytes <= PROGRAM_EAGER_BYTES_MAX; i++) {
        PtxFunction *function = module->functions->pdata[i];
        good = !function->body || ptx_function_code(function, &error) ||
               !g_error_matches(error, PTX_LOAD_ERROR, PTX_LOAD_ERROR_SYNTAX);
        if (good)
            g_clear_error(&error); /* what other texts may still bring, or what the whole is asked for again */
    }
    ptx_module_free(module);
    if (!error) /* names that are twice there are the linker's business */
        return CUDA_SUCCESS;
    g_autofree char *text = g_strdup_printf("PTX: %s", error->message);
    unit_fail(call, jit, text);
    return CUDA_ERROR_INVALID_PTX;
}

static CUresult add(Call *call, CUlinkState handle, CUjitInputType type, const char *name, const void *data,
                    gsize bytes, unsigned int n, CUjit_option *options, void **values)
{
    JitOptions own;
    const Context *context = context_current(call, NULL);
    LinkState *link = link_get(call, handle);

    if (!link)
        return CUDA_ERROR_INVALID_HANDLE;
    if (link->image || !data || bytes == 0 || (unsigned)type >= CU_JIT_NUM_INPUT_TYPES)
        return CUDA_ERROR_INVALID_VALUE;
    if (type == CU_JIT_INPUT_NVVM)
        return CUDA_ERROR_NOT_SUPPORTED;
    CUresult result = jit_options_read(&own, n, options, values);
    call->device = context ? context->device : 0;
    guint before = link->units->len, sm = device_sm(call->cuda, call->device);
    if (result == CUDA_SUCCESS)
        result = units_from_image(call, &link->jit, sm, name, data, bytes, link->units);
    for (guint i = before; i < link->units->len && result == CUDA_SUCCESS; i++) {
        Unit *unit = link->units->pdata[i];
        if (unit->registers_max == 0) /* what its own compiler was told goes before */
            unit->registers_max = own.registers_max ? own.registers_max : link->jit.registers_max;
        result = check_unit(call, &link->jit, unit);
    }
    if (result != CUDA_SUCCESS)
        g_ptr_array_set_size(link->units, (gint)before);
    jit_options_answer(&own);
    jit_options_flush(&link->jit);
    return result;
}

CUresult cuLinkCreate_v2(unsigned int n, CUjit_option *options, void **values, CUlinkState *state)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, create(&call, n, options, values, state));
}

CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t bytes, const char *name,
                          unsigned int n, CUjit_option *options, void **values)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, add(&call, state, type, name ? name : "input", data, bytes, n, options, values));
}

CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char *path, unsigned int n,
                          CUjit_option *options, void **values)
{
    g_autofree char *data = NULL;
    gsize bytes;
    CUDA_BEGIN(call);

    if (!path)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    if (!g_file_get_contents(path, &data, &bytes, NULL))
        CUDA_RETURN(call, CUDA_ERROR_FILE_NOT_FOUND);
    CUDA_RETURN(call, add(&call, state, type, path, data, bytes, n, options, values));
}

/* The names of before 6.5 do the same. */
#undef cuLinkCreate
#undef cuLinkAddData
#undef cuLinkAddFile
CUDA_ALIAS_PTSZ CUresult cuLinkCreate(unsigned int n, CUjit_option *options, void **values, CUlinkState *state);
CUDA_ALIAS_PTSZ CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, size_t bytes,
                                       const char *name, unsigned int n, CUjit_option *options, void **values);
CUDA_ALIAS_PTSZ CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char *path, unsigned int n,
                                       CUjit_option *options, void **values);
CUresult cuLinkCreate(unsigned int n, CUjit_option *options, void **values, CUlinkState *state)
{
    return cuLinkCreate_v2(n, options, values, state);
}
CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, size_t bytes, const char *name,
                       unsigned int n, CUjit_option *options, void **values)
{
    return cuLinkAddData_v2(state, type, data, bytes, name, n, options, values);
}
CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char *path, unsigned int n, CUjit_option *options,
                       void **values)
{
    return cuLinkAddFile_v2(state, type, path, n, options, values);
}

/* A call of a function that no unit defines is an error of this call, not of the load that comes after it. */
static CUresult complete(Call *call, LinkState *link)
{
    const Context *context = context_current(call, NULL);
    Program *program;

    if (link->units->len == 0)
        return CUDA_ERROR_INVALID_VALUE;
    call->device = context ? context->device : 0;
    CUresult result = program_new(call, &link->jit, device_sm(call->cuda, call->device), link->units, &program);
    if (result != CUDA_SUCCESS)
        return result;
    jit_info(&link->jit, "linked %u text%s: %u kernel%s", link->units->len, link->units->len == 1 ? "" : "s",
             program->entries->len, program->entries->len == 1 ? "" : "s");
    program_unref(program);
    link->image = image_of_units(link->units, &link->bytes);
    return CUDA_SUCCESS;
}

CUresult cuLinkComplete(CUlinkState state, void **image, size_t *bytes)
{
    CUDA_BEGIN(call);
    LinkState *link = link_get(&call, state);
    CUresult result = CUDA_SUCCESS;

    if (!link)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_HANDLE);
    if (!image)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    if (!link->image)
        result = complete(&call, link);
    jit_options_flush(&link->jit);
    if (result == CUDA_SUCCESS) {
        *image = link->image;
        if (bytes)
            *bytes = link->bytes;
    }
    CUDA_RETURN(call, result);
}

CUresult cuLinkDestroy(CUlinkState state)
{
    CUDA_BEGIN(call);
    LinkState *link = link_get(&call, state);

    if (!link)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_HANDLE);
    jit_options_drop(&link->jit); /* the program's buffers may be gone by now */
    g_ptr_array_unref(link->units);
    handle_unref(call.cuda->handles, link->handle);
    g_free(link->image);
    g_free(link);
    CUDA_RETURN(call, CUDA_SUCCESS);
}
