/* The path of a walk in one line. See walk.h. */
#include <string.h>

#include "observe/walk/walk.h"

/* "gpu0.link17.up": "link17". The caller frees it. */
static char *picture_link(const char *unit)
{
    g_auto(GStrv) part = g_strsplit(unit, ".", 3);
    return g_strdup(part[0] && part[1] ? part[1] : unit);
}

/* Whether a step there replicates a replica further: the unit is a leaf of a multicast tree. */
static gboolean picture_is_leaf(const GArray *steps, const char *unit)
{
    for (guint i = 0; i < steps->len; i++) {
        const WalkStep *step = &g_array_index(steps, WalkStep, i);
        if (step->stage == PROBE_TABLE && step->depth > 0 && strcmp(step->unit, unit) == 0)
            return TRUE;
    }
    return FALSE;
}

/* Where steps of a stage happen to replicas, in order of time: in the leaves of a tree, or elsewhere. "leaf0, leaf2";
 * of GPUs, whose numbers follow one another in a team, "gpu0..gpu7". *count: how many such steps there are. */
static char *picture_units(const GArray *steps, ProbeStage stage, gboolean leaves, guint *count)
{
    GString *names = g_string_new(NULL);
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    guint64 low = G_MAXUINT64, high = 0;
    *count = 0;
    for (guint i = 0; i < steps->len; i++) {
        const WalkStep *step = &g_array_index(steps, WalkStep, i);
        if (step->stage != stage || step->depth == 0 || picture_is_leaf(steps, step->unit) != leaves)
            continue;
        ++*count;
        if (!g_hash_table_add(seen, step->unit))
            continue;
        if (g_str_has_prefix(step->unit, "gpu")) {
            guint64 gpu = g_ascii_strtoull(step->unit + strlen("gpu"), NULL, 10);
            low = MIN(low, gpu);
            high = MAX(high, gpu);
        } else {
            g_string_append_printf(names, "%s%s", names->len ? ", " : "", step->unit);
        }
    }
    if (low != G_MAXUINT64)
        g_string_printf(names, "gpu%" G_GUINT64_FORMAT "..gpu%" G_GUINT64_FORMAT, low, high);
    return g_string_free(names, FALSE);
}

static void picture_arrow(GString *line, const GArray *steps, ProbeStage stage, gboolean leaves, const char *what)
{
    guint count = 0;
    g_autofree char *units = picture_units(steps, stage, leaves, &count);
    g_string_append_printf(line, " ==%u %s==> %s", count, what, units);
}

char *walk_picture(const GArray *steps)
{
    GString *line = g_string_new(NULL);
    g_autofree char *link = NULL;
    gboolean branched = FALSE, served = FALSE, gathered[2] = {FALSE, FALSE};
    for (guint i = 0; i < steps->len; i++) {
        const WalkStep *step = &g_array_index(steps, WalkStep, i);
        gboolean leaf = step->stage == PROBE_GATHER && picture_is_leaf(steps, step->unit);
        if (step->stage == PROBE_REQUEST) {
            g_string_append(line, step->unit);
        } else if (step->stage == PROBE_WIRE && step->depth == 0) {
            g_free(link);
            link = picture_link(step->unit);
        } else if (step->stage == PROBE_TABLE && step->depth && !branched) {
            branched = TRUE;
            picture_arrow(line, steps, PROBE_TABLE, TRUE, "replicas");
        } else if (step->stage == PROBE_SERVE && step->depth && !served) {
            served = TRUE;
            picture_arrow(line, steps, PROBE_SERVE, FALSE, "replicas");
        } else if (step->stage == PROBE_GATHER && !gathered[leaf]) {
            gathered[leaf] = TRUE;
            picture_arrow(line, steps, PROBE_GATHER, leaf, "answers");
        } else if (step->depth == 0 &&
                   (step->stage == PROBE_INGRESS || step->stage == PROBE_SERVE || step->stage == PROBE_ANSWER)) {
            g_string_append_printf(line, " --%s--> %s", link ? link : "", step->unit);
        }
    }
    return g_string_free(line, FALSE);
}
