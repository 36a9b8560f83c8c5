/* A second domain: part of a simulation with a clock, a calendar and a thread of its own.
 *
 * The two domains may touch each other only by letters that take effect at least `lookahead` after they
 * are written (the user's exchange carries them). So time is cut into windows: from the earliest thing
 * that is due in either domain, for as long as nothing written meanwhile can concern anybody. Both run
 * through a window at once, the caller's domain on the thread of sim_run() with its processes, the other
 * one on a thread of its own; then they meet, and letters are delivered as the next window begins. With
 * SimSpec.one_thread they take turns instead, the other domain first.
 *
 * Whatever order letters come in, results are those of one domain as long as events of one domain at one
 * instant have an order of their own: see sim_at_key(). */
#ifndef SIM_DOMAIN_H
#define SIM_DOMAIN_H

#include "sim/sim.h"

G_BEGIN_DECLS

/* Called by each domain (0: the Sim's own, 1: the other one) on its own thread. */
typedef struct {
    /* A window begins: take in what the other domain wrote in the one before. */
    void (*deliver)(void *user, guint domain);
    /* All events up to last_ps have fired: finish what has no event. Returns when the earliest letter
     * written takes effect, or something without an event is due; SIMTIME_NEVER: nothing. */
    SimTime (*close)(void *user, guint domain, SimTime last_ps);
    /* Domain 0 has done something since its last window, between runs: the next one begins at once. */
    gboolean (*is_busy)(void *user);
} SimExchange;

#define SIM_ERROR (sim_error_quark())
GQuark sim_error_quark(void);
typedef enum { SIM_ERROR_DOMAINS } SimError;

guint sim_domains(const Sim *sim); /* SimSpec.domains: how many were asked for */
/* The other domain, for sim_now_ps(), sim_at(), sim_after(), sim_cancel() and nothing else; it ends with
 * `sim`. Before the first sim_run(). NULL with a GError (SIM_ERROR) where there can be but one: a VCD is
 * open, the calendar is not the wheel, or the lookahead is under 1 ns. */
Sim *sim_split(Sim *sim, SimTime lookahead_ps, const SimExchange *exchange, void *user,
               GError **error);

G_END_DECLS

#endif
