/* Multicast teams: the trees of switches that replicate a team's requests and gather the answers.
 *
 * For each link number that all members have there is a tree. If the links of that number meet in one switch, that is
 * all of it. Else its root is a spine, the same for all members, with a trunk to each of their leaves: a request climbs
 * to the root, which replicates it to the leaves, and each leaf to its members. Trees of the link numbers have their
 * roots in turn in the spines that all leaves share, the first one by the multicast ID, so that trunks share the load.
 * Left out: what a Fabric Manager does to choose them (its algorithm is not published). */
#include "model/fabric/fabric.h"
#include "model/fabric/switches.h"

/* What one switch has of a team. */
typedef struct {
    GArray *member; /* guint16: members here; of a spine: of each leaf below it the first member */
    GArray *k;      /* guint32: spine: the link numbers whose trees have their root here */
} TeamSwitch;

typedef struct {
    Fabric *fabric;
    const McObject *object;
    guint32 mcid;
    gboolean *carries; /* by link */
    guint16 *root;     /* by link: the spine in which its tree has its root; TOPOLOGY_NONE: its only leaf */
    TeamSwitch *part;  /* by switch */
} Team;

McObject *fabric_mc_object(Fabric *fabric, guint32 n_gpus, guint64 bytes)
{
    McObject *object = mcobject_new(fabric->memory, fabric->objects->len, n_gpus, bytes,
                                    (guint16)fabric->spec.system.gpus);
    object->address = fabric->object_top;
    object->left = fabric->left;
    fabric->object_top += MEMORY_PAGES(bytes);
    g_ptr_array_add(fabric->objects, object);
    g_ptr_array_add(fabric->op_object, g_new0(OpTable, 1));
    return object;
}

/* ---- what carries the team */

static guint16 team_member(const Team *team, guint m) { return g_array_index(team->object->members, guint16, m); }

static gboolean team_link_serves(const Team *team, guint32 link)
{
    for (guint m = 0; m < team->object->members->len; m++) {
        const guint16 gpu = team_member(team, m);
        if (!switches_of(team->fabric, gpu, link) ||
            (team->fabric->alive && !link_set_has(team->fabric->alive[gpu], link)))
            return FALSE;
    }
    return TRUE;
}

static void team_add(Team *team, guint32 s, guint16 gpu)
{
    GArray **member = &team->part[s].member;
    if (!*member)
        *member = g_array_new(FALSE, FALSE, sizeof gpu);
    for (guint i = (*member)->len; i-- > 0;)
        if (g_array_index(*member, guint16, i) == gpu)
            return;
    g_array_append_val(*member, gpu);
}

static void team_open(Team *team)
{
    Fabric *fabric = team->fabric;
    team->carries = g_new0(gboolean, fabric->links);
    team->root = g_new(guint16, fabric->links);
    team->part = g_new0(TeamSwitch, fabric->n_switches);
    for (guint m = 0; m < team->object->members->len; m++)
        for (guint32 l = 0; l < fabric->links; l++) {
            const Switch *sw = switches_of(fabric, team_member(team, m), l);
            if (sw)
                team_add(team, sw->id, team_member(team, m));
        }
    for (guint32 l = 0; l < fabric->links; l++) {
        team->carries[l] = team_link_serves(team, l);
        team->root[l] = TOPOLOGY_NONE;
    }
}

static void team_close(Team *team)
{
    for (guint32 s = 0; s < team->fabric->n_switches; s++) {
        if (team->part[s].member)
            g_array_free(team->part[s].member, TRUE);
        if (team->part[s].k)
            g_array_free(team->part[s].k, TRUE);
    }
    g_free(team->part);
    g_free(team->carries);
    g_free(team->root);
}

/* ---- tables */

static gboolean team_program(Team *team, Switch *sw, guint32 links, guint32 *carried, GError **error)
{
    const GArray *member = team->part[sw->id].member;
    *carried = mctable_program(&sw->table, team->mcid, (const guint16 *)(const void *)member->data, member->len, links);
    if (*carried == 0)
        mctable_explain(&sw->table, member->len, sw->path, error);
    return *carried != 0;
}

/* Leaves first: link numbers beyond what a leaf's entry holds carry nothing. */
static gboolean team_program_leaves(Team *team, GError **error)
{
    Fabric *fabric = team->fabric;
    for (guint32 s = 0; s < fabric->topology->leaves; s++) {
        guint32 carried;
        Switch *sw = &fabric->sw[s];
        if (!team->part[s].member)
            continue;
        if (!team_program(team, sw, sw->links, &carried, error))
            return FALSE;
        for (guint32 l = 0; l < fabric->links; l++)
            if (sw->link_rail[l] != SWITCH_NO_LINK && sw->link_rail[l] >= carried)
                team->carries[l] = FALSE;
    }
    return TRUE;
}

static gboolean team_program_spines(Team *team, GError **error)
{
    Fabric *fabric = team->fabric;
    for (guint32 s = fabric->topology->leaves; s < fabric->n_switches; s++) {
        guint32 carried;
        const GArray *roots = team->part[s].k;
        if (!roots)
            continue;
        if (!team_program(team, &fabric->sw[s], roots->len, &carried, error))
            return FALSE;
        for (guint i = carried; i < roots->len; i++)
            team->carries[g_array_index(roots, guint32, i)] = FALSE;
    }
    return TRUE;
}

static void team_release(Fabric *fabric, guint32 mcid)
{
    for (guint32 s = 0; s < fabric->n_switches; s++)
        if (fabric->sw[s].table.entry[mcid].valid)
            mctable_release(&fabric->sw[s].table, mcid);
}

/* ---- trees over two levels */

/* The first member at each leaf that links of this number go to; their number. */
static GArray *team_leaves(const Team *team, guint32 link)
{
    GArray *first = g_array_new(FALSE, FALSE, sizeof(guint16));
    g_autofree guint8 *seen = g_new0(guint8, team->fabric->n_switches);
    for (guint m = 0; m < team->object->members->len; m++) {
        const guint16 gpu = team_member(team, m);
        const Switch *leaf = switches_of(team->fabric, gpu, link);
        if (!seen[leaf->id])
            g_array_append_val(first, gpu);
        seen[leaf->id] = TRUE;
    }
    return first;
}

/* Ports of a leaf whose trunks, which are up, go to that spine. */
static guint32 team_trunks(const Switch *leaf, const Switch *spine, guint16 *port)
{
    guint32 n = 0;
    for (guint32 p = 0; p < leaf->ports; p++)
        if (leaf->port[p].far == spine && !leaf->out[p]->down)
            port[n++] = (guint16)p;
    return n;
}

/* Whether the trees that have their root in a spine already replicate to the same members. */
static gboolean team_agrees(const Team *team, guint32 spine, const GArray *first)
{
    const GArray *member = team->part[spine].member;
    return !member ||
           (member->len == first->len && memcmp(member->data, first->data, first->len * sizeof(guint16)) == 0);
}

/* The spines with trunks to all these leaves. */
static GArray *team_candidates(const Team *team, guint32 link, const GArray *first)
{
    const Fabric *fabric = team->fabric;
    GArray *found = g_array_new(FALSE, FALSE, sizeof(guint32));
    g_autofree guint32 *meets = g_new0(guint32, fabric->n_switches);
    g_autofree guint32 *last = g_new0(guint32, fabric->n_switches);
    for (guint i = 0; i < first->len; i++) {
        const Switch *leaf = switches_of(fabric, g_array_index(first, guint16, i), link);
        for (guint32 p = 0; p < leaf->ports; p++) {
            const Switch *spine = leaf->port[p].far;
            if (spine && !leaf->out[p]->down && last[spine->id] != i + 1) {
                last[spine->id] = i + 1;
                meets[spine->id]++;
            }
        }
    }
    for (guint32 s = fabric->topology->leaves; s < fabric->n_switches; s++)
        if (meets[s] == first->len)
            g_array_append_val(found, s);
    return found;
}

static guint16 *team_no_routes(guint32 n)
{
    guint16 *route = g_new(guint16, n);
    for (guint32 k = 0; k < n; k++)
        route[k] = SWITCH_NO_ROUTE;
    return route;
}

/* Notes in a leaf's entry by which trunk requests of that link number climb. */
static void team_climb(Team *team, const GArray *first, guint32 link, guint32 n_spines)
{
    const Fabric *fabric = team->fabric;
    const Switch *root = &fabric->sw[team->root[link]];
    g_autofree guint16 *port = g_new(guint16, root->ports);
    for (guint i = 0; i < first->len; i++) {
        Switch *leaf = switches_of(fabric, g_array_index(first, guint16, i), link);
        McEntry *entry = &leaf->table.entry[team->mcid];
        const guint32 n = team_trunks(leaf, root, port);
        if (!entry->up)
            entry->up = team_no_routes(leaf->links);
        entry->up[leaf->link_rail[link]] = port[link / n_spines % n];
    }
}

/* A root for one link number; FALSE: there is none, and it carries nothing. */
static gboolean team_plant(Team *team, guint32 link)
{
    g_autoptr(GArray) first = team_leaves(team, link);
    if (first->len == 1)
        return TRUE;
    g_autoptr(GArray) spines = team_candidates(team, link, first);
    const Policies *policies = &team->fabric->policies;
    const guint32 begin = spines->len && policies->root ? policies->root(link, team->mcid, spines->len) % spines->len
                                                        : link + team->mcid;
    for (guint i = 0; i < spines->len; i++) {
        const guint32 s = g_array_index(spines, guint32, (begin + i) % spines->len);
        TeamSwitch *part = &team->part[s];
        if (!team_agrees(team, s, first))
            continue;
        for (guint m = 0; !part->k && m < first->len; m++)
            team_add(team, s, g_array_index(first, guint16, m));
        if (!part->k)
            part->k = g_array_new(FALSE, FALSE, sizeof link);
        g_array_append_val(part->k, link);
        team->root[link] = (guint16)s;
        team_climb(team, first, link, spines->len);
        return TRUE;
    }
    return FALSE;
}

/* ---- all of it */

static const Hash *fabric_hash_of(Fabric *fabric, guint32 links)
{
    Hash *hash = links == fabric->links ? &fabric->hash : &fabric->mc_hash[links];
    if (hash->links == 0) {
        hash_init(hash, links);
        hash_replace(hash, fabric->policies.link);
    }
    return hash;
}

static gboolean team_build(Team *team, McRoute *route, GError **error)
{
    Fabric *fabric = team->fabric;
    if (!team_program_leaves(team, error))
        return FALSE;
    for (guint32 l = 0; l < fabric->links; l++)
        if (team->carries[l])
            team->carries[l] = team_plant(team, l);
    if (!team_program_spines(team, error))
        return FALSE;
    for (guint32 l = 0; l < fabric->links; l++)
        if (team->carries[l])
            route->link[route->n++] = (guint8)l;
    if (route->n == 0)
        g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE,
                    "[fault] link_down, switch_down: every link number is lost to some member of the team");
    return route->n != 0;
}

static gboolean team_program_all(Fabric *fabric, McObject *object, guint32 mcid, GError **error)
{
    Team team = {.fabric = fabric, .object = object, .mcid = mcid};
    McRoute route = {.link = g_new(guint8, fabric->links), .object = object};
    team_open(&team);
    const gboolean good = team_build(&team, &route, error);
    team_close(&team);
    if (!good) {
        team_release(fabric, mcid);
        g_free(route.link);
        return FALSE;
    }
    route.hash = fabric_hash_of(fabric, route.n);
    g_free(fabric->mc_route[mcid].link);
    fabric->mc_route[mcid] = route;
    return TRUE;
}

void fabric_mc_refit(Fabric *fabric)
{
    for (guint64 mcid = 0; fabric->mc_route && mcid < fabric->spec.mctable.entries; mcid++)
        if (fabric->mc_route[mcid].object) {
            team_release(fabric, (guint32)mcid);
            team_program_all(fabric, fabric->mc_route[mcid].object, (guint32)mcid, NULL);
        }
}

gboolean fabric_mc_holds(const Fabric *fabric, const McObject *object)
{
    for (guint32 s = 0; object->mcid != MC_MCID_NONE && s < fabric->n_switches; s++)
        if (fabric->sw[s].table.entry[object->mcid].valid)
            return TRUE;
    return FALSE;
}

gboolean fabric_mc_attach(Fabric *fabric, McObject *object, GError **error)
{
    guint32 taken = 0; /* by others */
    g_assert(object->members->len == object->n_gpus && object->mcid == MC_MCID_NONE);
    for (guint32 s = 0; s < fabric->n_switches; s++)
        taken = MAX(taken, fabric->sw[s].table.entries_taken);
    if (fabric->mcid_free->len <= taken) {
        const guint64 used = fabric->spec.mctable.entries - fabric->mcid_free->len;
        g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE,
                    "[multicast] entries: all multicast IDs are taken; entries = %" G_GUINT64_FORMAT
                    ", set %" G_GUINT64_FORMAT " or more",
                    fabric->spec.mctable.entries, used + taken + 1);
        return FALSE;
    }
    const guint32 mcid = g_array_index(fabric->mcid_free, guint32, fabric->mcid_free->len - 1);
    if (!team_program_all(fabric, object, mcid, error))
        return FALSE;
    g_array_set_size(fabric->mcid_free, fabric->mcid_free->len - 1);
    object->mcid = mcid;
    return TRUE;
}

void fabric_mc_detach(Fabric *fabric, McObject *object)
{
    if (object->mcid == MC_MCID_NONE)
        return;
    team_release(fabric, object->mcid);
    g_free(fabric->mc_route[object->mcid].link);
    fabric->mc_route[object->mcid] = (McRoute){0};
    g_array_append_val(fabric->mcid_free, object->mcid);
    object->mcid = MC_MCID_NONE;
}
