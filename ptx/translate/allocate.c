/* Registers: which virtual ones are alive where, and which share a place.
 *
 * Liveness by blocks, backwards, for those registers alone that live across blocks; then one interval of the text
 * for each register, and a linear scan with one pool of places for each width. A guarded instruction leaves lanes as
 * they were, so it ends no life. The most that is alive at once is what occupancy is worked out from. */
#include <string.h>

#include "ptx/translate/lower.h"

#define CLASSES 5

typedef struct {
    guint32 reg, start, end;
} Interval;

typedef struct {
    PtxCode *code;
    const PtxFlow *flow;
    const guint8 *types;
    guint32 n;
    guint32 *dense, n_dense; /* register -> index among those that cross blocks, or G_MAXUINT32 */
    guint32 *sparse;
    guint64 *in, *out, *use, *def;
    guint32 words;
    guint32 *start, *end; /* of each register; start > end: never used */
    /* while visiting */
    guint32 at, block;
    gboolean kills;
    guint8 *seen; /* defined in this block already */
    guint64 *live;
    guint32 live_bytes, *most; /* now, and the most in each block */
    guint8 *alive;             /* registers alive while walking back through a block */
    guint32 *place;
} Allocator;

static guint reg_bytes(const Allocator *a, guint32 reg) { return ptx_types[a->types[reg]].bytes; }
static guint class_of(guint bytes) { return bytes == 0 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : bytes == 8 ? 3 : 4; }
static guint32 class_bytes(guint class) { return class == 0 ? 4u : PTX_LANES << class; }

/* ---- which registers cross blocks */

static void visit_local(void *user, guint32 *place, gboolean write)
{
    Allocator *a = user;
    guint32 reg = *place >> 1;
    if (write && a->kills)
        a->start[reg] = a->block; /* block of its last definition so far, here */
    else if (a->start[reg] != a->block && a->dense[reg] == G_MAXUINT32)
        a->dense[reg] = a->n_dense++;
}

static void find_crossing(Allocator *a)
{
    for (guint32 b = 0; b < a->flow->n; b++) {
        a->block = b;
        for (guint32 i = a->flow->block[b].first; i <= a->flow->block[b].last; i++) {
            a->kills = a->code->ins[i].guard == PLACE_NONE;
            ptx_ins_visit(a->code, &a->code->ins[i], visit_local, a);
        }
    }
    a->sparse = g_new(guint32, a->n_dense + 1u);
    for (guint32 r = 0; r < a->n; r++)
        if (a->dense[r] != G_MAXUINT32)
            a->sparse[a->dense[r]] = r;
}

/* ---- liveness between blocks */

static void visit_use_def(void *user, guint32 *place, gboolean write)
{
    Allocator *a = user;
    guint32 index = a->dense[*place >> 1];
    if (index == G_MAXUINT32)
        return;
    guint64 *use = a->use + (gsize)a->block * a->words, *def = a->def + (gsize)a->block * a->words;
    guint64 bit = (guint64)1 << (index % 64);
    if (write && a->kills)
        def[index / 64] |= bit;
    else if (!(def[index / 64] & bit))
        use[index / 64] |= bit;
}

static gboolean block_update(Allocator *a, guint32 b)
{
    const PtxBlock *block = &a->flow->block[b];
    guint64 *in = a->in + (gsize)b * a->words, *out = a->out + (gsize)b * a->words;
    const guint64 *use = a->use + (gsize)b * a->words, *def = a->def + (gsize)b * a->words;
    gboolean changed = FALSE;
    for (guint e = 0; e < block->n_next; e++) {
        const guint64 *next = a->in + (gsize)block->next[e] * a->words;
        for (guint32 w = 0; w < a->words; w++)
            out[w] |= next[w];
    }
    for (guint32 w = 0; w < a->words; w++) {
        guint64 now = use[w] | (out[w] & ~def[w]);
        changed |= now != in[w];
        in[w] = now;
    }
    return changed;
}

static void find_liveness(Allocator *a)
{
    gsize size = (gsize)a->flow->n * a->words;
    a->use = g_new0(guint64, size + 1);
    a->def = g_new0(guint64, size + 1);
    a->in = g_new0(guint64, size + 1);
    a->out = g_new0(guint64, size + 1);
    for (guint32 b = 0; b < a->flow->n; b++) {
        a->block = b;
        for (guint32 i = a->flow->block[b].first; i <= a->flow->block[b].last; i++) {
            a->kills = a->code->ins[i].guard == PLACE_NONE;
            ptx_ins_visit(a->code, &a->code->ins[i], visit_use_def, a);
        }
    }
    for (gboolean changed = TRUE; changed;) {
        changed = FALSE;
        for (guint32 b = a->flow->n; b-- > 0;)
            changed |= block_update(a, b);
    }
}

/* ---- intervals, and the most that is alive at once */

static void extend(Allocator *a, guint32 reg, guint32 at)
{
    a->start[reg] = MIN(a->start[reg], at);
    a->end[reg] = MAX(a->end[reg], at);
}

static void visit_interval(void *user, guint32 *place, gboolean write)
{
    Allocator *a = user;
    guint32 reg = *place >> 1;
    const PtxIns *ins = &a->code->ins[a->at];
    /* operands of a plain instruction with one result end before the result begins: it may take their place */
    gboolean late = ins->n_vec || ins->dst2 != PLACE_NONE || ins->op >= OP_LD;
    extend(a, reg, 2 * a->at + (write || late));
}

static void visit_write_back(void *user, guint32 *place, gboolean write)
{
    Allocator *a = user;
    guint32 reg = *place >> 1;
    if (write && a->kills && a->alive[reg]) {
        a->alive[reg] = 0;
        a->live_bytes -= reg_bytes(a, reg);
    }
}

static void visit_read_back(void *user, guint32 *place, gboolean write)
{
    Allocator *a = user;
    guint32 reg = *place >> 1;
    if ((!write || !a->kills) && !a->alive[reg]) {
        a->alive[reg] = 1;
        a->live_bytes += reg_bytes(a, reg);
    }
}

static void walk_block(Allocator *a, guint32 b)
{
    const PtxBlock *block = &a->flow->block[b];
    const guint64 *out = a->out + (gsize)b * a->words, *in = a->in + (gsize)b * a->words;
    a->live_bytes = 0;
    for (guint32 w = 0; w < a->words; w++) {
        for (guint64 bits = out[w]; bits; bits &= bits - 1) {
            guint32 reg = a->sparse[w * 64 + (guint32)__builtin_ctzll(bits)];
            a->alive[reg] = 1;
            a->live_bytes += reg_bytes(a, reg);
            extend(a, reg, 2 * block->last + 1);
        }
        for (guint64 bits = in[w]; bits; bits &= bits - 1)
            extend(a, a->sparse[w * 64 + (guint32)__builtin_ctzll(bits)], 2 * block->first);
    }
    a->most[b] = a->live_bytes;
    for (guint32 i = block->last + 1; i-- > block->first;) {
        PtxIns *ins = &a->code->ins[i];
        a->at = i;
        a->kills = ins->guard == PLACE_NONE;
        ptx_ins_visit(a->code, ins, visit_interval, a);
        ptx_ins_visit(a->code, ins, visit_write_back, a);
        ptx_ins_visit(a->code, ins, visit_read_back, a);
        a->most[b] = MAX(a->most[b], a->live_bytes);
    }
    a->code->live_bytes = MAX(a->code->live_bytes, a->most[b]);
    for (guint32 w = 0; w < a->words; w++) /* what is still alive came in */
        for (guint64 bits = in[w]; bits; bits &= bits - 1)
            a->alive[a->sparse[w * 64 + (guint32)__builtin_ctzll(bits)]] = 0;
}

/* All registers of a vector are written when its load comes back, those that nothing reads, too: they keep their places
 * as long as the others, or the next load would have to wait for this one before it takes them. */
static void keep_vectors(Allocator *a)
{
    for (guint32 i = 0; i < a->code->n_ins; i++) {
        const PtxIns *ins = &a->code->ins[i];
        guint32 last = 0;
        if (ins->op != OP_LD && ins->op != OP_ATOM && ins->op != OP_MC_LOAD)
            continue;
        for (guint v = 0; v < ins->n_vec; v++) {
            guint32 place = a->code->places[ins->vec + v];
            last = place != PLACE_NONE ? MAX(last, a->end[place >> 1]) : last;
        }
        for (guint v = 0; v < ins->n_vec; v++) {
            guint32 place = a->code->places[ins->vec + v];
            if (place != PLACE_NONE)
                extend(a, place >> 1, last);
        }
    }
}

static gint compare_start(gconstpointer a, gconstpointer b)
{
    const Interval *x = a, *y = b;
    return x->start != y->start ? (x->start < y->start ? -1 : 1) : x->reg < y->reg ? -1 : 1;
}

/* Active intervals of a class: a heap by end would do; classes are few and places are reused, so a list serves. */
static void scan_class(Allocator *a, guint class, guint32 *offset)
{
    GArray *list = g_array_new(FALSE, FALSE, sizeof(Interval)), *ends = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint32 r = 0; r < a->n; r++)
        if (a->start[r] <= a->end[r] && class_of(reg_bytes(a, r)) == class) {
            Interval interval = {r, a->start[r], a->end[r]};
            g_array_append_val(list, interval);
        }
    g_array_sort(list, compare_start);
    guint32 hint = 0;
    for (guint i = 0; i < list->len; i++) {
        const Interval *interval = &g_array_index(list, Interval, i);
        guint32 place = ends->len;
        for (guint32 p = 0; p < ends->len; p++) { /* from where the last one was found: most are short-lived */
            guint32 candidate = (hint + p) % ends->len;
            if (g_array_index(ends, guint32, candidate) < interval->start) {
                place = candidate;
                break;
            }
        }
        if (place == ends->len)
            g_array_append_val(ends, interval->end);
        hint = place;
        g_array_index(ends, guint32, place) = interval->end;
        a->place[interval->reg] = *offset + place * class_bytes(class);
    }
    *offset += ends->len * class_bytes(class);
    *offset = (*offset + 63u) & ~63u;
    g_array_unref(list);
    g_array_unref(ends);
}

static void visit_place(void *user, guint32 *place, gboolean write)
{
    (void)write;
    Allocator *a = user;
    *place = a->place[*place >> 1];
}

static void spill(const Allocator *a)
{
    guint32 registers = ptx_registers_allowed(a->code->function);
    PtxLive live = {a->code, a->flow, a->types, a->dense, a->sparse, a->n_dense, a->words, a->in, a->out, a->most};
    if (a->code->live_bytes > 4 * registers)
        ptx_spill(&live, registers);
}

void ptx_allocate(PtxCode *code, const PtxFlow *flow, const guint8 *types, guint32 n_registers)
{
    Allocator a = {.code = code, .flow = flow, .types = types, .n = n_registers};
    a.dense = g_new(guint32, a.n + 1u);
    a.start = g_new(guint32, a.n + 1u);
    a.end = g_new0(guint32, a.n + 1u);
    a.alive = g_new0(guint8, a.n + 1u);
    a.place = g_new0(guint32, a.n + 1u);
    memset(a.dense, 0xff, sizeof(guint32) * (a.n + 1u));
    memset(a.start, 0xff, sizeof(guint32) * (a.n + 1u));
    find_crossing(&a);
    memset(a.start, 0xff, sizeof(guint32) * (a.n + 1u));
    a.words = (a.n_dense + 63) / 64;
    find_liveness(&a);
    a.most = g_new0(guint32, flow->n);
    for (guint32 b = 0; b < flow->n; b++)
        walk_block(&a, b);
    spill(&a);
    keep_vectors(&a);
    for (guint f = 0; f < code->n_formals; f++) /* register parameters are written by the call */
        if (code->formal_place[f] != PLACE_NONE)
            extend(&a, code->formal_place[f] >> 1, 0), extend(&a, code->formal_place[f] >> 1, 2 * code->n_ins);
    code->frame_bytes = 0;
    for (guint class = CLASSES; class -- > 0;)
        scan_class(&a, class, &code->frame_bytes);
    for (guint32 i = 0; i < code->n_ins; i++)
        ptx_ins_visit(code, &code->ins[i], visit_place, &a);
    for (guint f = 0; f < code->n_formals; f++)
        if (code->formal_place[f] != PLACE_NONE)
            code->formal_place[f] = a.place[code->formal_place[f] >> 1];
    g_free(a.dense);
    g_free(a.sparse);
    g_free(a.start);
    g_free(a.end);
    g_free(a.alive);
    g_free(a.most);
    g_free(a.place);
    g_free(a.use);
    g_free(a.def);
    g_free(a.in);
    g_free(a.out);
}
