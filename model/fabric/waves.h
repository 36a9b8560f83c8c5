/* The signals of a fabric's waveform (--vcd): what its units have now, beside what they have counted. */
#ifndef MODEL_FABRIC_WAVES_H
#define MODEL_FABRIC_WAVES_H

#include "model/fabric/fabric.h"

/* Of each link (gpu0.link3.up): packets that wait in the port's queue and credits that its sender has, for requests and
 * for answers, and its state (0 up, 1 down, 2 given up). Of each switch's port (switch1.port5): free multicast and
 * reduction tags, free bytes of the reduction buffer, requests that wait for them. Then every counter and peak of the
 * statistics. Before the first run; without a waveform it does nothing. A waveform shows every step only in the
 * reference engine: the fast one looks at ports when it must. */
void fabric_trace(Fabric *fabric);

#endif
