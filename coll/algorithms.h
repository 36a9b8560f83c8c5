/* The algorithms, a line each: COLL_RING has the name "ring", and a file of coll/algo/ ends in its descriptor, which is
 * coll_algo_ring (internal.h says what stands in one). Lists of names are in this order. */
#ifndef COLL_ALGORITHMS_H
#define COLL_ALGORITHMS_H

#define COLL_ALGORITHMS(ROW)                                                                                           \
    ROW(RING, ring)                                                                                                    \
    ROW(TREE, tree)                                                                                                    \
    ROW(ONESHOT, oneshot)                                                                                              \
    ROW(TWOSHOT, twoshot)                                                                                              \
    ROW(NVLS, nvls)                                                                                                    \
    ROW(NVLS_ONESHOT, nvls_oneshot)                                                                                    \
    ROW(PUSH, push)                                                                                                    \
    ROW(PULL, pull)                                                                                                    \
    ROW(DIRECT, direct) /* all_to_all and sendrecv: every rank stores to its peers */                                  \
    ROW(P2P, p2p)       /* the same as NCCL does it */                                                                 \
    ROW(SYM_LL, sym_ll) /* this and the next three: NCCL's symmetric-memory kernels */                                 \
    ROW(SYM_LLMC, sym_llmc)                                                                                            \
    ROW(SYM_LSA, sym_lsa)                                                                                              \
    ROW(SYM_MC, sym_mc)                                                                                                \
    ROW(LAMPORT, lamport)             /* the one-shot all_reduce of serving frameworks */                              \
    ROW(NVLS_BUFFERED, nvls_buffered) /* classic NCCL's, with copies through its own buffers */                        \
    ROW(ENDPOINT, endpoint)           /* fabric operations on logical endpoints, of one GPU each */                    \
    ROW(PULLRED, pullred)             /* and of all: pull reductions in the switch */

#endif
