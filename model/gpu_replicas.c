/* The port of a GPU that answers replicas, and does little else: what link_settle_lanes() does, decision by decision
 * and replica by replica, without what only others need. In the steady state of a multicast that is most of what a
 * fabric does. Anything else ends it, and goes the usual way. */
#include "model/gpu_replicas.h"

#include "model/early.h"
#include "model/link_settle.h"

typedef struct {
    Gpu *gpu;
    Link *up, *down;
    LinkRing *ring;           /* of answers */
    guint64 credit_n;         /* a batch of time (LinkCredits), */
    guint32 credit_flits;     /* and what was freed in it, of the buffer for requests */
    guint32 served;
    SimTime short_until_ps;   /* the port's own requests lack credits, and none come before */
} Replicas;

/* Nobody looks, nothing is broken, and no timer or request that has to be in time is in a lane. */
static gboolean replicas_can_run(const Link *up, const Gpu *gpu)
{
    gboolean odd = (up->rare & LINK_WATCHED) != 0 || gpu->fabric->probe || gpu->silent || up->ahead_ps;
    guint32 others = up->down | up->blocked | up->in_time | up->logged | up->lane[LINK_LANE_TIMERS].count;
    return !odd && others == 0 && up->ring[VC_RSP].wire == up->ring[VC_RSP].head && up->drained_below[VC_RSP] == 0;
}

static ALWAYS_INLINE void replicas_give_credits(Replicas *run)
{
    if (run->credit_flits)
        link_credit(run->down, VC_CREQ, run->credit_flits, run->credit_n << run->down->credit_shift);
    run->credit_flits = 0;
}

static ALWAYS_INLINE void replicas_credit(Replicas *run, guint32 flits, SimTime at_ps)
{
    guint64 n = at_ps >> run->down->credit_shift;
    if (n != run->credit_n) {
        replicas_give_credits(run);
        run->credit_n = n;
    }
    run->credit_flits += flits;
}

/* The first one in the lane is answered: TRUE: by *answer, now. */
static ALWAYS_INLINE gboolean replicas_serve(Replicas *run, SimTime at_ps, Packet *answer)
{
    LinkReady request = link_lane_pop(run->up, LINK_LANE_REQUESTS);
    run->gpu->stalls += at_ps > request.at_ps;
    run->served += packet_count(request.packet);
    replicas_credit(run, request.packet.flits, at_ps);
    return gpu_answer_plain(run->gpu, run->up->source_port, request.packet, at_ps, answer);
}

/* What the loop does next: to go on; to look at what joins next once more; to end. */
typedef enum { REPLICAS_GO_ON, REPLICAS_LOOK, REPLICAS_END } ReplicasNext;

/* Nobody else finds anything half done. */
static void replicas_settle(Replicas *run)
{
    replicas_give_credits(run);
    link_note_of(run->up, FALSE);
}

/* Nobody collects credits meanwhile. */
static ALWAYS_INLINE void replicas_note_credits(Replicas *run)
{
    const Link *up = run->up;
    gboolean waits = up->ring[VC_CREQ].waiting && up->ring[VC_CREQ].credits < link_front_flits(up, VC_CREQ, FALSE);
    run->short_until_ps = waits ? up->credit[VC_CREQ].due_ps : 0;
}

/* Anything else has been done; whether it may go on. */
static ALWAYS_INLINE gboolean replicas_again(Replicas *run)
{
    replicas_note_credits(run);
    return replicas_can_run(run->up, run->gpu);
}

/* A decision up to limit_ps that is not to send the answer of a replica. */
static G_GNUC_NO_INLINE ReplicasNext replicas_decide_other(Replicas *run, SimTime limit_ps)
{
    replicas_settle(run);
    link_decide_short(run->up, run->up->free_at, run->up->free_at, limit_ps);
    return replicas_again(run) ? REPLICAS_LOOK : REPLICAS_END;
}

/* A LinkEarly: all that this loop sends is an answer of a replica. */
static ALWAYS_INLINE gboolean replicas_tell(void *node, Link *up, Packet packet, SimTime at_ps)
{
    return switch_count_early(((SwitchPort *)node)->sw, up, packet, at_ps);
}

/* One decision. */
static ALWAYS_INLINE ReplicasNext replicas_send(Replicas *run, SimTime limit_ps)
{
    Link *up = run->up;
    LinkRing *ring = run->ring, *own = &up->ring[VC_CREQ];
    SimFine start = up->free_at;
    if (own->waiting && (ring->waiting == 0 || up->last_vc == VC_RSP)) { /* it is the requests' turn */
        if (ring->waiting == 0 || simfine_to_ps(start) >= run->short_until_ps)
            return replicas_decide_other(run, limit_ps);
        up->starved = 1u << VC_CREQ; /* as link_yields() */
    }
    LinkSlot *slot = link_slot(ring, ring->wire);
    guint32 kind = slot->packet.kind;
    if (G_UNLIKELY(ring->credits < (gint32)slot->packet.flits || kind < PACKET_MC_ACK || kind > PACKET_MC_OPERAND))
        return replicas_decide_other(run, limit_ps);
    gboolean opens = --ring->waiting == up->gate - 1;
    if (opens && (up->lane[LINK_LANE_REQUESTS].count | up->lane[LINK_LANE_ANSWERS].count))
        up->gate_open_ps = simfine_to_ps(start);
    link_wire_first(up, ring, VC_RSP, slot, replicas_tell, start);
    if (G_UNLIKELY(ring->wire != ring->head)) /* the far end was not told of it */
        return REPLICAS_END;
    return opens ? REPLICAS_LOOK : REPLICAS_GO_ON;
}

/* A packet joins its queue, and may go at once. */
static G_GNUC_NO_INLINE ReplicasNext replicas_join_free(Replicas *run, unsigned v, Packet packet, SimTime at_ps)
{
    replicas_settle(run);
    link_join_now(run->up, v, packet, at_ps);
    return replicas_again(run) ? REPLICAS_GO_ON : REPLICAS_END;
}

/* An answer joins its queue: behind others, or it goes at once. */
static ALWAYS_INLINE ReplicasNext replicas_join(Replicas *run, Packet packet, SimTime at_ps)
{
    Link *up = run->up;
    if (up->free_at <= simfine_from_ps(at_ps) || link_ring_is_full(run->ring, run->ring->waiting))
        return replicas_join_free(run, VC_RSP, packet, at_ps);
    link_enqueue(up, VC_RSP, packet);
    return REPLICAS_GO_ON;
}

/* What joins next does. */
static ALWAYS_INLINE ReplicasNext replicas_take(Replicas *run, SimTime at_ps)
{
    Link *up = run->up;
    Packet answer;
    if (up->first_ps[LINK_LANE_ANSWERS] == at_ps)
        return replicas_join(run, link_lane_pop(up, LINK_LANE_ANSWERS).packet, at_ps);
    if (link_ready_peek(&up->lane[LINK_LANE_REQUESTS])->packet.kind < PACKET_MC_WRITE)
        return REPLICAS_END;
    return replicas_serve(run, at_ps, &answer) ? replicas_join(run, answer, at_ps) : REPLICAS_GO_ON;
}

/* When the next one of requests and answers joins, as link_next_join() says where there are no timers. */
static ALWAYS_INLINE SimTime replicas_join_ps(const Link *up, const LinkRing *ring)
{
    SimTime opened_ps = MAX(up->first_ps[LINK_LANE_REQUESTS], up->gate_open_ps);
    SimTime at_ps = ring->waiting < up->gate ? opened_ps : SIMTIME_NEVER;
    return MIN(at_ps, up->first_ps[LINK_LANE_ANSWERS]);
}

/* What joins at this instant does so behind what happens now. */
static G_GNUC_NO_INLINE gboolean replicas_join_after(const Link *up)
{
    guint64 order;
    SimTime at_ps = link_next_join(up, &order);
    return order >= sim_order(up->sim, at_ps);
}

/* The device's first push joins as its time has come. */
static ReplicasNext replicas_push(Replicas *run, SimTime at_ps)
{
    Packet request = link_lane_pop(run->up, LINK_LANE_PUSHES).packet;
    return replicas_join_free(run, VC_CREQ, request, at_ps);
}

gboolean gpu_settle_replicas(Link *up, SimTime now_ps)
{
    Gpu *gpu = up->source_node;
    if (!replicas_can_run(up, gpu))
        return FALSE;
    Replicas run = {.gpu = gpu, .up = up, .down = &gpu->down[up->source_port], .ring = &up->ring[VC_RSP]};
    gboolean pushed_order = LINK_ORDER_PUSHED < sim_order(up->sim, now_ps);
    ReplicasNext next = REPLICAS_GO_ON;
    replicas_note_credits(&run);
    while (next != REPLICAS_END) {
        SimTime join_ps = replicas_join_ps(up, run.ring), push_ps = up->first_ps[LINK_LANE_PUSHES];
        SimTime first_ps = MIN(join_ps, push_ps), limit_ps = MIN(first_ps, now_ps);
        SimFine limit = simfine_from_ps(limit_ps);
        for (next = REPLICAS_GO_ON; next == REPLICAS_GO_ON && up->free_at <= limit && link_waits(up);)
            next = replicas_send(&run, limit_ps);
        if (next != REPLICAS_GO_ON)
            continue;
        if (first_ps > now_ps)
            break;
        if (G_UNLIKELY(push_ps < join_ps)) {
            if (push_ps == now_ps && !pushed_order)
                break;
            next = replicas_push(&run, push_ps);
        } else {
            if (G_UNLIKELY(join_ps == now_ps) && replicas_join_after(up))
                break;
            next = replicas_take(&run, join_ps);
        }
    }
    replicas_settle(&run);
    gpu->served += run.served;
    return next != REPLICAS_END;
}
