/* What `fanout walk` says about each step. See walk.h. */
#include "observe/walk/internal.h"

#include "model/switch/switch.h"

/* To the nearest tenth of a nanosecond. */
static char *walk_ns(SimTime ps)
{
    const SimTime tenths = (ps + 50) / 100;
    return g_strdup_printf("%" G_GUINT64_FORMAT ".%" G_GUINT64_FORMAT " ns", tenths / 10, tenths % 10);
}

static const char *walk_vc_name(const Packet *packet) { return packet_vc(packet) == VC_CREQ ? "CREQ0" : "RSP0"; }

const char *walk_cargo(const Packet *packet)
{
    static const char *const cargo[PACKET_KINDS] = {
        [PACKET_READ] = "read request",
        [PACKET_WRITE] = "write",
        [PACKET_RED] = "red",
        [PACKET_ATOM] = "atomic",
        [PACKET_MC_WRITE] = "multicast write",
        [PACKET_MC_RED] = "multicast red",
        [PACKET_MC_READ] = "ld_reduce request",
        [PACKET_READ_RSP] = "read response",
        [PACKET_ATOM_RSP] = "atomic's response",
        [PACKET_ACK] = "acknowledgement",
        [PACKET_MC_ACK] = "replica's acknowledgement",
        [PACKET_MC_OPERAND] = "operand",
        [PACKET_MC_RSP] = "sum",
        [PACKET_MC_DONE] = "counted acknowledgement",
    };
    return cargo[packet->kind];
}

/* As walk_cargo() is spoken: "an ld_reduce request". */
static const char *walk_article(const Packet *packet) { return packet->kind == PACKET_MC_READ ? "an" : "a"; }

static char *walk_text_wire(const Fabric *fabric, const Link *link, const Packet *packet, gboolean replica)
{
    gboolean trunk = fabric_is_trunk(fabric, link);
    guint64 rate_MBps = trunk ? fabric->spec.topology.trunk_MBps : fabric->spec.link.rate_MBps;
    g_autofree char *wire = walk_ns((SimTime)packet->flits * 16000000u / rate_MBps);
    g_autofree char *flight = walk_ns(trunk ? fabric->spec.topology.trunk_flight_ps : fabric->spec.link.flight_ps);
    replica = replica && packet_vc(packet) == VC_CREQ;
    return g_strdup_printf("%s%s onto the wire, VC %s: %u flit%s in %s, then %s of flight",
                           replica ? "replica of the " : "", walk_cargo(packet), walk_vc_name(packet), packet->flits,
                           packet->flits == 1 ? "" : "s", wire, flight);
}

static char *walk_text_table(const Fabric *fabric, const Switch *sw, const Packet *packet, WalkCount *count)
{
    const McEntry *entry = &sw->table.entry[packet->dst];
    count->expected = entry->n_members;
    count->got = 0;
    g_autofree char *named = fabric->spec.mctable.set_flits && !sw->spine
                                 ? g_strdup("the request names its members (model/switch/record.c)")
                                 : g_strdup_printf("entry of multicast ID %u (model/switch/multicast_table.c)",
                                                   packet->dst);
    return g_strdup_printf("%s tag taken; %s: %u replicas in %u round%s of at most %" G_GUINT64_FORMAT,
                           packet->kind == PACKET_MC_READ ? "reduction" : "multicast", named, entry->n_members,
                           entry->rounds, entry->rounds == 1 ? "" : "s", fabric->spec.mctable.round_directives);
}

static char *walk_text_serve(const Fabric *fabric, const Packet *packet)
{
    g_autofree char *l2 = walk_ns(fabric->spec.gpu.l2_ps);
    g_autofree char *wait = walk_ns(fabric->spec.gpu.ack_timer_ps);
    switch (packet->kind) {
    case PACKET_READ: return g_strdup_printf("L2 reads the line; the response is at the port after %s", l2);
    case PACKET_ATOM: return g_strdup_printf("L2 changes the word; its old value is at the port after %s", l2);
    case PACKET_MC_READ:
        return g_strdup_printf("this member's mapping: L2 reads its copy, an operand, at the port after %s", l2);
    case PACKET_MC_WRITE:
        return g_strdup_printf("this member's mapping: L2 writes its copy, acknowledged at the port after %s", l2);
    case PACKET_MC_RED:
        return g_strdup_printf("this member's mapping: L2 adds to its copy, acknowledged at the port after %s", l2);
    default:
        return fabric->spec.gpu.ack_merge_max > 1
                   ? g_strdup_printf("L2 writes; the acknowledgement waits up to %s for others, at the port %s later",
                                     wait, l2)
                   : g_strdup_printf("L2 writes; acknowledged at the port after %s", l2);
    }
}

static char *walk_text_result(const Fabric *fabric, const Packet *packet, const WalkCount *count)
{
    if (packet->kind == PACKET_MC_ACK)
        return g_strdup_printf("all %u acknowledged: tag freed, one acknowledgement goes on", count->expected);
    return g_strdup_printf("all %u operands summed in order of %s: tag and buffer freed, one response goes on",
                           count->expected, fabric->spec.sw.reduction_order == REDUCE_ORDER_RANK ? "rank" : "arrival");
}

/* Up, or to the port of its GPU. */
static char *walk_text_route(const Fabric *fabric, const Packet *packet)
{
    if (packet_is_multicast(*packet))
        return g_strdup_printf("multicast ID %u has its root in a spine: a trunk that leads there", packet->dst);
    return g_strdup_printf("unicast route: %s GPU %u", fabric->n_trunks ? "towards" : "egress port of",
                           packet_target(*packet));
}

static char *walk_text_gather(const Switch *sw, const Packet *packet, WalkCount *count)
{
    count->got++;
    return g_strdup_printf("%s %u of %u, from %sGPU %u", packet->kind == PACKET_MC_ACK ? "acknowledgement" : "operand",
                           count->got, count->expected, sw->spine ? "the leaf of " : "", packet->dst);
}

char *walk_text(const Fabric *fabric, const ProbeEvent *event, gboolean replica, WalkCount *counts)
{
    const Packet *packet = event->packet;
    const Switch *sw = event->sw; /* where the stage is one of a switch */
    g_autofree char *latency = walk_ns(fabric->spec.sw.latency_ps);
    g_autofree char *out = walk_ns(fabric->spec.gpu.out_ps), *in = walk_ns(fabric->spec.gpu.in_ps);
    switch (event->stage) {
    case PROBE_COALESCE:
        if (packet->kind == PACKET_ATOM)
            return g_strdup_printf("one lane is active: one packet, an atomic of %u flits", packet->flits);
        return g_strdup_printf("the warp's lanes lie in one line of 128 B: one packet, %s %s of %u flit%s",
                               walk_article(packet), walk_cargo(packet), packet->flits, packet->flits == 1 ? "" : "s");
    case PROBE_REQUEST:
        return g_strdup_printf("transaction opened; the hash of the 256 B chunk (model/memory/address_hash.c) "
                               "picks the link; its port is %s away",
                               out);
    case PROBE_WIRE: return walk_text_wire(fabric, event->link, packet, replica);
    case PROBE_INGRESS: return g_strdup_printf("%s at the crossbar, after %s of pipeline", walk_cargo(packet), latency);
    case PROBE_ROUTE: return walk_text_route(fabric, packet);
    case PROBE_TABLE: return walk_text_table(fabric, sw, packet, &counts[sw->id]);
    case PROBE_SERVE: return walk_text_serve(fabric, packet);
    case PROBE_GATHER: return walk_text_gather(sw, packet, &counts[sw->id]);
    case PROBE_RESULT: return walk_text_result(fabric, packet, &counts[sw->id]);
    case PROBE_ANSWER:
        return g_strdup_printf("%s back at the SM, %s behind the port: the transaction ends", walk_cargo(packet), in);
    default: return g_strdup("");
    }
}

char *walk_text_wait(WalkReason reason, const WalkWait *wait)
{
    static const char *const text[WALK_REASONS] = {
        [WALK_WAIT_ROOM] = "for room: the queue of the GPU's port is full (gpu.source_queue_packets)",
        [WALK_WAIT_CREDITS] = "for credits: the wire is free, the buffer at its far end is full",
        [WALK_WAIT_ANSWERS] = "at its target, whose port has too many answers to send (gpu.response_queue_packets)",
        [WALK_WAIT_MERGE] = "for other writes that it could acknowledge, too: none comes",
    };
    g_autofree char *time = walk_ns(wait->ps[reason]);
    if (reason == WALK_WAIT_PACKETS)
        return g_strdup_printf("waits %s in the port's queue, while the wire carries %u packet%s before it", time,
                               wait->before, wait->before == 1 ? "" : "s");
    if (reason == WALK_WAIT_MERGE && wait->before > 1)
        return g_strdup_printf("waits %s: one acknowledgement answers %u writes, this one among them", time,
                               wait->before);
    return g_strdup_printf("waits %s %s", time, text[reason]);
}
