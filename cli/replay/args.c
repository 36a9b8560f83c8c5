/* See replay_args.h. */
#include "cli/replay/args.h"

#include <string.h>

#include "cli/options.h"

gboolean replay_args_bad(GError **error, const char *option, const char *text, const char *right)
{
    g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "%s: '%s' should be %s", option, text, right);
    return FALSE;
}

gboolean replay_args_algos(ReplaySpec *spec, const char *text, GError **error)
{
    g_auto(GStrv) words = g_strsplit(*text ? text : ",", ",", -1);
    for (char **word = words; *word; word++) {
        char *equals = strchr(*word, '=');
        CollOp op = COLL_OPS;
        CollAlgo algo;
        if (equals)
            *equals = 0;
        if ((equals && !coll_op_parse(*word, &op)) || !coll_algo_parse(equals ? equals + 1 : *word, &algo) ||
            algo == COLL_UNICAST)
            return replay_args_bad(error, "-a", equals ? equals + 1 : *word,
                                   "auto, best, nvls, nvls_oneshot, ring, tree, oneshot, twoshot, push, pull "
                                   "or direct, alone or "
                                   "behind an operation: all_reduce=nvls,broadcast=ring");
        for (int o = 0; o < COLL_OPS; o++)
            if (!equals || o == (int)op)
                spec->algo[o] = algo;
    }
    return TRUE;
}

gboolean replay_args_compare(ReplayCompare *compare, const char *text, GError **error)
{
    static const char *const words[] = {"auto", "off", "packet", "flow"}; /* by number */
    for (guint i = 0; i < G_N_ELEMENTS(words); i++)
        if (g_str_equal(text, words[i])) {
            *compare = (ReplayCompare)i;
            return TRUE;
        }
    return replay_args_bad(error, "--compare", text, "auto, packet, flow or off");
}
