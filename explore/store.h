/* The results of a sweep in one SQLite file.
 *
 *     points       one row a point: id, status, error, every input, every output, version, command
 *     inputs       name, position, unit, number (1: whole numbers)
 *     outputs      name, position, unit
 *     thresholds   of a [threshold]: every other input, the smallest value that keeps, its metric, the reference's
 *     parameters   every parameter of every system, with its source
 *     sweep        key and value: format, version, title, verb, spec, fingerprint, state (running or complete) ...
 *
 * A point's row is one transaction in a write-ahead log: a process that is killed loses what it was simulating and
 * nothing else. When all points are there the columns are put in their final order, so that two databases of one
 * sweep are the same when dumped, however often they were interrupted. No host time is stored. */
#ifndef EXPLORE_STORE_H
#define EXPLORE_STORE_H

#include "explore/points.h"
#include "explore/result.h"

#define STORE_FORMAT "fanout-sweep/1"
#define STORE_ERROR (store_error_quark())
GQuark store_error_quark(void);
typedef enum { STORE_ERROR_FILE, STORE_ERROR_OTHER } StoreError;

typedef struct Store Store;

/* Opens or makes the database of this sweep and keeps others from writing to it until it is closed. GError: a folder
 * or a file that cannot be written, a file that is no database, one of another sweep or another version, one that a
 * sweep is running on. The file is then as it was. */
Store *store_open(const char *path, const SweepSpec *spec, const char *version, GError **error);
/* What was written is in the one file then. */
void store_close(Store *store);

PointsKnown store_look(guint64 id, double *metric, gpointer store); /* a PointsLook */
/* Points with a result, and those of them whose status is not "done". */
guint64 store_count(const Store *store, guint64 *bad);

/* One point's row. GError: a full disk, say; the database is as before. */
gboolean store_put(Store *store, const Point *point, const Result *result, const char *command, GError **error);
/* Forgets points that are not "done", so that they run again. */
gboolean store_forget_bad(Store *store, GError **error);
/* Columns in order, thresholds, state complete. Nothing to do where it is complete already. */
gboolean store_finish(Store *store, const Points *points, GError **error);

/* Whether some "done" point has the threshold's metric, or none is "done" yet; else *hint is the end of an error (";
 * did you mean ...", or all outputs), to be freed. */
gboolean store_has_metric(const Store *store, char **hint);

#endif
