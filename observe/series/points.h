/* Statistics in time: what the registry's counters of a fabric did in each interval of a run, and where its levels
 * stood at its end. Of each sample all that changed goes into a file at once, and the sums of the whole fabric into
 * points, of which there are never more than SERIES_POINTS: where more would be needed, neighbours are put together.
 * recording.c takes the samples. */
#ifndef OBSERVE_SERIES_POINTS_H
#define OBSERVE_SERIES_POINTS_H

#include "model/fabric/fabric.h"
#include "observe/series/stats_file.h"

#define SERIES_POINTS 512
#define SERIES_FIRST_PS 20000 /* the interval that a run begins with where none is given */
                              /* where none is given, a stretch in which nothing happens is one point */

/* One interval. Sums over all links, ports and GPUs; levels as they were at samples: the highest of the interval. */
typedef struct {
    SimTime from_ps, to_ps;
    guint64 up_flits, down_flits; /* on the GPUs' links */
    guint64 bytes;                /* of requests to other GPUs and multicast objects that were answered */
    guint64 queued;               /* packets that wait for a wire */
    guint64 outstanding;          /* requests without an answer yet */
    guint64 multicast_tags, multicast_tags_most; /* in use: in all, and at the port that has most */
    guint64 reduction_tags, reduction_tags_most;
    guint64 reduction_bytes, reduction_bytes_most;
    guint64 credit_stalls, tag_stalls, buffer_stalls, round_stalls;
} SeriesPoint;

/* Puts `from`, the interval behind it, into a point. Members that are sums, by their offsets; others are levels. */
void series_point_merge(SeriesPoint *into, const SeriesPoint *from);
extern const gsize series_point_sums[];
extern const guint series_point_n_sums;

typedef struct SeriesPoints SeriesPoints;
/* interval_ps: 0: as fine as SERIES_POINTS of the whole run are. begin_ps: of the simulation, in the time that lines
 * and points tell. file: NULL: none. run: what tells its lines from those of other runs in the file. */
SeriesPoints *series_points_new(Fabric *fabric, SimTime interval_ps, SimTime begin_ps, StatsFile *file,
                                const char *run);
/* Returns when it looks next. */
SimTime series_points_look(SeriesPoints *series, SimTime at_ps);
void series_points_end(SeriesPoints *series, SimTime at_ps); /* the last, shorter interval */
const GArray *series_points_of(const SeriesPoints *series);  /* SeriesPoint */
void series_points_free(SeriesPoints *series);               /* NULL is none */

#endif
