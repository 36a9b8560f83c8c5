/* How busy links were, several at a time. */
#ifndef OBSERVE_SERIES_USE_H
#define OBSERVE_SERIES_USE_H

#include "model/link/link.h"

typedef struct {
    guint n;
    double sum_pct, least_pct, most_pct; /* of the time in which each carried flits */
    guint64 packets, flits;
    gboolean down; /* one is */
} LinksUse;

static inline void links_use_add(LinksUse *use, const Link *link, SimTime passed_ps)
{
    const guint64 flits = link_flits_total(link);
    const double busy_ps = (double)flits * (double)link->flit_time / (double)(1u << SIMFINE_SHIFT);
    const double pct = passed_ps ? MIN(100 * busy_ps / (double)passed_ps, 100) : 0;
    use->least_pct = use->n ? MIN(use->least_pct, pct) : pct;
    use->most_pct = MAX(use->most_pct, pct);
    use->sum_pct += pct;
    use->n++;
    use->packets += link_packets_total(link);
    use->flits += flits;
    use->down |= link->down != LINK_UP;
}

static inline double links_use_mean(const LinksUse *use) { return use->n ? use->sum_pct / use->n : 0; }

#endif
