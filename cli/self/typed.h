/* What people type and wait for: whole commands, beside what each took at one commit. */
#ifndef CLI_SELF_TYPED_H
#define CLI_SELF_TYPED_H

#include "cli/options.h"

typedef struct {
    const char *what;
    double figure, target; /* time over what it was, and at most so much */
} TypedRow;

/* TypedRow; without those whose trace or system is not at hand (FANOUT_SHARED names the folder of traces; systems are
 * looked for in the folder of the sources). heap_per_s: holds of the heap, asked before each. runs: of those that are
 * short. Minutes. GError: a command failed. */
GArray *typed_rows(guint runs, double (*heap_per_s)(void), GError **error);

#endif
