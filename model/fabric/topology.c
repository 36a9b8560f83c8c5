#include "model/fabric/topology.h"

#include "model/fabric/wiring.h"
#include "model/memory/address_space.h"

static const char *const kind_names[] = {"rails", "two_level", "rules", NULL};
const ParamRow topology_params[] = {
    PARAM_ENUM(TopologySpec, kind, kind_names,
               "rails: link l of every GPU to the same switch; two_level: leaf and spine switches; rules: see wire"),
    PARAM_U64(TopologySpec, leaf_gpus, "", 1, VAS_GPUS_MAX, "two_level: GPUs that share a set of leaf switches"),
    PARAM_LIST(TopologySpec, spines, "switches", 0, TOPOLOGY_SWITCHES_MAX,
               "two_level: spine switches of each leaf of a set, one number each or one for all"),
    PARAM_U64(TopologySpec, trunks, "links", 0, 1024, "two_level: from a leaf to each of its spines"),
    PARAM_U64(TopologySpec, trunk_MBps, "MB/s", 1, 10000000, "flits that one direction of one trunk carries"),
    PARAM_U64(TopologySpec, trunk_flight_ps, "ps", 0, 100000000, "time of flight between leaf and spine"),
    PARAM_U64(TopologySpec, trunk_credits_flits, "flits", 32, 1u << 20,
              "buffer of each virtual channel where a trunk arrives"),
    PARAM_U64(TopologySpec, switch_ports, "", 0, TOPOLOGY_PORTS_MAX, "ports of one switch (0: as many as are wired)"),
    PARAM_STRING(TopologySpec, wire, "rules: 'gpu*.link[0-8] -> leaf{gpu/8}.port*; ...' (docs/topologies.md); none"),
    PARAM_END,
};

/* ---- the two kinds that need no rules */

static Topology *topology_alloc(const FabricSpec *spec)
{
    Topology *topology = g_new0(Topology, 1);
    const ParamList *per = &spec->system.links_per_switch;
    topology->gpus = (guint32)spec->system.gpus;
    topology->rails = spec->topology.kind == TOPOLOGY_RAILS;
    for (guint32 s = 0; s < per->n; s++)
        topology->links += per->value[s];
    topology->leaf = g_new(guint16, (gsize)topology->gpus * topology->links);
    for (gsize i = 0; i < (gsize)topology->gpus * topology->links; i++)
        topology->leaf[i] = TOPOLOGY_NONE;
    topology->trunks = g_array_new(FALSE, FALSE, sizeof(Trunk));
    return topology;
}

/* Each group of `group` GPUs has a set of leaf switches, and links_per_switch says how many links go to each. */
static void topology_wire_gpus(Topology *topology, const ParamList *per, guint32 group)
{
    for (guint32 g = 0; g < topology->gpus; g++)
        for (guint32 s = 0, l = 0; s < per->n; s++)
            for (guint32 k = 0; k < per->value[s]; k++, l++)
                topology->leaf[(gsize)g * topology->links + l] = (guint16)(g / group * per->n + s);
    topology->leaves = (topology->gpus + group - 1) / group * per->n;
}

/* The leaves at one place of all sets have spines of their own. */
static void topology_wire_spines(Topology *topology, const TopologySpec *spec, guint32 places)
{
    for (guint32 place = 0; place < places; place++) {
        const guint32 n = spec->spines.value[spec->spines.n == 1 ? 0 : place];
        const guint32 first = topology->leaves + topology->spines;
        for (guint32 leaf = place; leaf < topology->leaves; leaf += places)
            for (guint32 i = 0; i < n * spec->trunks; i++) {
                Trunk trunk = {(guint16)leaf, (guint16)(first + i % n)};
                g_array_append_val(topology->trunks, trunk);
            }
        topology->spines += n;
    }
}

static gboolean topology_check_two_level(const FabricSpec *spec, GError **error)
{
    const TopologySpec *topology = &spec->topology;
    const guint32 places = spec->system.links_per_switch.n;
    if (topology->spines.n != 1 && topology->spines.n != places) {
        g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE,
                    "[topology] spines: %u numbers; give one for each of the %u numbers of [system] links_per_switch, "
                    "or one for all",
                    topology->spines.n, places);
        return FALSE;
    }
    guint64 switches = (spec->system.gpus + topology->leaf_gpus - 1) / topology->leaf_gpus * places;
    for (guint32 place = 0; place < places; place++)
        switches += topology->spines.value[topology->spines.n == 1 ? 0 : place];
    if (switches > TOPOLOGY_SWITCHES_MAX) {
        g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE,
                    "[topology] leaf_gpus, spines: they make %" G_GUINT64_FORMAT " switches; %u can be built", switches,
                    TOPOLOGY_SWITCHES_MAX);
        return FALSE;
    }
    return TRUE;
}

/* ---- the checker */

char *topology_switch_name(const Topology *topology, guint32 sw)
{
    if (topology->rails)
        return g_strdup_printf("switch%u", sw);
    return sw < topology->leaves ? g_strdup_printf("leaf%u", sw) : g_strdup_printf("spine%u", sw - topology->leaves);
}

static gboolean topology_check_ports(const Topology *topology, guint64 ports_max, GError **error)
{
    g_autofree guint32 *ports = g_new0(guint32, topology_switches(topology));
    for (gsize i = 0; i < (gsize)topology->gpus * topology->links; i++)
        if (topology->leaf[i] != TOPOLOGY_NONE)
            ports[topology->leaf[i]]++;
    for (guint i = 0; i < topology->trunks->len; i++) {
        const Trunk *trunk = &g_array_index(topology->trunks, Trunk, i);
        ports[trunk->leaf]++;
        ports[trunk->spine]++;
    }
    for (guint32 s = 0; s < topology_switches(topology); s++) {
        g_autofree char *name = topology_switch_name(topology, s);
        const guint64 max = ports_max ? ports_max : TOPOLOGY_PORTS_MAX;
        if (ports[s] > max) {
            g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE,
                        "[topology] switch_ports: %s has %u links (of system.gpus) wired to it and %" G_GUINT64_FORMAT
                        " ports",
                        name, ports[s], max);
            return FALSE;
        }
        if (ports[s] == 0) {
            g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE,
                        "[topology] wire: nothing is wired to %s; number switches from 0 on without gaps", name);
            return FALSE;
        }
    }
    return TRUE;
}

/* Bit i of row `leaf`: it has a trunk to spine i. */
static guint64 *topology_spines_of_leaves(const Topology *topology, guint32 words)
{
    guint64 *above = g_new0(guint64, (gsize)topology->leaves * words);
    for (guint i = 0; i < topology->trunks->len; i++) {
        const Trunk *trunk = &g_array_index(topology->trunks, Trunk, i);
        const guint32 spine = trunk->spine - topology->leaves;
        above[(gsize)trunk->leaf * words + spine / 64] |= (guint64)1 << spine % 64;
    }
    return above;
}

static gboolean topology_reach_error(const Topology *topology, guint32 l, const guint32 gpu[2], GError **error)
{
    g_autofree char *a = topology_switch_name(topology, topology->leaf[(gsize)gpu[0] * topology->links + l]);
    g_autofree char *b = topology_switch_name(topology, topology->leaf[(gsize)gpu[1] * topology->links + l]);
    g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE,
                "[topology] wire, spines, trunks: gpu%u.link%u is unreachable from gpu%u.link%u: no spine has trunks "
                "to both %s and %s, and what leaves by link %u must arrive by link %u",
                gpu[1], l, gpu[0], l, a, b, l, l);
    return FALSE;
}

/* Links of one number must meet, in their leaf or in a spine above both their leaves. */
static gboolean topology_check_reach(const Topology *topology, GError **error)
{
    const guint32 words = topology->spines / 64 + 1;
    g_autofree guint64 *above = topology_spines_of_leaves(topology, words);
    g_autofree guint32 *leaf = g_new(guint32, topology->leaves), *gpu = g_new(guint32, topology->leaves);
    for (guint32 l = 0; l < topology->links; l++) {
        guint32 n = 0; /* leaves that this link number goes to */
        for (guint32 g = 0; g < topology->gpus; g++) {
            const guint32 to = topology->leaf[(gsize)g * topology->links + l];
            guint32 i = 0;
            while (i < n && leaf[i] != to)
                i++;
            if (to == TOPOLOGY_NONE || i < n)
                continue;
            for (i = 0; i < n; i++) {
                guint64 both = 0;
                for (guint32 w = 0; w < words; w++)
                    both |= above[(gsize)leaf[i] * words + w] & above[(gsize)to * words + w];
                if (!both)
                    return topology_reach_error(topology, l, (guint32[]){gpu[i], g}, error);
            }
            leaf[n] = to;
            gpu[n++] = g;
        }
    }
    return TRUE;
}

/* A switch's spray groups are the link numbers that its GPUs have there: the same for all of them. */
static gboolean topology_check_equal(const Topology *topology, GError **error)
{
    const guint32 n = topology->links;
    g_autofree guint8 *has = g_new0(guint8, (gsize)topology->leaves * n);
    for (gsize i = 0; i < (gsize)topology->gpus * n; i++)
        if (topology->leaf[i] != TOPOLOGY_NONE)
            has[(gsize)topology->leaf[i] * n + i % n] = TRUE;
    for (guint32 g = 0; g < topology->gpus; g++)
        for (guint32 l = 0; l < n; l++)
            for (guint32 other = 0; other < n; other++) {
                const guint16 leaf = topology->leaf[(gsize)g * n + l], there = topology->leaf[(gsize)g * n + other];
                if (leaf == TOPOLOGY_NONE || there == TOPOLOGY_NONE || there == leaf || !has[(gsize)leaf * n + other])
                    continue;
                g_autofree char *name = topology_switch_name(topology, leaf);
                g_autofree char *elsewhere = topology_switch_name(topology, there);
                g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE,
                            "[topology] wire: %s is unequal: gpu%u has link%u there but link%u at %s, and other GPUs "
                            "have their link%u there; the GPUs of a switch have links of the same numbers at it",
                            name, g, l, other, elsewhere, other);
                return FALSE;
            }
    return TRUE;
}

guint32 topology_members_max(const Topology *topology, guint32 *sw)
{
    const guint32 switches = topology_switches(topology);
    g_autofree guint32 *members = g_new0(guint32, switches), *last = g_new0(guint32, switches);
    for (guint32 g = 0; g < topology->gpus; g++)
        for (guint32 l = 0; l < topology->links; l++) {
            const guint32 leaf = topology->leaf[(gsize)g * topology->links + l];
            if (leaf == TOPOLOGY_NONE || last[leaf] == g + 1)
                continue;
            last[leaf] = g + 1;
            members[leaf]++;
        }
    g_autoptr(GHashTable) pairs = g_hash_table_new(NULL, NULL); /* leaf and spine that trunks join */
    for (guint i = 0; i < topology->trunks->len; i++) {
        const Trunk *trunk = &g_array_index(topology->trunks, Trunk, i);
        if (g_hash_table_add(pairs, GUINT_TO_POINTER((guint32)trunk->leaf << 16 | trunk->spine)))
            members[trunk->spine]++;
    }
    *sw = 0;
    for (guint32 s = 1; s < switches; s++)
        if (members[s] > members[*sw])
            *sw = s;
    return members[*sw];
}

/* ---- life */

Topology *topology_new(const FabricSpec *spec, GError **error)
{
    const ParamList *per = &spec->system.links_per_switch;
    Topology *topology = topology_alloc(spec);
    gboolean good = TRUE;
    switch ((TopologyKind)spec->topology.kind) {
    case TOPOLOGY_RAILS: topology_wire_gpus(topology, per, topology->gpus); break;
    case TOPOLOGY_TWO_LEVEL:
        good = topology_check_two_level(spec, error);
        if (good) {
            topology_wire_gpus(topology, per, (guint32)spec->topology.leaf_gpus);
            topology_wire_spines(topology, &spec->topology, per->n);
        }
        break;
    case TOPOLOGY_RULES: good = wiring_apply(topology, spec->topology.wire, error); break;
    }
    good = good && topology_check_ports(topology, spec->topology.switch_ports, error) &&
           topology_check_equal(topology, error) && topology_check_reach(topology, error);
    if (!good)
        g_clear_pointer(&topology, topology_free);
    return topology;
}

void topology_free(Topology *topology)
{
    g_array_free(topology->trunks, TRUE);
    g_free(topology->leaf);
    g_free(topology);
}
