/* Steps: what is told of events of packets, in order of time. See internal.h. */
#include <string.h>

#include "observe/walk/internal.h"

WalkStep walk_step(const Fabric *fabric, const ProbeEvent *event, SimTime begin_ps, guint sequence)
{
    const char *folder = g_strrstr(event->file, "model/");
    WalkStep step = {.at_ps = event->at_ps - begin_ps,
                     .sequence = sequence,
                     .stage = event->stage,
                     .unit = g_strdup(event->path),
                     .file = folder ? folder : event->file};
    if (event->stage == PROBE_WIRE)
        step.at_ps += recorder_before_wire_ps(fabric, event->link, event->packet);
    return step;
}

static int step_compare(const void *a, const void *b)
{
    const WalkStep *x = a, *y = b;
    if (x->at_ps != y->at_ps)
        return x->at_ps < y->at_ps ? -1 : 1;
    return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

void walk_steps_sort(GArray *steps) { g_array_sort(steps, step_compare); }

void walk_steps_show(const GArray *steps, Recorder *recorder)
{
    for (guint i = 0; i < steps->len; i++) {
        const WalkStep *step = &g_array_index(steps, WalkStep, i);
        recorder_add_step(recorder, step->at_ps, step->depth, step->unit, step->text, step->file);
    }
}

void walk_free(GArray *steps)
{
    for (guint i = 0; i < steps->len; i++) {
        WalkStep *step = &g_array_index(steps, WalkStep, i);
        g_free(step->unit);
        g_free(step->text);
    }
    g_array_free(steps, TRUE);
}
