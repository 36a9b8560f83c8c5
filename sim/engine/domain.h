/* Further domains: parts of a simulation with clocks and calendars of their own, shared out among threads.
 *
 * The Sim's own domain (0) and each of the others (1 to n) may touch each other only by letters that take
 * effect at least `lookahead` after they are written (the user's exchange carries them). So time is cut into
 * windows: from the earliest thing that is due in any domain, for as long as nothing written meanwhile can
 * concern anybody. All run through a window at once, the Sim's own domain on the thread of sim_run() with its
 * processes, each of the others on whichever thread has nothing else to do: the workers, and that of sim_run()
 * when it is through with its own. Then
 * they meet, and letters are delivered as the next window begins.
 *
 * Whatever order letters come in, and whichever thread runs which domain, results are those of one domain as long as
 * events of one domain at one instant have an order of their own: see sim_at_key(). */
#ifndef SIM_ENGINE_DOMAIN_H
#define SIM_ENGINE_DOMAIN_H

#include "sim/engine/sim.h"

G_BEGIN_DECLS

/* Called for each domain (0: the Sim's own, 1 to n: the others) on the thread that runs it in this window. */
typedef struct SimExchange {
    /* A window begins: take in what others wrote in the one before. */
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

gboolean sim_wants_domains(const Sim *sim); /* SimSpec: several threads, or one by turns */
/* Fills far[n] with the other domains, for sim_now_ps(), sim_at(), sim_after(), sim_cancel() and nothing else; they
 * end with `sim`. Before the first sim_run(). FALSE with a GError (SIM_ERROR) where there can be but one: a VCD is
 * open, the calendar is not the wheel, or the lookahead is under 1 ns. */
gboolean sim_split(Sim *sim, guint n, Sim *far[], SimTime lookahead_ps, const SimExchange *exchange, void *user,
                   GError **error);

G_END_DECLS

#endif
