/* Streaming multiprocessors: warps with in-order micro-operations, and the load/store unit that turns them
 * into packets.
 *
 * What hardware it stands for: an SM's warp scheduler as far as memory is concerned, its LSU, the coalescer
 * (a warp's lanes -> 32 B sectors -> packets of at most 128 B) and the limits on what it keeps in flight.
 * Modelled: issue time for each packet, loads and stores in flight, a full port queue stalls the LSU,
 * in-order warps that wait for registers, fences, CTA barriers, polling as a watch.
 * Shared memory of kernels, shuffles and loads wait there behind stores (UOP_TURN). A warp has one instruction there.
 * Left out: arithmetic pipelines, instruction fetch, L1; several stores of one warp that wait at once.
 * Sources: one SM stores 50 GB/s, loads 104 GB/s with 128 KiB asked for: h200/README.md, PROTOTYPE.md A1.
 *
 * A warp gets its micro-operations (Uop) from a queue (fine-grained device code: warp_push) or from a
 * generator (bulk loops: loop.h); both take the same path, so they cost the same. */
#ifndef MODEL_SM_SM_H
#define MODEL_SM_SM_H

#include "model/gpu/gpu.h"
#include "model/memory/address_space.h"

#define WARP_LANES 32u
#define SM_SCHEDULERS 4u
#define SM_UNITS 9u    /* ptx/translate/cost.h says which */
#define REG_BYTES 512u /* 32 lanes x 16 B */

/* A request of this SM in its GpuOutQueue. */
typedef struct {
    guint32 key; /* of its line; 0: a multicast request, whose like does not merge */
    guint32 txn;
} SmOut;
RING_DEFINE(SmOutRing, sm_out, SmOut)
#define SM_OUT_KEYS 1024u

typedef struct Warp Warp;
typedef struct Cta Cta;
typedef struct Sm Sm;

/* What a load brings into a warp: 32 lanes of `width` bytes, lane i at i * width, or at i * apart if that is given:
 * a register may be a part of each lane of a wider one. */
typedef struct Reg {
    guint32 pending;                                 /* packets still on their way */
    Warp *waiter;                                    /* blocked on it */
    Sm *sm;                                          /* that issued the load */
    guint8 *bytes;                                   /* REG_BYTES, or NULL when timing-only */
    guint64 va;                                      /* of a load: the first lane's address, */
    gint64 lane_stride;                              /* and from one lane's to the next one's, */
    guint64 *lane_va;                                /* or all 32, if scattered; else NULL */
    void (*loaded)(struct Reg *reg, SimTime now_ps); /* called when `pending` comes to 0, or NULL */
    guint8 width, apart;
} Reg;

static inline guint8 *reg_lane(const Reg *reg, guint32 width, guint32 lane)
{
    return reg->bytes + lane * (reg->apart ? reg->apart : width);
}

typedef enum {
    UOP_LOAD,
    UOP_STORE,
    UOP_RED,
    UOP_ATOM,
    UOP_MC_LOAD,  /* multimem.ld_reduce */
    UOP_MC_STORE, /* multimem.st */
    UOP_MC_RED,   /* multimem.red */
    UOP_ARITH,    /* waits for src (and dst); dst = dst op src when dst is given */
    UOP_FENCE,    /* fence.sys: earlier stores of this warp are performed */
    UOP_BARRIER,  /* bar.sync: value is UOP_BARRIER_VALUE */
    UOP_DELAY,    /* value_ps of other work */
    UOP_UNTIL,    /* instructions that end at value_ps of simulated time and need no LSU */
    UOP_WORK,     /* instructions between two memory instructions: value_ps from where the last one was
                              * ready to issue, or its answer came, and after_ps from where it left the warp */
    UOP_DRAIN,    /* waits for the warp's stores without a fence's cost: the end of a kernel */
    UOP_POLL,     /* spin on the GPU's own memory until the condition holds in every lane; dst, if
                              * given, gets what stands around the flags (dst->width bytes a lane, aligned) */
    UOP_CALL,     /* call(arg) when the warp gets here */
    UOP_PARK,     /* until warp_unpark(), or the time of value (0: none); of generators that know what they
                              * wait for */
    UOP_TURN,     /* a turn of the LSU that sends nothing: shared and local memory of kernels */
    UOP_KINDS
} UopKind;

/* Barrier `id` (below CTA_BARRIERS) of so many warps; 0 warps: of all of the CTA's. */
#define UOP_BARRIER_VALUE(id, warps) ((guint64)(id) | (guint64)(warps) << 8)
#define CTA_BARRIERS 16u

typedef enum { POLL_EQ, POLL_NE, POLL_GE /* unsigned */, POLL_DIFF_GE /* (value - ref) >= 0, wrapping */ } PollTest;

typedef struct {
    guint8 kind;            /* UopKind */
    guint8 width;           /* bytes of a lane: 1, 2, 4, 8, 16, 32; all of them at most REG_BYTES */
    guint8 lanes;           /* active: 1..32 */
    guint8 type, op, acc;   /* numeric.h; TXN_ATOM_* */
    guint8 test;            /* PollTest */
    guint8 followed;        /* of a memory instruction of a loop: others of the same turn come after it */
    gboolean acquire;       /* of a poll or load */
    gboolean seen;          /* of a poll: done at once if what dst holds from the last one is enough */
    guint64 va;             /* of lane 0 */
    gint64 lane_stride;     /* to the next lane; == width: contiguous */
    const guint64 *lane_va; /* scattered: 32 addresses that live until the uop is issued; else NULL */
    Reg *dst, *src;
    const guint8 *second; /* of TXN_ATOM_CALL: what lane i compares, at i * width; lives until the uop is issued */
    guint64 value;        /* poll reference; delay in ps; barrier */
    guint32 rtt_ps;       /* of a poll: what its reads take; 0: the GPU's own memory */
    guint32 after_ps;     /* of UOP_WORK */
    void (*call)(void *arg, SimTime now_ps);
    void *arg;
} Uop;
RING_DEFINE(UopRing, uop_ring, Uop)

static inline guint64 uop_lane_va(const Uop *uop, guint32 lane)
{
    return uop->lane_va ? uop->lane_va[lane] : uop->va + (guint64)(uop->lane_stride * (gint64)lane);
}

/* Generators return FALSE at the end; the uop is taken exactly once. */
typedef gboolean (*WarpNext)(Warp *warp, Uop *uop);

typedef enum { WARP_IDLE, WARP_READY, WARP_BLOCKED } WarpState;

/* The fields that each packet and each answer uses stand first: a thousand warps are more than a cache holds. */
struct Warp {
    Warp *next; /* in the SM's ready queue */
    Sm *sm;
    Cta *cta;
    guint32 index; /* in its CTA */
    WarpState state;
    gboolean have;      /* `current` is being executed, */
    gboolean begun;     /* and dst was marked pending for the whole micro-operation */
    guint32 done_bytes; /* contiguous: progress in the lanes' span; scattered: next lane */
    guint32 done_lanes; /* scattered: mask of lanes issued */
    guint32 stores;     /* outstanding */
    gboolean fencing;
    gboolean parked, unparked;   /* UOP_PARK: it waits; what it waits for came before it did */
    gboolean stored, followed;   /* its last micro-operation was a store; Uop.followed of it */
    SimTime issue_ps;            /* of kernels: between memory instructions, beside packets; 0: SmSpec.warp_issue_ps */
    SimTime not_before_ps;       /* of its next memory instruction */
    SimTime front_ps;            /* since when it is ready */
    SimTime asked_ps, issued_ps; /* when its last memory instruction was ready, and when the LSU took it */
    WarpNext generate;           /* bulk loop, or NULL */
    void *generator;
    UopRing queue;
    Uop current;
    guint64 *lane_va; /* of a generated scattered micro-operation (warp_lanes), or NULL */
    Event timer;
    Warp *fence_next; /* the next one that waits (fence.c) */
    SimTime fence_at_ps;
    gboolean fence_issuing;
    MemWatch watch;
    SimTime poll_start_ps;
    const VasMapping *polled;                    /* where the flag stands that it waits for, */
    guint polled_unmapped;                       /* vas_unmapped() of that time */
    void (*on_idle)(Warp *warp, SimTime now_ps); /* queue and generator are at their end */
};

struct Cta {
    struct Gpu *gpu;
    Sm *sm;
    Vas *vas;
    guint32 index, threads, n_warps;
    guint32 shared_bytes, registers; /* that it takes of its SM */
    Warp *warp;
    guint32 arrived[CTA_BARRIERS]; /* mask of the warps at each bar.sync */
    const char *name;              /* for reports; not owned */
    void *user;
    const void *cause; /* the launch it is of, as its caller knows it; only compared */
    Cta *next;         /* waiting for an SM */
    Cta *group;        /* the next one of those that are placed together, on one GPC; NULL: none */
    void (*on_placed)(Cta *cta, SimTime now_ps);
};

struct Sm {
    struct Gpu *gpu;
    Warp *ready_head, *ready_tail; /* which have something for the LSU, or are none of a kernel */
    Warp *woken_head, *woken_tail; /* of kernels: which have not said yet what comes next */
    const Warp *last;              /* that issued; compared, and looked at by probes while it issues */
    Event issue, wake;
    SimTime free_ps;    /* of the LSU */
    gboolean stalled;   /* the LSU waits for room before the ports */
    gboolean limited;   /* or for an answer, its in-flight limit being reached */
    GpuOutQueue *queue; /* its way to the ports */
    SmOutRing out;      /* what waits there, in order, */
    Sm *out_next;       /* waits for a place in its queue */
    gboolean out_listed;
    guint32 merge_target; /* Txn that the store at hand merges with */
    guint32 id, loads, stores, ctas, warps;
    guint32 registers, shared_bytes;               /* that CTAs hold */
    guint64 packets, stalls_limit;                 /* of the LSU: sent; waits for its in-flight limits */
    SimTime fence_issue_ps[SM_SCHEDULERS];         /* of the next fence */
    SimTime unit_free_ps[SM_SCHEDULERS][SM_UNITS]; /* of kernels: when a quarter's units have done what they have */
    FenceFlush *flush;                             /* the one that goes on, until what it waits for is known */
    gboolean flushing;
    Warp *fence_waiting;     /* for the next flush */
    Event fence_free;        /* when that may begin */
    struct Sm *flow_next;    /* of its queue */
    void *flows;             /* the first of its loops that are flows (device/flow/loop_flow.c), */
    guint32 storing, asking; /* and how many of them store to other GPUs, and load from them; */
    guint32 loops;           /* and how many stored to others so far, or are about to */
    guint32 *out_keys;       /* SM_OUT_KEYS: how many of `out` have such a key, modulo; NULL: none has had one yet */
    char path[32];           /* "gpu0.sm3", once an observer was shown something; else "" */
};

void sm_init(struct Gpu *gpu);
void sm_clear(struct Gpu *gpu);

/* From a warp's memory instruction, which takes lsu_ps of the LSU, to the next one if no other instructions stand
 * between them: they follow each other as soon as the LSU has taken the registers, and issue_ps, two cycles, later.
 * Source: h100/memory.csv, loads in flight of one warp (4 and 10 clk for 1 and 4 packets), st.global issue (5, 14);
 * docs/measurements/warp_loops.csv, stores_by_8 of one warp (18 and 19 clk for 4 packets). */
static inline SimTime sm_gap_ps(SimTime issue_ps, gboolean stores, SimTime lsu_ps)
{
    return issue_ps + (stores ? lsu_ps : 2 * lsu_ps);
}

/* CTAs. cta_new makes the warps; cta_place finds an SM (in order; waits until one has room) and calls
 * on_placed, at once or later. cta_free gives the SM back; all warps must be idle. cta_drop only frees memory: for
 * a simulation that got stuck and never runs again, where warps may wait for answers that do not come. */
Cta *cta_new(struct Gpu *gpu, Vas *vas, guint32 index, guint32 threads, const char *name);
/* The first one of a group stands for all of it. */
void cta_place(Cta *cta, void (*on_placed)(Cta *cta, SimTime now_ps));
void cta_free(Cta *cta);
void cta_drop(Cta *cta);

/* What a CTA with so much shared memory takes of its SM's: it is given out in units of 128 B. */
guint32 sm_shared_of_cta(const SmSpec *spec, guint32 bytes);

/* Appends a micro-operation to a warp's queue; starts the warp when it was idle. Uop.dst gets its pending
 * count only when the warp issues: reg_begin() marks it busy from now on. */
void warp_push(Warp *warp, const Uop *uop);
void warp_generate(Warp *warp, WarpNext next, void *generator); /* runs when the queue is empty */
gboolean sm_lsu_is_busy(const Sm *sm, SimTime at_ps); /* as far as is known now, would a UOP_TURN wait then? */
void warp_unpark(Warp *warp);                         /* what a UOP_PARK waits for, this one or the next, has come */

/* keep_bytes FALSE: timing-only, nothing is carried. Flags and counters always keep theirs. */
Reg *reg_new(guint32 width, gboolean keep_bytes);
void reg_free(Reg *reg); /* no load into it may be under way */
void reg_drop(Reg *reg); /* like cta_drop() */

/* For work that is done elsewhere than in packets (flows): a load or store of a warp begins and ends. */
void warp_begin_load(Warp *warp, Reg *reg);
void warp_end_load(Reg *reg, SimTime now_ps);
guint64 warp_begin_store(Warp *warp); /* the tag for its end */
void warp_end_store(Warp *warp, guint64 tag, SimTime now_ps);

/* warp.c */
void warp_init(Warp *warp, Cta *cta, guint32 index);
void warp_clear(Warp *warp);
guint64 *warp_lanes(Warp *warp); /* room for 32 addresses that a generator may fill: the warp's */
void warp_ready(Warp *warp);     /* into the SM's ready queue */

#endif
