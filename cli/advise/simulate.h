/* One simulation for an advice. Each has a fabric of its own, so that counters and addresses of one do not change the
 * next. */
#ifndef CLI_ADVISE_SIMULATE_H
#define CLI_ADVISE_SIMULATE_H

#include "cli/live/live.h"
#include "cli/options.h"
#include "cli/system.h"

typedef struct {
    const System *system;
    const Options *options;
    guint32 gpus;
    Live *live; /* is told of candidates; NULL: none */
} AdviseRun;

/* EXIT_WRONG: it got stuck. */
ExitCode advise_simulate(const AdviseRun *with, const CollSpec *spec, CollResult *result, GError **error);

#endif
