/* What options ask of statistics in time, and whether it can be done: what cli/options.c needs of samples.h. */
#include <string.h>

#include "cli/live/samples.h"
#include "sim/param/param.h"

gboolean samples_parse_interval(const char *text, guint64 *interval_ps, GError **error)
{
    static const ParamRow row = {.name = "time", .type = PARAM_U64_T, .unit = "ps", .min = 1, .max = SIMTIME_LAST_PS};
    g_autofree char *normal = NULL, *wrong = NULL;
    if (g_ascii_isdigit(*text) && g_ascii_isalpha(text[strlen(text) - 1]) &&
        param_row_parse(&row, text, interval_ps, &normal, &wrong))
        return TRUE;
    g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                "--stats-interval: '%s' is no time of 1 ps or more; write a number "
                "and ps, ns, us, ms or s, as 1us",
                text);
    return FALSE;
}

gboolean samples_check_verb(const Options *options, const Verb *verb, GError **error)
{
    const char *option = options->stats ? "stats" : "stats-interval";
    if (!options->stats && !options->stats_interval_ps)
        return TRUE;
    if (!(verb->flags & VERB_STATS))
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--%s: %s has no statistics in time: %s", option, verb->name,
                    verb->no_views ? verb->no_views : "");
    else if (!options->stats)
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                    "--stats-interval: where to? add --stats FILE.csv or --stats FILE.jsonl");
    else if (stats_file_check(options->stats, error))
        return TRUE;
    else
        g_prefix_error(error, "--stats: ");
    return FALSE;
}

gboolean samples_check_timeline(const Options *options, gboolean flows, GError **error)
{
    if (!options->perfetto || !flows)
        return TRUE;
    g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                "--perfetto: flows have no packets and no queues to show; write "
                "--fidelity packet, or give a smaller size");
    return FALSE;
}

gboolean samples_check(const Options *options, gboolean flows, GError **error)
{
    if (!options->stats || !flows)
        return TRUE;
    g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--stats: flows have no packets to count; write --fidelity packet");
    return FALSE;
}
