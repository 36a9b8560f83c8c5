/* Statistics in time: what the registry's counters of a fabric did in each interval of a run, and where its levels
 * stood at its end.
 *
 *     SeriesSpec spec = {.interval_ps = 1000000, .file = file};
 *     Series *series = series_new(fabric, &spec, "all_reduce 1M nvls");   before the first sim_run()
 *     ... sim_run() ...
 *     series_end(series);                                                 the last, shorter interval
 *     ... series_points(series) ...
 *     series_free(series);
 *
 * It observes (sim_observe()), and changes nothing: a run with it is the run without it. Of each sample all that
 * changed goes into a file at once, and the sums of the whole fabric into points, of which there are never more than
 * SERIES_POINTS: where more would be needed, neighbours are put together. */
#ifndef OBSERVE_SERIES_SERIES_H
#define OBSERVE_SERIES_SERIES_H

#include "model/fabric/fabric.h"
#include "observe/series/stats_file.h"
#include "observe/series/tracks.h"
#include "observe/series/watch.h"

typedef struct Series Series;

#define SERIES_POINTS 512
#define SERIES_FIRST_PS 20000 /* the interval that a run begins with where none is given */
                              /* where none is given, a stretch in which nothing happens is one point */

typedef struct {
    SimTime interval_ps; /* 0: as fine as SERIES_POINTS of the whole run are */
    SimTime begin_ps;    /* of the simulation, in the time that lines and points tell */
    StatsFile *file;     /* NULL: none */
    void (*done)(void *user, Series *series); /* by series_end(): its points can be read; NULL: nothing is called */
    void *user;
    WatchPage *watch; /* questions that arrive there are answered while the run goes on; NULL: none */
    gboolean watch_only; /* no samples and no points */
    gboolean tracks;     /* what units did is kept for a timeline: series_tracks(), */
    gboolean shares;     /* and of each launch or copy some requests; series_forget() */
} SeriesSpec;

/* One interval. Sums over all links, ports and GPUs; levels as they were at samples: the highest of the interval. */
typedef struct {
    SimTime from_ps, to_ps;
    guint64 up_flits, down_flits;  /* on the GPUs' links */
    guint64 bytes;                 /* of requests to other GPUs and multicast objects that were answered */
    guint64 queued;                /* packets that wait for a wire */
    guint64 outstanding;           /* requests without an answer yet */
    guint64 multicast_tags, multicast_tags_most; /* in use: in all, and at the port that has most */
    guint64 reduction_tags, reduction_tags_most;
    guint64 reduction_bytes, reduction_bytes_most;
    guint64 credit_stalls, tag_stalls, buffer_stalls, round_stalls;
} SeriesPoint;

/* Puts `from`, the interval behind it, into a point. Members that are sums, by their offsets; others are levels. */
void series_point_merge(SeriesPoint *into, const SeriesPoint *from);
extern const gsize series_point_sums[];
extern const guint series_point_n_sums;

/* spec: NULL gives NULL, which all but the last two take. run: what tells its lines from those of other runs in the
 * file; copied. One for each fabric, before its first run. */
Series *series_new(Fabric *fabric, const SeriesSpec *spec, const char *run);
void series_end(Series *series); /* once, between runs or behind the last; there must be no run after it */
void series_free(Series *series);
const GArray *series_points(const Series *series); /* SeriesPoint */
const char *series_run(const Series *series);
/* For `done`: the fabric as the run left it, and how long the run was. */
void series_forget(Series *series, const void *cause); /* with `shares`: a launch or copy has ended */
const Tracks *series_tracks(const Series *series); /* by `done` and behind series_end(); NULL: there are none */
Tracks *series_take_tracks(Series *series);        /* to be freed by tracks_free() */
Fabric *series_fabric(const Series *series);
SimTime series_passed_ps(const Series *series);

#endif
