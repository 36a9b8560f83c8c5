/* What is known of a loop that polls (poll.c), and of one of several loads (round.c). */
#ifndef DEVICE_KERNEL_POLL_STATE_H
#define DEVICE_KERNEL_POLL_STATE_H

#include "device/kernel/internal.h"

/* Turns of a loop that waits at an mbarrier, some 10 us each, before it sleeps at its read instead, where what ends
 * such a wait is seen a read later. */
#define WAITS_TURNS 16u

/* Of loops of several loads: how many a warp makes before it is looked at so (twice as many each time that it was in
 * vain, up to the most), and how many turns are looked at. */
#define ROUND_AFTER 64u
#define ROUND_AFTER_MAX (1u << 20)
#define ROUND_TURNS 64u

/* What a warp loads from one load of a loop to the next time that it comes to it: the turn under way, and the one
 * before. Both have the loads in between alone. */
#define KERNEL_ROUND_LOADS 8u /* in a turn */

typedef struct {
    const PtxIns *ins;
    guint32 mask;
    guint32 width;
    guint64 va[PTX_LANES]; /* of lanes that are not in the mask: 0 */
} KernelRoundLoad;

typedef struct {
    KernelRoundLoad first, load[2][KERNEL_ROUND_LOADS];
    guint n[2], now, turns;
} KernelRound;

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

/* poll_watch.c: watches what the lanes read; FALSE: some of it cannot be watched. All watches of the loop end. */
gboolean kernel_poll_watch(KernelPoll *poll, const guint64 *vas, guint32 mask, guint width, PollWatch *watches,
                           guint32 *n);
void kernel_poll_unwatch(KernelPoll *poll);
/* Whether the warp stands exactly as at the read before (and how it stands now is kept for the next one); whether
 * memory has what that read brought; takes what it has. */
gboolean kernel_poll_stands_still(KernelPoll *poll, const PtxAccess *access);
gboolean kernel_poll_holds_last(const KernelPoll *poll, guint width);
void kernel_poll_take_value(const KernelPoll *poll, guint8 *bytes);
/* round.c: turns begin at this load; g_free() it. TRUE: the load at hand begins a turn like the one before, and is
 * answered without packets. No turns are looked at any more. */
KernelRound *kernel_round_new(const PtxAccess *first);
gboolean kernel_round_takes(KernelPoll *poll, PtxAccess *access);
void kernel_round_end(KernelPoll *poll);

#endif
