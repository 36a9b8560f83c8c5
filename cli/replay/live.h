/* How far a replay is: told on a terminal and to a monitor, and kept for Ctrl-C, which prints the communications that
 * have ended so far, marked incomplete (cli/live/live.h). */
#ifndef CLI_REPLAY_LIVE_H
#define CLI_REPLAY_LIVE_H

#include "cli/live/live.h"
#include "traces/replay/replay.h"

typedef struct ReplayLive ReplayLive;

#define REPLAY_MAIN "replaying" /* the simulation whose communications are kept */

/* report: has its facts; what is written when the run is interrupted. communications: of all traces. Both and options
 * are used until replay_live_free(). */
ReplayLive *replay_live_new(const Options *options, Report *report, guint64 communications);
/* One more simulation begins: it tells `live` through the copy `spec`. */
void replay_live_begin(ReplayLive *live, ReplaySpec *spec, const char *what);
/* The replay itself is done: `add` adds its tables to the report if what follows is interrupted. */
void replay_live_done(ReplayLive *live, void (*add)(Report *report, void *user), void *user);
Live *replay_live_of(ReplayLive *live);  /* the lock, and what is told of interruptions */
void replay_live_free(ReplayLive *live); /* the run has ended by itself: nothing is written. NULL is none */

#endif
