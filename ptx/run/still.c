/* How a warp stands, as bytes: what all its later instructions depend on but memory, time and other warps.
 *
 * Two pictures that are equal are of a warp that has come back to where it was. Frames and joins are written by what is
 * in them, not by where they are, since a loop that calls or parts its lanes makes them anew at each turn. Left out:
 * what only costs time, and asynchronous copies, since the host takes no picture while one is under way. */
#include "ptx/run/exec.h"

static void put(GByteArray *to, const void *bytes, gsize n) { g_byte_array_append(to, bytes, (guint)n); }

static void put_frames(GByteArray *to, const PtxFrame *frame)
{
    for (; frame; frame = frame->caller) {
        const PtxCode *code = frame->code;
        put(to, &code, sizeof code);
        put(to, &frame->call, sizeof frame->call);
        put(to, &frame->return_pc, sizeof frame->return_pc);
        put(to, frame->regs, code->frame_bytes);
        put(to, frame->param, (gsize)PTX_LANES * code->param_bytes);
    }
}

static void put_joins(GByteArray *to, const PtxJoin *join)
{
    for (; join; join = join->outer) {
        const guint32 words[] = {join->pc, join->expected, join->arrived, join->turns, join->frame->depth};
        put(to, words, sizeof words);
    }
}

void ptx_warp_picture(const PtxWarp *warp, GByteArray *to)
{
    g_byte_array_set_size(to, 0);
    for (const PtxPath *path = warp->head; path; path = path->next) {
        const guint32 words[] = {path->pc,
                                 path->mask,
                                 path->state,
                                 path->barrier,
                                 (guint32)path->fenced,
                                 (guint32)path->timed_out,
                                 path->gather,
                                 path->lanes,
                                 path->phase,
                                 path->at,
                                 path->rank};
        put(to, words, sizeof words);
        put_joins(to, path->join);
        put_frames(to, path->frame);
    }
    for (const PtxJoin *join = warp->joins; join; join = join->next) {
        put_joins(to, join);
        if (join->arrived)
            put_frames(to, join->frame);
    }
    const guint32 words[] = {warp->live, warp->cluster_phase, warp->carry};
    put(to, words, sizeof words);
    put(to, warp->local, (gsize)PTX_LANES * warp->local_bytes);
}

gboolean ptx_warp_is_alone(const PtxWarp *warp, const PtxAccess *access)
{
    guint32 waiting = 0;
    for (const PtxPath *path = warp->head; path; path = path->next)
        waiting += path->state == PATH_GATHER || path->state == PATH_BARRIER || path->state == PATH_CLUSTER;
    return warp->n_parked == 0 && warp->n_paths == waiting + 1 && warp->pending == access && !access->next;
}

guint32 ptx_warp_pc(const PtxWarp *warp) { return warp->head ? warp->head->pc : 0; }

void ptx_cluster_changed(PtxCluster *cluster)
{
    cluster->changes++;
    for (guint32 c = 0; cluster->n_still && c < cluster->size; c++)
        for (guint32 w = 0; cluster->n_still && w < cluster->cta[c]->grid->n_warps; w++) {
            PtxWarp *warp = &cluster->cta[c]->warp[w];
            if (warp->still) {
                ptx_warp_still(warp, FALSE);
                ptx_warp_wake(warp, PTX_WAKE_CHANGED);
            }
        }
}

void ptx_warp_still(PtxWarp *warp, gboolean still)
{
    if (warp->still == still)
        return;
    warp->still = still;
    warp->cta->cluster_of->n_still += still ? 1 : -1u;
}
