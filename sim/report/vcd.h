/* A waveform file. SystemC writes a raw one while the simulation runs; closing it makes the final
 * one from that, without the date and with times counted from the Sim's own start, so that equal
 * runs write equal files. */
#ifndef SIM_REPORT_VCD_H
#define SIM_REPORT_VCD_H

#include <glib.h>

#include "sim/engine/simtime.h"

typedef struct Vcd Vcd;

Vcd *vcd_open(const char *path, GError **error); /* the error names the path */
/* bytes: of the variable at `value`: 1, 4 or 8; bits: of it that are written. */
void vcd_trace(Vcd *vcd, const char *name, const void *value, int bytes, int bits);
/* Writes GTKWave's save file beside it, too (gtkw.h). base_ps: SystemC's time at the Sim's 0. FALSE: it could not be
 * written; standard error says why. */
gboolean vcd_close(Vcd *vcd, SimTime base_ps);

#endif
