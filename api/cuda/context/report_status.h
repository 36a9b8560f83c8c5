/* What `fanout exec` learns of the simulations behind the program that it started. */
#ifndef API_CUDA_CONTEXT_REPORT_STATUS_H
#define API_CUDA_CONTEXT_REPORT_STATUS_H

#include <glib.h>

#include "observe/series/watch.h"

#define REPORT_STATUS_PAGES 16

/* In a memfd that the program inherits: several processes of one program may use the fabric, each its own.
 * FANOUT_STATUS_FD: its descriptor, the process of `fanout exec`, device and inode, for a process that lost it. */
typedef struct {
    gint reports;    /* atomic: processes that wrote one; the first has the file's plain name */
    gint stuck;      /* atomic: some simulation got stuck */
    gint wrong;      /* atomic: options were wrong */
    gint interrupts; /* atomic: how often the user interrupted `fanout exec` (SIGINT) */
    gint unwritten;  /* atomic: a report or another file could not be written; standard error says why */
    gint pages;      /* atomic: processes that have taken one of: */
    WatchPage page[REPORT_STATUS_PAGES]; /* who looks at the simulations of this program asks here */
} ReportStatus;

#endif
