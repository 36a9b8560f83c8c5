/* Rounds of queries: what rounds.c keeps, and what it is asked. */
#ifndef MACHINE_ENGINE_ROUNDS_H
#define MACHINE_ENGINE_ROUNDS_H

#include "machine/engine/engine.h"
#include "sim/engine/simtime.h"

/* Which thread has asked about what at this moment. */
typedef struct {
    GHashTable *of_threads; /* NULL: no query yet */
    SimTime at_ps;
} EngineRounds;

/* TRUE: the query looks at the moment at which its thread's round is; FALSE: it begins a round, which takes a quantum.
 * At its end it is noted. */
gboolean engine_rounds_goes_on(Engine *engine, const EngineRequest *request);
void engine_rounds_note(Engine *engine, const EngineRequest *request);

#endif
