/* The atomic units of a GPU's own L2.
 *
 * Modelled: a rate of all of them together, by lanes and by lines, and operations on one word one after the other, in
 * the order in which they come: integers (cas, exch, min and max, too) faster than sums of floats. What waits for its
 * word waits beside the others.
 * Left out: which slice of the L2 has a word; for atomics of other GPUs their link is slower than the units are.
 * Source: h100/memory.csv, "atom.global throughput" and "red.global throughput" with 132 x 1,024 threads on one word
 * (1.358 and 0.568 thousand million lanes a second), 16 B apart (111; reductions 171) and 128 B apart (64.2; 85.4),
 * in clock cycles of 505 ps, so that other chips have the same in theirs. */
#include "model/gpu/gpu.h"

#define WORDS 256u /* that may be contended at a time, by a hash of their place: others are taken to be free */

/* Of all units, in thousandths of a clock cycle. */
typedef struct {
    guint32 lane, line;
} Rate;
static const Rate atom_rate = {.lane = 18, .line = 31}, red_rate = {.lane = 12, .line = 23};
#define WORD_INTEGER 1458u
#define WORD_FLOAT 3487u

typedef struct {
    guint64 place; /* of the word: region and offset; 0: none */
    SimTime free_ps;
} Word;

struct GpuAtomics {
    SimFine free_at;
    Word word[WORDS];
};

static guint32 lanes_of(const Gpu *gpu, const Txn *txn, guint32 *element_bytes)
{
    *element_bytes = txn->op == TXN_ATOM_CALL ? gpu->fabric->atomic->bytes(txn->type) : 4;
    guint32 words = (txn->bytes + 3u) / 4u, full = words >= 32 ? TXN_ALL_WORDS : (1u << words) - 1;
    return MAX((guint32)__builtin_popcount(txn->word_mask & full) * 4 / MAX(*element_bytes, 4u), 1u);
}

SimTime gpu_atomic_serve(Gpu *gpu, const Txn *txn, SimTime now_ps, gboolean *waited)
{
    if (!gpu->atomics)
        gpu->atomics = g_new0(GpuAtomics, 1);
    GpuAtomics *atomics = gpu->atomics;
    const SimTime clock_ps = gpu->sm_spec->clock_ps;
    const Rate *rate = txn->kind == PACKET_RED ? &red_rate : &atom_rate;
    guint32 bytes, lanes = lanes_of(gpu, txn, &bytes);
    SimFine work = simfine_from_ps(clock_ps) * MAX(lanes * rate->lane, rate->line) / 1000;
    SimFine turn = MAX(atomics->free_at, simfine_from_ps(now_ps));
    SimTime at_ps = simfine_to_ps(turn);
    atomics->free_at = turn + work;
    guint64 place = (guint64)txn->region->id << 40 | (txn->offset / 4 + 1);
    Word *word = &atomics->word[(place ^ place >> 8 ^ place >> 16) % WORDS];
    gboolean same = word->place == place && word->free_ps > at_ps;
    gboolean is_float = txn->op == TXN_ATOM_CALL && gpu->fabric->atomic->sums_floats(txn->type, txn->acc);
    *waited = same;
    *word = (Word){place, (same ? word->free_ps : at_ps) + clock_ps * (is_float ? WORD_FLOAT : WORD_INTEGER) / 1000};
    return same ? word->free_ps : at_ps;
}
