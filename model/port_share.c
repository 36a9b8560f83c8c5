/* See port_share.h. What was played is known from then on. */
#include "model/port_play.h"

#include <string.h>

typedef struct {
    guint64 asked; /* kind, SMs and steps */
    PortShare share;
} PortKnown;

struct PortShares {
    const Fabric *fabric;
    GArray *kinds;
    GHashTable *known; /* PortKnown, by what was asked */
};

PortShares *port_shares_new(const Fabric *fabric)
{
    PortShares *shares = g_new0(PortShares, 1);
    shares->fabric = fabric;
    shares->kinds = g_array_new(FALSE, FALSE, sizeof(PortKind));
    shares->known = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    return shares;
}

void port_shares_free(PortShares *shares)
{
    g_array_free(shares->kinds, TRUE);
    g_hash_table_destroy(shares->known);
    g_free(shares);
}

guint32 port_kind(PortShares *shares, const PortKind *kind)
{
    for (guint k = 0; k < shares->kinds->len; k++)
        if (memcmp(&g_array_index(shares->kinds, PortKind, k), kind, sizeof *kind) == 0)
            return k;
    g_array_append_val(shares->kinds, *kind);
    return shares->kinds->len - 1;
}

const PortKind *port_kind_of(const PortShares *shares, guint32 kind)
{
    return &g_array_index(shares->kinds, PortKind, kind);
}

PortShare port_share(PortShares *shares, guint32 sms, guint64 issue_ps, guint32 kind)
{
    const PortKind *how = &g_array_index(shares->kinds, PortKind, kind);
    guint64 steps = MAX((issue_ps + PORT_ISSUE_STEP_PS / 2) / PORT_ISSUE_STEP_PS, 1);
    guint64 asked = (guint64)kind << 40 | (guint64)sms << 20 | steps;
    if ((guint64)sms * how->packet_ps * 4 < issue_ps * shares->fabric->links) /* ports have little to do */
        return (PortShare){.per_mille = 1000};
    g_assert(sms < 1u << 20 && steps < 1u << 20);
    PortKnown *known = g_hash_table_lookup(shares->known, &asked);
    if (!known) {
        known = g_new(PortKnown, 1);
        *known = (PortKnown){asked, port_play(shares->fabric, sms, steps * PORT_ISSUE_STEP_PS, how)};
        g_hash_table_add(shares->known, known);
    }
    return known->share;
}

guint32 port_share_links(PortShares *shares, guint32 sms, guint64 issue_ps, guint32 kind)
{
    guint32 per_mille = port_share(shares, sms, issue_ps, kind).per_mille;
    const PortKind *how = &g_array_index(shares->kinds, PortKind, kind);
    guint64 wanted = (guint64)sms * how->packet_ps * 1000 / (issue_ps * shares->fabric->links); /* of ports */
    if (per_mille >= 999 && wanted < 1000)
        return PORT_ALL;
    return (guint32)(MIN(wanted, 1000) * per_mille * how->link_ps / how->packet_ps);
}
