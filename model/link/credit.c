/* Credits of a link.
 *
 * The buffer's owner collects what is freed within a batch of time; the sender has it one flight after the
 * batch's end. Ports that free credits decide late (link_settle), so they come in any order; but a batch is
 * complete when the sender may use it, and its sum is the same in any order. */

#include "model/link/internal.h"

#include <string.h>

void link_collect_credits(Link *link, Vc v, SimTime at_ps)
{
    LinkCredits *credits = link->credit;
    LinkCredit *credit = &credits->vc[v];
    LinkReturnRing *far = &link->credit_far[v];
    guint64 end = at_ps > credits->delay_ps ? (at_ps - credits->delay_ps) >> credits->shift : 0;
    credit->due_ps = SIMTIME_NEVER;
    while (credit->full) {
        guint64 n = link_batch_first(credit);
        if (n >= end) {
            credit->due_ps = link_batch_ps(credits, n);
            break;
        }
        link->ring[v].credits += (gint32)link_credits_take(credits, v, n);
    }
    credit->next = MAX(credit->next, end);
    while (G_UNLIKELY(far->count) && link_return_peek(far)->at_ps <= at_ps) {
        link->ring[v].credits += (gint32)link_return_peek(far)->flits;
        link_return_drop(far);
    }
    if (G_UNLIKELY(far->count))
        credit->due_ps = MIN(credit->due_ps, link_return_peek(far)->at_ps);
}

/* The sender may wait for credits that come at at_ps, or somebody for what it sends with them. */
static inline void link_credit_wake(Link *link, Vc v, SimTime at_ps)
{
    if (link->someone_waits && v == VC_CREQ)
        link_send_by(link, at_ps);
    if (!(link->starved >> v & 1))
        return;
    if (!link->blocked) {
        link->starved &= (guint8) ~(1u << v);
    } else if (link->retry_ps > at_ps) {
        link->retry_ps = at_ps;
        link_send_by(link, at_ps);
    }
}

/* Of a batch that is out of reach. */
static G_GNUC_NO_INLINE void link_credit_far(LinkReturnRing *ring, guint32 flits, SimTime at_ps)
{
    guint32 n = ring->count;
    while (n > 0 && link_return_nth(ring, n - 1)->at_ps > at_ps)
        n--;
    if (n > 0 && link_return_nth(ring, n - 1)->at_ps == at_ps) {
        link_return_nth(ring, n - 1)->flits += flits;
        return;
    }
    link_return_push(ring);
    for (guint32 i = ring->count - 1; i > n; i--)
        *link_return_nth(ring, i) = *link_return_nth(ring, i - 1);
    *link_return_nth(ring, n) = (LinkReturn){at_ps, flits};
}

/* Moves the batches in reach on: the next decision comes no earlier than the wire is free, or somebody pushes. */
static void link_collect_ahead(Link *link, Vc v)
{
    SimTime free_ps = simfine_to_ps(link->free_at);
    link_collect_credits(link, v, link_is_unsettled(link) ? free_ps : MAX(free_ps, sim_now_ps(link->sim)));
}

static inline void link_credit_add(Link *link, Vc v, guint32 flits, guint64 n)
{
    LinkCredit *credit = &link->credit->vc[v];
    SimTime due_ps = link_batch_ps(link->credit, n);
    if (G_UNLIKELY(n - credit->next >= LINK_BATCHES))
        link_collect_ahead(link, v);
    if (G_UNLIKELY(n - credit->next >= LINK_BATCHES))
        link_credit_far(&link->credit_far[v], flits, due_ps);
    else
        link_credits_add(link->credit, v, flits, n);
    credit->due_ps = MIN(credit->due_ps, due_ps);
    link_credit_wake(link, v, due_ps);
}

void link_credit_odd(Link *link, Vc v, guint32 flits, SimTime at_ps)
{
    guint64 n = at_ps >> link->freed[v]->shift;
    if (link->far_domain)
        exchange_credit_first(link, v, flits, n);
    else
        link_credit_add(link, v, flits, n);
}

/* Nobody waits for credits but for the first ones. */
void link_credit_earlier(Link *link, Vc v, SimTime due_ps)
{
    link->credit->vc[v].due_ps = due_ps;
    link_credit_wake(link, v, due_ps);
}

void link_credit_return(Link *link, Vc v, guint32 flits, SimTime at_ps)
{
    const LinkCredits *credits = link->credit;
    link_credit_add(link, v, flits, ((at_ps - credits->delay_ps) >> credits->shift) - 1);
}

void link_credit_merge(Link *link, Vc v, LinkCredits *book)
{
    LinkCredits *credits = link->credit;
    LinkCredit *credit = &credits->vc[v], *from = &book->vc[v];
    guint64 first = link_batch_first(from);
    SimTime due_ps = link_batch_ps(credits, first);
    if (G_LIKELY(first >= credit->next && link_batch_last(from) - credit->next < LINK_BATCHES)) {
        guint32(*to)[VCS] = credits->batches->flits, (*at)[VCS] = book->batches->flits;
        for (guint64 full = from->full; full; full &= full - 1) {
            guint n = (guint)__builtin_ctzll(full);
            to[n][v] += at[n][v];
            at[n][v] = 0;
        }
        credit->full |= from->full;
        from->full = 0;
    }
    while (from->full) {
        guint64 n = link_batch_first(from);
        link_credit_add(link, v, link_credits_take(book, v, n), n);
    }
    from->next = LINK_BOOK_CLOSED;
    credit->due_ps = MIN(credit->due_ps, due_ps);
    link_credit_wake(link, v, due_ps);
}

void link_set_freed(Link *link, Vc v, LinkCredits *credits)
{
    link->freed[v] = credits;
    if (link->listed)
        (*link->listed)[v] = credits;
}

void link_list_freed(Link *link, LinkFreed *listed)
{
    link->listed = listed;
    memcpy(listed, link->freed, sizeof *listed);
}

LinkCredits *link_credits_new(Link *link, guint n)
{
    LinkCredits *credits = g_aligned_alloc0(n, sizeof *credits + sizeof(LinkBatches), G_ALIGNOF(LinkCredits));
    LinkBatches *batches = (LinkBatches *)(credits + n);
    for (guint i = 0; i < n; i++) {
        credits[i].batches = &batches[i];
        batches[i].link = link;
    }
    return credits;
}

void link_place_credits(Link *link, LinkCredits *credit, LinkBatches *batches)
{
    *credit = *link->credit;
    credit->batches = batches;
    batches->link = link;
    g_aligned_free(link->own_credit);
    link->own_credit = NULL;
    link->credit = link->freed[VC_CREQ] = link->freed[VC_RSP] = credit;
}

static guint64 link_credits_noted(const LinkCredits *credits, Vc v)
{
    guint64 flits = 0;
    for (guint32 n = 0; n < LINK_BATCHES; n++)
        flits += credits->batches->flits[n][v];
    return flits;
}

guint64 link_credits_flying(const Link *link, Vc v)
{
    const LinkReturnRing *far = &link->credit_far[v];
    guint64 flits = link_credits_noted(link->credit, v);
    for (guint i = 0; link->book && i < 2; i++)
        flits += link_credits_noted(&link->book[i], v);
    for (guint32 i = 0; i < far->count; i++)
        flits += link_return_nth(far, i)->flits;
    return flits;
}
