/* What a spec becomes on a group: algorithm, protocol, CTAs and threads, and what says that two runs are alike. */
#include "coll/internal.h"

void coll_choice(const CollGroup *group, const CollSpec *spec, CollAlgo *algo, CollProto *proto)
{
    *algo = spec->algo;
    *proto = spec->proto;
    if (spec->algo == COLL_AUTO)
        coll_choose(group, spec, algo, proto);
    if (*algo == COLL_P2P && spec->proto == COLL_PROTO_AUTO)
        *proto = coll_p2p_proto(spec, group->n);
    if (spec->algo == COLL_SYM || spec->algo == COLL_SYM_UNICAST)
        coll_sym_choose(group, spec, spec->algo == COLL_SYM, algo);
    if (*proto == COLL_PROTO_AUTO)
        *proto = COLL_SIMPLE;
}

gboolean coll_check(const CollGroup *group, const CollSpec *spec, GError **error)
{
    CollAlgo algo;
    CollProto proto;
    if (coll_is_search(spec->algo))
        return TRUE;
    coll_choice(group, spec, &algo, &proto);
    return coll_check_algo(group, spec, algo, proto, error);
}

guint64 coll_turn_bytes(const CollGroup *group, const CollSpec *spec, CollAlgo algo)
{
    const CollRow *row = coll_row(spec->op, algo);
    if (!row || !coll_algorithm(algo)->turn)
        return COLL_TURN_LEAST;
    return coll_algorithm(algo)->turn(spec, coll_ctas(group, spec, row, COLL_SIMPLE), group->n);
}

CollShape coll_shape(const CollGroup *group, const CollSpec *spec)
{
    CollShape shape;
    coll_choice(group, spec, &shape.algo, &shape.proto);
    const CollRow *row = coll_row(spec->op, shape.algo);
    shape.ctas = coll_ctas(group, spec, row, shape.proto);
    shape.threads = coll_threads(group, spec, row, shape.proto);
    shape.turn_bytes = shape.algo == COLL_P2P ? coll_p2p_turn(shape.ctas) : coll_turn_bytes(group, spec, shape.algo);
    shape.cached = coll_is_cached(group, spec, row);
    guint64 slots = coll_slots_bytes(row, shape.ctas, shape.proto);
    shape.written_back = slots && coll_slots_are_written_back(group, spec, slots);
    return shape;
}

gboolean coll_shape_equal(const CollShape *a, const CollShape *b)
{
    return a->algo == b->algo && a->proto == b->proto && a->ctas == b->ctas && a->threads == b->threads &&
           a->turn_bytes == b->turn_bytes && a->cached == b->cached && a->written_back == b->written_back;
}
