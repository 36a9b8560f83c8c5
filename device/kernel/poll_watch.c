/* What a loop that polls has read and how it stood then, and its sleep until some of that is written: poll.c. */
#include <string.h>

#include "device/kernel/poll_state.h"

static const guint8 *memory_at(const KernelLaunch *launch, guint64 va, MemRegion **region, guint64 *offset)
{
    return vas_poll(launch->vas, vas_find(launch->vas, va), va, region, offset);
}

void kernel_poll_take_value(const KernelPoll *poll, guint8 *bytes)
{
    guint width = poll->access->width;
    MemRegion *region;
    guint64 offset;
    for (guint32 left = poll->mask; left; left &= left - 1) {
        guint lane = (guint)__builtin_ctz(left);
        const guint8 *memory = memory_at(poll->warp->cta->launch, poll->va[lane], &region, &offset);
        if (memory)
            memory_move(bytes + lane * width, memory, width);
    }
}

gboolean kernel_poll_holds_last(const KernelPoll *poll, guint width)
{
    MemRegion *region;
    guint64 offset;
    for (guint32 left = poll->mask; left; left &= left - 1) {
        guint lane = (guint)__builtin_ctz(left);
        const guint8 *memory = memory_at(poll->warp->cta->launch, poll->va[lane], &region, &offset);
        if (!memory || memcmp(poll->last + lane * width, memory, width))
            return FALSE;
    }
    return TRUE;
}

/* ---- watches */

void kernel_poll_unwatch(KernelPoll *poll)
{
    Memory *memory = poll->warp->cta->launch->fabric->memory;
    for (guint32 w = 0; w < poll->n_watches; w++)
        memory_unwatch(memory, &poll->watch[w].watch);
    poll->n_watches = 0;
    for (guint32 w = 0; w < poll->n_round_watches; w++)
        memory_unwatch(memory, &poll->round_watch[w].watch);
    poll->n_round_watches = 0;
}

/* The first read of the loop's rhythm that sees what changed then. */
static void go_on(KernelPoll *poll, SimTime visible_ps)
{
    SimTime taken_ps = poll->issue_ps + poll->read_ps / 2;
    ptx_warp_still(poll->warp->ptx, FALSE);
    if (visible_ps > taken_ps) {
        guint64 turns = (visible_ps - taken_ps + poll->period_ps - 1) / poll->period_ps;
        taken_ps += turns * poll->period_ps;
        poll->issue_ps += turns * poll->period_ps;
        poll->warp->cta->launch->stats.polls += turns;
    }
    poll->due_ps = MAX(taken_ps, sim_now_ps(poll->warp->cta->launch->fabric->sim));
    warp_unpark(poll->warp->warp);
}

static void on_written(MemWatch *watch, SimTime visible_ps)
{
    PollWatch *of = EVENT_OWNER(watch, PollWatch, watch);
    KernelPoll *poll = of->poll;
    kernel_poll_unwatch(poll);
    poll->visible_ps = visible_ps;
    if (!poll->due_ps && poll->access)
        go_on(poll, visible_ps);
}

void kernel_poll_changed(KernelWarp *warp, SimTime now_ps)
{
    KernelPoll *poll = warp->poll;
    if (poll->due_ps)
        return;
    if (poll->waits) /* it is not in the middle of a turn, but at the mbarrier */
        poll->issue_ps = now_ps - MIN(now_ps, poll->read_ps / 2);
    go_on(poll, now_ps);
}

gboolean kernel_poll_watch(KernelPoll *poll, const guint64 *vas, guint32 mask, guint width, PollWatch *watches,
                           guint32 *n)
{
    const KernelLaunch *launch = poll->warp->cta->launch;
    gboolean all = TRUE;
    for (guint32 left = mask; left; left &= left - 1) {
        guint64 va = vas[__builtin_ctz(left)], offset;
        gboolean seen = FALSE;
        MemRegion *region = NULL;
        if (!memory_at(launch, va, &region, &offset)) {
            all = FALSE;
            continue;
        }
        for (guint32 w = 0; w < *n && !seen; w++)
            seen = watches[w].watch.region == region->id && watches[w].watch.offset == offset;
        if (seen)
            continue;
        PollWatch *of = &watches[(*n)++];
        of->poll = poll;
        memory_watch(launch->fabric->memory, &of->watch, region, offset, width, on_written);
    }
    return all;
}

/* ---- how it stands */

gboolean kernel_poll_stands_still(KernelPoll *poll, const PtxAccess *access)
{
    const PtxWarp *ptx = poll->warp->ptx;
    gsize bytes;
    const guint8 *at = ptx_access_registers(access, &bytes);
    guint64 changes = ptx->cta->cluster_of->changes;
    gboolean alone = ptx_warp_is_alone(ptx, access) && !poll->warp->changed;
    poll->beside = poll->looks != ptx->looks;
    poll->waits = poll->tries != ptx->tries;
    gboolean same = alone && poll->at == at && poll->register_bytes == bytes &&
                    (!poll->beside || poll->changes == changes) && poll->effects == ptx->effects &&
                    !memcmp(poll->registers, at, bytes);
    poll->warp->changed = FALSE;
    poll->changes = changes;
    poll->effects = ptx->effects;
    poll->looks = ptx->looks;
    poll->tries = ptx->tries;
    if (!alone) {
        poll->at = NULL;
        return FALSE;
    }
    if (poll->register_bytes != bytes) {
        g_free(poll->registers);
        poll->registers = g_malloc(bytes);
        poll->register_bytes = bytes;
    }
    if (!same)
        memcpy(poll->registers, at, bytes);
    poll->at = at;
    return same;
}
