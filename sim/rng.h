/* Random streams by name: the same (seed, name) gives the same numbers whatever else is drawn. */
#ifndef SIM_RNG_H
#define SIM_RNG_H

#include <glib.h>

typedef struct {
    guint64 s[4];
} Rng;

void rng_init(Rng *rng, guint64 seed, const char *name);
static inline guint64 rng_next(Rng *rng);      /* 64 random bits (xoshiro256**) */
guint64 rng_below(Rng *rng, guint64 bound);    /* uniform in [0, bound), bound > 0, no bias */
guint64 rng_exponential_ps(Rng *rng, guint64 mean_ps); /* integers only; within 1 in 30,000 */
guint64 rng_hash(guint64 x);                   /* a stateless 64-bit mix (splitmix64's finaliser) */

static inline guint64 rng_rotate(guint64 x, int bits) { return x << bits | x >> (64 - bits); }

static inline guint64 rng_next(Rng *rng)
{
    guint64 *s = rng->s;
    guint64 result = rng_rotate(s[1] * 5, 7) * 9;
    guint64 shifted = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rng_rotate(s[3], 45);
    return result;
}

#endif
