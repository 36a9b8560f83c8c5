#include "model/memory/address_hash.h"

#define HASH_A_XOR 4u
#define HASH_B_XOR 2u

/* How a number of links is split: links = a * b * low. */
typedef struct {
    guint32 a, b, low;
} HashSplit;

/* Bits of i whose XOR is bits 1 to 4 of A, bits 0 and 1 of B, and low.
 * measured: solved from h200_link_of_chunk.csv up to bit 32 of the address; no chunk contradicts. */
static const guint32 hash_xor[HASH_XOR_BITS] = {
    0x8fded2, 0x5eb558, 0x727c94, 0xe527a0, 0x4e927d, 0x69dbda, 0xf4ed34,
};

/* Bits of i that are bits of A or B as they are: bit 0 and, from bit 7 on, bits 5, 6... of A; bits 2, 3... of B. */
static guint32 hash_plain_a(guint32 i) { return (i & 1) + (i >> 7 << 5); }
static guint32 hash_plain_b(guint32 i) { return i & ~3u; }

static HashSplit hash_split(guint32 links)
{
    HashSplit split = {.low = links % 2 ? 1 : 2};
    split.a = links / split.low % 3 ? 1 : 3;
    split.b = links / split.low / split.a;
    return split;
}

static guint32 hash_join(HashSplit split, guint32 a, guint32 b, guint32 low)
{
    return (a % split.a * split.b + b % split.b) * split.low + low % split.low;
}

/* i of a chunk's number: pairs of chunks share it, if the number of links is even. */
static guint32 hash_i(HashSplit split, guint32 chunk) { return chunk / split.low; }

static guint32 hash_bits(guint32 i)
{
    guint32 bits = 0;
    for (guint32 k = 0; k < HASH_XOR_BITS; k++)
        bits |= (guint32)__builtin_parity(i & hash_xor[k]) << k;
    return bits;
}

/* The same of 0, unit, 2 unit...: an XOR of bits is that of the lowest one and that of the others. */
static void hash_bits_of(guint8 *bits, guint32 n, guint32 unit)
{
    for (guint32 k = 0; k < n; k++)
        bits[k] = k & (k - 1) ? bits[k & (k - 1)] ^ bits[k & -k] : (guint8)hash_bits(k * unit);
}

static void hash_init_chunks(Hash *hash, HashSplit split)
{
    guint8 bits[HASH_CHUNKS];

    hash_bits_of(bits, HASH_CHUNKS / split.low, 1);
    for (guint32 c = 0; c < HASH_CHUNKS; c++) {
        guint32 i = hash_i(split, c), low = split.low == 2 ? (c & 1) << (HASH_XOR_BITS - 1) : 0;
        guint32 plain = hash_plain_a(i) % split.a * split.b + hash_plain_b(i) % split.b;
        hash->chunk[c] = (guint16)(plain << HASH_XOR_BITS | (bits[i] ^ low));
    }
}

static void hash_init_pages(Hash *hash, HashSplit split)
{
    const guint32 unit = hash_i(split, HASH_CHUNKS);
    guint8 bits[G_N_ELEMENTS(hash->page)];

    hash_bits_of(bits, G_N_ELEMENTS(bits), unit);
    for (guint32 p = 0; p < G_N_ELEMENTS(bits); p++) {
        guint8 turn = (guint8)hash_join(split, hash_plain_a(p * unit), hash_plain_b(p * unit), 0);
        hash->page[p] = (HashPage){.bits = bits[p], .turn = turn};
    }
}

static guint8 hash_base(HashSplit split, guint32 at)
{
    guint32 plain = at >> HASH_XOR_BITS, a_bits = at & ((1u << HASH_A_XOR) - 1);
    guint32 b_bits = at >> HASH_A_XOR & ((1u << HASH_B_XOR) - 1);
    return (guint8)hash_join(split, plain / split.b + (a_bits << 1), plain % split.b + b_bits,
                             at >> (HASH_XOR_BITS - 1) & 1);
}

static guint8 hash_turn(HashSplit split, guint32 x, guint32 y)
{
    guint32 pairs = split.b * split.low;
    return (guint8)hash_join(split, x / pairs + y / pairs, x % pairs / split.low + y % pairs / split.low,
                             x % split.low + y % split.low);
}

void hash_init(Hash *hash, guint32 links)
{
    g_assert(links >= 1 && links <= HASH_LINKS_MAX);
    hash->choose = NULL;
    HashSplit split = hash_split(links);
    hash->links = links;
    hash_init_chunks(hash, split);
    hash_init_pages(hash, split);
    for (guint32 at = 0; at < split.a * split.b << HASH_XOR_BITS; at++)
        hash->link[at] = hash_base(split, at);
    for (guint32 x = 0; x < links; x++)
        for (guint32 y = 0; y < links; y++)
            hash->turn[x][y] = hash_turn(split, x, y);
}

guint8 hash_gpu_turn(const Hash *hash, guint32 gpu)
{
    if (hash->choose)
        return (guint8)(gpu % hash->links);
    HashSplit split = hash_split(hash->links);
    guint32 a = gpu % split.a, rest = gpu / split.a;
    return (guint8)hash_join(split, a, rest / split.low + a, rest);
}
