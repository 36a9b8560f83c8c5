/* Operations on logical endpoints: made by fabric.try_*, handed to the host by fabric.submit, and what becomes of them.
 *
 * A put's bytes are read from shared memory when it is submitted: a program must not change them before
 * fabric.wait.sync_restrict::read says that they were read, so that none can tell. What was fetched is put there, and
 * the mbarrier told, when the host completes the operation; in between its thread goes on, and may end, as long as its
 * CTA lives. See docs/fabric-operations.md for what PTX leaves open. */
#include "ptx/run/exec.h"

#define UNIT 16u /* bytes: of transfers, of atom's blocks, of a transaction that is not counted in bytes */

static const char *kind_name(const PtxFabricOp *op)
{
    static const char *const names[] = {"fabric.try_put", "fabric.try_get", "fabric.try_red", "fabric.try_pullred",
                                        "fabric.try_atom"};
    return names[op->kind];
}

static gboolean fetches(const PtxFabricOp *op) { return op->kind == PTX_FABRIC_GET || op->kind == PTX_FABRIC_PULLRED; }

static void op_free(PtxFabricOp *op)
{
    g_free(op->block);
    g_free(op);
}

/* ---- fabric.try_* */

static PtxFabricKind kind_of(const PtxIns *ins)
{
    return ins->op == OP_FABRIC_PUT       ? PTX_FABRIC_PUT
           : ins->op == OP_FABRIC_GET     ? PTX_FABRIC_GET
           : ins->op == OP_FABRIC_RED     ? PTX_FABRIC_RED
           : ins->op == OP_FABRIC_PULLRED ? PTX_FABRIC_PULLRED
                                          : PTX_FABRIC_ATOM;
}

/* What PTX calls undefined is a fault, and says which rule it breaks. */
static gboolean check(PtxWarp *warp, const PtxIns *ins, const PtxFabricOp *op, guint lane, const guint64 shared[2])
{
    guint64 align = op->kind == PTX_FABRIC_ATOM ? ptx_types[ins->type].memory : UNIT;
    guint64 operand_align = ins->combine == W_CAS ? 2 * UNIT : UNIT;
    const char *what = op->bytes % UNIT                   ? "its size is a multiple of 16"
                       : shared[0] % UNIT                 ? "its address in shared memory is aligned to 16"
                       : shared[1] % operand_align        ? "its operands are aligned to 16, of cas to 32"
                       : op->offset % align               ? "its offset is aligned to 16, of atom to the type"
                       : op->counted && op->counter % 256 ? "its counter's offset is aligned to 256"
                       : op->counted && op->counter < op->offset + op->bytes && op->offset < op->counter + 8
                           ? "its counter lies outside the data"
                           : NULL;
    if (!what)
        return TRUE;
    ptx_fault(warp, ins, lane, PTX_FAULT_ILLEGAL_INSTRUCTION, op->offset, "%s to endpoint 0x%x: %s", kind_name(op),
              op->endpoint, what);
    return FALSE;
}

static void append(PtxCta *cta, PtxFabricOp *op)
{
    PtxFabricOp **at = &cta->fabric;
    while (*at)
        at = &(*at)->next;
    *at = op;
}

/* The own CTA's shared memory; NULL: a fault is set. */
static gboolean own_shared(PtxWarp *warp, const PtxIns *ins, guint64 va, guint32 bytes, guint lane, guint32 *at)
{
    PtxCta *cta;
    if (!ptx_shared_place(warp, warp->current, ins, va, bytes, lane, &cta, at))
        return FALSE;
    if (cta == warp->cta)
        return TRUE;
    ptx_fault(warp, ins, lane, PTX_FAULT_ILLEGAL_ADDRESS, va,
              "a fabric operation's memory and mbarrier are in its own CTA's shared memory");
    return FALSE;
}

static gboolean place(PtxWarp *warp, const PtxIns *ins, PtxFabricOp *op, guint lane, const guint64 shared[3])
{
    guint32 operands = ins->combine == W_CAS ? 2 * UNIT : UNIT;
    if (!own_shared(warp, ins, shared[0], op->bytes, lane, &op->shared_at) ||
        !own_shared(warp, ins, shared[2], 8, lane, &op->barrier_at) ||
        (op->kind == PTX_FABRIC_ATOM && !own_shared(warp, ins, shared[1], operands, lane, &op->operand_at)))
        return FALSE;
    if (ptx_mbarrier_reports(warp->cta, op->barrier_at))
        return TRUE;
    ptx_fault(warp, ins, lane, PTX_FAULT_BARRIER, op->barrier_at,
              "%s to endpoint 0x%x: its mbarrier was not initialised with .layout::v1", kind_name(op), op->endpoint);
    return FALSE;
}

static gboolean one_lane(PtxWarp *warp, const PtxIns *ins, guint lane, guint32 lanes, const guint64 shared[3])
{
    const guint32 *part = &warp->current->frame->code->places[ins->vec2];
    PtxFabricOp *op = g_new0(PtxFabricOp, 1);
    op->kind = (guint8)kind_of(ins);
    op->type = ins->type;
    op->op = ins->combine;
    op->acc = ins->order;
    op->multicast = (ins->mode & PTX_FABRIC_MULTIMEM) != 0;
    op->counted = (ins->mode & PTX_FABRIC_COUNTED) != 0;
    op->endpoint = ptx_lane_u32(warp, part[0], lane);
    op->offset = ptx_lane_get(warp, part[1], 8, lane);
    op->counter = op->counted ? ptx_lane_get(warp, part[2], 8, lane) : 0;
    op->byte_mask = ins->mode & PTX_FABRIC_MASKED ? (guint16)ptx_lane_get(warp, part[2], 2, lane) : 0xffffu;
    op->bytes = op->kind == PTX_FABRIC_ATOM ? UNIT : ptx_lane_u32(warp, ins->src[2], lane);
    op->ins = ins;
    op->warp = warp;
    op->cta = warp->cta;
    op->lanes = lanes;
    if (!check(warp, ins, op, lane, shared) || !place(warp, ins, op, lane, shared)) {
        op_free(op);
        return FALSE;
    }
    if (op->bytes)
        append(warp->cta, op);
    else
        op_free(op);
    return TRUE;
}

static void addresses(const PtxWarp *warp, const PtxIns *ins, guint64 va[3][PTX_LANES])
{
    ptx_addresses(warp, ins, 0, ins->imm, va[0]);
    if (ins->op == OP_FABRIC_ATOM)
        ptx_addresses(warp, ins, 3, 0, va[1]);
    ptx_addresses(warp, ins, 1, 0, va[2]);
}

PtxStep ptx_step_fabric(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask)
{
    guint64 va[3][PTX_LANES] = {{0}};
    (void)path;
    addresses(warp, ins, va);
    for (guint l = 0; l < PTX_LANES; l++) {
        const guint64 shared[3] = {va[0][l], va[1][l], va[2][l]};
        if ((mask >> l & 1) && !one_lane(warp, ins, l, 1u << l, shared))
            return STEP_FAULT;
    }
    return STEP_NEXT;
}

/* One operation of the whole warp. PTX wants all lanes, with the same operands. */
void ptx_run_pullred(PtxWarp *warp, const PtxIns *ins, guint32 mask)
{
    guint64 va[3][PTX_LANES] = {{0}};
    const guint32 *part = &warp->current->frame->code->places[ins->vec2];
    const char *differs = NULL;
    addresses(warp, ins, va);
    for (guint l = 1; l < PTX_LANES; l++)
        if (mask >> l & 1 && (va[0][l] != va[0][0] || va[2][l] != va[2][0] ||
                              ptx_lane_u32(warp, part[0], l) != ptx_lane_u32(warp, part[0], 0) ||
                              ptx_lane_get(warp, part[1], 8, l) != ptx_lane_get(warp, part[1], 8, 0) ||
                              ptx_lane_u32(warp, ins->src[2], l) != ptx_lane_u32(warp, ins->src[2], 0)))
            differs = "the lanes of a warp give fabric.try_pullred different operands";
    if (mask != PTX_FULL_MASK)
        differs = "fabric.try_pullred takes all 32 lanes of its warp";
    const guint64 shared[3] = {va[0][0], 0, va[2][0]};
    if (differs)
        ptx_fault(warp, ins, (guint)__builtin_ctz(mask), PTX_FAULT_ILLEGAL_INSTRUCTION, mask,
                  "%s (endpoint 0x%x, lanes 0x%x)", differs, ptx_lane_u32(warp, part[0], (guint)__builtin_ctz(mask)),
                  mask);
    else
        one_lane(warp, ins, 0, PTX_FULL_MASK, shared);
}

/* ---- fabric.submit, fabric.wait */

static void read_source(PtxFabricOp *op)
{
    const guint8 *shared = op->cta->shared;
    guint32 bytes = op->kind == PTX_FABRIC_ATOM && op->op == W_CAS ? 2 * UNIT : op->bytes;
    op->block = g_malloc0(bytes);
    if (op->kind == PTX_FABRIC_ATOM)
        memcpy(op->block, shared + op->operand_at, bytes);
    else if (!fetches(op))
        memcpy(op->block, shared + op->shared_at, bytes);
}

static PtxStep submit(PtxWarp *warp, const PtxIns *ins, guint32 mask)
{
    const PtxGrid *grid = warp->cta->grid;
    guint lane = (guint)__builtin_ctz(mask);
    for (PtxFabricOp *op = warp->cta->fabric, *next; op; op = next) {
        next = op->next;
        if (op->warp != warp || op->submitted || !(op->lanes & mask) || (ins->mode == W_FETCHING && !fetches(op)))
            continue;
        if (!grid->host->fabric)
            return ptx_fault(warp, op->ins, lane, PTX_FAULT_ILLEGAL_INSTRUCTION, op->endpoint,
                             "%s to endpoint 0x%x: there are no logical endpoints here", kind_name(op), op->endpoint);
        op->submitted = TRUE;
        op->group = warp->fabric_group;
        op->read = fetches(op);
        read_source(op);
        grid->host->fabric(grid->user, op);
    }
    if (ins->mode == W_COMMIT_GROUP)
        warp->fabric_group++;
    return STEP_NEXT;
}

/* Groups are the warp's: lanes that submit at different times have theirs counted together, so that a wait lasts
 * rather longer than shorter. What is submitted without a group belongs to the next one. */
static PtxStep wait_reads(PtxWarp *warp, PtxPath *path, guint32 mask, guint64 most)
{
    for (const PtxFabricOp *op = warp->cta->fabric; op; op = op->next)
        if (op->warp == warp && op->submitted && !op->read && (op->lanes & mask) &&
            (most == 0 || op->group + most < warp->fabric_group)) {
            path->state = PATH_GROUP;
            return STEP_AGAIN;
        }
    return STEP_NEXT;
}

PtxStep ptx_step_fabric_order(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask)
{
    return ins->op == OP_FABRIC_SUBMIT ? submit(warp, ins, mask) : wait_reads(warp, path, mask, ins->imm);
}

/* ---- what the host says */

void ptx_fabric_read(PtxFabricOp *op)
{
    gboolean woken = FALSE;
    op->read = TRUE;
    for (PtxPath *path = op->cta ? op->warp->head : NULL; path; path = path->next)
        if (path->state == PATH_GROUP) {
            path->state = PATH_READY;
            woken = TRUE;
        }
    if (woken)
        ptx_warp_wake(op->warp, PTX_WAKE_MBARRIER);
}

void ptx_fabric_complete(PtxFabricOp *op, guint8 report)
{
    PtxCta *cta = op->cta;
    if (!op->read)
        ptx_fabric_read(op);
    if (cta) {
        PtxFabricOp **at = &cta->fabric;
        while (*at != op)
            at = &(*at)->next;
        *at = op->next;
        if (!report && (fetches(op) || op->kind == PTX_FABRIC_ATOM))
            memcpy(cta->shared + op->shared_at, op->block, op->bytes);
        if (report)
            ptx_mbarrier_report(cta, op->barrier_at, report);
        ptx_mbarrier_complete_tx(cta, op->barrier_at, fetches(op) ? op->bytes : op->bytes / UNIT);
    }
    op_free(op);
}

void ptx_fabric_drop(PtxFabricOp *op)
{
    PtxFabricOp **at = op->cta ? &op->cta->fabric : NULL;
    while (at && *at != op)
        at = &(*at)->next;
    if (at)
        *at = op->next;
    op_free(op);
}

/* ---- ends */

/* Lanes of a warp are about to end. An operation that only they can submit, and one that is under way when its CTA
 * ends, are errors: PTX asks for both before the grid's exit, and shared memory is gone with the CTA. */
gboolean ptx_fabric_lanes_end(PtxWarp *warp, const PtxIns *ins, guint32 mask)
{
    PtxCta *cta = warp->cta;
    gboolean last = cta->live == (guint32)__builtin_popcount(mask);
    guint lane = (guint)__builtin_ctz(mask);
    for (const PtxFabricOp *op = cta->fabric; op; op = op->next) {
        gboolean lost = op->warp == warp && !op->submitted && !(op->lanes & warp->live & ~mask);
        if (!lost && !last)
            continue;
        ptx_fault(warp, ins, lane, PTX_FAULT_ILLEGAL_INSTRUCTION, op->offset,
                  lost ? "%s to endpoint 0x%x at offset 0x%" G_GINT64_MODIFIER
                         "x was not submitted before its thread ended"
                       : "%s to endpoint 0x%x at offset 0x%" G_GINT64_MODIFIER
                         "x was not waited for: it is under way when its CTA ends",
                  kind_name(op), op->endpoint, op->offset);
        return FALSE;
    }
    return TRUE;
}

void ptx_fabric_clear(PtxCta *cta)
{
    for (PtxFabricOp *op = cta->fabric, *next; op; op = next) {
        next = op->next;
        op->cta = NULL;
        op->warp = NULL;
        op->next = NULL;
        if (!op->submitted)
            op_free(op);
    }
    cta->fabric = NULL;
}
