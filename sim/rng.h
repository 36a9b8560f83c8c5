/* Random streams by name: the same (seed, name) gives the same numbers whatever else is drawn. */
#ifndef SIM_RNG_H
#define SIM_RNG_H

#include <glib.h>

typedef struct {
    guint64 s[4];
} Rng;

void rng_init(Rng *rng, guint64 seed, const char *name);
static inline guint64 rng_next(Rng *rng);                            /* 64 random bits (xoshiro256**) */
guint64 rng_below(Rng *rng, guint64 bound);                          /* uniform in [0, bound), bound > 0, no bias */
static inline guint64 rng_exponential_ps(Rng *rng, guint64 mean_ps); /* integers only; within 1 in 30,000 */
guint64 rng_hash(guint64 x); /* a stateless 64-bit mix (splitmix64's finaliser) */

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

extern const guint32 rng_ln_table[]; /* ln(1 + i / 64), times 2^32; the last one is ln 2 */
#define RNG_LN2 2977044472u

/* -ln(u), u being uniform in (0, 1): whole powers of two from its leading zeros, the rest from the table
 * with straight lines between its points. Never short, and too long by 1 in 30,000 of the mean at most. */
static inline guint64 rng_exponential_ps(Rng *rng, guint64 mean_ps)
{
    guint64 draw = rng_next(rng) | 1;
    int zeros = __builtin_clzll(draw);
    guint64 rest = draw << zeros << 1; /* u = (1 + rest / 2^64) / 2^(zeros + 1) */
    guint index = (guint)(rest >> 58);
    guint64 between = rest >> 26 & 0xffffffffu;
    guint64 step = rng_ln_table[index + 1] - rng_ln_table[index];
    guint64 means = (guint64)(zeros + 1) * RNG_LN2 - rng_ln_table[index] - (step * between >> 32);
    return (guint64)((unsigned __int128)mean_ps * means >> 32);
}

#endif
