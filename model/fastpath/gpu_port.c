/* A GPU's port in the fast engine: its own requests, and a pending queue of requests that it will answer.
 *
 * The receiver of a down link is the GPU. What it can serve from the packet alone (MEMORY_IN_L2, MEMORY_IN_HBM: no
 * bytes move, and nothing else depends on when it is done) goes into the pending queue of its up link as it is sent by
 * the switch. All else arrives by an event, and joins the pending queue if others wait there before it. */
#include "model/fastpath/fastpath.h"
#include "model/gpu/gpu.h"

/* When the first pending request is served: when it arrives, or when the queue of answers has room for its answer. */
static SimTime gpu_port_pending_ps(const FastPort *port, guint64 *order)
{
    *order = port->request_order;
    if (port->pending.count == 0 || port->link->queue[VC_RSP].count >= port->response_limit)
        return SIMTIME_NEVER;
    SimTime at_ps = timed_packet_peek(&port->pending)->at_ps;
    if (at_ps >= port->room_ps)
        return at_ps;
    *order = FAST_ORDER_FIRST;
    return port->room_ps;
}

static void gpu_port_refresh(FastPort *port)
{
    SimTime timer_ps = fast_port_timer_ps(port->link);
    port->next_ps = gpu_port_pending_ps(port, &port->next_order);
    if (port->answers.count) {
        SimTime answer_ps = timed_packet_peek(&port->answers)->at_ps;
        if (answer_ps < port->next_ps || (answer_ps == port->next_ps && port->next_order > FAST_ORDER_ANSWER)) {
            port->next_ps = answer_ps;
            port->next_order = FAST_ORDER_ANSWER;
        }
    }
    if (timer_ps <= port->next_ps) {
        port->next_ps = timer_ps;
        port->next_order = FAST_ORDER_FIRST;
    }
}

static void gpu_port_serve(FastPort *port, SimTime at_ps)
{
    Link *up = port->link;
    Gpu *gpu = up->source_node;
    TimedPacket request = *timed_packet_peek(&port->pending);
    timed_packet_drop(&port->pending);
    if (request.packet.in_time)
        port->pending_in_time--;
    if (request.packet.place == MEMORY_IN_HBM && gpu->fast)
        fast_hbm_expect_no_more(gpu);
    gpu->stalls += at_ps > request.at_ps;
    port->serving = TRUE;
    port->serving_ps = at_ps;
    gpu_serve(gpu, up->source_port, request.packet, at_ps);
    port->serving = FALSE;
}

static void gpu_port_join_answer(FastPort *port, SimTime at_ps)
{
    Packet answer = timed_packet_peek(&port->answers)->packet;
    timed_packet_drop(&port->answers);
    fast_port_join(port, answer, at_ps, at_ps);
}

/* A timer takes what it acknowledges first; then what waited for room, which a packet has made by leaving at this very
 * instant, is served; and the acknowledgement joins last. */
static void gpu_port_expire(FastPort *port, SimTime at_ps)
{
    Packet answer;
    guint64 order;
    if (!fast_port_expire(port, at_ps, &answer))
        return;
    while (gpu_port_pending_ps(port, &order) == at_ps && order == FAST_ORDER_FIRST)
        gpu_port_serve(port, at_ps);
    link_join(port->link, answer, at_ps, simfine_from_ps(at_ps));
}

static void gpu_port_next(FastPort *port)
{
    SimTime at_ps = port->next_ps;
    if (fast_port_timer_ps(port->link) == at_ps)
        gpu_port_expire(port, at_ps);
    else if (port->next_order == FAST_ORDER_ANSWER)
        gpu_port_join_answer(port, at_ps);
    else
        gpu_port_serve(port, at_ps);
    gpu_port_refresh(port);
}

/* The next decision up to until_ps; if an answer leaves a full queue, a pending request goes on at that time. */
static gboolean gpu_port_decide(FastPort *port, SimTime until_ps)
{
    Link *up = port->link;
    guint32 answers = up->queue[VC_RSP].count;
    SimTime decision_ps = link_decision_ps(up);
    if (!link_decision_is_due(up, until_ps) || !link_decide_next(up, until_ps))
        return FALSE;
    if (answers == port->response_limit && up->queue[VC_RSP].count < answers) {
        port->room_ps = decision_ps;
        gpu_port_refresh(port);
    }
    return TRUE;
}

static void gpu_port_advance(Link *up, SimTime now_ps)
{
    FastPort *port = fast_port(up);
    if (port->serving)
        return;
    const guint64 order = sim_order(up->sim, now_ps);
    for (;;) {
        if (gpu_port_decide(port, MIN(port->next_ps, now_ps)))
            continue;
        if (!fast_port_is_due(port, now_ps, order))
            break;
        gpu_port_next(port);
    }
}

/* ---- the receiving end of the down link */

/* In order of time: what comes by an event may come before what was scheduled. */
static void gpu_port_add_pending(FastPort *port, Packet request, SimTime at_ps)
{
    TimedPacketRing *pending = &port->pending;
    timed_packet_push(pending);
    guint32 n = pending->count - 1;
    for (; n > 0 && timed_packet_nth(pending, n - 1)->at_ps > at_ps; n--)
        *timed_packet_nth(pending, n) = *timed_packet_nth(pending, n - 1);
    *timed_packet_nth(pending, n) = (TimedPacket){at_ps, request};
    port->pending_in_time += request.in_time;
    Gpu *gpu = port->link->source_node;
    if (request.place == MEMORY_IN_HBM && gpu->fast)
        fast_hbm_expect(gpu);
    if (n == 0 || port->pending_in_time)
        fast_port_note(port);
    if (port->link->low_water[VC_CREQ] && at_ps == link_decision_ps(port->link))
        fast_port_wake(port);
}

/* Whether it changes bytes that programs poll, though its requester did not know of that yet. */
static gboolean gpu_port_is_polled(const Gpu *gpu, guint32 link, Packet packet)
{
    if (packet.kind == PACKET_WRITE)
        return txn_at(&gpu->fabric->txns[packet.src], packet.txn)->region->in_time;
    if (packet.kind != PACKET_MC_WRITE)
        return FALSE;
    const McRequest *request = &gpu->port[link].requests->request[packet.txn];
    const McBind *bind = mcobject_lookup(request->object, gpu->id, request->offset);
    return !bind || bind->region->in_time; /* unbound since it was sent: it is looked at when it arrives */
}

/* A region of this GPU is polled from now on: what was to be served without an event up to now is served, and what
 * comes later will be when it is time. */
void fast_gpu_on_polled(Gpu *gpu)
{
    SimTime now_ps = sim_now_ps(gpu->sim);
    for (guint32 k = 0; k < gpu->links; k++) {
        FastPort *port = fast_port(&gpu->up[k]);
        if (!port || /* the reference engine has none */ port->pending.count == 0)
            continue;
        gpu_port_advance(port->link, now_ps);
        for (guint32 i = 0; i < port->pending.count; i++) {
            Packet *request = &timed_packet_nth(&port->pending, i)->packet;
            port->pending_in_time += !request->in_time;
            request->in_time = TRUE;
        }
        fast_port_note(port);
    }
}

gboolean fast_gpu_schedule(Link *down, Packet packet, SimTime at_ps)
{
    Gpu *gpu = down->sink_node;
    if (packet_vc(&packet) != VC_CREQ || packet.place == MEMORY_LOOK_UP || packet.kind == PACKET_ATOM)
        return FALSE;
    if (packet.place == MEMORY_IN_HBM && !gpu->fast)
        return FALSE;
    if (gpu->fabric->keep_bytes && gpu_port_is_polled(gpu, down->sink_port, packet))
        return FALSE;
    gpu_port_add_pending(fast_port(&gpu->up[down->sink_port]), packet, at_ps);
    return TRUE;
}

static void gpu_port_accept_request(Gpu *gpu, guint32 link, Packet packet, SimTime now_ps)
{
    Link *up = &gpu->up[link];
    FastPort *port = fast_port(up);
    gboolean room = link_has_room(up, VC_RSP, port->response_limit);
    if (room && (port->pending.count == 0 || timed_packet_peek(&port->pending)->at_ps > now_ps)) {
        gpu_serve(gpu, link, packet, now_ps);
        return;
    }
    packet.in_time = TRUE;
    gpu_port_add_pending(port, packet, now_ps);
}

static void gpu_port_accept(void *node, Link *down, Packet packet, SimTime now_ps)
{
    if (packet_vc(&packet) == VC_CREQ)
        gpu_port_accept_request(node, down->sink_port, packet, now_ps);
    else
        gpu_accept_answer(node, down, packet, now_ps);
}

static gboolean gpu_port_arrive(Link *up, Packet packet, SimTime at_ps)
{
    return fast_switch_schedule(up, packet, at_ps);
}

const LinkOps fast_gpu_ops = {
    .push = fast_port_push,
    .advance = gpu_port_advance,
    .arrive = gpu_port_arrive,
    .credit = link_credit_return,
    .follow_up = fast_port_follow_up,
    .timer = fast_port_timer,
};

void fast_gpu_attach(Gpu *gpu, guint32 link)
{
    Link *up = &gpu->up[link], *down = &gpu->down[link];
    FastPort *port = g_new0(FastPort, 1);
    fast_port_init(port, up);
    port->refresh = gpu_port_refresh;
    port->response_limit = gpu->limit.response_queue;
    fast_hbm_attach(gpu);
    port->request_order = down->arrival[VC_CREQ].order;
    up->ops = &fast_gpu_ops;
    down->sink = gpu_port_accept;
}
