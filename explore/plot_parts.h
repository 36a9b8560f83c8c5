/* What plot.c and plot_series.c share. */
#ifndef EXPLORE_PLOT_PARTS_H
#define EXPLORE_PLOT_PARTS_H

#include "explore/plot.h"

/* The rows that are drawn: done, and as `where` says. */
typedef struct {
    const Frame *frame;
    GArray *rows; /* guint */
} PlotRows;

/* Groups the rows into series of marks. */
gboolean plot_gather(Plot *plot, const PlotRows *rows, const FrameColumn *const *by, guint n_by, GError **error);
/* Least and largest of what is drawn, and which axes are logarithmic. GError: a value that has no logarithm. */
/* Where points are across, each once, in order; free with g_array_unref(). */
GArray *plot_places(const Plot *plot);
gboolean plot_scale(Plot *plot, const char *log, GError **error);
const char *plot_text(const FrameColumn *column, guint row); /* "-": does not exist */

#endif
