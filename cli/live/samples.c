/* See samples.h. */
#include "cli/live/samples.h"

#include "cli/live/limits.h"
#include "cli/live/monitor/monitor.h"
#include "observe/walk/film.h"

static void samples_add_views(Samples *samples, Recording *recording, Scene *scene)
{
    const RecordedRun run = recording_run(recording);
    if (samples->tables.report && run.points)
        series_tables_add(&samples->tables, &run);
    tracks_write(recording_tracks(recording), samples->timeline, samples->alone ? NULL : run.name, NULL);
    if (recording_where(recording) && samples->where_tables.report) /* else the caller does */
        latency_breakdown_tables_add(&samples->where_tables, recording_where(recording), run.name);
    if (scene)
        report_add_scene(samples->where_tables.report, scene);
}

static void samples_take_limits(Samples *samples, Recording *recording)
{
    const RecordedRun run = recording_run(recording);
    g_free(samples->full);
    g_free(samples->parts);
    samples->full = run.points ? limits_full(run.points, run.fabric, run.passed_ps) : NULL;
    samples->parts = NULL;
    if (recording_where(recording)) {
        const LatencyTotal total = latency_breakdown_total(recording_where(recording));
        samples->parts = limits_parts(&total);
    }
}

static gboolean samples_on_done(void *user, Recording *recording, GError **error)
{
    Samples *samples = user;
    guint64 packets;
    Scene *scene = recording_take_scene(recording, &packets);
    if (samples->live)
        live_lock(samples->live);
    samples_add_views(samples, recording, scene);
    samples_take_limits(samples, recording);
    if (samples->live)
        live_unlock(samples->live, 0);
    if (scene || !samples->spec.film || !recording_where(recording))
        return TRUE;
    g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                "--animate: %s puts %" G_GUINT64_FORMAT " packets on links; from 1 to %u can be played: choose "
                "another size (-b), or fewer GPUs (-n), CTAs or threads",
                recording_run(recording).name, packets, FILM_PACKETS);
    return FALSE;
}

gboolean samples_open(Samples *samples, const Options *options, Report *report, GError **error)
{
    WatchPage *page = monitor_page(options->monitor, 0);
    *samples = (Samples){.spec = {.interval_ps = options->stats_interval_ps,
                                  .watch = page,
                                  .points = (options->html && report) || options->stats,
                                  .done = samples_on_done,
                                  .user = samples},
                         .watched = {.watch = page}};
    samples->tables.report = options->html ? report : NULL;
    if (!options->stats)
        return TRUE;
    if (samples->spec.interval_ps == 0)
        samples->spec.interval_ps = PS_PER_US;
    samples->spec.file = stats_file_open(options->stats, error);
    return samples->spec.file != NULL;
}

/* FALSE: the file could not be written whole. */
static gboolean samples_end_timeline(Samples *samples, GError **error)
{
    Timeline *timeline = g_steal_pointer(&samples->timeline);
    if (!timeline)
        return TRUE;
    g_autofree char *left_out = timeline_left_out(timeline);
    if (left_out)
        g_printerr("fanout: the timeline leaves out %s\n", left_out);
    return timeline_close(timeline, error);
}

static void samples_on_stop(void *user)
{
    g_autoptr(GError) error = NULL;
    if (!samples_end_timeline(user, &error))
        g_printerr("fanout: --perfetto: %s\n", error->message);
}

gboolean samples_open_timeline(Samples *samples, const Options *options, gboolean alone, Live *live, GError **error)
{
    if (!options->perfetto)
        return TRUE;
    samples->timeline = timeline_open(options->perfetto, error);
    samples->alone = alone;
    samples->live = live;
    samples->spec.tracks = TRUE;
    live_on_stop(live, samples_on_stop, samples);
    return samples->timeline != NULL;
}

#define SAMPLES_FOLLOW_BYTES (16u << 20)

void samples_choose_engine(Options *options, guint64 bytes)
{
    if (options->perfetto && options->cores <= 1 && bytes <= SAMPLES_FOLLOW_BYTES)
        options->engine = SIM_ENGINE_REFERENCE;
}

gboolean samples_check_where(Options *options, GError **error)
{
    if (options->cores > 1)
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--where: an observed run is on one core; leave --cores away");
    else if (options->fidelity == COLL_FLOW)
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                    "--where: flows have no packets to take the time of "
                    "apart; write --fidelity packet");
    else {
        options->engine = SIM_ENGINE_REFERENCE;
        return TRUE;
    }
    return FALSE;
}

gboolean samples_check_rows(const Options *options, gboolean where, gboolean animate, guint rows, GError **error)
{
    if (animate && !options->html)
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--animate: where to? add --html FILE");
    else if (animate && rows > 1)
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--animate: %u rows; one at a time can be played", rows);
    else if (where && !options->html && rows > SERIES_RUNS)
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--where: %u rows; at most %u are taken apart at a time", rows,
                    SERIES_RUNS);
    else
        return TRUE;
    return FALSE;
}

void samples_watch(Samples *samples, const Options *options, Report *report, gboolean where, gboolean animate,
                   guint rows)
{
    samples->spec.where = where && rows <= SERIES_RUNS;
    samples->spec.film = animate;
    samples->where_tables.report = report;
    if (options->html && rows > SERIES_RUNS)
        report_add_page_note(report,
                             "Of up to %u rows a page has the system, charts over time, latencies and where "
                             "the time went as well; this has %u.",
                             SERIES_RUNS, rows);
    else if (options->html && !samples->spec.where)
        report_add_page_note(report, "%s", options->fidelity == COLL_FLOW ? SERIES_NO_FLOWS : SERIES_ASK_WHERE);
}

ExitCode samples_close(Samples *samples, ExitCode code, GError **error)
{
    g_autoptr(GError) why = NULL;
    const char *what = "--perfetto: ";
    g_clear_pointer(&samples->full, g_free);
    g_clear_pointer(&samples->parts, g_free);
    gboolean good = samples_end_timeline(samples, &why);
    if (good) {
        what = "--stats: ";
        good = stats_file_close(samples->spec.file, &why);
    } else {
        stats_file_close(samples->spec.file, NULL);
    }
    if (good || code != EXIT_DONE || (error && *error))
        return code;
    g_propagate_prefixed_error(error, g_steal_pointer(&why), "%s", what);
    return EXIT_USER;
}
