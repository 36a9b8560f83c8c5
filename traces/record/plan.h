/* An execution plan, as mscclpp runs them: for each rank thread blocks, for each of those a list of
 * operations on chunks of its input, output and scratch buffers, of other ranks' buffers, and of
 * multicast ("switch") channels.
 *
 * References are resolved while reading: an operation names ranks, buffers and channels directly. A
 * chunk is the message divided by the rank's number of chunks. */
#ifndef TRACES_RECORD_PLAN_H
#define TRACES_RECORD_PLAN_H

#include <glib.h>

#include "traces/record/record.h"

typedef enum {
    PLAN_NOP,     /* the block's threads wait for each other */
    PLAN_BARRIER, /* blocks of one rank wait for each other */
    PLAN_SIGNAL,
    PLAN_WAIT, /* a flag in the peer's memory; relaxed ones order nothing */
    PLAN_FLUSH,
    PLAN_PUT,                 /* local to remote: put, pws, pwsf, ppkt, rppkt */
    PLAN_GET,                 /* remote to local */
    PLAN_COPY,                /* local to local: copy, cpkt, upkt */
    PLAN_REDUCE,              /* sources to local, and to remotes where dst names some: re, res, rre, rres,
                    repkt, respkt, ... */
    PLAN_SWITCH_REDUCE_STORE, /* glres: load-reduce from a switch channel, store to one */
    PLAN_SWITCH_STORE,        /* gstore, gstorepkt: local to a switch channel */
    PLAN_SEM_ACQUIRE,
    PLAN_SEM_RELEASE,
    PLAN_KINDS
} PlanKind;

typedef enum { PLAN_INPUT, PLAN_OUTPUT, PLAN_SCRATCH, PLAN_BUFFERS } PlanBuffer;

typedef struct {
    PlanBuffer buffer;
    guint32 rank;        /* whose buffer; of a switch reference unused */
    gint32 channel;      /* index into the rank's switch channels; -1: memory */
    guint32 index, size; /* in chunks */
} PlanRef;

#define PLAN_REFS_MAX 64
typedef struct {
    PlanKind kind;
    gboolean signal, packet; /* put with signal; packet forms carry flags beside the data */
    guint32 packet_src;      /* sources from this one on are packets, waited for; n_src: none */
    guint32 packet_dst;      /* destinations from this one on are packets; n_dst: none */
    guint32 n_src, n_dst, n_peers;
    PlanRef *src, *dst;
    guint32 *peers;      /* ranks signalled or waited for, in order of channel_ids */
    guint32 *channels;   /* indices of those into the rank's channels */
    guint32 part, parts; /* a thread block group shares the operation: this block does part of parts */
    guint32 barrier_id, barrier_blocks;
    RecordReduction reduction;
    guint32 line_op; /* place in the block's list, for messages */
} PlanOp;

typedef struct {
    guint32 id;
    GArray *ops; /* PlanOp */
} PlanBlock;

typedef struct {
    PlanBuffer buffer;
    GArray *ranks; /* guint32 */
} PlanSwitch;

/* Memory and port channels are numbered each from 0, as mscclpp does. */
typedef enum { PLAN_MEMORY, PLAN_PORT, PLAN_CHANNEL_KINDS } PlanChannelKind;

typedef struct {
    PlanChannelKind kind;
    guint32 peer; /* the rank behind it */
} PlanChannel;

typedef struct {
    guint32 chunks[PLAN_BUFFERS];
    GArray *blocks;   /* PlanBlock */
    GArray *switches; /* PlanSwitch */
    GArray *channels; /* PlanChannel, of both kinds in the order in which the plan lists them */
} PlanRank;

struct Plan {
    char *name, *collective;
    RecordOp op;      /* of the collective; RECORD_PLAN: none of the known ones */
    gboolean packets; /* protocol LL */
    guint32 threads;
    guint64 bytes; /* the message it runs with */
    guint64 min_bytes, max_bytes;
    GArray *ranks; /* PlanRank */
};

void plan_free(Plan *plan); /* NULL: nothing */

#endif
