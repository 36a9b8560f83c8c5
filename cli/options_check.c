/* Whether a verb has what common options ask for: see options_check() in options.h. */
#include <string.h>

#include "cli/live/monitor/monitor.h"
#include "cli/options.h"
#include "cli/live/samples.h"
#include "sim/report/file.h"

/* Before anything is simulated. */
static gboolean options_check_files(const Options *options, GError **error)
{
    const char *const paths[] = {options->html, options->perfetto, options->vcd, options->stats};
    static const char *const names[] = {"--html", "--perfetto", "--vcd", "--stats"};
    for (guint i = 0; i < G_N_ELEMENTS(paths); i++) {
        if (!paths[i])
            continue;
        if (strcmp(paths[i], "-") == 0) {
            g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "%s: '-' is no file; standard output has --format",
                        names[i]);
            return FALSE;
        }
        for (guint j = 0; j < i; j++)
            if (paths[j] && strcmp(paths[j], paths[i]) == 0) {
                g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "%s: '%s' is the file of %s, too", names[i], paths[i],
                            names[j]);
                return FALSE;
            }
        if (!file_check(names[i], paths[i], error))
            return FALSE;
    }
    return TRUE;
}

gboolean options_parse_nccl(const char *text, guint32 *version, GError **error)
{
    g_autoptr(GError) why = NULL;
    if (coll_nccl_parse(text, version, &why))
        return TRUE;
    g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--nccl: %s", why->message);
    return FALSE;
}

gboolean options_check(Options *options, const char *monitor, const Verb *verb, GError **error)
{
    const char *why = verb->no_views ? verb->no_views : "";
    if (options->vcd && !(verb->flags & VERB_WAVEFORM))
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--vcd: %s writes no waveforms: %s", verb->name, why);
    else if (options->perfetto && !(verb->flags & VERB_TIMELINE))
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--perfetto: %s writes no timeline: %s", verb->name, why);
    else if (!samples_check_verb(options, verb, error) || !monitor_check(options, monitor, verb, error))
        return FALSE;
    else if (verb->flags & VERB_NO_PAGE && (options->html || options->format != REPORT_TEXT))
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--%s: %s has no report: %s", options->html ? "html" : "format",
                    verb->name, why);
    else if (!options_check_files(options, error))
        return FALSE;
    else if (options->cores > 1 && !(verb->flags & VERB_CORES))
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                    "--cores: this verb runs on one core; 'fanout coll' can use several");
    else if (options->fidelity != COLL_PACKET && !(verb->flags & VERB_FLOWS))
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--fidelity: this verb simulates every packet");
    else
        return TRUE;
    return FALSE;
}
