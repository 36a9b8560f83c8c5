/* How far long work is: on a terminal one line on standard error, drawn over itself; else a line now and then, which
 * whoever watches the run asks for (progress_say). */
#ifndef CLI_LIVE_PROGRESS_H
#define CLI_LIVE_PROGRESS_H

#include <glib.h>

typedef struct Progress Progress;
struct Monitor;

/* total: how many steps there are; 0: not known. */
Progress *progress_new(guint64 total);
/* Tells a monitor, too; NULL is none. */
void progress_set_monitor(Progress *progress, struct Monitor *monitor);
/* Begins the next step and says which: "[3/8] nvls 4M". */
void progress_step(Progress *progress, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* Takes the line away, until the next step or note: something else is to be printed. */
void progress_wipe(Progress *progress);
/* Says more about the step under way: "best: tree ll128, 7 of 14". */
void progress_note(Progress *progress, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* What makes the work shorter, said with it: "--no-compare leaves out what follows"; copied, NULL: nothing any more. */
void progress_set_hint(Progress *progress, const char *hint);
/* Where standard error is no terminal: a line of what is under way, and for how long the run has lasted; with
 * FANOUT_QUIET in the environment, nothing. From any thread. */
void progress_say(Progress *progress, guint seconds);
/* Rows that are done, while the report that has them waits for its answer: on standard error, whatever that is, once a
 * line has said why; with FANOUT_QUIET in the environment, nothing. */
void progress_show(Progress *progress, const char *rows);
void progress_free(Progress *progress); /* wipes the line; NULL is fine */

#endif
