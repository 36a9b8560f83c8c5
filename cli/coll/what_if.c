/* See what_if.h. */
#include "cli/coll/what_if.h"

typedef struct {
    const char *key; /* of --set */
    gsize value;     /* in FabricSpec: guint64 */
} WhatIfKey;

static const struct {
    const char *words;
    WhatIfKey key[2]; /* both are doubled; NULL: there is no second one */
} what_ifs[] = {
    [WHAT_IF_TAGS] = {"the tags of a switch's port",
                      {{"switch.multicast_tags", offsetof(FabricSpec, sw.multicast_tags)},
                       {"switch.reduction_tags", offsetof(FabricSpec, sw.reduction_tags)}}},
    [WHAT_IF_BUFFER] = {"the reduction buffer",
                        {{"switch.reduction_buffer_bytes", offsetof(FabricSpec, sw.reduction_buffer_bytes)}}},
    [WHAT_IF_ROUNDS] = {"the replicas of a round",
                        {{"multicast.round_directives", offsetof(FabricSpec, mctable.round_directives)}}},
    [WHAT_IF_LINKS] = {"the rate of each link", {{"link.rate_MBps", offsetof(FabricSpec, link.rate_MBps)}}},
};

WhatIf what_if_of(const Fabric *fabric, double links_pct)
{
    guint64 waits[WHAT_IF_LINKS] = {0};
    WhatIf most = WHAT_IF_NOTHING;
    if (links_pct >= WHAT_IF_WIRES_PCT)
        return WHAT_IF_LINKS;
    for (guint32 s = 0; s < fabric->n_switches; s++)
        for (guint32 p = 0; p < fabric->sw[s].ports; p++) {
            waits[WHAT_IF_TAGS] += fabric->sw[s].port[p].stalls_tag;
            waits[WHAT_IF_BUFFER] += fabric->sw[s].port[p].stalls_buffer;
            waits[WHAT_IF_ROUNDS] += fabric->sw[s].port[p].stalls_rounds;
        }
    for (WhatIf what = WHAT_IF_TAGS; what < WHAT_IF_ROUNDS; what++)
        most = waits[what] > waits[most] ? what : most;
    return most == WHAT_IF_NOTHING && waits[WHAT_IF_ROUNDS] ? WHAT_IF_ROUNDS : most;
}

static guint64 what_if_twice(const WhatIfKey *key, const System *system)
{
    return 2 * G_STRUCT_MEMBER(guint64, &system->spec, key->value);
}

static GPtrArray *what_if_settings(WhatIf what, const System *system)
{
    GPtrArray *sets = g_ptr_array_new();
    for (guint k = 0; k < G_N_ELEMENTS(what_ifs[what].key) && what_ifs[what].key[k].key; k++)
        g_ptr_array_add(sets, g_strdup_printf("%s=%" G_GUINT64_FORMAT, what_ifs[what].key[k].key,
                                              what_if_twice(&what_ifs[what].key[k], system)));
    g_ptr_array_add(sets, NULL);
    return sets;
}

char **what_if_sets(WhatIf what, const System *system, const Options *options)
{
    GPtrArray *sets = g_ptr_array_new();
    for (char **set = options->sets; set && *set; set++)
        g_ptr_array_add(sets, g_strdup(*set));
    g_autoptr(GPtrArray) twice = what_if_settings(what, system);
    g_ptr_array_extend_and_steal(sets, g_steal_pointer(&twice)); /* with its NULL */
    return (char **)g_ptr_array_free(sets, FALSE);
}

char *what_if_words(WhatIf what, const System *system)
{
    g_auto(GStrv) twice = (char **)g_ptr_array_free(what_if_settings(what, system), FALSE);
    g_autofree char *settings = g_strjoinv(", ", twice);
    return g_strdup_printf("twice %s (%s)", what_ifs[what].words, settings);
}

char *what_if_answer(const char *words, SimTime before_ps, SimTime after_ps)
{
    const double less_pct = 100 * (1 - (double)after_ps / (double)before_ps);
    const double after_us = (double)after_ps / PS_PER_US;
    if (less_pct >= 1)
        return g_strdup_printf("what would help: %s, simulated, takes %.2f us, %.0f %% less", words, after_us,
                               less_pct);
    return g_strdup_printf("what would not help: %s, simulated, takes %.2f us, %s", words, after_us,
                           less_pct > -1 ? "within 1 % of the same" : "which is longer");
}
