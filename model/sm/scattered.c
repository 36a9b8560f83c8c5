/* Scattered lanes: a memory instruction of a warp whose lanes have an address each. */
#include <string.h>

#include "model/sm/internal.h"

/* Lanes apart from each other whose addresses rise by one step: those of a line follow each other. */
static gboolean uop_rises(const Uop *uop)
{
    return !uop->lane_va && uop->lane_stride >= MAX(uop->width, 4) && uop->lane_stride % 4 == 0 &&
           uop->kind != UOP_RED && uop->kind != UOP_ATOM && uop->kind != UOP_MC_RED;
}

static guint32 warp_gather_rising(const Warp *warp, guint64 *first, guint64 *end, guint32 *word_mask)
{
    const Uop *uop = &warp->current;
    guint32 from = (guint32)__builtin_ctz(~warp->done_lanes), stride = (guint32)MIN(uop->lane_stride, LINE_BYTES);
    guint64 va = uop_lane_va(uop, from), mask = ((guint64)1 << (uop->width + 3u) / 4u) - 1;
    guint32 at = (guint32)(va % LINE_BYTES), n = MIN(uop->lanes - from, (LINE_BYTES - 1 - at) / stride + 1);
    for (guint32 l = 1; l < n; l *= 2) /* the words of so many lanes, then of twice as many, beyond the last one too */
        mask |= mask << l * stride / 4;
    *word_mask = (guint32)(mask & (((guint64)1 << ((n - 1) * stride + uop->width + 3u) / 4u) - 1));
    *first = va;
    *end = va + (n - 1) * stride + uop->width;
    return (n < 32 ? (1u << n) - 1 : G_MAXUINT32) << from;
}

/* The lanes that share the line of the first lane still to go, at most one a word for atomics, and a single one for
 * those below a word. */
static guint32 warp_gather(const Warp *warp, guint64 *first, guint64 *end, guint32 *word_mask)
{
    const Uop *uop = &warp->current;
    gboolean atomic = uop->kind == UOP_RED || uop->kind == UOP_ATOM || uop->kind == UOP_MC_RED;
    guint64 line = G_MAXUINT64;
    guint32 lanes = 0, words = (uop->width + 3u) / 4u, mask = 0;
    for (guint32 l = 0; l < uop->lanes; l++) {
        if (warp->done_lanes >> l & 1)
            continue;
        guint64 va = uop_lane_va(uop, l);
        if (line == G_MAXUINT64) {
            line = va / LINE_BYTES;
            *first = va;
            *end = va + uop->width;
        }
        if (va / LINE_BYTES != line)
            continue;
        guint32 touched = (guint32)((((guint64)1 << words) - 1) << (va % LINE_BYTES / 4));
        if (atomic && (mask & touched))
            continue;
        mask |= touched;
        lanes |= 1u << l;
        *first = MIN(*first, va);
        *end = MAX(*end, va + uop->width);
        if (atomic && uop->width < 4)
            break;
    }
    *word_mask = mask >> (*first % LINE_BYTES / 4);
    return lanes;
}

/* A line takes 128 B of a store's lanes at once. */
static SimTime warp_conflict_ps(const Warp *warp, guint32 lanes)
{
    const Uop *uop = &warp->current;
    guint32 bytes = (guint32)__builtin_popcount(lanes) * uop->width;
    if (uop->kind != UOP_STORE || bytes <= LINE_BYTES)
        return 0;
    return (bytes - 1) / LINE_BYTES * warp->sm->gpu->sm_spec->conflict_ps;
}

/* What the request carries of the lanes: values, and at DATA_SLOT_BYTES / 2 what atomics compare, or which bytes of a
 * store below a word are written. */
static void warp_fill(const Uop *uop, guint32 lanes, guint64 first, guint8 *data)
{
    if (uop_rises(uop) && uop->width == 4) { /* as LL's words */
        const guint8 *from = reg_lane(uop->src, 4, (guint32)__builtin_ctz(lanes));
        const gsize apart = uop->src->apart ? uop->src->apart : 4;
        for (guint32 n = (guint32)__builtin_popcount(lanes); n > 0; n--, data += uop->lane_stride, from += apart)
            memcpy(data, from, 4);
        return;
    }
    for (; lanes; lanes &= lanes - 1) {
        guint32 l = (guint32)__builtin_ctz(lanes);
        guint8 *at = data + (uop_lane_va(uop, l) - first);
        memory_move(at, reg_lane(uop->src, uop->width, l), uop->width);
        if (uop->second)
            memcpy(at + DATA_SLOT_BYTES / 2, uop->second + l * uop->width, uop->width);
        else if (uop->op == TXN_WRITE_BYTES)
            memset(at + DATA_SLOT_BYTES / 2, 1, uop->width);
    }
}

IssueResult warp_issue_scattered(Warp *warp, SimTime *cost_ps)
{
    const Uop *uop = &warp->current;
    guint32 all = uop->lanes >= 32 ? 0xffffffffu : (1u << uop->lanes) - 1;
    gboolean rises = uop_rises(uop);
    while (warp->done_lanes != all) {
        guint64 first = 0, end = 0;
        guint32 mask = 0, lanes = (rises ? warp_gather_rising : warp_gather)(warp, &first, &end, &mask);
        guint32 words = (guint32)(end - first + 3) / 4;
        guint8 data[DATA_SLOT_BYTES];
        GpuRequest request = {.bytes = (guint16)(end - first),
                              .tag = lanes,
                              .word_mask = words < 32 && mask == (1u << words) - 1 ? GPU_ALL_WORDS : mask};
        if (warp_at_limit(warp, uop))
            return ISSUE_STALLED;
        if (warp_translate(warp, first, request.bytes, &request)) {
            if (uop->src && uop->src->bytes) {
                memset(data, 0, sizeof data);
                warp_fill(uop, lanes, first, data);
                request.data = data;
            }
            if (!warp_send(warp, &request, cost_ps))
                return ISSUE_STALLED;
            *cost_ps += warp_conflict_ps(warp, lanes);
        }
        warp->done_lanes |= lanes;
    }
    return ISSUE_DONE;
}
