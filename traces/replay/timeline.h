/* A replay as pictures: a Perfetto file, and a strip for the page. */
#ifndef TRACES_REPLAY_TIMELINE_H
#define TRACES_REPLAY_TIMELINE_H

#include <glib.h>

#include "sim/report/report.h"
#include "sim/report/timeline.h"
#include "traces/replay/replay.h"

/* A group for each rank, a track for each of its streams. Opens in ui.perfetto.dev beside the
 * original. NULL is none. */
void replay_timeline_write(Timeline *timeline, const ReplayJob *jobs, const ReplayResult *result);
/* What was simulated becomes what the trace says of each operation, its start and how long it took, so that it can be
 * written again. */
void replay_timeline_keep(const ReplayJob *job, const ReplayJobResult *result);
/* The first ranks, computations over communications; what is too narrow to see is joined. */
void replay_timeline_add(Report *report, const ReplayJob *jobs, const ReplayResult *result);

#endif
