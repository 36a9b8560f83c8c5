/* Which link a 256 B chunk of memory travels on.
 *
 * What hardware it stands for: the address hash of a GPU's crossbar/NVLink hub, which spreads the
 * chunks of a peer's memory over all links, and for multicast addresses the same choice on all GPUs.
 * Modelled: chunks whose numbers differ only in the bits of `mask` go to distinct links: those bits pick
 * from a permutation, and a hash of all others and of who reads whose memory picks the permutation. All
 * permutations together use each link alike. Left out: the true function (unpublished).
 * Sources: 256 B granule, collisions, the reader's part: h200/README.md; the mask: docs/fidelity.md. */
#ifndef MODEL_HASH_H
#define MODEL_HASH_H

#include <glib.h>

#define HASH_CHUNK_SHIFT 8u
#define HASH_TABLES_MIN 1024u /* permutations; as many more as make the number a multiple of the links */
#define HASH_BITS_MAX 5u
#define HASH_PICK_BITS 10u

typedef struct {
    guint32 links;        /* how many there are to choose from */
    guint32 tables;
    guint64 mask;         /* bits of the chunk number that pick within a permutation */
    guint32 n_bits;
    guint8 bit[HASH_BITS_MAX];
    guint64 pick_mask;    /* of a chunk number: into `pick`, which gathers the bits of `mask`; 0: too far apart */
    guint8 pick[1u << HASH_PICK_BITS];
    guint8 table[HASH_TABLES_MIN + 256][1u << HASH_BITS_MAX];
} Hash;

/* mask: at most HASH_BITS_MAX bits; 0: fully random. */
void hash_init(Hash *hash, guint32 links, guint64 mask, guint64 seed);

static inline guint64 hash_mix(guint64 x)
{
    x ^= x >> 31;
    x *= 0x7fb5d329728ea185ull;
    x ^= x >> 27;
    x *= 0x81dadef4bc2dd44dull;
    return x ^ (x >> 33);
}

static inline guint32 hash_gather(const Hash *hash, guint64 chunk)
{
    guint32 at = 0;
    for (guint32 b = 0; b < hash->n_bits; b++)
        at |= (guint32)(chunk >> hash->bit[b] & 1) << b;
    return at;
}

/* `salt` names reader and owner (0 for multicast). */
static inline guint32 hash_link(const Hash *hash, guint64 address, guint64 salt)
{
    guint64 chunk = address >> HASH_CHUNK_SHIFT;
    guint64 mixed = hash_mix((chunk & ~hash->mask) * 0x9e3779b97f4a7c15ull + salt);
    guint32 at = G_LIKELY(hash->pick_mask) ? hash->pick[chunk & hash->pick_mask] : hash_gather(hash, chunk);
    return hash->table[((mixed & 0xffffffffu) * hash->tables) >> 32][at];
}

#endif
