/* Replays matched traces on a simulated fabric: computations last as recorded (times a scale),
 * communications are simulated, streams overlap, groups and jobs share the fabric.
 *
 * Two clocks. Recorded time runs here, in a queue of ends and arrivals; the fabric is simulated
 * only while communication is under way (a stretch, traces/replay/stretch.h), in a simulation of its own
 * that starts quiet. So how a stretch goes does not depend on what came before it, and one in which
 * the same starts at the same times as in one before is taken from memory and not
 * simulated anew. The output is the same byte for byte as with memo off.
 *
 * What is not modelled: computations do not slow communications down (nor the other way round) by
 * sharing SMs and HBM; a send ends when its bytes have arrived, whether or not the receive was
 * posted. */
#ifndef TRACES_REPLAY_REPLAY_H
#define TRACES_REPLAY_REPLAY_H

#include <glib.h>

#include "model/fabric/fault.h"
#include "coll/coll.h"
#include "observe/series/sum.h"
#include "traces/record/match.h"
#include "traces/record/record.h"

/* What is fastest for each communication (choice.c), and what has been simulated already; both may
 * serve several replays on one fabric. */
typedef struct ReplayChoices ReplayChoices;
typedef struct ReplayMemo ReplayMemo;

/* A waveform of the first stretch of time in which something is communicated; each is a simulation of its own. */
typedef struct {
    const char *path;
    guint64 stretches; /* that there were; 0 at first */
    SimTime begin_ps;  /* of the first, in the replay's time */
    gboolean lost;     /* it could not be written, which has been said */
} ReplayWave;

struct ReplayItem;
struct ReplayJob;

typedef struct {
    const FabricSpec *fabric;
    SimSpec sim;
    Log *log;
    CollAlgo algo[COLL_OPS]; /* wanted; where an operation does not have it, what is nearest runs.
                                COLL_BEST: by choices */
    CollLibrary library;     /* whose choice COLL_AUTO is */
    ReplayChoices *choices;  /* of replay_choose; NULL: nothing is COLL_BEST */
    gboolean unicast;        /* COLL_BEST takes nothing that needs multicast */
    ReplayMemo *known;       /* of replay_memo_new, of replays with the same fabric and flow; NULL:
                                the replay's own */
    gboolean memo;
    gboolean flow;       /* bulk loops as flows (model/flow/rates.h) instead of packets */
    guint64 compute_ppm; /* computations and gaps last this many millionths of what was recorded */
    void (*progress)(void *user, guint64 done, guint64 all); /* records; NULL: none */
    /* a communication of the job has ended; NULL: not told */
    void (*ended)(void *user, const struct ReplayJob *job, const MatchItem *match, const struct ReplayItem *item);
    void *user;
    gboolean figures;            /* usage.figures are wanted; in packets, as is */
    gboolean where;              /* usage.where is wanted: of the reference engine */
    ReplayWave *wave;            /* with the reference engine, packets, and without memo; NULL: none */
    const RecordingSpec *record; /* in the replay's time; NULL: nothing. What has points, without memo only. */
} ReplaySpec;

typedef struct ReplayJob {
    Trace *trace;
    Match *match;
    guint16 *gpu; /* of each rank */
} ReplayJob;

/* What became of a communication. */
typedef struct ReplayItem {
    SimTime first_ps, start_ps, end_ps; /* first rank there, all there, done */
    guint32 last_rank;                  /* the last to come */
    CollAlgo algo;                      /* COLL_ALGOS: moved nothing, or no collective of the library */
    CollProto proto;
    gboolean multicast;
    gboolean memoised;
} ReplayItem;

typedef struct {
    SimTime *start_ps, *end_ps; /* of each record; of a communication from its rank's arrival */
    ReplayItem *item;           /* of each of the match */
} ReplayJobResult;

/* Sums over all episodes. */
typedef struct {
    guint32 gpus, links, trunks, switches;
    gsize ways;       /* of all links and trunks, two each */
    guint64 *flits;   /* [(gpu * links + link) * 2 + direction], 0: up; then 2 for each trunk */
    guint64 *busy_ps; /* the same */
    guint64 *to_gpus; /* by switch: flits on its links to GPUs, as the next three */
    guint64 *multicast, *replicas, *stalls;
    SeriesSum *figures;  /* throughput, occupancy and latencies; NULL: not wanted, as is */
    LatencyTotal *where; /* of all episodes; time_ps is theirs */
    GArray *faults;      /* FaultCost; NULL: nothing crossed a fabric */
    guint64 errors;      /* requests that ended with one */
} ReplayUsage;

typedef struct {
    SimTime total_ps;
    guint32 jobs;
    ReplayJobResult *job;
    ReplayUsage usage;
    guint64 simulated, memoised; /* communications */
    guint64 overlapped;          /* simulated after all, because something came upon them */
    GPtrArray *notes;            /* char *: fall-backs and roundings */
} ReplayResult;

/* GError: TRACE_ERROR_VALUE and COLL_ERROR as coll_start; REPLAY_STUCK (COLL_ERROR_STUCK): who
 * waits for what. */
ReplayResult *replay_run(const ReplaySpec *spec, const ReplayJob *jobs, guint n, GError **error);
void replay_result_free(ReplayResult *result);

ReplayMemo *replay_memo_new(void);
void replay_memo_free(ReplayMemo *memo); /* NULL: nothing */

/* Finds the fastest algorithm and protocol of each communication in the jobs, with multicast and
 * without, by simulating each kind alone: in packets while that is short, else as flows. What
 * spec->choices has already stays. GError: as coll_run. */
ReplayChoices *replay_choices_new(void);
void replay_choices_free(ReplayChoices *choices); /* NULL: nothing */
gboolean replay_choose(const ReplaySpec *spec, const ReplayJob *jobs, guint n, GError **error);

/* In what the best with multicast and without are found and replayed. */
typedef enum { REPLAY_COMPARE_AUTO, REPLAY_COMPARE_NOT, REPLAY_COMPARE_PACKETS, REPLAY_COMPARE_FLOWS } ReplayCompare;
/* In what that is for a replay whose result this is, never AUTO: as wanted, with AUTO so that it takes no longer than
 * the replay did. *note: what to tell of it (caller frees; NULL: nothing). compare.c. */
ReplayCompare replay_compare_how(const ReplaySpec *spec, const ReplayJob *jobs, guint n, const ReplayResult *result,
                                 ReplayCompare wanted, char **note);

/* The algorithm that runs for an operation when `wanted` is asked for on these GPUs; *fallback
 * tells why it is another one (caller frees; NULL: it is the one). */
CollAlgo replay_algo(const FabricSpec *fabric, CollGroup *group, CollSpec *spec, CollAlgo wanted, char **fallback);
gboolean replay_algo_is_multicast(CollAlgo algo);

#endif
