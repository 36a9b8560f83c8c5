/* See replay_views.h. */
#include "cli/replay/views.h"

#include "cli/live/samples.h"

gboolean replay_views_add(const ReplayResult *result, const ReplaySpec *spec, const Options *options, Report *report,
                          GError **error)
{
    SeriesTables tables = {.report = report};
    LatencyTables where = {.report = report};
    if (result->usage.figures &&
        !series_tables_add_sum(&tables, result->usage.figures, spec->fabric, "replay", result->total_ps, error))
        return FALSE;
    if (result->usage.where) {
        LatencyTotal total = *result->usage.where;
        total.idle_ps += result->total_ps - MIN(result->total_ps, total.time_ps); /* computations alone */
        total.time_ps = result->total_ps;
        latency_breakdown_tables_add_total(&where, &total, "replay");
    } else if (options->html) {
        report_add_page_note(report, "%s", spec->flow ? SERIES_NO_FLOWS : SERIES_ASK_WHERE);
    }
    return TRUE;
}

gboolean replay_views_refuse_wave(GError **error)
{
    g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--vcd: flows have no queues to show; write --fidelity packet");
    return FALSE;
}

ExitCode replay_views_end_wave(const ReplayWave *wave, ExitCode code, GError **error)
{
    const double begin_us = (double)wave->begin_ps / PS_PER_US;
    if (wave->path && wave->stretches > 1)
        g_printerr("fanout: the waveform shows the first of %" G_GUINT64_FORMAT " stretches of communication, from "
                   "%.3f us on; choose another with --from and --to\n",
                   wave->stretches, begin_us);
    if (!wave->path || code == EXIT_USER || (wave->stretches && !wave->lost))
        return code;
    if (!wave->stretches)
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--vcd: nothing is communicated: there is no waveform to write");
    return EXIT_USER;
}
