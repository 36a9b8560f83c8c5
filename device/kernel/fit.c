/* Whether a kernel fits: what its CTAs take of an SM, how many go on one, and what of a launch is refused. */
#include "device/kernel/internal.h"

G_DEFINE_QUARK(kernel - error - quark, kernel_error)

static gboolean refuse(GError **error, KernelErrorCode code, PtxFunction *entry, const char *format, ...)
    G_GNUC_PRINTF(4, 5);
static gboolean refuse(GError **error, KernelErrorCode code, PtxFunction *entry, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error(error, KERNEL_ERROR, code, "launch of %s: %s", entry->symbol->name, text);
    return FALSE;
}

/* Registers are given to a warp in units of 256, and a CTA's warps are spread evenly over four schedulers.
 * Source: CUDA occupancy calculator (compute capability 7.0 to 10.0: granularity of 4 warps, unit of 256 registers). */
static guint32 cta_registers(const PtxUsage *usage, guint32 warps)
{
    guint32 of_warp = (usage->registers * PTX_LANES + 255u) & ~255u;
    return of_warp * ((warps + SM_SCHEDULERS - 1) & ~(SM_SCHEDULERS - 1));
}

static guint32 fit(guint64 have, guint64 each) { return each ? (guint32)MIN(have / each, 1024) : 1024; }

guint32 kernel_occupancy(const FabricSpec *spec, PtxFunction *entry, guint32 threads, guint32 dynamic_shared,
                         GError **error)
{
    PtxUsage usage;
    const SmSpec *sm = &spec->sm;
    guint32 warps = (threads + PTX_LANES - 1) / PTX_LANES;
    if (threads == 0 || !ptx_function_usage(entry, &usage, error))
        return 0;
    guint64 shared = (guint64)usage.shared_bytes + dynamic_shared;
    if (shared > sm->shared_cta_bytes)
        return 0;
    guint32 most = MIN(fit(sm->warps_max, warps), (guint32)sm->ctas_max);
    most = MIN(most, fit(sm->shared_bytes, sm_shared_of_cta(sm, (guint32)shared)));
    return MIN(most, fit(sm->registers, cta_registers(&usage, warps)));
}

static gboolean check(KernelLaunch *launch, GError **error)
{
    const PtxGrid *grid = launch->grid;
    const FabricSpec *spec = &launch->fabric->spec;
    guint32 shared = grid->static_shared + grid->dynamic_shared + grid->functions_shared;
    guint32 fits = kernel_occupancy(spec, grid->entry, grid->threads, grid->dynamic_shared, error);
    if (!launch->fabric->keep_bytes)
        return refuse(error, KERNEL_ERROR_DATA, grid->entry,
                      "kernels need their data; this run keeps none (--data off)");
    if (fits == 0)
        return refuse(error, KERNEL_ERROR_RESOURCES, grid->entry,
                      "%u threads with %u registers and %u bytes of shared memory do not fit on an SM", grid->threads,
                      launch->registers, shared);
    guint64 ctas = launch->clusters * grid->cluster[0] * grid->cluster[1] * grid->cluster[2];
    if (launch->spec.cooperative && ctas > fits * spec->sm.count)
        return refuse(error, KERNEL_ERROR_COOPERATIVE, grid->entry,
                      "a cooperative grid of %" G_GUINT64_FORMAT " CTAs; %" G_GUINT64_FORMAT " fit at once", ctas,
                      fits * spec->sm.count);
    return TRUE;
}

gboolean kernel_fit(KernelLaunch *launch, GError **error)
{
    const KernelSpec *spec = &launch->spec;
    PtxUsage usage;
    guint32 cluster[3];
    for (guint i = 0; i < 3; i++)
        cluster[i] = MAX(spec->cluster[i], 1u);
    GError *inner = NULL;
    launch->grid = ptx_grid_new(spec->image, spec->entry, spec->grid, spec->block, spec->cluster[0] ? cluster : NULL,
                                spec->dynamic_shared, spec->param, &launch->host, launch, &inner);
    if (!launch->grid) {
        gboolean limit = g_error_matches(inner, PTX_LOAD_ERROR, PTX_LOAD_ERROR_LIMIT);
        if (limit)
            g_set_error_literal(error, KERNEL_ERROR, KERNEL_ERROR_SHAPE, inner->message);
        else
            g_propagate_error(error, g_steal_pointer(&inner));
        g_clear_error(&inner);
        return FALSE;
    }
    PtxGrid *grid = launch->grid;
    grid->workspace = spec->workspace;
    launch->clusters = 1;
    for (guint i = 0; i < 3; i++)
        launch->clusters *= grid->dim[i] / grid->cluster[i];
    if (!ptx_function_usage(spec->entry, &usage, error))
        return FALSE;
    launch->registers = cta_registers(&usage, grid->n_warps);
    return check(launch, error);
}

gboolean kernel_check(Fabric *fabric, const KernelSpec *spec, GError **error)
{
    KernelLaunch launch = {.fabric = fabric, .spec = *spec};
    gboolean good = kernel_fit(&launch, error);
    ptx_grid_free(launch.grid);
    return good;
}
