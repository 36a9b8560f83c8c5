/* See samples.h. */
#include "cli/samples.h"

gboolean samples_check(const Options *options, gboolean flows, GError **error)
{
    if (!options->stats || !flows)
        return TRUE;
    g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                "--stats: flows have no packets to count; write --fidelity packet");
    return FALSE;
}

gboolean samples_open(Samples *samples, const Options *options, GError **error)
{
    *samples = (Samples){.spec = {.interval_ps = options->stats_interval_ps ? options->stats_interval_ps : PS_PER_US}};
    if (!options->stats)
        return TRUE;
    samples->spec.file = stats_file_open(options->stats, error);
    samples->wanted = &samples->spec;
    return samples->spec.file != NULL;
}

ExitCode samples_close(Samples *samples, ExitCode code, GError **error)
{
    g_autoptr(GError) why = NULL;
    if (stats_file_close(samples->spec.file, &why) || code != EXIT_DONE || (error && *error))
        return code;
    g_propagate_prefixed_error(error, g_steal_pointer(&why), "--stats: ");
    return EXIT_USER;
}
