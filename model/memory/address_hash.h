/* Which link a 256 B chunk of memory travels on.
 *
 * What hardware it stands for: the address hash of a GPU's crossbar/NVLink hub, which spreads the
 * chunks of a peer's memory over all links, and for multicast addresses the same choice on all GPUs.
 * Modelled: the function measured on H200. With i the number of a pair of chunks, 18 links are
 *     2 (3 (A(i) mod 3) + B(i) mod 3) + low,    and the pair's other chunk takes low's opposite,
 * where A and B are integers whose bits are bits of i, the lower ones each XORed with other bits of i, and
 * low is the XOR of some bits of i. Other numbers of links are split alike: an even number into 2 and the
 * rest, the rest into 3 and what remains, if 3 divides it; B is taken modulo what remains.
 * Every GPU applies it to the peer's physical address, the same for every peer; but the GPUs' links of one number
 * do not meet in one port of a peer (measured: the owner's port depends on the requester). Links are
 * numbered here by where they lead, so that each GPU turns the function's result by a constant of its own.
 * Left out: address bits beyond the 33 measured ones (they act as lower ones do), the true cabling.
 * Sources: own measurement (docs/measurements/README.md). */
#ifndef MODEL_MEMORY_ADDRESS_HASH_H
#define MODEL_MEMORY_ADDRESS_HASH_H

#include <glib.h>
#include <stdint.h>

#define HASH_CHUNK_SHIFT 8u
#define HASH_PAGE_SHIFT 21u /* the tables' split: chunks of a 2 MiB page, and pages */
#define HASH_CHUNKS (1u << (HASH_PAGE_SHIFT - HASH_CHUNK_SHIFT))
#define HASH_PAGE_BITS 12u /* of the page's number */
#define HASH_LINKS_MAX 128u
#define HASH_XOR_BITS 7u /* XORed bits: 4 of A, 2 of B, low */

typedef struct {
    guint8 bits; /* XORed into the chunk's */
    guint8 turn;
} HashPage;

typedef struct {
    guint32 links;                                      /* how many there are to choose from */
    unsigned (*choose)(uint64_t chunk, unsigned links); /* another function than the measured one; NULL: that */
    guint16 chunk[HASH_CHUNKS]; /* by number in its page: XORed bits, above them (A, B) of the other bits */
    HashPage page[1u << HASH_PAGE_BITS];
    guint8 link[HASH_LINKS_MAX << HASH_XOR_BITS]; /* by a chunk's value, XORed with its page's */
    guint8 turn[HASH_LINKS_MAX][HASH_LINKS_MAX];  /* A, B and low of two links or turns, each added */
} Hash;

/* For 1 to HASH_LINKS_MAX links. */
void hash_init(Hash *hash, guint32 links);
/* From now on this function, modulo the links, instead of the measured one; turns are added to it. */
static inline void hash_replace(Hash *hash, unsigned (*choose)(uint64_t chunk, unsigned links))
{
    hash->choose = choose;
}
/* The turn of a GPU's own numbering: distinct for as many GPUs as there are links. */
guint8 hash_gpu_turn(const Hash *hash, guint32 gpu);

static inline guint64 hash_mix(guint64 x)
{
    x ^= x >> 31;
    x *= 0x7fb5d329728ea185ull;
    x ^= x >> 27;
    x *= 0x81dadef4bc2dd44dull;
    return x ^ (x >> 33);
}

/* `turn` is the requester's, or 0 for the link's number in the requester's own count. */
static inline guint32 hash_link(const Hash *hash, guint64 address, guint8 turn)
{
    if (G_UNLIKELY(hash->choose))
        return (hash->choose(address >> HASH_CHUNK_SHIFT, hash->links) % hash->links + turn) % hash->links;
    guint64 number = address >> HASH_PAGE_SHIFT;
    const HashPage *page = &hash->page[(number ^ number >> HASH_PAGE_BITS) % (1u << HASH_PAGE_BITS)];
    guint32 at = hash->chunk[(address >> HASH_CHUNK_SHIFT) % HASH_CHUNKS];
    return hash->turn[hash->turn[page->turn][turn]][hash->link[at ^ page->bits]];
}

#endif
