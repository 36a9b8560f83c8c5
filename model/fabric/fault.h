/* Faults: parts of the fabric that are broken from the start of a run, or break and recover while it goes on.
 *
 * What hardware it stands for: links that did not train or lost lanes, bit errors with replay, a switch that is off, a
 * GPU that hangs or is throttled, a member that leaves its teams, multicast tables that others have a part of; the
 * switches' and GPUs' time-outs (CRUMBSTORE_MCTO_ERR, CRUMBSTORE_RTO_ERR, ATO_ERR); and the Fabric Manager, which
 * notices a lost link or switch and programs routes and teams around it, and back when it is up again.
 * Modelled: what [fault] says (model/fabric/fault_plan.h reads it). What then happens:
 * - link down: nothing starts on it, what is on the wire arrives; packets wait. If it comes up before the manager has
 *   reacted (manager_ps), they go on, as after a replay of the data-link layer, and nothing is lost. Else all that
 *   waits or still comes is lost (model/fabric/loss.h), and from then on:
 *   - unicast: chunks whose hash picks a lost link are spread over the links that both GPUs still have to the same
 *     switch port; the others stay where they were;
 *   - multicast: a link number that any member has lost carries nothing of that team (its spray group is
 *     dropped), so that copies and operands still meet in one switch; trees over two levels are planted anew;
 * - switch down: all its links are;
 * - silent GPU: what comes to it vanishes; once all others have answered, a request of the switch ends with an error
 *   when its time is over; without a time-out (0) the run gets stuck and says who waits for whom. A slow member is
 *   never timed out;
 * - slow GPU: its SMs, its L2 and its HBM take so much longer for all that their clocks give the time of (what it
 *   takes to cross the chip between an SM and a port stays); several such faults at once: the slowest counts;
 * - member_leaves: its memory is unbound from all teams, so that requests to them end with an error, and bound again;
 * - tables taken: teams made from then on have the rest.
 * Left out: training, power states, retries, the reset that such errors end in.
 * Sources: error names: docs/hardware.md, "Time-outs and errors". What the manager does: NVIDIA Fabric Manager
 * User Guide (NVLink failures on access and trunk links, degraded operation); GB200 NVL Partition User Guide. */
#ifndef MODEL_FABRIC_FAULT_H
#define MODEL_FABRIC_FAULT_H

#include "model/shared/spec.h"
#include "sim/engine/simtime.h"
#include "sim/report/report.h"

struct Fabric;
/* Once the fabric is built: what the spec says will break, and whether packets may be lost by it (Fabric.lossy).
 * GError: a name that the system has not, a time-out too short for it. */
gboolean fault_open(struct Fabric *fabric, GError **error);
/* Breaks it, now or later, when all ports have their engine. GError: two GPUs left without a common link, or leaves
 * without a common spine, at any time. */
gboolean fault_apply(struct Fabric *fabric, GError **error);
void fault_close(struct Fabric *fabric);
/* One more fault from now on, while the fabric stands still between two slices of time; lasts_ps 0: for good. `key` and
 * `part` as in [fault] ("link_degraded", "gpu0.link3:50"), without a time. GError: a name that the system has not; what
 * would lose packets where FaultSpec.live is not set; two GPUs left without a common link. */
gboolean fault_add(struct Fabric *fabric, const char *key, const char *part, SimTime lasts_ps, GError **error);
/* Whether something changes during the run, or is slower than flows know. */
gboolean fault_needs_packets(const FaultSpec *spec);

/* Whether link l of a GPU, wired to switch `sw`, is down from the start by what the spec names. */
gboolean fault_takes_link(const FaultSpec *spec, guint32 gpu, guint32 l, guint32 sw);

/* Whether one of them has a time. */
gboolean fault_comes_or_goes(const FaultSpec *spec);

/* What one fault is, in times of the run, and what it cost. */
typedef struct {
    char *name;       /* "link_down gpu0.link3@20us" */
    SimTime at_ps[4]; /* it came and went, the manager reacted and reacted again; SIMTIME_NEVER: never */
    guint64 lost, replays;
    SimTime waited_ps;
} FaultCost;
/* FaultCost of each fault, with what it has cost up to now; to be freed by g_array_unref(). */
GArray *fault_costs(const struct Fabric *fabric);
/* Adds what the same faults cost in another fabric. *to NULL: it becomes a copy. */
void fault_costs_add(GArray **to, const GArray *from);
/* Table "fault_timeline": one row a fault. Nothing where there is none. */
void fault_costs_report(const GArray *costs, Report *report);
/* That table of one fabric. */
void fault_add_table(const struct Fabric *fabric, Report *report);
/* Whether it comes when a run has ended, of which it then says nothing. */
gboolean fault_is_late(const FaultCost *cost, SimTime end_ps);
/* A note that such a fault changed nothing. */
void fault_note_late(const char *name, SimTime from_ps, SimTime end_ps, Report *report);
/* One for each of them that is. */
void fault_costs_note_late(const GArray *costs, SimTime end_ps, Report *report);

#endif
