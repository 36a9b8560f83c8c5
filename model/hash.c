#include "model/hash.h"

#include "sim/rng.h"

void hash_init(Hash *hash, guint32 links, guint32 block, guint64 seed)
{
    g_assert(links >= 1 && links <= 256 && block >= 1 && block <= HASH_BLOCK_MAX);
    Rng rng;
    rng_init(&rng, seed, "model/hash");
    hash->links = links;
    hash->block_shift = 0;
    while ((1u << (hash->block_shift + 1)) <= block)
        hash->block_shift++;
    guint32 n = 1u << hash->block_shift;
    guint8 order[256];
    for (guint32 t = 0; t < HASH_TABLES; t++) {
        for (guint32 i = 0; i < n; i++) {
            guint32 at = i % links;
            if (at == 0) { /* a new permutation whenever the links are used up */
                for (guint32 k = 0; k < links; k++)
                    order[k] = (guint8)k;
                for (guint32 k = links - 1; k > 0; k--) {
                    guint32 other = (guint32)rng_below(&rng, k + 1);
                    guint8 swap = order[k];
                    order[k] = order[other];
                    order[other] = swap;
                }
            }
            hash->table[t][i] = order[at];
        }
    }
}
