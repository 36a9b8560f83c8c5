/* Asynchronous copies: cp.async and its groups, bulk copies and reductions, st.async, red.async, st.bulk.
 *
 * What only touches shared memory is done at once. What comes from or goes to global memory is an access; its bytes
 * land, and its group or mbarrier learns of it, when the host completes it. Sources are read when the copy is issued.
 */
#include "ptx/run/exec.h"

enum { GROUPS_ASYNC, GROUPS_BULK };

/* ---- groups */

static PtxGroup *open_group(PtxWarp *warp, guint kind, guint32 mask)
{
    if (!warp->open[kind])
        warp->open[kind] = g_new0(PtxGroup, 1);
    warp->open[kind]->mask |= mask;
    warp->open[kind]->pending++;
    return warp->open[kind];
}

static PtxStep commit(PtxWarp *warp, guint kind, guint32 mask)
{
    PtxGroup *group = warp->open[kind] ? warp->open[kind] : g_new0(PtxGroup, 1);
    group->mask |= mask;
    group->older = warp->groups[kind];
    warp->groups[kind] = group;
    warp->open[kind] = NULL;
    return STEP_NEXT;
}

/* All but the newest `most` groups of these lanes are done; what is done and no longer needed goes. */
static PtxStep wait(PtxWarp *warp, PtxPath *path, guint kind, guint32 mask, guint64 most)
{
    guint64 seen = 0;
    for (const PtxGroup *group = warp->groups[kind]; group; group = group->older)
        if ((group->mask & mask) && seen++ >= most && group->pending) {
            path->state = PATH_GROUP;
            return STEP_AGAIN;
        }
    seen = 0;
    for (PtxGroup **at = &warp->groups[kind]; *at;) {
        PtxGroup *group = *at;
        if (seen++ >= most && group->pending == 0 && !(group->mask & ~mask)) {
            *at = group->older;
            g_free(group);
        } else {
            at = &group->older;
        }
    }
    return STEP_NEXT;
}

static void free_groups(PtxGroup *group)
{
    while (group) {
        PtxGroup *older = group->older;
        g_free(group);
        group = older;
    }
}

void ptx_warp_clear_async(PtxWarp *warp)
{
    for (guint kind = 0; kind < 2; kind++) {
        free_groups(warp->groups[kind]);
        g_free(warp->open[kind]);
    }
    while (warp->deferred) {
        PtxDeferred *next = warp->deferred->next;
        g_free(warp->deferred);
        warp->deferred = next;
    }
}

/* ---- when an access is complete */

static void check_deferred(PtxWarp *warp)
{
    for (PtxDeferred **at = &warp->deferred; *at;) {
        PtxDeferred *deferred = *at;
        gboolean waits = FALSE;
        for (const PtxAccess *access = warp->pending; access; access = access->next)
            waits |= access->target == TARGET_SHARED && access->serial <= deferred->serial &&
                     (access->mask >> deferred->lane & 1);
        if (waits) {
            at = &deferred->next;
            continue;
        }
        *at = deferred->next;
        ptx_mbarrier_arrive(deferred->cta, deferred->at, 1);
        g_free(deferred);
    }
}

void ptx_group_landed(PtxAccess *access)
{
    if (access->group && --access->group->pending == 0)
        for (PtxPath *path = access->warp->head; path; path = path->next)
            if (path->state == PATH_GROUP)
                path->state = PATH_READY;
}

static void land_copy(PtxAccess *access)
{
    PtxWarp *warp = access->warp;
    for (guint l = 0; l < PTX_LANES; l++)
        if (access->mask >> l & 1) {
            guint8 *to = warp->cta->shared + access->shared_at[l];
            memcpy(to, access->bytes + l * access->width, access->take_bytes[l]);
            memset(to + access->take_bytes[l], 0, access->fill_bytes - access->take_bytes[l]);
        }
    ptx_cluster_changed(warp->cta->cluster_of);
    check_deferred(warp);
    ptx_group_landed(access);
}

/* ---- cp.async */

static gboolean source_bytes(PtxWarp *warp, const PtxIns *ins, guint lane, guint32 size, guint8 *take)
{
    *take = (guint8)size;
    if (ins->src[3] == PLACE_NONE)
        return TRUE;
    if (ins->src_bytes[3] == 1) { /* ignore-src */
        if (ptx_predicate(warp, ins->src[3]) >> lane & 1)
            *take = 0;
        return TRUE;
    }
    guint32 wanted = ptx_lane_u32(warp, ins->src[3], lane);
    if (wanted > size) {
        ptx_fault(warp, ins, lane, PTX_FAULT_ILLEGAL_INSTRUCTION, wanted, "cp.async of %u bytes takes %u of them", size,
                  wanted);
        return FALSE;
    }
    *take = (guint8)wanted;
    return TRUE;
}

static PtxStep copy_async(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask)
{
    guint64 to[PTX_LANES], from[PTX_LANES];
    guint32 size = ptx_lane_u32(warp, ins->src[2], 0), reads = 0;
    guint8 take[PTX_LANES] = {0};
    guint32 at[PTX_LANES] = {0};
    if (size != 4 && size != 8 && size != 16)
        return ptx_fault(warp, ins, 0, PTX_FAULT_ILLEGAL_INSTRUCTION, size, "cp.async of %u bytes; 4, 8 or 16", size);
    ptx_addresses(warp, ins, 0, ins->imm, to);
    ptx_addresses(warp, ins, 1, 0, from);
    for (guint l = 0; l < PTX_LANES; l++) {
        if (!(mask >> l & 1))
            continue;
        if (!source_bytes(warp, ins, l, size, &take[l]))
            return STEP_FAULT;
        if (!ptx_lane_memory(warp, path, ins, SPACE_SHARED, to[l], size, l))
            return STEP_FAULT;
        if (from[l] & (size - 1))
            return ptx_fault(warp, ins, l, PTX_FAULT_MISALIGNED, from[l],
                             "a copy of %u bytes from 0x%" G_GINT64_MODIFIER "x is not aligned", size, from[l]);
        at[l] = (guint32)to[l];
        reads |= (guint32)(take[l] != 0) << l;
        if (!take[l])
            memset(warp->cta->shared + at[l], 0, size);
    }
    ptx_cluster_changed(warp->cta->cluster_of);
    if (!reads)
        return STEP_NEXT;
    PtxAccess *access = ptx_access_new(warp, path, ins, PTX_ACCESS_LOAD, reads);
    access->width = (guint8)size;
    access->fill_bytes = size;
    access->target = TARGET_SHARED;
    access->land = land_copy;
    access->group = open_group(warp, GROUPS_ASYNC, mask);
    access->serial = ++warp->serial;
    memcpy(access->va, from, sizeof from);
    memcpy(access->shared_at, at, sizeof at);
    memcpy(access->take_bytes, take, sizeof take);
    return STEP_ACCESS;
}

static PtxStep arrive_behind(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask)
{
    guint64 va[PTX_LANES];
    ptx_addresses(warp, ins, 0, ins->imm, va);
    for (guint l = 0; l < PTX_LANES; l++) {
        PtxCta *cta;
        guint32 at;
        guint64 word;
        if (!(mask >> l & 1))
            continue;
        guint8 *memory = ptx_shared_place(warp, path, ins, va[l], 8, l, &cta, &at);
        if (!memory)
            return STEP_FAULT;
        if (!(ins->flags & FLAG_NOINC)) { /* one more arrival is missing: the one that comes */
            memcpy(&word, memory, 8);
            word = (word & ~(guint64)0xfffff) | ((word + 1) & 0xfffff);
            memcpy(memory, &word, 8);
        }
        PtxDeferred *deferred = g_new0(PtxDeferred, 1);
        *deferred = (PtxDeferred){.next = warp->deferred, .serial = warp->serial, .lane = l, .at = at, .cta = cta};
        warp->deferred = deferred;
    }
    check_deferred(warp);
    ptx_cluster_changed(warp->cta->cluster_of);
    return STEP_NEXT;
}

PtxStep ptx_step_async(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask)
{
    switch (ins->op) {
    case OP_CP_ASYNC: return copy_async(warp, path, ins, mask);
    case OP_CP_COMMIT: return commit(warp, GROUPS_ASYNC, mask);
    case OP_CP_WAIT: return wait(warp, path, GROUPS_ASYNC, mask, ins->imm);
    case OP_CP_WAIT_ALL:
        if (warp->open[GROUPS_ASYNC])
            commit(warp, GROUPS_ASYNC, mask);
        return wait(warp, path, GROUPS_ASYNC, mask, 0);
    case OP_BULK_COMMIT: return commit(warp, GROUPS_BULK, mask);
    case OP_BULK_WAIT: return ins->flags & FLAG_READ ? STEP_NEXT : wait(warp, path, GROUPS_BULK, mask, ins->imm);
    default: return arrive_behind(warp, path, ins, mask);
    }
}
