/* Policies of one's own, for any system, without building Fanout:
 *
 *     cc -shared -fPIC -I$(pkg-config --variable=includedir fanout) policy.c -o policy.so
 *     fanout coll all_reduce --set policy.library=./policy.so --set policy.arbiter=shortest --set policy.hash=folded
 *
 * Each is a function of what it is given alone: every engine, and every number of cores, gives the same bytes. */
#include <fanout/policy.h>

/* The shorter packet first; of two as long, the channel that was not served last. */
static unsigned shortest(const FoPort *port)
{
    if (port->flits[FO_REQUESTS] == port->flits[FO_RESPONSES])
        return port->last ^ 1u;
    return port->flits[FO_REQUESTS] < port->flits[FO_RESPONSES] ? FO_REQUESTS : FO_RESPONSES;
}

/* The requester's own copy last. */
static unsigned farthest(unsigned port, unsigned members, uint64_t sequence)
{
    (void)sequence;
    return (port + members / 2) % members;
}

/* Each half of the links' numbers meets in a spine of its own. */
static unsigned halves(unsigned link, unsigned team, unsigned spines)
{
    (void)team;
    return link % 2 * (spines / 2);
}

/* Neighbours on neighbouring links, pages turned by their number. */
static unsigned folded(uint64_t chunk, unsigned links) { return (unsigned)((chunk + (chunk >> 13)) % links); }

const FoPolicy fo_policies[] = {
    {FO_POLICY_VERSION, "shortest", "the shorter packet first", .arbitrate = shortest},
    {FO_POLICY_VERSION, "farthest", "half way round the team first", .first_member = farthest},
    {FO_POLICY_VERSION, "halves", "even links in one spine, odd ones in another", .root = halves},
    {FO_POLICY_VERSION, "folded", "chunk plus page, modulo the links", .link = folded},
    {0},
};
