/* The rows of a plan: each type, size and algorithm as a spec, and whether it can run. */
#ifndef CLI_COLL_PLAN_H
#define CLI_COLL_PLAN_H

#include "cli/coll/args.h"
#include "cli/run.h"
#include "cli/system.h"

#define COLL_ROWS_MAX 4096

/* Each type and, within it, each size. */
#define COLL_SIZES(plan, type, bytes)                                                                                  \
    for (guint type = 0; type < (plan)->types; type++)                                                                 \
        for (guint64 bytes = (plan)->min, n_##bytes = 0;                                                               \
             n_##bytes < COLL_ROWS_MAX && (n_##bytes == 0 || (bytes && bytes <= (plan)->max));                         \
             bytes *= (plan)->factor, n_##bytes++)

CollSpec coll_plan_spec(const CollPlan *plan, const Options *options, guint type, guint64 bytes, CollAlgo algo);
/* The simulated memory that a row touches, as run_open() wants it; flows keep no bytes. */
guint64 coll_plan_data_bytes(const CollSpec *spec, guint32 gpus);
/* Every row can run, before the first one does; with several types, those that cannot are left out (plan->skip), and
 * plan->skipped says which and why. n: how many rows there are, last: the last one's size. run: what it is checked on,
 * which the first row may run on; the caller closes it, after FALSE, too. */
gboolean coll_plan_check(CollPlan *plan, const System *system, const Options *options, guint32 gpus, guint *n,
                         guint64 *last, Run *run, GError **error);

#endif
