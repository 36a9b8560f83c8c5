/* A replay as pictures: a Perfetto file, and a strip for the page. */
#ifndef TRACES_REPLAY_TIMELINE_H
#define TRACES_REPLAY_TIMELINE_H

#include <glib.h>

#include "sim/report/report.h"
#include "traces/replay/replay.h"

/* A group for each rank, a track for each of its streams. Opens in ui.perfetto.dev beside the
 * original. GError: the file. */
gboolean replay_timeline_save(const char *path, const ReplayJob *jobs, const ReplayResult *result,
                              GError **error);
/* The first ranks, computations over communications; what is too narrow to see is joined. */
void replay_timeline_add(Report *report, const ReplayJob *jobs, const ReplayResult *result);

#endif
