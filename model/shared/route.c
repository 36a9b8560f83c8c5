/* Which link of a GPU carries a chunk. */
#include "model/shared/fabric.h"

guint32 route_multicast(const Fabric *fabric, const McObject *object, guint64 offset)
{
    const McRoute *route = &fabric->mc_route[object->mcid];
    return route->link[hash_link(route->hash, object->address + offset, 0)];
}

/* Chunks of a lost link are spread over the links that both GPUs still have to the same switch port. */
static guint32 route_around(const Fabric *fabric, guint16 a, guint16 b, guint32 link, guint64 address)
{
    const LinkSet both = link_set_both(fabric->alive[a], fabric->alive[b]);
    if (link_set_has(both, link))
        return link;
    return link_set_nth(both, (guint32)(hash_mix(address >> HASH_CHUNK_SHIFT) % link_set_count(both)));
}

guint32 route_unicast(const Fabric *fabric, guint16 gpu, guint8 hash_turn, const MemRegion *region, guint64 offset)
{
    if (fabric->links == 1)
        return 0;
    guint64 address = region->address + offset;
    guint32 link = hash_link(&fabric->hash, address, hash_turn);
    return G_UNLIKELY(fabric->alive) ? route_around(fabric, gpu, region->gpu, link, address) : link;
}
