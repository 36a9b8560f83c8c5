/* For tests of a link: a fake port and a fake far end. */
#ifndef TESTS_MODEL_LINK_ENDS_H
#define TESTS_MODEL_LINK_ENDS_H

#include "tests/model/model_test.h"

#include "model/link/link.h"

/* A link between a fake port and a fake far end with a bounded buffer for each VC, which it frees after `hold_ps`. */
typedef struct {
    Sim *sim;
    LinkSpec spec;
    Link link;
    guint32 room[VCS]; /* flits the far end has */
    SimTime hold_ps;   /* SIMTIME_NEVER: it frees nothing */
    Packet got[512];
    SimTime at_ps[512];
    guint n;
    guint drained[VCS];
    Event free_event[512];
} Ends;

static void ends_on_free(Event *event, SimTime now_ps)
{
    /* the event's number is that of its packet; the array leads back to the Ends */
    Ends *ends = (Ends *)((char *)(event - event->spare) - G_STRUCT_OFFSET(Ends, free_event));
    const Packet *packet = &ends->got[event->spare];
    ends->room[packet_vc(packet)] += packet->flits;
    link_credit(&ends->link, packet_vc(packet), packet->flits, now_ps);
}

static void ends_accept(void *node, Link *link, Packet packet, SimTime now_ps)
{
    Ends *ends = node;
    assert_ptr_equal(link, &ends->link);
    if (ends->room[packet_vc(&packet)] < packet.flits)
        fail_msg("a packet came without room for it");
    ends->room[packet_vc(&packet)] -= packet.flits;
    ends->got[ends->n] = packet;
    ends->at_ps[ends->n] = now_ps;
    if (ends->hold_ps != SIMTIME_NEVER) {
        event_init(&ends->free_event[ends->n], ends_on_free);
        ends->free_event[ends->n].spare = ends->n;
        sim_after(ends->sim, &ends->free_event[ends->n], ends->hold_ps, EVENT_PRIORITY_FABRIC);
    }
    ends->n++;
}

static void ends_drained(void *node, Link *link, Vc vc)
{
    (void)link;
    ((Ends *)node)->drained[vc]++;
}

static inline void ends_open(Ends *ends, guint64 rate_MBps, guint32 credits)
{
    memset(ends, 0, sizeof *ends);
    ends->sim = sim_new(&(SimSpec){.seed = 1}, NULL);
    ends->spec = (LinkSpec){.rate_MBps = rate_MBps, .flight_ps = 100000, .credit_batch_ps = 1, .replay_ps = 7000};
    link_init(&ends->link, ends->sim, &ends->spec, credits, 0, "test.link");
    link_set_sink(&ends->link, ends_accept, ends, 0);
    ends->link.source_node = ends;
    ends->link.drained = ends_drained;
    ends->room[0] = ends->room[1] = credits;
}

static inline void ends_close(Ends *ends)
{
    link_clear(&ends->link);
    sim_free(ends->sim);
}

static inline Packet packet_of(PacketKind kind, guint32 number, guint8 flits)
{
    return (Packet){.kind = (guint8)kind, .txn = number, .flits = flits, .held_input = HELD_INPUT_NONE};
}

#endif
