/* A link as others look at it: life, parameters, statistics, whether it is idle, what it waits for. */
#include "model/link/internal.h"

#include <string.h>

const ParamRow link_params[] = {
    PARAM_U64(LinkSpec, rate_MBps, "MB/s", 1, 10000000, "flits that one direction of one link carries"),
    PARAM_U64(LinkSpec, flight_ps, "ps", 0, 100000000, "time of flight between GPU port and switch port"),
    PARAM_U64(LinkSpec, credits_switch_flits, "flits", 32, 1u << 20,
              "buffer of each virtual channel at a switch ingress"),
    PARAM_U64(LinkSpec, credits_gpu_flits, "flits", 32, 1u << 20,
              "buffer of each virtual channel at a GPU ingress"),
    PARAM_U64(LinkSpec, credit_batch_ps, "ps", 1, 1000000,
              "credits freed within so long travel back together (rounded down to a power of two)"),
    PARAM_U64(LinkSpec, error_ppb, "1e-9", 0, 1000000000, "packets hit by a bit error and replayed"),
    PARAM_U64(LinkSpec, replay_ps, "ps", 0, 1000000000, "time a replay costs the link"),
    PARAM_U64(LinkSpec, commit_ahead_ps, "ps", 0, 100000,
              "arbiters decide so long before their time, to save events (0: exact)"),
    PARAM_U64(LinkSpec, drain_ps, "ps", 0, 100000,
              "arrivals of a channel are handled together over so long, to save events (0: exact)"),
    PARAM_U64(LinkSpec, train_packets, "packets", 1, 2,
              "of one instruction to one chunk of 256 B that all stages handle as one (1: exact)"),
    PARAM_END,
};

const StatRow link_stats[] = {
    STAT_COUNTER(Link, credit_stalls, "times", "arbiter found packets but no credits"),
    STAT_PEAK(Link, queue_peak, "packets", "longest queue of one virtual channel"),
    STAT_COUNTER(Link, replays, "packets", "sent again after a bit error"),
    STAT_END,
};

const guint8 link_count_at[LINK_COUNTS] = {
    [PACKET_READ] = 0, [PACKET_WRITE] = 1, [PACKET_READ_RSP] = 2, [PACKET_ACK] = 3,
    [PACKET_MC_WRITE] = 4, [PACKET_MC_READ] = 5, [PACKET_MC_ACK] = 6, [PACKET_MC_OPERAND] = 7,
    [PACKET_MC_RSP] = 8, [PACKET_MC_DONE] = 9, [PACKET_RED] = 10, [PACKET_ATOM] = 11, [PACKET_ATOM_RSP] = 12,
    [PACKET_MC_RED] = 13,
};

/* At one instant links go behind other hardware, in the order of their numbers, whoever scheduled them: so that
 * it makes no difference whether the two ends of a link share a calendar. */
enum { LINK_KEY_ARRIVE = 0, LINK_KEY_SEND = VCS, LINK_KEYS = VCS + 1 };

void link_init(Link *link, Sim *sim, const LinkSpec *spec, guint64 credit_flits, guint32 number,
               const char *path)
{
    memset(link, 0, sizeof *link);
    link->sim = link->far_sim = sim;
    link->path = g_strdup(path);
    /* 16 B at rate_MBps * 1e6 B/s, in 1/65536 ps */
    link->flit_time = ((SimFine)FLIT_BYTES * 1000000u << SIMFINE_SHIFT) / spec->rate_MBps;
    link->replay_ps = spec->replay_ps;
    link->ahead_ps = (guint32)MIN(spec->commit_ahead_ps, spec->flight_ps / 2); /* credits need time to come back */
    link->drain_ps = MIN(spec->drain_ps, spec->flight_ps / 2);
    link->odd = link->drain_ps ? LINK_DRAINS : 0;
    link->ready_ps = SIMTIME_NEVER;
    link->settle = link_settle_lanes;
    link->inbox = &link->own_inbox;
    inbox_init(link->inbox);
    for (int lane = 0; lane < LINK_LANES; lane++)
        link->first_ps[lane] = SIMTIME_NEVER;
    rng_init(&link->rng, sim_seed(sim), path);
    link_set_errors(link, spec->error_ppb);
    event_init(&link->send, link_on_send);
    sim_set_key(&link->send, number * LINK_KEYS + LINK_KEY_SEND);
    link->credit = link->own_credit = link_credits_new(link, 1);
    link->credit->shift = g_bit_storage(spec->credit_batch_ps) - 1;
    link->credit->delay_ps = (guint32)spec->flight_ps;
    for (int v = 0; v < VCS; v++) {
        link->ring[v].credits = (gint32)credit_flits;
        link->credit->vc[v].due_ps = SIMTIME_NEVER;
        link->freed[v] = link->credit;
        link->ring[v].mask = link->far[v].mask = G_MAXUINT32;
        link_set_delay(link, (Vc)v, spec->flight_ps);
        sim_set_key(&link->vc[v].arrive, number * LINK_KEYS + LINK_KEY_ARRIVE + (guint32)v);
    }
    link_set_sink(link, NULL, NULL, 0);
}

void link_set_delay(Link *link, Vc vc, SimTime delay_ps)
{
    g_assert(delay_ps < G_MAXUINT32 / 2); /* see LinkSlot.due */
    link->ring[vc].delay_ps = (guint32)delay_ps;
    guint32 least_ps = MIN(link->ring[VC_CREQ].delay_ps, link->ring[VC_RSP].delay_ps);
    /* at least 2: what joins at an instant does so behind this link's own event of it */
    link->slack_ps = CLAMP(link->credit->delay_ps, 2, MAX(least_ps, 2));
}

void link_set_lanes(Link *link, LinkServe serve, guint32 gate, const Link *request_link)
{
    link->serve = serve;
    link->gate = gate;
    link->request_order = request_link->vc[VC_CREQ].arrive.order;
}

void link_set_early(Link *link, LinkEarly early, guint16 kinds)
{
    link->early = early;
    link->early_kinds = kinds;
}

Link *link_array_new(guint32 n) { return g_aligned_alloc0(n, sizeof(Link), _Alignof(Link)); }

void link_ring_grow(LinkRing *ring)
{
    guint32 slots = ring->at ? ring->mask + 1 : 0, first = ring->head & ring->mask;
    guint32 grown = MAX(16, slots * 2);
    ring->at = g_renew(LinkSlot, ring->at, grown);
    memcpy(ring->at + slots, ring->at, first * sizeof *ring->at); /* it was full */
    ring->wire = first + (ring->wire - ring->head);
    ring->head = first;
    ring->mask = grown - 1;
}

void link_clear(Link *link)
{
    for (int v = 0; v < VCS; v++) {
        g_free(link->ring[v].at);
        g_free(link->far[v].at);
        link_return_clear(&link->credit_far[v]);
    }
    for (int lane = 0; lane < LINK_LANES; lane++)
        link_ready_clear(&link->lane[lane]);
    inbox_clear(link->inbox);
    g_aligned_free(link->own_credit);
    g_aligned_free(link->book);
    g_free(link->path);
}

static void link_note_watched(Link *link)
{
    link->rare = (link->rare & ~LINK_WATCHED) | (link->error_ppb || link->probe ? LINK_WATCHED : 0);
}

void link_set_errors(Link *link, guint64 error_ppb)
{
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
    "read",     "write",     "red", "atom",   "multimem.st", "multimem.red", "multimem.ld_reduce",
    "read_rsp", "atom_rsp",  "ack", "mc_ack", "mc_operand",  "mc_rsp",       "mc_done",
};
const char *packet_kind_name(PacketKind kind) { return kind_names[kind]; }

gboolean link_is_quiet(const Link *link, guint64 credit_flits)
{
    if (link->ready)
        return FALSE;
    for (int v = 0; v < VCS; v++) {
        const LinkRing *ring = &link->ring[v], *far = &link->far[v];
        guint64 credits = (guint64)link->ring[v].credits + link_credits_flying(link, (Vc)v);
        if (link->ring[v].waiting || ring->wire != ring->head || far->wire != far->head || credits != credit_flits)
            return FALSE;
    }
    return TRUE;
}

guint64 link_flits_total(const Link *link)
{
    guint64 sum = 0;
    for (guint k = 0; k < G_N_ELEMENTS(link->count); k++)
        sum += link->count[k].flits;
    return sum;
}

guint64 link_packets_total(const Link *link)
{
    guint64 sum = 0;
    for (guint k = 0; k < G_N_ELEMENTS(link->count); k++)
        sum += link->count[k].packets;
    return sum;
}

char *link_waiter_text(void *unit)
{
    const Link *link = unit;
    if (!link_waits(link))
        return NULL;
    return g_strdup_printf("%s: %u packets wait for %s", link->path,
                           link->ring[VC_CREQ].waiting + link->ring[VC_RSP].waiting,
                           link->down ? "the link to come up" : "credits of the far end");
}
