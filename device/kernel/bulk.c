/* Bulk copies (TMA): each CTA has a unit that makes them, one after the other, beside its warps.
 *
 * The unit is a warp of the model with nothing but these copies: their packets share the SM's LSU with those of the
 * warps, and its limits on what is under way. A copy starts some time after its instruction, and starts of several
 * overlap. What lies in shared memory is read, and written, by the executor. */
#include "device/kernel/internal.h"

typedef struct {
    PtxAccess *access;
    SimTime start_ps;
} KernelCopy;

/* Until then the unit is busy with rows of the copy at hand, or may not yet begin a copy by a tensor map. */
static SimTime busy_until_ps(const KernelCta *cta, const KernelCopy *next)
{
    const KernelWarp *copier = &cta->copier;
    if (copier->access)
        return copier->access->row_bytes ? copier->time_ps : 0;
    return MAX(next->start_ps, next->access->row_bytes ? cta->tensor_ps : 0);
}

static gboolean copier_next(Warp *model, Uop *uop)
{
    KernelWarp *copier = model->generator;
    KernelCta *cta = copier->cta;
    SimTime now_ps = sim_now_ps(model->sm->gpu->sim), clock_ps = cta->launch->host.clock_ps;
    for (;;) {
        if (!copier->access && cta->copies->len == 0)
            return FALSE;
        KernelCopy copy = {0};
        if (!copier->access)
            copy = g_array_index(cta->copies, KernelCopy, 0);
        SimTime busy_ps = busy_until_ps(cta, &copy);
        if (busy_ps > now_ps) {
            *uop = (Uop){.kind = UOP_UNTIL, .lanes = 1, .value = busy_ps};
            return TRUE;
        }
        if (!copier->access) {
            g_array_remove_index(cta->copies, 0);
            copier->access = copy.access;
            copier->block_at = 0;
            if (copy.access->row_bytes)
                cta->tensor_ps = now_ps + KERNEL_TENSOR_COPY_CLK * clock_ps;
        }
        guint32 row_bytes = copier->access->row_bytes;
        if (!kernel_issue_next(copier, uop))
            continue;
        if (row_bytes)
            copier->time_ps = now_ps + (SimTime)uop->lanes * 16 * KERNEL_TENSOR_ROW_CLK * clock_ps / row_bytes;
        return TRUE;
    }
}

static void copier_make(KernelCta *cta)
{
    KernelWarp *copier = &cta->copier;
    cta->copies = g_array_new(FALSE, FALSE, sizeof(KernelCopy));
    warp_init(&cta->copier_warp, cta->cta, cta->cta->n_warps);
    cta->copier_warp.sm = cta->cta->sm;
    cta->copier_warp.issue_ps = cta->launch->host.clock_ps;
    copier->cta = cta;
    copier->warp = &cta->copier_warp;
    copier->out.bytes = copier->out_bytes;
}

void kernel_bulk_begin(KernelWarp *warp, PtxAccess *access)
{
    KernelCta *cta = warp->cta;
    KernelCopy copy = {access, warp->time_ps + KERNEL_BULK_CLK * cta->launch->host.clock_ps};
    if (!cta->copies)
        copier_make(cta);
    warp->bulk++;
    g_array_append_val(cta->copies, copy);
    if (!cta->copier_warp.generate)
        warp_generate(&cta->copier_warp, copier_next, &cta->copier);
}

static void on_drained(Warp *model, SimTime now_ps)
{
    KernelWarp *copier = model->generator;
    sim_at(copier->cta->launch->fabric->sim, &copier->cta->end, now_ps, EVENT_PRIORITY_DEVICE);
}

gboolean kernel_bulk_drains(KernelCta *cta)
{
    const Uop drain = {.kind = UOP_DRAIN, .lanes = 1};
    if (!cta->copies || (cta->copier_warp.stores == 0 && cta->copier_warp.state == WARP_IDLE))
        return FALSE;
    cta->copier_warp.generator = &cta->copier;
    cta->copier_warp.on_idle = on_drained;
    warp_push(&cta->copier_warp, &drain);
    return TRUE;
}

void kernel_bulk_clear(KernelCta *cta)
{
    if (!cta->copies)
        return;
    kernel_loads_clear(&cta->copier);
    warp_clear(&cta->copier_warp);
    g_array_unref(cta->copies);
}
