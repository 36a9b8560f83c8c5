/* What all stages share: the specs, the memory, the tables of requests, the statistics of operations, the faults.
 *
 * Stages hold a pointer to it and see each other only through it: a requester's transactions and a switch's multicast
 * requests stand in tables here, because stages other than their owner need them. model/fabric/ builds it. */
#ifndef MODEL_SHARED_FABRIC_H
#define MODEL_SHARED_FABRIC_H

#include "model/memory/address_hash.h"
#include "model/memory/memory.h"
#include "model/shared/link_set.h"
#include "model/shared/multicast_request.h"
#include "model/shared/packet.h"
#include "model/shared/policies.h"
#include "model/shared/probe.h"
#include "model/shared/spec.h"
#include "model/shared/txn.h"
#include "sim/log.h"
#include "sim/stat.h"

typedef enum {
    FAULT_NONE,
    FAULT_UNMAPPED,            /* no memory behind the address */
    FAULT_ACCESS,              /* this GPU has no right to it */
    FAULT_PLAIN_ON_MULTICAST,  /* ld, st, red, atom on a multicast address: undefined in PTX */
    FAULT_MULTIMEM_ON_UNICAST, /* multimem.* on a unicast address: undefined in PTX */
    FAULT_TEAM_INCOMPLETE,     /* the object's team is not complete */
    FAULT_UNBOUND,             /* a member has no memory bound there */
    FAULT_TIMEOUT,             /* a member did not answer: CRUMBSTORE_MCTO_ERR, CRUMBSTORE_RTO_ERR */
    FAULT_LOST,                /* a request or its answer was lost: ATO_ERR */
    FAULT_NO_ENTRY,            /* a switch knows no such team: INVALID_MCRID_ERR */
    FAULT_MISALIGNED,          /* no multiple of the access's width */
    FAULT_ILLEGAL_FORM,        /* a multimem form that PTX does not have; text says which rule */
    FAULT_TRAP,                /* a kernel ended itself: trap */
    FAULT_ASSERT,              /* by a failed assertion */
    FAULT_INSTRUCTION,         /* an instruction with operands that it does not take */
    FAULT_HUNG,                /* a kernel did not end while the watchdog waited */
    FAULT_CODE,                /* a call of what is no function, or too deep, or a barrier used wrongly */
    FAULT_RESET,               /* its GPU was reset while the context was there */
    FAULT_KINDS
} FaultKind;
typedef struct {
    FaultKind kind;
    guint16 gpu;
    const char *who; /* program name or NULL */
    guint32 cta;
    guint64 va; /* or offset in the object (FAULT_UNBOUND) */
    guint32 object;
    guint8 uop; /* UopKind */
    SimTime time_ps;
    const char *text;  /* more about it, or NULL; not owned */
    const void *cause; /* the launch or copy that met it, as its caller knows it; NULL: not told */
} FabricFault;
const char *fault_kind_text(FaultKind kind);
FaultKind fault_kind_of(TxnFault state); /* FAULT_NONE: none */

typedef struct {
    const Hash *hash;
    guint8 *link; /* links of each GPU that carry the team */
    guint32 n;
    McObject *object;
} McRoute;

/* Operations as their requesters saw them: one row for each kind of request of one target class. */
typedef struct {
    guint64 count, bytes;
    SimTime first_ps, last_ps; /* first issue, last completion */
    Hist latency_ps;
} OpStats;
typedef struct {
    OpStats *kind[PACKET_MC_READ + 1]; /* by PacketKind of the request; NULL: none yet */
} OpTable;

struct Cta;
typedef struct Fabric {
    Sim *sim;
    FabricSpec spec;
    Policies policies; /* of spec.policy */
    gboolean keep_bytes;
    Memory *memory;
    struct Gpu *gpu;
    struct Switch *sw;
    struct Link *link;         /* of all GPUs, one after the other: those up, then those down */
    struct Topology *topology; /* model/fabric/topology.h: which switch each link goes to */
    struct Link *trunk;        /* of trunk t: up at 2 * t, down at 2 * t + 1; */
    guint16 *trunk_port;       /* and its port at the leaf, and at the spine */
    guint32 n_trunks;
    TxnPool *txns;             /* by GPU: its outstanding transactions */
    McRequests *requests;      /* by switch: the multicast requests in progress there */
    guint32 n_switches, links; /* links of a GPU */
    LinkSet *alive;            /* by GPU: its links that are up; NULL: all are */
    guint8 *silent;            /* by GPU: it answers nothing; NULL: all answer, always */
    guint8 *left;              /* by GPU: its memory has left all teams; NULL: none ever does */
    struct FaultPlan *plan;    /* model/fabric/fault.h; NULL: nothing breaks */
    gboolean lossy;            /* packets may be lost, or routes change, during the run: in the reference engine */
    DataPool *data;            /* of the GPUs; of each switch, where it is a domain of its own */
    struct Parallel *parallel; /* several domains (model/parallel); NULL: there is one */
    Hash hash;
    Hash *mc_hash;     /* by number of links carrying a team, where not all do; [0] unused */
    McRoute *mc_route; /* by MCID */
    GArray *mcid_free;
    GPtrArray *objects;   /* McObject by id, [0] NULL; not owned */
    guint64 object_top;   /* where the next object's addresses begin */
    GPtrArray *op_object; /* OpTable by object id */
    OpTable op_remote, op_local;
    StatRegistry *stats;
    Log *log;                 /* may be NULL; not owned */
    GQueue flows;             /* of device/flow/: DeviceFlow that are not over */
    GQueue launches;          /* of device/: DeviceLaunch that are under way */
    struct FlowNet *flow;     /* bulk loops are flows (model/flow/rates.h); NULL: every packet is simulated */
    struct PortShares *ports; /* used by flows alone, as are the next three */
    struct LoadShares *loads;
    struct PortHolds *holds;
    struct IssueRates *issue_rates;
    GArray *faults; /* FabricFault: the first FABRIC_FAULTS_KEPT */
    guint64 n_faults;
    void (*on_fault)(const FabricFault *fault, void *user);
    void *on_fault_user;
    const TxnAtomic *atomic; /* of TXN_ATOM_CALL; NULL: nothing uses it */
    Probe probe;             /* fabric_observe; NULL: off */
    void *probe_user;
    void (*on_cta)(void *user, const struct Cta *cta, gboolean begins, SimTime at_ps); /* on an SM; NULL: not told */
    void *on_cta_user;
} Fabric;
#define FABRIC_FAULTS_KEPT 100

/* ---- routes: route.c */

/* Link of gpu for a 256 B chunk of a multicast object, and of another GPU's memory: by the hash of its address, or, if
 * that link is lost, by one that both GPUs still have. */
guint32 route_multicast(const Fabric *fabric, const McObject *object, guint64 offset);
guint32 route_unicast(const Fabric *fabric, guint16 gpu, guint8 hash_turn, const MemRegion *region, guint64 offset);
static inline gboolean fabric_is_silent(const Fabric *fabric, guint16 gpu)
{
    return fabric->silent && fabric->silent[gpu];
}

/* ---- faults and accounts: account.c */

void fabric_fault(Fabric *fabric, const FabricFault *fault);
OpStats *fabric_count_first(OpTable *table, guint32 kind, SimTime start_ps); /* of its kind */
static inline void fabric_count(OpTable *table, guint32 kind, guint32 bytes, SimTime start_ps, SimTime end_ps)
{
    OpStats *stats = table->kind[kind];
    if (G_UNLIKELY(!stats))
        stats = fabric_count_first(table, kind, start_ps);
    stats->count++;
    stats->bytes += bytes;
    stats->first_ps = MIN(stats->first_ps, start_ps); /* completions overtake each other */
    stats->last_ps = MAX(stats->last_ps, end_ps);
    hist_add(&stats->latency_ps, end_ps - start_ps);
}
void fabric_account_fault(Fabric *fabric, guint16 gpu, const Txn *txn);
/* `gpu` is the requester. */
static inline void fabric_account(Fabric *fabric, guint16 gpu, const Txn *txn, gboolean local, SimTime now_ps)
{
    OpTable *table = local ? &fabric->op_local : &fabric->op_remote;
    if (txn->kind >= PACKET_MC_WRITE)
        table = g_ptr_array_index(fabric->op_object, txn->object->id);
    fabric_count(table, txn->kind, txn->bytes, txn->start_ps, now_ps);
    if (G_UNLIKELY(txn->state != TXN_OK && !txn->reported))
        fabric_account_fault(fabric, gpu, txn);
}

#endif
