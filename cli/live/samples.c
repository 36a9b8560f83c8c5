/* See samples.h. */
#include "cli/live/samples.h"

#include "cli/live/monitor/monitor.h"

static void samples_on_done(void *user, Series *series)
{
    Samples *samples = user;
    if (samples->live)
        live_lock(samples->live);
    if (samples->tables.report)
        series_tables_add(&samples->tables, series);
    tracks_write(series_tracks(series), samples->timeline, samples->alone ? NULL : series_run(series), NULL);
    if (samples->live)
        live_unlock(samples->live, 0);
}

gboolean samples_open(Samples *samples, const Options *options, Report *report, GError **error)
{
    WatchPage *page = monitor_page(options->monitor, 0);
    *samples = (Samples){.spec = {.interval_ps = options->stats_interval_ps, .watch = page},
                         .watch = {.watch = page, .watch_only = TRUE}};
    samples->wanted = samples->watched = page ? &samples->watch : NULL;
    if (options->html && report) {
        samples->tables.report = report;
        samples->spec.done = samples_on_done;
        samples->spec.user = samples;
        samples->wanted = &samples->spec;
    }
    if (!options->stats)
        return TRUE;
    if (samples->spec.interval_ps == 0)
        samples->spec.interval_ps = PS_PER_US;
    samples->spec.file = stats_file_open(options->stats, error);
    samples->wanted = &samples->spec;
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
    samples->spec.watch_only = !samples->tables.report && !samples->spec.file;
    samples->spec.done = samples_on_done;
    samples->spec.user = samples;
    samples->wanted = &samples->spec;
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
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--where: flows have no packets to take the time of "
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
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--where: %u rows; at most %u are taken apart at a time",
                    rows, SERIES_RUNS);
    else
        return TRUE;
    return FALSE;
}

void samples_watch(Samples *samples, const Options *options, Report *report, gboolean where, gboolean animate,
                   guint rows)
{
    samples->where = where && rows <= SERIES_RUNS;
    samples->where_tables.report = report;
    samples->animate = animate;
    if (options->html && rows > SERIES_RUNS)
        report_add_page_note(report, "Of up to %u rows a page has the system, charts over time, latencies and where "
                             "the time went as well; this has %u.", SERIES_RUNS, rows);
    else if (options->html && !samples->where)
        report_add_page_note(report, "%s", options->fidelity == COLL_FLOW ? SERIES_NO_FLOWS : SERIES_ASK_WHERE);
}

struct Observed {
    Where *where;
    Film *film; /* NULL: it is not to be played */
    char *run;
};

static void samples_on_probe(void *user, ProbeStage stage, const char *file, const char *path, const Packet *packet,
                             SimTime at_ps)
{
    Observed *observed = user;
    where_note(observed->where, stage, path, packet, at_ps);
    film_note(observed->film, stage, file, path, packet, at_ps);
}

Observed *samples_observe(const Samples *samples, Fabric *fabric, const char *run)
{
    if (!samples->where)
        return NULL;
    Observed *observed = g_new0(Observed, 1);
    observed->where = where_new(fabric);
    observed->run = g_strdup(run);
    if (samples->animate) {
        g_autofree char *title = g_strdup_printf("%s, packet by packet", run);
        observed->film = film_new(fabric, title);
        fabric_observe(fabric, samples_on_probe, observed);
    }
    return observed;
}

void samples_forget(Observed *observed)
{
    guint64 packets;
    if (!observed)
        return;
    where_free(observed->where);
    if (observed->film)
        scene_free(film_finish(observed->film, &packets));
    g_free(observed->run);
    g_free(observed);
}

gboolean samples_take(Samples *samples, Observed *observed, GError **error)
{
    guint64 packets = 0;
    if (!observed)
        return TRUE;
    where_end(observed->where);
    Scene *scene = observed->film ? film_finish(g_steal_pointer(&observed->film), &packets) : NULL;
    const gboolean good = scene || !samples->animate;
    if (samples->live)
        live_lock(samples->live);
    where_tables_add(&samples->where_tables, observed->where, observed->run);
    if (scene)
        report_add_scene(samples->where_tables.report, scene);
    if (samples->live)
        live_unlock(samples->live, 0);
    if (!good)
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                    "--animate: %s puts %" G_GUINT64_FORMAT " packets on links; from 1 to %u can be played: choose "
                    "another size (-b), or fewer GPUs (-n), CTAs or threads", observed->run, packets, FILM_PACKETS);
    samples_forget(observed);
    return good;
}

ExitCode samples_close(Samples *samples, ExitCode code, GError **error)
{
    g_autoptr(GError) why = NULL;
    const char *what = "--perfetto: ";
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
