/* Warps that repeat themselves: they go round a loop, or wait for an mbarrier again and again, and all that they look
 * at is what their own cluster alone can change. Such a warp is put to rest until the cluster changes. So what nothing
 * can end costs nothing, nothing is due when nothing else is, and the run is told to be stuck where the warp stands.
 *
 * A warp that has asked for no memory for a while is looked at: after each turn (a slice, or a sleep) its picture is
 * compared with one that was taken before (ptx_warp_picture), which is taken anew after twice as many turns, so that a
 * cycle of any length is found. An equal picture, while the cluster did not change and the warp looked at no clock,
 * proves that it goes on so. A loop that looks at nothing waits for nothing, and is left to run. At a change the warp
 * goes on with the turn of its rhythm that is the first to see it. Left out: the share of its SM that its turns would
 * take from others, and their instructions. */
#include "device/kernel/internal.h"

/* Of its own time, before a warp is looked at: longer than what kernels that end wait so, and not long to simulate. */
#define LOOKED_AT_AFTER_PS (100u * PS_PER_US)
#define TURNS_FIRST 16u

struct KernelStill {
    GByteArray *picture, *now;
    guint64 changes, effects, tries, looks;
    guint32 pc, turns, turns_max;
    gboolean asleep, stale; /* pictures are taken of it asleep alone; and the one at hand is not */
    SimTime taken_ps, rests_ps, period_ps;
};

static void take(KernelStill *still, const PtxWarp *ptx, SimTime at_ps)
{
    ptx_warp_picture(ptx, still->picture);
    still->changes = ptx->cta->cluster_of->changes;
    still->effects = ptx->effects;
    still->tries = ptx->tries;
    still->looks = ptx->looks;
    still->stale = FALSE;
    still->pc = ptx_warp_pc(ptx);
    still->turns = 0;
    still->taken_ps = at_ps;
}

static gboolean is_as_taken(KernelStill *still, const PtxWarp *ptx)
{
    if (still->pc != ptx_warp_pc(ptx))
        return FALSE;
    ptx_warp_picture(ptx, still->now);
    return still->now->len == still->picture->len && !memcmp(still->now->data, still->picture->data, still->now->len);
}

gboolean kernel_still_takes(KernelWarp *warp, gboolean sleeps)
{
    PtxWarp *ptx = warp->ptx;
    PtxCluster *cluster = ptx->cta->cluster_of;
    KernelStill *still = warp->still;
    SimTime at_ps = sleeps ? ptx->wake_ps : warp->time_ps; /* when its next turn begins */
    if (warp->time_ps < warp->active_ps + LOOKED_AT_AFTER_PS || ptx->pending)
        return FALSE;
    if (!still) {
        still = warp->still = g_new0(KernelStill, 1);
        still->picture = g_byte_array_new();
        still->now = g_byte_array_new();
        still->turns_max = TURNS_FIRST;
        cluster->exact = TRUE;
        take(still, ptx, at_ps);
        return FALSE;
    }
    if (still->asleep && !sleeps)
        return FALSE;
    if (still->stale || still->changes != cluster->changes || still->effects != ptx->effects) {
        take(still, ptx, at_ps);
        return FALSE;
    }
    if (still->looks == ptx->looks) /* it waits for nothing: a loop without end, which a watchdog ends */
        return FALSE;
    if (!is_as_taken(still, ptx)) {
        if (++still->turns < still->turns_max)
            return FALSE;
        still->turns_max = MIN(2 * still->turns_max, G_MAXUINT32 / 4);
        take(still, ptx, at_ps);
        return FALSE;
    }
    if (!sleeps && still->tries != ptx->tries) { /* it rests at its mbarrier, which lets it go at once */
        still->asleep = still->stale = TRUE;
        return FALSE;
    }
    still->rests_ps = at_ps;
    still->period_ps = MAX(at_ps - MIN(still->taken_ps, at_ps), 1u);
    ptx_warp_still(ptx, TRUE);
    return TRUE;
}

void kernel_still_woken(KernelWarp *warp, SimTime now_ps)
{
    KernelStill *still = warp->still;
    SimTime late_ps = now_ps - MIN(now_ps, still->rests_ps);
    guint64 turns = (late_ps + still->period_ps - 1) / still->period_ps;
    warp->time_ps = MAX(warp->time_ps, still->rests_ps + turns * still->period_ps);
    warp->woken = TRUE;
    still->turns_max = TURNS_FIRST;
    still->asleep = FALSE;
    warp_unpark(warp->warp);
}

void kernel_still_clear(KernelWarp *warp)
{
    if (!warp->still)
        return;
    g_byte_array_unref(warp->still->picture);
    g_byte_array_unref(warp->still->now);
    g_clear_pointer(&warp->still, g_free);
}
