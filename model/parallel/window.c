/* What is done as a window begins and ends, for each domain: see mailbox.h. */
#include <stdatomic.h>

#include "model/fastpath/early.h"
#include "model/fastpath/gpu_replicas.h"
#include "model/link/internal.h"
#include "model/parallel/mailbox.h"
#include "sim/engine/domain.h"
#include "sim/engine/prefetch.h"

/* What another processor may have is asked for so many books, records or letters before its turn, and so many more
 * where that is but the way to what is needed: a letter is read in less time than it takes to come by a line. */
#define BOOKS_AHEAD 8u
#define RECORDS_AHEAD 8u
#define LETTERS_AHEAD 16u

/* ---- its begin: what the other side wrote in the one before */

/* An answer that is only counted is so in line. */
static ALWAYS_INLINE gboolean exchange_tell(Link *link, Packet packet, SimTime at_ps)
{
    if (packet.kind >= PACKET_MC_WRITE && packet.kind <= PACKET_MC_READ)
        return link_tell_replica(link, packet, at_ps);
    if (!packet_is_counted(packet))
        return link_tell_early(link, packet, at_ps);
    return (link->early_kinds >> packet.kind & 1) &&
           switch_count_here(((SwitchPort *)link->sink_node)->sw, link, packet, at_ps, TRUE);
}

static ALWAYS_INLINE void exchange_arrive(Link *link, Packet packet, SimTime at_ps)
{
    Vc v = packet_vc(&packet);
    LinkRing *ring = &link->far[v];
    if (ring->wire == ring->head) {
        if (exchange_tell(link, packet, at_ps))
            return;
        ring->wire = ring->head = 0;
        sim_at_key(link->far_sim, &link->vc[v].arrive, at_ps);
    }
    if (G_UNLIKELY(link_ring_is_full(ring, 0)))
        link_ring_grow(ring);
    *link_slot(ring, ring->wire++) = (LinkSlot){packet, (guint32)at_ps};
}

/* What comes to it before a window begins changes nothing but the port: it needs no event. */
static gboolean exchange_is_apart(const Link *link)
{
    return link->late && (link->blocked | link->someone_waits) == 0 && link->in_time == 0;
}

/* What a link's far ring holds goes before them. apart: those to ports for which nothing else is touched. */
static void exchange_deliver_replicas(ExchangePair *pair, Outbox *out, gboolean apart)
{
    guint32 *ports = (guint32 *)(gpointer)out->ports->data, left = 0;
    for (guint i = 0; i < out->ports->len; i++) {
        ReplicaBox *box = &out->replicas[ports[i]];
        Link *link = pair->link[EXCHANGE_SWITCH][ports[i]];
        const LinkRing *far = &link->far[VC_CREQ];
        gboolean lane = box->n && far->wire == far->head;
        if (apart && !(lane && exchange_is_apart(link->answers))) {
            ports[left++] = ports[i];
            continue;
        }
        if (lane)
            link_push_lane_all(link->answers, LINK_LANE_REQUESTS, box->at, box->n);
        else
            for (guint32 r = 0; r < box->n; r++)
                exchange_arrive(link, box->at[r].packet, box->at[r].at_ps);
        box->n = 0;
        box->closed = FALSE;
    }
    g_array_set_size(out->ports, left);
}

/* What a letter of credits changes: the link's own account, and the book. */
static void exchange_fetch_credits(const ExchangePair *pair, guint side, const LetterBox *box, guint32 i)
{
    if (i + 3 * BOOKS_AHEAD < box->n) {
        const Link *link = pair->link[side][box->at[i + 3 * BOOKS_AHEAD].port];
        fetch_lines(&link->source_node, 1);
        fetch_lines(&link->book, 1);
    }
    if (i + 2 * BOOKS_AHEAD < box->n) {
        const Letter *letter = &box->at[i + 2 * BOOKS_AHEAD];
        const Link *link = pair->link[side][letter->port];
        fetch_lines(&link->book[letter->credit.book], 1);
        fetch_lines(link->credit, 1);
    }
    if (i + BOOKS_AHEAD < box->n) {
        const Letter *letter = &box->at[i + BOOKS_AHEAD];
        const Link *link = pair->link[side][letter->port];
        const LinkCredits *book = &link->book[letter->credit.book];
        if (letter->credit.flits == 0) { /* its first batches, there and here */
            guint32 batch = (guint32)link_batch_first(&book->vc[letter->credit.vc]) % LINK_BATCHES;
            fetch_lines(book->batches->flits[batch], 2);
            fetch_lines(link->credit->batches->flits[batch], 2);
        }
    }
}

static void exchange_deliver_credits(ExchangePair *pair, guint side, LetterBox *box, gboolean apart)
{
    guint32 left = 0;
    for (guint32 i = 0; i < box->n; i++) {
        const Letter *letter = &box->at[i];
        Link *link = pair->link[side][letter->port];
        Vc v = (Vc)letter->credit.vc;
        exchange_fetch_credits(pair, side, box, i);
        if (apart && !exchange_is_apart(link))
            box->at[left++] = *letter;
        else if (G_UNLIKELY(letter->credit.flits))
            link_credit_return(link, v, letter->credit.flits, box->first_ps + (SimTime)letter->later_ps);
        else
            link_credit_merge(link, v, &link->book[letter->credit.book]);
    }
    box->n = left;
}

/* What the other one wrote in a window. */
static inline Outbox *exchange_outbox(ExchangePair *pair, guint side, guint32 window)
{
    return &pair->side[!side].out[window & 1];
}

static inline const Link *exchange_next_link(Link *const *link, const Letter *letter, guint32 left, guint32 ahead)
{
    gboolean other = left > ahead && letter[ahead].port != letter[ahead - 1].port;
    return G_UNLIKELY(other) ? link[letter[ahead].port] : NULL;
}

/* What the letters of the next port need, each look for what the one before has brought: the link, the book that its
 * credits go in, and of that the batch. */
static ALWAYS_INLINE void exchange_fetch_links(Link *const *links, const Letter *letter, guint32 left, SimTime first_ps)
{
    const Link *link = exchange_next_link(links, letter, left, 3 * LETTERS_AHEAD);
    if (link) {
        fetch_lines(&link->source_node, 1);
        fetch_lines(&link->freed, 1);
        fetch_lines(link->far, 1);
    }
    link = exchange_next_link(links, letter, left, 2 * LETTERS_AHEAD);
    if (link) {
        fetch_lines(link->sink_node, 1);
        fetch_lines(link->freed[VC_RSP], 1);
    }
    link = exchange_next_link(links, letter, left, LETTERS_AHEAD);
    if (link)
        link_credits_fetch(link->freed[VC_RSP], first_ps + (SimTime)letter[LETTERS_AHEAD].later_ps);
}

/* side: who gets them. Most letters to a switch are answers to replicas, each of which needs its record. */
static ALWAYS_INLINE void exchange_deliver_packets(ExchangePair *pair, guint side, const LetterBox *box)
{
    for (guint32 i = 0; i < box->n; i++) {
        const Letter *letter = &box->at[i];
        exchange_fetch_links(pair->link[!side], letter, box->n - i, box->first_ps);
        if (side == EXCHANGE_SWITCH && i + RECORDS_AHEAD < box->n)
            __builtin_prefetch(&pair->sw->record[letter[RECORDS_AHEAD].packet.txn], 1);
        exchange_arrive(pair->link[!side][letter->port], letter->packet, box->first_ps + (SimTime)letter->later_ps);
    }
}

#define DATA_KEPT 64 /* slots that the switches keep for their sums */

static void pair_deliver(ExchangePair *pair, guint side)
{
    Outbox *out = exchange_outbox(pair, side, pair->side[side].window - 1);
    if (side == EXCHANGE_GPUS)
        exchange_deliver_replicas(pair, out, FALSE);
    exchange_deliver_packets(pair, side, &out->packets);
    exchange_deliver_credits(pair, side, &out->credits, FALSE);
    for (guint i = 0; i < out->slots->len; i++)
        data_give(pair->data[side], g_array_index(out->slots, guint32, i));
    out->packets.n = 0;
    g_array_set_size(out->slots, 0);
}

/* ---- links that decide late */

static void late_begin(LateList *late)
{
    late->at = late->kept = 0;
    late->next_ps = SIMTIME_NEVER;
}

/* It has decided, up to then; due_ps: and goes on. */
static void late_keep(LateList *late, Link *link, SimTime due_ps)
{
    if (due_ps == SIMTIME_NEVER)
        return;
    late->next_ps = MIN(late->next_ps, due_ps);
    late->link->pdata[late->kept++] = link;
}

/* Those that are left, up to last_ps. */
static void late_go_through(LateList *late, SimTime last_ps)
{
    for (; late->at < late->link->len; late->at++) {
        Link *link = late->link->pdata[late->at];
        late_keep(late, link, link_close(link, last_ps));
    }
}

static SimTime late_end(LateList *late)
{
    g_ptr_array_set_size(late->link, (gint)late->kept);
    return late->next_ps;
}

/* Batch by batch: the window's letter for a whole book of that link may have gone already. */
static void exchange_close_leaves(LinkDomain *domain, const OpenBook *open)
{
    LinkCredit *credit = &open->book->vc[open->vc];
    while (credit->full) {
        guint64 batch = link_batch_first(credit);
        guint32 flits = link_credits_take(open->book, open->vc, batch);
        exchange_credit(domain, open->link, open->vc, flits, 0, link_batch_ps(open->link->credit, batch));
    }
    credit->next = LINK_BOOK_CLOSED;
}

/* The other side empties it while this one writes the next, of both channels, which share cache lines. */
static void exchange_close_book(LinkDomain *domain, const OpenBook *open)
{
    Link *link = open->link;
    LinkCredit *credit = &open->book->vc[open->vc];
    guint which = open->book == &link->book[1];
    if (credit->full == 0) { /* all that was freed went by letters of its own */
        credit->next = LINK_BOOK_CLOSED;
        return;
    }
    exchange_credit(domain, link, open->vc, 0, which, link_batch_ps(link->credit, link_batch_first(credit)));
    for (unsigned v = 0; v < VCS; v++)
        link_set_freed(link, (Vc)v, &link->book[!which]);
}

/* Of all credits freed so far. What is freed after that, by ports that could not be settled apart, goes batch by batch,
 * as the books are closed once more. */
static void exchange_close_books(LinkDomain *domain)
{
    for (guint i = 0; i < domain->open->len; i++) {
        const OpenBook *open = &g_array_index(domain->open, OpenBook, i);
        if (i + BOOKS_AHEAD < domain->open->len)
            fetch_lines(open[BOOKS_AHEAD].book, 1);
        if (G_UNLIKELY(domain->is_closed))
            exchange_close_leaves(domain, open);
        else
            exchange_close_book(domain, open);
    }
    g_array_set_size(domain->open, 0);
    domain->is_closed = TRUE;
}

/* The switch is through with the window, and nobody touches it before the next one. */
static gboolean exchange_is_at_rest(ExchangePair *pair)
{
    return atomic_load_explicit(&pair->closed, memory_order_acquire) == pair->side[EXCHANGE_GPUS].window + 1;
}

/* What a switch at rest has written in this window for ports that are apart. */
static void exchange_deliver_apart(ExchangePair *pair)
{
    Outbox *out = exchange_outbox(pair, EXCHANGE_GPUS, pair->side[EXCHANGE_GPUS].window);
    exchange_deliver_replicas(pair, out, TRUE);
    exchange_deliver_credits(pair, EXCHANGE_GPUS, &out->credits, TRUE);
}

/* Ports of the GPUs, of one switch: what they can do on any thread. */
static void exchange_share(void *user, guint d, SimTime last_ps)
{
    Exchange *exchange = user;
    ExchangePair *pair = &exchange->pair[d - 1];
    LateList *late = &pair->side[EXCHANGE_GPUS].late;
    gboolean at_rest = exchange_is_at_rest(pair);
    for (guint i = 0; i < late->link->len; i++) {
        Link *link = late->link->pdata[i];
        const Gpu *gpu = link->source_node;
        for (guint ahead = 1; ahead <= GPU_REPLICAS_FETCHES && i + ahead < late->link->len; ahead++)
            gpu_replicas_fetch(late->link->pdata[i + ahead], ahead, at_rest);
        if (gpu_settle_replicas_apart(link, last_ps, &pair->share[gpu->id], at_rest))
            late_keep(late, link, link_closed_ps(link));
        else
            g_ptr_array_add(late->rest, link);
    }
    late->at = late->kept;
    for (guint i = 0; i < late->rest->len; i++)
        late->link->pdata[late->kept + i] = late->rest->pdata[i];
    g_ptr_array_set_size(late->link, (gint)(late->kept + late->rest->len));
    exchange_close_books(&pair->side[EXCHANGE_GPUS]); /* what the rest may free goes one by one */
    g_ptr_array_set_size(late->rest, 0);
    if (at_rest || exchange_is_at_rest(pair))
        exchange_deliver_apart(pair);
}

static gboolean exchange_share_out(void *user, SimTime last_ps)
{
    Exchange *exchange = user;
    Fabric *fabric = exchange->fabric;
    guint late = 0;
    for (guint32 s = 0; s < exchange->n; s++) {
        LateList *list = &exchange->pair[s].side[EXCHANGE_GPUS].late;
        late_begin(list);
        late += list->link->len;
    }
    exchange->is_shared = late != 0;
    if (!exchange->is_shared)
        return FALSE;
    for (guint32 g = 0; g < fabric->spec.system.gpus; g++)
        gpu_share_open(&fabric->gpu[g], last_ps);
    return TRUE;
}

static SimTime exchange_close_gpus(Exchange *exchange, SimTime last_ps)
{
    Fabric *fabric = exchange->fabric;
    SimTime next_ps = SIMTIME_NEVER;
    for (gboolean more = TRUE; more;) {
        more = FALSE;
        for (guint32 s = 0; s < exchange->n; s++) {
            LateList *late = &exchange->pair[s].side[EXCHANGE_GPUS].late;
            more = more || late->at < late->link->len;
            late_go_through(late, last_ps);
        }
    }
    for (guint32 s = 0; s < exchange->n; s++) {
        ExchangePair *pair = &exchange->pair[s];
        next_ps = MIN(next_ps, late_end(&pair->side[EXCHANGE_GPUS].late));
        for (guint32 g = 0; exchange->is_shared && g < fabric->spec.system.gpus; g++)
            gpu_share_close(&fabric->gpu[g], &pair->share[g], last_ps);
    }
    return next_ps;
}

/* All decisions are made: when the earliest letter takes effect. */
static SimTime pair_close(ExchangePair *pair, guint side)
{
    LinkDomain *domain = &pair->side[side];
    exchange_close_books(domain);
    for (DataPool *data = pair->data[side]; side == EXCHANGE_SWITCH && data->n_free > DATA_KEPT;)
        g_array_append_val(domain->writing->slots, data->free[--data->n_free]);
    domain->is_closed = FALSE;
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
        LateList *late = &pair->side[EXCHANGE_SWITCH].late;
        late_begin(late);
        late_go_through(late, last_ps);
        SimTime next_ps = late_end(late), first_ps = pair_close(pair, EXCHANGE_SWITCH);
        atomic_store_explicit(&pair->closed, pair->side[EXCHANGE_SWITCH].window, memory_order_release);
        return MIN(next_ps, first_ps);
    }
    SimTime next_ps = exchange_close_gpus(exchange, last_ps);
    for (guint32 s = 0; s < exchange->n; s++) {
        SimTime first_ps = pair_close(&exchange->pair[s], EXCHANGE_GPUS);
        next_ps = MIN(next_ps, first_ps);
    }
    return next_ps;
}

static gboolean exchange_is_busy(void *user)
{
    const Exchange *exchange = user;
    gboolean busy = FALSE;
    for (guint32 s = 0; s < exchange->n && !busy; s++) {
        const LinkDomain *domain = &exchange->pair[s].side[EXCHANGE_GPUS];
        busy = domain->first_ps != SIMTIME_NEVER || domain->open->len || domain->late.link->len > domain->late.kept;
    }
    return busy;
}

const SimExchange exchange_calls = {
    .deliver = exchange_deliver, .share_out = exchange_share_out, .share = exchange_share, .close = exchange_close,
    .is_busy = exchange_is_busy};
