#include "ptx/run/warp.h"

#include "ptx/run/exec.h"

/* ---- what a path waits for */

static gboolean place_listed(const PtxCode *code, const PtxIns *ins, guint32 place)
{
    for (guint i = 0; i < ins->n_uses; i++)
        if (code->places[ins->uses_at + i] == place)
            return TRUE;
    return FALSE;
}

/* Whether an instruction uses a register that a load of these lanes has still to bring. */
static gboolean path_must_wait(const PtxWarp *warp, const PtxPath *path, const PtxIns *ins)
{
    const PtxCode *code = path->frame->code;
    for (const PtxAccess *access = warp->pending; access; access = access->next) {
        if (access->frame != path->frame || access->target != TARGET_REGISTERS || !(access->mask & path->mask))
            continue;
        for (guint i = 0; i < access->ins->n_vec; i++)
            if (place_listed(code, ins, code->places[access->ins->vec + i]))
                return TRUE;
    }
    return FALSE;
}

static gboolean path_can_go(PtxWarp *warp, PtxPath *path, guint64 *now_ps)
{
    const PtxGrid *grid = warp->cta->grid;
    switch ((PtxPathState)path->state) {
    case PATH_READY: return TRUE;
    case PATH_LOAD: return !path_must_wait(warp, path, &path->frame->code->ins[path->pc]);
    case PATH_SLEEP:
    case PATH_MBARRIER:
        if (*now_ps == G_MAXUINT64)
            *now_ps = grid->host->now_ps(grid->user);
        path->timed_out = path->wake_ps <= *now_ps;
        return path->timed_out;
    default: return FALSE; /* what ends the wait makes the path ready */
    }
}

/* The first path of the order that can go on, made current; NULL: none. */
static PtxPath *warp_pick(PtxWarp *warp)
{
    guint64 now_ps = G_MAXUINT64;
    if (warp->n_paths > 1)
        ptx_warp_merge(warp);
    for (PtxPath *path = warp->head; path; path = path->next)
        if (path_can_go(warp, path, &now_ps)) {
            path->state = PATH_READY;
            ptx_warp_enter(warp, path);
            return path;
        }
    return NULL;
}

/* No path can go: is it for a load, which will come, or for others, who may need the lanes at a join? */
static PtxRun warp_idle(PtxWarp *warp)
{
    warp->wake_ps = G_MAXUINT64;
    for (PtxPath *path = warp->head; path; path = path->next)
        if (path->state == PATH_SLEEP || path->state == PATH_MBARRIER)
            warp->wake_ps = MIN(warp->wake_ps, path->wake_ps);
    return warp->wake_ps != G_MAXUINT64 ? PTX_RUN_SLEEP : PTX_RUN_WAIT;
}

static gboolean warp_waits_for_memory(const PtxWarp *warp)
{
    for (const PtxPath *path = warp->head; path; path = path->next)
        if (path->state == PATH_LOAD || path->state == PATH_ACCESS || path->state == PATH_GROUP)
            return TRUE;
    return FALSE;
}

/* ---- the loop */

typedef enum { GO_ON, GO_PICK, GO_ACCESS, GO_TURN, GO_FAULT } Go;

/* What lanes that part and meet again take beside their instructions and the branch. Source: h100/memory.csv, branch:
 * divergent 16/16, 159.8 clk, of which 107.6 are both sides and 18 and 9 branches. */
#define DIVERGENCE (25u * COST_CLK)

static PtxStep step_branch(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 taken)
{
    gboolean back = ins->target <= path->pc;
    if (taken == 0) {
        path->pc++;
        return STEP_JUMP;
    }
    if (taken != path->mask) {
        guint32 other = path->pc + 1;
        path->pc = ins->target;
        warp->costs.sum[COST_STALL] += DIVERGENCE;
        PtxPath *fall = ptx_path_split(warp, path, path->mask & ~taken, other, ins->join);
        fall->pc = other;
        if (back || other < ins->target) /* the lower one first, unless that would let a loop go round first */
            ptx_path_last(warp, path);
        if (back)
            ptx_path_back_branch(warp, path, ins->flags & FLAG_SPIN);
        return STEP_GONE; /* choose anew */
    }
    path->pc = ins->target;
    if (back && (warp->n_paths > 1 || warp->n_parked)) {
        ptx_path_back_branch(warp, path, ins->flags & FLAG_SPIN);
        return STEP_GONE;
    }
    return STEP_JUMP;
}

static inline guint32 guard_mask(const PtxPath *path, const PtxIns *ins)
{
    if (ins->guard == PLACE_NONE)
        return path->mask;
    guint32 predicate = *(const guint32 *)(const void *)(path->frame->regs + ins->guard);
    return path->mask & (ins->guard_negated ? ~predicate : predicate);
}

/* Before instructions of which others know: has the host let the time of those before pass? */
static gboolean settled(PtxWarp *warp, const PtxIns *ins)
{
    ptx_account(warp, ins);
    return !warp->cta->grid->host->keeps_time || warp->costs.sum[COST_STALL] == 0;
}

/* Before an instruction that passes the load/store unit: need it not wait there, or has it waited? */
static gboolean has_turned(PtxWarp *warp, const PtxIns *ins)
{
    const PtxGrid *grid = warp->cta->grid;
    if (warp->turned < ins->turns && grid->host->lsu_is_busy) {
        ptx_account(warp, ins);
        if (grid->host->lsu_is_busy(grid->user, warp))
            return FALSE;
    }
    warp->turned = 0;
    return TRUE;
}

/* Runs the current path from its pc on. There are two of it, so that only warps that are traced pay for it. */
static inline __attribute__((always_inline)) Go run_path(PtxWarp *warp, PtxPath *path, guint32 *budget,
                                                         const gboolean traced)
{
    const PtxIns *code = path->frame->code->ins, *ins = code + path->pc;
    warp->from = ins;
    for (;;) {
        if (G_UNLIKELY(ins->is_join) && path->join && path->join->pc == (guint32)(ins - code) &&
            path->join->frame == path->frame) {
            path->pc = (guint32)(ins - code);
            ptx_account(warp, ins);
            if (ptx_path_arrive(warp, path))
                return GO_PICK;
            continue;
        }
        if (G_UNLIKELY(ins->uses & path->frame->busy) && path_must_wait(warp, path, ins)) {
            path->pc = (guint32)(ins - code);
            path->state = PATH_LOAD;
            ptx_account(warp, ins);
            return GO_PICK;
        }
        guint32 mask = guard_mask(path, ins);
        if (G_LIKELY(ins->run != NULL)) {
            if (traced)
                ptx_trace_begin(warp, ins, mask);
            if (G_LIKELY(mask))
                ins->run(warp, ins, mask);
            if (traced)
                ptx_trace_end(warp, ins, mask, STEP_NEXT);
            ins++;
            continue;
        }
        path->pc = (guint32)(ins - code);
        if (G_UNLIKELY(ins->settles) && !settled(warp, ins)) {
            *budget = 0;
            return GO_PICK;
        }
        if (G_UNLIKELY(ins->turns) && (mask || ins->op == OP_BRA) && !has_turned(warp, ins))
            return GO_TURN;
        if (traced)
            ptx_trace_begin(warp, ins, mask);
        ptx_account(warp, ins + 1);
        PtxStep step = ins->op == OP_BRA ? step_branch(warp, path, ins, mask)
                       : mask            ? ins->step(warp, path, ins, mask)
                                         : STEP_NEXT;
        if (traced)
            ptx_trace_end(warp, ins, mask, step);
        switch (step) {
        case STEP_NEXT: ins++; continue;
        case STEP_JUMP: {
            guint32 from = (guint32)(ins - code), back = path->pc <= from ? from - path->pc + 1u : 1u;
            code = path->frame->code->ins;
            ins = warp->from = code + path->pc;
            if (*budget <= back) { /* time to look up */
                *budget = 0;
                return GO_PICK;
            }
            *budget -= back;
            continue;
        }
        case STEP_ACCESS: path->pc++; return GO_ACCESS;
        case STEP_FAULT: return GO_FAULT;
        default: return warp->handed ? GO_ACCESS : GO_PICK; /* STEP_AGAIN, STEP_GONE */
        }
    }
}

static Go warp_run_path(PtxWarp *warp, PtxPath *path, guint32 *budget) { return run_path(warp, path, budget, FALSE); }
static Go warp_trace_path(PtxWarp *warp, PtxPath *path, guint32 *budget) { return run_path(warp, path, budget, TRUE); }

PtxRun ptx_warp_run(PtxWarp *warp, guint32 budget, PtxAccess **access)
{
    *access = NULL;
    for (;;) {
        if (warp->cta->grid->fault.kind != PTX_FAULT_NONE)
            return PTX_RUN_FAULT;
        if (warp->live == 0) {
            ptx_warp_ended(warp);
            return PTX_RUN_EXIT;
        }
        if (budget == 0)
            return PTX_RUN_SLICE;
        PtxPath *path = warp_pick(warp);
        if (!path) {
            if (!warp_waits_for_memory(warp) && ptx_warp_release(warp))
                continue;
            return warp_idle(warp);
        }
        budget--;
        switch (warp->traced ? warp_trace_path(warp, path, &budget) : warp_run_path(warp, path, &budget)) {
        case GO_ACCESS:
            *access = warp->handed;
            warp->handed = NULL;
            return PTX_RUN_ACCESS;
        case GO_TURN: return PTX_RUN_TURN;
        case GO_FAULT: return PTX_RUN_FAULT;
        default: break;
        }
    }
}

/* ---- for reports */

guint32 ptx_warp_line(const PtxWarp *warp)
{
    const PtxPath *path = warp->current ? warp->current : warp->head;
    return path ? path->frame->code->ins[path->pc].statement_line : 0;
}

PtxPathState ptx_warp_waits(const PtxWarp *warp) { return warp->head ? (PtxPathState)warp->head->state : PATH_LOAD; }

const char *ptx_warp_state(const PtxWarp *warp)
{
    static const char *const texts[] = {[PATH_READY] = "can run",
                                        [PATH_LOAD] = "waits for a load",
                                        [PATH_ACCESS] = "waits for memory",
                                        [PATH_BARRIER] = "waits at a barrier",
                                        [PATH_GATHER] = "waits for lanes of its own warp",
                                        [PATH_CLUSTER] = "waits at the cluster's barrier",
                                        [PATH_SLEEP] = "sleeps",
                                        [PATH_GROUP] = "waits for asynchronous copies",
                                        [PATH_GRID] = "waits for the grid before it",
                                        [PATH_MBARRIER] = "waits for an mbarrier"};
    return warp->head ? texts[warp->head->state] : "has ended";
}
