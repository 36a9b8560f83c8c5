/* One domain, for WebAssembly: what sim/engine/domain.c has for several threads is refused there, where a page has one.
 * */
#include "sim/engine/domain.h"

#include "sim/engine/internal.h"

GQuark sim_error_quark(void) { return g_quark_from_static_string("fanout-sim-error"); }

gboolean sim_wants_domains(const Sim *sim) { return sim->threads > 1; }

gboolean sim_split(Sim *sim, guint n, Sim *far[], SimTime lookahead_ps, const SimExchange *exchange, void *user,
                   GError **error)
{
    (void)sim, (void)n, (void)far, (void)lookahead_ps, (void)exchange, (void)user;
    g_set_error(error, sim_error_quark(), SIM_ERROR_DOMAINS,
                "several domains: a page has one thread; leave --cores away");
    return FALSE;
}

/* Without a split nobody calls these. */
void split_free(SimSplit *split) { g_assert(!split); }
void split_settle(SimSplit *split) { g_assert(!split); }
void split_drain(SimSplit *split, SimTime limit_ps)
{
    (void)limit_ps;
    g_assert(!split);
}
SimTime split_due_ps(const SimSplit *split) { return split ? 0 : SIMTIME_NEVER; }
SimTime split_now_ps(const SimSplit *split) { return (void)split, 0; }
guint64 split_events_fired(const SimSplit *split) { return (void)split, 0; }
