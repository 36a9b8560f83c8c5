/* The path of a walk in one line. See walk.h. */
#include <string.h>

#include "model/walk/walk.h"

/* "gpu0.link17.up": "link17". The caller frees it. */
static char *picture_link(const char *unit)
{
    g_auto(GStrv) part = g_strsplit(unit, ".", 3);
    return g_strdup(part[0] && part[1] ? part[1] : unit);
}

static guint picture_count(const GArray *steps, ProbeStage stage)
{
    guint count = 0;
    for (guint i = 0; i < steps->len; i++) {
        const WalkStep *step = &g_array_index(steps, WalkStep, i);
        count += step->stage == stage && step->depth > 0;
    }
    return count;
}

/* The first and the last GPU that served a replica: their numbers follow one another in a team. */
static void picture_members(const GArray *steps, GString *line)
{
    guint64 low = G_MAXUINT64, high = 0;
    for (guint i = 0; i < steps->len; i++) {
        const WalkStep *step = &g_array_index(steps, WalkStep, i);
        if (step->stage == PROBE_SERVE && step->depth > 0) {
            guint64 gpu = g_ascii_strtoull(step->unit + strlen("gpu"), NULL, 10);
            low = MIN(low, gpu);
            high = MAX(high, gpu);
        }
    }
    g_string_append_printf(line, "gpu%" G_GUINT64_FORMAT "..gpu%" G_GUINT64_FORMAT, low, high);
}

char *walk_picture(const GArray *steps)
{
    GString *line = g_string_new(NULL);
    g_autofree char *link = NULL;
    gboolean served = FALSE, gathered = FALSE;
    for (guint i = 0; i < steps->len; i++) {
        const WalkStep *step = &g_array_index(steps, WalkStep, i);
        if (step->stage == PROBE_REQUEST) {
            g_string_append(line, step->unit);
        } else if (step->stage == PROBE_WIRE && step->depth == 0) {
            g_free(link);
            link = picture_link(step->unit);
        } else if (step->stage == PROBE_SERVE && step->depth && !served) {
            served = TRUE;
            g_string_append_printf(line, " ==%u replicas==> ", picture_count(steps, PROBE_SERVE));
            picture_members(steps, line);
        } else if (step->stage == PROBE_GATHER && !gathered) {
            gathered = TRUE;
            g_string_append_printf(line, " ==%u answers==> %s", picture_count(steps, PROBE_GATHER), step->unit);
        } else if (step->depth == 0 && (step->stage == PROBE_INGRESS || step->stage == PROBE_SERVE ||
                                        step->stage == PROBE_ANSWER)) {
            g_string_append_printf(line, " --%s--> %s", link ? link : "", step->unit);
        }
    }
    return g_string_free(line, FALSE);
}
