/* Simulated time runs in slices: how long one is, and what ends it. */
#ifndef MACHINE_ENGINE_SLICE_H
#define MACHINE_ENGINE_SLICE_H

#include "machine/engine/internal.h"

#define SHARED_LOOK_US 1000 /* how often where another process may write to watched memory */
/* Looks at what another process may have written or recorded. Lock held, given up inside. */
void engine_look_at_shared(Engine *engine);
/* Lets simulated time run for a slice, or as long as a query is worth. Without the lock. */
SimStatus engine_run_slice(Engine *engine);
/* Where a thread runs that calls nothing (cuda.quiet_ms) and only sleepers wait for time, the host lets as much pass
 * before a slice does. TRUE: so it was, and calls may have come meanwhile. Lock held, given up inside. */
gboolean engine_waits_forced(Engine *engine);

#endif
