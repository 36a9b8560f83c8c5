/* How far long work is: one line on standard error, drawn over itself, and only on a terminal. */
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
void progress_free(Progress *progress); /* wipes the line; NULL is fine */

#endif
