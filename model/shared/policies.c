/* See policies.h: the built-in policies, and those of a library. */
#include "model/shared/policies.h"

#include <dlfcn.h>
#include <string.h>

#include "sim/param/nearest.h"

const ParamRow policy_params[] = {
    PARAM_STRING(PolicySpec, library, "a shared object with policies of one's own (fanout/policy.h); none"),
    PARAM_STRING(PolicySpec, arbiter, "which channel of a port goes next: round_robin, oldest_first, weighted"),
    PARAM_U64(PolicySpec, request_weight, "packets", 1, 1000, "weighted: requests in a row"),
    PARAM_U64(PolicySpec, response_weight, "packets", 1, 1000, "weighted: responses in a row"),
    PARAM_STRING(PolicySpec, replication, "which member gets its replica first: in_order, rotating, requester"),
    PARAM_STRING(PolicySpec, reduction, "in which spine a team's requests meet: rotating, first"),
    PARAM_STRING(PolicySpec, hash, "which link a chunk travels on: measured, modulo, mixed"),
    PARAM_END,
};

/* ---- built in */

/* Of two that came at once the one goes whose channel was not served last. */
static unsigned policy_oldest_first(const FoPort *port)
{
    if (port->joined_ps[0] == port->joined_ps[1])
        return port->last ^ 1u;
    return port->joined_ps[FO_RESPONSES] < port->joined_ps[FO_REQUESTS] ? FO_RESPONSES : FO_REQUESTS;
}

static unsigned policy_weighted(const FoPort *port)
{
    return port->run < port->weight[port->last] ? port->last : port->last ^ 1u;
}

static unsigned policy_rotating_member(unsigned port, unsigned members, uint64_t sequence)
{
    (void)port;
    return (unsigned)(sequence % members);
}

static unsigned policy_behind_requester(unsigned port, unsigned members, uint64_t sequence)
{
    (void)sequence;
    return (port + 1) % members;
}

static unsigned policy_first_spine(unsigned link, unsigned team, unsigned spines)
{
    (void)link;
    (void)team;
    (void)spines;
    return 0;
}

static unsigned policy_modulo(uint64_t chunk, unsigned links) { return (unsigned)(chunk % links); }

static unsigned policy_mixed(uint64_t chunk, unsigned links)
{
    uint64_t x = chunk * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9u;
    return (unsigned)((x ^ x >> 32) % links);
}

static const FoPolicy policy_table[] = {
    {FO_POLICY_VERSION, "oldest_first", "the packet that joined its queue first", .arbitrate = policy_oldest_first},
    {FO_POLICY_VERSION, "weighted", "so many of each channel in a row", .arbitrate = policy_weighted},
    {FO_POLICY_VERSION, "rotating", "one further with each request", .first_member = policy_rotating_member},
    {FO_POLICY_VERSION, "requester", "the member behind the port of the requester",
     .first_member = policy_behind_requester},
    {FO_POLICY_VERSION, "first", "the first spine that can take the team", .root = policy_first_spine},
    {FO_POLICY_VERSION, "modulo", "the chunk's number modulo the links", .link = policy_modulo},
    {FO_POLICY_VERSION, "mixed", "all bits of the chunk's number", .link = policy_mixed},
    {0},
};

/* ---- by name */

typedef enum { POLICY_ARBITER, POLICY_REPLICATION, POLICY_REDUCTION, POLICY_HASH, POLICY_KINDS } PolicyKind;

static const char *const policy_keys[] = {"arbiter", "replication", "reduction", "hash"};
/* What the stages do unasked, because every packet passes it. */
static const char *const policy_usual[] = {"round_robin", "in_order", "rotating", "measured"};

static gboolean policy_has(const FoPolicy *policy, PolicyKind kind)
{
    const gboolean has[] = {policy->arbitrate != NULL, policy->first_member != NULL, policy->root != NULL,
                            policy->link != NULL};
    return has[kind];
}

static void policy_take(const FoPolicy *policy, PolicyKind kind, Policies *policies)
{
    if (kind == POLICY_ARBITER)
        policies->arbitrate = policy->arbitrate;
    else if (kind == POLICY_REPLICATION)
        policies->first_member = policy->first_member;
    else if (kind == POLICY_REDUCTION)
        policies->root = policy->root;
    else
        policies->link = policy->link;
}

static gboolean policy_resolve(const FoPolicy *const tables[2], PolicyKind kind, const char *name, Policies *policies,
                               GError **error)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    g_ptr_array_add(names, (gpointer)policy_usual[kind]);
    if (strcmp(name, policy_usual[kind]) == 0)
        return TRUE;
    for (guint t = 0; t < 2; t++)
        for (const FoPolicy *policy = tables[t]; policy && policy->name; policy++) {
            if (!policy_has(policy, kind))
                continue;
            g_ptr_array_add(names, (gpointer)policy->name);
            if (strcmp(name, policy->name) == 0) {
                policy_take(policy, kind, policies);
                return TRUE;
            }
        }
    g_ptr_array_add(names, NULL);
    g_autofree char *hint = nearest_hint(name, (const char *const *)names->pdata);
    g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE, "[policy] %s: '%s' is unknown%s", policy_keys[kind], name, hint);
    return FALSE;
}

/* ---- a library */

static const FoPolicy *policy_library(const char *path, GError **error)
{
    g_autofree char *plain = strchr(path, '/') ? g_strdup(path) : g_strconcat("./", path, NULL);
    void *library = dlopen(plain, RTLD_NOW | RTLD_LOCAL);
    const FoPolicy *table = library ? dlsym(library, "fo_policies") : NULL;
    if (!table) {
        g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE, "[policy] library: %s",
                    library ? "it does not define fo_policies (fanout/policy.h)" : dlerror());
        return NULL;
    }
    for (const FoPolicy *policy = table; policy->name || policy->version; policy++)
        if (policy->version != FO_POLICY_VERSION || !policy->name) {
            g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE,
                        "[policy] library: '%s' was built for version %u of "
                        "fanout/policy.h, and this fanout has version %u",
                        path, policy->version, FO_POLICY_VERSION);
            return NULL;
        }
    return table;
}

gboolean policies_resolve(const PolicySpec *spec, Policies *policies, GError **error)
{
    const char *const names[] = {spec->arbiter, spec->replication, spec->reduction, spec->hash};
    const FoPolicy *tables[2] = {policy_table, NULL};
    *policies = (Policies){.weight = {(unsigned)spec->request_weight, (unsigned)spec->response_weight}};
    gboolean has_library = spec->library && *spec->library && strcmp(spec->library, "none") != 0;
    if (has_library && !(tables[1] = policy_library(spec->library, error)))
        return FALSE;
    for (guint k = 0; k < POLICY_KINDS; k++)
        if (names[k] && !policy_resolve(tables, (PolicyKind)k, names[k], policies, error))
            return FALSE;
    return TRUE;
}
