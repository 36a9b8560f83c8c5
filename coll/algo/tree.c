/* Tree all-reduce, as NCCL's runTreeSplit: data is summed up a tree to its root and the sum comes down
 * again, both at the same time by two groups of each CTA's warps; the root's are one group.
 *
 * Shape: within a node a chain, among nodes a double binary tree (NCCL's trees.cc: two trees, so that a
 * rank that is inner in one is a leaf in the other; channels alternate). A node is the 8 GPUs of one
 * baseboard, or the 4 of a tray where more GPUs than 8 share the fabric: the first rank of each
 * node is in the tree among nodes. */
#include "coll/algo/primitives.h"

#define TREE_NODE_SMALL 8u /* up to so many ranks are one node */
#define TREE_NODE_LARGE 4u

typedef struct {
    gint32 up; /* parent rank; -1: the root */
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

/* NCCL's search gives the links' whole bandwidth to its first chains. Only with two ranks is as much left for
 * chains the other way round: 6 of each 12 channels then have rank 1 as their root (NCCL_DEBUG's graph). */
static gboolean tree_is_turned(const Coll *coll, guint32 channel) { return coll->n == 2 && channel % 12 >= 6; }

static TreeRank tree_of(const Coll *coll, guint32 rank, guint32 channel)
{
    if (coll->n == 2) {
        gboolean root = rank == (guint32)tree_is_turned(coll, channel);
        return (TreeRank){.up = root ? -1 : (gint32)(1 - rank), .down = {(gint32)(1 - rank)}, .n_down = root};
    }
    guint32 which = channel % 2;
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

/* A CTA's connections: the children's places 0 to 2, the parent 3; the same numbers at both ends. */
#define TREE_PARENT PRIM_PEERS

static void tree_connect_up(Prim *prim, guint32 rank, guint32 channel, const TreeRank *tree)
{
    const Coll *coll = prim->coll;
    prim->n_from = tree->n_down;
    for (guint32 k = 0; k < tree->n_down; k++)
        prim->from[k] = prim_from(coll, channel, (guint32)tree->down[k], TREE_PARENT, rank, k);
    if (tree->up < 0)
        return;
    TreeRank above = tree_of(coll, (guint32)tree->up, channel);
    prim->n_to = 1;
    prim->to[0] = prim_to(coll, channel, rank, TREE_PARENT, (guint32)tree->up, tree_place(&above, rank));
}

static void tree_connect_down(Prim *prim, guint32 rank, guint32 channel, const TreeRank *tree)
{
    const Coll *coll = prim->coll;
    prim->n_to = tree->n_down;
    for (guint32 k = 0; k < tree->n_down; k++)
        prim->to[k] = prim_to(coll, channel, rank, k, (guint32)tree->down[k], TREE_PARENT);
    if (tree->up < 0)
        return;
    TreeRank above = tree_of(coll, (guint32)tree->up, channel);
    prim->n_from = 1;
    prim->from[0] = prim_from(coll, channel, (guint32)tree->up, tree_place(&above, rank), rank, TREE_PARENT);
}

/* Threads that sum upwards; the others spread downwards (all_reduce.h). */
static guint32 tree_split(CollProto proto, guint32 threads)
{
    guint32 up = proto == COLL_SIMPLE ? threads / 2 : threads * 7 / 10;
    up = MAX(up / WARP_LANES, 1) * WARP_LANES;
    return proto == COLL_SIMPLE && up >= 256 ? up + 2 * WARP_LANES : up;
}

/* A step; NCCL halves it in LL128 only, while a rank would have too few of them (enqueue.cc: calcCollChunking,
 * nstepsLL128 in tenths, one node). So a tree in Simple moves parts of up to 512 KiB hop by hop. */
static guint64 tree_chunk(const Coll *coll)
{
    guint64 chunk = prim_step_data(coll->proto), ranks = MIN(coll->n, TREE_NODE_SMALL), tenths = 10 + ranks;
    if (coll->proto != COLL_LL128)
        return chunk;
    while (coll->part_bytes / chunk * ranks * 10 < tenths * 64 && chunk > 128u << 10)
        chunk /= 2;
    while (coll->part_bytes / chunk * ranks * 10 < tenths * 16 && chunk > 32u << 10)
        chunk /= 2;
    return chunk / 16 * 16;
}

static void tree_move(Prim *prim, const Coll *coll, guint32 rank, guint64 at, guint64 bytes, gboolean in, gboolean out)
{
    PrimMove move = {.bytes = bytes, .receive = prim->n_from > 0, .send = prim->n_to > 0};
    if (in)
        move.input = coll->in.va[rank] + at;
    if (out)
        move.output = coll->out.va[rank] + at;
    prim_move(prim, &move);
}

static void program_tree(FoCta *cta, const void *args)
{
    const CollArgs *a = args;
    const Coll *coll = a->coll;
    guint32 rank = a->rank, channel = fo_cta(cta), threads = fo_threads(cta);
    TreeRank tree = tree_of(coll, rank, channel);
    gboolean root = tree.up < 0;
    guint32 split = root ? threads : tree_split(coll->proto, threads);
    Prim up, down;
    prim_init(&up, cta, coll, 0, 0, split, TRUE);
    tree_connect_up(&up, rank, channel, &tree);
    if (root)
        tree_connect_down(&up, rank, channel, &tree);
    if (!root) {
        prim_init(&down, cta, coll, 1, split, threads - split, TRUE);
        tree_connect_down(&down, rank, channel, &tree);
    }
    guint64 start = MIN(channel * coll->part_bytes, coll->spec.bytes);
    guint64 end = MIN(start + coll->part_bytes, coll->spec.bytes), chunk = tree_chunk(coll);
    for (guint64 at = start; at < end; at += chunk) {
        tree_move(&up, coll, rank, at, MIN(chunk, end - at), TRUE, root);
        if (!root)
            tree_move(&down, coll, rank, at, MIN(chunk, end - at), FALSE, TRUE);
    }
    prim_end(&up);
    if (!root)
        prim_end(&down);
}

/* All ranks together receive 2 (n - 1) times the data of a sum, so that some receive the mean or more. */
static guint64 parts_twice(CollOp op, guint64 n) { return op == COLL_ALL_REDUCE ? 2 * (n - 1) : n - 1; }

/* A step of all channels. */
static guint64 tree_turn(const CollSpec *spec, guint32 ctas, guint32 n)
{
    (void)spec, (void)n;
    return ctas * prim_step_data(COLL_SIMPLE);
}

static gboolean tree_check(const CollGroup *group, const CollSpec *spec, const CollRow *row, guint32 ctas,
                           guint32 threads, GError **error)
{
    (void)group, (void)spec, (void)row, (void)ctas;
    return threads >= 2 * WARP_LANES ||
           coll_refuse(error, "tree has two groups of warps in each CTA: %u threads are too few, 64 or more are right",
                       threads);
}

static const CollRow tree_rows[] = {
    {.op = COLL_ALL_REDUCE,
     .algo = COLL_TREE,
     .program = program_tree,
     .ctas = 24,
     .threads = 640,
     .connections = 4,
     .protocols = TRUE},
};
const CollAlgorithm coll_algo_tree = {
    COLL_ROWS(tree_rows), .family = COLL_OF_NCCL, .parts = parts_twice,
    .turn = tree_turn,    .check = tree_check,    .how = "NCCL_ALGO=Tree, NCCL_PROTO as the protocol",
};
