/* What a replay's page shows of the whole replay, and what --where asks for. */
#ifndef CLI_REPLAY_VIEWS_H
#define CLI_REPLAY_VIEWS_H

#include "cli/options.h"
#include "traces/replay/replay.h"

/* GError: no fabric can be made. */
gboolean replay_views_add(const ReplayResult *result, const ReplaySpec *spec, const Options *options, Report *report,
                          GError **error);

/* Flows have no waveform. Returns FALSE. */
gboolean replay_views_refuse_wave(GError **error);
/* Says what the waveform leaves out. code: what the verb ends with so far; EXIT_USER where there is none after all. */
ExitCode replay_views_end_wave(const ReplayWave *wave, ExitCode code, GError **error);

#endif
