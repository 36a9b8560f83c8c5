/* See port_share.h. What was played is known from then on. */
#include "model/port_play.h"

#include <string.h>

typedef struct {
    guint32 kind, sms, steps;
    PortShare share;
} PortKnown;

struct PortShares {
    const Fabric *fabric;
    GArray *kinds, *known;
};

PortShares *port_shares_new(const Fabric *fabric)
{
    PortShares *shares = g_new0(PortShares, 1);
    shares->fabric = fabric;
    shares->kinds = g_array_new(FALSE, FALSE, sizeof(PortKind));
    shares->known = g_array_new(FALSE, FALSE, sizeof(PortKnown));
    return shares;
}

void port_shares_free(PortShares *shares)
{
    g_array_free(shares->kinds, TRUE);
    g_array_free(shares->known, TRUE);
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

PortShare port_share(PortShares *shares, guint32 sms, guint64 issue_ps, guint32 kind)
{
    const PortKind *how = &g_array_index(shares->kinds, PortKind, kind);
    guint64 steps = MAX((issue_ps + PORT_ISSUE_STEP_PS / 2) / PORT_ISSUE_STEP_PS, 1);
    PortKnown asked = {.kind = kind, .sms = sms, .steps = (guint32)steps, .share.per_mille = 1000};
    if ((guint64)sms * how->packet_ps * 4 < issue_ps * shares->fabric->links * 3) /* far from filling the ports */
        return asked.share;
    for (guint i = 0; i < shares->known->len; i++) {
        const PortKnown *known = &g_array_index(shares->known, PortKnown, i);
        if (known->sms == sms && known->steps == asked.steps && known->kind == kind)
            return known->share;
    }
    asked.share = port_play(shares->fabric, sms, steps * PORT_ISSUE_STEP_PS, how);
    g_array_append_val(shares->known, asked);
    return asked.share;
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
