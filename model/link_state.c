/* A link as others look at it: life, parameters, statistics, whether it is idle, what it waits for. */
#include "model/link.h"

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
    PARAM_END,
};

const StatRow link_stats[] = {
    STAT_COUNTER(Link, credit_stalls, "times", "arbiter found packets but no credits"),
    STAT_PEAK(Link, queue_peak, "packets", "longest queue of one virtual channel"),
    STAT_COUNTER(Link, replays, "packets", "sent again after a bit error"),
    STAT_END,
};

Link *link_array_new(guint32 n) { return g_aligned_alloc0(n, sizeof(Link), _Alignof(Link)); }

void link_clear(Link *link)
{
    for (int v = 0; v < VCS; v++) {
        packet_ring_clear(&link->vc[v].queue);
        link_flight_clear(&link->vc[v].flight);
        link_return_clear(&link->vc[v].returns);
    }
    g_free(link->path);
}

void link_set_errors(Link *link, guint64 error_ppb)
{
    link->error_ppb = error_ppb;
    link->rare = error_ppb || link->probe || link->domain;
}

void link_observe(Link *link, Probe probe, void *user)
{
    link->probe = probe;
    link->probe_user = user;
    link->rare = link->error_ppb || probe || link->domain;
}

static const char *const kind_names[PACKET_KINDS] = {
    "read",     "write",     "red", "atom",   "multimem.st", "multimem.red", "multimem.ld_reduce",
    "read_rsp", "atom_rsp",  "ack", "mc_ack", "mc_operand",  "mc_rsp",       "mc_done",
};
const char *packet_kind_name(PacketKind kind) { return kind_names[kind]; }

gboolean link_is_quiet(const Link *link, guint64 credit_flits)
{
    for (int v = 0; v < VCS; v++) {
        const LinkVc *vc = &link->vc[v];
        guint64 credits = (guint64)vc->credits + (link->slot_ps[v] ? link->freed[v] : 0);
        for (guint32 i = 0; i < vc->returns.count; i++)
            credits += link_return_nth((LinkReturnRing *)&vc->returns, i)->flits;
        if (vc->queue.count || vc->flight.count || credits != credit_flits)
            return FALSE;
    }
    return TRUE;
}

guint64 link_flits_total(const Link *link)
{
    guint64 sum = 0;
    for (int k = 0; k < PACKET_KINDS; k++)
        sum += link->count[k].flits;
    return sum;
}

guint64 link_packets_total(const Link *link)
{
    guint64 sum = 0;
    for (int k = 0; k < PACKET_KINDS; k++)
        sum += link->count[k].packets;
    return sum;
}

char *link_waiter_text(void *unit)
{
    const Link *link = unit;
    if (link->waiting == 0)
        return NULL;
    return g_strdup_printf("%s: %u packets wait for %s", link->path, link->waiting,
                           link->down ? "the link to come up" : "credits of the far end");
}
