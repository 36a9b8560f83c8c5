/* How far a sweep is and how long the rest will take, on a terminal. */
#ifndef CLI_SWEEP_PACE_H
#define CLI_SWEEP_PACE_H

#include <glib.h>

typedef struct Pace Pace;
struct Monitor;

/* Tells the monitor, too; NULL is none. */
Pace *pace_new(struct Monitor *monitor);
/* So many points are done, of at most so many. The first call says what was done before. */
void pace_tell(Pace *pace, guint64 done, guint64 most, guint64 bad);
void pace_free(Pace *pace);

#endif
