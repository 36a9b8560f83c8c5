/* What tests of kernels share: the DGX of device_world.h, a module loaded on one of its GPUs, launches. */
#ifndef TESTS_DEVICE_KERNEL_KERNEL_WORLD_H
#define TESTS_DEVICE_KERNEL_KERNEL_WORLD_H

#include "tests/device/device_world.h"

#include "device/kernel/kernel.h"

typedef struct {
    World *world;
    guint16 gpu;
    PtxModule *module;
    PtxImage *image;
    MemRegion *bank[2]; /* .global, .const */
    guint64 bank_va[2];
} Loaded;

static inline Loaded *world_load(World *world, guint16 gpu, const char *file, const char *text)
{
    GError *error = NULL;
    Loaded *loaded = g_new0(Loaded, 1);
    loaded->world = world;
    loaded->gpu = gpu;
    loaded->module = ptx_module_read(file, text, strlen(text), &error);
    if (!loaded->module)
        fail_msg("%s", error->message);
    const guint64 bytes[2] = {loaded->module->global_bytes, loaded->module->const_bytes};
    for (guint b = 0; b < 2; b++) {
        guint64 size = (bytes[b] + 0x1fffffu) & ~(guint64)0x1fffff;
        if (!bytes[b])
            continue;
        loaded->bank[b] = memory_region_new(world->fabric->memory, gpu, size, NULL);
        loaded->bank_va[b] = vas_choose(world->vas, size, 1u << 21);
        world_map(world, loaded->bank_va[b], size, loaded->bank[b], NULL);
    }
    for (guint b = 0; b < 2; b++)
        if (bytes[b])
            ptx_module_bank(loaded->module, b ? SPACE_CONST : SPACE_GLOBAL, loaded->bank_va[0], loaded->bank_va[1],
                            loaded->bank[b]->host);
    loaded->image = ptx_image_new(loaded->module, loaded->bank_va[0], loaded->bank_va[1]);
    return loaded;
}

static inline void world_unload(Loaded *loaded)
{
    ptx_image_free(loaded->image);
    for (guint b = 0; b < 2; b++)
        if (loaded->bank[b]) {
            assert_true(vas_unmap(loaded->world->vas, loaded->bank_va[b], loaded->bank[b]->bytes));
            memory_region_unref(loaded->world->fabric->memory, loaded->bank[b]);
        }
    ptx_module_free(loaded->module);
    g_free(loaded);
}

/* How a launch ended. */
typedef struct {
    gboolean done;
    PtxFaultKind fault;
    char *text; /* of the fault; freed by the test */
    guint32 line, cta, warp, lane;
    guint64 va;
    SimTime took_ps;
    KernelStats stats;
} Ended;

static inline void note_kernel(const KernelLaunch *launch, void *user)
{
    Ended *ended = user;
    const PtxFault *fault = kernel_fault(launch);
    *ended = (Ended){TRUE,
                     fault->kind,
                     g_strdup(fault->text),
                     fault->line,
                     fault->cta[0],
                     fault->warp,
                     fault->lane,
                     fault->va,
                     kernel_end_ps(launch) - kernel_start_ps(launch),
                     kernel_stats(launch)};
}

static inline KernelLaunch *world_start(Loaded *loaded, const char *kernel, guint32 ctas, guint32 threads,
                                        guint32 shared, const void *param, Ended *ended)
{
    GError *error = NULL;
    const KernelSpec spec = {.image = loaded->image,
                             .entry = ptx_module_entry(loaded->module, kernel),
                             .grid = {ctas, 1, 1},
                             .block = {threads, 1, 1},
                             .dynamic_shared = shared,
                             .param = param};
    assert_non_null(spec.entry);
    KernelLaunch *launch = kernel_launch(loaded->world->fabric, loaded->gpu, loaded->world->vas, &spec, 0, note_kernel,
                                         ended, &error);
    if (!launch)
        fail_msg("%s", error->message);
    return launch;
}

/* Starts and runs to the end of everything. */
static inline Ended world_kernel(Loaded *loaded, const char *kernel, guint32 ctas, guint32 threads, guint32 shared,
                                 const void *param)
{
    Ended ended = {0};
    world_start(loaded, kernel, ctas, threads, shared, param, &ended);
    assert_int_equal(sim_run(loaded->world->sim, SIMTIME_NEVER), SIM_IDLE);
    assert_true(ended.done);
    return ended;
}

#endif
