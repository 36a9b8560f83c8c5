/* How fast the simulator itself is: its calendar, uniform traffic and all-reduces in packets, each
 * beside the same yardsticks in the same process, so that figures of different machines compare. */
#ifndef CLI_SELF_SPEED_H
#define CLI_SELF_SPEED_H

#include "cli/options.h"

/* CPU time of the process: what other programs do on this machine counts as little as possible. */
double speed_cpu_s(void);

/* The hold model: the earliest of `pending` events fires and comes again after one of {1, 9, 17, 40,
 * 500} flits of 680 ps. Events a second, over `holds` of them. *check: the same for equal work. */
double speed_heap_holds_per_s(guint pending, guint64 holds, guint64 *check);  /* plain binary heap */
double speed_wheel_holds_per_s(guint pending, guint64 holds, guint64 *check); /* bare timing wheel */
double speed_sim_holds_per_s(guint pending, guint64 holds, SimCalendar calendar, guint64 *check);
#define SPEED_PENDING 10000
#define SPEED_HOLDS 2000000
#define SPEED_ROUND_S 0.3    /* of CPU time, about what the yardsticks take */
#define SPEED_PACKETS 500000 /* of uniform traffic */
#define RUNS_MAX 99

/* Millions of warp-instructions a second of CPU time: "copy", "sum" (kernels.c). */
double speed_kernel_Minstructions_per_s(const char *loop);

/* A kernel with the fabric simulated, on one GPU of an H100 system (fabric_kernels.c). `was`: what it did over the
 * heap's holds before sums of matrix products were made eight columns at a time, on a busy Xeon: a tenth says
 * nothing. */
typedef struct {
    const char *name, *what;
    double was;
    guint32 ctas, threads, n; /* n: words, or turns of a loop */
    const char *before;       /* the entry that runs first, unmeasured, since this one reads what it writes; or NULL */
} SpeedKernel;
extern const SpeedKernel speed_fabric_kernels[]; /* ends with {NULL} */
/* Millions of its warp-instructions a second of CPU time. GError: it cannot run on the options' system. */
gboolean speed_fabric_kernel(const Options *options, const SpeedKernel *kernel, double *Minstructions_per_s,
                             GError **error);

double speed_wall_s(void); /* since some moment: what two threads are measured by */

void speed_sort(double *values, guint n);
/* Of an odd number of values, sorted in place. */
double speed_median(double *values, guint n);

/* The benches of `fanout bench`, in order; ends with {NULL}. "speed" runs those marked so. */
typedef struct {
    const char *name, *text;
    gboolean common;
} SpeedBench;
extern const SpeedBench speed_benches[];
const SpeedBench *speed_find(const char *name);

/* record: file of lines "NAME RATIO" to compare with, or NULL: EXIT_WRONG when a ratio lost more
 * than 15 %. Errors: a bad record, an impossible --set. */
ExitCode speed_run(const Options *options, const char *name, guint runs, const char *record, GError **error);

/* "cores", cores.c: the same all-reduce on one and on two. GError: the system cannot do that. */
ExitCode speed_cores(const Options *options, guint runs, GError **error);

/* "targets", targets.c: one row for each figure that has a target. Whether it is met is for the reader: a busy
 * machine misses more. GError: as above. */
ExitCode speed_targets(const Options *options, guint runs, GError **error);

#endif
