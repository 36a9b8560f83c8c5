/* A GTKWave save file beside a waveform: which signals to show, and how, so that `gtkwave run.gtkw` opens on those that
 * tell something. */
#ifndef SIM_REPORT_GTKW_H
#define SIM_REPORT_GTKW_H

#include <glib.h>

typedef struct Gtkw Gtkw;

/* Collects while the waveform at `path` is written, line by line of its own text. */
Gtkw *gtkw_new(const char *path);
void gtkw_note(Gtkw *gtkw, const char *line);
/* Writes PATH with .gtkw for its ending and frees: the signals that changed after the start, those of a unit together
 * under its name, the first GTKW_SIGNALS of them. Nothing is written where no signal changed, beside what is no plain
 * file, or over a file that is not Fanout's own (GTKWave saves under the same name). FALSE: it could not be written. */
#define GTKW_SIGNALS 200
gboolean gtkw_close(Gtkw *gtkw);

#endif
