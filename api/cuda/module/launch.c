/* Launches. Everything is checked against the kernel and its device before work is queued. */
#include "api/cuda/module/module.h"

#include <string.h>

#include "api/cuda/memory/mem.h"
#include "api/cuda/stream/recorder.h"
#include "api/cuda/stream/submit.h"

#define CLUSTER_PORTABLE_MAX 8u /* CTAs. source: CUDA C++ Programming Guide, thread block clusters */
#define CLUSTER_MAX 16u
#define EXTRA_MAX 8u /* words of the list behind CU_LAUNCH_PARAM_ that are read */

void launch_clear(Launch *launch) { g_free(launch->param); }

/* ---- parameters */

static CUresult packed_parameters(void **extra, guint bytes, guint8 *param)
{
    const void *buffer = NULL;
    gsize n = 0;
    gboolean ended = FALSE, sized = FALSE;

    for (guint i = 0; i < EXTRA_MAX && !ended; i += 2)
        if (extra[i] == CU_LAUNCH_PARAM_END)
            ended = TRUE;
        else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[i + 1];
        else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[i + 1]) {
            n = *(const size_t *)extra[i + 1];
            sized = TRUE;
        } else
            return CUDA_ERROR_INVALID_VALUE;
    if (!ended || !sized || (bytes > 0 && (!buffer || n == 0)))
        return CUDA_ERROR_INVALID_VALUE;
    if (n > bytes) /* what is shorter is filled up with zeros: programs pass what they use */
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    if (n > 0)
        memcpy(param, buffer, n);
    return CUDA_SUCCESS;
}

static CUresult parameters(const Entry *entry, void **params, void **extra, guint8 **param)
{
    const PtxFunction *function = entry->function;

    if (params && extra)
        return CUDA_ERROR_INVALID_VALUE;
    if (function->params->len > 0 && !params && !extra)
        return CUDA_ERROR_INVALID_VALUE;
    *param = g_malloc0(function->param_bytes + 1u);
    if (extra)
        return packed_parameters(extra, function->param_bytes, *param);
    for (guint i = 0; i < function->params->len; i++) {
        const PtxParam *one = &g_array_index(function->params, PtxParam, i);
        if (!params[i])
            return CUDA_ERROR_INVALID_VALUE;
        memcpy(*param + one->offset, params[i], one->bytes);
    }
    return CUDA_SUCCESS;
}

/* ---- shape */

static gboolean shape_fits(Call *call, const KernelSpec *spec, int device)
{
    static const CUdevice_attribute grid[] = {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
                                              CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z};
    static const CUdevice_attribute block[] = {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
                                               CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z};
    guint64 threads = 1;

    for (guint i = 0; i < 3; i++) {
        if (spec->grid[i] == 0 || spec->grid[i] > (guint)device_attribute(call->cuda, device, grid[i]) ||
            spec->block[i] == 0 || spec->block[i] > (guint)device_attribute(call->cuda, device, block[i]))
            return FALSE;
        threads *= spec->block[i];
    }
    return threads <= (guint)device_attribute(call->cuda, device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
}

static CUresult check_cluster(Call *call, const Function *function, KernelSpec *spec, int device)
{
    const guint32 *fixed = function->entry->function->cluster;
    guint64 size = 1;

    for (guint i = 0; i < 3; i++) {
        guint32 need = fixed[0] != 0 ? MAX(fixed[i], 1u) : function->settings->cluster[i];
        if (spec->cluster[0] != 0 && need != 0 && spec->cluster[i] != need)
            return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    }
    if (spec->cluster[0] == 0)
        for (guint i = 0; i < 3; i++)
            spec->cluster[i] = fixed[0] != 0                         ? MAX(fixed[i], 1u)
                               : function->settings->cluster[0] != 0 ? MAX(function->settings->cluster[i], 1u)
                                                                     : 1;
    for (guint i = 0; i < 3; i++) {
        size *= spec->cluster[i];
        if (size > CLUSTER_MAX || spec->grid[i] % spec->cluster[i] != 0)
            return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    }
    if (size > (function->settings->non_portable ? CLUSTER_MAX : CLUSTER_PORTABLE_MAX))
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    return size > 1 && device_attribute(call->cuda, device, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH) == 0
               ? CUDA_ERROR_NOT_SUPPORTED
               : CUDA_SUCCESS;
}

/* source of the codes: probed on an H100 (tests/clients/codes.c has the list) */
static CUresult check_shape(Call *call, const Function *function, KernelSpec *spec)
{
    int device = function->module->context->device;
    guint threads = spec->block[0] * spec->block[1] * spec->block[2];

    if (!shape_fits(call, spec, device))
        return CUDA_ERROR_INVALID_VALUE;
    if (spec->dynamic_shared > function->settings->dynamic_shared_max)
        return CUDA_ERROR_INVALID_VALUE;
    if (threads > threads_max(call, function->entry, device))
        return function->entry->function->maxntid[0] != 0 || function->entry->function->reqntid[0] != 0
                   ? CUDA_ERROR_INVALID_VALUE
                   : CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    return check_cluster(call, function, spec, device);
}

/* ---- from a call to the engine */

CUresult launch_prepare(Call *call, const CUlaunchConfig *config, CUfunction handle, void **params, void **extra,
                        Launch *launch)
{
    CUresult result = function_get(call, handle, &launch->function);

    if (result != CUDA_SUCCESS)
        return result;
    if (config->numAttrs > 0 && !config->attrs)
        return CUDA_ERROR_INVALID_VALUE;
    launch->spec = (KernelSpec){
        .image = launch->function->module->image,
        .entry = launch->function->entry->function,
        .grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
        .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
        .dynamic_shared = config->sharedMemBytes,
    };
    for (unsigned int i = 0; i < config->numAttrs && result == CUDA_SUCCESS; i++)
        result = launch_attribute(call, launch, &config->attrs[i]);
    if (result == CUDA_SUCCESS)
        result = check_shape(call, launch->function, &launch->spec);
    if (result == CUDA_SUCCESS)
        result = parameters(launch->function->entry, params, extra, &launch->param);
    launch->spec.param = launch->param;
    return result;
}

/* Memory for malloc in kernels, which every launch of the context shares; made for the first that may use it. */
static CUresult heap(Call *call, Launch *launch)
{
    Context *context = launch->function->module->context;
    const PtxModule *ptx = launch->function->module->program->ptx;
    Range *range;

    if (!g_hash_table_lookup(ptx->names, "malloc"))
        return CUDA_SUCCESS;
    if (context->heap == 0) {
        guint64 bytes = context->limit[CU_LIMIT_MALLOC_HEAP_SIZE];
        CUresult result = device_memory_new(call, RANGE_ALLOC, context->device, bytes, 0, &range);
        if (result != CUDA_SUCCESS)
            return result;
        range->context = context->id;
        range->of_module = TRUE;
        context->heap = range->va;
        context->heap_bytes = bytes;
    }
    launch->spec.heap = context->heap;
    launch->spec.heap_bytes = context->heap_bytes;
    return CUDA_SUCCESS;
}

/* Where the CTAs of a cooperative launch meet (cooperative_groups' grid.sync()): two words, in turn one of MEETINGS.
 * Each meeting leaves them as the next one wants them. */
#define MEETINGS 8192u
#define MEETING_BYTES 8u
static CUresult meeting(Call *call, Launch *launch)
{
    Context *context = launch->function->module->context;
    Range *range;

    if (!launch->spec.cooperative)
        return CUDA_SUCCESS;
    if (context->meetings == 0) {
        CUresult result = device_memory_new(call, RANGE_ALLOC, context->device, MEETINGS * MEETING_BYTES, 0, &range);
        if (result != CUDA_SUCCESS)
            return result;
        range->context = context->id;
        range->of_module = TRUE;
        context->meetings = range->va;
    }
    launch->spec.workspace = context->meetings + context->cooperative++ % MEETINGS * MEETING_BYTES;
    return CUDA_SUCCESS;
}

CUresult launch_submit(Call *call, const Stream *stream, const Launch *launch)
{
    Launch sent = *launch;

    sent.spec.depends = launch->programmatic;

    if (stream->context != launch->function->module->context)
        return CUDA_ERROR_INVALID_HANDLE;
    CUresult result = CUDA_SUCCESS;
    if (call->cuda->recorder->launch(call, stream, launch, &result))
        return result;
    result = heap(call, &sent);
    if (result == CUDA_SUCCESS)
        result = meeting(call, &sent);
    if (result != CUDA_SUCCESS)
        return result;
    host_look_at_registered(call);
    EngineRequest request = {.op = ENGINE_LAUNCH_PTX,
                             .stream = stream->stream,
                             .gpu = call->cuda->device[stream->context->device].gpu,
                             .argument = (guint64)(guintptr)&sent.spec};
    result = engine_submit(call, &request);
    const EventHandle *event = launch->event ? event_get(call, launch->event) : NULL;
    if (result == CUDA_SUCCESS && event) {
        EngineRequest record = {.op = ENGINE_RECORD, .stream = stream->stream, .event = event->event};
        result = engine_submit(call, &record);
    }
    return result;
}

static CUresult launch(Call *call, CUstream standard, const CUlaunchConfig *config, CUfunction function, void **params,
                       void **extra)
{
    Launch launch = {0};
    Stream stream;

    if (!config)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = launch_prepare(call, config, function, params, extra, &launch);
    if (result == CUDA_SUCCESS)
        result = stream_get(call, config->hStream, standard, &stream);
    if (result == CUDA_SUCCESS)
        result = launch_submit(call, &stream, &launch);
    launch_clear(&launch);
    return result;
}

#define CONFIG(x, y, z, a, b, c, shared, stream) (&(CUlaunchConfig){x, y, z, a, b, c, shared, stream, NULL, 0})

STREAM_TWINS(cuLaunchKernel,
             (CUfunction function, unsigned int x, unsigned int y, unsigned int z, unsigned int a, unsigned int b,
              unsigned int c, unsigned int shared, CUstream stream, void **params, void **extra),
             launch, (&call, standard, CONFIG(x, y, z, a, b, c, shared, stream), function, params, extra))

STREAM_TWINS(cuLaunchKernelEx, (const CUlaunchConfig *config, CUfunction function, void **params, void **extra), launch,
             (&call, standard, config, function, params, extra))

static CUresult launch_cooperative(Call *call, CUstream standard, const CUlaunchConfig *config, CUfunction function,
                                   void **params)
{
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};
    CUlaunchConfig with = *config;

    with.attrs = &attribute;
    with.numAttrs = 1;
    return launch(call, standard, &with, function, params, NULL);
}

STREAM_TWINS(cuLaunchCooperativeKernel,
             (CUfunction function, unsigned int x, unsigned int y, unsigned int z, unsigned int a, unsigned int b,
              unsigned int c, unsigned int shared, CUstream stream, void **params),
             launch_cooperative, (&call, standard, CONFIG(x, y, z, a, b, c, shared, stream), function, params))
