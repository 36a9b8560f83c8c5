/* Basic blocks of a function's code, and where diverged lanes meet again: the immediate post-dominator of a branch.
 *
 * Post-dominators by Cooper, Harvey and Kennedy's iteration ("A Simple, Fast Dominance Algorithm"). Ways that end in
 * exit or trap do not count: lanes that take them come back nowhere. Nor do, in a kernel, conditional branches to its
 * bare return: an early return must not keep the other lanes from meeting. Where such a branch is the only way out of
 * a loop, it does count: without it no branch of that loop had a place to meet at. A join is where lanes wait for each
 * other for speed; nothing depends on it for a right result (path.h), but for functions: lanes that call one together
 * share its registers, and only such lanes can vote in it. */
#include "ptx/translate/lower.h"

#define NOWHERE G_MAXUINT32

static gboolean ends_lanes(const PtxIns *ins) { return ins->op == OP_EXIT || ins->op == OP_TRAP || ins->op == OP_RET; }

static gboolean ends_block(const PtxIns *ins) { return ins->op == OP_BRA || ins->op == OP_BRX || ends_lanes(ins); }

static guint32 *block_starts(const PtxCode *code, guint32 *n)
{
    g_autofree guint8 *leads = g_malloc0(code->n_ins + 1u);
    leads[0] = 1;
    for (guint32 i = 0; i < code->n_ins; i++) {
        const PtxIns *ins = &code->ins[i];
        if (ends_block(ins))
            leads[i + 1] = 1;
        if (ins->op == OP_BRA)
            leads[ins->target] = 1;
        for (guint32 t = 0; ins->op == OP_BRX && t < ins->n_targets; t++)
            leads[code->places[ins->target + t]] = 1;
    }
    leads[code->n_ins - 1] = 1;
    guint32 *of = g_new(guint32, code->n_ins);
    *n = 0;
    for (guint32 i = 0; i < code->n_ins; i++) {
        *n += leads[i];
        of[i] = *n - 1;
    }
    return of;
}

void ptx_flow_make(PtxFlow *flow, const PtxCode *code)
{
    flow->of = block_starts(code, &flow->n);
    flow->block = g_new0(PtxBlock, flow->n);
    guint32 edges = 0;
    for (guint32 i = code->n_ins; i-- > 0;) {
        PtxBlock *block = &flow->block[flow->of[i]];
        block->first = i;
        block->last = MAX(block->last, i);
        edges += code->ins[i].op == OP_BRX ? code->ins[i].n_targets : 0;
    }
    flow->edges = g_new(guint32, edges + 2u * flow->n + 1u);
    guint32 *at = flow->edges;
    for (guint32 b = 0; b < flow->n; b++) {
        PtxBlock *block = &flow->block[b];
        const PtxIns *ins = &code->ins[block->last];
        gboolean guarded = ins->guard != PLACE_NONE, end = block->last + 1 == code->n_ins;
        block->next = at;
        if (ins->op == OP_BRA)
            *at++ = flow->of[ins->target];
        for (guint32 t = 0; ins->op == OP_BRX && t < ins->n_targets; t++)
            *at++ = flow->of[code->places[ins->target + t]];
        if (!end && (!ends_block(ins) || guarded))
            *at++ = b + 1;
        block->n_next = (guint)(at - block->next);
    }
}

void ptx_flow_clear(PtxFlow *flow)
{
    g_free(flow->of);
    g_free(flow->block);
    g_free(flow->edges);
}

/* ---- post-dominators */

typedef struct {
    PtxFlow *flow;
    const PtxCode *code;
    guint32 root;
    guint32 *prev, *prev_at; /* blocks before each block, and where its list begins */
    guint32 *order, *rank;   /* reverse postorder from the end, and a block's place in it */
    guint32 n_order, *idom;
} Dominators;

/* Whether the way from block b to its successor counts. */
static gboolean edge_counts(const Dominators *d, guint32 b, guint32 to)
{
    const PtxIns *last = &d->code->ins[d->flow->block[b].last];
    const PtxBlock *root = &d->flow->block[d->root];
    gboolean bare = to == d->root && root->first == root->last;
    if (!d->code->function->entry || !bare || d->flow->block[b].only_way)
        return TRUE;
    return !(last->op == OP_BRA && last->guard != PLACE_NONE && last->target == root->first);
}

static void find_predecessors(Dominators *d)
{
    guint32 n = d->flow->n, total = 0;
    d->prev_at = g_new0(guint32, n + 2u);
    for (guint32 b = 0; b < n; b++)
        for (guint e = 0; e < d->flow->block[b].n_next; e++) {
            d->prev_at[d->flow->block[b].next[e] + 2]++;
            total++;
        }
    for (guint32 b = 2; b < n + 2; b++)
        d->prev_at[b] += d->prev_at[b - 1];
    d->prev = g_new(guint32, total + 1u);
    for (guint32 b = 0; b < n; b++)
        for (guint e = 0; e < d->flow->block[b].n_next; e++)
            d->prev[d->prev_at[d->flow->block[b].next[e] + 1]++] = b;
}

/* Depth first from the end, against the arrows, without recursion. */
static void number_blocks(Dominators *d)
{
    guint32 n = d->flow->n, depth = 0;
    g_autofree guint32 *stack = g_new(guint32, n), *at = g_new0(guint32, n);
    for (guint32 b = 0; b < n; b++) {
        d->rank[b] = NOWHERE;
        d->flow->block[b].reaches = FALSE;
    }
    d->flow->block[d->root].reaches = TRUE;
    stack[depth++] = d->root;
    guint32 post = 0;
    while (depth) {
        guint32 b = stack[depth - 1], from = d->prev_at[b], many = d->prev_at[b + 1] - from;
        if (at[b] == many) {
            d->rank[b] = post;
            d->order[post++] = b;
            depth--;
            continue;
        }
        guint32 p = d->prev[from + at[b]++];
        if (!d->flow->block[p].reaches && edge_counts(d, p, b)) {
            d->flow->block[p].reaches = TRUE;
            stack[depth++] = p;
        }
    }
    d->n_order = post;
}

/* Blocks that come to the end by nothing but a conditional branch to it. */
static gboolean find_only_ways(Dominators *d)
{
    gboolean found = FALSE;
    for (guint32 i = d->prev_at[d->root]; i < d->prev_at[d->root + 1]; i++) {
        PtxBlock *block = &d->flow->block[d->prev[i]];
        block->only_way = !block->reaches;
        found |= block->only_way;
    }
    return found;
}

static guint32 meet(const Dominators *d, guint32 a, guint32 b)
{
    while (a != b) {
        while (d->rank[a] < d->rank[b])
            a = d->idom[a];
        while (d->rank[b] < d->rank[a])
            b = d->idom[b];
    }
    return a;
}

static void solve(Dominators *d)
{
    guint32 n = d->flow->n;
    d->idom = g_new(guint32, n);
    for (guint32 b = 0; b < n; b++)
        d->idom[b] = NOWHERE;
    d->idom[d->root] = d->root;
    for (gboolean changed = TRUE; changed;) {
        changed = FALSE;
        for (guint32 i = d->n_order; i-- > 0;) {
            guint32 b = d->order[i], best = NOWHERE;
            const PtxBlock *block = &d->flow->block[b];
            if (b == d->root)
                continue;
            for (guint e = 0; e < block->n_next; e++) {
                guint32 to = block->next[e];
                if (d->idom[to] != NOWHERE && edge_counts(d, b, to))
                    best = best == NOWHERE ? to : meet(d, best, to);
            }
            if (best != d->idom[b]) {
                d->idom[b] = best;
                changed = TRUE;
            }
        }
    }
}

/* A branch back to a loop without stores that reads what others may write: a wait, most likely. */
static gboolean loop_polls(const PtxCode *code, guint32 from, guint32 to)
{
    gboolean polls = FALSE;
    if (to - from > 64)
        return FALSE;
    for (guint32 i = from; i <= to; i++) {
        const PtxIns *ins = &code->ins[i];
        if (ins->op == OP_ATOM || ins->op == OP_MBAR_TRY || ins->op == OP_MBAR_TEST || ins->op == OP_NANOSLEEP)
            polls = TRUE;
        if (ins->op == OP_LD && (ins->order == W_VOLATILE || ins->order == W_RELAXED || ins->order == W_ACQUIRE))
            polls = TRUE;
        if (ins->op == OP_ST)
            return FALSE;
    }
    return polls;
}

/* The return that stands for the end: the last one of the text, where all returns of a .func go. */
static guint32 find_root(const PtxFlow *flow, const PtxCode *code)
{
    guint32 root = flow->of[code->n_ins - 1];
    if (!code->function->entry)
        return root;
    for (guint32 i = 0; i + 1 < code->n_ins; i++)
        if (code->ins[i].op == OP_RET)
            root = flow->of[i];
    return root;
}

void ptx_flow_joins(PtxFlow *flow, PtxCode *code)
{
    Dominators d = {.flow = flow, .code = code, .root = find_root(flow, code)};
    find_predecessors(&d);
    d.order = g_new(guint32, flow->n);
    d.rank = g_new(guint32, flow->n);
    number_blocks(&d);
    if (find_only_ways(&d))
        number_blocks(&d);
    solve(&d);
    for (guint32 i = 0; i < code->n_ins; i++) {
        PtxIns *ins = &code->ins[i];
        guint32 join = d.idom[flow->of[i]];
        ins->join = join == NOWHERE || join == flow->of[i] ? NOWHERE : flow->block[join].first;
        if (ins->op == OP_BRA && ins->target <= i && loop_polls(code, ins->target, i))
            ins->flags |= FLAG_SPIN;
    }
    g_free(d.prev);
    g_free(d.prev_at);
    g_free(d.order);
    g_free(d.rank);
    g_free(d.idom);
}
