/* What a warp tells: a fault, which ends its grid, to the grid; that another one can go on, to the host. */
#include <stdarg.h>

#include "ptx/run/exec.h"

PtxStep ptx_fault(PtxWarp *warp, const PtxIns *ins, guint32 lane, PtxFaultKind kind, guint64 va, const char *format,
                  ...)
{
    PtxFault *fault = &warp->cta->grid->fault;
    va_list args;
    if (fault->kind != PTX_FAULT_NONE)
        return STEP_FAULT;
    va_start(args, format);
    fault->text = g_strdup_vprintf(format, args);
    va_end(args);
    fault->kind = kind;
    fault->function = warp->current ? warp->current->frame->code->function : warp->cta->grid->entry;
    fault->line = ins ? ins->statement_line : 0;
    fault->source_line = ins ? ins->source_line : 0;
    for (guint i = 0; i < 3; i++)
        fault->cta[i] = warp->cta->index[i];
    fault->warp = warp->index;
    fault->lane = lane;
    fault->va = va;
    return STEP_FAULT;
}

void ptx_warp_wake(PtxWarp *warp, PtxWakeKind kind)
{
    const PtxGrid *grid = warp->cta->grid;
    if (grid->host->wake)
        grid->host->wake(grid->user, warp, kind);
}
