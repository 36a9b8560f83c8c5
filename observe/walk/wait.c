/* Where a walked packet waits, and for what.
 *
 * The observer sees every packet of a busy fabric. It follows those of the walked operation and accounts for the time
 * between two of their steps: packets that used the wire meanwhile, and what is left, for which the wire was idle
 * because credits were missing. The background (bench/traffic.h) consists of unicast writes, so that every other kind
 * of packet belongs to the walk; a write does if it has the walk's transaction, an acknowledgement if it answers it. */
#include <string.h>

#include "observe/walk/internal.h"

#include "model/gpu/gpu.h"

const char *const walk_reasons[] = {"", "room at the port", "packets before it", "credits", "room for the answer",
                                    "more to acknowledge", NULL};

/* A packet of the walk in a port's queue. */
typedef struct {
    Link *link;
    Packet packet;
    SimTime from_ps; /* it may leave */
    SimTime busy_ps; /* the wire carries others since then */
    guint before;    /* as many of them */
} WalkQueued;

/* One on its way to the far end of a link. */
typedef struct {
    Link *link;
    Packet packet;
    SimTime arrives_ps;
} WalkFlying;

struct WalkWaits {
    Fabric *fabric;
    GHashTable *link; /* Link by its path's address */
    GArray *queued;   /* WalkQueued */
    GArray *flying;   /* WalkFlying */
    SimTime coalesced_ps, served_ps;
    guint32 txn;      /* the walk's, once it is open; or TXN_NONE */
};

WalkWaits *walk_waits_new(Fabric *fabric)
{
    WalkWaits *waits = g_new0(WalkWaits, 1);
    waits->fabric = fabric;
    waits->txn = TXN_NONE;
    waits->link = g_hash_table_new(g_direct_hash, g_direct_equal);
    waits->queued = g_array_new(FALSE, FALSE, sizeof(WalkQueued));
    waits->flying = g_array_new(FALSE, FALSE, sizeof(WalkFlying));
    for (guint32 n = 0; n < fabric_n_links(fabric); n++)
        g_hash_table_insert(waits->link, fabric_link_at(fabric, n)->path, fabric_link_at(fabric, n));
    return waits;
}

void walk_waits_free(WalkWaits *waits)
{
    g_hash_table_unref(waits->link);
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

gboolean walk_waits_is_own(WalkWaits *waits, ProbeStage stage, const Packet *packet, const MemRegion *region)
{
    if (stage == PROBE_COALESCE)
        return TRUE;
    if (packet->kind == PACKET_ACK)
        return walk_acknowledged(waits, packet) != 0;
    if (packet->kind != PACKET_WRITE)
        return TRUE;
    if (packet->src != 0)
        return FALSE;
    if (stage == PROBE_REQUEST && txn_at(&waits->fabric->txns[0], packet->txn)->region == region)
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

void walk_waits_other(WalkWaits *waits, ProbeStage stage, const char *path, const Packet *packet, SimTime at_ps)
{
    for (guint i = 0; stage == PROBE_WIRE && i < waits->queued->len; i++) {
        WalkQueued *queued = &g_array_index(waits->queued, WalkQueued, i);
        if (queued->link->path != path)
            continue;
        SimTime end_ps = at_ps + walk_wire_ps(queued->link, packet);
        queued->before++;
        queued->busy_ps += end_ps - MIN(end_ps, MAX(at_ps, queued->from_ps));
    }
}

/* ---- the walk's own packets */

static void walk_waits_join(WalkWaits *waits, const char *path, const Packet *packet, SimTime from_ps)
{
    WalkQueued queued = {.link = g_hash_table_lookup(waits->link, path), .packet = *packet, .from_ps = from_ps};
    SimTime free_ps = simfine_to_ps(queued.link->free_at);
    if (free_ps > from_ps) { /* one is on the wire */
        queued.busy_ps = free_ps - from_ps;
        queued.before = 1;
    }
    g_array_append_val(waits->queued, queued);
}

static void walk_waits_leave(WalkWaits *waits, const char *path, const Packet *packet, SimTime at_ps, WalkWait *wait)
{
    for (guint i = 0; i < waits->queued->len; i++) {
        WalkQueued queued = g_array_index(waits->queued, WalkQueued, i);
        if (queued.link->path != path || !walk_same(&queued.packet, packet))
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
static void walk_waits_serve(WalkWaits *waits, const char *path, const Packet *packet, SimTime at_ps, WalkWait *wait)
{
    waits->served_ps = at_ps;
    for (guint i = 0; i < waits->flying->len; i++) {
        WalkFlying flying = g_array_index(waits->flying, WalkFlying, i);
        if (!walk_same(&flying.packet, packet) || !g_str_has_suffix(flying.link->path, ".down") ||
            flying.link->sink != gpu_accept || ((const Gpu *)flying.link->sink_node)->path != path)
            continue;
        wait->from_ps = flying.arrives_ps;
        wait->ps[WALK_WAIT_ANSWERS] = at_ps - MIN(at_ps, flying.arrives_ps);
        g_array_remove_index(waits->flying, i);
        return;
    }
}

WalkWait walk_waits_own(WalkWaits *waits, ProbeStage stage, const char *path, const Packet *packet, SimTime at_ps)
{
    WalkWait wait = {.from_ps = at_ps};
    switch (stage) {
    case PROBE_COALESCE:
        waits->coalesced_ps = at_ps;
        break;
    case PROBE_REQUEST:
        wait.from_ps = waits->coalesced_ps;
        wait.ps[WALK_WAIT_ROOM] = at_ps - waits->coalesced_ps;
        break;
    case PROBE_QUEUE:
        if (packet->kind == PACKET_ACK && g_str_has_prefix(path, "gpu") && g_str_has_suffix(path, ".up")) {
            wait.from_ps = waits->served_ps;
            wait.ps[WALK_WAIT_MERGE] = at_ps - waits->served_ps;
            wait.before = walk_acknowledged(waits, packet);
        }
        walk_waits_join(waits, path, packet, at_ps);
        break;
    case PROBE_WIRE:
        walk_waits_other(waits, stage, path, packet, at_ps);
        walk_waits_leave(waits, path, packet, at_ps, &wait);
        break;
    case PROBE_SERVE:
        walk_waits_serve(waits, path, packet, at_ps, &wait);
        break;
    default:
        break;
    }
    return wait;
}
