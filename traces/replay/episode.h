/* An episode: one fabric from the first communication on it to the last, simulated on its own
 * clock. */
#ifndef TRACES_REPLAY_EPISODE_H
#define TRACES_REPLAY_EPISODE_H

#include <glib.h>

#include "traces/replay/replay.h"

/* A communication to run: what the record says, on GPUs. Folded ranks share a GPU: gpus are all
 * different. */
typedef struct {
    RecordOp op;
    RecordDtype dtype;
    RecordReduction reduction;
    guint64 bytes; /* nccl-tests' size */
    const guint16 *gpu;
    guint32 n;
    guint32 root;     /* place among the GPUs */
    const Plan *plan; /* of RECORD_PLAN; gpu and n are all its ranks */
    CollAlgo algo;    /* wanted of collectives: never COLL_BEST */
    CollProto proto;
} EpisodeWork;

/* The work of an item of the job's match: GPUs once each, in the group's order, into gpu, which has
 * room for all ranks. FALSE: all its ranks are on one GPU, and nothing crosses the fabric. */
gboolean episode_work(const ReplayJob *job, guint32 item, EpisodeWork *work, guint16 *gpu);
/* Puts the item's place in the trace before an error. FALSE, for returning it. */
gboolean episode_blame(const ReplayJob *job, guint32 item, GError **error);
/* The operation of the library that it is; COLL_OPS: none. */
CollOp episode_coll_op(RecordOp op);
/* What is asked of the library, but for algorithm and protocol: type, reduction, and the size
 * rounded up to whole accesses. */
CollSpec episode_coll_spec(const EpisodeWork *work);
/* The algorithm and protocol that a replay wants for the work. choice.c. */
void replay_choice(const ReplaySpec *spec, const EpisodeWork *work, CollAlgo *algo, CollProto *proto);
/* Finds the fastest for work of which neither algorithm nor protocol is wanted, unless it is known. choice.c. */
gboolean replay_choose_one(const ReplaySpec *spec, const EpisodeWork *work, GError **error);
/* CTAs that a collective gets; 0: the algorithm's own number. */
guint32 replay_ctas(const FabricSpec *fabric);
/* Equal keys: the same work. Caller frees. */
char *episode_work_key(const EpisodeWork *work);

typedef struct Episode Episode;
/* Called during episode_run when a piece of work has ended; algo and proto as in ReplayItem. */
typedef void (*EpisodeDone)(void *user, guint64 tag, CollAlgo algo, CollProto proto);

/* begin_ps: in the time of the replay, for statistics. */
Episode *episode_open(const ReplaySpec *spec, SimTime begin_ps, EpisodeDone done, void *user, GPtrArray *notes,
                      GError **error);
/* Adds what the fabric carried to usage, and frees everything. */
void episode_close(Episode *episode, ReplayUsage *usage);
SimTime episode_now_ps(const Episode *episode);
/* Starts work at the present time. */
gboolean episode_start(Episode *episode, const EpisodeWork *work, guint64 tag, GError **error);
/* Runs until something ends (TRUE, *ended) or the clock stands at until_ps. GError: stuck. */
gboolean episode_run(Episode *episode, SimTime until_ps, gboolean *ended, GError **error);

/* Usage: zero, add, free. */
void replay_usage_init(ReplayUsage *usage, const FabricSpec *fabric);
void replay_usage_add(ReplayUsage *to, const ReplayUsage *from, SimTime at_ps); /* what began at that time */
/* What a fabric carried. recording, which has ended: of it; NULL: none. figures: its points are wanted. */
void replay_usage_take(ReplayUsage *usage, const Fabric *fabric, const Recording *recording, gboolean figures);
void replay_usage_clear(ReplayUsage *usage);

/* transfer.c */
typedef void (*TransferDone)(void *user);
typedef struct {
    guint16 from, to; /* GPUs, different */
    guint64 bytes;
} TransferPart;
/* Stores from GPU to GPU, all at once; done is called from an event after the last, and the
 * Transfer is gone. */
gboolean transfer_start(Fabric *fabric, const TransferPart *parts, guint32 n, TransferDone done, void *user,
                        GError **error);
/* Runs a plan on its GPUs. */
gboolean plan_start(Fabric *fabric, const Plan *plan, const guint16 *gpu, TransferDone done, void *user,
                    GError **error);

#endif
