/* What a picture of a sweep shows: columns chosen, rows grouped, values put together. Nothing is drawn here
 * (explore/plot_script.h does that); a test looks at these numbers.
 *
 *     lines    y over x, a line for each value of `by`; where several rows have one x, their median, and a bar from the
 *              smallest to the largest
 *     heat     z as a colour over x and y, each a row or a column for every value; the median where there are several
 *     pareto   every row by its x and its y, and the front: rows that no other row beats in one and equals in the other
 *     box      smallest, quartiles and largest y for every x */
#ifndef EXPLORE_PLOT_H
#define EXPLORE_PLOT_H

#include "explore/frame.h"

#define PLOT_SERIES_MOST 16

typedef enum { PLOT_LINES, PLOT_HEAT, PLOT_PARETO, PLOT_BOX } PlotKind;
extern const char *const plot_kinds[]; /* "lines" ... NULL: by PlotKind */

/* What was asked for; NULL: chosen by plot_new(). */
typedef struct {
    PlotKind kind;
    const char *x, *y, *z;    /* columns */
    const char *const *by;    /* columns whose values tell one line from another; {"none"}: all are one */
    const char *const *where; /* "COLUMN=VALUE": only these rows */
    const char *log;          /* "x", "y", "xy" or "none" */
    const char *better;       /* pareto: "lower,higher" for x and y */
} PlotAsk;

typedef struct {
    const FrameColumn *column;
    GPtrArray *names; /* borrowed: values in order, when each has one place, 1, 2, ...; NULL: a scale */
    gboolean log, log_2;
    double least, most;
    gboolean lower; /* pareto: less is better */
} PlotAxis;

typedef struct {
    double x, y, z;           /* places where the axis has names; y is the median where there are several */
    double low, q1, q3, high; /* of y: lines low and high, box all */
    guint rows;
    guint row; /* pareto: which row of the frame */
    gboolean front;
} PlotMark;

typedef struct {
    char *name; /* "" where there is one alone */
    GArray *marks;
} PlotSeries;

typedef struct {
    PlotKind kind;
    char *title, *by; /* by: names of the columns, "a, b", or "" */
    PlotAxis x, y, z;
    GPtrArray *series; /* PlotSeries */
    GPtrArray *notes;  /* char *: what was left out, and what was put together */
} Plot;

/* frame must outlive the result. GError: STORE_ERROR: no rows, an unknown column (the nearest is named), a column
 * without numbers, more lines than PLOT_SERIES_MOST. */
Plot *plot_new(const Frame *frame, const PlotAsk *ask, GError **error);
void plot_free(Plot *plot);

#endif
