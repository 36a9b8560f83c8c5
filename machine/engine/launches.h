/* Columns that the tables of launches and of their groups have in common. */
#ifndef MACHINE_ENGINE_LAUNCHES_H
#define MACHINE_ENGINE_LAUNCHES_H

#include "machine/engine/internal.h"

/* More rows than these are no reading: text leaves them out, and says so. */
#define ENGINE_TEXT_ROWS_MAX 40u
/* Cells of a number, a name, and ENGINE_WAIT_COLUMNS. */
void engine_launches_add_waits(Table *table, guint number, const char *name, const KernelStats *stats);
#define ENGINE_WAIT_COLUMNS                                                                                            \
    COLUMN_FIXED(warps_us, "warps", "us", 3, "how long its warps lived, all together: 100 % of what follows"),         \
        COLUMN_FIXED(issue_pct, "issue", "%", 1, "own instructions, with the latencies that they have alone"),         \
        COLUMN_FIXED(pipe_pct, "pipe", "%", 1, "units of the SM were busy with other warps"),                          \
        COLUMN_FIXED(code_pct, "code", "%", 1, "instructions that the SM did not have yet"),                           \
        COLUMN_FIXED(lsu_pct, "lsu", "%", 1, "the load/store unit, the SM's port or its limits were full"),            \
        COLUMN_FIXED(memory_pct, "memory", "%", 1, "a value was needed that memory had not brought yet"),              \
        COLUMN_FIXED(poll_pct, "poll", "%", 1, "the same in a loop that reads one place again and again"),             \
        COLUMN_FIXED(barrier_pct, "barrier", "%", 1,                                                                   \
                     "others were waited for: barriers of CTA and cluster, mbarriers"),                                \
        COLUMN_FIXED(fence_pct, "fence", "%", 1, "fences"), COLUMN_FIXED(sleep_pct, "sleep", "%", 1, "nanosleep"),     \
        COLUMN_FIXED(drain_pct, "drain", "%", 1, "behind the last instruction, until stores were performed"),          \
        COLUMN_U64(polls, "polls", "", "reads of loops that poll, beyond the first two")

#endif
