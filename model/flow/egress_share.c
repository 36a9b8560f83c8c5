/* See egress_share.h. What was simulated is known from then on. */
#include "model/flow/egress_replay.h"

#include <string.h>

typedef struct {
    PortSide asked[2]; /* stores and loads, issue_ps in steps */
    PortShare share;
} PortKnown;

struct PortShares {
    const Fabric *fabric;
    GArray *kinds;
    GHashTable *known; /* PortKnown, by what was asked */
};

static guint known_hash(gconstpointer key)
{
    const PortSide *side = key;
    return ((side[0].kind * 131 + side[0].sms) * 131 + side[0].issue_ps) * 131 + side[1].kind * 131 + side[1].sms;
}

static gboolean known_equal(gconstpointer a, gconstpointer b) { return memcmp(a, b, 2 * sizeof(PortSide)) == 0; }

PortShares *port_shares_new(const Fabric *fabric)
{
    PortShares *shares = g_new0(PortShares, 1);
    shares->fabric = fabric;
    shares->kinds = g_array_new(FALSE, FALSE, sizeof(PortKind));
    shares->known = g_hash_table_new_full(known_hash, known_equal, g_free, NULL);
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

static PortReplayed port_replayed(const PortShares *shares, PortSide *side)
{
    guint32 steps = MAX((side->issue_ps + PORT_ISSUE_STEP_PS / 2) / PORT_ISSUE_STEP_PS, 1);
    side->issue_ps = side->sms ? steps * PORT_ISSUE_STEP_PS : 0;
    return (PortReplayed){side->sms, side->issue_ps, port_kind_of(shares, side->kind)};
}

PortShare port_share_mixed(PortShares *shares, const PortSide *stores, const PortSide *loads)
{
    PortSide asked[2] = {*stores, *loads};
    const PortReplayed storing = port_replayed(shares, &asked[0]), loading = port_replayed(shares, &asked[1]);
    PortKnown *known = g_hash_table_lookup(shares->known, asked);
    if (!known) {
        known = g_new(PortKnown, 1);
        memcpy(known->asked, asked, sizeof asked);
        known->share = port_play(shares->fabric, &storing, &loading);
        g_hash_table_add(shares->known, known);
    }
    return known->share;
}

PortShare port_share(PortShares *shares, guint32 sms, guint64 issue_ps, guint32 kind)
{
    static const PortSide none;
    if ((guint64)sms * port_kind_of(shares, kind)->packet_ps * 4 < issue_ps * shares->fabric->links)
        return (PortShare){.per_mille = 1000}; /* ports have little to do */
    return port_share_mixed(shares, &(PortSide){sms, (guint32)issue_ps, kind}, &none);
}

guint32 port_share_links(PortShares *shares, guint32 sms, guint64 issue_ps, guint32 kind)
{
    guint32 per_mille = port_share(shares, sms, issue_ps, kind).per_mille;
    const PortKind *how = port_kind_of(shares, kind);
    guint64 wanted = (guint64)sms * how->packet_ps * 1000 / (issue_ps * shares->fabric->links); /* of ports */
    if (per_mille >= 999 && wanted < 1000)
        return PORT_ALL;
    return (guint32)(MIN(wanted, 1000) * per_mille * how->link_ps / how->packet_ps);
}
