/* Handles, reservations, mappings and teams of the model. */
#include "tests/api/cuda_model.h"

#include <spawn.h>
#include <stdio.h>

#define LOG_BYTES 3000

extern char **environ;

guint model_below(Model *model, guint bound) { return g_rand_int(model->rand) % MAX(bound, 1); }

void model_complain(Model *model, const char *format, ...)
{
    va_list args;
    if (model->wrong)
        return;
    va_start(args, format);
    model->wrong = g_strdup_vprintf(format, args);
    va_end(args);
}

gboolean model_expect(Model *model, CUresult want, CUresult got, const char *format, ...)
{
    va_list args;
    model->calls++;
    if (model->wrong)
        return FALSE;
    va_start(args, format);
    g_string_append_vprintf(model->log, format, args);
    va_end(args);
    g_string_append_printf(model->log, " -> %d\n", (int)got);
    if (model->log->len > 2 * LOG_BYTES)
        g_string_erase(model->log, 0, (gssize)(model->log->len - LOG_BYTES));
    if (got != want)
        model_complain(model, "%d is right, not %d", (int)want, (int)got);
    return got == CUDA_SUCCESS && want == CUDA_SUCCESS;
}
#define EXPECTED(want, call) model_expect(model, want, call, "%s", #call)
#define WELL(call) EXPECTED(CUDA_SUCCESS, call)
#define WRONG(call) EXPECTED(CUDA_ERROR_INVALID_VALUE, call)

/* Fills and copies between devices may be under way when their call returns: they are over before another context,
 * whose streams do not wait for them, goes on, and before what they touch goes. */
static gboolean model_done(Model *model) { return WELL(cuCtxSynchronize()); }

gboolean model_context(Model *model, int device)
{
    model->current = device;
    return model_done(model) && WELL(cuCtxSetCurrent(model->context[device]));
}

/* ---- memory */

/* Memory goes with its last handle and mapping; binds do not keep it (cuda.freed_bind is detach). */
static void memory_drop(Model *model, ModelMemory *memory)
{
    if (memory->handles || memory->users)
        return;
    g_clear_pointer(&memory->image, g_free);
    for (int t = 0; t < 2; t++)
        for (int d = 0; d < MODEL_DEVICES; d++)
            if (model->team[t].bound[d] == memory)
                model->team[t].bound[d] = NULL;
}

static void memory_create(Model *model, ModelMemory *memory)
{
    size_t bytes = model_below(model, 4) ? GRAIN : 2 * GRAIN;
    int device = (int)model_below(model, (guint)model->devices);
    gboolean exports = model_below(model, 2) != 0;
    CUmemAllocationProp prop = memory_prop(CU_MEM_LOCATION_TYPE_DEVICE, device,
                                           exports ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR : 0);
    Handle handle = 0x1234;
    static const size_t bad[] = {0, 1, 4096, GRAIN + 1, SIZE_MAX, (size_t)1 << 63};
    if (model_below(model, 8) == 0) {
        size_t wrong = bad[model_below(model, 6)];
        CUresult got = cuMemCreate(&handle, wrong, &prop, 0);
        if (got == CUDA_SUCCESS || handle != 0x1234)
            model_complain(model, "cuMemCreate of %zu B gives %d", wrong, (int)got);
        return;
    }
    if (!WELL(cuMemCreate(&handle, bytes, &prop, 0)))
        return;
    *memory = (ModelMemory){handle, device, 1, 0, exports, bytes, g_malloc0(bytes)};
    /* what is in new memory is undefined: it gets what the model has, by a mapping of its own */
    CUdeviceptr va = 0;
    CUmemAccessDesc desc = {{CU_MEM_LOCATION_TYPE_DEVICE, device}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    if (WELL(cuMemAddressReserve(&va, bytes, 0, 0, 0)) && WELL(cuMemMap(va, bytes, 0, handle, 0)) &&
        WELL(cuMemSetAccess(va, bytes, &desc, 1)) && model_context(model, device) && WELL(cuMemsetD8(va, 0, bytes)) &&
        model_done(model) && WELL(cuMemUnmap(va, bytes)))
        WELL(cuMemAddressFree(va, bytes));
}

static void memory_release(Model *model, ModelMemory *memory)
{
    memory->handles--;
    model_done(model);
    WELL(cuMemRelease(memory->handle));
    memory_drop(model, memory);
}

/* ---- reservations */

static void range_reserve(Model *model, ModelRange *range)
{
    size_t bytes = model_below(model, 4) ? GRAIN : 2 * GRAIN;
    if (model_below(model, 8) == 0)
        WRONG(cuMemAddressReserve(&(CUdeviceptr){0}, bytes + 1, 0, 0, 0));
    *range = (ModelRange){.bytes = bytes};
    WELL(cuMemAddressReserve(&range->va, bytes, 0, 0, 0));
}

static void range_unmap(Model *model, ModelRange *range)
{
    if (!range->memory && !range->team) {
        WELL(cuMemUnmap(range->va, range->bytes)); /* as a real driver does */
        return;
    }
    model_done(model);
    WELL(cuMemUnmap(range->va, range->bytes));
    if (range->memory) {
        range->memory->users--;
        memory_drop(model, range->memory);
    } else {
        range->team->users--;
    }
    range->memory = NULL;
    range->team = NULL;
    range->access = FALSE;
}

static void range_free(Model *model, ModelRange *range)
{
    if (range->memory || range->team) {
        CUresult got = cuMemAddressFree(range->va, range->bytes);
        if (got == CUDA_SUCCESS)
            model_complain(model, "cuMemAddressFree of what is mapped succeeds");
        return;
    }
    WELL(cuMemAddressFree(range->va, range->bytes));
    range->va = 0;
}

/* All devices may touch it. */
static void range_access(Model *model, ModelRange *range)
{
    CUmemAccessDesc desc[MODEL_DEVICES];
    int n = range->team ? range->team->n : model->devices;
    for (int d = 0; d < n; d++)
        desc[d] = (CUmemAccessDesc){{CU_MEM_LOCATION_TYPE_DEVICE, d}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    if (!range->memory && !range->team) {
        WRONG(cuMemSetAccess(range->va, range->bytes, desc, (size_t)n));
        return;
    }
    range->access = WELL(cuMemSetAccess(range->va, range->bytes, desc, (size_t)n));
    unsigned long long flags = 0;
    CUmemLocation where = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    if (WELL(cuMemGetAccess(&flags, &where, range->va + 4096)) && flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
        model_complain(model, "cuMemGetAccess gives %llu", flags);
}

static void range_map(Model *model, ModelRange *range)
{
    ModelMemory *memory = &model->memory[model_below(model, MODEL_SLOTS)];
    ModelTeam *team = &model->team[model_below(model, 2)];
    gboolean of_team = model_below(model, 2) != 0;
    size_t bytes = of_team ? team->bytes : memory->bytes;
    Handle handle = of_team ? team->handle : memory->handle;
    if (of_team ? !team->handles || team->added != (1u << team->n) - 1 : !memory->image || !memory->handles)
        return;
    if (range->memory || range->team || bytes < range->bytes) {
        CUresult got = cuMemMap(range->va, range->bytes, 0, handle, 0);
        if (got == CUDA_SUCCESS)
            model_complain(model, "cuMemMap over a mapping, or of more than there is, succeeds");
        return;
    }
    if (bytes != range->bytes || !WELL(cuMemMap(range->va, range->bytes, 0, handle, 0)))
        return;
    range->team = of_team ? team : NULL;
    range->memory = of_team ? NULL : memory;
    *(of_team ? &team->users : &memory->users) += 1;
    if (model_below(model, 8))
        range_access(model, range);
}

/* A handle by an address inside. */
static void range_retain(Model *model, ModelRange *range)
{
    Handle handle = 0;
    if (!range->memory || !range->memory->handles) /* what a handle that was given back is then called is not said */
        return;
    if (!WELL(cuMemRetainAllocationHandle(&handle, (void *)(range->va + 4096))))
        return;
    range->memory->handles++;
    if (handle != range->memory->handle)
        model_complain(model, "cuMemRetainAllocationHandle gives another handle");
}

/* ---- teams */

static void team_create(Model *model, ModelTeam *team)
{
    *team = (ModelTeam){.n = 2 + (int)model_below(model, (guint)model->devices - 1), .handles = 1};
    team->bytes = model_below(model, 4) ? GRAIN : 2 * GRAIN;
    CUmulticastObjectProp prop = team_prop((unsigned)team->n, team->bytes, 0);
    if (!WELL(cuMulticastCreate(&team->handle, &prop)))
        team->handles = 0;
    for (int d = 0; d < team->n && team->handles && model_below(model, 8); d++)
        if (WELL(cuMulticastAddDevice(team->handle, d)))
            team->added |= 1u << d;
}

static void team_add(Model *model, ModelTeam *team)
{
    int device = (int)model_below(model, (guint)team->n);
    if (team->added & 1u << device)
        WRONG(cuMulticastAddDevice(team->handle, device));
    else if (WELL(cuMulticastAddDevice(team->handle, device)))
        team->added |= 1u << device;
}

static void team_bind(Model *model, ModelTeam *team)
{
    ModelMemory *memory = &model->memory[model_below(model, MODEL_SLOTS)];
    for (int i = 0; i < MODEL_SLOTS; i++) { /* of a member that has none bound yet, where there is one */
        const ModelMemory *one = &model->memory[i];
        if (one->image && one->handles && one->device < team->n && !team->bound[one->device])
            memory = &model->memory[i];
    }
    if (team->added != (1u << team->n) - 1 || !memory->image || !memory->handles || memory->bytes != team->bytes)
        return;
    if (memory->device >= team->n || team->bound[memory->device]) {
        CUresult got = cuMulticastBindMem(team->handle, 0, memory->handle, 0, team->bytes, 0);
        if (got == CUDA_SUCCESS)
            model_complain(model, "cuMulticastBindMem over a bind, or outside the team, succeeds");
        return;
    }
    if (!WELL(cuMulticastBindMem(team->handle, 0, memory->handle, 0, team->bytes, 0)))
        return;
    team->bound[memory->device] = memory;
}

static void team_unbind(Model *model, ModelTeam *team, int device)
{
    if (team->added != (1u << team->n) - 1 || !team->bound[device])
        return;
    model_done(model);
    WELL(cuMulticastUnbind(team->handle, device, 0, team->bytes));
    team->bound[device] = NULL;
}

static void team_release(Model *model, ModelTeam *team)
{
    for (int d = 0; d < team->n; d++)
        if (team->bound[d])
            team_unbind(model, team, d);
    if (team->users)
        return;
    team->handles = 0;
    WELL(cuMemRelease(team->handle));
}

static void team_step(Model *model, ModelTeam *team)
{
    guint kind = model_below(model, 12);
    if (!team->handles)
        team_create(model, team);
    else if (team->added != (1u << team->n) - 1 || kind == 0)
        team_add(model, team);
    else if (kind < 10)
        team_bind(model, team);
    else if (kind == 10)
        team_unbind(model, team, (int)model_below(model, (guint)team->n));
    else if (model_below(model, 3) == 0)
        team_release(model, team);
}

/* ---- cuMemAlloc, and questions */

static void block_step(Model *model, ModelBlock *block)
{
    size_t bytes = 110000 + model_below(model, 200000), size = 0;
    CUdeviceptr base = 0;
    int ordinal = -1;
    if (!block->va) {
        *block = (ModelBlock){.device = (int)model_below(model, (guint)model->devices), .bytes = bytes};
        if (!model_context(model, block->device) || !WELL(cuMemAlloc(&block->va, bytes)) ||
            !WELL(cuMemsetD8(block->va, 0, bytes)))
            block->va = 0;
        else
            block->image = g_malloc0(bytes);
    } else if (model_below(model, 3)) {
        size_t inside = model_below(model, (guint)block->bytes);
        if (WELL(cuMemGetAddressRange(&base, &size, block->va + inside)) && (base != block->va || size != block->bytes))
            model_complain(model, "cuMemGetAddressRange gives 0x%llx, %zu B", base, size);
        if (WELL(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, block->va + inside)) &&
            ordinal != block->device)
            model_complain(model, "device %d; %d is right", ordinal, block->device);
        WRONG(cuMemFree(block->va + 1));
    } else {
        model_look(model, block->va, block->image, block->bytes);
        WELL(cuMemFree(block->va));
        g_clear_pointer(&block->image, g_free);
        block->va = 0;
    }
}

/* ---- other processes */

/* A child of fork that does not exec has no driver; one that does has its own, and the same bytes by a descriptor. */
void model_processes(Model *model)
{
    int fd = -1, status = 0;
    ModelMemory *memory = NULL;
    pid_t child = fork();
    model->processes++;
    if (child == 0) {
        CUdeviceptr va = 0;
        alarm(30);
        _exit(cuMemAlloc(&va, 4096) == CUDA_ERROR_NOT_INITIALIZED && cuCtxSynchronize() == CUDA_ERROR_NOT_INITIALIZED
                  ? 0
                  : 1);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        model_complain(model, "a child of fork ends with 0x%x", status);
    for (int i = 0; i < MODEL_SLOTS && !memory; i++)
        if (model->memory[i].image && model->memory[i].exports && model->memory[i].handles)
            memory = &model->memory[i];
    if (!memory ||
        !WELL(cuMemExportToShareableHandle(&fd, memory->handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0)))
        return;
    char number[16], bytes[24], first[8], self[] = "/proc/self/exe", name[] = "--import";
    int inherited = dup(fd); /* without close-on-exec */
    g_snprintf(number, sizeof number, "%d", inherited);
    g_snprintf(bytes, sizeof bytes, "%zu", memory->bytes);
    g_snprintf(first, sizeof first, "%d", memory->image[7]);
    char *argv[] = {self, name, number, bytes, first, NULL};
    if (posix_spawn(&child, self, NULL, NULL, argv, environ) != 0 || waitpid(child, &status, 0) != child || status != 0)
        model_complain(model, "a program that imports a descriptor ends with 0x%x", status);
    memory->image[8] = (guint8)(memory->image[7] + 1); /* what it wrote */
    close(inherited);
    close(fd);
}

/* ---- */

void model_step(Model *model)
{
    guint slot = model_below(model, MODEL_SLOTS);
    ModelMemory *memory = &model->memory[slot];
    ModelRange *range = &model->range[slot];
    switch (model_below(model, 16)) {
    case 0:
        if (!memory->image)
            memory_create(model, memory);
        else if (memory->handles && model_below(model, 3) == 0)
            memory_release(model, memory);
        break;
    case 1:
    case 2:
    case 3:
        if (!range->va)
            range_reserve(model, range);
        else if (model_below(model, 3))
            range_map(model, range);
        else if (model_below(model, 5) == 0)
            range_unmap(model, range);
        else if (model_below(model, 3) == 0)
            range_free(model, range);
        else if (model_below(model, 2))
            range_retain(model, range);
        else
            range_access(model, range);
        break;
    case 4:
    case 5: team_step(model, &model->team[model_below(model, 2)]); break;
    case 6: block_step(model, &model->block[slot]); break;
    case 7:
        model_context(model, (int)model_below(model, (guint)model->devices));
        WRONG(cuMemRelease(model_below(model, 2) ? 0 : 0xdeadbeef));
        if (!g_getenv("FANOUT_CALLS_ALONE") && model_below(model, 400) == 0)
            model_processes(model);
        break;
    default: model_copy(model);
    }
}

Model *model_new(int number, guint64 seed, int devices)
{
    Model *model = g_new0(Model, 1);
    *model = (Model){.number = number,
                     .devices = devices,
                     .seed = seed,
                     .rand = g_rand_new_with_seed((guint32)seed),
                     .log = g_string_new("")};
    for (int d = 0; d < devices; d++)
        WELL(cuDevicePrimaryCtxRetain(&model->context[d], d));
    WELL(cuCtxSetCurrent(model->context[0]));
    WELL(cuStreamCreate(&model->stream[0], CU_STREAM_DEFAULT));
    WELL(cuStreamCreate(&model->stream[1], CU_STREAM_NON_BLOCKING));
    WELL(cuEventCreate(&model->event, CU_EVENT_DISABLE_TIMING));
    return model;
}

void model_free(Model *model)
{
    for (int i = 0; i < MODEL_SLOTS && !model->wrong; i++)
        if (model->range[i].memory && model->range[i].access)
            model_look(model, model->range[i].va, model->range[i].memory->image, model->range[i].bytes);
    for (int i = 0; i < MODEL_SLOTS && !model->wrong; i++) {
        ModelRange *range = &model->range[i];
        if (range->va && (range->memory || range->team))
            range_unmap(model, range);
        if (range->va)
            range_free(model, range);
        if (model->block[i].va)
            WELL(cuMemFree(model->block[i].va));
        g_free(model->block[i].image);
    }
    for (int t = 0; t < 2 && !model->wrong; t++)
        if (model->team[t].handles)
            team_release(model, &model->team[t]);
    for (int i = 0; i < MODEL_SLOTS && !model->wrong; i++)
        while (model->memory[i].image && model->memory[i].handles)
            memory_release(model, &model->memory[i]);
    for (int s = 0; s < 2; s++)
        WELL(cuStreamDestroy(model->stream[s]));
    WELL(cuEventDestroy(model->event));
    for (int d = 0; d < model->devices; d++)
        WELL(cuDevicePrimaryCtxRelease(d));
    g_rand_free(model->rand);
    g_string_free(model->log, TRUE);
    g_free(model->wrong);
    g_free(model);
}
