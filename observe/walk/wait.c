/* Where a walked packet waits, and for what.
 *
 * The observer sees every packet of a busy fabric. It follows those of the walked operation and accounts for the time
 * between two of their steps: packets that used the wire meanwhile, and what is left, for which the wire was idle
 * because credits were missing. The background (bench/traffic.h) consists of unicast writes, so that every other kind
 * of packet belongs to the walk; a write does if it has the walk's transaction, an acknowledgement if it answers it. */
#include <string.h>

#include "observe/walk/internal.h"

#include "model/gpu/gpu.h"

const char *const walk_reasons[] = {
    "", "room at the port", "packets before it", "credits", "room for the answer", "more to acknowledge", NULL};

/* A packet of the walk in a port's queue. */
typedef struct {
    const Link *link;
    Packet packet;
    SimTime from_ps; /* it may leave */
    SimTime busy_ps; /* the wire carries others since then */
    guint before;    /* as many of them */
} WalkQueued;

/* One on its way to the far end of a link. */
typedef struct {
    const Link *link;
    Packet packet;
    SimTime arrives_ps;
} WalkFlying;

struct WalkWaits {
    Fabric *fabric;
    GArray *queued; /* WalkQueued */
    GArray *flying; /* WalkFlying */
    SimTime coalesced_ps, served_ps;
    guint32 txn; /* the walk's, once it is open; or TXN_NONE */
};

WalkWaits *walk_waits_new(Fabric *fabric)
{
    WalkWaits *waits = g_new0(WalkWaits, 1);
    waits->fabric = fabric;
    waits->txn = TXN_NONE;
    waits->queued = g_array_new(FALSE, FALSE, sizeof(WalkQueued));
    waits->flying = g_array_new(FALSE, FALSE, sizeof(WalkFlying));
    return waits;
}

void walk_waits_free(WalkWaits *waits)
{
    g_array_free(waits->queued, TRUE);
    g_array_free(waits->flying, TRUE);
    g_free(waits);
}

/* How many writes an acknowledgement answers; 0: the walk's is not among them. */
static guint walk_acknowledged(const WalkWaits *waits, const Packet *packet)
{
    const TxnPool *pool = &waits->fabric->txns[0];
    guint count = 0;
    gboolean found = FALSE;
    if (packet->src != 0 || waits->txn == TXN_NONE)
        return 0;
    for (guint32 txn = packet->txn; txn != TXN_NONE; txn = *txn_next(pool, txn)) {
        found |= txn == waits->txn;
        count++;
    }
    return found ? count : 0;
}

gboolean walk_waits_is_own(WalkWaits *waits, const ProbeEvent *event, const MemRegion *region)
{
    const Packet *packet = event->packet;
    if (event->stage == PROBE_COALESCE)
        return TRUE;
    if (packet->kind == PACKET_ACK)
        return walk_acknowledged(waits, packet) != 0;
    if (packet->kind != PACKET_WRITE)
        return TRUE;
    if (packet->src != 0)
        return FALSE;
    if (event->stage == PROBE_REQUEST && txn_at(&waits->fabric->txns[0], packet->txn)->region == region)
        waits->txn = packet->txn;
    return packet->txn == waits->txn;
}

static gboolean walk_same(const Packet *a, const Packet *b)
{
    return a->kind == b->kind && a->txn == b->txn && a->src == b->src && a->dst == b->dst;
}

static SimTime walk_wire_ps(const Link *link, const Packet *packet)
{
    return simfine_to_ps(packet->flits * link->flit_time);
}

/* ---- what other packets do to those of the walk */

void walk_waits_other(WalkWaits *waits, const ProbeEvent *event)
{
    for (guint i = 0; event->stage == PROBE_WIRE && i < waits->queued->len; i++) {
        WalkQueued *queued = &g_array_index(waits->queued, WalkQueued, i);
        if (queued->link != event->link)
            continue;
        SimTime end_ps = event->at_ps + walk_wire_ps(queued->link, event->packet);
        queued->before++;
        queued->busy_ps += end_ps - MIN(end_ps, MAX(event->at_ps, queued->from_ps));
    }
}

/* ---- the walk's own packets */

static void walk_waits_join(WalkWaits *waits, const ProbeEvent *event)
{
    const SimTime from_ps = event->at_ps;
    WalkQueued queued = {.link = event->link, .packet = *event->packet, .from_ps = from_ps};
    SimTime free_ps = simfine_to_ps(queued.link->free_at);
    if (free_ps > from_ps) { /* one is on the wire */
        queued.busy_ps = free_ps - from_ps;
        queued.before = 1;
    }
    g_array_append_val(waits->queued, queued);
}

static void walk_waits_leave(WalkWaits *waits, const ProbeEvent *event, WalkWait *wait)
{
    const Packet *packet = event->packet;
    const SimTime at_ps = event->at_ps;
    for (guint i = 0; i < waits->queued->len; i++) {
        WalkQueued queued = g_array_index(waits->queued, WalkQueued, i);
        if (queued.link != event->link || !walk_same(&queued.packet, packet))
            continue;
        SimTime all_ps = at_ps - MIN(at_ps, queued.from_ps);
        wait->from_ps = queued.from_ps;
        wait->ps[WALK_WAIT_PACKETS] = MIN(all_ps, queued.busy_ps);
        wait->before = queued.before;
        SimTime idle_ps = all_ps - wait->ps[WALK_WAIT_PACKETS];
        wait->ps[WALK_WAIT_CREDITS] = idle_ps >= WALK_WAIT_LEAST_PS ? idle_ps : 0;
        WalkFlying flying = {queued.link, *packet,
                             at_ps + walk_wire_ps(queued.link, packet) + queued.link->delay_ps[packet_vc(packet)]};
        g_array_append_val(waits->flying, flying);
        g_array_remove_index(waits->queued, i);
        return;
    }
}

/* It is served later than it arrived: held up, since too many answers wait at the port. */
static void walk_waits_serve(WalkWaits *waits, const ProbeEvent *event, WalkWait *wait)
{
    const SimTime at_ps = event->at_ps;
    waits->served_ps = at_ps;
    for (guint i = 0; i < waits->flying->len; i++) {
        WalkFlying flying = g_array_index(waits->flying, WalkFlying, i);
        if (!walk_same(&flying.packet, event->packet) || flying.link->sink != gpu_accept ||
            flying.link->sink_node != event->gpu)
            continue;
        wait->from_ps = flying.arrives_ps;
        wait->ps[WALK_WAIT_ANSWERS] = at_ps - MIN(at_ps, flying.arrives_ps);
        g_array_remove_index(waits->flying, i);
        return;
    }
}

WalkWait walk_waits_own(WalkWaits *waits, const ProbeEvent *event)
{
    WalkWait wait = {.from_ps = event->at_ps};
    gboolean up;
    switch (event->stage) {
    case PROBE_COALESCE: waits->coalesced_ps = event->at_ps; break;
    case PROBE_REQUEST:
        wait.from_ps = waits->coalesced_ps;
        wait.ps[WALK_WAIT_ROOM] = event->at_ps - waits->coalesced_ps;
        break;
    case PROBE_QUEUE:
        if (event->packet->kind == PACKET_ACK && fabric_link_gpu(waits->fabric, event->link, &up) != VAS_GPUS_MAX &&
            up) {
            wait.from_ps = waits->served_ps;
            wait.ps[WALK_WAIT_MERGE] = event->at_ps - waits->served_ps;
            wait.before = walk_acknowledged(waits, event->packet);
        }
        walk_waits_join(waits, event);
        break;
    case PROBE_WIRE:
        walk_waits_other(waits, event);
        walk_waits_leave(waits, event, &wait);
        break;
    case PROBE_SERVE: walk_waits_serve(waits, event, &wait); break;
    default: break;
    }
    return wait;
}
