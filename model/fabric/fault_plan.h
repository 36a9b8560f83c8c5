/* A fault plan: what [fault] says, read: which part breaks in which way, from when until when. */
#ifndef MODEL_FABRIC_FAULT_PLAN_H
#define MODEL_FABRIC_FAULT_PLAN_H

#include "model/link/link.h"
#include "model/shared/fabric.h"

/* In the order of the rows of fault_keys[]. */
typedef enum {
    FAULT_LINK_DOWN,
    FAULT_LINK_DEGRADED,
    FAULT_LINK_ERRORS,
    FAULT_SWITCH_DOWN,
    FAULT_GPU_SILENT,
    FAULT_GPU_SLOW,
    FAULT_MEMBER_LEAVES,
    FAULT_ENTRIES_TAKEN,
    FAULT_EXTENDED_TAKEN,
    FAULT_KEYS
} FaultKey;

/* One direction of a link that a fault is about, and what it cost up to `seen_ps`. */
typedef struct {
    Link *link;
    SimTime waited_ps; /* packets waited for it, or were longer on it */
    guint64 lost, replays;
    guint64 seen_flits, seen_replays; /* of the link, when the cost was last added up */
} FaultLink;

typedef struct {
    FaultKey key;
    char *name;                    /* as it is written, "gpu0.link3:50@20us-50us" */
    guint32 part;                  /* number of its GPU, or switch; of a link at gpu * links + link; of a trunk, */
    gboolean trunk;                /* if it is one */
    guint64 amount;                /* behind ':'; 0: none is given */
    SimTime from_ps, until_ps;     /* 0: from the start; SIMTIME_NEVER: until the end */
    SimTime known_ps, restored_ps; /* the fabric manager's reactions: routes avoid it between these; equal: never */
    SimTime told_ps[4];            /* these four before FaultSpec.begin_ps was taken off */
    GArray *links;                 /* FaultLink */
    SmSpec *slow_sm;               /* gpu_slow: times of its SMs, */
    GpuSpec *slow_gpu;             /* and of its L2 and HBM */
} FaultItem;

typedef struct FaultPlan {
    GPtrArray *items;  /* FaultItem */
    GPtrArray *events; /* FaultEvent, of fault.c */
    struct Loss *loss; /* of loss.c, by link */
} FaultPlan;

/* NULL with a GError (PARAM_ERROR): a name that the system has not, or a time that is none. `fabric` is built. */
FaultPlan *fault_plan_new(const Fabric *fabric, GError **error);
void fault_plan_free(FaultPlan *plan);
/* One more while the fabric runs, from from_ps on; lasts_ps 0: for good. `key` as in [fault], `part` as there without a
 * time. It is the plan's last. NULL with a GError (PARAM_ERROR), which says what is right. */
FaultItem *fault_plan_add(const Fabric *fabric, const char *key, const char *part, SimTime from_ps, SimTime lasts_ps,
                          GError **error);
const char *fault_key_name(FaultKey key);
/* Adds up what a fault that is on has cost at one of its links since that was last done; of fault.c. */
void fault_link_cost(const Fabric *fabric, const FaultItem *item, FaultLink *link, SimTime now_ps);

/* Of fault.c, for faults that come while the fabric runs (fault_live.c). Time-outs that are too short for losses; two
 * GPUs without a common link at that time; the first change after a time, of routes alone or of anything; the times of
 * an item at which something changes; an event that sets all that is on that clock. */
gboolean fault_check_timeouts(const Fabric *fabric, GError **error);
gboolean fault_check_paths(const Fabric *fabric, SimTime at_ps, GError **error);
SimTime fault_next_ps(const Fabric *fabric, SimTime after_ps, gboolean routes_alone);
void fault_item_times(const FaultItem *item, SimTime times[4]);
void fault_schedule(Fabric *fabric, Sim *sim, SimTime at_ps);

/* Of fault_gpu.c: the times of a slow GPU; and all that is so of GPUs from now on. */
void fault_gpu_prepare(const Fabric *fabric, FaultItem *item);
void fault_set_gpus(Fabric *fabric, SimTime now_ps);

static inline FaultItem *fault_plan_item(const FaultPlan *plan, guint i) { return plan->items->pdata[i]; }
static inline gboolean fault_item_is_on(const FaultItem *item, SimTime at_ps)
{
    return item->from_ps <= at_ps && at_ps < item->until_ps;
}
static inline gboolean fault_item_is_known(const FaultItem *item, SimTime at_ps)
{
    return item->known_ps <= at_ps && at_ps < item->restored_ps;
}

#endif
