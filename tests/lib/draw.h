/* What tests/lib/fuzz_library.c calls libfanout with: arguments that are right, at the edge of what is, or absurd, each
 * from one random stream. Nothing here calls the library. */
#ifndef TESTS_LIB_DRAW_H
#define TESTS_LIB_DRAW_H

#include <fanout/sim.h>
#include <glib.h>

#include "sim/rng.h"

typedef struct {
    Rng rng;
    gboolean
        is_running; /* a callback draws: nothing that takes minutes, as the run that it is in may have no end set */
} Draw;

guint64 draw_below(Draw *draw, guint64 bound);
guint64 draw_number(Draw *draw);
guint64 draw_bytes(Draw *draw);
guint32 draw_gpu(Draw *draw);
guint64 draw_time(Draw *draw, guint64 now_ps);

/* One of what was made, the largest number of which is largest; or none of them. */
FoSimMemory draw_memory(Draw *draw, FoSimMemory largest);

/* gpus has room for 8; n may be more where the library has to see that by itself. */
void draw_gpus(Draw *draw, guint32 gpus[8], guint32 *n);

void draw_message(Draw *draw, FoSimMessage *message);
void draw_access(Draw *draw, FoSimAccess *access, FoSimMemory largest);

/* gpus is what the collective may point to. */
void draw_collective(Draw *draw, FoSimCollective *coll, guint32 gpus[8]);

/* sets is what the specification may point to. */
void draw_spec(Draw *draw, FoSimSpec *spec, const char *sets[3]);

/* Right, and long: minutes. */
gboolean draw_is_long(guint64 bytes, guint32 ctas);

#endif
