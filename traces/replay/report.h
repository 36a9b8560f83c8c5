/* What a replay says: totals, steps, a row for each kind of communication, links, switches, what
 * multicast saves. */
#ifndef TRACES_REPLAY_REPORT_H
#define TRACES_REPLAY_REPORT_H

#include "sim/report/report.h"
#include "traces/replay/replay.h"

/* The same traces with what is fastest for each communication, multicast allowed or not; NULL where
 * there is none. */
typedef struct {
    const ReplayResult *multicast, *unicast;
} ReplayPair;

void replay_report_add(Report *report, const ReplaySpec *spec, const ReplayJob *jobs, guint n,
                       const ReplayResult *result, const ReplayPair *pair);

/* Time on one rank in which it communicated (waiting for others included), computed, and
 * communicated without computing. */
typedef struct {
    SimTime communicating_ps, computing_ps, exposed_ps;
} ReplayBusy;
/* Records first .. end-1 of one rank. */
ReplayBusy replay_busy(const ReplayJob *job, const ReplayJobResult *result, guint32 first, guint32 end, gint32 step);

#endif
