#include "model/parallel/mailbox.h"

#include <string.h>

/* ---- what crosses */

static gboolean boundary_arrive(Link *link, Packet packet, SimTime at_ps)
{
    Side *near = link_boundary(link)->near;
    PacketMessage message = {at_ps, link, packet};
    g_array_append_val(side_writing(near)->packets, message);
    near->first_ps = MIN(near->first_ps, at_ps);
    return TRUE;
}

/* Credits of one batch that are freed one after the other are one message. */
static void boundary_credit(Link *link, Vc vc, guint32 flits, SimTime due_ps)
{
    Side *far = link_boundary(link)->far;
    GArray *credits = side_writing(far)->credits;
    CreditMessage *last = credits->len ? &g_array_index(credits, CreditMessage, credits->len - 1) : NULL;
    if (last && last->link == link && last->vc == vc && last->due_ps == due_ps) {
        last->flits += flits;
        return;
    }
    CreditMessage message = {due_ps, link, flits, vc};
    g_array_append_val(credits, message);
    far->first_ps = MIN(far->first_ps, due_ps);
}

/* Every deferred port is advanced when a window ends; only what must be in time, or waits for credits, has an event. */
static void boundary_follow_up(Link *link)
{
    Boundary *boundary = link_boundary(link);
    const FastPort *port = fast_port(link);
    SimTime due_ps = link->blocked ? link->retry_ps : fast_port_in_time_ps(port);
    if (due_ps != SIMTIME_NEVER)
        link_send_by(link, due_ps);
    fast_port_wake(fast_port(link));
    if (boundary->deferred || (!link_waits(link) && port->next_ps == SIMTIME_NEVER && !port->replicas))
        return;
    boundary->deferred = TRUE;
    g_ptr_array_add(boundary->near->deferred, link);
}

SimTime boundary_next_ps(const Link *link)
{
    SimTime decision_ps = link_decision_ps(link);
    if (link->blocked || (event_is_pending(&link->send) && link->send.time_ps <= decision_ps))
        decision_ps = SIMTIME_NEVER; /* it has an event */
    return MIN(decision_ps, fast_port(link)->next_ps);
}

/* ---- life */

static gboolean parallel_refuse(GError **error, const char *what, const char *why)
{
    g_set_error(error, SIM_ERROR, SIM_ERROR_DOMAINS, "%s: %s; set it to what it is by default, or leave --cores away",
                what, why);
    return FALSE;
}

static void side_init(Side *side, Sim *sim, DataPool *data)
{
    *side = (Side){.sim = sim, .data = data, .first_ps = SIMTIME_NEVER, .deferred = g_ptr_array_new()};
    for (guint w = 0; w < 2; w++) {
        side->box[w].packets = g_array_new(FALSE, FALSE, sizeof(PacketMessage));
        side->box[w].credits = g_array_new(FALSE, FALSE, sizeof(CreditMessage));
        side->box[w].slots = g_array_new(FALSE, FALSE, sizeof(guint32));
    }
}

static void side_clear(Side *side)
{
    for (guint w = 0; w < 2; w++) {
        g_array_free(side->box[w].packets, TRUE);
        g_array_free(side->box[w].credits, TRUE);
        g_array_free(side->box[w].slots, TRUE);
    }
    g_ptr_array_free(side->deferred, TRUE);
}

gboolean parallel_split(Fabric *fabric, GError **error)
{
    const guint32 n = fabric->n_trunks ? 1 : fabric->n_switches;
    SimTime lookahead_ps = fabric->spec.link.flight_ps;
    if (fabric->n_trunks)
        lookahead_ps = MIN(lookahead_ps, fabric->spec.topology.trunk_flight_ps);
    if (sim_engine(fabric->sim) == SIM_ENGINE_REFERENCE) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_DOMAINS,
                    "several domains: the reference engine runs on one core; leave --engine away, or --cores");
        return FALSE;
    }
    Parallel *parallel = g_aligned_alloc0(1, sizeof *parallel + n * sizeof *parallel->pair, G_ALIGNOF(Parallel));
    g_autofree Sim **far = g_new(Sim *, n);
    if (!sim_split(fabric->sim, n, far, lookahead_ps, &parallel_exchange, parallel, error)) {
        g_aligned_free(parallel);
        return FALSE;
    }
    parallel->n = n;
    parallel->fabric = fabric;
    for (guint32 s = 0; s < n; s++) {
        side_init(&parallel->pair[s].side[SIDE_GPUS], fabric->sim, &fabric->data[0]);
        side_init(&parallel->pair[s].side[SIDE_SWITCH], far[s], &fabric->data[1 + s]);
    }
    fabric->parallel = parallel;
    return TRUE;
}

gboolean parallel_check(const Fabric *fabric, GError **error)
{
    if (fabric->silent)
        return parallel_refuse(error, "[fault] gpu_silent", "several domains have no time-outs");
    if (fabric->lossy)
        return parallel_refuse(error, "[fault] link_down, switch_down",
                               "several domains have no routes that change during a run");
    if (fabric->spec.sw.component && strcmp(fabric->spec.sw.component, "none") != 0)
        return parallel_refuse(error, "[switch] component", "SystemC components run on one core");
    if (fabric->spec.sw.merge_entries)
        return parallel_refuse(error, "[switch] merge_entries", "a switch that merges loads needs their requesters");
    return TRUE;
}

void parallel_free(Parallel *parallel)
{
    for (guint32 s = 0; s < parallel->n; s++)
        for (guint i = 0; i < SIDES; i++)
            side_clear(&parallel->pair[s].side[i]);
    g_aligned_free(parallel);
}

static Pair *parallel_pair(const Parallel *parallel, guint32 sw)
{
    return (Pair *)&parallel->pair[parallel->fabric->n_trunks ? 0 : sw];
}

guint32 parallel_n(const Parallel *parallel) { return parallel->n; }
Sim *parallel_sim(const Parallel *parallel, guint32 sw) { return parallel_pair(parallel, sw)->side[SIDE_SWITCH].sim; }
DataPool *parallel_data(const Parallel *parallel, guint32 sw)
{
    return parallel_pair(parallel, sw)->side[SIDE_SWITCH].data;
}

static Boundary *parallel_take_link(Pair *pair, Link *link, guint near, guint far)
{
    Boundary *boundary = g_new0(Boundary, 1);
    boundary->inner = link->ops;
    boundary->ops = *link->ops;
    boundary->ops.follow_up = boundary_follow_up;
    boundary->near = &pair->side[near];
    boundary->far = &pair->side[far];
    link->boundary = boundary;
    link->ops = &boundary->ops;
    link->sim = boundary->near->sim;
    link->far_sim = boundary->far->sim;
    return boundary;
}

static void parallel_cross(Boundary *boundary)
{
    boundary->ops.arrive = boundary_arrive;
    boundary->ops.credit = boundary_credit;
}

void parallel_take(Parallel *parallel, guint32 sw, Link *up, Link *down)
{
    Pair *pair = parallel_pair(parallel, sw);
    parallel_cross(parallel_take_link(pair, up, SIDE_GPUS, SIDE_SWITCH));
    parallel_cross(parallel_take_link(pair, down, SIDE_SWITCH, SIDE_GPUS));
}

void parallel_take_trunk(Parallel *parallel, Link *trunk)
{
    parallel_take_link(&parallel->pair[0], trunk, SIDE_SWITCH, SIDE_SWITCH);
}

void parallel_detach(Link *link)
{
    if (!link->boundary)
        return;
    link->ops = link_boundary(link)->inner;
    g_clear_pointer(&link->boundary, g_free);
}

guint32 parallel_slots(const Parallel *parallel)
{
    guint32 n = 0;
    for (guint32 s = 0; s < parallel->n; s++) {
        const Side *side = &parallel->pair[s].side[SIDE_SWITCH];
        n += side->box[0].slots->len + side->box[1].slots->len;
    }
    return n;
}
