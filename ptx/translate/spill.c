/* Registers that the assembler keeps in local memory, since more are alive than it may take.
 *
 * stands for: ptxas under -maxrregcount, .maxnreg or launch bounds: what does not fit is stored when it is written
 *   (STL) and loaded before it is used (LDL).
 * modelled: as long as a block has more alive than there are, the register goes that is used least there and
 *   elsewhere, each loop counting eight times as much as what is around it. It goes everywhere: a write is a store, the
 *   first use in a block a load, which the assembler places at the block's begin.
 * left out: registers that are kept in memory only for a part of their life, and values that are computed again
 *   instead, but for constants and special registers.
 * source: SASS of NCCL 2.30.7's kernels (96 registers; all_gather by a ring in Simple has 257 STL and 545 LDL beside
 *   those of its call; docs/kernels.md, "Registers that do not fit") */
#include <string.h>

#include "ptx/translate/lower.h"

#define LOOP_WEIGHT 8u
#define LOOPS_MAX 6u

typedef struct {
    const PtxLive *live;
    guint64 *weight; /* of each register that lives across blocks */
    guint8 *spilled;
    guint8 *computed; /* of each: written by something else than a constant or a special register */
    guint8 *depth;    /* of each block: loops around it */
    guint32 block;
    gboolean again;         /* the instruction at hand gives the same whenever it is done */
    guint32 *loaded;        /* by register: the block in which it was read or written last, plus one */
    guint8 *loads, *stores; /* of the instruction at hand, words */
} Spill;

static guint words_of(const PtxLive *live, guint32 reg) { return (ptx_types[live->types[reg]].bytes + 3u) / 4u; }

static gboolean lives(const PtxLive *live, guint32 block, guint32 index)
{
    gsize word = (gsize)block * live->words + index / 64;
    return ((live->in[word] | live->out[word]) >> (index % 64)) & 1;
}

/* Loops as the text has them: from where a branch goes back to, to that branch. */
static void find_depths(Spill *spill)
{
    const PtxFlow *flow = spill->live->flow;
    spill->depth = g_new0(guint8, flow->n);
    for (guint32 b = flow->n; b-- > 0;)
        for (guint e = 0; e < flow->block[b].n_next; e++)
            for (guint32 in = flow->block[b].next[e]; in <= b; in++)
                spill->depth[in] = (guint8)MIN(spill->depth[in] + 1u, LOOPS_MAX);
}

static void visit_weigh(void *user, guint32 *place, gboolean write)
{
    (void)write;
    Spill *spill = user;
    guint32 index = spill->live->dense[*place >> 1];
    guint64 many = 1;
    for (guint d = 0; d < spill->depth[spill->block]; d++)
        many *= LOOP_WEIGHT;
    if (index != G_MAXUINT32)
        spill->weight[index] += spill->computed[index] ? many : 0;
}

static void visit_source(void *user, guint32 *place, gboolean write)
{
    Spill *spill = user;
    guint32 index = spill->live->dense[*place >> 1];
    if (write && index != G_MAXUINT32 && !spill->again)
        spill->computed[index] = TRUE;
}

static void visit_count(void *user, guint32 *place, gboolean write)
{
    Spill *spill = user;
    guint32 reg = *place >> 1, index = spill->live->dense[reg];
    if (index == G_MAXUINT32 || !spill->spilled[index] || !spill->computed[index])
        return;
    if (write)
        *spill->stores = (guint8)(*spill->stores + words_of(spill->live, reg));
    else if (spill->loaded[index] != spill->block + 1)
        *spill->loads = (guint8)(*spill->loads + words_of(spill->live, reg));
    spill->loaded[index] = spill->block + 1;
}

static void visit_all(Spill *spill, PtxVisit visit)
{
    const PtxFlow *flow = spill->live->flow;
    PtxCode *code = spill->live->code;
    for (spill->block = 0; spill->block < flow->n; spill->block++)
        for (guint32 i = flow->block[spill->block].first; i <= flow->block[spill->block].last; i++) {
            const PtxIns *ins = &code->ins[i];
            spill->again = ins->op == OP_SREG || (ins->op == OP_MOV && ins->src[0] & PLACE_POOL);
            spill->loads = &code->reloads[i];
            spill->stores = &code->spills[i];
            ptx_ins_visit(code, &code->ins[i], visit, spill);
        }
}

/* The register of a block's that costs least to keep elsewhere; G_MAXUINT32: all that are left are in use there. */
static guint32 least_used(const Spill *spill, guint32 block)
{
    guint32 best = G_MAXUINT32;
    for (guint32 i = 0; i < spill->live->n_dense; i++)
        if (!spill->spilled[i] && words_of(spill->live, spill->live->sparse[i]) && lives(spill->live, block, i) &&
            (best == G_MAXUINT32 || spill->weight[i] < spill->weight[best]))
            best = i;
    return best;
}

static void fit_block(Spill *spill, guint32 block, guint32 bytes_max)
{
    const PtxLive *live = spill->live;
    while (live->most[block] > bytes_max) {
        guint32 index = least_used(spill, block);
        if (index == G_MAXUINT32)
            return;
        guint32 bytes = 4u * words_of(live, live->sparse[index]);
        spill->spilled[index] = TRUE;
        for (guint32 b = 0; b < live->flow->n; b++)
            if (lives(live, b, index))
                live->most[b] -= MIN(live->most[b], bytes);
    }
}

void ptx_spill(const PtxLive *live, guint32 registers)
{
    Spill spill = {.live = live};
    PtxCode *code = live->code;
    spill.weight = g_new0(guint64, live->n_dense + 1u);
    spill.spilled = g_new0(guint8, live->n_dense + 1u);
    spill.loaded = g_new0(guint32, live->n_dense + 1u);
    code->reloads = g_new0(guint8, code->n_ins + 1u);
    code->spills = g_new0(guint8, code->n_ins + 1u);
    find_depths(&spill);
    spill.computed = g_new0(guint8, live->n_dense + 1u);
    visit_all(&spill, visit_source);
    visit_all(&spill, visit_weigh);
    for (guint depth = LOOPS_MAX + 1; depth-- > 0;) /* innermost loops first: what they use stays */
        for (guint32 b = 0; b < live->flow->n; b++)
            if (spill.depth[b] == depth)
                fit_block(&spill, b, 4u * registers);
    visit_all(&spill, visit_count);
    g_free(spill.weight);
    g_free(spill.spilled);
    g_free(spill.computed);
    g_free(spill.depth);
    g_free(spill.loaded);
}

/* What a function says itself, else what its text was compiled with; and so few that the threads a kernel is declared
 * for fit. What is more alive at once is kept in local memory (spill.c).
 * source: PTX ISA, performance-tuning directives; 65536 registers an SM on every target that is read */
guint32 ptx_registers_allowed(const PtxFunction *entry)
{
    const guint32 *said = entry->reqntid[0] ? entry->reqntid : entry->maxntid;
    guint32 limit = entry->maxnreg ? entry->maxnreg : entry->unit->registers_max;
    guint64 threads = (guint64)said[0] * MAX(said[1], 1u) * MAX(said[2], 1u);
    threads = (threads + 31) / 32 * 32 * MAX(entry->minnctapersm, 1u);
    if (threads && threads <= 65536 / PTX_REGISTERS_MIN)
        limit = MIN(limit ? limit : PTX_REGISTERS_LIMIT, (guint32)(65536 / threads) & ~7u);
    return limit ? MAX(limit, 16u) : PTX_REGISTERS_LIMIT;
}

/* What a function that is called has to save first and to bring back: of registers 16 to 31 all, of those above every
 * second half of eight. Source: SASS of NCCL's functions, which take 96 and save 16 to 31, 36 to 39, ... 92 and 93. */
guint32 ptx_registers_saved(const PtxCode *code)
{
    guint32 taken = MIN((code->live_bytes + 3) / 4, ptx_registers_allowed(code->function)), saved = 0;
    for (guint32 r = 16; r < taken; r++)
        saved += r < 32 || r % 8 >= 4;
    return code->function->entry ? 0 : saved;
}
