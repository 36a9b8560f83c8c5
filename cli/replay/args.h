/* What options of `fanout replay` take. */
#ifndef CLI_REPLAY_ARGS_H
#define CLI_REPLAY_ARGS_H

#include "traces/replay/replay.h"

/* "--place: 'x' should be ..."; FALSE. */
gboolean replay_args_bad(GError **error, const char *option, const char *text, const char *right);
/* "nvls", or "all_reduce=nvls,broadcast=ring". */
gboolean replay_args_algos(ReplaySpec *spec, const char *text, GError **error);
/* "auto", "off", "packet" or "flow". */
gboolean replay_args_compare(ReplayCompare *compare, const char *text, GError **error);

#endif
