#include "ptx/run/path.h"

#include <string.h>

#define NOWHERE G_MAXUINT32

/* ---- frames */

static gboolean local_room(PtxWarp *warp, guint32 bytes)
{
    if (bytes <= warp->local_bytes)
        return TRUE;
    if (bytes > PTX_LOCAL_BYTES_MAX)
        return FALSE;
    guint32 wanted = MIN(MAX(bytes, 2 * warp->local_bytes), PTX_LOCAL_BYTES_MAX);
    guint8 *grown = g_malloc0((gsize)PTX_LANES * wanted);
    for (guint l = 0; l < PTX_LANES && warp->local_bytes; l++)
        memcpy(grown + (gsize)l * wanted, warp->local + (gsize)l * warp->local_bytes, warp->local_bytes);
    g_free(warp->local);
    warp->local = grown;
    warp->local_bytes = wanted;
    return TRUE;
}

PtxFrame *ptx_frame_new(PtxWarp *warp, PtxCode *code, PtxFrame *caller)
{
    guint32 base = caller ? (caller->local_base + caller->code->local_bytes + 15u) & ~15u : 0;
    if ((caller && caller->depth + 1 >= PTX_CALL_DEPTH_MAX) || !local_room(warp, base + code->local_bytes))
        return NULL;
    warp->cta->grid->bind(code);
    gsize head = (sizeof(PtxFrame) + 63u) & ~(gsize)63u, regs = (code->frame_bytes + 63u) & ~63u;
    gsize size = head + regs + (gsize)PTX_LANES * code->param_bytes;
    PtxFrame *frame = g_aligned_alloc0(1, size, 64);
    frame->code = code;
    frame->caller = caller ? ptx_frame_ref(caller) : NULL;
    frame->regs = (guint8 *)frame + head;
    frame->param = frame->regs + regs;
    frame->pool = ptx_image_pool(warp->cta->grid->image, code);
    frame->local_base = base;
    frame->depth = caller ? caller->depth + 1 : 0;
    frame->refs = 1;
    return frame;
}

PtxFrame *ptx_frame_ref(PtxFrame *frame)
{
    frame->refs++;
    return frame;
}

void ptx_frame_unref(PtxWarp *warp, PtxFrame *frame)
{
    while (frame && --frame->refs == 0) {
        PtxFrame *caller = frame->caller;
        g_aligned_free(frame);
        frame = caller;
    }
    (void)warp;
}

/* ---- the list of paths */

static void path_link(PtxWarp *warp, PtxPath *path)
{
    path->next = NULL;
    path->prev = warp->tail;
    *(warp->tail ? &warp->tail->next : &warp->head) = path;
    warp->tail = path;
}

static void path_unlink(PtxWarp *warp, PtxPath *path)
{
    *(path->prev ? &path->prev->next : &warp->head) = path->next;
    *(path->next ? &path->next->prev : &warp->tail) = path->prev;
}

static PtxJoin *join_ref(PtxJoin *join)
{
    if (join)
        join->refs++;
    return join;
}

static void join_unref(PtxWarp *warp, PtxJoin *join)
{
    while (join && --join->refs == 0) {
        PtxJoin *outer = join->outer;
        *(join->prev ? &join->prev->next : &warp->joins) = join->next;
        if (join->next)
            join->next->prev = join->prev;
        ptx_frame_unref(warp, join->frame);
        g_free(join);
        join = outer;
    }
}

PtxPath *ptx_path_new(PtxWarp *warp, PtxFrame *frame, PtxJoin *join, guint32 pc, guint32 mask)
{
    PtxPath *path = g_new0(PtxPath, 1);
    path->frame = ptx_frame_ref(frame);
    path->join = join_ref(join);
    path->pc = pc;
    path->mask = mask;
    path_link(warp, path);
    warp->n_paths++;
    return path;
}

void ptx_path_free(PtxWarp *warp, PtxPath *path)
{
    path_unlink(warp, path);
    warp->n_paths--;
    if (warp->current == path)
        warp->current = NULL;
    join_unref(warp, path->join);
    ptx_frame_unref(warp, path->frame);
    g_free(path);
}

void ptx_path_last(PtxWarp *warp, PtxPath *path)
{
    path_unlink(warp, path);
    path_link(warp, path);
}

void ptx_warp_enter(PtxWarp *warp, PtxPath *path)
{
    warp->current = path;
    warp->base[0] = path->frame->regs;
    warp->base[1] = path->frame->pool;
}

/* ---- joins */

PtxPath *ptx_path_split(PtxWarp *warp, PtxPath *path, guint32 away, guint32 to, guint32 at)
{
    PtxJoin *join = path->join;
    warp->cta->grid->divergences++;
    if (at != NOWHERE && !(join && join->pc == at && join->frame == path->frame)) {
        join = g_new0(PtxJoin, 1);
        join->outer = path->join; /* takes over the path's reference */
        join->frame = ptx_frame_ref(path->frame);
        join->pc = at;
        join->expected = path->mask;
        join->next = warp->joins;
        if (warp->joins)
            warp->joins->prev = join;
        warp->joins = join;
        path->join = join_ref(join);
    }
    path->mask &= ~away;
    return ptx_path_new(warp, path->frame, path->join, to, away);
}

static void join_complete(PtxWarp *warp, PtxJoin *join)
{
    guint32 mask = join->arrived;
    join->arrived = 0;
    join->turns = 0;
    warp->n_parked -= (guint32)__builtin_popcount(mask);
    ptx_path_new(warp, join->frame, join->outer, join->pc, mask);
}

gboolean ptx_path_arrive(PtxWarp *warp, PtxPath *path)
{
    PtxJoin *join = path->join;
    if (join->expected == path->mask) { /* alone, or the last of those that are left */
        path->join = join_ref(join->outer);
        join_unref(warp, join);
        return FALSE;
    }
    join->arrived |= path->mask;
    warp->n_parked += (guint32)__builtin_popcount(path->mask);
    join_ref(join);
    ptx_path_free(warp, path);
    if ((join->arrived & join->expected) == join->expected)
        join_complete(warp, join);
    join_unref(warp, join);
    return TRUE;
}

static void join_release(PtxWarp *warp, PtxJoin *join)
{
    warp->cta->grid->joins_given_up++;
    join->expected &= ~join->arrived;
    join_complete(warp, join);
}

/* Joins are kept alive by the paths that expect them; one that lanes wait at has such a path, or a lane of an
 * inner join that waits itself. */
gboolean ptx_warp_release(PtxWarp *warp)
{
    for (PtxJoin *join = warp->joins; join; join = join->next)
        if (join->arrived) {
            join_ref(join);
            join_release(warp, join);
            join_unref(warp, join);
            return TRUE;
        }
    return FALSE;
}

void ptx_path_back_branch(PtxWarp *warp, PtxPath *path, gboolean spin)
{
    const PtxGrid *grid = warp->cta->grid;
    guint32 most = spin ? grid->spin_branches : grid->back_branches;
    for (PtxJoin *join = path->join; join && warp->n_parked; join = join->outer)
        if (join->arrived && ++join->turns >= most)
            join_release(warp, join);
    if (warp->n_paths > 1)
        ptx_path_last(warp, path);
}

void ptx_path_exit(PtxWarp *warp, PtxPath *path, guint32 lanes)
{
    warp->live &= ~lanes;
    path->mask &= ~lanes;
    PtxJoin *join = join_ref(path->join);
    if (!path->mask)
        ptx_path_free(warp, path);
    for (PtxJoin *at = join; at; at = at->outer) {
        at->expected &= ~lanes;
        if (at->arrived && at->arrived == at->expected)
            join_complete(warp, at);
    }
    join_unref(warp, join);
}

void ptx_warp_merge(PtxWarp *warp)
{
    for (PtxPath *path = warp->head; path; path = path->next)
        for (PtxPath *other = path->next, *next; other; other = next) {
            next = other->next;
            if (path->state != PATH_READY || other->state != PATH_READY || path->pc != other->pc ||
                path->frame != other->frame || path->join != other->join || path->fenced || other->fenced)
                continue;
            path->mask |= other->mask;
            ptx_path_free(warp, other);
        }
}
