#include "model/hash.h"

#include "sim/rng.h"

static void hash_shuffle(guint8 *order, guint32 n, Rng *rng)
{
    for (guint32 k = 0; k < n; k++)
        order[k] = (guint8)k;
    for (guint32 k = n - 1; k > 0; k--) {
        guint32 other = (guint32)rng_below(rng, k + 1);
        guint8 swap = order[k];
        order[k] = order[other];
        order[other] = swap;
    }
}

void hash_init(Hash *hash, guint32 links, guint64 mask, guint64 seed)
{
    g_assert(links >= 1 && links <= 256);
    Rng rng;
    rng_init(&rng, seed, "model/hash");
    hash->links = links;
    hash->mask = mask;
    hash->n_bits = 0;
    for (guint8 b = 0; b < 64; b++)
        if (mask >> b & 1) {
            g_assert(hash->n_bits < HASH_BITS_MAX);
            hash->bit[hash->n_bits++] = b;
        }
    hash->pick_mask = mask >> HASH_PICK_BITS ? 0 : G_N_ELEMENTS(hash->pick) - 1;
    for (guint64 chunk = 0; chunk < G_N_ELEMENTS(hash->pick); chunk++)
        hash->pick[chunk] = (guint8)hash_gather(hash, chunk);
    hash->tables = (HASH_TABLES_MIN + links - 1) / links * links;
    guint8 order[256];
    for (guint32 t = 0; t < hash->tables; t++) {
        guint32 turn = t % links;
        if (turn == 0) /* each permutation in all its rotations: no link is ever favoured */
            hash_shuffle(order, links, &rng);
        for (guint32 i = 0; i < 1u << hash->n_bits; i++)
            hash->table[t][i] = (guint8)((order[i % links] + turn) % links);
    }
}
