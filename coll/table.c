/* The algorithms that each operation has, from the descriptors at the feet of their files. */
#include "coll/internal.h"

#define COLL_ROW(number, name) extern const CollAlgorithm coll_algo_##name;
COLL_ALGORITHMS(COLL_ROW)
#undef COLL_ROW

static const CollAlgorithm *const algorithms[COLL_ALGOS] = {
#define COLL_ROW(number, name) [COLL_##number] = &coll_algo_##name,
    COLL_ALGORITHMS(COLL_ROW)
#undef COLL_ROW
};

const char *const coll_algo_names[COLL_ALGOS + 1] = {[COLL_AUTO] = "auto",
                                                     [COLL_BEST] = "best",
#define COLL_ROW(number, name) [COLL_##number] = #name,
                                                     COLL_ALGORITHMS(COLL_ROW)
#undef COLL_ROW
                                                         [COLL_SYM] = "sym",
                                                     [COLL_SYM_UNICAST] = "sym_unicast",
                                                     [COLL_UNICAST] = "unicast",
                                                     [COLL_ALGOS] = NULL};

const char *coll_algo_name(CollAlgo algo) { return coll_algo_names[algo]; }

gboolean coll_algo_parse(const char *name, CollAlgo *algo)
{
    int i = coll_index(coll_algo_names, COLL_ALGOS, name);
    if (i >= 0)
        *algo = (CollAlgo)i;
    return i >= 0;
}

const CollAlgorithm *coll_algorithm(CollAlgo algo) { return algorithms[algo]; }
CollFamily coll_algo_family(CollAlgo algo) { return algorithms[algo] ? algorithms[algo]->family : COLL_FAMILIES; }
const char *coll_algo_how(CollAlgo algo) { return algorithms[algo]->how; }

const CollRow *coll_row(CollOp op, CollAlgo algo)
{
    const CollAlgorithm *algorithm = algorithms[algo];
    for (guint i = 0; algorithm && i < algorithm->n_rows; i++)
        if (algorithm->rows[i].op == op)
            return &algorithm->rows[i];
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

CollAlgoList coll_algos_of(CollOp op)
{
    CollAlgoList list;
    guint n = 0;
    for (guint pass = 0; pass < 2; pass++)
        for (guint a = 0; a < COLL_ALGOS; a++) {
            const CollRow *row = coll_row(op, (CollAlgo)a);
            if (row && row->first == (pass == 0) && !coll_algorithm((CollAlgo)a)->only_named)
                list.algo[n++] = (CollAlgo)a;
        }
    list.algo[n] = COLL_ALGOS;
    return list;
}
