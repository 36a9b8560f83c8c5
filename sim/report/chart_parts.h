/* What the files of a chart share: its frame, its axes, and the names that these have. */
#ifndef SIM_REPORT_CHART_PARTS_H
#define SIM_REPORT_CHART_PARTS_H

#include "sim/report/parts.h"

#define CHART_LEFT 70.0
#define CHART_TOP 34.0
#define CHART_WIDTH 560.0
#define CHART_HEIGHT 300.0
#define CHART_RIGHT 20.0
#define CHART_BELOW 56.0 /* numbers and the name of the axis */
#define CHART_TICKS 6

typedef struct {
    double min, max; /* of the values, or of their logarithms */
    gboolean log;
    const Column *column;
    GArray *at; /* double: where ticks stand, of an axis with few values; NULL: at round numbers */
} Axis;

/* FALSE: the value does not exist, or has no logarithm. */
gboolean chart_value(const Table *table, guint row, guint column, gboolean log, double *value);
/* Over all of `column`, of which the axis has the name of the first. */
Axis chart_axis(const Chart *chart, const guint *column, guint n, gboolean log);
/* Different values of a column, in their order; at most `most` + 1. Free with g_array_unref(). */
GArray *chart_values(const Chart *chart, guint column, gboolean log, guint most);
double chart_step(const Axis *axis);
char *chart_label(const Axis *axis, double value);
double chart_x(const Axis *axis, double value);
double chart_y(const Axis *axis, double value);
/* kind: a class of the page's style, which knows light and dark. */
void chart_line(GString *out, double x1, double y1, double x2, double y2, const char *kind);
/* y_name: over the axis that goes up; NULL: what its column says. */
void chart_axes(const Chart *chart, const Axis *x, const Axis *y, const char *y_name, GString *out);

/* What a text column says in a row; "" where the chart has no such column, "-" where the row has no value. */
const char *chart_name(const Chart *chart, guint row, guint column);
/* Whether a row is of the run whose chart is drawn, and of that series. */
gboolean chart_has(const Chart *chart, guint row, const char *run, const char *name);

/* histogram.c: bars of one width on the axis, in which the rows' requests are shared out; colours by the series' order
 * in `names`. y_name: for free, what a bar is. */
void chart_histogram(const Chart *chart, Axis *x, Axis *y, const char *run, const GPtrArray *names, GString *bars,
                     char **y_name);

#endif
