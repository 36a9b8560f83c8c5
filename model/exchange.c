#include "model/exchange.h"

#include "model/fabric.h"
#include "model/link_internal.h"
#include "sim/domain.h"

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
    domain->first_ps = MIN(domain->first_ps, at_ps);
    g_array_append_val(domain->writing->ports, port);
}

void exchange_leave(const Link *link, Vc v, Packet packet, SimTime at_ps)
{
    if (v == VC_CREQ && link->answers) {
        gboolean plain = packet.kind >= PACKET_MC_WRITE && replica_answer(packet.src) != REPLICA_BY_RECORD;
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

static void exchange_credit(LinkDomain *domain, const Link *link, Vc vc, guint32 flits, guint book, SimTime at_ps)
{
    Letter *letter = letter_box_add(&domain->writing->credits, link->switch_port, at_ps);
    letter->credit.flits = flits;
    letter->credit.vc = (guint16)vc;
    letter->credit.book = (guint16)book;
    domain->first_ps = MIN(domain->first_ps, at_ps);
}

void exchange_list_late(LinkDomain *domain, Link *link) { g_ptr_array_add(domain->late->link, link); }

/* Opens the window's book, and the batch in it. */
void exchange_credit_first(Link *link, Vc v, guint32 flits, guint64 batch)
{
    LinkDomain *domain = link->far_domain;
    LinkCredits *book = link->freed[v];
    if (book->next == LINK_BOOK_CLOSED) {
        guint64 now = sim_now_ps(link->far_sim) >> link->credit_shift; /* some were freed a little before */
        book->next = now > LINK_BATCHES / 4 ? now - LINK_BATCHES / 4 : 0;
        OpenBook open = {link, v};
        g_array_append_val(domain->open, open);
    }
    if (G_UNLIKELY(batch - book->next >= LINK_BATCHES)) {
        exchange_credit(domain, link, v, flits, 0, link_batch_ps(&link->credit[v], batch));
        return;
    }
    book->flits[batch % LINK_BATCHES] += flits;
    book->full |= (guint64)1 << batch % LINK_BATCHES;
}

/* ---- windows */

static void exchange_arrive(Link *link, Packet packet, SimTime at_ps)
{
    Vc v = packet_vc(&packet);
    LinkRing *ring = &link->far[v];
    if (ring->wire == ring->head) {
        gboolean replica = packet.kind >= PACKET_MC_WRITE && packet.kind <= PACKET_MC_READ;
        if (replica ? link_tell_replica(link, packet, at_ps) : link_tell_early(link, packet, at_ps))
            return;
        ring->wire = ring->head = 0;
        sim_at_key(link->far_sim, &link->vc[v].arrive, at_ps);
    }
    if (G_UNLIKELY(link_ring_is_full(ring, 0)))
        link_ring_grow(ring);
    *link_slot(ring, ring->wire++) = (LinkSlot){packet, (guint32)at_ps};
}

/* What a link's far ring holds goes before them. */
static void exchange_deliver_replicas(ExchangePair *pair, Outbox *out)
{
    for (guint i = 0; i < out->ports->len; i++) {
        guint32 port = g_array_index(out->ports, guint32, i);
        ReplicaBox *box = &out->replicas[port];
        Link *link = pair->link[EXCHANGE_SWITCH][port];
        const LinkRing *far = &link->far[VC_CREQ];
        if (box->n && far->wire == far->head)
            link_push_lane_all(link->answers, LINK_LANE_REQUESTS, box->at, box->n);
        else
            for (guint32 r = 0; r < box->n; r++)
                exchange_arrive(link, box->at[r].packet, box->at[r].at_ps);
        box->n = 0;
        box->closed = FALSE;
    }
    g_array_set_size(out->ports, 0);
}

#define DATA_KEPT 64 /* slots that the switches keep for their sums */

static void pair_deliver(ExchangePair *pair, guint side)
{
    guint which = (pair->side[side].window + 1) & 1; /* what the other one wrote before this window */
    Outbox *out = &pair->side[!side].out[which];
    const LetterBox packets = out->packets, credits = out->credits;
    if (side == EXCHANGE_GPUS)
        exchange_deliver_replicas(pair, out);
    for (guint32 i = 0; i < packets.n; i++) {
        const Letter *letter = &packets.at[i];
        exchange_arrive(pair->link[!side][letter->port], letter->packet, packets.first_ps + (SimTime)letter->later_ps);
    }
    for (guint32 i = 0; i < credits.n; i++) {
        const Letter *letter = &credits.at[i];
        Link *link = pair->link[side][letter->port];
        Vc v = (Vc)letter->credit.vc;
        if (G_UNLIKELY(letter->credit.flits))
            link_credit_return(link, v, letter->credit.flits, credits.first_ps + (SimTime)letter->later_ps);
        else
            link_credit_merge(link, v, &link->book[letter->credit.book][v]);
    }
    for (guint i = 0; i < out->slots->len; i++)
        data_give(pair->data[side], g_array_index(out->slots, guint32, i));
    out->packets.n = out->credits.n = 0;
    g_array_set_size(out->slots, 0);
}

/* Links that decide late, up to last_ps: when the first of them goes on. */
static SimTime late_close(LateList *late, SimTime last_ps)
{
    SimTime next_ps = SIMTIME_NEVER;
    guint kept = 0;
    for (guint i = 0; i < late->link->len; i++) {
        Link *link = late->link->pdata[i];
        SimTime due_ps = link_close(link, last_ps);
        if (due_ps == SIMTIME_NEVER)
            continue;
        next_ps = MIN(next_ps, due_ps);
        late->link->pdata[kept++] = link;
    }
    g_ptr_array_set_size(late->link, (gint)kept);
    late->kept = kept;
    return next_ps;
}

/* The other side empties it while this one writes the next. */
static void exchange_close_book(LinkDomain *domain, Link *link, Vc v)
{
    LinkCredits *book = link->freed[v];
    guint which = book == &link->book[1][v];
    if (book->full == 0) { /* all that was freed went by letters of its own */
        book->next = LINK_BOOK_CLOSED;
        return;
    }
    exchange_credit(domain, link, v, 0, which, link_batch_ps(&link->credit[v], link_batch_first(book)));
    link->freed[v] = &link->book[!which][v];
}

/* All decisions are made: when the earliest letter takes effect. */
static SimTime pair_close(ExchangePair *pair, guint side)
{
    LinkDomain *domain = &pair->side[side];
    for (guint i = 0; i < domain->open->len; i++) {
        const OpenBook *open = &g_array_index(domain->open, OpenBook, i);
        exchange_close_book(domain, open->link, open->vc);
    }
    g_array_set_size(domain->open, 0);
    for (DataPool *data = pair->data[side]; side == EXCHANGE_SWITCH && data->n_free > DATA_KEPT;)
        g_array_append_val(domain->writing->slots, data->free[--data->n_free]);
    SimTime first_ps = domain->first_ps;
    domain->first_ps = SIMTIME_NEVER;
    domain->writing = &domain->out[++domain->window & 1];
    return first_ps;
}

static void exchange_deliver(void *user, guint d)
{
    Exchange *exchange = user;
    if (d != 0) {
        pair_deliver(&exchange->pair[d - 1], EXCHANGE_SWITCH);
        return;
    }
    for (guint32 s = 0; s < exchange->n; s++)
        pair_deliver(&exchange->pair[s], EXCHANGE_GPUS);
}

static SimTime exchange_close(void *user, guint d, SimTime last_ps)
{
    Exchange *exchange = user;
    if (d != 0) {
        ExchangePair *pair = &exchange->pair[d - 1];
        SimTime next_ps = late_close(&pair->switch_late, last_ps), first_ps = pair_close(pair, EXCHANGE_SWITCH);
        return MIN(next_ps, first_ps);
    }
    SimTime next_ps = late_close(&exchange->gpus_late, last_ps);
    for (guint32 s = 0; s < exchange->n; s++) {
        SimTime first_ps = pair_close(&exchange->pair[s], EXCHANGE_GPUS);
        next_ps = MIN(next_ps, first_ps);
    }
    return next_ps;
}

static gboolean exchange_is_busy(void *user)
{
    const Exchange *exchange = user;
    gboolean busy = exchange->gpus_late.link->len > exchange->gpus_late.kept;
    for (guint32 s = 0; s < exchange->n && !busy; s++) {
        const LinkDomain *domain = &exchange->pair[s].side[EXCHANGE_GPUS];
        busy = domain->first_ps != SIMTIME_NEVER || domain->open->len;
    }
    return busy;
}

static const SimExchange exchange_calls = {exchange_deliver, exchange_close, exchange_is_busy};

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
    for (guint i = 0; i < EXCHANGE_SIDES; i++) {
        pair->data[i] = &fabric->data[i == EXCHANGE_GPUS ? 0 : sw + 1];
        pair->side[i] = (LinkDomain){.sim = i == EXCHANGE_GPUS ? fabric->sim : far, .first_ps = SIMTIME_NEVER,
                                     .open = g_array_new(FALSE, FALSE, sizeof(OpenBook))};
        pair->side[i].writing = pair->side[i].out;
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
    exchange->gpus_late.link = g_ptr_array_new();
    for (guint32 s = 0; s < n; s++) {
        ExchangePair *pair = &exchange->pair[s];
        pair_init(pair, fabric, s, far[s]);
        pair->switch_late.link = g_ptr_array_new();
        pair->side[EXCHANGE_GPUS].late = &exchange->gpus_late;
        pair->side[EXCHANGE_SWITCH].late = &pair->switch_late;
    }
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
}

void exchange_free(Exchange *exchange)
{
    for (guint32 s = 0; s < exchange->n; s++) {
        for (guint i = 0; i < EXCHANGE_SIDES; i++)
            domain_clear(&exchange->pair[s].side[i], exchange->pair[s].ports);
        g_ptr_array_free(exchange->pair[s].switch_late.link, TRUE);
    }
    g_ptr_array_free(exchange->gpus_late.link, TRUE);
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
    link->book = g_malloc0(2 * sizeof *link->book);
    for (guint i = 0; i < 2 * VCS; i++)
        link->book[i / VCS][i % VCS].next = LINK_BOOK_CLOSED;
    for (unsigned v = 0; v < VCS; v++)
        link->freed[v] = &link->book[0][v];
}

void exchange_take(Exchange *exchange, const Switch *sw, guint32 port, Link *up, Link *down)
{
    up->switch_port = down->switch_port = port;
    ExchangePair *pair = &exchange->pair[sw->id];
    for (guint w = 0; w < 2 && pair->ports == 0; w++)
        pair->side[EXCHANGE_SWITCH].out[w].replicas = g_new0(ReplicaBox, sw->ports);
    pair->ports = sw->ports;
    pair->link[EXCHANGE_GPUS] = sw->in;
    pair->link[EXCHANGE_SWITCH] = sw->out;
    exchange_link(pair, up, EXCHANGE_GPUS);
    exchange_link(pair, down, EXCHANGE_SWITCH);
}
