/* Loads, stores, atomics, multimem: addresses, state spaces, and what is put into a PtxAccess for the host. */
#include "ptx/run/exec.h"

guint64 ptx_addresses(const PtxWarp *warp, const PtxIns *ins, guint at, guint64 offset, guint64 va[PTX_LANES])
{
    guint64 bits = 0;
    if (ins->src_bytes[at] == 8)
        return warp->current->frame->code->hot->add_offset(va, ptx_lanes(warp, ins->src[at]), offset);
    if (ins->src_bytes[at] == 4) {
        const guint32 *base = ptx_lanes(warp, ins->src[at]);
        for (guint l = 0; l < PTX_LANES; l++)
            bits |= va[l] = (guint32)(base[l] + (guint32)offset);
    } else {
        for (guint l = 0; l < PTX_LANES; l++)
            va[l] = offset;
        bits = offset;
    }
    return bits;
}

PtxCta *ptx_shared_cta(PtxCta *cta, guint64 *offset)
{
    guint64 rank = (*offset & 0xffffffffu) >> PTX_CLUSTER_SHIFT;
    *offset &= (1u << PTX_CLUSTER_SHIFT) - 1;
    if (rank == 0)
        return cta;
    return rank <= cta->cluster_of->size ? cta->cluster_of->cta[rank - 1] : NULL;
}

guint8 *ptx_lane_memory(PtxWarp *warp, PtxPath *path, const PtxIns *ins, PtxSpace space, guint64 offset, guint32 bytes,
                        guint lane)
{
    PtxCta *cta = warp->cta;
    PtxFrame *frame = path->frame;
    guint64 end, from = offset;
    guint8 *memory = NULL;
    if (space == SPACE_SHARED || space == SPACE_SHARED_CLUSTER) {
        PtxCta *of = ptx_shared_cta(cta, &from);
        end = of ? of->shared_bytes : 0;
        memory = of ? of->shared : NULL;
    } else if (space == SPACE_LOCAL) {
        end = warp->local_bytes;
        memory = warp->local + (gsize)lane * warp->local_bytes;
    } else if (frame->code->function->entry && offset < frame->code->function->param_bytes) {
        end = frame->code->function->param_bytes;
        memory = cta->grid->param;
    } else {
        end = frame->code->param_bytes;
        memory = frame->param + (gsize)lane * frame->code->param_bytes;
    }
    if (!memory || from + bytes > end || from + bytes < from) {
        static const char *const names[] = {[SPACE_SHARED] = "shared",
                                            [SPACE_LOCAL] = "local",
                                            [SPACE_PARAM] = "parameter",
                                            [SPACE_SHARED_CLUSTER] = "shared"};
        ptx_fault(warp, ins, lane, PTX_FAULT_ILLEGAL_ADDRESS, offset,
                  "an access of %u bytes at 0x%" G_GINT64_MODIFIER "x lies outside the %" G_GUINT64_FORMAT
                  " bytes of %s memory",
                  bytes, offset, end, names[space]);
        return NULL;
    }
    if (offset & (MIN(bytes & (0 - bytes), 16u) - 1)) {
        ptx_fault(warp, ins, lane, PTX_FAULT_MISALIGNED, offset,
                  "an access of %u bytes at 0x%" G_GINT64_MODIFIER "x is not aligned", bytes, offset);
        return NULL;
    }
    return memory + from;
}

/* ---- the steps */

/* Before a release, a fence; TRUE: it has just been made, and the path waits for it. */
static gboolean fence_first(PtxWarp *warp, PtxPath *path, const PtxIns *ins)
{
    if (!(ins->flags & FLAG_RELEASE) || path->fenced) {
        path->fenced = FALSE;
        return FALSE;
    }
    PtxAccess *access = ptx_access_new(warp, path, ins, PTX_ACCESS_FENCE, path->mask);
    access->holds = TRUE;
    path->fenced = TRUE;
    path->access = access;
    path->state = PATH_ACCESS;
    return TRUE;
}

/* `bits`: those that the address of any lane has, of the mask or not. */
static gboolean check_alignment(PtxWarp *warp, const PtxIns *ins, guint32 mask, const guint64 *va, guint64 bits,
                                guint width)
{
    if (G_LIKELY(!(bits & (width - 1))))
        return TRUE;
    for (guint l = 0; l < PTX_LANES; l++)
        if ((mask >> l & 1) && (va[l] & (width - 1))) {
            ptx_fault(warp, ins, l, PTX_FAULT_MISALIGNED, va[l],
                      "an access of %u bytes at 0x%" G_GINT64_MODIFIER "x is not aligned", width, va[l]);
            return FALSE;
        }
    return TRUE;
}

/* What a path waits for after an access whose answer orders what follows, or whose result the same path needs at once.
 */
static PtxStep after_access(PtxPath *path, const PtxIns *ins, PtxAccess *access)
{
    if (!(ins->flags & FLAG_ACQUIRE))
        return STEP_ACCESS;
    access->holds = TRUE;
    path->access = access;
    path->state = PATH_ACCESS;
    return STEP_ACCESS;
}

/* The lanes of mask whose generic addresses lie in global memory; the others are replaced by offsets, by space. */
static guint32 global_lanes(guint32 mask, const guint64 *va)
{
    guint32 global = 0;
    for (guint l = 0; l < PTX_LANES; l++)
        global |= (guint32)(va[l] >> PTX_WINDOW_SHIFT == 0 || va[l] >> PTX_WINDOW_SHIFT > 3) << l;
    return global & mask;
}

void ptx_count_conflicts(PtxWarp *warp, guint32 mask, const guint64 *offset, guint width)
{
    guint8 used[32] = {0};
    guint32 word[32], most = 1;
    for (guint l = 0; l < PTX_LANES; l++) {
        guint32 at = (guint32)(offset[l] / 4), bank = at % 32;
        if (!(mask >> l & 1) || (used[bank] && word[bank] == at))
            continue;
        word[bank] = at;
        used[bank]++;
        most = MAX(most, used[bank]);
    }
    guint32 passes = width > 4 ? width / 4 : 1; /* wide accesses take several passes anyway: their cost has them */
    warp->shared_ways += MAX(most, passes) - passes;
}

static gboolean is_shared(PtxSpace space) { return space == SPACE_SHARED || space == SPACE_SHARED_CLUSTER; }

/* Loads and stores that need no host. FALSE: a fault. */
static gboolean access_inside(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask, PtxSpace space,
                              const guint64 *va, guint8 *bytes, gboolean stores)
{
    guint width = (guint)ins->n_vec * ins->dst_bytes;
    PtxCluster *cluster = warp->cta->cluster_of;
    gboolean changed = FALSE;
    for (guint l = 0; l < PTX_LANES; l++) {
        guint64 offset = va[l];
        if (!(mask >> l & 1))
            continue;
        PtxSpace of = space == SPACE_GENERIC ? ptx_space_of(va[l], &offset) : space;
        if (of == SPACE_CODE) {
            ptx_fault(warp, ins, l, PTX_FAULT_ILLEGAL_ADDRESS, va[l], "a function's address is not one of data");
            return FALSE;
        }
        guint8 *memory = ptx_lane_memory(warp, path, ins, of, offset, width, l);
        if (!memory)
            return FALSE;
        if (stores) {
            changed |= is_shared(of) && (!cluster->exact || memcmp(memory, bytes + l * width, width));
            memcpy(memory, bytes + l * width, width);
        } else {
            memcpy(bytes + l * width, memory, width);
            if (is_shared(of)) {
                warp->looked_at = offset;
                warp->looks++;
            }
        }
    }
    if (changed)
        ptx_cluster_changed(cluster);
    if (space == SPACE_SHARED)
        ptx_count_conflicts(warp, mask, va, width);
    return TRUE;
}

static void frame_offset(const PtxPath *path, const PtxIns *ins, guint64 va[PTX_LANES])
{
    if (ins->space != SPACE_LOCAL || ins->src[0] != PLACE_NONE)
        return;
    for (guint l = 0; l < PTX_LANES; l++)
        va[l] += path->frame->local_base;
}

static PtxStep load_constant(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask, const guint64 *va)
{
    const PtxGrid *grid = warp->cta->grid;
    guint width = (guint)ins->n_vec * ins->dst_bytes;
    _Alignas(16) guint8 bytes[PTX_LANES * PTX_ACCESS_BYTES];
    for (guint l = 0; l < PTX_LANES; l++)
        if ((mask >> l & 1) && !grid->host->read(grid->user, va[l], bytes + l * width, width))
            return ptx_fault(warp, ins, l, PTX_FAULT_ILLEGAL_ADDRESS, va[l],
                             "no constant lies at 0x%" G_GINT64_MODIFIER "x", va[l]);
    ptx_bytes_to_registers(path->frame, ins, mask, bytes, width);
    return STEP_NEXT;
}

/* The common case: an instruction that says that its memory is global. */
static PtxStep global_access(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask, PtxAccessKind kind)
{
    guint width = (guint)ins->n_vec * ins->dst_bytes;
    PtxAccess *access = ptx_access_new(warp, path, ins, kind, mask);
    access->width = (guint8)width;
    guint64 bits = ptx_addresses(warp, ins, 0, ins->imm, access->va);
    if (!check_alignment(warp, ins, mask, access->va, bits, width))
        return STEP_FAULT;
    if (kind == PTX_ACCESS_STORE) {
        ptx_registers_to_bytes(warp, &path->frame->code->places[ins->vec], ins->n_vec, ins->dst_bytes,
                               ins->src_bytes[3], access->bytes, width);
        return STEP_ACCESS;
    }
    access->target = TARGET_REGISTERS;
    ptx_mark_busy(path->frame, ins);
    return after_access(path, ins, access);
}

PtxStep ptx_step_ld(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask)
{
    if (ins->space == SPACE_GLOBAL)
        return global_access(warp, path, ins, mask, PTX_ACCESS_LOAD);
    guint64 va[PTX_LANES];
    guint width = (guint)ins->n_vec * ins->dst_bytes;
    guint64 bits = ptx_addresses(warp, ins, 0, ins->imm, va);
    frame_offset(path, ins, va);
    guint32 global = ins->space == SPACE_GENERIC ? global_lanes(mask, va) : 0;
    if (ins->space == SPACE_CONST)
        return load_constant(warp, path, ins, mask, va);
    if (mask & ~global) {
        _Alignas(16) guint8 bytes[PTX_LANES * PTX_ACCESS_BYTES];
        if (!access_inside(warp, path, ins, mask & ~global, (PtxSpace)ins->space, va, bytes, FALSE))
            return STEP_FAULT;
        ptx_bytes_to_registers(path->frame, ins, mask & ~global, bytes, width);
    }
    if (!global)
        return STEP_NEXT;
    if (!check_alignment(warp, ins, global, va, bits, width))
        return STEP_FAULT;
    PtxAccess *access = ptx_access_new(warp, path, ins, PTX_ACCESS_LOAD, global);
    access->width = (guint8)width;
    access->target = TARGET_REGISTERS;
    memcpy(access->va, va, sizeof va);
    ptx_mark_busy(path->frame, ins);
    return after_access(path, ins, access);
}

PtxStep ptx_step_st(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask)
{
    if (ins->space == SPACE_GLOBAL)
        return fence_first(warp, path, ins) ? STEP_AGAIN : global_access(warp, path, ins, mask, PTX_ACCESS_STORE);
    guint64 va[PTX_LANES];
    guint width = (guint)ins->n_vec * ins->dst_bytes;
    const guint32 *places = &path->frame->code->places[ins->vec];
    guint64 bits = ptx_addresses(warp, ins, 0, ins->imm, va);
    frame_offset(path, ins, va);
    guint32 global = ins->space == SPACE_GENERIC ? global_lanes(mask, va) : 0;
    if (global && fence_first(warp, path, ins))
        return STEP_AGAIN;
    if (mask & ~global) {
        _Alignas(16) guint8 bytes[PTX_LANES * PTX_ACCESS_BYTES];
        ptx_registers_to_bytes(warp, places, ins->n_vec, ins->dst_bytes, ins->src_bytes[3], bytes, width);
        if (!access_inside(warp, path, ins, mask & ~global, (PtxSpace)ins->space, va, bytes, TRUE))
            return STEP_FAULT;
    }
    if (!global)
        return STEP_NEXT;
    if (!check_alignment(warp, ins, global, va, bits, width))
        return STEP_FAULT;
    PtxAccess *access = ptx_access_new(warp, path, ins, PTX_ACCESS_STORE, global);
    access->width = (guint8)width;
    memcpy(access->va, va, sizeof va);
    ptx_registers_to_bytes(warp, places, ins->n_vec, ins->dst_bytes, ins->src_bytes[3], access->bytes, width);
    return STEP_ACCESS;
}

/* Lane after lane, in order. */
static gboolean atomic_inside(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask, const guint64 *va,
                              guint8 *bytes, const guint8 *compare)
{
    guint width = (guint)ins->n_vec * ins->dst_bytes;
    guint8 old[PTX_ACCESS_BYTES];
    gboolean changed = FALSE;
    for (guint l = 0; l < PTX_LANES; l++) {
        guint64 offset = va[l];
        if (!(mask >> l & 1))
            continue;
        PtxSpace of = ins->space == SPACE_GENERIC ? ptx_space_of(va[l], &offset) : (PtxSpace)ins->space;
        guint8 *memory = of == SPACE_CODE ? NULL : ptx_lane_memory(warp, path, ins, of, offset, width, l);
        if (!memory) {
            ptx_fault(warp, ins, l, PTX_FAULT_ILLEGAL_ADDRESS, va[l], "a function's address is not one of data");
            return FALSE;
        }
        memcpy(old, memory, width);
        for (guint e = 0; e < ins->n_vec; e++)
            ptx_atomic_apply((PtxType)ins->type, (PtxWord)ins->mode, ins->dst_bytes, memory + e * ins->dst_bytes,
                             bytes + l * width + e * ins->dst_bytes, compare + l * 16,
                             bytes + l * width + e * ins->dst_bytes, FALSE);
        changed |= memcmp(old, memory, width) != 0;
        warp->looked_at = offset;
        warp->looks++;
    }
    if (changed)
        ptx_cluster_changed(warp->cta->cluster_of);
    return TRUE;
}

PtxStep ptx_step_atom(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask)
{
    guint64 va[PTX_LANES];
    guint width = (guint)ins->n_vec * ins->dst_bytes;
    gboolean returns = ins->op == OP_ATOM;
    const guint32 *places = &path->frame->code->places[returns ? ins->vec2 : ins->vec];
    _Alignas(16) guint8 bytes[PTX_LANES * PTX_ACCESS_BYTES];
    guint8 compare[PTX_LANES * 16] = {0};
    guint64 bits = ptx_addresses(warp, ins, 0, ins->imm, va);
    guint32 global = ins->space == SPACE_GLOBAL ? mask : ins->space == SPACE_GENERIC ? global_lanes(mask, va) : 0;
    if (global && fence_first(warp, path, ins))
        return STEP_AGAIN;
    ptx_registers_to_bytes(warp, places, ins->n_vec, ins->dst_bytes, ins->src_bytes[returns ? 2 : 3], bytes, width);
    if (ins->mode == W_CAS) { /* PTX: atom.cas d, [a], compare, new */
        for (guint l = 0; l < PTX_LANES; l++)
            memcpy(compare + l * 16, bytes + l * width, MIN(width, 16u));
        ptx_registers_to_bytes(warp, &ins->src[1], 1, ins->dst_bytes, ins->src_bytes[1], bytes, width);
    }
    PtxAccess *access = NULL;
    if (global) {
        if (!check_alignment(warp, ins, global, va, bits, width))
            return STEP_FAULT;
        gboolean wanted = returns && ins->dst2_bytes == 0;
        access = ptx_access_new(warp, path, ins, wanted || returns ? PTX_ACCESS_ATOM : PTX_ACCESS_RED, global);
        access->width = (guint8)width;
        memcpy(access->va, va, sizeof va);
        memcpy(access->bytes, bytes, PTX_LANES * width);
        memcpy(access->compare, compare, sizeof compare);
        if (wanted) {
            access->target = TARGET_REGISTERS;
            ptx_mark_busy(path->frame, ins);
        }
    }
    if (mask & ~global) {
        if (!atomic_inside(warp, path, ins, mask & ~global, va, bytes, compare))
            return STEP_FAULT;
        if (returns)
            ptx_bytes_to_registers(path->frame, ins, mask & ~global, bytes, width);
    }
    return access ? after_access(path, ins, access) : STEP_NEXT;
}

PtxStep ptx_step_multimem(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask)
{
    guint64 va[PTX_LANES];
    guint width = (guint)ins->n_vec * ins->dst_bytes;
    PtxAccessKind kind = ins->op == OP_MC_LOAD    ? PTX_ACCESS_MC_LOAD
                         : ins->op == OP_MC_STORE ? PTX_ACCESS_MC_STORE
                                                  : PTX_ACCESS_MC_RED;
    if (fence_first(warp, path, ins))
        return STEP_AGAIN;
    if (!check_alignment(warp, ins, mask, va, ptx_addresses(warp, ins, 0, ins->imm, va), width))
        return STEP_FAULT;
    PtxAccess *access = ptx_access_new(warp, path, ins, kind, mask);
    access->width = (guint8)width;
    memcpy(access->va, va, sizeof va);
    if (kind == PTX_ACCESS_MC_LOAD) {
        access->target = TARGET_REGISTERS;
        ptx_mark_busy(path->frame, ins);
    } else {
        ptx_registers_to_bytes(warp, &path->frame->code->places[ins->vec], ins->n_vec, ins->dst_bytes,
                               ins->src_bytes[3], access->bytes, width);
    }
    return after_access(path, ins, access);
}

PtxStep ptx_step_fence(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask)
{
    if (ins->scope == W_CTA || path->fenced) { /* what a CTA does is in order here */
        path->fenced = FALSE;
        return STEP_NEXT;
    }
    PtxAccess *access = ptx_access_new(warp, path, ins, PTX_ACCESS_FENCE, mask);
    access->scope = ins->scope == W_GL ? W_GPU : ins->scope;
    access->holds = TRUE;
    path->fenced = TRUE;
    path->access = access;
    path->state = PATH_ACCESS;
    return STEP_AGAIN;
}
