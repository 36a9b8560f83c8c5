/* What one run of something costs the host: the parts of which the benches of the simulator itself are made. */
#ifndef CLI_SELF_COST_H
#define CLI_SELF_COST_H

#include "cli/options.h"
#include "coll/coll.h"

typedef struct {
    guint64 packets;      /* requests and what follows from each: one */
    guint64 hops;         /* packets that crossed a link */
    guint64 events;       /* of the calendar */
    guint64 memory_bytes; /* uniform: taken while running; collectives: of the process when the run is done */
    guint64 peak_packets; /* uniform: in flight at most */
    double cpu_s, wall_s; /* of the run, without building what runs */
    SimTime time_ps;      /* of a collective */
} SpeedCost;

/* One run of something. */
typedef gboolean (*SpeedOne)(const Options *options, guint64 what, SpeedCost *cost, GError **error);

/* interleave.c: runs of n different things at once, by turns, until each has run once and taken least_s of CPU time.
 * cpu_s, runs: of all that ended; cost: of the last one. GError: of a run, or there cannot be so many processes. */
typedef struct {
    SpeedOne one;
    guint64 what;
    SpeedCost cost;
    double cpu_s;
    guint64 runs;
} SpeedSide;
gboolean speed_sides(const Options *options, SpeedSide *side, guint n, double least_s, GError **error);
double speed_side_s(const SpeedSide *side); /* CPU time of a run, the mean */

/* Uniform random unicast of 128 B at 0.8 load among so many endpoints on one switch level. sets: "section.name=value",
 * ends with NULL. GError: the options' system or a set is wrong. */
gboolean speed_cost_uniform(const Options *options, guint endpoints, guint64 packets, const char *const *sets,
                            SpeedCost *cost, GError **error);
/* A SpeedOne: that with SPEED_PACKETS. */
gboolean speed_one_uniform(const Options *options, guint64 endpoints, SpeedCost *cost, GError **error);

typedef struct {
    const char *system; /* NULL: that of the options, or the usual one */
    CollOp op;
    CollAlgo algo;
    guint64 bytes;
    guint32 ranks;       /* 0: all GPUs */
    guint cores;         /* 0 or 1: one domain */
    gboolean keep_bytes; /* bytes move, and the result is verified; else timing-only */
    CollFidelity fidelity;
    guint64 crossings;       /* with COLL_FIDELITY_AUTO: CollSpec's */
    const char *const *sets; /* NULL: none */
} SpeedColl;
/* A collective. GError: as above, or the collective cannot run. */
gboolean speed_cost_coll(const Options *options, const SpeedColl *what, SpeedCost *cost, GError **error);

/* cores.c: the all-reduce of the bench of cores, on one and on two; system: as in SpeedColl. Two free
 * cores are meant to reach SPEED_CORES_TARGET. */
#define SPEED_CORES_TARGET 1.7
gboolean speed_cores_pair(const Options *options, const char *system, SpeedCost cost[2], GError **error);

#endif
