/* One GPU as the fabric sees it: a requester (what its SMs and copy engines ask for) and a target (its L2
 * and HBM, which answer). The SMs themselves stand in sm.h.
 *
 * Requests: gpu_request() makes a transaction, picks the link by the address hash and hands a packet to
 * that link's port; the transaction's `done` is called when its answer is back.
 * Requests to host memory go over the GPU's link to its host: a bandwidth server a direction and its latency.
 * Target: target.c takes requests from its links in order, reads or writes memory, and answers on the
 * link that the request came by.
 * Modelled: fixed stages SM -> port and port -> SM, L2 hit and HBM latency, HBM and local bandwidth, bounded
 * response queues that push back on requests, merged acknowledgements, byte-enable and extension flits.
 * Left out: L2 slices and their crossbar, TLBs.
 * Sources: latency split PROTOTYPE.md A1, flits h200/README.md. */
#ifndef MODEL_GPU_GPU_H
#define MODEL_GPU_GPU_H

#include "model/gpu/hbm.h"
#include "model/link/ack.h"
#include "model/link/link.h"
#include "model/memory/address_space.h"
#include "model/shared/fabric.h"

/* Fixed-latency FIFOs inside the GPU: only the head is in the calendar. */
typedef void (*GpuPlainDone)(void *owner, SimTime now_ps);
typedef struct {
    SimTime at_ps;
    union {
        Packet packet;
        void *owner; /* of a plain access */
    };
    GpuPlainDone plain; /* NULL: it is a packet */
    guint32 link, turn; /* where answers overtake each other: those of one instant leave in the order of their turns */
} GpuStep;
RING_DEFINE(GpuStepRing, gpu_step, GpuStep)
typedef struct {
    GpuStepRing ring;
    Event head;
    struct Gpu *gpu;
    gboolean overtakes; /* late answers of HBM are overtaken: `ring` is a heap */
    guint32 turns;
} GpuPipe;
typedef enum {
    GPU_PIPE_DRAM,
    GPU_PIPE_ATOMIC,
    GPU_PIPE_LOCAL,
    GPU_PIPE_LOCAL_DRAM,
    GPU_PIPE_LOCAL_ATOMIC,
    GPU_PIPE_LOCAL_WORD /* atomics that waited for their word */,
    GPU_PIPE_HOST,
    GPU_PIPES
} GpuPipeKind;

/* Where requests come from that wait for a port: copy engines and what is plugged in, and the halves of the GPU that
 * SMs stand in. A port gives its room to the side that has sent the fewest packets by all ports, and there to the
 * waiter that has: one whose first request waits for another port does not lose by it, and one that mostly finds room
 * without waiting does not win. Stores share by CPC, loads by SM: among the waiters of a side a load counts as one part
 * of a turn in as many as SMs wait in its queue.
 * Source: h100b/dev_h100_gpc.csv: of three GPCs that store, the one alone in its half gets half of the links; two SMs
 * alone in their CPC store more than those of other CPCs and load as much. That copy engines count as one more side,
 * and that ld_reduce does as loads do, is assumed. */
#define GPU_TURN 5040u /* divides by every number of SMs up to 10 */
typedef enum { GPU_SIDE_ENGINES, GPU_SIDE_HALF_0, GPU_SIDE_HALF_1, GPU_SIDES } GpuSide;

/* A waiter is called when a port's request queue has room again. */
typedef struct GpuRoomWaiter GpuRoomWaiter;
struct GpuRoomWaiter {
    GpuRoomWaiter *next;
    void (*fire)(GpuRoomWaiter *waiter, SimTime now_ps);
    gboolean queued;
    GpuSide side;
    guint64 turns; /* so far, among those of its side, in parts of GPU_TURN */
};
typedef struct {
    GpuRoomWaiter *head, *tail;
} GpuRoomQueue;
typedef struct {
    guint64 turns, most_turns; /* so far, of the side; the most that a waiter of it had */
} GpuTurns;

/* What a GPU keeps for one of its links. */
typedef struct {
    GpuRoomQueue room[GPU_SIDES]; /* requests that wait for room in the port's queue */
    AckMerge *acks;               /* by requester */
    SimTime *read_left_ps; /* by requester: when the last read response to it was handed to the port, 0: none was;
                               * NULL where nothing depends on it (ack_hold_off_ps is 0) */
    TimedPacketRing held;  /* requests held up by answers, and when they came */
    McRequests *requests;  /* of the switch at the other end */
} GpuPort;

typedef struct FenceFlush FenceFlush;
typedef struct GpuAtomics GpuAtomics;

/* Stores under way by epoch, and the fences that wait for them (fence.c). */
RING_DEFINE(FenceEpochRing, fence_epoch, guint32)
typedef struct {
    FenceEpochRing open; /* of epochs oldest, oldest + 1, ...; the last one is the present */
    guint64 oldest;
    SimTime local_ps; /* when the last store to the GPU's own or its host's memory is performed */
    gpointer round;
    gboolean busy;       /* a round goes on, or its least time */
    FenceFlush *waiting; /* for its end */
    Event free;          /* when the next one may begin */
    Event flow;          /* those that a round waits for are answered */
    guint64 flow_tag;
} FenceState;

/* Of flows, at --fidelity flow (device/flow/loop_flow.c): which loops store now, and how long packets beside them
 * take. */
typedef struct {
    guint32 storing, sms;     /* loops, on so many SMs */
    guint32 queues[2];        /* of each half that have loops which store, or load from others */
    guint32 kind;             /* of model/flow/egress_share.h */
    guint32 asking;           /* loops that load from others, */
    guint32 ask_kind, ask_ps; /* their kind, and the time that a packet of theirs takes */
    guint64 issue_ps;         /* of all of them */
    guint32 draining;         /* loops of which more is sent than issued: ports have room for what waited there, */
    gboolean shares_changed;  /* others of the queues have such loops than when weights were told last */
    gboolean stalled;         /* and have been full since the last search for one that could go on */
    SimTime trip_ps;          /* of a store that meets no other */
    SimTime wait_ps;          /* of a packet on its way to a port when these are full, */
    SimTime worst_ps;         /* and of the last of those that wait then, */
    SimTime hold_ps;          /* and then in the switches */
    SimTime (*packet_ps)(const struct Gpu *gpu); /* what a packet would wait now, */
    SimTime (*stored_ps)(const struct Gpu *gpu); /* and what of stores is not performed will take; 0: none is */
} GpuFlows;

/* What waits between the SMs and the ports (model/sm/egress_queue.c). */
typedef struct {
    Packet packet;
    guint16 sm, link;
} GpuOut;
RING_DEFINE(GpuOutRing, gpu_out, GpuOut)
typedef struct {
    GpuOutRing ring;
    GpuRoomWaiter room; /* of its head */
    struct Gpu *gpu;
    guint32 sms;                  /* that have something in it */
    struct Sm *sm_head, *sm_tail; /* waiting for room in it */
    struct Sm *flow_head;         /* SMs with flows, by number (Sm.flow_next), */
    guint32 storing, asking;      /* and with flows that store, and load from others */
} GpuOutQueue;

/* Of the specs, in packets. */
typedef struct {
    guint32 source_queue, response_queue, out, sm_out, loads, stores;
    guint32 ports; /* source queues of all ports */
} GpuLimits;

/* How requests come to HBM in order of time is the engine's business. */
typedef struct {
    /* HBM moves `bytes` of that line for a replica that is served at now_ps, and its answer leaves by that link. */
    void (*answer)(struct Gpu *gpu, guint32 link, Packet answer, guint64 line, guint32 bytes, SimTime now_ps);
    /* Another request comes to HBM now: those before it have their turn. NULL: they had. */
    void (*catch_up)(struct Gpu *gpu);
    /* HBM changes now: what came before this instant, to which all ports are advanced, has its turn. NULL: it had. */
    void (*settle)(struct Gpu *gpu);
} GpuHbmOps;
extern const GpuHbmOps gpu_hbm_reference_ops;

struct Sm;
struct Cta;
typedef struct Gpu {
    Fabric *fabric;
    Sim *sim;
    const GpuSpec *spec; /* that of the system, unless it is slow */
    guint16 id;
    guint32 links;
    guint8 hash_turn; /* address_hash.h: its own numbering of links */
    GpuLimits limit;
    Link *up, *down; /* by link: to and from the switches */
    GpuPort *port;   /* by link */
    TxnPool *txns;   /* its outstanding transactions, in fabric->txns */
    Hbm hbm;
    const GpuHbmOps *hbm_ops;
    void *fast;            /* the fast engine's state of this GPU; NULL: the reference engine */
    const SmSpec *sm_spec; /* times of its SMs: those of the system, unless it is slow */
    SimFine local_free_at, local_byte_time;
    SimFine host_free_at[2], host_byte_time; /* by GpuHostWay */
    GpuPipe pipe[GPU_PIPES];
    GpuAtomics *atomics;                /* atomic.c; NULL: none yet */
    struct CopyEngines *engines;        /* copy_engine.h */
    struct FabricEngine *fabric_engine; /* fabric_engine.h; NULL: no operation on an endpoint yet */
    struct Sm *sm;                      /* sm.h */
    struct Cta *cta_head, *cta_tail;    /* waiting for an SM */
    GpuOutQueue *out;                   /* of each CPC (model/sm/place.h), */
    guint32 n_out;                      /* so many */
    GpuTurns side[GPU_SIDES];
    guint64 most_turns; /* of any of them */
    FenceState fence;
    SimTime cta_next_ps;      /* when the next CTA of a kernel can start */
    void *kernels;            /* launches of device/kernel under way */
    GHashTable *kernel_heaps; /* by address: of malloc in kernels; NULL: never any */
    GPtrArray *kernel_code;   /* by SM: what its instruction caches hold; NULL: never any */
    gboolean kernels_listed;  /* among those that a stuck run is asked about */
    GpuFlows flows;
    guint64 requests, served, stalls, hbm_bytes;
    guint64 local_requests, local_bytes, dropped, host_in_bytes, host_out_bytes;
    guint64 engine_copies, engine_bytes, engine_packets;
    GArray *fabric_reports; /* FabricReport (fabric_engine.h); NULL: none */
    guint64 fabric_operations, fabric_bytes, fabric_packets, fabric_refused, fabric_retries, fabric_failed;
    char *path;
} Gpu;
extern const StatRow gpu_stats[];

typedef struct {
    guint64 offset;    /* of the first byte touched; its span stays in a 128 B line (256 B: engine) */
    MemRegion *region; /* unicast */
    McObject *object;  /* multicast */
    TxnDone done;
    void *owner;
    guint64 tag;
    const guint8 *data; /* what a write, red or atomic carries; NULL when timing-only or a read */
    PacketKind kind;    /* of the request */
    guint32 word_mask;  /* 4 B words touched from offset on; GPU_ALL_WORDS */
    guint16 bytes;
    guint8 type, op, acc; /* numeric.h; atomics also TXN_ATOM_* */
    gboolean reported;    /* as in Txn */
    GpuPlainDone plain;   /* instead of `done` where nothing but the time matters: see gpu_request(); or NULL */
} GpuRequest;
#define GPU_ALL_WORDS TXN_ALL_WORDS

/* Where a counted write or reduction (TXN_COUNTED) is counted: 8 bytes, to which a target adds what it has written. It
 * stands in the data's slot, at DATA_SLOT_BYTES / 2. */
typedef struct {
    MemRegion *region; /* NULL: at that offset of the request's multicast object, of each member by itself */
    guint64 offset;
} GpuCounter;

#define GPU_LINK_LOCAL 0xffffu /* this GPU's own memory, or its host's */

void gpu_init(Gpu *gpu, Fabric *fabric, guint16 id, guint32 links);
void gpu_clear(Gpu *gpu);
/* The link a request would take; GPU_LINK_LOCAL: it stays in this GPU or goes to its host. */
guint32 gpu_link_of(const Gpu *gpu, const GpuRequest *request);
static inline gboolean gpu_has_room(const Gpu *gpu, guint32 link)
{
    return link == GPU_LINK_LOCAL || link_has_room(&gpu->up[link], VC_CREQ, gpu->limit.source_queue);
}
gboolean gpu_port_waits(const GpuPort *port); /* whether any request waits for room at this port */
/* Puts a waiter into the queue for room at a link. It is called once. */
void gpu_wait_room(Gpu *gpu, guint32 link, GpuRoomWaiter *waiter);
/* What others got less than the one that got most is remembered up to `window`. */
static inline void gpu_count_one(guint64 window, guint64 turns, guint64 *of, guint64 *most)
{
    guint64 least = *most - MIN(*most, window);
    *of = MAX(*of + turns, least);
    *most = MAX(*most, *of);
}
/* A packet of this waiter's has a port's room, whether it waited for it or not; it counts as one part of a turn in
 * `sharing`. */
static inline void gpu_count_turn(Gpu *gpu, GpuRoomWaiter *waiter, guint32 sharing)
{
    GpuTurns *side = &gpu->side[waiter->side];
    gpu_count_one(gpu->limit.ports, 1, &side->turns, &gpu->most_turns);
    gpu_count_one((guint64)gpu->limit.ports * GPU_TURN, GPU_TURN / MAX(sharing, 1), &waiter->turns, &side->most_turns);
}
/* Sends it on `link` (from gpu_link_of). Room is the caller's duty. A load or store of the GPU's own memory that
 * moves no bytes needs no transaction: `plain` is called with `owner`. */
void gpu_request(Gpu *gpu, const GpuRequest *request, guint32 link);
guint32 gpu_take_txn(Gpu *gpu, const GpuRequest *request, SimTime start_ps); /* the transaction alone */
/* The same in two steps, for requests into the fabric. */
Packet gpu_prepare(Gpu *gpu, const GpuRequest *request);
void gpu_send(Gpu *gpu, Packet packet, guint32 link);
/* Flits of a request and of its answer (unicast kinds and multicast ones). */
guint32 gpu_request_flits(const Gpu *gpu, const GpuRequest *request);

/* `from` is its link of that number from a switch, whose multicast requests stand in that table. */
void gpu_take(Gpu *gpu, Link *from, guint32 link, McRequests *requests);
void gpu_accept(void *gpu, Link *from, Packet packet, SimTime now_ps); /* a LinkSink */
/* No answer comes any more for the transactions of a chain: they end with an error, TXN_LOST unless they have one. */
void gpu_lose(Gpu *gpu, guint32 head, SimTime now_ps);
void gpu_complete(Gpu *gpu, Txn *txn, SimTime now_ps); /* requester.c: it is over, and its requester is told */
void gpu_accept_answer(Gpu *gpu, Link *from, Packet packet, SimTime now_ps);
void gpu_drained(void *gpu, Link *link, Vc vc); /* a LinkDrained */
gboolean gpu_is_quiet(const Gpu *gpu);
char *gpu_waiter_text(void *gpu);
char *gpu_silent_text(void *gpu); /* a line about requests that it lost */

/* When so many bytes are through the GPU's own L2, or its link to the host (without its latency). */
typedef enum { GPU_FROM_HOST, GPU_TO_HOST } GpuHostWay;
SimTime gpu_l2_serve(Gpu *gpu, guint32 bytes, SimTime now_ps);
SimTime gpu_host_serve(Gpu *gpu, GpuHostWay way, guint32 bytes, SimTime now_ps);

/* own_memory.c: a request that stays in this GPU or goes to its host. */
void gpu_request_own(Gpu *gpu, const GpuRequest *request);
/* From now on, all ports being advanced to this instant, it has these times, and that percentage of its L2's and HBM's
 * rates. */
void gpu_set_clocks(Gpu *gpu, const SmSpec *sm_spec, const GpuSpec *spec, guint64 percent);

/* atomic.c: when the units of the own L2 begin with an atomic or a reduction; `waited`: another was at its word. */
SimTime gpu_atomic_serve(Gpu *gpu, const Txn *txn, SimTime now_ps, gboolean *waited);

/* target.c */
/* A request of another GPU, which came by that link: served at once, or held up while too many answers wait. */
void gpu_target_accept(Gpu *gpu, guint32 link, Packet packet, SimTime now_ps);
/* The queue of answers at that link's port is shorter than its limit: requests that were held up go on. */
void gpu_target_drained(Gpu *gpu, guint32 link);
/* Serves a request at now_ps: moves its bytes, and answers on the link that it came by. */
void gpu_serve(Gpu *gpu, guint32 link, Packet packet, SimTime now_ps);
/* The answer of a read or an atomic leaves by the link that the request came by. */
void gpu_respond(Gpu *gpu, guint32 link, Packet packet, SimTime now_ps);
gboolean gpu_target_on_timer(void *gpu, Link *up, Packet timer, SimTime now_ps, Packet *answer); /* a LinkExpire */

/* pipe.c */
void gpu_pipes_init(Gpu *gpu);
void gpu_pipes_clear(Gpu *gpu);
SimTime gpu_pipe_add(GpuPipe *pipe, const GpuStep *step); /* when it gets out */
void gpu_pipe_push(GpuPipe *pipe, SimTime at_ps, guint32 link, Packet packet);
void gpu_pipe_push_own(GpuPipe *pipe, SimTime at_ps, guint32 txn); /* an access to the GPU's own or its host's memory */
SimTime gpu_hbm_serve(Gpu *gpu, HbmWay way, guint32 bytes, SimTime now_ps); /* when HBM has moved them */
/* The line of HBM that an access is to. */
static inline guint64 gpu_hbm_line(const MemRegion *region, guint64 offset)
{
    return (region->address + offset) / LINE_BYTES;
}

/* The slot of an answer that stands in memory already, as nothing has changed these bytes yet (see DataPool); 0: it
 * must be read. Reads alone, of up to MEMORY_READ_MAX bytes. */
static inline guint32 gpu_fixed_answer(const Fabric *fabric, const MemRegion *region, guint64 offset)
{
    return region->pattern ? data_fixed(fabric->data, memory_read(region, offset)) : 0;
}

/* data.c: a functional access, which reads or changes the bytes behind a transaction; answers of reads and atomics go
 * to `answer`. The plain one reads into `answer`, or writes `data` (NULL: they are not kept). */
/* A counted request's bytes are written: its counter in that GPU's memory grows by them. */
void gpu_count(Fabric *fabric, guint16 gpu, const Txn *txn, SimTime visible_ps);
void gpu_access_plain(Fabric *fabric, MemRegion *region, guint64 offset, guint32 bytes, const guint8 *data,
                      guint8 *answer, SimTime visible_ps);
void gpu_access(Fabric *fabric, MemRegion *region, guint64 offset, const Txn *txn, const guint8 *data, guint8 *answer,
                SimTime visible_ps);

#endif
