/* Bulk copies as micro-operations: up to 32 pieces of 16 bytes each, side by side or, by tensor maps, row by row.
 *
 * A store or reduction whose place is a multicast address goes to all members, as those of multimem.cp do. */
#include <string.h>

#include "device/kernel/internal.h"

#define PIECE 16u

static guint64 piece_va(const PtxAccess *access, guint32 at)
{
    return access->piece_va ? access->piece_va[at / PIECE] : access->va[0] + at;
}

/* Pieces from `at` on that lie side by side, up to the end of a mapping. */
static guint32 run_bytes(const PtxAccess *access, guint32 at, guint64 end)
{
    guint64 va = piece_va(access, at);
    guint32 bytes = access->block_bytes - at;
    if (access->piece_va)
        for (bytes = PIECE; at + bytes < access->block_bytes && piece_va(access, at + bytes) == va + bytes;)
            bytes += PIECE;
    return va < end ? (guint32)MIN(bytes, end - va) : MIN(bytes, PIECE);
}

/* A store to multicast memory, and a reduction there, is another operation; one micro-operation has one kind. */
static gboolean to_members(const PtxAccess *access, const VasMapping *mapping)
{
    return mapping && mapping->object && (access->kind == PTX_ACCESS_BULK_STORE || access->kind == PTX_ACCESS_BULK_RED);
}

gboolean kernel_block_check(KernelWarp *warp, PtxAccess *access)
{
    for (guint32 at = 0; at < access->block_bytes;) {
        guint64 va = piece_va(access, at);
        const VasMapping *mapping = vas_find(warp->cta->launch->vas, va);
        guint32 bytes = run_bytes(access, at, mapping ? mapping->va + mapping->bytes : 0);
        const char *text = kernel_wrong_at(warp, access, va, bytes);
        if (text)
            return kernel_fault_at(warp, access, (guint)__builtin_ctz(access->mask), va, text);
        if (to_members(access, mapping))
            warp->multicast = access->mask;
        kernel_account_bytes(warp->cta->launch, mapping, bytes);
        at += bytes;
    }
    return TRUE;
}

void kernel_block_next(KernelWarp *warp, Uop *uop)
{
    PtxAccess *access = warp->access;
    guint32 at = warp->block_at, n = 0;
    guint64 *lane_va = warp_lanes(warp->warp);
    Vas *vas = warp->cta->launch->vas;
    gboolean contiguous = TRUE, members = to_members(access, vas_find(vas, piece_va(access, at)));
    for (; n < WARP_LANES && at + n * PIECE < access->block_bytes; n++) {
        guint64 va = piece_va(access, at + n * PIECE);
        if (n && to_members(access, vas_find(vas, va)) != members)
            break;
        lane_va[n] = va;
        contiguous &= va == lane_va[0] + n * PIECE;
    }
    if (members)
        uop->kind = access->kind == PTX_ACCESS_BULK_RED ? UOP_MC_RED : UOP_MC_STORE;
    uop->width = PIECE;
    uop->lanes = (guint8)n;
    uop->va = lane_va[0];
    uop->lane_stride = PIECE;
    if (!contiguous || uop->kind == UOP_RED) /* by elements, as atomics are */
        uop->lane_va = lane_va;
    warp->block_at += n * PIECE;
    if (access->kind == PTX_ACCESS_BULK_LOAD) {
        uop->dst = kernel_load_begin(warp, access, 0, FALSE, at);
    } else {
        memcpy(warp->out_bytes, access->block + at, n * PIECE);
        uop->src = &warp->out;
    }
}
