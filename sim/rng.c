/* xoshiro256** (Blackman and Vigna, public domain algorithm), seeded by splitmix64 from the seed
 * and the stream's name. Integers only: the same numbers on every machine. */
#include "sim/rng.h"

#define SPLITMIX_STEP 0x9e3779b97f4a7c15u

guint64 rng_hash(guint64 x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static guint64 splitmix_next(guint64 *state)
{
    *state += SPLITMIX_STEP;
    return rng_hash(*state);
}

void rng_init(Rng *rng, guint64 seed, const char *name)
{
    guint64 state = rng_hash(seed + SPLITMIX_STEP);

    for (const char *c = name; *c != '\0'; c++) {
        state = rng_hash((state ^ (guchar)*c) + SPLITMIX_STEP);
    }
    for (int i = 0; i < 4; i++) {
        rng->s[i] = splitmix_next(&state);
    }
}

static guint64 rotate(guint64 x, int bits)
{
    return x << bits | x >> (64 - bits);
}

guint64 rng_next(Rng *rng)
{
    guint64 *s = rng->s;
    guint64 result = rotate(s[1] * 5, 7) * 9;
    guint64 shifted = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate(s[3], 45);
    return result;
}

/* The high half of a 128-bit product is uniform once the few low halves that are over-represented
 * are drawn again (Lemire 2019). */
guint64 rng_below(Rng *rng, guint64 bound)
{
    g_assert(bound > 0);
    unsigned __int128 product = (unsigned __int128)rng_next(rng) * bound;

    if ((guint64)product < bound) {
        guint64 reject_below = -bound % bound;
        while ((guint64)product < reject_below) {
            product = (unsigned __int128)rng_next(rng) * bound;
        }
    }
    return product >> 64;
}

/* Von Neumann's method: a run of falling uniforms u1 > u2 > ... of odd length occurs with the
 * exponential's density at u1; each run of even length moves the result one mean further out.
 * Exact, and without a logarithm. */
guint64 rng_exponential_ps(Rng *rng, guint64 mean_ps)
{
    guint64 whole_ps = 0;

    for (;;) {
        guint64 first = rng_next(rng);
        guint64 last = first;
        gboolean odd = TRUE;
        for (;;) {
            guint64 next = rng_next(rng);
            if (next >= last) {
                break;
            }
            last = next;
            odd = !odd;
        }
        if (odd) {
            return whole_ps + (guint64)((unsigned __int128)mean_ps * first >> 64);
        }
        whole_ps += mean_ps;
    }
}
