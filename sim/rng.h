/* Random streams by name: the same (seed, name) gives the same numbers whatever else is drawn. */
#ifndef SIM_RNG_H
#define SIM_RNG_H

#include <glib.h>

typedef struct {
    guint64 s[4];
} Rng;

void rng_init(Rng *rng, guint64 seed, const char *name);
guint64 rng_next(Rng *rng);                    /* 64 random bits (xoshiro256**) */
guint64 rng_below(Rng *rng, guint64 bound);    /* uniform in [0, bound), bound > 0, no bias */
guint64 rng_exponential_ps(Rng *rng, guint64 mean_ps); /* integer arithmetic only */
guint64 rng_hash(guint64 x);                   /* a stateless 64-bit mix (splitmix64's finaliser) */

#endif
