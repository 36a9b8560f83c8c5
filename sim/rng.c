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

    for (const char *c = name; *c != '\0'; c++)
        state = rng_hash((state ^ (guchar)*c) + SPLITMIX_STEP);
    for (int i = 0; i < 4; i++)
        rng->s[i] = splitmix_next(&state);
}

/* The high half of a 128-bit product is uniform once the few low halves that are over-represented
 * are drawn again (Lemire 2019). */
guint64 rng_below(Rng *rng, guint64 bound)
{
    g_assert(bound > 0);
    unsigned __int128 product = (unsigned __int128)rng_next(rng) * bound;

    if ((guint64)product < bound) {
        guint64 reject_below = -bound % bound;
        while ((guint64)product < reject_below)
            product = (unsigned __int128)rng_next(rng) * bound;
    }
    return product >> 64;
}

const guint32 rng_ln_table[] = {
    0u,          66589974u,   132163268u,  196750459u,  260380768u,  323082134u,  384881291u,  445803834u,  505874286u,
    565116154u,  623551984u,  681203418u,  738091233u,  794235396u,  849655098u,  904368797u,  958394255u,  1011748572u,
    1064448219u, 1116509066u, 1167946415u, 1218775023u, 1269009132u, 1318662486u, 1367748360u, 1416279581u, 1464268541u,
    1511727226u, 1558667227u, 1605099758u, 1651035675u, 1696485489u, 1741459379u, 1785967210u, 1830018543u, 1873622647u,
    1916788510u, 1959524856u, 2001840147u, 2043742599u, 2085240191u, 2126340670u, 2167051565u, 2207380193u, 2247333665u,
    2286918897u, 2326142616u, 2365011363u, 2403531508u, 2441709246u, 2479550612u, 2517061482u, 2554247578u, 2591114477u,
    2627667611u, 2663912276u, 2699853634u, 2735496721u, 2770846446u, 2805907598u, 2840684851u, 2875182766u, 2909405794u,
    2943358281u, RNG_LN2,
};
