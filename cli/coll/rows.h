/* The rows of `fanout coll` as they run: each is a simulation of its own, so that a row's numbers do not depend on the
 * rows before it. Behind them come two that are no rows: what would help the fastest one, and the fastest that needs no
 * multicast. */
#ifndef CLI_COLL_ROWS_H
#define CLI_COLL_ROWS_H

#include "cli/coll/answer.h"
#include "cli/coll/auto.h"
#include "cli/coll/late.h"
#include "cli/coll/plan.h"
#include "cli/live/live.h"
#include "cli/live/samples.h"
#include "cli/system.h"
#include "traces/record/from_coll.h"

typedef struct CollRows CollRows;
struct CollRows {
    const System *system;
    const Options *options;
    CollPlan *plan;
    Report *report;
    Table *table;
    Live *live;
    CollResult last[COLL_ALGOS_MAX]; /* of the last size, by position in -a */
    guint type;                      /* of the plan's, under way */
    gboolean alone;                  /* one row: operations and links are told in full */
    guint wrong;
    guint8 left[COLL_ALGOS]; /* by algorithm, a bit each: protocols that won a search of this row with a wrong result */
    gboolean extrapolated, flows, few_turns; /* some row is */
    gboolean lost;                           /* the waveform could not be written, which has been said */
    Trace *record;                           /* --record; NULL: none */
    Samples samples;
    CollAuto *taken;      /* what auto stood for */
    CollLate *late;       /* faults that came when a row had ended */
    CollAnchors *anchors; /* of one size for the next */
    CollAnswer *answer;
    Run checked; /* what rows were checked on, until the first of them takes it */
};

guint32 coll_rows_gpus(const CollRows *rows);
gboolean coll_rows_compare(const CollRows *rows); /* whether the fastest without multicast is looked for */
/* All of them; last: the last size. EXIT_WRONG: a result is wrong, or something got stuck. */
ExitCode coll_rows_run(CollRows *rows, guint64 last, GError **error);

#endif
