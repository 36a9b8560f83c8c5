/* Specs: the parameters of every stage, as a preset, --config and --set fill them in.
 *
 * They stand in one header, below all stages, because some are needed by several of them. A spec never changes during a
 * run. Units are the last part of each name. The rows with bounds and descriptions (ParamRow) are in the source file of
 * the stage that a spec belongs to; the sources of the values stand in the presets. */
#ifndef MODEL_SHARED_SPEC_H
#define MODEL_SHARED_SPEC_H

#include <glib.h>

#include "sim/param/param.h"

/* [system]: what a fabric is made of. */
typedef struct {
    char *title; /* for people; belongs to the ParamSet */
    guint64 gpus;
    ParamList links_per_switch; /* of each GPU: one number for each switch */
    guint64 host_MBps;          /* link between a GPU and its host, one direction */
    guint64 host_ps;            /* its latency */
    guint64 host_fence_ps;      /* what this host adds to a fence.sys */
} SystemSpec;
extern const ParamRow system_params[];

/* [topology]: which switch each link goes to, and what joins the switches; model/fabric/topology.h. */
typedef enum { TOPOLOGY_RAILS, TOPOLOGY_TWO_LEVEL, TOPOLOGY_RULES } TopologyKind;

typedef struct {
    int kind;           /* TopologyKind */
    guint64 leaf_gpus;  /* two_level: GPUs of a group, which have a set of leaf switches to themselves */
    ParamList spines;   /* two_level: spine switches of each leaf of a group, by place in links_per_switch */
    guint64 trunks;     /* two_level: links from a leaf to each of its spines */
    guint64 trunk_MBps; /* flits of one direction of a trunk */
    guint64 trunk_flight_ps;
    guint64 trunk_credits_flits; /* buffer of each VC at a trunk's end */
    guint64 switch_ports;        /* that one switch has; 0: as many as are wired */
    char *wire;                  /* rules: "gpu*.link[0-8] -> leaf{gpu/8}.port*; ..."; "none" */
} TopologySpec;
extern const ParamRow topology_params[];

/* [link]: one direction of one NVLink; model/link. */
typedef struct {
    guint64 rate_MBps;            /* flits of one direction */
    guint64 flight_ps;            /* port to port */
    guint64 credits_switch_flits; /* buffer of each VC at a switch ingress */
    guint64 credits_gpu_flits;    /* buffer of each VC at a GPU ingress */
    guint64 credit_batch_ps;      /* credits freed within so long travel back together */
    guint64 error_ppb;            /* transmissions hit by a bit error, replays too, per 10^9 */
    guint64 replay_ps;            /* time lost until the packet is sent again */
} LinkSpec;
extern const ParamRow link_params[];

/* [switch]: model/switch. */
typedef enum { REDUCE_ORDER_ARRIVAL, REDUCE_ORDER_RANK } ReduceOrder;
typedef enum { REDUCE_HOLD, REDUCE_ACCUMULATE } ReduceHold;

typedef struct {
    guint64 latency_ps;     /* ingress to egress */
    guint64 cycle_ps;       /* of the switch core */
    guint64 crossbar_bytes; /* a cycle and port */
    guint64 multicast_tags; /* outstanding multicast writes of a requester's port */
    guint64 reduction_tags; /* outstanding ld_reduce of a requester's port */
    guint64 reduction_buffer_bytes;
    int reduction_hold;    /* ReduceHold: keep all operands, or sum on arrival */
    int reduction_order;   /* ReduceOrder: of the operands of a sum */
    guint64 reduction_ps;  /* last operand to result */
    guint64 request_flits; /* multimem.ld_reduce request: header + operation */
    guint64 replica_ack_flits;
    guint64 done_flits;     /* merged acknowledgement to the requester */
    guint64 done_merge_max; /* merged acknowledgements in one packet; 1: none */
    guint64 done_timer_ps;
    guint64 merge_entries;    /* of a port's table of loads that are merged (merge.c); 0: none are */
    guint64 merge_readers;    /* that ask for a line; 0: all GPUs but its own */
    guint64 merge_timeout_ps; /* an entry that was not used for so long is free */
    char *component;          /* a shared object that takes the switches' place; "none" */
} SwitchSpec;
extern const ParamRow switch_params[];

/* [multicast]: the multicast tables of a switch; model/switch/multicast_table.h. */
typedef enum {
    MC_OVERFLOW_EXTENDED, /* directives beyond a main entry's go to extended entries, while there are any */
    MC_OVERFLOW_DROP,     /* use only as many spray groups (links of each GPU) as fit a main entry */
} McOverflow;

typedef struct {
    guint64 entries; /* main entries = multicast IDs */
    guint64 extended_entries;
    guint64 directives; /* ports over all spray groups of an entry */
    guint64 spray_groups;
    guint64 round_directives; /* directives served in one crossbar round */
    guint64 rounds;
    int overflow;      /* McOverflow */
    guint64 set_flits; /* of each request, which name its members; 0: an entry of the table does */
} McTableSpec;
extern const ParamRow mctable_params[];

/* [gpu]: model/gpu. */
typedef struct {
    guint64 out_ps;          /* SM to NVLink port */
    guint64 in_ps;           /* NVLink port to SM */
    guint64 l2_ps;           /* request at the home GPU to answer at its port, L2 hit */
    guint64 dram_ps;         /* more than that when the line comes from HBM */
    guint64 atomic_ps;       /* more than that for an atomic's answer; */
    guint64 local_ps;        /* load from the GPU's own L2 */
    guint64 local_dram_ps;   /* more than that when the line comes from HBM */
    guint64 local_atomic_ps; /* more than that for an atomic */
    guint64 local_MBps;      /* own L2 */
    guint64 hbm_MBps;
    guint64 hbm_read_permille, hbm_write_permille;  /* of it, that either alone reaches; and what a mixture loses: */
    guint64 hbm_turns_permille, hbm_batch_permille; /* HbmRate (model/gpu/hbm.h) */
    /* How late reads are (model/gpu/hbm.h). */
    guint64 hbm_refresh_ps, hbm_refresh_period_ps, hbm_turn_ps;
    guint64 l2_bytes;               /* a sweep over more than this misses */
    guint64 source_queue_packets;   /* requests of SMs waiting at one port */
    guint64 out_packets;            /* of the SMs of a CPC, behind those in order */
    guint64 half_gpcs;              /* bit i: GPC i stands in the second half */
    guint64 response_queue_packets; /* answers waiting at one port before its requests are held up */
    guint64 ack_merge_max;          /* writes answered by one packet */
    guint64 ack_timer_ps;
    gboolean ack_flush_on_read;  /* a read response to the same requester flushes the accumulator */
    guint64 ack_hold_off_ps;     /* do not merge for this long after a read response; 0: merge always */
    guint64 byte_enable_flits;   /* of a write that is not whole 16 B units */
    guint64 operation_flits;     /* of a red or atomic, beside a write's */
    guint64 engine_packet_bytes; /* copy engine payload */
    guint64 engine_in_flight;    /* packets of one copy */
    guint64 engine_ps;           /* start of a copy engine's work */
    guint64 engines;
    guint64 fabric_queue;         /* operations on endpoints that wait in the fabric engine's queue */
    guint64 fabric_operations;    /* that it works on at once, */
    guint64 fabric_in_flight;     /* with so many packets each */
    guint64 fabric_post_ps;       /* SM to queue */
    guint64 fabric_retry_ps;      /* a post that found it full */
    guint64 fabric_start_ps;      /* before an operation's first packet */
    guint64 fabric_issue_ps;      /* between two packets of the engine */
    guint64 fabric_report_ps;     /* last answer to the mbarrier */
    guint64 fabric_counter_flits; /* of a counted request, beside others' */
    gboolean hash_by_gpu;         /* the owner's port of a line depends on which GPU asks */
} GpuSpec;
extern const ParamRow gpu_params[];

/* [sm]: model/sm. */
typedef enum { SM_ROUND_ROBIN, SM_GREEDY } SmArbitration;

typedef struct {
    guint64 count;   /* SMs of a GPU */
    guint64 tpc_sms; /* SMs of a TPC */
    guint64 gpcs;
    guint64 first_tpcs; /* of the first GPC: model/sm/place.h */
    guint64 ctas_max;   /* resident on one SM */
    guint64 warps_max;
    guint64 clock_ps;                                        /* a cycle */
    guint64 registers;                                       /* of 32 bits */
    guint64 shared_bytes, shared_cta_bytes, shared_reserved; /* of an SM, of a CTA at most, by each beside */
    guint64 load_ps;                                         /* LSU time of one load packet */
    guint64 store_ps;                                        /* of one store packet that leaves the GPU */
    guint64 local_store_ps;                                  /* of one to the GPU's own memory */
    guint64 merge_ps;                                        /* of one that merges with a store that waits */
    guint64 conflict_ps;         /* more for each 128 B of a store's lanes beyond the first to one line */
    guint64 out_packets;         /* of one SM waiting for ports */
    gboolean merge_stores;       /* with what waits there */
    guint64 loads_max;           /* load packets in flight of one SM */
    guint64 stores_max;          /* store packets in flight of one SM */
    guint64 warp_issue_ps;       /* from the last memory instruction of a turn of a loop to the next turn */
    guint64 fence_ps;            /* fence.sys with nothing outstanding */
    guint64 fence_issue_ps;      /* between two fences of one of an SM's schedulers */
    guint64 fence_join_ps;       /* how long after its start a flush takes others along */
    guint64 fence_snapshot_ps;   /* from the start of a flush to when it notes what is outstanding */
    guint64 fence_round_ps;      /* least time of a round of flushes of all SMs */
    guint64 fence_return_ps;     /* last answer to the flush's end */
    guint64 fence_overlap_ps;    /* before a flush's end its SM begins the next */
    gboolean fence_gpu_wide;     /* it waits for all stores of its GPU, not only of its warp */
    guint64 poll_ps;             /* instructions of a polling loop, beside its load */
    guint64 acquire_ps;          /* what an acquire adds to the load that made it */
    guint64 acquire_diverged_ps; /* of a kernel, while other lanes of its warp are elsewhere */
    guint64 barrier_ps;          /* bar.sync once the last warp is there */
    guint64 fence_gpu_ps;        /* a fence of the GPU's scope */
    guint64 cta_ps, cta_warp_ps; /* from the start of a kernel's CTA to that of the next one of the GPU; more a warp */
    guint64 launch_ps;           /* kernel launch to first instruction */
    guint64 exit_ps;             /* last instruction to end of the kernel */
    guint64 exit_drain_ps;       /* last store performed to end of the kernel, if that is later */
    guint64 queued_ps;           /* kernels of PTX: last store performed to the start of the next one of the stream, */
    guint64 graph_break_ps;      /* more in a graph where event records stand between the two, */
    guint64 graph_event_ps;      /* and more for each of these */
    guint64 dependent_ps;        /* the same with programmatic launch: from the trigger to its start, and from the last
                              * store to the end of its griddepcontrol.wait */
    guint64 next_ps;             /* last instruction to the first of the next kernel on its stream */
    guint64 code_ps;             /* fetch of 1 KiB of code that the CTA runs for the first time */
    int arbitration;             /* SmArbitration */
    guint64 arch;                /* compute capability times ten: 90 is sm_90 */
} SmSpec;
extern const ParamRow sm_params[];

/* [policy]: decisions that can be exchanged, by name; model/shared/policy.h. */
typedef struct {
    char *library; /* a shared object; "none" */
    char *arbiter, *replication, *reduction, *hash;
    guint64 request_weight, response_weight;
} PolicySpec;
extern const ParamRow policy_params[];

/* [fault]: what is broken, and when; model/fabric/fault.h. Lists of NAME[:AMOUNT][@FROM[-UNTIL]], or "none". */
typedef struct {
    char *link_down;                      /* "gpu0.link3,leaf1.port32@20us-50us" */
    char *link_degraded;                  /* "gpu0.link3:25": percent of its rate that it keeps, */
    guint64 degraded_percent;             /* or this */
    char *link_errors;                    /* "gpu0.link3:1000": transmissions hit, per 10^9 */
    char *switch_down;                    /* "switch0,switch2" */
    char *gpu_silent;                     /* "gpu3" */
    char *gpu_slow;                       /* "gpu3:50": percent of its clocks */
    char *member_leaves;                  /* "gpu3" */
    char *entries_taken, *extended_taken; /* "switch0:120": of its multicast table */
    guint64 manager_ps;                   /* fabric manager's reaction; 0: never */
    guint64 request_timeout_ps, multicast_timeout_ps, reduction_timeout_ps; /* 0: never */
    gboolean live; /* what loses packets may come at run time: fault_add() */
    /* no keys, the caller's: */
    guint64 begin_ps; /* time, as faults count it, at which this fabric's clock begins */
    gboolean lasting; /* faults with a time are left out */
} FaultSpec;
extern const ParamRow fault_params[];

/* All of a system. */
typedef struct FabricSpec {
    SystemSpec system;
    TopologySpec topology;
    LinkSpec link;
    SwitchSpec sw;
    McTableSpec mctable;
    GpuSpec gpu;
    SmSpec sm;
    PolicySpec policy;
    FaultSpec fault;
    const void *above; /* what rooms above the model know of the system (device/launch_time.h); handed on unread */
} FabricSpec;

#endif
