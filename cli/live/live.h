/* A report that appears while it grows, and that is not lost when its run is interrupted.
 *
 *     Live *live = live_new(options, report, table, total, widths);
 *     for (...) {
 *         ... simulate ...
 *         live_lock(live);
 *         ... add whole rows, notes, facts ...
 *         live_unlock(live, n);                        // they can be shown now
 *     }
 *     code = live_finish(live, error);                 // the rest of the report, and its files
 *
 * Text opens with its answer, which is known when all rows are: it is printed whole at the end. Of a run of more than
 * five seconds rows are shown as they are done: on a terminal, or where both streams go to one file (2>&1), there and
 * then, with the answer below them; else on standard error. CSV, which has no answer, grows from the first row on; JSON
 * comes whole.
 *
 * Ctrl-C (SIGINT) and SIGTERM are caught from live_new() to live_finish(): what is finished is printed and written to
 * the files, marked incomplete ("incomplete": true, a note), and the process ends with 130. A second one ends it at
 * once. That is done by a thread of its own, whatever the simulation is at: hence the lock. */
#ifndef CLI_LIVE_LIVE_H
#define CLI_LIVE_LIVE_H

#include "cli/options.h"
#include "cli/live/progress.h"

#define EXIT_INTERRUPTED 130

typedef struct Live Live;

/* The report's facts are there; `table`, its first, grows. total: steps there will be. widths: of text columns, see
 * sim/report/stream.h. One at a time in a process. Options and report are used until live_finish(). */
Live *live_new(const Options *options, Report *report, const Table *table, guint64 total, const guint *widths);
/* Called before the end of the report is written, whichever way the run ends, under the lock and perhaps by another
 * thread: adds what is finished and was not shown yet, summaries, notes. */
void live_on_end(Live *live, void (*end)(void *user), void *user);
void live_set_total(Live *live, guint64 total); /* where steps are not what its progress counts, which is given 0 */
/* Called when the run is interrupted, behind the report, under the lock: ends other files. */
void live_on_stop(Live *live, void (*stop)(void *user), void *user);
void live_lock(Live *live);
void live_unlock(Live *live, guint64 steps); /* as many more steps are done */
Progress *live_progress(Live *live);
/* Writes what is left and frees. EXIT_USER: some of it could not be written; all else was. */
ExitCode live_finish(Live *live, GError **error);
/* The same where the run ended with an error, of which the caller tells: what is finished is kept, marked incomplete.
 * Nothing at all is written when nothing was finished. */
void live_abandon(Live *live);
/* The same, and nothing is written: the caller reports in its own way. */
void live_discard(Live *live);

#endif
