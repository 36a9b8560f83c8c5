/* See recording.h. Events of packets come from the probe points of the model, in order of time, and go to one account
 * of requests (latency_breakdown.c) and to the views that follow packets; samples are taken at the times that the views
 * ask for. */
#include "observe/recording.h"

#include "observe/series/tracks_parts.h"
#include "observe/walk/film.h"

struct Recording {
    Fabric *fabric;
    RecordingSpec spec;
    char *run;
    SimTime begin_ps, end_ps;               /* of the simulation */
    SimTime points_ps, watch_ps, tracks_ps; /* when they look next; SIMTIME_NEVER: never */
    SeriesPoints *points;
    Watch *watch;
    Tracks *tracks;
    Packets *packets; /* of the tracks */
    LatencyBreakdown *where;
    Film *film;
    Scene *scene; /* what became of it */
    guint64 film_packets;
    Probe view; /* recording_show() */
    void *view_user;
};

/* ---- events */

static void recording_on_event(void *user, const ProbeEvent *event)
{
    Recording *recording = user;
    if (recording->packets)
        packets_note_before(recording->packets, event);
    if (recording->where)
        latency_breakdown_note(recording->where, event);
    if (recording->packets)
        packets_note(recording->packets, event);
    if (recording->film)
        film_note(recording->film, event);
    if (recording->view)
        recording->view(recording->view_user, event);
}

void recording_show(Recording *recording, Probe probe, void *user)
{
    recording->view = probe;
    recording->view_user = user;
    if (probe)
        fabric_observe(recording->fabric, recording_on_event, recording);
}

void recording_forget(Recording *recording, const void *cause)
{
    if (recording && recording->packets)
        packets_forget(recording->packets, cause);
}

void recording_cut(Recording *recording)
{
    if (recording)
        recording->spec.where = recording->spec.film = FALSE;
}

/* ---- samples */

static SimTime recording_next_ps(const Recording *recording)
{
    return MIN(MIN(recording->points_ps, recording->watch_ps), recording->tracks_ps);
}

static SimTime recording_look(void *user, SimTime at_ps)
{
    Recording *recording = user;
    if (recording->points_ps <= at_ps)
        recording->points_ps = series_points_look(recording->points, at_ps);
    if (recording->watch_ps <= at_ps)
        recording->watch_ps = watch_look(recording->watch, at_ps);
    if (recording->tracks_ps <= at_ps)
        recording->tracks_ps = tracks_look(recording->tracks, at_ps);
    return recording_next_ps(recording);
}

/* ---- life */

static void recording_begin_samples(Recording *recording, const char *run)
{
    const RecordingSpec *spec = &recording->spec;
    Fabric *fabric = recording->fabric;
    recording->points_ps = recording->watch_ps = recording->tracks_ps = SIMTIME_NEVER;
    if (spec->points) {
        recording->points = series_points_new(fabric, spec->interval_ps, spec->begin_ps, spec->file, recording->run);
        recording->points_ps = recording->begin_ps + (spec->interval_ps ? spec->interval_ps : SERIES_FIRST_PS);
    }
    if (spec->watch) {
        recording->watch = watch_new(spec->watch, fabric, run, spec->begin_ps);
        recording->watch_ps = recording->begin_ps + WATCH_LEAST_PS;
    }
    if (spec->tracks) {
        recording->tracks = tracks_new(fabric, spec->begin_ps, recording->packets);
        recording->tracks_ps = tracks_first_ps(recording->tracks);
    }
    if (recording_next_ps(recording) != SIMTIME_NEVER)
        sim_observe(fabric->sim, recording_next_ps(recording), recording_look, recording);
}

Recording *recording_new(Fabric *fabric, const RecordingSpec *spec, const char *run)
{
    if (!spec || !(spec->points || spec->watch || spec->tracks || spec->where || spec->film || spec->shown))
        return NULL;
    Recording *recording = g_new0(Recording, 1);
    const gboolean follows = spec->tracks && sim_engine(fabric->sim) == SIM_ENGINE_REFERENCE;
    recording->fabric = fabric;
    recording->spec = *spec;
    recording->run = g_strdup(run);
    for (char *c = recording->run; *c; c++)
        if (*c == '"' || *c == ',' || *c == '\\' || (guchar)*c < ' ')
            *c = ' ';
    recording->begin_ps = recording->end_ps = sim_now_ps(fabric->sim);
    if (spec->where || follows)
        recording->where = latency_breakdown_new(fabric);
    if (follows)
        recording->packets = packets_new(fabric, recording->where, spec->shares);
    if (spec->film) {
        g_autofree char *title = g_strdup_printf("%s, packet by packet", run);
        recording->film = film_new(fabric, title);
    }
    if (recording->where || recording->film)
        fabric_observe(fabric, recording_on_event, recording);
    recording_begin_samples(recording, run);
    return recording;
}

static void recording_end_samples(Recording *recording)
{
    const SimTime now_ps = recording->end_ps;
    if (recording->points)
        series_points_end(recording->points, now_ps);
    g_clear_pointer(&recording->watch, watch_free);
    if (recording->tracks)
        tracks_end(recording->tracks, now_ps);
    sim_observe(recording->fabric->sim, 0, NULL, NULL);
}

gboolean recording_end(Recording *recording, GError **error)
{
    if (!recording)
        return TRUE;
    recording->end_ps = sim_now_ps(recording->fabric->sim);
    recording_end_samples(recording);
    if (recording->where)
        latency_breakdown_end(recording->where);
    if (recording->film)
        recording->scene = film_finish(g_steal_pointer(&recording->film), &recording->film_packets);
    if (recording->fabric->probe == recording_on_event)
        fabric_observe(recording->fabric, NULL, NULL);
    return !recording->spec.done || recording->spec.done(recording->spec.user, recording, error);
}

void recording_free(Recording *recording)
{
    if (!recording)
        return;
    series_points_free(recording->points);
    tracks_free(recording->tracks);
    latency_breakdown_free(recording->where);
    scene_free(recording->scene);
    g_free(recording->run);
    g_free(recording);
}

/* ---- what was recorded */

RecordedRun recording_run(const Recording *recording)
{
    return (RecordedRun){.name = recording->run,
                         .fabric = recording->fabric,
                         .passed_ps = recording->end_ps - recording->begin_ps,
                         .points = recording->points ? series_points_of(recording->points) : NULL};
}

const Tracks *recording_tracks(const Recording *recording) { return recording->tracks; }
Tracks *recording_take_tracks(Recording *recording) { return g_steal_pointer(&recording->tracks); }

const LatencyBreakdown *recording_where(const Recording *recording)
{
    return recording->spec.where ? recording->where : NULL;
}

Scene *recording_take_scene(Recording *recording, guint64 *packets)
{
    *packets = recording->film_packets;
    return recording->spec.film ? g_steal_pointer(&recording->scene) : NULL;
}
