/* From an access of the executor to micro-operations of the model.
 *
 * The lanes that take part are put side by side: a micro-operation has the first n lanes of a warp. At most REG_BYTES
 * go in one, so that 32 lanes of 32 B take two. Addresses are checked here, lane by lane, so that a fault names the
 * lane; the model checks what is left of it (a multicast object that lacks memory of a member) when it gets there.
 * Bulk copies go the same way, 512 B at a time (block.c). */
#include <string.h>

#include "device/kernel/internal.h"
#include "model/memory/numeric.h"

/* ---- addresses */

static gboolean check_lanes(KernelWarp *warp, const PtxAccess *access)
{
    const VasMapping *mapping = NULL;
    guint64 good_from = 1, good_to = 0, bytes = 0; /* of the lane before: its mapping, and what lanes touch of it */
    for (guint32 left = access->mask; left; left &= left - 1) {
        guint lane = (guint)__builtin_ctz(left);
        guint64 va = access->va[lane];
        if (va >= good_from && va + access->width <= good_to) {
            bytes += access->width;
            continue;
        }
        const char *text = kernel_wrong_at(warp, access, va, access->width);
        if (text)
            return kernel_fault_at(warp, access, lane, va, text);
        if (mapping)
            kernel_account_bytes(warp->cta->launch, mapping, bytes);
        mapping = vas_find(warp->cta->launch->vas, va);
        if (mapping->object && access->kind == PTX_ACCESS_STORE) { /* each lane is looked at */
            warp->multicast |= 1u << lane;
            bytes = access->width;
            continue;
        }
        good_from = mapping->va;
        good_to = mapping->va + mapping->bytes;
        bytes = access->width;
    }
    if (mapping)
        kernel_account_bytes(warp->cta->launch, mapping, bytes);
    return TRUE;
}

gboolean kernel_issue_begin(KernelWarp *warp, PtxAccess *access)
{
    warp->access = access;
    warp->left = access->mask;
    warp->multicast = 0;
    warp->block_at = 0;
    warp->cta->launch->stats.accesses++;
    if (access->kind == PTX_ACCESS_FENCE)
        return TRUE;
    if (access->kind >= PTX_ACCESS_BULK_LOAD ? !kernel_block_check(warp, access) : !check_lanes(warp, access))
        return FALSE;
    kernel_account_multicast(warp->cta->launch, !warp->multicast                      ? access->kind
                                                : access->kind == PTX_ACCESS_BULK_RED ? PTX_ACCESS_MC_RED
                                                                                      : PTX_ACCESS_MC_STORE);
    return TRUE;
}

/* ---- micro-operations */

NumericType kernel_numeric_type(PtxType type)
{
    static const guint8 types[T_COUNT] = {
        [T_U32] = NUMERIC_U32,       [T_U64] = NUMERIC_U64,       [T_S32] = NUMERIC_S32,
        [T_S64] = NUMERIC_S64,       [T_B32] = NUMERIC_B32,       [T_B64] = NUMERIC_B64,
        [T_F16] = NUMERIC_F16,       [T_F16X2] = NUMERIC_F16X2,   [T_BF16] = NUMERIC_BF16,
        [T_BF16X2] = NUMERIC_BF16X2, [T_F32] = NUMERIC_F32,       [T_F64] = NUMERIC_F64,
        [T_E4M3] = NUMERIC_E4M3,     [T_E4M3X2] = NUMERIC_E4M3X2, [T_E4M3X4] = NUMERIC_E4M3X4,
        [T_E5M2] = NUMERIC_E5M2,     [T_E5M2X2] = NUMERIC_E5M2X2, [T_E5M2X4] = NUMERIC_E5M2X4};
    return (NumericType)types[type];
}

NumericOp kernel_numeric_op(PtxWord op)
{
    return op == W_MIN   ? NUMERIC_MIN
           : op == W_MAX ? NUMERIC_MAX
           : op == W_AND ? NUMERIC_AND
           : op == W_OR  ? NUMERIC_OR
           : op == W_XOR ? NUMERIC_XOR
                         : NUMERIC_ADD;
}

static const guint8 uop_kinds[] = {
    [PTX_ACCESS_LOAD] = UOP_LOAD,         [PTX_ACCESS_STORE] = UOP_STORE,     [PTX_ACCESS_RED] = UOP_RED,
    [PTX_ACCESS_ATOM] = UOP_ATOM,         [PTX_ACCESS_MC_LOAD] = UOP_MC_LOAD, [PTX_ACCESS_MC_STORE] = UOP_MC_STORE,
    [PTX_ACCESS_MC_RED] = UOP_MC_RED,     [PTX_ACCESS_FENCE] = UOP_FENCE,     [PTX_ACCESS_BULK_LOAD] = UOP_LOAD,
    [PTX_ACCESS_BULK_STORE] = UOP_STORE,  [PTX_ACCESS_BULK_RED] = UOP_RED,    [PTX_ACCESS_BULK_MC_STORE] = UOP_MC_STORE,
    [PTX_ACCESS_BULK_MC_RED] = UOP_MC_RED};

static gboolean is_load(UopKind kind) { return kind == UOP_LOAD || kind == UOP_ATOM || kind == UOP_MC_LOAD; }

/* What the unit that performs it has to know: the switch and the L2s for multicast, or an L2 for atomics. */
static void set_operation(KernelWarp *warp, const PtxAccess *access, Uop *uop)
{
    if (uop->kind == UOP_MC_LOAD || uop->kind == UOP_MC_RED) {
        uop->type = (guint8)kernel_numeric_type((PtxType)access->type);
        uop->op = (guint8)kernel_numeric_op((PtxWord)access->op);
        uop->acc = access->acc == W_ACC_F32 ? NUMERIC_ACC_F32 : access->acc == W_ACC_F16 ? NUMERIC_ACC_F16 : 0;
    } else if (uop->kind == UOP_RED || uop->kind == UOP_ATOM) {
        uop->type = access->type;
        uop->op = TXN_ATOM_CALL;
        uop->acc = access->op;
        uop->second = warp->second;
    }
}

/* Lanes side by side, from the first one on. */
static gboolean is_run(guint32 mask) { return ((mask + (mask & (0u - mask))) & mask) == 0; }

/* As many of `lanes` as fit. */
static void next_lanes(KernelWarp *warp, Uop *uop, guint32 lanes)
{
    PtxAccess *access = warp->access;
    guint width = access->width, most = REG_BYTES / width, n = 0;
    guint64 *lane_va = warp_lanes(warp->warp);
    gboolean contiguous = TRUE, stores = !is_load((UopKind)uop->kind) || uop->kind == UOP_ATOM;
    gboolean whole = is_run(lanes) && (guint)__builtin_popcount(lanes) <= most; /* all at once, side by side */
    guint32 taken = 0;
    if (stores && whole)
        memcpy(warp->out_bytes, access->bytes + (guint)__builtin_ctz(lanes) * width,
               (gsize)__builtin_popcount(lanes) * width);
    for (guint32 left = lanes; left && n < most; left &= left - 1, n++) {
        guint lane = (guint)__builtin_ctz(left);
        taken |= 1u << lane;
        lane_va[n] = access->va[lane];
        contiguous &= lane_va[n] == lane_va[0] + n * width;
        if (stores && !whole)
            memcpy(warp->out_bytes + n * width, access->bytes + lane * width, width);
        if (uop->second)
            memcpy(warp->second + n * width, access->compare + lane * 16, MIN(width, 16u));
    }
    warp->left &= ~taken;
    uop->width = (guint8)width;
    uop->lanes = (guint8)n;
    uop->va = lane_va[0];
    uop->lane_stride = (gint64)width;
    if (!contiguous || uop->second)
        uop->lane_va = lane_va;
    if (uop->kind == UOP_STORE && !contiguous && width < 4)
        uop->op = TXN_WRITE_BYTES;
    if (stores)
        uop->src = &warp->out;
    if (is_load((UopKind)uop->kind))
        uop->dst = kernel_load_begin(warp, access, taken, is_run(taken), 0);
}

/* A fence of the whole system waits for what the model says; one of the GPU takes its time, whatever is under way: what
 * it must keep in order goes the same way in the model, one after the other. */
static void next_fence(KernelWarp *warp, Uop *uop)
{
    const KernelLaunch *launch = warp->cta->launch;
    guint8 scope = warp->access->scope;
    warp->left = 0;
    uop->lanes = 1;
    if (scope == W_CTA) {
        uop->kind = UOP_DELAY;
        uop->value = KERNEL_FENCE_CTA_CLK * launch->host.clock_ps;
    } else if (scope == W_GPU || scope == W_CLUSTER) {
        uop->kind = UOP_DELAY;
        uop->value = launch->fabric->spec.sm.fence_gpu_ps;
        kernel_l1_clear(warp);
    } else {
        kernel_l1_clear(warp);
    }
}

gboolean kernel_issue_next(KernelWarp *warp, Uop *uop)
{
    PtxAccess *access = warp->access;
    gboolean bulk = access->kind >= PTX_ACCESS_BULK_LOAD;
    if (bulk ? warp->block_at >= access->block_bytes : warp->left == 0) {
        warp->access = NULL;
        if (!is_load((UopKind)uop_kinds[access->kind])) {
            kernel_bulk_completed(access);
            ptx_access_complete(access);
        }
        return FALSE;
    }
    guint32 multicast = warp->left & warp->multicast;
    *uop = (Uop){.kind = multicast ? UOP_MC_STORE : uop_kinds[access->kind]};
    if (access->kind == PTX_ACCESS_FENCE) {
        next_fence(warp, uop);
        return TRUE;
    }
    if (bulk)
        kernel_block_next(warp, uop);
    set_operation(warp, access, uop);
    if (!bulk)
        next_lanes(warp, uop, multicast ? multicast : warp->left);
    return TRUE;
}
