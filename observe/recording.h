/* The recording of a run: the one thing that observes a fabric. All that is shown of a run is a view of it.
 *
 *     RecordingSpec spec = {.points = TRUE, .interval_ps = 1000000, .file = file};
 *     Recording *recording = recording_new(fabric, &spec, "all_reduce 1M nvls");   before the first sim_run()
 *     ... sim_run() ...
 *     recording_end(recording, &error);                                 behind the last one
 *     ... recording_run(recording), recording_where(recording) ...
 *     recording_free(recording);
 *
 * It changes nothing: a run with it is the run without it. observe/README.md says what it consists of. */
#ifndef OBSERVE_RECORDING_H
#define OBSERVE_RECORDING_H

#include "observe/series/points.h"
#include "observe/series/tracks.h"
#include "observe/series/watch.h"
#include "observe/series/latency_breakdown.h"
#include "sim/report/scene.h"

typedef struct Recording Recording;

/* What is to be recorded; nothing of it: there is no recording. */
typedef struct {
    SimTime begin_ps;    /* of the simulation, in the time that points and tracks tell */
    gboolean points;     /* statistics in time, */
    SimTime interval_ps; /* in such intervals; 0: as fine as SERIES_POINTS of the whole run are */
    StatsFile *file;     /* and in this file; NULL: none */
    WatchPage *watch;    /* questions that arrive there are answered while the run goes on; NULL: none */
    gboolean tracks;     /* what units did is kept for a timeline, */
    gboolean shares;     /* and of each launch or copy some requests; recording_forget() */
    gboolean where;      /* the time of all requests is taken apart, in the reference engine, */
    gboolean film;       /* and the run is made a scene that can be played */
    gboolean shown;      /* recording_show() will be called */
    /* By recording_end(), whose value it gives: what was recorded can be read. NULL: nothing is called. */
    gboolean (*done)(void *user, Recording *recording, GError **error);
    void *user;
} RecordingSpec;

/* spec: NULL gives NULL, which all functions take. run: its name; copied. One for each fabric, before its first run. */
Recording *recording_new(Fabric *fabric, const RecordingSpec *spec, const char *run);
/* Shows all events of packets from now on to one more view, in the reference engine; NULL: no more. */
void recording_show(Recording *recording, Probe probe, void *user);
void recording_forget(Recording *recording, const void *cause); /* with `shares`: a launch or copy has ended */
void recording_cut(Recording *recording); /* the run failed: neither where its time went is told, nor is it played */
/* Once, between runs or behind the last; there must be no run after it. */
gboolean recording_end(Recording *recording, GError **error);
void recording_free(Recording *recording);

/* ---- what was recorded; behind recording_end(), and by `done` */

/* The fabric as the run left it, and its statistics. */
typedef struct {
    const char *name;
    Fabric *fabric;
    SimTime passed_ps;    /* how long it was */
    const GArray *points; /* SeriesPoint; NULL: they were not recorded */
} RecordedRun;
RecordedRun recording_run(const Recording *recording);
const Tracks *recording_tracks(const Recording *recording);          /* NULL: there are none */
Tracks *recording_take_tracks(Recording *recording);                 /* to be freed by tracks_free() */
const LatencyBreakdown *recording_where(const Recording *recording); /* NULL: not taken apart */
/* The caller's then. *packets: how many went over links. NULL: it was not to be played, or is too large. */
Scene *recording_take_scene(Recording *recording, guint64 *packets);

#endif
