/* Credits of a link.
 *
 * The buffer's owner collects what is freed within a batch of time; the sender has it one flight after the
 * batch's end. Ports that free credits decide late (link_settle), so they come in any order; but a batch is
 * complete when the sender may use it, and its sum is the same in any order. */

#include "model/link_internal.h"

static void link_take_credits(Link *link, Vc v, SimTime at_ps)
{
    LinkReturnRing *ring = &link->returns[v];
    while (ring->count && link_return_peek(ring)->at_ps <= at_ps) {
        link->credits[v] += (gint32)link_return_peek(ring)->flits;
        link_return_drop(ring);
    }
}

/* Keeps the ring short: the next decision comes no earlier than the wire is free, or somebody pushes. */
static void link_collect_ahead(Link *link, Vc v)
{
    SimTime free_ps = simfine_to_ps(link->free_at);
    link_take_credits(link, v, link_is_unsettled(link) ? free_ps : MAX(free_ps, sim_now_ps(link->sim)));
}

/* The sender may wait for credits that come at at_ps. */
static inline void link_credit_wake(Link *link, Vc v, SimTime at_ps)
{
    if (!(link->starved >> v & 1))
        return;
    if (!link->blocked) {
        link->starved &= (guint8) ~(1u << v);
    } else if (link->retry_ps > at_ps) {
        link->retry_ps = at_ps;
        link_send_by(link, at_ps);
    }
}

/* Credits on their way to the sender. */
void link_credit_return(Link *link, Vc v, guint32 flits, SimTime at_ps)
{
    LinkReturnRing *ring = &link->returns[v];
    if (ring->count >= 8)
        link_collect_ahead(link, v);
    guint32 n = ring->count;
    while (n > 0 && link_return_nth(ring, n - 1)->at_ps > at_ps)
        n--;
    if (n > 0 && link_return_nth(ring, n - 1)->at_ps == at_ps) {
        link_return_nth(ring, n - 1)->flits += flits;
    } else {
        link_return_push(ring);
        for (guint32 i = ring->count - 1; i > n; i--)
            *link_return_nth(ring, i) = *link_return_nth(ring, i - 1);
        *link_return_nth(ring, n) = (LinkReturn){at_ps, flits};
    }
    link_credit_wake(link, v, at_ps);
}

static void link_credit_close(Link *link, Vc v)
{
    SimTime slot_ps = link->slot_ps[v];
    link->slot_ps[v] = 0;
    if (slot_ps)
        link_credit_return(link, v, link->freed[v], link_credit_time(link, slot_ps));
}

void link_collect_credits(Link *link, Vc v, SimTime at_ps)
{
    link_take_credits(link, v, at_ps);
    if (link_sees_open(link, v) && link_credit_time(link, link->slot_ps[v]) <= at_ps) {
        link->credits[v] += (gint32)link->freed[v];
        link->slot_ps[v] = 0;
    }
}

void link_credit_slot(Link *link, Vc v, guint32 flits, SimTime slot_ps)
{
    if (link->far_domain) {
        exchange_credit_slot(link, v, flits, slot_ps);
        return;
    }
    if (slot_ps < link->slot_ps[v]) {
        link_credit_return(link, v, flits, link_credit_time(link, slot_ps));
        return;
    }
    link_credit_close(link, v);
    link->slot_ps[v] = slot_ps;
    link->freed[v] = flits;
    link_credit_wake(link, v, link_credit_time(link, slot_ps));
}
