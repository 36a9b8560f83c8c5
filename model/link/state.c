/* What a link shows to other files: its parameters, its statistics, its beginning and end, and what it waits for. */
#include "model/link/down.h"

#include <string.h>

const ParamRow link_params[] = {
    PARAM_U64(LinkSpec, rate_MBps, "MB/s", 1, 10000000, "flits that one direction of one link carries"),
    PARAM_U64(LinkSpec, flight_ps, "ps", 0, 100000000, "time of flight between GPU port and switch port"),
    PARAM_U64(LinkSpec, credits_switch_flits, "flits", 32, 1u << 20,
              "buffer of each virtual channel at a switch ingress"),
    PARAM_U64(LinkSpec, credits_gpu_flits, "flits", 32, 1u << 20, "buffer of each virtual channel at a GPU ingress"),
    PARAM_U64(LinkSpec, credit_batch_ps, "ps", 1, 1000000,
              "credits freed within so long travel back together (rounded down to a power of two)"),
    PARAM_U64(LinkSpec, error_ppb, "1e-9", 0, 900000000,
              "of a packet's transmissions, replays among them, that a bit error hits"),
    PARAM_U64(LinkSpec, replay_ps, "ps", 0, 1000000000, "time a replay costs the link"),
    PARAM_END,
};

static guint64 link_read_packets(const void *link) { return link_packets_total(link); }
static guint64 link_read_flits(const void *link) { return link_flits_total(link); }
static guint64 link_read_queue(const void *unit)
{
    const Link *link = unit;
    return link->queue[VC_CREQ].count + link->queue[VC_RSP].count;
}

const StatRow link_stats[] = {
    STAT_SUM("packets", link_read_packets, "packets", "put on the wire"),
    STAT_SUM("flits", link_read_flits, "16 B", "put on the wire, headers included"),
    STAT_LEVEL("queue", link_read_queue, "packets", "that wait for the wire"),
    STAT_COUNTER(Link, credit_stalls, "times", "arbiter found packets but no credits"),
    STAT_PEAK(Link, queue_peak, "packets", "longest queue of one virtual channel"),
    STAT_COUNTER(Link, replays, "packets", "sent again after a bit error"),
    STAT_END,
};

/* At one instant the links' events go behind other hardware, in the order of the links' numbers and not of their
 * scheduling: so it makes no difference whether the two ends of a link share a calendar. */
enum { LINK_KEY_ARRIVE = 0, LINK_KEY_SEND = VCS, LINK_KEY_LOST, LINK_KEYS };

SimFine link_flit_time(guint64 rate_MBps)
{
    return ((SimFine)FLIT_BYTES * 1000000u << SIMFINE_SHIFT) / rate_MBps; /* 16 B at that rate, in 1/65536 ps */
}

void link_init(Link *link, Sim *sim, const LinkSpec *spec, guint64 credit_flits, guint32 number, const char *path)
{
    memset(link, 0, sizeof *link);
    link->ops = &link_reference_ops;
    link->sim = link->far_sim = sim;
    link->path = g_strdup(path);
    link->flit_time = link_flit_time(spec->rate_MBps);
    link->stalled_from_ps = SIMTIME_NEVER;
    link->replay_ps = spec->replay_ps;
    link->credit_shift = g_bit_storage(spec->credit_batch_ps) - 1;
    link->credit_delay_ps = (guint32)spec->flight_ps;
    rng_init(&link->rng, sim_seed(sim), path);
    event_init(&link->send, link_on_send);
    sim_set_key(&link->send, number * LINK_KEYS + LINK_KEY_SEND);
    event_init(&link->timer, link_reference_on_timer);
    sim_set_key_first(&link->timer, LINK_KEY_FAULT + 1 + number);
    for (int v = 0; v < VCS; v++) {
        link->credits[v] = (gint32)credit_flits;
        link_set_delay(link, (Vc)v, spec->flight_ps);
        sim_set_key(&link->arrival[v], number * LINK_KEYS + LINK_KEY_ARRIVE + (guint32)v);
    }
    link_set_sink(link, NULL, NULL, 0);
    link_set_errors(link, spec->error_ppb);
}

void link_set_policies(Link *link, const Policies *policies)
{
    link->policies = policies;
    link->has_arbiter = policies->arbitrate != NULL;
}

void link_set_delay(Link *link, Vc vc, SimTime delay_ps)
{
    g_assert(delay_ps <= G_MAXUINT32);
    link->delay_ps[vc] = (guint32)delay_ps;
}

void link_set_low_water(Link *link, Vc vc, guint32 below)
{
    link->low_water[vc] = below;
    if (below)
        link->ops->follow_up(link);
}

void link_advance_before(Link *link)
{
    SimTime now_ps = sim_now_ps(link->sim);
    if (now_ps > 0)
        link_advance(link, now_ps - 1);
}

void link_set_state(Link *link, LinkStatus state)
{
    SimTime now_ps = sim_now_ps(link->sim);
    link_advance_before(link);
    link->down = (guint8)state;
    if (link->stalled_from_ps != SIMTIME_NEVER)
        link->stalled_from_ps = state == LINK_DOWN ? now_ps : SIMTIME_NEVER;
    if (state != LINK_DOWN && link->blocked) {
        link->retry_ps = now_ps;
        link_send_by(link, now_ps);
    }
}

void link_set_flit_time(Link *link, SimFine flit_time)
{
    link_advance_before(link);
    link->flit_time = flit_time;
}

static void link_note_watched(Link *link) { link->watched = link->probe || link->error_ppb || link->answers_last; }

void link_set_answer_delay(Link *link, SimTime delay_ps)
{
    link_advance_before(link);
    link->answer_delay = simfine_from_ps(delay_ps);
    link->answers_last = MAX(link->answers_last, 1);
    link_note_watched(link);
}

void link_key_lost(const Link *link, Event *event) { event->order = link->send.order - LINK_KEY_SEND + LINK_KEY_LOST; }

void link_clear(Link *link)
{
    for (int v = 0; v < VCS; v++) {
        packet_ring_clear(&link->queue[v]);
        timed_packet_clear(&link->flight[v]);
        link_return_clear(&link->returning[v]);
        link_joined_clear(&link->joined[v]);
    }
    timed_packet_clear(&link->timers);
    g_free(link->path);
}

void link_set_errors(Link *link, guint64 error_ppb)
{
    link_advance_before(link);
    link->error_ppb = error_ppb;
    link_note_watched(link);
}

void link_observe(Link *link, Probe probe, void *user)
{
    link->probe = probe;
    link->probe_user = user;
    link_note_watched(link);
}

static const char *const kind_names[PACKET_KINDS] = {
    "read",     "write",    "red", "atom",   "multimem.st", "multimem.red", "multimem.ld_reduce",
    "read_rsp", "atom_rsp", "ack", "mc_ack", "mc_operand",  "mc_rsp",       "mc_done",
};
const char *packet_kind_name(PacketKind kind) { return kind_names[kind]; }

gboolean link_is_quiet(const Link *link, guint64 credit_flits)
{
    for (int v = 0; v < VCS; v++) {
        guint64 credits = (guint64)link->credits[v] + link_credits_flying(link, (Vc)v);
        if (link->queue[v].count || link->flight[v].count || credits != credit_flits)
            return FALSE;
    }
    return TRUE;
}

guint64 link_flits_total(const Link *link)
{
    guint64 sum = 0;
    for (guint k = 0; k < PACKET_KINDS; k++)
        sum += link->count[k].flits;
    return sum;
}

guint64 link_packets_total(const Link *link)
{
    guint64 sum = 0;
    for (guint k = 0; k < PACKET_KINDS; k++)
        sum += link->count[k].packets;
    return sum;
}

char *link_waiter_text(void *unit)
{
    const Link *link = unit;
    if (!link_waits(link))
        return NULL;
    const char *what = link->down ? "the link to come up" : link->blocked ? "credits of the far end" : "the wire";
    guint32 waiting = link->queue[VC_CREQ].count + link->queue[VC_RSP].count;
    return g_strdup_printf("%s: %u packets wait for %s", link->path, waiting, what);
}
