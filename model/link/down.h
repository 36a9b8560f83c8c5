/* What few links have: a link that is down, given up or slow for a time, and an arbiter that is a policy. */
#ifndef MODEL_LINK_DOWN_H
#define MODEL_LINK_DOWN_H

#include "model/link/link.h"

/* state.c */
/* The arbiter, which is to outlive the link. */
void link_set_policies(Link *link, const Policies *policies);
/* All that is due before this instant: what changes a link comes before all else of its instant. */
void link_advance_before(Link *link);
/* The time of a flit at that rate; and from now on, of what is put on the wire. */
SimFine link_flit_time(guint64 rate_MBps);
void link_set_flit_time(Link *link, SimFine flit_time);
/* All fixed stages of answers from the end of serialization to arrival, from now on; never less than at first. An
 * answer comes behind those before it nevertheless, and no closer to them than the wire carries them. */
void link_set_answer_delay(Link *link, SimTime delay_ps);
/* The first key of all (sim_set_key_first()): that of events by which links break. */
#define LINK_KEY_FAULT 0u
/* An event about what this link lost goes behind the link's own of its instant. */
void link_key_lost(const Link *link, Event *event);

/* link.c: nothing can go from `start` on, until retry_ps; a packet leaves the switch's ingress buffer. */
void link_block(Link *link, SimFine start, SimTime retry_ps, SimTime now_ps);
void link_release(Link *link, Packet *packet, unsigned v, SimFine start);

/* down.c: which of two channels goes next; a decision of a port whose link is not up. */
unsigned link_ask_policy(const Link *link);
void link_decide_down(Link *link, SimFine start, SimTime now_ps);
/* The flight of an answer that is on the wire up to link->free_at, where link_set_answer_delay() has changed it. */
void link_keep_order(Link *link, guint32 flits);

#endif
