#include "model/switch/multicast_table.h"

#include <string.h>

#include "model/shared/packet.h"

static const char *const overflow_names[] = {"extended", "drop", NULL};
const ParamRow mctable_params[] = {
    PARAM_U64(McTableSpec, entries, "", 0, PACKET_MCID_MAX + 1, "multicast IDs (main entries) of a switch"),
    PARAM_U64(McTableSpec, extended_entries, "", 0, 65536, "extended entries of a switch"),
    PARAM_U64(McTableSpec, directives, "ports", 1, 4096, "ports over all spray groups of one entry"),
    PARAM_U64(McTableSpec, spray_groups, "", 1, 256, "alternative port strings of one entry"),
    PARAM_U64(McTableSpec, round_directives, "ports", 1, 256, "replicas sent in one crossbar round"),
    PARAM_U64(McTableSpec, rounds, "", 1, 4096, "rounds that one replication may take"),
    PARAM_ENUM(McTableSpec, overflow, overflow_names,
               "a team with more ports than an entry holds: use extended entries, or drop links"),
    PARAM_U64(McTableSpec, set_flits, "flits", 0, 64, "of a request, that name its members; 0: entries do"),
    PARAM_END,
};

void mctable_init(McTable *table, const McTableSpec *spec)
{
    *table = (McTable){.spec = spec,
                       .entry = g_new0(McEntry, spec->entries ? spec->entries : 1),
                       .teams = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref)};
}

void mctable_clear(McTable *table)
{
    for (guint64 id = 0; id < table->spec->entries; id++)
        g_free(table->entry[id].up);
    g_ptr_array_free(table->teams, TRUE);
    g_free(table->entry);
}

static guint32 mctable_team(McTable *table, const guint16 *member, guint32 n_members)
{
    for (guint t = 0; t < table->teams->len; t++) {
        const GArray *team = table->teams->pdata[t];
        if (team->len == n_members && memcmp(team->data, member, n_members * sizeof *member) == 0)
            return t;
    }
    GArray *team = g_array_new(FALSE, FALSE, sizeof *member);
    g_array_append_vals(team, member, n_members);
    g_ptr_array_add(table->teams, team);
    return table->teams->len - 1;
}

/* How many spray groups an entry of so many members and rounds can have, and whether it takes an extended one. Requests
 * that name their members themselves need none of its room. */
static guint32 mctable_fit(const McTable *table, guint32 n_members, guint32 links, guint32 rounds, gboolean *extended)
{
    const McTableSpec *spec = table->spec;
    if (spec->set_flits)
        return links;
    if (rounds > spec->rounds)
        return 0;
    gboolean may_extend = spec->overflow == MC_OVERFLOW_EXTENDED &&
                          table->extended_used + table->extended_taken < spec->extended_entries;
    guint64 ports = may_extend ? 2 * spec->directives : spec->directives;
    guint32 groups = MIN(links, (guint32)spec->spray_groups);
    groups = MIN(groups, (guint32)(ports / n_members));
    *extended = (guint64)groups * n_members > spec->directives;
    return groups;
}

guint32 mctable_program(McTable *table, guint32 mcid, const guint16 *member, guint32 n_members, guint32 links)
{
    const McTableSpec *spec = table->spec;
    g_assert(mcid < spec->entries && !table->entry[mcid].valid && n_members > 0);
    guint32 rounds = (guint32)((n_members + spec->round_directives - 1) / spec->round_directives);
    gboolean extended = FALSE;
    guint32 groups = mctable_fit(table, n_members, links, rounds, &extended);
    if (groups == 0)
        return 0;
    table->extended_used += extended;
    guint32 team = mctable_team(table, member, n_members);
    const GArray *members = table->teams->pdata[team];
    table->entry[mcid] = (McEntry){.valid = TRUE,
                                   .extended = extended,
                                   .spray_groups = groups,
                                   .n_members = n_members,
                                   .rounds = rounds,
                                   .team = team,
                                   .member = (const guint16 *)(const void *)members->data};
    return groups;
}

void mctable_explain(const McTable *table, guint32 n_members, const char *where, GError **error)
{
    const McTableSpec *spec = table->spec;
    const guint64 rounds = (n_members + spec->round_directives - 1) / spec->round_directives;
    const gboolean extend = spec->overflow == MC_OVERFLOW_EXTENDED;
    if (rounds > spec->rounds)
        g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE,
                    "[multicast] rounds: %u ports of %s take %" G_GUINT64_FORMAT " rounds of %" G_GUINT64_FORMAT
                    " (round_directives); rounds = %" G_GUINT64_FORMAT ", set %" G_GUINT64_FORMAT " or more",
                    n_members, where, rounds, spec->round_directives, spec->rounds, rounds);
    else if (extend && n_members <= 2 * spec->directives)
        g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE,
                    "[multicast] extended_entries: %u ports of %s need an extended entry beside %" G_GUINT64_FORMAT
                    " directives, and all of extended_entries = %" G_GUINT64_FORMAT " are taken; set %" G_GUINT64_FORMAT
                    " or more, or directives = %u",
                    n_members, where, spec->directives, spec->extended_entries,
                    MAX(spec->extended_entries, table->extended_used + table->extended_taken) + 1, n_members);
    else
        g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE,
                    "[multicast] directives: %u ports of %s need as many directives, an entry has directives = "
                    "%" G_GUINT64_FORMAT "%s; set %u or more",
                    n_members, where, spec->directives, extend ? " and as many in an extended entry" : "",
                    extend ? (n_members + 1) / 2 : n_members);
}

void mctable_release(McTable *table, guint32 mcid)
{
    g_assert(table->entry[mcid].valid);
    table->extended_used -= table->entry[mcid].extended;
    g_free(table->entry[mcid].up);
    table->entry[mcid] = (McEntry){0};
}
