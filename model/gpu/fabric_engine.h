/* The fabric engine: operations on logical endpoints that an SM posts and that no warp takes part in.
 *
 * What hardware it stands for: the unit of a GPU that takes what fabric.submit hands over (puts, gets, reductions,
 * pull reductions, atomics of PTX 9.3 and later), makes packets of it, counts their answers, and tells an mbarrier.
 * Modelled: the way of a post to the engine, a queue of so many operations, refusal of a post that finds it full and
 * its retry, so many operations at work at once, each with so many packets under way, one packet after the other,
 * waits for room at ports, the report to the SM; counters that a target adds the bytes of each packet to as it writes
 * them. Pull reductions and puts to several are the requests of multimem: the switches' entries, tags and reduction
 * buffers are those that multimem uses, and both compete for them. Left out: arbitration by anything but turns,
 * priorities, the engine's own look-up of an endpoint, errors that retry in hardware. Source: PTX ISA 9.3, fabric
 * instructions, says what an operation is. There are no public figures of time: all parameters are assumed
 * (gpu.fabric_*), with the reasoning in the presets.
 *
 *     post -> [way] -> full? refused, retried : queue -> [start] -> packets in turn -> answers -> [report] -> done */
#ifndef MODEL_GPU_FABRIC_ENGINE_H
#define MODEL_GPU_FABRIC_ENGINE_H

#include "model/gpu/gpu.h"

/* Bytes that lie side by side, of one region or of a multicast object's window. */
typedef struct {
    MemRegion *region; /* NULL: it is of the object */
    McObject *object;  /* must live until the operation is done */
    guint64 offset;
    guint32 at, bytes; /* of the operation's bytes */
} FabricSpan;

typedef struct {
    PacketKind kind;       /* PACKET_WRITE, READ, RED, ATOM; with a multicast object MC_WRITE, MC_READ, MC_RED */
    guint8 type, op, acc;  /* as in GpuRequest */
    gboolean counted;      /* of writes and reductions: its targets count their bytes at `counter` */
    FabricSpan counter;    /* 8 bytes */
    guint16 byte_mask;     /* of each 16 bytes of a put, those that are written */
    guint32 bytes, n_span; /* > 0; spans cover all bytes, in order */
    FabricSpan *span;      /* owned by the engine from the post on; g_free */
    guint8 *data; /* sent, or room for what is fetched; of an atomic DATA_SLOT_BYTES, and its old value. NULL: timing
                   * only. Must live until `done`, of what is sent until `read` */
    guint32 endpoint;                                         /* for messages */
    void (*read)(void *user, SimTime now_ps);                 /* all of `data` is sent; may be NULL */
    void (*done)(void *user, TxnFault fault, SimTime now_ps); /* never from inside fabric_engine_post() */
    void (*drop)(void *user); /* in place of `done` where the fabric is freed first: frees memory alone; or NULL */
    void *user;
} FabricWork;

/* Takes it over, whether or not there is room: what is refused is tried again. Regions are held until it is done. */
void fabric_engine_post(Gpu *gpu, const FabricWork *work);
/* Part of struct Gpu; made when the first operation is posted. */
void fabric_engine_clear(Gpu *gpu);
gboolean fabric_engine_is_quiet(const Gpu *gpu);
/* How many operations of this GPU, not complete yet, go to a member's memory by that bind of the object. */
guint32 fabric_engine_uses(const Gpu *gpu, const McObject *object, const McBind *bind);
/* Operations on an endpoint that completed with that report, what a program finds in place of a fault: counted by those
 * who post them, in Gpu.fabric_reports. */
typedef struct {
    guint32 endpoint; /* as the operation named it */
    guint8 report;    /* what its mbarrier says */
    guint64 operations;
} FabricReport;
char *fabric_engine_waiter_text(void *gpu); /* a SimWaiterText: names the oldest operation's endpoint */

#endif
