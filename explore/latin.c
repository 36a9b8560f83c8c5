/* See latin.h. Whole numbers throughout: the same on every machine. */
#include "explore/latin.h"

#include "sim/rng.h"

guint64 *latin_draw(guint64 seed, const char *name, guint64 n, guint64 low, guint64 high)
{
    g_autofree char *stream = g_strconcat("sweep.latin.", name, NULL);
    guint64 *drawn = g_new(guint64, n);
    Rng rng;
    rng_init(&rng, seed, stream);
    for (guint64 i = 0; i < n; i++) { /* Fisher and Yates' shuffle, inside out */
        guint64 j = rng_below(&rng, i + 1);
        drawn[i] = drawn[j];
        drawn[j] = i;
    }
    for (guint64 i = 0; i < n; i++) {
        unsigned __int128 part = ((unsigned __int128)drawn[i] << 32) + rng_below(&rng, (guint64)1 << 32);
        unsigned __int128 span = (unsigned __int128)high - low + 1;
        /* part * span / (n << 32), in two steps that stay below 128 bits (n is below 2^32) */
        unsigned __int128 whole = span / n, rest = span % n;
        drawn[i] = low + (guint64)((part * whole + part * rest / n) >> 32);
    }
    return drawn;
}
