/* What `auto` takes. */
#include "api/coll_internal.h"

void coll_choose(const CollGroup *group, const CollSpec *spec, CollAlgo *algo, CollProto *proto)
{
    CollSpec pinned = *spec;
    *proto = COLL_SIMPLE;
    *algo = coll_algos_of(spec->op)[0];
    pinned.algo = COLL_NVLS;
    pinned.proto = COLL_SIMPLE;
    if (coll_row(spec->op, COLL_NVLS) && spec->bytes >= (2u << 20) && group->n > 4 &&
        coll_check(group, &pinned, NULL))
        *algo = COLL_NVLS;
}
