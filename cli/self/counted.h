/* Figures of the simulator's own speed that are instructions, counted by valgrind, and no times. */
#ifndef CLI_SELF_COUNTED_H
#define CLI_SELF_COUNTED_H

#include "cli/options.h"

typedef struct {
    const char *what;
    double figure, target; /* at most */
} CountedRow;

/* CountedRow; empty where there is no valgrind. Minutes. GError: a run of the options' system is impossible. */
GArray *counted_rows(const Options *options, GError **error);

#endif
