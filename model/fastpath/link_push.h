/* link_push() for stages that make it part of how they push. */
#ifndef MODEL_FASTPATH_LINK_PUSH_H
#define MODEL_FASTPATH_LINK_PUSH_H

#include "model/link/internal.h"

static ALWAYS_INLINE void link_settle_all(Link *link, SimTime now_ps)
{
    if (link->ready)
        link->settle(link, now_ps);
    else
        link_settle(link, link_early_asked, now_ps + link->ahead_ps);
}

/* link.c: what nothing waits before, all decisions being made. */
void link_push_alone(Link *link, unsigned v, Packet packet, SimTime not_before_ps);

/* Pushes of a device wait in their lane, and nothing that anybody looks at is lost. */
static ALWAYS_INLINE gboolean link_takes_late(const Link *link)
{
    gboolean odd = ((link->rare & ~LINK_LEAVES) | link->blocked | link->down | link->someone_waits) != 0 ||
                   (link->serving | link->logged | link->in_time) != 0;
    return !odd && link->ring[VC_RSP].waiting < link->gate && link->ahead_ps == 0;
}

/* A device's push into the queue of VC_CREQ, where decisions before it have yet to be made, waits in a lane till they
 * are: somebody looks in time, and one look makes many. */
static ALWAYS_INLINE gboolean link_push_late(Link *link, Packet packet, SimTime not_before_ps, SimTime now_ps)
{
    if (!link_takes_late(link) || not_before_ps > now_ps || sim_order(link->sim, now_ps) <= LINK_ORDER_PUSHED)
        return FALSE;
    link_push_lane(link, LINK_LANE_PUSHES, packet, now_ps);
    return TRUE;
}

/* link_push() as part of who pushes. late: it may wait in LINK_LANE_PUSHES. */
static ALWAYS_INLINE void link_push_here(Link *link, unsigned v, Packet packet, SimTime not_before_ps, gboolean late)
{
    SimTime now_ps = sim_now_ps(link->sim);
    SimFine until = simfine_from_ps(now_ps + link->ahead_ps);
    gboolean others = link->ready >> v & 1; /* may be in front of it */
    if (G_UNLIKELY(link->serving) && others) {
        link_join(link, v, packet, link->serving_ps);
        return;
    }
    if (others || (link->free_at <= until && link_is_unsettled(link))) {
        if (late && (link_waits(link) | (link->ready_ps <= now_ps)) &&
            link_push_late(link, packet, not_before_ps, now_ps))
            return;
        link_settle_all(link, now_ps);
    }
    if (link->free_at > until && link_waits(link) && link_has_slot(link, v))
        link_enqueue(link, v, packet);
    else
        link_push_alone(link, v, packet, not_before_ps);
}

#endif
