/* The fabric: all GPUs, links and switches of one system, and what they share.
 *
 * fabric_new() builds everything from a FabricSpec (a preset); stages meet only here: each link gets its sink.
 * Topology: one level of switches; links_per_switch says how many links each GPU has to each switch, and
 * link l of every GPU goes to the same switch. */
#ifndef MODEL_FABRIC_FABRIC_H
#define MODEL_FABRIC_FABRIC_H

#include "model/fabric/fault.h"
#include "model/gpu/gpu.h"
#include "model/memory/address_hash.h"
#include "model/shared/probe.h"
#include "model/sm/sm.h"
#include "model/switch/switch.h"
#include "sim/log.h"

typedef struct {
    char *title;                /* for people; belongs to the ParamSet */
    guint64 gpus;
    ParamList links_per_switch; /* of each GPU: one number for each switch */
    guint64 host_MBps;          /* link between a GPU and its host, one direction */
    guint64 host_ps;            /* its latency */
} SystemSpec;
extern const ParamRow system_params[];

/* What a measured time contains beside the kernel: one constant for each way of timing and program. The
 * fabric itself never uses them; comparisons with published figures do. */
typedef struct {
    guint64 stream_nccl_ps;    /* NCCL, one process: its thread's time for each rank's launch */
    guint64 kernel_kernel_ps;  /* hand-written kernel, timed as a kernel */
    guint64 eager_kernel_ps;   /* hand-written kernel, launched one by one */
    guint64 graph_nccl_sym_ps; /* NCCL's symmetric kernels in a CUDA graph: from one kernel to the next */
    guint64 eager_nccl_sym_ps; /* one by one, one process: its turn round all GPUs, beside which kernels run */
    guint64 graph_nccl_ps;     /* classic NCCL in a CUDA graph */
    guint64 eager_nccl_ps;     /* classic NCCL, back to back */
    guint64 nvls_start_ps;     /* classic NCCL's NVLS kernel, before its first copy */
    guint64 eager_torch_ps;    /* classic NCCL by PyTorch, each call alone between two events */
} LaunchSpec;
extern const ParamRow launch_params[];

typedef struct FabricSpec {
    SystemSpec system;
    LinkSpec link;
    SwitchSpec sw;
    McTableSpec mctable;
    GpuSpec gpu;
    SmSpec sm;
    FaultSpec fault;
    LaunchSpec launch;
} FabricSpec;
/* All sections of a spec: "system", "link", "switch", "multicast", "gpu", "sm", "fault". */
void fabric_params(ParamSet *set, FabricSpec *spec);

typedef enum {
    FAULT_NONE,
    FAULT_UNMAPPED,             /* no memory behind the address */
    FAULT_ACCESS,               /* this GPU has no right to it */
    FAULT_PLAIN_ON_MULTICAST,   /* ld, st, red, atom on a multicast address: undefined in PTX */
    FAULT_MULTIMEM_ON_UNICAST,  /* multimem.* on a unicast address: undefined in PTX */
    FAULT_TEAM_INCOMPLETE,      /* the object's team is not complete */
    FAULT_UNBOUND,              /* a member has no memory bound there */
    FAULT_TIMEOUT,              /* a member did not answer: CRUMBSTORE_MCTO_ERR, CRUMBSTORE_RTO_ERR */
    FAULT_MISALIGNED,           /* no multiple of the access's width */
    FAULT_ILLEGAL_FORM,         /* a multimem form that PTX does not have; text says which rule */
    FAULT_KINDS
} FaultKind;
typedef struct {
    FaultKind kind;
    guint16 gpu;
    const char *who;            /* program name or NULL */
    guint32 cta;
    guint64 va;                 /* or offset in the object (FAULT_UNBOUND) */
    guint32 object;
    guint8 uop;                 /* UopKind */
    SimTime time_ps;
    const char *text;           /* more about it, or NULL; not owned */
} FabricFault;
const char *fault_kind_text(FaultKind kind);

typedef struct {
    const Hash *hash;
    guint8 *link;               /* links of each GPU that carry the team */
    guint32 n;
} McRoute;

/* Operations as their requesters saw them: one row for each kind of request of one target class. */
typedef struct {
    guint64 count, bytes;
    SimTime first_ps, last_ps;  /* first issue, last completion */
    Hist latency_ps;
} OpStats;
typedef struct {
    OpStats *kind[PACKET_MC_READ + 1]; /* by PacketKind of the request; NULL: none yet */
} OpTable;

typedef struct Fabric {
    Sim *sim;
    FabricSpec spec;
    gboolean keep_bytes;
    Memory *memory;
    Gpu *gpu;
    Switch *sw;
    Link *link;                 /* of all GPUs, one after the other: those up, then those down */
    LinkCredits *credit;        /* their accounts: of all links up, a switch after the other, then of those down */
    LinkBatches *batches;
    GpuPort *port;              /* of all GPUs */
    guint32 n_switches, links;  /* links of a GPU */
    guint8 *link_switch, *link_k; /* of link l: its switch, and its number among the GPU's links there */
    guint64 *alive;             /* by GPU: bit for each link that is up; NULL: all are */
    guint32 n_silent;           /* GPUs that answer nothing */
    DataPool *data;             /* of the GPUs; of each switch, where it is a domain of its own */
    struct Exchange *exchange;  /* between these (model/parallel/mailbox.h); NULL: there is one domain */
    Hash hash;
    Hash *mc_hash;              /* by number of links carrying a team, where not all do; [0] unused */
    McRoute *mc_route;          /* by MCID */
    GArray *mcid_free;
    GPtrArray *objects;         /* McObject by id, [0] NULL; not owned */
    guint64 object_top;         /* where the next object's addresses begin */
    GPtrArray *op_object;       /* OpTable by object id */
    OpTable op_remote, op_local;
    StatRegistry *stats;
    Log *log;                   /* may be NULL; not owned */
    struct FlowNet *flow;       /* bulk loops are flows (model/flow/rates.h); NULL: every packet is simulated */
    struct PortShares *ports;   /* likewise, */
    struct LoadShares *loads;
    struct PortHolds *holds;
    struct SmPlays *plays;
    GArray *faults;             /* FabricFault: the first FABRIC_FAULTS_KEPT */
    guint64 n_faults;
    void (*on_fault)(const FabricFault *fault, void *user);
    void *on_fault_user;
    Probe probe;                /* fabric_observe; NULL: off */
    void *probe_user;
} Fabric;
#define FABRIC_FAULTS_KEPT 100

/* Whether it can be built. GError: names section and key. */
gboolean fabric_check(const FabricSpec *spec, GError **error);
/* keep_bytes: FALSE for timing-only runs. GError: an impossible spec (names section and key). */
Fabric *fabric_new(Sim *sim, const FabricSpec *spec, gboolean keep_bytes, GError **error);
void fabric_free(Fabric *fabric);

/* Gives a complete team its multicast ID and programs every switch; FALSE: tables full (nothing changed). */
gboolean fabric_mc_attach(Fabric *fabric, McObject *object);
void fabric_mc_detach(Fabric *fabric, McObject *object);
/* New object with the next id, known to the statistics; free with mcobject_free after detaching. */
McObject *fabric_mc_object(Fabric *fabric, guint32 n_gpus, guint64 bytes);

/* Calls `probe` at every probe point from now on; NULL: stops. */
void fabric_observe(Fabric *fabric, Probe probe, void *user);

void fabric_fault(Fabric *fabric, const FabricFault *fault);
OpStats *fabric_count_first(OpTable *table, guint32 kind, SimTime start_ps); /* of its kind */
void fabric_count_again(OpStats *stats, SimTime latency_ps);                 /* a train is two operations */
static inline __attribute__((always_inline)) void fabric_count(OpTable *table, guint32 kind, guint32 bytes,
                                                              gboolean train, SimTime start_ps, SimTime end_ps)
{
    OpStats *stats = table->kind[kind];
    if (G_UNLIKELY(!stats))
        stats = fabric_count_first(table, kind, start_ps);
    stats->count++;
    stats->bytes += bytes;
    stats->first_ps = MIN(stats->first_ps, start_ps); /* completions overtake each other */
    stats->last_ps = MAX(stats->last_ps, end_ps);
    hist_add(&stats->latency_ps, end_ps - start_ps);
    if (G_UNLIKELY(train))
        fabric_count_again(stats, end_ps - start_ps);
}
void fabric_account_fault(Fabric *fabric, guint16 gpu, const Txn *txn);
/* `gpu`: who asked. */
static inline __attribute__((always_inline)) void fabric_account(Fabric *fabric, guint16 gpu, const Txn *txn,
                                                                gboolean local, SimTime now_ps)
{
    OpTable *table = local ? &fabric->op_local : &fabric->op_remote;
    if (txn->kind >= PACKET_MC_WRITE)
        table = g_ptr_array_index(fabric->op_object, txn->object->id);
    fabric_count(table, txn->kind, txn->bytes, txn->train, txn->start_ps, now_ps);
    if (G_UNLIKELY(txn->state != TXN_OK))
        fabric_account_fault(fabric, gpu, txn);
}
/* The same of a plain access to the GPU's own memory, as soon as its end is known. */
void fabric_account_plain(Fabric *fabric, const GpuRequest *request, SimTime start_ps, SimTime end_ps);
gboolean fabric_is_quiet(const Fabric *fabric); /* nothing in flight, all credits at home */
guint64 fabric_crossings(const Fabric *fabric); /* packets that crossed a link so far */

#endif
