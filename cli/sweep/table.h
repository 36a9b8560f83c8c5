/* A sweep's table as a table of a report: columns are known only when it is read. */
#ifndef CLI_SWEEP_TABLE_H
#define CLI_SWEEP_TABLE_H

#include "explore/frame.h"
#include "sim/report/report.h"

typedef struct {
    Column *columns; /* which the report borrows */
    guint n;
    guint64 not_done; /* rows whose status is another */
} FrameTable;

/* Adds all rows. frame must outlive the report, and so must the result. */
FrameTable *frame_table_add(Report *report, const Frame *frame, const char *key);
void frame_table_free(FrameTable *table); /* NULL is fine */

#endif
