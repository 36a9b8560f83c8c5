#include "model/parallel/mailbox.h"

#include "model/fastpath/gpu_replicas.h"
#include "sim/engine/domain.h"

void letter_box_grow(LetterBox *box)
{
    box->size = MAX(256, 2 * box->size);
    box->at = g_renew(Letter, box->at, box->size);
}

void replica_box_grow(ReplicaBox *box)
{
    box->size = MAX(32, 2 * box->size);
    box->at = g_renew(LinkReady, box->at, box->size);
}

/* ---- what leaves a domain */

void replica_box_open(LinkDomain *domain, guint32 port, SimTime at_ps)
{
    exchange_note(domain, at_ps);
    g_array_append_val(domain->writing->ports, port);
}

void exchange_leave(const Link *link, Vc v, Packet packet, SimTime at_ps)
{
    if (v == VC_CREQ && link->answers) {
        gboolean plain = packet.kind >= PACKET_MC_WRITE && replica_answer(packet) != REPLICA_BY_RECORD;
        ReplicaBox *box = exchange_replicas(link);
        if (box && plain) {
            exchange_replica(box, link, packet, at_ps);
            return;
        }
        if (box && box->n == 0)
            replica_box_open(link->domain, link->switch_port, at_ps);
        if (box)
            box->closed = TRUE;
    }
    exchange_packet(link->domain, link, packet, at_ps);
}

void exchange_credit(LinkDomain *domain, const Link *link, Vc vc, guint32 flits, guint book, SimTime at_ps)
{
    Letter *letter = letter_box_add(&domain->writing->credits, link->switch_port, at_ps);
    letter->credit.flits = flits;
    letter->credit.vc = (guint16)vc;
    letter->credit.book = (guint16)book;
    exchange_note(domain, at_ps);
}

void exchange_list_late(LinkDomain *domain, Link *link) { g_ptr_array_add(domain->late.link, link); }

/* Opens the window's book, and the batch in it. */
void exchange_credit_first(Link *link, Vc v, guint32 flits, guint64 batch)
{
    LinkDomain *domain = link->far_domain;
    LinkCredits *book = link->freed[v];
    guint64 *next = &book->vc[v].next;
    if (*next == LINK_BOOK_CLOSED) {
        guint64 now = sim_now_ps(link->far_sim) >> book->shift; /* some were freed a little before */
        *next = now > LINK_BATCHES / 4 ? now - LINK_BATCHES / 4 : 0;
        OpenBook open = {link, book, v};
        g_array_append_val(domain->open, open);
    }
    if (G_UNLIKELY(batch - *next >= LINK_BATCHES)) {
        exchange_credit(domain, link, v, flits, 0, link_batch_ps(link->credit, batch));
        return;
    }
    link_credits_add(book, v, flits, batch);
}

guint32 exchange_slots(const Exchange *exchange)
{
    guint32 n = 0;
    for (guint32 s = 0; s < exchange->n; s++) {
        const LinkDomain *domain = &exchange->pair[s].side[EXCHANGE_SWITCH];
        n += domain->out[0].slots->len + domain->out[1].slots->len;
    }
    return n;
}

/* ---- life */

static gboolean exchange_refuse(GError **error, const char *what, const char *why)
{
    g_set_error(error, SIM_ERROR, SIM_ERROR_DOMAINS, "%s: %s; set it to what it is by default, or leave --cores away",
                what, why);
    return FALSE;
}

static void pair_init(ExchangePair *pair, Fabric *fabric, guint32 sw, Sim *far)
{
    pair->share = g_new0(GpuShare, fabric->spec.system.gpus);
    for (guint i = 0; i < EXCHANGE_SIDES; i++) {
        pair->data[i] = &fabric->data[i == EXCHANGE_GPUS ? 0 : sw + 1];
        pair->side[i] = (LinkDomain){.sim = i == EXCHANGE_GPUS ? fabric->sim : far, .first_ps = SIMTIME_NEVER,
                                     .open = g_array_new(FALSE, FALSE, sizeof(OpenBook))};
        pair->side[i].writing = pair->side[i].out;
        pair->side[i].late = (LateList){.link = g_ptr_array_new(), .rest = g_ptr_array_new()};
        for (guint w = 0; w < 2; w++) {
            pair->side[i].out[w].slots = g_array_new(FALSE, FALSE, sizeof(guint32));
            pair->side[i].out[w].ports = g_array_new(FALSE, FALSE, sizeof(guint32));
        }
    }
}

gboolean exchange_split(Fabric *fabric, GError **error)
{
    const LinkSpec *link = &fabric->spec.link;
    guint32 n = fabric->spec.system.links_per_switch.n;
    if (link->commit_ahead_ps || link->drain_ps)
        return exchange_refuse(error, link->commit_ahead_ps ? "[link] commit_ahead_ps" : "[link] drain_ps",
                               "several domains are exact");
    Exchange *exchange = g_aligned_alloc0(1, sizeof *exchange + n * sizeof *exchange->pair, G_ALIGNOF(Exchange));
    g_autofree Sim **far = g_new(Sim *, n);
    if (!sim_split(fabric->sim, n, far, link->flight_ps, &exchange_calls, exchange, error)) {
        g_aligned_free(exchange);
        return FALSE;
    }
    exchange->n = n;
    exchange->fabric = fabric;
    for (guint32 s = 0; s < n; s++)
        pair_init(&exchange->pair[s], fabric, s, far[s]);
    fabric->exchange = exchange;
    return TRUE;
}

gboolean exchange_check(const Fabric *fabric, GError **error)
{
    if (fabric->n_silent)
        return exchange_refuse(error, "[fault] gpu_silent", "several domains have no time-outs");
    return TRUE;
}

static void domain_clear(LinkDomain *domain, guint32 ports)
{
    for (guint w = 0; w < 2; w++) {
        g_free(domain->out[w].packets.at);
        g_free(domain->out[w].credits.at);
        g_array_free(domain->out[w].slots, TRUE);
        g_array_free(domain->out[w].ports, TRUE);
        for (guint32 p = 0; domain->out[w].replicas && p < ports; p++)
            g_free(domain->out[w].replicas[p].at);
        g_free(domain->out[w].replicas);
    }
    g_array_free(domain->open, TRUE);
    g_ptr_array_free(domain->late.link, TRUE);
    g_ptr_array_free(domain->late.rest, TRUE);
}

void exchange_free(Exchange *exchange)
{
    for (guint32 s = 0; s < exchange->n; s++) {
        for (guint i = 0; i < EXCHANGE_SIDES; i++)
            domain_clear(&exchange->pair[s].side[i], exchange->pair[s].ports);
        g_free(exchange->pair[s].share);
    }
    g_aligned_free(exchange);
}

static void exchange_link(ExchangePair *pair, Link *link, guint near)
{
    link->domain = &pair->side[near];
    link->far_domain = &pair->side[!near];
    link->sim = link->domain->sim;
    link->far_sim = link->far_domain->sim;
    link->rare |= LINK_LEAVES;
    link->odd |= LINK_FAR;
    link->book = link_credits_new(link, 2);
    for (guint i = 0; i < 2; i++) {
        link->book[i].shift = link->credit->shift;
        link->book[i].vc[VC_CREQ].next = link->book[i].vc[VC_RSP].next = LINK_BOOK_CLOSED;
    }
    for (unsigned v = 0; v < VCS; v++)
        link_set_freed(link, (Vc)v, link->book);
}

void exchange_take(Exchange *exchange, Switch *sw, guint32 port, Link *up, Link *down)
{
    up->switch_port = down->switch_port = port;
    ExchangePair *pair = &exchange->pair[sw->id];
    for (guint w = 0; w < 2 && pair->ports == 0; w++)
        pair->side[EXCHANGE_SWITCH].out[w].replicas = g_new0(ReplicaBox, sw->ports);
    pair->ports = sw->ports;
    pair->sw = sw;
    pair->link[EXCHANGE_GPUS] = sw->in;
    pair->link[EXCHANGE_SWITCH] = sw->out;
    exchange_link(pair, up, EXCHANGE_GPUS);
    exchange_link(pair, down, EXCHANGE_SWITCH);
}
