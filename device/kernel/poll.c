/* Loops that poll: a warp that loads the same addresses again and again until what stands there changes.
 *
 * The first two loads of such a loop are real, and say what a read takes. From then on no packet goes: the next read's
 * value is taken from memory half its time after its issue, where the L2 would give it. If the loop is then found to
 * be in the same state as at its last read (all registers, nothing but arithmetic in between) and memory has what that
 * read brought, nothing can change before memory does: the warp sleeps, with a watch on the lines, and goes on with
 * the read of the loop's rhythm that is the first to see the write. So a waiting kernel costs nothing while it waits,
 * and its reads are counted as if it had made them (KernelStats.polls).
 * A loop that looks at shared memory or mbarriers too sleeps until its cluster changes, as well.
 * A loop of several loads (a flag, and a word that says that all is over) makes its reads in packets; a warp that has
 * done nothing but load for long is looked at turn by turn, from one of its loads to the next time that it comes to it,
 * and sleeps there when a turn in which none of its lines was written left it as it was.
 * A loop that counts its turns, looks at the time, or has other lanes of its warp do something meanwhile makes each of
 * its reads, without packets. Left out: the reads' load on the L2 and on links. */
#include <string.h>

#include "device/kernel/poll_state.h"

static gboolean is_same(const KernelPoll *poll, const PtxAccess *access)
{
    if (poll->ins != access->ins || poll->mask != access->mask || poll->accesses + 1 != poll->warp->accesses)
        return FALSE;
    for (guint32 left = access->mask; left; left &= left - 1) {
        guint lane = (guint)__builtin_ctz(left);
        if (poll->va[lane] != access->va[lane])
            return FALSE;
    }
    return TRUE;
}

static void begin(KernelPoll *poll, const PtxAccess *access)
{
    kernel_poll_unwatch(poll);
    poll->visible_ps = 0;
    poll->ins = access->ins;
    poll->mask = access->mask;
    memcpy(poll->va, access->va, sizeof poll->va);
    poll->turns = 0;
    poll->at = NULL;
}

gboolean kernel_poll_takes(KernelWarp *warp, PtxAccess *access)
{
    KernelPoll *poll = warp->poll;
    warp->accesses++;
    if (access->kind != PTX_ACCESS_LOAD || access->target != TARGET_REGISTERS) {
        if (poll && access->kind == PTX_ACCESS_FENCE)
            poll->fences++;
        else if (poll)
            kernel_round_end(poll);
        return FALSE;
    }
    if (!poll) {
        poll = warp->poll = g_new0(KernelPoll, 1);
        poll->warp = warp;
        poll->loads_until = ROUND_AFTER;
    }
    if (poll->access || (poll->real && !poll->round)) /* another path of the warp, while the first one waits */
        return FALSE;
    if (poll->round)
        return kernel_round_takes(poll, access);
    gboolean again = is_same(poll, access);
    if (!again)
        begin(poll, access);
    poll->loads = again ? 0 : poll->loads + 1;
    if (poll->loads >= poll->loads_until && ptx_warp_is_alone(warp->ptx, access))
        poll->round = kernel_round_new(access);
    poll->fences = 0;
    poll->accesses = warp->accesses;
    poll->period_ps = MAX(warp->time_ps - poll->issue_ps, 1u);
    poll->issue_ps = warp->time_ps;
    if (!again || ++poll->turns < 2) {
        poll->real = again;
        return FALSE;
    }
    warp->cta->launch->stats.polls++;
    poll->access = access;
    poll->due_ps = poll->issue_ps + poll->read_ps / 2;
    if (poll->n_watches == 0)
        kernel_poll_watch(poll, poll->va, poll->mask, access->width, poll->watch, &poll->n_watches);
    if (kernel_poll_stands_still(poll, access) && kernel_poll_holds_last(poll, access->width) &&
        (!poll->waits || poll->turns > WAITS_TURNS)) {
        poll->due_ps = 0;
        ptx_warp_still(warp->ptx, poll->beside);
    }
    return TRUE;
}

void kernel_poll_answered(KernelWarp *warp, const PtxAccess *access, SimTime now_ps)
{
    KernelPoll *poll = warp->poll;
    if (!poll || !poll->real || poll->ins != access->ins)
        return;
    poll->real = FALSE;
    poll->read_ps = MAX(now_ps - MIN(poll->issue_ps, now_ps), 2u);
    memcpy(poll->last, access->bytes, PTX_LANES * (gsize)access->width);
}

gboolean kernel_poll_due(KernelWarp *warp, SimTime now_ps)
{
    KernelPoll *poll = warp->poll;
    if (!poll || !poll->access || !poll->due_ps || poll->due_ps > now_ps)
        return FALSE;
    PtxAccess *access = poll->access;
    memcpy(access->bytes, poll->last, PTX_LANES * (gsize)access->width);
    if (poll->visible_ps <= poll->due_ps)
        kernel_poll_take_value(poll, access->bytes);
    memcpy(poll->last, access->bytes, PTX_LANES * (gsize)access->width);
    warp->time_ps = MAX(warp->time_ps, poll->due_ps + poll->read_ps - poll->read_ps / 2) +
                    kernel_acquire_ps(warp, access);
    poll->access = NULL;
    ptx_access_complete(access);
    return TRUE;
}

SimTime kernel_poll_when(const KernelWarp *warp)
{
    const KernelPoll *poll = warp->poll;
    return poll && poll->access ? poll->due_ps : 0;
}

gboolean kernel_poll_waits(const KernelWarp *warp) { return warp->poll && warp->poll->access; }

gboolean kernel_poll_watches(const KernelWarp *warp, guint64 *va)
{
    const KernelPoll *poll = warp->poll;
    if (!poll || !poll->n_watches)
        return FALSE;
    *va = poll->va[__builtin_ctz(poll->mask)];
    return TRUE;
}

void kernel_poll_clear(KernelWarp *warp)
{
    if (!warp->poll)
        return;
    kernel_round_end(warp->poll);
    kernel_poll_unwatch(warp->poll);
    g_free(warp->poll->registers);
    g_clear_pointer(&warp->poll, g_free);
}
