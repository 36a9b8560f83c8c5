/* Where the time went: what latency_breakdown.c (stretches of time) and latency_breakdown_find.c (whose they are)
 * share. */
#ifndef OBSERVE_SERIES_LATENCY_BREAKDOWN_PARTS_H
#define OBSERVE_SERIES_LATENCY_BREAKDOWN_PARTS_H

#include "observe/series/latency_breakdown.h"

typedef enum { AT_SM, AT_QUEUE, AT_FLIGHT, AT_SWITCH, AT_HELD, AT_MEMORY, AT_RESULT } ChainStage;

/* A packet's way so far: all of its time up to last_ps has a reason. */
typedef struct Chain {
    SimTime last_ps, part_ps[LATENCY_REASONS];
    guint64 busy_ps; /* of the port whose queue it is in: how long its wire had been busy when it joined, */
    guint64 packets; /* and how many packets it had carried before that */
    ChainStage stage;
    LatencyReason held; /* AT_HELD: for what */
    const Link *link;   /* the last that it joined */
    guint16 gpu;        /* of a replica: the member, or the one that stands for a leaf (McRecord.spine_member) */
    guint16 n_members;
    struct Chain *member; /* its replicas, n_members of them; NULL before it is replicated */
    guint32 mark;         /* of who follows packets (packets.c): its replicas begin with the same */
    gboolean joined;      /* the same: its replicas' answers have become one */
} Chain;

typedef struct Request {
    Chain chain;
    SimTime start_ps;
    guint32 slice, lane; /* of who follows packets; 0: it is not followed */
    struct Request *next_free;
} Request;

/* What one answer of that kind may be for: more than one request of its requester. */
static inline gboolean packet_answers_many(const Packet *packet)
{
    return packet->kind == PACKET_ACK || packet->kind == PACKET_MC_DONE;
}

/* Of each request that a packet for one GPU is about. */
#define FOR_REQUESTS(breakdown, packet, request)                                                                       \
    for (guint32 txn = (packet)->txn, many = packet_answers_many(packet); txn != TXN_NONE;                             \
         txn = many ? *txn_next(&(breakdown)->fabric->txns[(packet)->src], txn) : TXN_NONE)                            \
        for (Request *request = latency_breakdown_find(breakdown, (packet)->src, txn); request; request = NULL)

typedef struct {
    const Link *link;
    const Switch *sw; /* whose records replicas on it and their answers are numbered by */
    gboolean from_gpu, from_sw;
    SimTime flight_ps; /* of its delay; the rest are stages at its ends */
    guint64 packets;   /* whose serialization has begun */
    guint64 busy_ps;   /* serialization that has begun so far */
} Wire;

struct LatencyBreakdown {
    Fabric *fabric;
    Wire *wire;       /* by the number of its link */
    GPtrArray **open; /* by GPU: Request by transaction; NULL: none, or it is not taken apart */
    guint32 n_gpus;
    Request *free; /* that have ended, for those that begin */
    guint64 seen;
    guint64 under_way; /* requests, all of them */
    SimTime begin_ps, idle_from_ps, idle_ps, end_ps;
    Chain *arrived; /* what came to a switch last */
    LatencySum sum[PACKET_MC_READ + 1];
};

Request *latency_breakdown_find(const LatencyBreakdown *breakdown, guint32 gpu,
                                guint32 txn); /* NULL: it is not taken apart */
/* The multicast request, or at a leaf switch the replica of a spine, that a record of a switch stands for. NULL: it is
 * not taken apart. */
Chain *latency_breakdown_find_record(const LatencyBreakdown *breakdown, const Switch *sw, guint32 record);
/* The replica that goes to a GPU, by the record of its request, whose number the replica and its answer carry. NULL: it
 * is not taken apart. */
Chain *latency_breakdown_find_replica(const LatencyBreakdown *breakdown, const Switch *sw, guint32 record, guint32 gpu);
/* What a packet belongs to that joins or leaves a link's queue: a multicast request, a replica or its answer. NULL: to
 * none that is taken apart. */
Chain *latency_breakdown_find_on(const LatencyBreakdown *breakdown, const Wire *wire, const Packet *packet);
/* Of a multicast request at a switch: the requester's own, or at a leaf switch what a spine sent. */
Chain *latency_breakdown_find_at(const LatencyBreakdown *breakdown, ProbeStage stage, const Switch *sw,
                                 const Packet *packet, SimTime at_ps);
/* Its replicas begin, one for each member of the switch's entry. */
void latency_breakdown_replicate(Chain *chain, const Switch *sw, const Packet *packet);
void latency_breakdown_forget(LatencyBreakdown *breakdown, guint32 gpu, guint32 txn);

#endif
