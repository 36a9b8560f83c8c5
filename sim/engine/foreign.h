/* For SystemC processes that are not the engine's own and call into a running Sim (tlm_port.cpp).
 * For sim/ and for switches that are components (model/switch/component.c). */
#ifndef SIM_ENGINE_FOREIGN_H
#define SIM_ENGINE_FOREIGN_H

#include <glib.h>

#include "sim/engine/simtime.h"

G_BEGIN_DECLS

typedef struct Sim Sim;

typedef enum {
    SIM_ENTRY_OPEN,
    SIM_ENTRY_LATER,  /* our own part of this instant is not over: try a delta cycle later */
    SIM_ENTRY_CLOSED, /* this Sim does not run */
} SimEntry;

/* Bracket what a SystemC process does to the Sim. Entering sets our clock to SystemC's; leaving
 * wakes the pump for what was scheduled. */
SimEntry sim_enter(Sim *sim);
void sim_leave(void);

/* For an event of ours that notifies something of SystemC's: the delay to notify it with, as the
 * Sim may be ahead of SystemC. No further event runs ahead of that. */
SimTime sim_foreign_delay_ps(Sim *sim);

G_END_DECLS

#endif
