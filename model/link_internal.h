/* What link.c and link_credit.c share. */
#ifndef MODEL_LINK_INTERNAL_H
#define MODEL_LINK_INTERNAL_H

#include "model/exchange.h"
#include "model/link.h"

/* `send`, at this time or before. */
static inline void link_send_at(Link *link, SimTime at_ps)
{
    if (link->sending)
        sim_cancel(link->sim, &link->send);
    link->sending = TRUE;
    sim_at_key(link->sim, &link->send, MAX(at_ps, sim_now_ps(link->sim)));
}

static inline void link_send_by(Link *link, SimTime due_ps)
{
    if (!link->sending || link->send.time_ps > due_ps)
        link_send_at(link, due_ps);
}

/* link_credit.c: credits that have come back by at_ps are the sender's. */
void link_collect_credits(Link *link, Vc v, SimTime at_ps);
/* The open batch goes on its way: another one begins, or the sender looks for credits. */
void link_credit_close(Link *link, Vc v);

#endif
