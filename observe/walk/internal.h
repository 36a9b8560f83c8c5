/* Shared by the files of this room. */
#ifndef OBSERVE_WALK_INTERNAL_H
#define OBSERVE_WALK_INTERNAL_H

#include "observe/walk/walk.h"

/* ---- wait.c: where a walked packet waits, and for what */

typedef struct WalkWaits WalkWaits;

/* Times are rounded up to whole picoseconds: less than this is no wait. */
#define WALK_WAIT_LEAST_PS 50

typedef struct {
    SimTime from_ps;          /* it began */
    SimTime ps[WALK_REASONS]; /* for each reason; 0: not for this one */
    guint before;             /* packets before it, or writes that one acknowledgement answers */
} WalkWait;

WalkWaits *walk_waits_new(Fabric *fabric);
void walk_waits_free(WalkWaits *waits);
/* Whether a packet that the observer saw belongs to the walk; `region`: what its store writes to. */
gboolean walk_waits_is_own(WalkWaits *waits, const ProbeEvent *event, const MemRegion *region);
/* Called for every packet of the walk: what it waited for since its last step. */
WalkWait walk_waits_own(WalkWaits *waits, const ProbeEvent *event);
/* Called for every other packet: it may stand before one of the walk. */
void walk_waits_other(WalkWaits *waits, const ProbeEvent *event);

/* ---- steps.c: steps of a walk, or of a whole run */

/* An event as a step at that time; its text is the caller's to fill in. GArrays of steps may be of structures that
 * begin with one. */
WalkStep walk_step(const Fabric *fabric, const ProbeEvent *event, SimTime begin_ps, guint sequence);
void walk_steps_sort(GArray *steps); /* by time, then as they came */
/* Gives the steps to a scene. */
void walk_steps_show(const GArray *steps, Recorder *recorder);

/* ---- text.c: what a person reads of one step */

typedef struct {
    guint32 expected, got; /* answers of replicas, at one switch */
} WalkCount;
/* count: by switch, all 0 before the first step; replica: of a multicast request, or an answer to one. */
char *walk_text(const Fabric *fabric, const ProbeEvent *event, gboolean replica, WalkCount *count);
const char *walk_cargo(const Packet *packet); /* what it is, in words */
char *walk_text_wait(WalkReason reason, const WalkWait *wait);

#endif
