/* A stretch of communication: from the first work on a quiet fabric to the end of the last, remembered as long as it
 * goes as one before, simulated (traces/replay/episode.h) from where it does not.
 *
 * The memo is a tree of what started when. A stretch begins on a quiet fabric, so that all of it follows from the works
 * that start in it and from when they start, counted from its begin. Each node of the tree is one such beginning: its
 * parent, and one work more. It knows which works ended when, up to where something else started, or to the end of the
 * stretch, and then what links and switches had carried. A new stretch goes down the tree as long as what starts is in
 * it, at the same picosecond. What it passes is exact, since it is what the same simulation would do again.
 *
 * A stretch that was remembered and then goes another way is simulated from its begin: what has ended is known and is
 * not told again, and from there on the simulation leads. So a caller sees the same whichever it is, to the picosecond;
 * remembering costs nothing but the tree. */
#ifndef TRACES_REPLAY_STRETCH_H
#define TRACES_REPLAY_STRETCH_H

#include "traces/replay/episode.h"

typedef struct Stretch Stretch;

typedef struct {
    const ReplaySpec *spec;
    ReplayMemo *memo;                           /* NULL: all is simulated */
    GPtrArray *notes;                           /* of episodes */
    ReplayUsage *usage;                         /* what a stretch has carried is added when it has ended */
    EpisodeDone done;                           /* a work has ended; stretch_now_ps() is when */
    void (*simulated)(void *user, guint64 tag); /* a work that was remembered is not: something came upon it */
    void *user;
} StretchSpec;

/* Between stretches it takes no time: nothing is on the fabric. */
Stretch *stretch_new(const StretchSpec *spec);
void stretch_free(Stretch *stretch); /* NULL: nothing; also in the middle of one */

gboolean stretch_is_busy(const Stretch *stretch);
SimTime stretch_now_ps(const Stretch *stretch);

/* Starts work at now_ps, to which stretch_run has come, or at which a new stretch begins. *remembered: it goes as one
 * before, so far. GError: as episode_start. */
gboolean stretch_start(Stretch *stretch, SimTime now_ps, const EpisodeWork *work, guint64 tag, gboolean *remembered,
                       GError **error);
/* Runs until a work ends (TRUE, *ended) or the clock stands at until_ps. GError: stuck. */
gboolean stretch_run(Stretch *stretch, SimTime until_ps, gboolean *ended, GError **error);

#endif
