/* Credits of a link on their way back to its sender. */
#ifndef MODEL_LINK_CREDIT_H
#define MODEL_LINK_CREDIT_H

#include "model/link/packet.h"
#include "sim/engine/prefetch.h"
#include "sim/engine/simtime.h"

struct Link;

/* By the batch of time in which they were freed: batch n ends at (n + 1) << shift. Of the sender's domain alone; a
 * receiver in another one writes what it frees in a window into a book of the same form. Whoever frees some touches a
 * cache line of either part, whichever the channel; those of many links lie side by side, since a switch frees them at
 * random: a processor finds its way to a few dozens of pages at once. */
#define LINK_BATCHES 64u
typedef struct { /* of a channel */
    SimTime due_ps;     /* when the next ones come, as far as known; SIMTIME_NEVER: none are on their way */
    guint64 next;       /* the first batch that is not the sender's yet */
    guint64 full;       /* bit for each batch (modulo LINK_BATCHES) with credits */
} LinkCredit;
typedef struct {
    guint32 flits[LINK_BATCHES][VCS]; /* 0 where there are none */
    struct Link *link;                /* whose they are */
} __attribute__((aligned(64))) LinkBatches;
typedef struct {
    LinkCredit vc[VCS];
    guint32 delay_ps;   /* from the end of a batch to the sender */
    guint32 shift;
    LinkBatches *batches;
} __attribute__((aligned(64))) LinkCredits;
G_STATIC_ASSERT(sizeof(LinkCredits) == 64);
typedef LinkCredits *LinkFreed[VCS];  /* where a receiver puts what it frees: Link.credit, or its domain's book */

/* credit.c: what is rare. A batch out of reach, or the first of a window in another domain; credits that come
 * before all others known. */
void link_credit_odd(struct Link *link, Vc vc, guint32 flits, SimTime at_ps);
void link_credit_earlier(struct Link *link, Vc vc, SimTime due_ps);

/* When the sender has those of batch n, and those that are freed at at_ps. */
static inline SimTime link_batch_ps(const LinkCredits *credits, guint64 n)
{
    return ((n + 1) << credits->shift) + credits->delay_ps;
}
static inline SimTime link_credits_due_ps(const LinkCredits *credits, SimTime at_ps)
{
    return link_batch_ps(credits, at_ps >> credits->shift);
}

static inline void link_credits_add(LinkCredits *credits, Vc v, guint32 flits, guint64 n) /* to a batch in reach */
{
    credits->batches->flits[n % LINK_BATCHES][v] += flits;
    credits->vc[v].full |= (guint64)1 << n % LINK_BATCHES;
}
/* Those of a batch. */
static inline guint32 link_credits_take(LinkCredits *credits, Vc v, guint64 n)
{
    guint32 *at = &credits->batches->flits[n % LINK_BATCHES][v], flits = *at;
    *at = 0;
    credits->vc[v].full &= ~((guint64)1 << n % LINK_BATCHES);
    return flits;
}
/* What some that are freed at about at_ps, the first of a window, will change. */
static inline void link_credits_fetch(const LinkCredits *credits, SimTime at_ps)
{
    fetch_lines(credits->batches->flits[(at_ps >> credits->shift) % LINK_BATCHES], 2);
    fetch_lines(&credits->batches->link, 1);
}
static inline gboolean link_credits_reach(const LinkCredits *credits, Vc v, SimTime at_ps)
{
    return G_LIKELY((at_ps >> credits->shift) - credits->vc[v].next < LINK_BATCHES);
}
/* The receiver freed `flits` of its buffer of a channel at at_ps (now, before or after). They are the sender's one
 * flight after the end of the batch of time in which at_ps lies, whichever order the calls come in. In steps, for who
 * frees several in order of time: those that link_credits_reach() may be noted, and afterwards the first time of all is
 * announced. Others are for link_credits_free(), once that is done. */
static inline void link_credits_note(LinkCredits *credits, Vc v, guint32 flits, SimTime at_ps)
{
    link_credits_add(credits, v, flits, at_ps >> credits->shift);
}
static inline void link_credits_announce(const LinkCredits *credits, Vc v, SimTime first_ps)
{
    SimTime due_ps = link_credits_due_ps(credits, first_ps);
    if (G_UNLIKELY(due_ps < credits->vc[v].due_ps)) /* never so of a book */
        link_credit_earlier(credits->batches->link, v, due_ps);
}
static inline void link_credits_free(LinkCredits *credits, Vc v, guint32 flits, SimTime at_ps)
{
    if (!link_credits_reach(credits, v, at_ps)) {
        link_credit_odd(credits->batches->link, v, flits, at_ps);
        return;
    }
    link_credits_note(credits, v, flits, at_ps);
    link_credits_announce(credits, v, at_ps);
}

#endif
