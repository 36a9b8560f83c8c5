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

#include "device/kernel/internal.h"
#include "device/kernel/round.h"

/* Turns of a loop that waits at an mbarrier, some 10 us each, before it sleeps at its read instead, where what ends
 * such a wait is seen a read later. */
#define WAITS_TURNS 16u

/* Of loops of several loads: how many a warp makes before it is looked at so (twice as many each time that it was in
 * vain, up to the most), and how many turns are looked at. */
#define ROUND_AFTER 64u
#define ROUND_AFTER_MAX (1u << 20)
#define ROUND_TURNS 64u

typedef struct {
    MemWatch watch;
    KernelPoll *poll;
} PollWatch;

struct KernelPoll {
    KernelWarp *warp;
    const PtxIns *ins;
    guint32 mask;
    guint64 va[PTX_LANES];
    guint8 last[PTX_LANES * PTX_ACCESS_BYTES]; /* what the read before brought */
    guint32 turns;                             /* reads of it so far, one after the other */
    guint64 accesses;                          /* of the warp, up to the last of them */
    SimTime issue_ps, period_ps, read_ps;      /* of the last read; from the one before to it; what a read takes */
    PtxAccess *access;                         /* the read under way, without packets */
    gboolean real;                             /* the one under way is in packets */
    SimTime due_ps;                            /* when the value is taken; 0: a watch says */
    SimTime visible_ps;                        /* of the last write that a watch told of */
    const guint8 *at;                          /* where the call that reads has its registers; NULL: not known */
    guint8 *registers;                         /* what they were at the last read */
    gsize register_bytes;
    guint64 changes, effects, looks, tries; /* of its cluster and warp then */
    gboolean beside;                        /* it looks at what its cluster changes, too, */
    gboolean waits;                         /* and waits for that at an mbarrier for most of its time */
    guint32 n_watches;
    guint32 loads, loads_until; /* of the warp since it did anything else, one unlike the other; when it is looked at */
    guint32 fences;             /* since the last read, which change nothing that it could see */
    KernelRound *round;         /* NULL: it is not */
    PollWatch *round_watch;     /* of the round's lines but the first load's */
    guint32 n_round_watches;
    PollWatch watch[PTX_LANES];
};

static const guint8 *memory_at(const KernelLaunch *launch, guint64 va, MemRegion **region, guint64 *offset)
{
    return vas_poll(launch->vas, vas_find(launch->vas, va), va, region, offset);
}

static void take_value(const KernelPoll *poll, guint8 *bytes)
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

static gboolean holds_last(const KernelPoll *poll, guint width)
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

static void unwatch(KernelPoll *poll)
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
    unwatch(poll);
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

/* Watches what the lanes read; FALSE: some of it cannot be watched. */
static gboolean watch(KernelPoll *poll, const guint64 *vas, guint32 mask, guint width, PollWatch *watches, guint32 *n)
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

/* ---- the loop */

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

/* Whether the warp stands exactly as at the read before; and how it stands now is kept for the next one. */
static gboolean stands_still(KernelPoll *poll, const PtxAccess *access)
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

static void begin(KernelPoll *poll, const PtxAccess *access)
{
    unwatch(poll);
    poll->visible_ps = 0;
    poll->ins = access->ins;
    poll->mask = access->mask;
    memcpy(poll->va, access->va, sizeof poll->va);
    poll->turns = 0;
    poll->at = NULL;
}

/* ---- loops of several loads */

static void round_end(KernelPoll *poll)
{
    poll->loads = 0;
    if (!poll->round)
        return;
    unwatch(poll);
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
    unwatch(poll);
    gboolean all = watch(poll, poll->va, poll->mask, width, poll->watch, &poll->n_watches);
    for (guint i = 0; i < round->n[round->now]; i++) {
        const KernelRoundLoad *load = &round->load[round->now][i];
        all &= watch(poll, load->va, load->mask, load->width, poll->round_watch, &poll->n_round_watches);
    }
    return all;
}

static gboolean round_takes(KernelPoll *poll, PtxAccess *access)
{
    KernelWarp *warp = poll->warp;
    KernelRound *round = poll->round;
    if (!kernel_round_begins(round, access)) {
        if (!kernel_round_add(round, access))
            round_end(poll);
        return FALSE;
    }
    gboolean whole = poll->accesses + 1 + round->n[round->now] + poll->fences == warp->accesses && !poll->real;
    gboolean quiet = whole && poll->n_watches > 0 && kernel_round_repeats(round);
    poll->fences = 0;
    poll->accesses = warp->accesses;
    poll->period_ps = MAX(warp->time_ps - poll->issue_ps, 1u);
    poll->issue_ps = warp->time_ps;
    gboolean same = stands_still(poll, access) && quiet && holds_last(poll, access->width);
    if (same && (!poll->waits || round->turns > WAITS_TURNS)) {
        warp->cta->launch->stats.polls++;
        poll->access = access;
        poll->due_ps = 0;
        ptx_warp_still(warp->ptx, poll->beside);
    } else if (round->turns > ROUND_TURNS || !round_watch(poll, access->width)) {
        round_end(poll);
        return FALSE;
    } else {
        poll->real = TRUE;
    }
    kernel_round_turn(round);
    return poll->access != NULL;
}

gboolean kernel_poll_takes(KernelWarp *warp, PtxAccess *access)
{
    KernelPoll *poll = warp->poll;
    warp->accesses++;
    if (access->kind != PTX_ACCESS_LOAD || access->target != TARGET_REGISTERS) {
        if (poll && access->kind == PTX_ACCESS_FENCE)
            poll->fences++;
        else if (poll)
            round_end(poll);
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
        return round_takes(poll, access);
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
        watch(poll, poll->va, poll->mask, access->width, poll->watch, &poll->n_watches);
    if (stands_still(poll, access) && holds_last(poll, access->width) && (!poll->waits || poll->turns > WAITS_TURNS)) {
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
        take_value(poll, access->bytes);
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
    round_end(warp->poll);
    unwatch(warp->poll);
    g_free(warp->poll->registers);
    g_clear_pointer(&warp->poll, g_free);
}
