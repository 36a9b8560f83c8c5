/* Calls, returns, ends of lanes, table branches, sleeping, the grid before. */
#include "ptx/run/exec.h"

/* ---- calls */

static void actual_to_formal(PtxWarp *warp, const PtxPath *path, const PtxActual *actual, PtxFrame *callee,
                             guint formal, guint32 mask)
{
    const PtxCode *code = callee->code, *from_code = path->frame->code;
    guint32 place = code->formal_place[formal];
    for (guint l = 0; l < PTX_LANES; l++) {
        guint8 bytes[16] = {0};
        const guint8 *from;
        if (!(mask >> l & 1))
            continue;
        if (actual->place == PLACE_NONE)
            from = path->frame->param + (gsize)l * from_code->param_bytes + actual->offset;
        else
            from = (const guint8 *)ptx_lanes(warp, actual->place) + (gsize)l * MAX(actual->bytes, 2u);
        if (place == PLACE_NONE) {
            memcpy(callee->param + (gsize)l * code->param_bytes + code->formal_offset[formal], from, actual->bytes);
            continue;
        }
        guint width = MAX(actual->bytes, 2u);
        memcpy(bytes, from, MIN(actual->bytes, 16u));
        memcpy(callee->regs + place + (gsize)l * width, bytes, MIN(width, 16u));
    }
}

static void formal_to_actual(PtxFrame *caller, const PtxActual *actual, const PtxFrame *callee, guint formal,
                             guint32 mask)
{
    const PtxCode *code = callee->code;
    guint32 place = code->formal_place[formal];
    guint width = MAX(actual->bytes, 2u);
    for (guint l = 0; l < PTX_LANES; l++) {
        guint8 bytes[16] = {0};
        if (!(mask >> l & 1) || actual->bytes == 0)
            continue;
        const guint8 *from = place == PLACE_NONE
                                 ? callee->param + (gsize)l * code->param_bytes + code->formal_offset[formal]
                                 : callee->regs + place + (gsize)l * width;
        if (actual->place == PLACE_NONE) {
            memcpy(caller->param + (gsize)l * caller->code->param_bytes + actual->offset, from, actual->bytes);
            continue;
        }
        memcpy(bytes, from, MIN(actual->bytes, 16u));
        memcpy(caller->regs + actual->place + (gsize)l * width, bytes, MIN(width, 16u));
    }
}

static gboolean sizes_match(const GArray *formals, const PtxActual *actuals, guint n, gboolean is_ret)
{
    if (formals->len != n)
        return FALSE;
    for (guint i = 0; i < n; i++)
        if (g_array_index(formals, PtxParam, i).bytes != actuals[i].bytes && !(is_ret && actuals[i].bytes == 0))
            return FALSE;
    return TRUE;
}

static PtxFunction *indirect_target(PtxWarp *warp, const PtxIns *ins, guint lane, const PtxCall *call)
{
    guint64 va = ptx_lane_get(warp, ins->src[0], 8, lane), index = va - PTX_CODE_WINDOW;
    const PtxModule *module = warp->cta->grid->image->module;
    PtxFunction *function = va >= PTX_CODE_WINDOW && index < module->functions->len ? module->functions->pdata[index]
                                                                                    : NULL;
    if (!function || function->entry || !function->body) {
        ptx_fault(warp, ins, lane, PTX_FAULT_CODE, va, "0x%" G_GINT64_MODIFIER "x is no function's address", va);
        return NULL;
    }
    if (!sizes_match(function->params, call->args, call->n_args, FALSE) ||
        !sizes_match(function->rets, call->rets, call->n_rets, TRUE)) {
        ptx_fault(warp, ins, lane, PTX_FAULT_CODE, va, "%s is called with parameters of other sizes than it has",
                  function->symbol->name);
        return NULL;
    }
    return function;
}

PtxStep ptx_step_call(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask)
{
    const PtxCall *call = &path->frame->code->calls[ins->target];
    guint lane = (guint)__builtin_ctz(mask);
    PtxFunction *function = call->function;
    if (function && !function->body)
        return ptx_system_call(warp, path, ins, mask, call);
    /* lanes that do not call, or call another function, go their own way and meet the others behind the call */
    if (mask != path->mask)
        ptx_path_split(warp, path, path->mask & ~mask, path->pc + 1, path->pc + 1);
    if (!function) {
        guint32 same = 0;
        guint64 va = ptx_lane_get(warp, ins->src[0], 8, lane);
        for (guint l = 0; l < PTX_LANES; l++)
            same |= (guint32)(ptx_lane_get(warp, ins->src[0], 8, l) == va) << l;
        if (mask & ~same)
            ptx_path_split(warp, path, mask & ~same, path->pc, path->pc + 1);
        mask &= same;
        function = indirect_target(warp, ins, lane, call);
        if (!function)
            return STEP_FAULT;
        if (!warp->cta->grid->called)
            warp->cta->grid->called = function;
    }
    GError *error = NULL;
    PtxCode *code = ptx_function_code(function, &error);
    if (!code) {
        ptx_fault(warp, ins, lane, PTX_FAULT_ILLEGAL_INSTRUCTION, 0, "%s", error->message);
        g_error_free(error);
        return STEP_FAULT;
    }
    PtxFrame *frame = ptx_frame_new(warp, code, path->frame);
    if (!frame)
        return ptx_fault(warp, ins, lane, PTX_FAULT_STACK, 0,
                         "calls are nested too deep, or need more than %u bytes of stack", PTX_LOCAL_BYTES_MAX);
    for (guint i = 0; i < call->n_args; i++)
        actual_to_formal(warp, path, &call->args[i], frame, call->n_rets + i, mask);
    frame->return_pc = path->pc + 1;
    frame->call = call;
    ptx_frame_unref(warp, path->frame); /* the callee holds it */
    path->frame = frame;
    path->pc = 0;
    ptx_warp_enter(warp, path);
    return STEP_JUMP;
}

PtxStep ptx_step_ret(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask)
{
    PtxFrame *frame = path->frame;
    if (!frame->caller)
        return ptx_step_exit(warp, path, ins, mask);
    for (guint i = 0; i < frame->call->n_rets; i++)
        formal_to_actual(frame->caller, &frame->call->rets[i], frame, i, mask);
    path->pc = frame->return_pc;
    path->frame = ptx_frame_ref(frame->caller);
    ptx_frame_unref(warp, frame);
    ptx_warp_enter(warp, path);
    return STEP_JUMP;
}

/* ---- ends */

PtxStep ptx_step_exit(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask)
{
    gboolean all = mask == path->mask;
    if (G_UNLIKELY(warp->cta->fabric != NULL) && !ptx_fabric_lanes_end(warp, ins, mask))
        return STEP_FAULT;
    if (!all)
        path->pc++;
    ptx_path_exit(warp, path, mask);
    ptx_lanes_ended(warp, mask);
    return all || warp->n_paths > 1 ? STEP_GONE : STEP_JUMP;
}

PtxStep ptx_step_trap(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask)
{
    (void)path;
    return ptx_fault(warp, ins, (guint)__builtin_ctz(mask), PTX_FAULT_TRAP, 0, "the kernel executed trap");
}

/* ---- table branches */

PtxStep ptx_step_brx(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask)
{
    const guint32 *index = ptx_lanes(warp, ins->src[0]);
    guint first = (guint)__builtin_ctz(mask);
    guint32 same = 0, from = path->pc;
    if (mask != path->mask)
        ptx_path_split(warp, path, path->mask & ~mask, path->pc + 1, ins->join);
    if (index[first] >= ins->n_targets)
        return ptx_fault(warp, ins, first, PTX_FAULT_CODE, index[first], "branch %u of a table of %u", index[first],
                         ins->n_targets);
    for (guint l = 0; l < PTX_LANES; l++)
        same |= (guint32)(index[l] == index[first]) << l;
    if (mask & ~same)
        ptx_path_split(warp, path, mask & ~same, from, ins->join);
    path->pc = path->frame->code->places[ins->target + index[first]];
    if (path->pc <= from && (warp->n_paths > 1 || warp->n_parked)) {
        ptx_path_back_branch(warp, path, FALSE);
        return STEP_GONE;
    }
    return STEP_JUMP;
}

/* ---- waits */

#define NANOSLEEP_MAX_NS 1000000u

PtxStep ptx_step_nanosleep(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask)
{
    const PtxGrid *grid = warp->cta->grid;
    guint64 ns = 0;
    for (guint l = 0; l < PTX_LANES; l++)
        if (mask >> l & 1)
            ns = MAX(ns, ptx_lane_u32(warp, ins->src[0], l));
    path->pc++;
    path->state = PATH_SLEEP;
    path->wake_ps = grid->host->now_ps(grid->user) + MIN(ns, NANOSLEEP_MAX_NS) * 1000;
    ptx_path_last(warp, path);
    return STEP_GONE;
}

PtxStep ptx_step_griddep(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask)
{
    const PtxGrid *grid = warp->cta->grid;
    (void)mask;
    if (ins->mode == W_LAUNCH_DEPENDENTS) {
        if (grid->host->launch_dependents)
            grid->host->launch_dependents(grid->user, warp->cta);
        return STEP_NEXT;
    }
    if (!grid->host->grid_dependency || grid->host->grid_dependency(grid->user, warp))
        return STEP_NEXT;
    path->state = PATH_GRID;
    return STEP_AGAIN;
}

gboolean ptx_warp_met(PtxWarp *warp)
{
    gboolean any = FALSE;
    for (PtxPath *path = warp->head; path; path = path->next)
        if (path->state == PATH_GRID) {
            path->state = PATH_READY;
            any = TRUE;
        }
    return any;
}
