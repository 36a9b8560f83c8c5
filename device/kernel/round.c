/* Loops of several loads, as poll.c says: turns are compared, and the warp sleeps in one that changed nothing. */
#include "device/kernel/poll_state.h"

#include <string.h>

static KernelRoundLoad load_of(const PtxAccess *access)
{
    KernelRoundLoad load = {access->ins, access->mask, access->width, {0}};
    for (guint32 left = load.mask; left; left &= left - 1)
        load.va[__builtin_ctz(left)] = access->va[__builtin_ctz(left)];
    return load;
}

KernelRound *kernel_round_new(const PtxAccess *first)
{
    KernelRound *round = g_new0(KernelRound, 1);
    round->first = load_of(first);
    return round;
}

static gboolean begins(const KernelRound *round, const PtxAccess *access)
{
    if (round->first.ins != access->ins)
        return FALSE;
    KernelRoundLoad load = load_of(access);
    return !memcmp(&round->first, &load, sizeof load);
}

static gboolean add(KernelRound *round, const PtxAccess *access)
{
    if (round->n[round->now] == KERNEL_ROUND_LOADS)
        return FALSE;
    round->load[round->now][round->n[round->now]++] = load_of(access);
    return TRUE;
}

static gboolean repeats(const KernelRound *round)
{
    return round->n[0] == round->n[1] && !memcmp(round->load[0], round->load[1], round->n[0] * sizeof round->first);
}

static void next_turn(KernelRound *round)
{
    round->turns++;
    round->now = !round->now;
    round->n[round->now] = 0;
}

/* ---- the loop */

void kernel_round_end(KernelPoll *poll)
{
    poll->loads = 0;
    if (!poll->round)
        return;
    kernel_poll_unwatch(poll);
    g_clear_pointer(&poll->round_watch, g_free);
    g_clear_pointer(&poll->round, g_free);
    poll->real = FALSE;
    poll->ins = NULL;
    poll->loads_until = MIN(2 * poll->loads_until, ROUND_AFTER_MAX);
}

/* From here to the next turn no line that this turn read is written unseen; FALSE: some of them cannot be watched. */
static gboolean round_watch(KernelPoll *poll, guint width)
{
    const KernelRound *round = poll->round;
    if (!poll->round_watch)
        poll->round_watch = g_new0(PollWatch, KERNEL_ROUND_LOADS * PTX_LANES);
    kernel_poll_unwatch(poll);
    gboolean all = kernel_poll_watch(poll, poll->va, poll->mask, width, poll->watch, &poll->n_watches);
    for (guint i = 0; i < round->n[round->now]; i++) {
        const KernelRoundLoad *load = &round->load[round->now][i];
        all &= kernel_poll_watch(poll, load->va, load->mask, load->width, poll->round_watch, &poll->n_round_watches);
    }
    return all;
}

gboolean kernel_round_takes(KernelPoll *poll, PtxAccess *access)
{
    KernelWarp *warp = poll->warp;
    KernelRound *round = poll->round;
    if (!begins(round, access)) {
        if (!add(round, access))
            kernel_round_end(poll);
        return FALSE;
    }
    gboolean whole = poll->accesses + 1 + round->n[round->now] + poll->fences == warp->accesses && !poll->real;
    gboolean quiet = whole && poll->n_watches > 0 && repeats(round);
    poll->fences = 0;
    poll->accesses = warp->accesses;
    poll->period_ps = MAX(warp->time_ps - poll->issue_ps, 1u);
    poll->issue_ps = warp->time_ps;
    gboolean same = kernel_poll_stands_still(poll, access) && quiet && kernel_poll_holds_last(poll, access->width);
    if (same && (!poll->waits || round->turns > WAITS_TURNS)) {
        warp->cta->launch->stats.polls++;
        poll->access = access;
        poll->due_ps = 0;
        ptx_warp_still(warp->ptx, poll->beside);
    } else if (round->turns > ROUND_TURNS || !round_watch(poll, access->width)) {
        kernel_round_end(poll);
        return FALSE;
    } else {
        poll->real = TRUE;
    }
    next_turn(round);
    return poll->access != NULL;
}
