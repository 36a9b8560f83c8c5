/* A waveform file. SystemC writes a raw one while the simulation runs; closing it makes the final
 * one from that, without the date and with times counted from the Sim's own start, so that equal
 * runs write equal files. */
#ifndef SIM_REPORT_VCD_H
#define SIM_REPORT_VCD_H

#include <glib.h>

#include "sim/engine/simtime.h"

typedef struct Vcd Vcd;

Vcd *vcd_open(const char *path, GError **error); /* the error names the path */
void vcd_trace(Vcd *vcd, const char *name, const guint64 *value, int bits);
/* base_ps: SystemC's time at the Sim's 0. FALSE: it could not be written; standard error says why. */
gboolean vcd_close(Vcd *vcd, SimTime base_ps);

#endif
