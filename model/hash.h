/* Which link a 256 B chunk of memory travels on.
 *
 * What hardware it stands for: the address hash of a GPU's crossbar/NVLink hub, which spreads the
 * chunks of a peer's memory over all links, and for multicast addresses the same choice on all GPUs.
 * Modelled: within an aligned block of `block` chunks the links are distinct, a permutation picked by
 * a hash of the bits above and of who reads whose memory. Left out: the true function (unpublished).
 * Sources: 256 B granule, collisions, the reader's part: h200/README.md; blocks: PROTOTYPE.md A2. */
#ifndef MODEL_HASH_H
#define MODEL_HASH_H

#include <glib.h>

#define HASH_CHUNK_SHIFT 8u
#define HASH_TABLES 1024u
#define HASH_BLOCK_MAX 32u

typedef struct {
    guint32 links;        /* how many there are to choose from */
    guint32 block_shift;  /* log2 of the chunks in a block; 0: fully random */
    guint8 table[HASH_TABLES][HASH_BLOCK_MAX];
} Hash;

void hash_init(Hash *hash, guint32 links, guint32 block, guint64 seed);

static inline guint64 hash_mix(guint64 x)
{
    x ^= x >> 31;
    x *= 0x7fb5d329728ea185ull;
    x ^= x >> 27;
    x *= 0x81dadef4bc2dd44dull;
    return x ^ (x >> 33);
}

/* `salt` names reader and owner (0 for multicast). */
static inline guint32 hash_link(const Hash *hash, guint64 address, guint64 salt)
{
    guint64 chunk = address >> HASH_CHUNK_SHIFT;
    guint64 block = chunk >> hash->block_shift;
    guint64 mixed = hash_mix(block * 0x9e3779b97f4a7c15ull + salt);
    return hash->table[mixed & (HASH_TABLES - 1)][chunk & ((1u << hash->block_shift) - 1)];
}

#endif
