/* See walk_timeline.h. */
#include "cli/walk/timeline.h"

#include <string.h>

#include "observe/walk/walk.h"
#include "sim/report/timeline.h"

#define NO_STEP G_MAXUINT

static const WalkStep *step_at(const GArray *steps, guint i) { return &g_array_index(steps, WalkStep, i); }

/* The first time after a step's at which anything happens: as long as it is shown. */
static SimTime timeline_next_ps(const GArray *steps, SimTime at_ps)
{
    SimTime next_ps = SIMTIME_NEVER;
    for (guint i = 0; i < steps->len; i++) {
        SimTime time_ps = step_at(steps, i)->at_ps;
        if (time_ps > at_ps)
            next_ps = MIN(next_ps, time_ps);
    }
    return next_ps == SIMTIME_NEVER ? at_ps : next_ps;
}

/* "gpu12.link3.up" is of GPU 12; -1: of none. */
static int step_gpu(const WalkStep *step)
{
    return g_str_has_prefix(step->unit, "gpu") ? (int)g_ascii_strtoll(step->unit + strlen("gpu"), NULL, 10) : -1;
}

static guint last_of_depth(const GArray *steps, guint i, guint depth)
{
    while (i-- > 0)
        if (step_at(steps, i)->depth == depth)
            return i;
    return NO_STEP;
}

/* A replica or its answer was last at the same GPU, or, of a switch or trunk, at the same place; before that where the
 * switch made it. */
static guint last_of_replica(const GArray *steps, guint i)
{
    const WalkStep *step = step_at(steps, i);
    const int gpu = step_gpu(step);
    for (guint j = i; j-- > 0;) {
        const WalkStep *one = step_at(steps, j);
        if (one->depth == 1 && (gpu >= 0 ? step_gpu(one) == gpu : strcmp(one->unit, step->unit) == 0))
            return j;
    }
    for (guint j = i; j-- > 0;)
        if (step_at(steps, j)->stage == PROBE_TABLE)
            return j;
    return NO_STEP;
}

/* Of the packets on their way to a switch the one that comes first: links keep their order. */
static guint first_on_the_way(const GArray *steps, guint i, guint8 *arrived)
{
    for (guint j = 0; j < i; j++) {
        const WalkStep *one = step_at(steps, j);
        if (one->depth == 1 && one->stage == PROBE_WIRE && !arrived[j] &&
            !(step_gpu(one) >= 0 && g_str_has_suffix(one->unit, ".down"))) {
            arrived[j] = TRUE;
            return j;
        }
    }
    return NO_STEP;
}

/* The step that step i follows from; NO_STEP for the first. */
static guint timeline_cause(const GArray *steps, guint i, guint8 *arrived)
{
    const WalkStep *step = step_at(steps, i);
    if (step->depth == 1) {
        const guint from = step->stage == PROBE_INGRESS ? first_on_the_way(steps, i, arrived) : NO_STEP;
        return from != NO_STEP ? from : last_of_replica(steps, i);
    }
    const guint main_one = last_of_depth(steps, i, 0), replica = last_of_depth(steps, i, 1);
    return replica != NO_STEP && main_one != NO_STEP && replica > main_one ? replica : main_one;
}

gboolean walk_timeline_save(const GArray *steps, const char *op, const char *path, GError **error)
{
    Timeline *timeline = timeline_open(path, error);
    if (!timeline)
        return FALSE;
    guint32 group = timeline_add_group(timeline, op);
    g_autoptr(GHashTable) tracks = g_hash_table_new(g_str_hash, g_str_equal);
    g_autofree guint32 *track = g_new(guint32, steps->len);
    g_autofree guint8 *arrived = g_new0(guint8, steps->len);
    for (guint i = 0; i < steps->len; i++) {
        const WalkStep *step = step_at(steps, i);
        if (!g_hash_table_contains(tracks, step->unit))
            g_hash_table_insert(tracks, (gpointer)step->unit,
                                GUINT_TO_POINTER(timeline_add_track(timeline, group, step->unit)));
        track[i] = GPOINTER_TO_UINT(g_hash_table_lookup(tracks, step->unit));
        const char *const facts[] = {"modelled in", step->file, step->reason ? "waits for" : NULL,
                                     step->reason ? walk_reasons[step->reason] : NULL, NULL};
        timeline_add_slice_with(timeline, track[i], step->text, step->at_ps, timeline_next_ps(steps, step->at_ps),
                                facts);
        const guint cause = timeline_cause(steps, i, arrived);
        if (cause != NO_STEP)
            timeline_add_arrow(timeline, track[cause], step_at(steps, cause)->at_ps, track[i], step->at_ps);
    }
    return timeline_close(timeline, error);
}
