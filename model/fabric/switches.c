/* Ports, trunks and routes.
 *
 * Routes are up and down: from its leaf a packet goes at most once up, to a spine that has a trunk to the leaf of its
 * destination, and once down. Which trunk it takes depends on the destination's port at its leaf alone, so that packets
 * of one requester to one link of a GPU stay in order, and the GPUs of a leaf share its trunks evenly. */
#include "model/fabric/switches.h"
#include "model/link/down.h"

#include <string.h>

#include "model/parallel/parallel.h"

/* ---- ports */

/* Which links of GPUs pass each switch: those of its own GPUs, or of the leaves below it. */
static void switches_count_links(Fabric *fabric, guint8 *passes, guint32 *ports)
{
    const Topology *topology = fabric->topology;
    const guint32 links = fabric->links;
    for (gsize i = 0; i < (gsize)topology->gpus * links; i++)
        if (topology->leaf[i] != TOPOLOGY_NONE) {
            passes[(gsize)topology->leaf[i] * links + i % links] = TRUE;
            ports[topology->leaf[i]]++;
        }
    for (guint i = 0; i < topology->trunks->len; i++) {
        const Trunk *trunk = &g_array_index(topology->trunks, Trunk, i);
        for (guint32 l = 0; l < links; l++)
            passes[(gsize)trunk->spine * links + l] |= passes[(gsize)trunk->leaf * links + l];
        ports[trunk->leaf]++;
        ports[trunk->spine]++;
    }
}

static void switches_init_one(Fabric *fabric, guint32 s, const guint8 *passes, guint32 ports)
{
    Switch *sw = &fabric->sw[s];
    const guint32 gpus = (guint32)fabric->spec.system.gpus;
    Sim *sim = fabric->parallel ? parallel_sim(fabric->parallel, s) : fabric->sim;
    DataPool *data = fabric->parallel ? parallel_data(fabric->parallel, s) : fabric->data;
    switch_init(sw, fabric, sim, data, s, ports, topology_switch_name(fabric->topology, s));
    sw->spine = s >= fabric->topology->leaves;
    sw->link_rail = g_new(guint8, fabric->links);
    memset(sw->link_rail, SWITCH_NO_LINK, fabric->links);
    for (guint32 l = 0; l < fabric->links; l++)
        if (passes[l])
            sw->link_rail[l] = (guint8)sw->links++;
    sw->route = g_new(guint16, (gsize)gpus * sw->links);
    memset(sw->route, 0xff, (gsize)gpus * sw->links * sizeof *sw->route); /* SWITCH_NO_ROUTE */
    stat_add(fabric->stats, sw->path, switch_stats, sw);
    for (guint32 p = 0; p < sw->ports; p++) {
        g_autofree char *path = g_strdup_printf("%s.port%u", sw->path, p);
        stat_add(fabric->stats, path, switch_port_stats, &sw->port[p]);
    }
    sim_add_waiter(fabric->sim, switch_waiter_text, sw);
}

/* Ports of GPUs come first, those of trunks behind them, each in order. */
static void switches_number_ports(Fabric *fabric)
{
    const Topology *topology = fabric->topology;
    g_autofree guint32 *next = g_new0(guint32, fabric->n_switches);
    for (guint32 g = 0; g < topology->gpus; g++)
        for (guint32 l = 0; l < fabric->links; l++) {
            Switch *sw = switches_of(fabric, g, l);
            if (!sw)
                continue;
            const guint32 p = next[sw->id]++, rail = sw->link_rail[l];
            sw->port[p].gpu = (guint16)g;
            sw->port[p].link = (guint8)l;
            sw->port[p].rail = (guint8)rail;
            sw->route[g * sw->links + rail] = (guint16)p;
        }
    fabric->trunk_port = g_new(guint16, 2 * topology->trunks->len + 1);
    for (guint32 t = 0; t < topology->trunks->len; t++) {
        const Trunk *trunk = &g_array_index(topology->trunks, Trunk, t);
        Switch *leaf = &fabric->sw[trunk->leaf], *spine = &fabric->sw[trunk->spine];
        fabric->trunk_port[2 * t] = (guint16)next[leaf->id]++;
        fabric->trunk_port[2 * t + 1] = (guint16)next[spine->id]++;
        leaf->port[fabric->trunk_port[2 * t]].far = spine;
        spine->port[fabric->trunk_port[2 * t + 1]].far = leaf;
    }
}

/* The shared table of a switch has a column for each of its members: GPUs, of a spine those that stand for a leaf. */
static void switches_init_requests(Fabric *fabric, const Switch *sw)
{
    const guint32 gpus = (guint32)fabric->spec.system.gpus;
    guint32 first = gpus, last = 0;
    for (guint32 p = 0; !sw->spine && p < sw->ports; p++)
        if (!sw->port[p].far) {
            first = MIN(first, sw->port[p].gpu);
            last = MAX(last, sw->port[p].gpu);
        }
    const gboolean some = first <= last;
    mcrequests_init(sw->requests, sw->record_max, some ? last - first + 1 : gpus, some ? first : 0);
}

void switches_build(Fabric *fabric)
{
    fabric->sw = g_new0(Switch, fabric->n_switches);
    fabric->requests = g_new0(McRequests, fabric->n_switches);
    g_autofree guint8 *passes = g_new0(guint8, (gsize)fabric->n_switches * fabric->links);
    g_autofree guint32 *ports = g_new0(guint32, fabric->n_switches);
    switches_count_links(fabric, passes, ports);
    for (guint32 s = 0; s < fabric->n_switches; s++)
        switches_init_one(fabric, s, &passes[(gsize)s * fabric->links], ports[s]);
    switches_number_ports(fabric);
    for (guint32 s = 0; s < fabric->n_switches; s++)
        switches_init_requests(fabric, &fabric->sw[s]);
}

void switches_clear(Fabric *fabric)
{
    for (guint32 t = 0; fabric->trunk && t < 2 * fabric->n_trunks; t++)
        link_clear(&fabric->trunk[t]);
    for (guint32 s = 0; fabric->sw && s < fabric->n_switches; s++)
        switch_clear(&fabric->sw[s]);
    g_free(fabric->trunk);
    g_free(fabric->trunk_port);
    g_free(fabric->requests);
    g_free(fabric->sw);
}

/* ---- trunks */

static void switches_connect(Fabric *fabric, Link *link, guint32 number, Switch *from, guint32 from_port, Switch *to,
                             guint32 to_port, const char *path)
{
    const TopologySpec *spec = &fabric->spec.topology;
    LinkSpec trunk = fabric->spec.link;
    trunk.rate_MBps = spec->trunk_MBps;
    trunk.flight_ps = spec->trunk_flight_ps;
    link_init(link, from->sim, &trunk, spec->trunk_credits_flits, number, path);
    link_set_policies(link, &fabric->policies);
    for (int v = 0; v < VCS; v++)
        link_set_delay(link, (Vc)v, spec->trunk_flight_ps + fabric->spec.sw.latency_ps);
    switch_take(to, link, to_port);
    switch_send(from, link, from_port);
    stat_add(fabric->stats, path, link_stats, link);
    sim_add_waiter(fabric->sim, link_waiter_text, link);
}

void switches_join(Fabric *fabric)
{
    const guint32 first = 2 * (guint32)fabric->spec.system.gpus * fabric->links; /* numbers behind those of GPUs */
    fabric->trunk = g_new0(Link, 2 * fabric->n_trunks + 1);
    for (guint32 t = 0; t < fabric->n_trunks; t++) {
        const Trunk *trunk = &g_array_index(fabric->topology->trunks, Trunk, t);
        Switch *leaf = &fabric->sw[trunk->leaf], *spine = &fabric->sw[trunk->spine];
        const guint32 leaf_port = fabric->trunk_port[2 * t], spine_port = fabric->trunk_port[2 * t + 1];
        g_autofree char *up = g_strdup_printf("%s.port%u.up", leaf->path, leaf_port);
        g_autofree char *down = g_strdup_printf("%s.port%u.down", leaf->path, leaf_port);
        switches_connect(fabric, &fabric->trunk[2 * t], first + 2 * t, leaf, leaf_port, spine, spine_port, up);
        switches_connect(fabric, &fabric->trunk[2 * t + 1], first + 2 * t + 1, spine, spine_port, leaf, leaf_port,
                         down);
    }
    switches_route(fabric);
}

/* ---- routes */

/* Trunks by the pair of switches that they join: `at` of leaf i and spine j at i * spines + j is where theirs begin. */
typedef struct {
    guint32 *at, *trunk; /* numbers of trunks that are up */
} TrunkIndex;

static TrunkIndex switches_index_trunks(const Fabric *fabric)
{
    const Topology *topology = fabric->topology;
    const gsize pairs = (gsize)topology->leaves * topology->spines;
    TrunkIndex index = {g_new0(guint32, pairs + 2), g_new(guint32, fabric->n_trunks + 1)};
    for (int pass = 0; pass < 2; pass++) { /* counts, then fills in */
        for (guint32 t = 0; t < fabric->n_trunks; t++) {
            const Trunk *trunk = &g_array_index(topology->trunks, Trunk, t);
            const gsize pair = (gsize)trunk->leaf * topology->spines + trunk->spine - topology->leaves;
            if (fabric->trunk[2 * t].down)
                continue;
            if (pass == 0)
                index.at[pair + 2]++;
            else
                index.trunk[index.at[pair + 1]++] = t;
        }
        for (gsize pair = 1; pass == 0 && pair < pairs + 2; pair++)
            index.at[pair] += index.at[pair - 1];
    }
    return index;
}

/* The trunk from leaf `from` (or, with `down`, to leaf `to`) on the way between them that belongs to the destination's
 * port; SWITCH_NO_ROUTE: there is none. */
static guint32 switches_choose(const Fabric *fabric, const TrunkIndex *index, guint32 from, guint32 to, guint32 port,
                               guint16 *spine_of)
{
    const guint32 spines = fabric->topology->spines;
    const guint32 *up = &index->at[(gsize)from * spines], *down = &index->at[(gsize)to * spines];
    guint32 n = 0;
    for (guint32 j = 0; j < spines; j++)
        if (up[j + 1] > up[j] && down[j + 1] > down[j])
            spine_of[n++] = (guint16)j;
    if (n == 0)
        return G_MAXUINT32;
    const guint32 j = spine_of[port % n], parallel = up[j + 1] - up[j];
    return index->trunk[up[j] + port / n % parallel];
}

static void switches_route_leaf(Fabric *fabric, const TrunkIndex *index, Switch *leaf, guint16 *spine_of)
{
    const Topology *topology = fabric->topology;
    for (guint32 g = 0; g < topology->gpus; g++)
        for (guint32 l = 0; l < fabric->links; l++) {
            const Switch *to = switches_of(fabric, g, l);
            const guint32 rail = leaf->link_rail[l];
            if (!to || to == leaf || rail == SWITCH_NO_LINK)
                continue;
            guint32 t = switches_choose(fabric, index, leaf->id, to->id, switches_port(to, g, l), spine_of);
            leaf->route[g * leaf->links + rail] = t == G_MAXUINT32 ? SWITCH_NO_ROUTE : fabric->trunk_port[2 * t];
        }
}

/* Down from a spine there is one leaf to go to, by one of their trunks. */
static void switches_route_spine(Fabric *fabric, const TrunkIndex *index, Switch *spine, const guint32 *above)
{
    const Topology *topology = fabric->topology;
    const guint32 j = spine->id - topology->leaves;
    for (guint32 g = 0; g < topology->gpus; g++)
        for (guint32 l = 0; l < fabric->links; l++) {
            const Switch *to = switches_of(fabric, g, l);
            if (!to)
                continue;
            const guint32 *down = &index->at[(gsize)to->id * topology->spines + j];
            if (down[1] == down[0])
                continue;
            const guint32 n = switches_port(to, g, l) / MAX(above[to->id], 1) % (down[1] - down[0]);
            spine->route[g * spine->links + spine->link_rail[l]] =
                fabric->trunk_port[2 * index->trunk[down[0] + n] + 1];
        }
}

void switches_route(Fabric *fabric)
{
    const Topology *topology = fabric->topology;
    if (topology->spines == 0)
        return;
    TrunkIndex index = switches_index_trunks(fabric);
    g_autofree guint16 *spine_of = g_new(guint16, topology->spines);
    g_autofree guint32 *above = g_new0(guint32, topology->leaves); /* spines over each leaf */
    for (guint32 i = 0; i < topology->leaves; i++)
        for (guint32 j = 0; j < topology->spines; j++) {
            const guint32 *at = &index.at[(gsize)i * topology->spines + j];
            above[i] += at[1] > at[0];
        }
    for (guint32 i = 0; i < topology->leaves; i++)
        switches_route_leaf(fabric, &index, &fabric->sw[i], spine_of);
    for (guint32 j = topology->leaves; j < fabric->n_switches; j++)
        switches_route_spine(fabric, &index, &fabric->sw[j], above);
    g_free(index.at);
    g_free(index.trunk);
}
