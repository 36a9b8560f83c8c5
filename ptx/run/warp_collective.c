/* Instructions among the lanes of a warp: shfl, vote, match, redux, elect, activemask, bar.warp.sync; and where those
 * on matrices, and pull reductions, begin.
 *
 * One with a member mask waits until every lane of the mask that has not ended is there, whatever path it came by:
 * shuffles and votes at the same instruction of the same call, bar.warp.sync at any with the same mask. */
#include "ptx/run/exec.h"
#include "ptx/run/scalar.h"

static guint mask_operand(const PtxIns *ins)
{
    switch (ins->op) {
    case OP_SHFL: return 3;
    case OP_ELECT:
    case OP_BAR_WARP: return 0;
    case OP_FABRIC_PULLRED: return 3;
    default: return 1; /* vote, match, redux */
    }
}

/* ---- what they do, for the lanes that are there */

static void do_shuffle(PtxWarp *warp, const PtxIns *ins, guint32 mask)
{
    guint32 from[PTX_LANES], out[PTX_LANES], ok = 0;
    const guint32 *by = ptx_lanes(warp, ins->src[1]), *control = ptx_lanes(warp, ins->src[2]);
    memcpy(from, ptx_lanes(warp, ins->src[0]), sizeof from);
    for (guint l = 0; l < PTX_LANES; l++) {
        guint32 c = control[l] & 0x1f, segment = control[l] >> 8 & 0x1f, b = by[l] & 0x1f;
        guint32 most = (l & segment) | (c & ~segment), least = l & segment;
        gint32 source;
        gboolean inside;
        switch (ins->mode) {
        case W_UP:
            source = (gint32)l - (gint32)b;
            inside = source >= (gint32)most;
            break;
        case W_DOWN:
            source = (gint32)(l + b);
            inside = source <= (gint32)most;
            break;
        case W_BFLY:
            source = (gint32)(l ^ b);
            inside = source <= (gint32)most;
            break;
        default: source = (gint32)(least | (b & ~segment & 0x1f)); inside = source <= (gint32)most;
        }
        if (!inside)
            source = (gint32)l;
        out[l] = mask >> source & 1 ? from[source] : 0; /* from a lane that is not there: undefined, 0 as measured */
        ok |= (guint32)inside << l;
    }
    for (guint l = 0; l < PTX_LANES; l++) {
        if (!(mask >> l & 1))
            continue;
        if (ins->dst != PLACE_NONE)
            ptx_lane_set(warp, ins->dst, ins->dst_bytes, l, out[l]);
        if (ins->dst2 != PLACE_NONE)
            ptx_lane_set(warp, ins->dst2, 1, l, ok >> l & 1);
    }
}

static void set_all(PtxWarp *warp, guint32 place, guint bytes, guint32 mask, guint64 value)
{
    for (guint l = 0; l < PTX_LANES && place != PLACE_NONE; l++)
        if (mask >> l & 1)
            ptx_lane_set(warp, place, bytes, l, value);
}

static void do_vote(PtxWarp *warp, const PtxIns *ins, guint32 mask)
{
    guint32 yes = ptx_predicate(warp, ins->src[0]) & mask;
    guint64 value = ins->mode == W_BALLOT ? yes
                    : ins->mode == W_ALL  ? yes == mask
                    : ins->mode == W_ANY  ? yes != 0
                                          : yes == mask || yes == 0;
    set_all(warp, ins->dst, ins->dst_bytes, mask, value);
}

static void do_match(PtxWarp *warp, const PtxIns *ins, guint32 mask)
{
    gboolean all = ins->dst2 != PLACE_NONE || ins->mode == W_ALL;
    guint bytes = ins->src_bytes[0];
    guint64 value[PTX_LANES];
    guint32 same[PTX_LANES];
    for (guint l = 0; l < PTX_LANES; l++)
        value[l] = ptx_lane_get(warp, ins->src[0], bytes, l);
    for (guint l = 0; l < PTX_LANES; l++) {
        same[l] = 0;
        for (guint k = 0; k < PTX_LANES; k++)
            same[l] |= (guint32)(value[k] == value[l]) << k;
        same[l] &= mask;
    }
    for (guint l = 0; l < PTX_LANES; l++) {
        if (!(mask >> l & 1))
            continue;
        gboolean agree = same[l] == mask;
        if (ins->dst != PLACE_NONE)
            ptx_lane_set(warp, ins->dst, ins->dst_bytes, l, all ? (agree ? mask : 0) : same[l]);
        if (ins->dst2 != PLACE_NONE)
            ptx_lane_set(warp, ins->dst2, 1, l, agree);
    }
}

static void do_redux(PtxWarp *warp, const PtxIns *ins, guint32 mask)
{
    guint64 total = 0;
    gboolean first = TRUE;
    for (guint l = 0; l < PTX_LANES; l++) {
        if (!(mask >> l & 1))
            continue;
        guint64 value = ptx_lane_get(warp, ins->src[0], ins->src_bytes[0], l);
        if (first) {
            total = value;
            first = FALSE;
            if (ins->type == T_F32 && ins->flags & FLAG_ABS)
                total &= 0x7fffffffu;
            continue;
        }
        if (ins->type == T_F32) {
            PtxIns pick = *ins;
            guint64 in[5] = {total, value, 0, 0, 0};
            pick.op = ins->combine == W_MIN ? OP_MIN : OP_MAX;
            total = ptx_float_op(&pick, in);
        } else {
            guint32 word = (guint32)total, operand = (guint32)value;
            ptx_atomic_apply((PtxType)ins->type, (PtxWord)ins->combine, 4, (guint8 *)&word, (const guint8 *)&operand,
                             NULL, NULL, FALSE);
            total = word;
        }
    }
    set_all(warp, ins->dst, ins->dst_bytes, mask, total);
}

static void do_elect(PtxWarp *warp, const PtxIns *ins, guint32 mask)
{
    guint leader = (guint)__builtin_ctz(mask);
    set_all(warp, ins->dst, ins->dst_bytes, mask, leader);
    for (guint l = 0; l < PTX_LANES && ins->dst2 != PLACE_NONE; l++)
        if (mask >> l & 1)
            ptx_lane_set(warp, ins->dst2, 1, l, l == leader);
}

/* Each lane has a part of every matrix: hardware leaves open what comes out when some are missing. */
static void perform_matrix(PtxWarp *warp, const PtxIns *ins, guint32 mask)
{
    if (mask != PTX_FULL_MASK)
        ptx_fault(warp, ins, (guint)__builtin_ctz(~mask), PTX_FAULT_ILLEGAL_INSTRUCTION, ~mask,
                  "a matrix instruction takes all lanes of its warp; lanes 0x%x are not there", ~mask);
    else if (ins->op == OP_MMA)
        ptx_run_mma(warp, ins);
    else
        ptx_run_matrix_move(warp, ins);
}

static void perform(PtxWarp *warp, const PtxIns *ins, guint32 mask)
{
    switch (ins->op) {
    case OP_SHFL: do_shuffle(warp, ins, mask); break;
    case OP_VOTE: do_vote(warp, ins, mask); break;
    case OP_MATCH: do_match(warp, ins, mask); break;
    case OP_REDUX: do_redux(warp, ins, mask); break;
    case OP_ELECT: do_elect(warp, ins, mask); break;
    case OP_FABRIC_PULLRED: ptx_run_pullred(warp, ins, mask); break;
    default: perform_matrix(warp, ins, mask);
    }
}

/* ---- gathering */

static gboolean same_place(const PtxPath *a, const PtxPath *b)
{
    if (a->state != PATH_GATHER || b->state != PATH_GATHER || a->gather != b->gather || a->ins->op != b->ins->op)
        return FALSE;
    return a->ins->op == OP_BAR_WARP || (a->pc == b->pc && a->frame == b->frame);
}

/* Lanes that have ended, or that are off at this instruction though they are on one of its paths, do not come. */
static gboolean gather_complete(PtxWarp *warp, const PtxPath *path, guint32 *lanes)
{
    guint32 off = 0;
    *lanes = 0;
    for (const PtxPath *other = warp->head; other; other = other->next)
        if (other == path || same_place(path, other)) {
            *lanes |= other->lanes;
            off |= other->mask & ~other->lanes;
        }
    return (path->gather & warp->live & ~off & ~*lanes) == 0;
}

static void gather_finish(PtxWarp *warp, PtxPath *path, guint32 lanes)
{
    PtxPath *current = warp->current;
    ptx_warp_enter(warp, path);
    perform(warp, path->ins, lanes & path->gather ? lanes & path->gather : lanes);
    if (current)
        ptx_warp_enter(warp, current);
    for (PtxPath *other = warp->head; other; other = other->next)
        if (other != path && same_place(path, other)) {
            other->state = PATH_READY;
            other->pc++;
        }
    path->state = PATH_READY;
    path->pc++;
}

void ptx_gathers_check(PtxWarp *warp)
{
    guint32 lanes;
    for (PtxPath *path = warp->head; path; path = path->next)
        if (path->state == PATH_GATHER && gather_complete(warp, path, &lanes))
            gather_finish(warp, path, lanes);
}

/* Those lanes of mask that name the same members as its first one does: tiles of a warp have masks of their own. */
static guint32 same_members(const PtxWarp *warp, const PtxIns *ins, guint32 mask)
{
    guint32 place = ins->src[mask_operand(ins)], same = 0;
    if (place & PLACE_POOL)
        return mask;
    const guint32 *members = ptx_lanes(warp, place);
    guint32 first = members[__builtin_ctz(mask)];
    for (guint l = 0; l < PTX_LANES; l++)
        same |= (guint32)(members[l] == first) << l;
    return same & mask;
}

/* The lanes of mask name several sets of members. All of them here: one set after the other. Else the first set stays,
 * and waits for its others; the rest of the lanes come to this instruction as a path of their own. */
static guint32 part(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask)
{
    guint32 place = ins->src[mask_operand(ins)];
    gboolean here = TRUE;
    for (guint32 left = mask; left; left &= left - 1)
        here &= !(ptx_lane_u32(warp, place, (guint)__builtin_ctz(left)) & warp->live & ~path->mask);
    guint32 group = same_members(warp, ins, mask);
    if (!here) {
        ptx_path_split(warp, path, mask & ~group, path->pc, G_MAXUINT32);
        return group;
    }
    for (guint32 left = mask; left && ins->op != OP_BAR_WARP; left &= ~group) {
        group = same_members(warp, ins, left);
        guint32 members = ptx_lane_u32(warp, place, (guint)__builtin_ctz(left));
        perform(warp, ins, group & members ? group & members : group);
    }
    return 0;
}

PtxStep ptx_step_member(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask)
{
    if (ins->op == OP_ACTIVEMASK) {
        set_all(warp, ins->dst, ins->dst_bytes, mask, mask);
        return STEP_NEXT;
    }
    if (G_UNLIKELY(same_members(warp, ins, mask) != mask)) {
        mask = part(warp, path, ins, mask);
        if (mask == 0)
            return STEP_NEXT;
    }
    guint first = (guint)__builtin_ctz(mask);
    guint32 members = ptx_lane_u32(warp, ins->src[mask_operand(ins)], first), lanes;
    if (G_LIKELY((members & warp->live & ~path->mask) == 0)) { /* all are on this path */
        if (ins->op != OP_BAR_WARP)
            perform(warp, ins, mask & members ? mask & members : mask);
        return G_UNLIKELY(warp->cta->grid->fault.kind != PTX_FAULT_NONE) ? STEP_FAULT : STEP_NEXT;
    }
    path->ins = ins;
    path->lanes = mask;
    path->gather = members;
    path->state = PATH_GATHER;
    if (gather_complete(warp, path, &lanes)) {
        gather_finish(warp, path, lanes);
        return path->state == PATH_READY ? STEP_JUMP : STEP_AGAIN;
    }
    return STEP_AGAIN;
}
