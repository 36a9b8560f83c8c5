/* What units did in time, for a timeline (sim/report/timeline.h): of each link how busy it was, packets that wait and
 * credits that its sender has; of each switch's port tags and reduction buffer in use; of each GPU requests without an
 * answer. What never changed has no track. Of each CTA, when it was on its SM. In the
 * reference engine the first requests are followed through the fabric, with an arrow from each packet to those that
 * follow from it.
 *
 * It is kept in memory until tracks_write(): intervals double when there are too many, so that one run gives at most
 * TRACKS_EVENTS values (and 16 for each unit of a large system). */
#ifndef OBSERVE_SERIES_TRACKS_H
#define OBSERVE_SERIES_TRACKS_H

#include "model/fabric/fabric.h"
#include "sim/report/timeline.h"

typedef struct Tracks Tracks;
typedef struct Packets Packets; /* tracks_parts.h */

#define TRACKS_EVENTS 100000u

/* begin_ps: of the simulation, in the timeline's time. packets: the requests that are followed, which are the tracks'
 * then; NULL: none are. */
Tracks *tracks_new(Fabric *fabric, SimTime begin_ps, Packets *packets);
SimTime tracks_first_ps(const Tracks *tracks);
/* Returns when it looks next. */
SimTime tracks_look(Tracks *tracks, SimTime at_ps);
void tracks_end(Tracks *tracks, SimTime at_ps); /* the last, shorter interval; the fabric is not needed any more */
/* Where the caller has drawn the launch or copy (Cta.cause, the `user` of copy_start()) that a request of at_ps is of:
 * arrows lead from there to the request. FALSE: nowhere. Times are the timeline's. */
typedef struct {
    gboolean (*find)(void *user, const void *cause, SimTime at_ps, guint32 *track, SimTime *from_ps);
    void *user;
} TracksOrigin;
/* origin: NULL for none; run: stands behind the names of groups; NULL: it is the only one. NULL tracks are none. */
void tracks_write(const Tracks *tracks, Timeline *timeline, const char *run, const TracksOrigin *origin);
void tracks_drop_ctas(Tracks *tracks); /* the caller has them from elsewhere */
void tracks_free(Tracks *tracks);

#endif
