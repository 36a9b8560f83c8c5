/* Waveforms: see sim.h and trace.h. */
#include "sim/engine/trace.h"

#include "sim/engine/internal.h"
#include "sim/report/vcd.h"

gboolean sim_trace_end(Sim *sim)
{
    gboolean good = !sim->vcd || vcd_close(sim->vcd, sim->vcd_base_ps);
    sim->vcd = NULL;
    return good;
}

static void sim_trace(Sim *sim, const char *name, const void *value, int bytes, int bits)
{
    g_assert(bits >= 1 && bits <= 8 * bytes);
    g_assert(!sim->thread); /* SystemC takes no more once it has started to write */
    if (sim->vcd)
        vcd_trace(sim->vcd, name, value, bytes, bits);
}

void sim_trace_u64(Sim *sim, const char *name, const guint64 *value, int bits)
{
    sim_trace(sim, name, value, sizeof *value, bits);
}

void sim_trace_u32(Sim *sim, const char *name, const guint32 *value, int bits)
{
    sim_trace(sim, name, value, sizeof *value, bits);
}

void sim_trace_u8(Sim *sim, const char *name, const guint8 *value, int bits)
{
    sim_trace(sim, name, value, sizeof *value, bits);
}
