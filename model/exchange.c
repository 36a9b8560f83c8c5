#include "model/exchange.h"

#include "model/fabric.h"
#include "sim/domain.h"

static Letter *box_add(LetterBox *box)
{
    if (G_UNLIKELY(box->n == box->size)) {
        box->size = MAX(256, 2 * box->size);
        box->at = g_renew(Letter, box->at, box->size);
    }
    return &box->at[box->n++];
}

/* ---- what leaves a domain */

void exchange_packet(LinkDomain *domain, Link *link, Packet packet, SimTime at_ps)
{
    Letter *letter = box_add(&domain->out[domain->window & 1].packets);
    letter->at_ps = at_ps;
    letter->link = link;
    letter->packet = packet;
    domain->first_ps = MIN(domain->first_ps, at_ps);
}

static void exchange_credit(LinkDomain *domain, Link *link, Vc vc, guint32 flits, SimTime at_ps)
{
    Letter *letter = box_add(&domain->out[domain->window & 1].credits);
    letter->at_ps = at_ps;
    letter->link = link;
    letter->credit.flits = flits;
    letter->credit.vc = vc;
    domain->first_ps = MIN(domain->first_ps, at_ps);
}

void exchange_list_late(LinkDomain *domain, Link *link) { g_ptr_array_add(domain->late, link); }

static void exchange_list_open(LinkDomain *domain, Link *link, Vc vc)
{
    g_ptr_array_add(domain->open, &link->vc[vc]);
    g_ptr_array_add(domain->open_link, link);
}

/* link_credit_slot() towards another domain, whose sender cannot be looked at. */
void exchange_credit_slot(Link *link, Vc v, guint32 flits, SimTime slot_ps)
{
    LinkDomain *domain = link->far_domain;
    if (slot_ps < link->slot_ps[v]) {
        exchange_credit(domain, link, v, flits, slot_ps + link->credit_delay_ps);
        return;
    }
    if (link->slot_ps[v])
        exchange_credit(domain, link, v, link->freed[v], link->slot_ps[v] + link->credit_delay_ps);
    else
        exchange_list_open(domain, link, v);
    link->slot_ps[v] = slot_ps;
    link->freed[v] = flits;
}

/* ---- windows */

static void exchange_arrive(Link *link, Packet packet, SimTime at_ps)
{
    Vc v = packet_vc(&packet);
    LinkRing *ring = &link->vc[v].far;
    if (ring->wire == ring->head) {
        if (link_tell_early(link, packet, at_ps))
            return;
        ring->wire = ring->head = 0;
        sim_at_key(link->far_sim, &link->vc[v].arrive, at_ps);
    }
    if (G_UNLIKELY(link_ring_is_full(ring, 0)))
        link_ring_grow(ring, 0);
    *link_slot(ring, ring->wire++) = (LinkSlot){packet, (guint32)at_ps};
}

#define DATA_KEPT 64 /* slots that the switches keep for their sums */

static void exchange_deliver(void *user, guint d)
{
    Exchange *exchange = user;
    LinkDomain *domain = &exchange->domain[d], *other = &exchange->domain[!d];
    guint which = (domain->window + 1) & 1; /* what the other one wrote before this window */
    LetterBox *box = &other->out[which].packets;
    for (guint32 i = 0; i < box->n; i++)
        exchange_arrive(box->at[i].link, box->at[i].packet, box->at[i].at_ps);
    box->n = 0;
    box = &other->out[which].credits;
    for (guint32 i = 0; i < box->n; i++)
        link_credit_return(box->at[i].link, (Vc)box->at[i].credit.vc, box->at[i].credit.flits,
                           box->at[i].at_ps);
    box->n = 0;
    GArray *slots = other->out[which].slots;
    for (guint i = 0; i < slots->len; i++)
        data_give(exchange->data[d], g_array_index(slots, guint32, i));
    g_array_set_size(slots, 0);
}

static SimTime exchange_close(void *user, guint d, SimTime last_ps)
{
    Exchange *exchange = user;
    LinkDomain *domain = &exchange->domain[d];
    SimTime next_ps = SIMTIME_NEVER;
    guint kept = 0;
    for (guint i = 0; i < domain->late->len; i++) {
        Link *link = domain->late->pdata[i];
        SimTime due_ps = link_close(link, last_ps);
        if (due_ps == SIMTIME_NEVER)
            continue;
        next_ps = MIN(next_ps, due_ps);
        domain->late->pdata[kept++] = link;
    }
    g_ptr_array_set_size(domain->late, (gint)kept);
    domain->late_kept = kept;
    for (guint i = 0; i < domain->open->len; i++) {
        Link *link = domain->open_link->pdata[i];
        Vc v = (Vc)((LinkVc *)domain->open->pdata[i] - link->vc);
        exchange_credit(domain, link, v, link->freed[v],
                        link->slot_ps[v] + link->credit_delay_ps);
        link->slot_ps[v] = 0;
    }
    g_ptr_array_set_size(domain->open, 0);
    g_ptr_array_set_size(domain->open_link, 0);
    for (DataPool *data = exchange->data[d]; d == 1 && data->n_free > DATA_KEPT;)
        g_array_append_val(domain->out[domain->window & 1].slots, data->free[--data->n_free]);
    next_ps = MIN(next_ps, domain->first_ps);
    domain->first_ps = SIMTIME_NEVER;
    domain->window++;
    return next_ps;
}

static gboolean exchange_is_busy(void *user)
{
    const LinkDomain *domain = &((Exchange *)user)->domain[0];
    return domain->first_ps != SIMTIME_NEVER || domain->late->len > domain->late_kept || domain->open->len;
}

static const SimExchange exchange_calls = {exchange_deliver, exchange_close, exchange_is_busy};

guint32 exchange_slots(const Exchange *exchange)
{
    const LinkDomain *domain = &exchange->domain[1];
    return domain->out[0].slots->len + domain->out[1].slots->len;
}

/* ---- life */

static gboolean exchange_refuse(GError **error, const char *what, const char *why)
{
    g_set_error(error, SIM_ERROR, SIM_ERROR_DOMAINS, "%s: %s; set it to what it is by default, or leave --domains away",
                what, why);
    return FALSE;
}

gboolean exchange_split(Fabric *fabric, GError **error)
{
    const LinkSpec *link = &fabric->spec.link;
    if (link->commit_ahead_ps || link->drain_ps)
        return exchange_refuse(error, link->commit_ahead_ps ? "[link] commit_ahead_ps" : "[link] drain_ps",
                               "two domains are exact");
    Exchange *exchange = g_new0(Exchange, 1);
    Sim *far = sim_split(fabric->sim, link->flight_ps, &exchange_calls, exchange, error);
    if (!far) {
        g_free(exchange);
        return FALSE;
    }
    for (guint d = 0; d < 2; d++) {
        exchange->data[d] = &fabric->data[d];
        exchange->domain[d] = (LinkDomain){.sim = d == 0 ? fabric->sim : far, .first_ps = SIMTIME_NEVER,
                                           .late = g_ptr_array_new(), .open = g_ptr_array_new(),
                                           .open_link = g_ptr_array_new()};
        for (guint w = 0; w < 2; w++)
            exchange->domain[d].out[w].slots = g_array_new(FALSE, FALSE, sizeof(guint32));
    }
    fabric->exchange = exchange;
    fabric->switch_sim = far;
    return TRUE;
}

gboolean exchange_check(const Fabric *fabric, GError **error)
{
    if (fabric->n_silent)
        return exchange_refuse(error, "[fault] gpu_silent", "two domains have no time-outs");
    return TRUE;
}

void exchange_free(Exchange *exchange)
{
    for (guint d = 0; d < 2; d++) {
        LinkDomain *domain = &exchange->domain[d];
        for (guint w = 0; w < 2; w++) {
            g_free(domain->out[w].packets.at);
            g_free(domain->out[w].credits.at);
            g_array_free(domain->out[w].slots, TRUE);
        }
        g_ptr_array_free(domain->late, TRUE);
        g_ptr_array_free(domain->open, TRUE);
        g_ptr_array_free(domain->open_link, TRUE);
    }
    g_free(exchange);
}

static void exchange_link(Exchange *exchange, Link *link, guint near)
{
    link->domain = &exchange->domain[near];
    link->far_domain = &exchange->domain[!near];
    link->sim = link->domain->sim;
    link->far_sim = link->far_domain->sim;
    link->rare = TRUE;
    link->odd = TRUE;
}

void exchange_take(Exchange *exchange, Link *up, Link *down)
{
    exchange_link(exchange, up, 0);
    exchange_link(exchange, down, 1);
}
