/* See load_rate.h. What was simulated is known from then on. */
#include "model/flow/load_replay.h"

#include <string.h>

#define LOAD_FAR_PERCENT 85u /* of links busy: with less it is not them that hold loads up */

typedef struct {
    LoadKind kind;
    guint32 one, all; /* shares of one CTA and of all; 0: not simulated yet */
    guint32 *weight;  /* then, by CTA */
} LoadKnown;

struct LoadShares {
    const Fabric *fabric;
    GArray *known;
};

LoadShares *load_shares_new(const Fabric *fabric)
{
    LoadShares *shares = g_new0(LoadShares, 1);
    shares->fabric = fabric;
    shares->known = g_array_new(FALSE, FALSE, sizeof(LoadKnown));
    return shares;
}

void load_shares_free(LoadShares *shares)
{
    for (guint k = 0; k < shares->known->len; k++)
        g_free(g_array_index(shares->known, LoadKnown, k).weight);
    g_array_free(shares->known, TRUE);
    g_free(shares);
}

guint32 load_kind(LoadShares *shares, const LoadKind *kind)
{
    LoadKnown known = {.kind = *kind};
    for (guint k = 0; k < shares->known->len; k++)
        if (memcmp(&g_array_index(shares->known, LoadKnown, k).kind, kind, sizeof *kind) == 0)
            return k;
    g_array_append_val(shares->known, known);
    return shares->known->len - 1;
}

static const LoadKnown *load_known(LoadShares *shares, guint32 kind)
{
    LoadKnown *known = &g_array_index(shares->known, LoadKnown, kind);
    if (known->all == 0) {
        known->weight = g_new(guint32, known->kind.ctas);
        known->all = MAX(load_play(shares->fabric, known->kind.ctas, &known->kind, known->weight), 1);
        known->one = known->kind.ctas > 1 ? MAX(load_play(shares->fabric, 1, &known->kind, NULL), 1) : known->all;
    }
    return known;
}

static gboolean load_is_far(const LoadKnown *known) { return known->all < LOAD_ALL / 100 * LOAD_FAR_PERCENT; }

guint32 load_share_links(LoadShares *shares, guint32 ctas, guint32 kind)
{
    const LoadKnown *known = load_known(shares, kind);
    guint64 alone = (guint64)ctas * known->one;
    return alone < known->all || load_is_far(known) ? LOAD_ALL : known->all;
}

guint64 load_share_limit(LoadShares *shares, guint32 kind)
{
    const LoadKnown *known = load_known(shares, kind);
    guint64 flits = shares->fabric->spec.link.rate_MBps * 1000000u / FLIT_BYTES * shares->fabric->links; /* a second */
    guint32 share = load_is_far(known) ? MIN(known->one, known->all / known->kind.ctas) : known->one;
    return flits / (LOAD_ANSWER_FLITS + 1) * share / LOAD_ALL / known->kind.peers;
}

guint32 load_share_weight(LoadShares *shares, guint32 kind, guint32 cta)
{
    const LoadKnown *known = load_known(shares, kind);
    return cta < known->kind.ctas ? known->weight[cta] : LOAD_EVEN;
}
