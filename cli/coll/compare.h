/* Behind the rows of `fanout coll` the fastest algorithm without multicast is looked for, unasked: not where that takes
 * many times as long as what was asked for. */
#ifndef CLI_COLL_COMPARE_H
#define CLI_COLL_COMPARE_H

#include "cli/coll/plan.h"
#include "cli/live/live.h"

#define COMPARE_CROSSINGS 40000000u /* it is made up to so many link crossings: some ten seconds, */
#define COMPARE_ROWS 8u             /* and up to so many times those of the rows */

/* The search for an all-reduce simulates one-shot, too, in which every GPU sends all to all others: of many GPUs that
 * is more than all that was asked for, by far. It is judged by packets, not by the clock: the same command prints the
 * same. Where it is left out the report has a note of it, written under the lock of `live`. */
gboolean coll_compare_is_left_out(const CollPlan *plan, const Options *options, guint32 gpus, guint64 bytes, Live *live,
                                  Report *report);

#endif
