/* On which GPUs the ranks of each job of a replay run: --place. */
#ifndef CLI_REPLAY_PLACE_H
#define CLI_REPLAY_PLACE_H

#include "cli/options.h"
#include "cli/system.h"
#include "traces/replay/replay.h"

/* Fills in jobs[].gpu, one for each of the traces (Trace). place: the words of --place; NULL: none. GError: lists that
 * fit no job, more ranks than GPUs. */
gboolean replay_place(ReplayJob *jobs, const GPtrArray *traces, const System *system, char **place, GError **error);

#endif
