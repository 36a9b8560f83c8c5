/* Figures of pages beside the plain charts of report.h: charts of many points, histograms, several runs side by side,
 * and pictures of parts. In HTML only. */
#ifndef SIM_REPORT_FIGURES_H
#define SIM_REPORT_FIGURES_H

#include "sim/report/report.h"

enum {                        /* more of TableFlags */
       TABLE_FOLDED = 1 << 2, /* long: in a page, it is unfolded by who wants it */
};
enum {                           /* more of ChartFlags */
       CHART_NO_POINTS = 1 << 4, /* too many to be told apart */
       CHART_BARS = 1 << 5,      /* each row a bar, from x to what the column behind that says: a histogram */
       CHART_STEPS = 1 << 7,     /* x is the end of an interval, the column before it its begin, and y is of all of it;
                               * where most of the time all columns behind x are 0, the rest is shown */
       CHART_STACKED = 1 << 6,   /* x is a text: each row a bar across, of the parts y one after the other */
};

#define CHART_Y_MAX 12
/* As report_add_chart(), where y may be up to CHART_Y_MAX keys of one unit, "up_GBps,down_GBps": each is a series by
 * its column's head. split: a text column that says of which run a row is, or NULL: a chart for each run, side by side,
 * on the same axes. Of rows that the table has when the report is written. */
void report_add_chart_split(Report *report, const Table *table, const char *title, const char *split, const char *x,
                            const char *y, const char *series, unsigned flags);

/* A line for people behind a page's charts: what it does not show, and why. */
void report_add_page_note(Report *report, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* A picture of parts: svg is a whole <svg role="group"> of elements with class "part", each with a <title>, which are
 * said when they are pointed at or reached by keys (map.js), and lines of the classes u0 (idle) to u5; copied. */
void report_add_map(Report *report, const char *title, const char *svg);

#endif
