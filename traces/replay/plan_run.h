/* A plan under way: memory, multicast windows and flags of its ranks. Shared by plan_run.c, which
 * sets them up, and plan_program.c, the device program. */
#ifndef TRACES_REPLAY_PLAN_RUN_H
#define TRACES_REPLAY_PLAN_RUN_H

#include "device/device.h"
#include "traces/record/plan.h"
#include "traces/replay/episode.h"

#define PLAN_CHANNELS_MAX 256u /* signal flags of a rank */
#define PLAN_BARRIERS_MAX 64u

/* Flags of a rank, u64 each, 16 bytes apart: signals by channel; barriers; then one for each piece
 * of its buffers that holds packets. */
#define PLAN_FLAG_BYTES 16u
#define PLAN_FLAG_BARRIER PLAN_CHANNELS_MAX
#define PLAN_FLAG_PACKET (PLAN_CHANNELS_MAX + PLAN_BARRIERS_MAX)

typedef struct {
    McObject *object;
    FoAddress va;
    PlanBuffer buffer;
    GArray *ranks; /* of the plan; not owned */
} PlanWindow;

/* Where packets of any operation begin or end in a buffer: between two neighbours lies a piece
 * that every operation covers whole or not at all, so that one flag for each piece says what the
 * flag beside every packet says on hardware. */
typedef struct {
    GArray *cuts[PLAN_BUFFERS];  /* guint64 offsets, ascending */
    guint32 first[PLAN_BUFFERS]; /* flag of the first piece, from PLAN_FLAG_PACKET */
    guint32 flags;               /* of all buffers */
} PlanPackets;

typedef struct {
    MemRegion *region[PLAN_BUFFERS + 1]; /* the last one: flags */
    FoAddress va[PLAN_BUFFERS + 1];
    guint64 bytes[PLAN_BUFFERS + 1];
    guint32 *windows; /* by switch channel */
    guint32 *theirs;  /* by channel: its number at the peer */
    PlanPackets packets;
} PlanPlace;

typedef struct {
    Fabric *fabric;
    const Plan *plan;
    const guint16 *gpu; /* a copy */
    Vas *vas;
    PlanPlace *rank;
    GArray *windows; /* PlanWindow */
    guint64 chunk_bytes;
    guint32 running;
    TransferDone done;
    void *user;
} PlanRun;

typedef struct {
    const PlanRun *run;
    guint32 rank;
} PlanArgs;

/* The part of a reference that an operation's block moves: its offset, and how many bytes. */
guint64 plan_part(const PlanRun *run, const PlanOp *op, const PlanRef *ref, guint64 *bytes);

/* plan_packets.c. Collects the pieces of all ranks; their flags. */
void plan_packets_init(PlanRun *run);
void plan_packets_clear(PlanPackets *packets);
/* The flags of the pieces in bytes [offset, offset + bytes) of a rank's buffer: *n of them from the
 * number returned on. The range must be one of an operation's packets. */
guint32 plan_packets_flags(const PlanRun *run, guint32 rank, PlanBuffer buffer, guint64 offset, guint64 bytes,
                           guint32 *n);

/* One thread block of one rank: fo_cta says which. */
void plan_program(FoCta *cta, const void *args);

#endif
