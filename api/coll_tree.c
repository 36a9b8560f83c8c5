/* Tree all-reduce, as NCCL's runTreeSplit: data is summed up a tree to its root and the sum comes down
 * again, both at the same time in two halves of a channel (two CTAs here; NCCL splits one CTA's warps).
 *
 * Shape: within a node a chain, among nodes a double binary tree (NCCL's trees.cc: two trees, so that a
 * rank that is inner in one is a leaf in the other; channels alternate). A node is the 8 GPUs of one
 * baseboard, or the 4 of a tray where more GPUs than 8 share the fabric: the first rank of each
 * node is in the tree among nodes. */
#include "api/coll_prim.h"

#define TREE_NODE_SMALL 8u /* up to so many ranks are one node */
#define TREE_NODE_LARGE 4u

typedef struct {
    gint32 up;                  /* parent rank; -1: the root */
    gint32 down[PRIM_PEERS];
    guint32 n_down;
} TreeRank;

/* Binary tree over nodes 0..n-1 in which node i's place follows from its lowest set bit (0 is the root). */
static gint32 tree_node_parent(guint32 n, guint32 node)
{
    if (node == 0)
        return -1;
    guint32 bit = node & -node, up = (node ^ bit) | (bit << 1);
    return (gint32)(up >= n ? node ^ bit : up);
}

/* The second tree: mirrored for an even number of nodes, shifted for an odd one. */
static gint32 tree_parent(guint32 n, guint32 node, guint32 which)
{
    if (which == 0)
        return tree_node_parent(n, node);
    guint32 mine = n % 2 ? (node + n - 1) % n : n - 1 - node;
    gint32 up = tree_node_parent(n, mine);
    return up < 0 ? -1 : (gint32)(n % 2 ? ((guint32)up + 1) % n : n - 1 - (guint32)up);
}

static TreeRank tree_of(const Coll *coll, guint32 rank, guint32 which)
{
    guint32 size = coll->n <= TREE_NODE_SMALL ? coll->n : TREE_NODE_LARGE;
    guint32 nodes = (coll->n + size - 1) / size, node = rank / size;
    TreeRank tree = {.up = -1};
    if (rank % size) { /* in the chain */
        tree.up = (gint32)rank - 1;
    } else {
        gint32 parent = tree_parent(nodes, node, which);
        tree.up = parent < 0 ? -1 : parent * (gint32)size;
        for (guint32 other = 0; other < nodes; other++)
            if (other != node && tree_parent(nodes, other, which) == (gint32)node)
                tree.down[tree.n_down++] = (gint32)(other * size);
    }
    if (rank % size < size - 1 && rank + 1 < coll->n)
        tree.down[tree.n_down++] = (gint32)rank + 1;
    return tree;
}

static guint32 tree_place(const TreeRank *parent, guint32 child)
{
    guint32 k = 0;
    while (parent->down[k] != (gint32)child)
        k++;
    return k;
}

/* The half of a channel that a CTA is: even ones sum upwards, odd ones spread downwards. The root's even
 * CTA does both. */
static guint32 tree_down_cta(const TreeRank *parent, guint32 channel)
{
    return 2 * channel + (parent->up < 0 ? 0 : 1);
}

static void tree_connect_up(Prim *prim, const Coll *coll, guint32 rank, guint32 channel,
                            const TreeRank *tree)
{
    guint32 cta = 2 * channel, which = channel % 2;
    prim->n_from = tree->n_down;
    for (guint32 k = 0; k < tree->n_down; k++)
        prim->from[k] = (PrimPeer){prim_slots(coll, rank, cta, k), prim_tail(coll, rank, cta, k),
                                   prim_head(coll, (guint32)tree->down[k], cta, 0), 0};
    if (tree->up < 0)
        return;
    guint32 parent = (guint32)tree->up;
    TreeRank above = tree_of(coll, parent, which);
    guint32 k = tree_place(&above, rank);
    prim->n_to = 1;
    prim->to[0] = (PrimPeer){prim_slots(coll, parent, cta, k), prim_tail(coll, parent, cta, k),
                             prim_head(coll, rank, cta, 0), 0};
}

static void tree_connect_down(Prim *prim, const Coll *coll, guint32 rank, guint32 channel,
                              const TreeRank *tree)
{
    guint32 mine = tree_down_cta(tree, channel), theirs = 2 * channel + 1, which = channel % 2;
    prim->n_to = tree->n_down;
    for (guint32 k = 0; k < tree->n_down; k++) {
        guint32 child = (guint32)tree->down[k];
        prim->to[k] = (PrimPeer){prim_slots(coll, child, theirs, 0), prim_tail(coll, child, theirs, 0),
                                 prim_head(coll, rank, mine, k), 0};
    }
    if (tree->up < 0)
        return;
    guint32 parent = (guint32)tree->up;
    TreeRank above = tree_of(coll, parent, which);
    prim->n_from = 1;
    prim->from[0] =
        (PrimPeer){prim_slots(coll, rank, theirs, 0), prim_tail(coll, rank, theirs, 0),
                   prim_head(coll, parent, tree_down_cta(&above, channel), tree_place(&above, rank)), 0};
}

/* NCCL halves the chunk until the tree has enough of them to be busy (enqueue.cc). */
static guint64 tree_chunk(const Coll *coll, guint64 part)
{
    static const struct {
        guint32 times;
        guint64 least;
    } rules[] = {{8, 128u << 10}, {4, 64u << 10}, {1, 32u << 10}};
    guint64 chunk = prim_step_data(coll->proto, coll->threads), depth = MIN(coll->n, TREE_NODE_SMALL) - 1;
    for (guint32 i = 0; coll->proto == COLL_SIMPLE && i < G_N_ELEMENTS(rules); i++)
        while (part / chunk < depth * rules[i].times && chunk > rules[i].least)
            chunk /= 2;
    return chunk / 16 * 16;
}

void coll_program_tree(FoCta *cta, const void *args)
{
    const CollArgs *a = args;
    const Coll *coll = a->coll;
    guint32 rank = a->rank, channel = fo_cta(cta) / 2, channels = fo_ctas(cta) / 2;
    gboolean up = fo_cta(cta) % 2 == 0;
    TreeRank tree = tree_of(coll, rank, channel % 2);
    gboolean root = tree.up < 0;
    Prim prim;
    if (root && !up)
        return;
    prim_init(&prim, cta, coll);
    if (up)
        tree_connect_up(&prim, coll, rank, channel, &tree);
    if (!up || root)
        tree_connect_down(&prim, coll, rank, channel, &tree);
    guint64 part = (coll->spec.bytes + channels * 16ull - 1) / (channels * 16ull) * 16;
    guint64 start = MIN(channel * part, coll->spec.bytes), end = MIN(start + part, coll->spec.bytes);
    prim.chunk = tree_chunk(coll, part);
    for (guint64 at = start; at < end; at += prim.chunk) {
        PrimMove move = {.bytes = MIN(prim.chunk, end - at), .receive = prim.n_from > 0,
                         .send = prim.n_to > 0};
        if (up)
            move.input = coll->in.va[rank] + at;
        if (root)
            move.output = coll->out.va[rank] + at;
        else if (!up)
            move.received = coll->out.va[rank] + at;
        for (guint32 k = 0; (root || !up) && k < prim.n_to; k++)
            move.direct[k] = coll->out.va[tree.down[k]] + at;
        prim_move(&prim, &move);
    }
}
