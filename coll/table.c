/* Which algorithms each operation has, what they need, and everybody's names. */
#include <string.h>

#include "coll/internal.h"

/* Defaults: NCCL's 24 channels for rings and trees on 18 links, 16 for NVLS (nvls.cc); Simple has 512 threads
 * and a warp that posts, or four in a tree (NCCL's enqueue.cc). */
static const CollRow rows[] = {
    {.op = COLL_ALL_REDUCE, .algo = COLL_RING, .program = coll_program_ring, .ctas = 24, .threads = 544,
     .connections = 1, .protocols = TRUE},
    {.op = COLL_ALL_REDUCE, .algo = COLL_TREE, .program = coll_program_tree, .ctas = 24, .threads = 640,
     .connections = 4, .protocols = TRUE},
    {.op = COLL_ALL_REDUCE, .algo = COLL_ONESHOT, .program = coll_program_direct, .ctas = 36, .threads = 512},
    {.op = COLL_ALL_REDUCE, .algo = COLL_TWOSHOT, .program = coll_program_direct, .ctas = 36, .threads = 512,
     .twoshot = TRUE},
    {.op = COLL_ALL_REDUCE, .algo = COLL_NVLS, .program = coll_program_nvls, .ctas = 16, .threads = 512,
     .multicast_in = TRUE, .multicast_out = TRUE, .reduces_in_switch = TRUE},
    {.op = COLL_ALL_REDUCE, .algo = COLL_NVLS_ONESHOT, .program = coll_program_nvls_oneshot, .ctas = 16, .threads = 512,
     .multicast_in = TRUE, .reduces_in_switch = TRUE},
    {.op = COLL_ALL_REDUCE, .algo = COLL_SYM_LL, .program = coll_program_sym_ll, .threads = 512,
     .symmetric = TRUE, .lines = TRUE},
    {.op = COLL_ALL_REDUCE, .algo = COLL_SYM_LLMC, .program = coll_program_sym_ll, .threads = 512,
     .symmetric = TRUE, .lines = TRUE, .multicast_lines = TRUE},
    {.op = COLL_ALL_REDUCE, .algo = COLL_SYM_LSA, .program = coll_program_sym_lsa, .threads = 512,
     .symmetric = TRUE, .anchored = TRUE},
    {.op = COLL_ALL_REDUCE, .algo = COLL_SYM_MC, .program = coll_program_sym_mc, .threads = 512,
     .symmetric = TRUE, .multicast_in = TRUE, .multicast_out = TRUE, .reduces_in_switch = TRUE},
    {.op = COLL_ALL_REDUCE, .algo = COLL_LAMPORT, .program = coll_program_lamport, .ctas = 36, .threads = 512,
     .lamport = TRUE},
    {.op = COLL_ALL_REDUCE, .algo = COLL_NVLS_BUFFERED, .program = coll_program_nvls_buffered, .ctas = 16,
     .threads = 640, .multicast_lines = TRUE, .buffered = TRUE, .reduces_in_switch = TRUE, .anchored = TRUE},
    {.op = COLL_ALL_GATHER, .algo = COLL_RING, .program = coll_program_ring, .ctas = 24, .threads = 544,
     .connections = 1, .protocols = TRUE},
    {.op = COLL_ALL_GATHER, .algo = COLL_PUSH, .program = coll_program_direct, .ctas = 36, .threads = 512},
    {.op = COLL_ALL_GATHER, .algo = COLL_NVLS, .program = coll_program_nvls, .ctas = 16, .threads = 512,
     .multicast_out = TRUE},
    {.op = COLL_ALL_GATHER, .algo = COLL_SYM_LL, .program = coll_program_sym_ll, .threads = 512,
     .symmetric = TRUE, .lines = TRUE},
    {.op = COLL_ALL_GATHER, .algo = COLL_SYM_LLMC, .program = coll_program_sym_ll, .threads = 512,
     .symmetric = TRUE, .lines = TRUE, .multicast_lines = TRUE},
    {.op = COLL_ALL_GATHER, .algo = COLL_SYM_LSA, .program = coll_program_sym_lsa, .threads = 512,
     .symmetric = TRUE},
    {.op = COLL_ALL_GATHER, .algo = COLL_SYM_MC, .program = coll_program_sym_mc, .threads = 512,
     .symmetric = TRUE, .multicast_out = TRUE},
    {.op = COLL_ALL_GATHER, .algo = COLL_NVLS_BUFFERED, .program = coll_program_nvls_buffered, .ctas = 16,
     .threads = 640, .multicast_lines = TRUE, .buffered = TRUE, .anchored = TRUE},
    {.op = COLL_REDUCE_SCATTER, .algo = COLL_RING, .program = coll_program_ring, .ctas = 24, .threads = 544,
     .connections = 1, .protocols = TRUE},
    {.op = COLL_REDUCE_SCATTER, .algo = COLL_PULL, .program = coll_program_direct, .ctas = 36, .threads = 512},
    {.op = COLL_REDUCE_SCATTER, .algo = COLL_NVLS, .program = coll_program_nvls, .ctas = 16, .threads = 512,
     .multicast_in = TRUE, .reduces_in_switch = TRUE},
    {.op = COLL_REDUCE_SCATTER, .algo = COLL_SYM_LL, .program = coll_program_sym_ll, .threads = 512,
     .symmetric = TRUE, .lines = TRUE},
    {.op = COLL_REDUCE_SCATTER, .algo = COLL_SYM_LSA, .program = coll_program_sym_lsa, .threads = 512,
     .symmetric = TRUE, .anchored = TRUE},
    {.op = COLL_REDUCE_SCATTER, .algo = COLL_SYM_MC, .program = coll_program_sym_mc, .threads = 512,
     .symmetric = TRUE, .multicast_in = TRUE, .reduces_in_switch = TRUE},
    {.op = COLL_REDUCE_SCATTER, .algo = COLL_NVLS_BUFFERED, .program = coll_program_nvls_buffered, .ctas = 16,
     .threads = 640, .multicast_lines = TRUE, .buffered = TRUE, .reduces_in_switch = TRUE, .anchored = TRUE},
    {.op = COLL_BROADCAST, .algo = COLL_RING, .program = coll_program_ring, .ctas = 24, .threads = 544,
     .connections = 1, .protocols = TRUE},
    {.op = COLL_BROADCAST, .algo = COLL_PUSH, .program = coll_program_direct, .ctas = 36, .threads = 512},
    {.op = COLL_BROADCAST, .algo = COLL_NVLS, .program = coll_program_nvls, .ctas = 16, .threads = 512,
     .multicast_out = TRUE},
    {.op = COLL_ALL_TO_ALL, .algo = COLL_P2P, .program = coll_program_p2p, .threads = 640,
     .connections = 1, .protocols = TRUE},
    {.op = COLL_ALL_TO_ALL, .algo = COLL_DIRECT, .program = coll_program_direct, .ctas = 36, .threads = 512},
    {.op = COLL_SENDRECV, .algo = COLL_P2P, .program = coll_program_p2p, .threads = 640,
     .connections = 1, .protocols = TRUE},
    {.op = COLL_SENDRECV, .algo = COLL_DIRECT, .program = coll_program_direct, .ctas = 36, .threads = 512},
    {.op = COLL_BARRIER, .algo = COLL_DIRECT, .program = coll_program_barrier, .ctas = 1, .threads = 64},
    {.op = COLL_BARRIER, .algo = COLL_NVLS, .program = coll_program_barrier, .ctas = 1, .threads = 64},
};

const char *const coll_op_names[COLL_OPS + 1] = {"all_reduce", "all_gather", "reduce_scatter", "broadcast",
                                                 "all_to_all", "sendrecv",   "barrier",        NULL};
const char *const coll_algo_names[COLL_ALGOS + 1] = {
    "auto", "best", "ring", "tree", "oneshot", "twoshot", "nvls", "nvls_oneshot", "push", "pull",
    "direct", "p2p", "sym_ll", "sym_llmc", "sym_lsa", "sym_mc", "lamport", "nvls_buffered", "sym", "sym_unicast",
    "unicast", NULL};
static const char *const fidelity_names[] = {"packet", "flow", "auto"};
const char *const coll_proto_names[COLL_PROTOS + 1] = {"auto", "simple", "ll", "ll128", NULL};

const char *coll_op_name(CollOp op) { return coll_op_names[op]; }
const char *coll_algo_name(CollAlgo algo) { return coll_algo_names[algo]; }
const char *coll_proto_name(CollProto proto) { return coll_proto_names[proto]; }
const char *coll_fidelity_name(CollFidelity fidelity) { return fidelity_names[fidelity]; }

static int coll_index(const char *const *names, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (g_ascii_strcasecmp(names[i], name) == 0)
            return i;
    return -1;
}

gboolean coll_op_parse(const char *name, CollOp *op)
{
    int i = coll_index(coll_op_names, COLL_OPS, strcmp(name, "alltoall") == 0 ? "all_to_all" : name);
    if (i >= 0)
        *op = (CollOp)i;
    return i >= 0;
}

gboolean coll_algo_parse(const char *name, CollAlgo *algo)
{
    int i = coll_index(coll_algo_names, COLL_ALGOS, name);
    if (i >= 0)
        *algo = (CollAlgo)i;
    return i >= 0;
}

gboolean coll_proto_parse(const char *name, CollProto *proto)
{
    int i = coll_index(coll_proto_names, COLL_PROTOS, name);
    if (i >= 0)
        *proto = (CollProto)i;
    return i >= 0;
}

const CollRow *coll_row(CollOp op, CollAlgo algo)
{
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
        if (rows[i].op == op && rows[i].algo == algo)
            return &rows[i];
    return NULL;
}

gboolean coll_has_protocols(CollOp op, CollAlgo algo)
{
    const CollRow *row = coll_row(op, algo);
    return row ? row->protocols : algo == COLL_AUTO || coll_is_search(algo);
}

gboolean coll_needs_multicast(CollOp op, CollAlgo algo)
{
    const CollRow *row = coll_row(op, algo);
    return row && (row->multicast_in || row->multicast_out || row->multicast_lines || algo == COLL_NVLS);
}

const CollAlgo *coll_algos_of(CollOp op)
{
    static const CollAlgo lists[COLL_OPS][13] = {
        [COLL_ALL_REDUCE] = {COLL_RING, COLL_TREE, COLL_ONESHOT, COLL_TWOSHOT, COLL_NVLS,
                             COLL_NVLS_ONESHOT, COLL_SYM_LL, COLL_SYM_LLMC, COLL_SYM_LSA, COLL_SYM_MC,
                             COLL_LAMPORT, COLL_NVLS_BUFFERED, COLL_ALGOS},
        [COLL_ALL_GATHER] = {COLL_RING, COLL_PUSH, COLL_NVLS, COLL_SYM_LL, COLL_SYM_LLMC, COLL_SYM_LSA,
                             COLL_SYM_MC, COLL_NVLS_BUFFERED, COLL_ALGOS},
        [COLL_REDUCE_SCATTER] = {COLL_RING, COLL_PULL, COLL_NVLS, COLL_SYM_LL, COLL_SYM_LSA, COLL_SYM_MC,
                                 COLL_NVLS_BUFFERED, COLL_ALGOS},
        [COLL_BROADCAST] = {COLL_RING, COLL_PUSH, COLL_NVLS, COLL_ALGOS},
        [COLL_ALL_TO_ALL] = {COLL_P2P, COLL_DIRECT, COLL_ALGOS},
        [COLL_SENDRECV] = {COLL_P2P, COLL_DIRECT, COLL_ALGOS},
        [COLL_BARRIER] = {COLL_DIRECT, COLL_NVLS, COLL_ALGOS},
    };
    return lists[op];
}
