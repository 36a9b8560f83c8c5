/* Signals of a waveform that are no 64-bit counters; else as sim_trace_u64() (sim.h). */
#ifndef SIM_ENGINE_TRACE_H
#define SIM_ENGINE_TRACE_H

#include "sim/engine/sim.h"

void sim_trace_u32(Sim *sim, const char *name, const guint32 *value, int bits);
void sim_trace_u8(Sim *sim, const char *name, const guint8 *value, int bits);

#endif
