/* Loops that poll: a warp that loads the same addresses again and again until what stands there changes.
 *
 * The first two loads of such a loop are real, and say what a read takes. From then on no packet goes: the next read's
 * value is taken from memory half its time after its issue, where the L2 would give it. If the loop is then found to
 * be in the same state as at its last read (all registers, nothing but arithmetic in between) and memory has what that
 * read brought, nothing can change before memory does: the warp sleeps, with a watch on the lines, and goes on with
 * the read of the loop's rhythm that is the first to see the write. So a waiting kernel costs nothing while it waits,
 * and its reads are counted as if it had made them (KernelStats.polls).
 * A loop that looks at shared memory or mbarriers too sleeps until its cluster changes, as well.
 * A loop that counts its turns, looks at the time, or has other lanes of its warp do something meanwhile makes each of
 * its reads, without packets. Left out: the reads' load on the L2 and on links. */
#include <string.h>

#include "device/kernel/internal.h"

/* Turns of a loop that waits at an mbarrier, some 10 us each, before it sleeps at its read instead, where what ends
 * such a wait is seen a read later. */
#define WAITS_TURNS 16u

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

static gboolean holds_last(const KernelPoll *poll)
{
    guint width = poll->access->width;
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

static void watch(KernelPoll *poll)
{
    const KernelLaunch *launch = poll->warp->cta->launch;
    guint width = poll->access->width;
    for (guint32 left = poll->mask; left; left &= left - 1) {
        guint64 va = poll->va[__builtin_ctz(left)], offset;
        gboolean seen = FALSE;
        MemRegion *region = NULL;
        if (!memory_at(launch, va, &region, &offset))
            continue;
        for (guint32 w = 0; w < poll->n_watches && !seen; w++)
            seen = poll->watch[w].watch.region == region->id && poll->watch[w].watch.offset == offset;
        if (seen)
            continue;
        PollWatch *of = &poll->watch[poll->n_watches++];
        of->poll = poll;
        memory_watch(launch->fabric->memory, &of->watch, region, offset, width, on_written);
    }
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

gboolean kernel_poll_takes(KernelWarp *warp, PtxAccess *access)
{
    KernelPoll *poll = warp->poll;
    warp->accesses++;
    if (access->kind != PTX_ACCESS_LOAD || access->target != TARGET_REGISTERS)
        return FALSE;
    if (!poll) {
        poll = warp->poll = g_new0(KernelPoll, 1);
        poll->warp = warp;
    }
    if (poll->access || poll->real) /* another path of the warp, while the first one waits */
        return FALSE;
    gboolean again = is_same(poll, access);
    if (!again)
        begin(poll, access);
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
        watch(poll);
    if (stands_still(poll, access) && holds_last(poll) && (!poll->waits || poll->turns > WAITS_TURNS)) {
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
    unwatch(warp->poll);
    g_free(warp->poll->registers);
    g_clear_pointer(&warp->poll, g_free);
}
