/* A picture drawn by gnuplot: its commands, and a run of it. */
#ifndef EXPLORE_PLOT_SCRIPT_H
#define EXPLORE_PLOT_SCRIPT_H

#include "explore/plot.h"

typedef enum { PLOT_SVG, PLOT_PNG } PlotFormat;

/* Commands for gnuplot 5.4 that draw the plot on standard output; caller frees. No word of a database is ever read as
 * a command or as markup. */
char *plot_script(const Plot *plot, PlotFormat format);

/* The same drawn: bytes of an SVG or PNG file. GError: STORE_ERROR: gnuplot is not installed, or what it complains
 * about. */
GBytes *plot_draw(const Plot *plot, PlotFormat format, GError **error);

#endif
