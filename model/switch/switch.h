/* One NVSwitch: ingress, unicast route, multicast table, crossbar, egress, reduction unit.
 *
 * A packet arrives (switch_accept), is routed to an egress port by its destination, or replicated to the
 * ports of its multicast ID; it keeps its place in the ingress buffer until it leaves the egress. The
 * answers of replicas are gathered here, at the requester's port (reduction.c), and one goes back.
 *
 * Modelled: a virtual output queue for each (egress, VC), the pipeline's latency, the ingress held for
 * the rounds of a replication (its buffer until the replica with the longest queue before it has left),
 * tags and reduction buffer for each requester's port, in-order ingress
 * (a multicast request that waits for a tag blocks requests behind it).
 * Left out: crossbar output contention (its ports are 1.8 times as fast as a link), tile columns.
 * Sources: HARDWARE.md 2.1-2.3. */
#ifndef MODEL_SWITCH_SWITCH_H
#define MODEL_SWITCH_SWITCH_H

#include "model/link/ack_merge.h"
#include "model/link/link.h"
#include "model/shared/txn.h"
#include "model/switch/multicast_table.h"

typedef enum { REDUCE_ORDER_ARRIVAL, REDUCE_ORDER_RANK } ReduceOrder;
typedef enum { REDUCE_HOLD, REDUCE_ACCUMULATE } ReduceHold;

typedef struct {
    guint64 latency_ps;           /* ingress to egress */
    guint64 cycle_ps;             /* of the switch core */
    guint64 crossbar_bytes;       /* a cycle and port */
    guint64 multicast_tags;       /* outstanding multicast writes of a requester's port */
    guint64 reduction_tags;       /* outstanding ld_reduce of a requester's port */
    guint64 reduction_buffer_bytes;
    int reduction_hold;           /* ReduceHold: keep all operands, or sum on arrival */
    int reduction_order;          /* ReduceOrder: of the operands of a sum */
    guint64 reduction_ps;         /* last operand to result */
    guint64 request_flits;        /* multimem.ld_reduce request: header + operation */
    guint64 replica_ack_flits;
    guint64 done_flits;           /* merged acknowledgement to the requester */
    guint64 done_merge_max;       /* merged acknowledgements in one packet; 1: none */
    guint64 done_timer_ps;
} SwitchSpec;
extern const ParamRow switch_params[];

/* A multicast request in progress. Tens of thousands are open at once, and each of their answers touches one, so four
 * share a cache line. */
typedef struct {
    guint64 last;          /* the latest arrival of those answers that are known ahead (switch_early): RECORD_LAST() */
    union {
        struct {
            guint64 count : 10;   /* answers still to come; not those of silent members */
            guint64 members : 10; /* silent ones, too */
            guint64 txn : 22;     /* of the requester */
            guint64 port : 12;    /* its port here */
            guint64 answer_flits : 5;
            guint64 spare : 1;
            guint64 train : 1;    /* two packets: as many tags and buffers */
            guint64 read : 1;     /* ld_reduce */
            guint64 detailed : 1; /* members look into McDetail */
            guint64 odd : 1;      /* answers are more than counted: they bring data, or members are silent */
        };
        guint64 what;             /* all of these; 0: it is free */
    };
} McRecord;
G_STATIC_ASSERT(sizeof(McRecord) == 16);
#define RECORD_ONE(field) ((McRecord){.field = 1}.what) /* as PACKET_ONE() */
/* Times and, at one instant, the order of what arrives, in one number: the answers of one record come on links of one
 * plane, which are in the order of their ports. To compare two: as a difference, for the 280 s that 48 bits hold go
 * round. */
#define RECORD_LAST(at_ps, port) ((at_ps) << 16 | (port))

/* The rest of it, where bytes move, a part is not bound, or members differ (REPLICA_BY_RECORD), or are silent. */
typedef struct {
    guint64 offset;
    McObject *object;
    guint32 data;        /* slot of a store's data, shared by the replicas */
    guint32 txn;         /* of the requester, for the members: what a record says is the switch's alone */
    guint16 src;         /* requester */
    guint16 bytes;       /* of the request, so that replicas need not look at the Txn */
    guint16 got;         /* answers noted in operand_gpu: all, once one brings data */
    guint16 operands;    /* with data */
    guint16 missing;     /* silent members */
    guint8 answer_flits;
    guint8 state;        /* worst TxnFault of a replica */
} McDetail;
#define MC_ENDS 32u /* are made at a time */
/* The last answer of a record is on its way, and no other will be told of. Few at a time, used again and again. */
typedef struct McEnd {
    Event arrive;
    struct Switch *sw;
    struct McEnd *next_free;
    guint32 record;
} McEnd;

typedef struct {
    struct Switch *sw;
    Link **route;         /* of the same number among their GPUs': GPU g's at g * step, */
    Inbox *inbox;         /* and theirs */
    guint32 step;
    PacketRing wait;      /* requests that a replication or a missing tag holds up, in order */
    SimTime busy_until_ps;
    Event advance;
    guint32 gpu;          /* at its other end */
    guint32 multicast_tags, reduction_tags; /* free */
    guint64 reduction_bytes;                /* free */
    AckMerge done;
    guint64 stalls_tag, stalls_buffer, stalls_rounds;
    guint64 reduction_peak_bytes;
} SwitchPort;

struct Fabric;
typedef struct Switch {
    struct Fabric *fabric;
    Sim *sim;
    const SwitchSpec *spec;
    guint32 id, gpus, links, ports; /* links: of each GPU here; port = gpu * links + k */
    Link **out, **in;               /* by port */
    LinkFreed *freed;               /* likewise: what leaves frees the buffers of `in` */
    Inbox *inbox;                   /* likewise, of `out` */
    guint8 *port_k;                 /* by port: its number among the links of its GPU here */
    guint16 beats[32];              /* crossbar cycles of a packet, by flits */
    SwitchPort *port;
    McTable table;
    GPtrArray *logs;                /* LinkLogs of replicas, by team and link: at team * links + k */
    DataPool *data;
    McRecord *record;               /* [0] unused */
    McDetail *detail;               /* by record */
    McEnd *end_free;
    GPtrArray *ends;                /* all of them, MC_ENDS each */
    guint32 record_max, record_size, record_at, records_used; /* size: so many in turn, a power of two */
    guint32 *operand;               /* with data: slot of GPU g's operand of record r at r * gpus + g */
    guint16 *operand_gpu;           /* from r * gpus on: GPUs in order of arrival */
    guint64 replicated, reduced, multicast_requests, invalid_mcid;
    guint64 crumbstore_mcto_err, crumbstore_rto_err;
    char *path;
} Switch;
extern const StatRow switch_stats[];
extern const StatRow switch_port_stats[];

void switch_init(Switch *sw, struct Fabric *fabric, guint32 id, guint32 gpus, guint32 links);
void switch_clear(Switch *sw);
void switch_take(Switch *sw, Link *from, guint32 port); /* what arrives on `from`, at that port */
void switch_send(Switch *sw, Link *to, guint32 port);   /* what leaves there */
/* switch_early.c: a LinkEarly for packets that only pass through, and for answers that are only counted. */
gboolean switch_early(void *sw, Link *from, Packet packet, SimTime at_ps);
#define SWITCH_EARLY                                                                                            \
    (1u << PACKET_READ | 1u << PACKET_WRITE | 1u << PACKET_RED | 1u << PACKET_ATOM | 1u << PACKET_READ_RSP |   \
     1u << PACKET_ATOM_RSP | 1u << PACKET_ACK | 1u << PACKET_MC_ACK | 1u << PACKET_MC_OPERAND)
void switch_settle(Link *out, SimTime now_ps); /* a LinkSettle */
/* A LinkServe: merged acknowledgements have waited long enough for others. */
gboolean switch_on_timer(void *sw, Link *out, const LinkReady *timer, SimTime at_ps, Packet *answer);
void switch_finish(Switch *sw, guint32 record, SimTime now_ps); /* frees record and tag */
gboolean switch_is_quiet(const Switch *sw);
char *switch_waiter_text(void *sw);

/* One answer of a replica that does nothing but count; FALSE: there is more to do (reduction_gather). */
static inline gboolean switch_count(Switch *sw, guint32 index)
{
    McRecord *record = &sw->record[index];
    if (record->count < 2 || record->odd)
        return FALSE;
    record->what -= RECORD_ONE(count);
    return TRUE;
}

/* reduction.c: one answer of a replica; the last one sends the result or the merged acknowledgement. */
void reduction_gather(Switch *sw, Packet packet, SimTime now_ps);
/* Answers the requester and ends the record: all answers came, or the time is over. */
void reduction_end(Switch *sw, guint32 record, SimTime now_ps);
/* The same when the last answer that is known arrives. */
void reduction_end_later(Switch *sw, guint32 record);
/* The data slot (0: none) that a member's operand will bring; known before it travels. */
void reduction_operand(Switch *sw, guint32 record, guint16 gpu, guint32 slot);

#endif
