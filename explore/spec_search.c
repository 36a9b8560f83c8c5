/* The groups of a SPEC.ini that choose points by themselves: [latin] and [threshold]. See spec.h. */
#include <string.h>

#include "explore/latin.h"
#include "explore/spec_parts.h"

/* ---- [latin] */

static gboolean spec_read_sample(SpecReader *reader, const SpecLine *line, GError **error)
{
    SweepSpec *spec = reader->spec;
    Axis *axis = spec_add_axis(reader, line, line->key, AXIS_LATIN, error);
    guint64 low, high;
    g_autofree char *wrong = NULL;
    if (!axis)
        return FALSE;
    gboolean span = values_parse_span(&axis->type, line->value, &low, &high, &wrong);
    if (wrong)
        return spec_bad(reader, line, error, "%s", wrong);
    if (!span) {
        if (!spec_axis_values(reader, axis, line, error))
            return FALSE;
        low = 0;
        high = axis->values->len - 1;
    }
    g_autofree guint64 *drawn = latin_draw(spec->latin_seed, line->key, spec->samples, low, high);
    GPtrArray *values = g_ptr_array_new_with_free_func(g_free);
    for (guint64 i = 0; i < spec->samples; i++)
        g_ptr_array_add(values, span ? g_strdup_printf("%" G_GUINT64_FORMAT, drawn[i])
                                     : g_strdup(axis->values->pdata[drawn[i]]));
    g_clear_pointer(&axis->values, g_ptr_array_unref);
    axis->values = values;
    return TRUE;
}

gboolean spec_read_latin(SpecReader *reader, GError **error)
{
    SweepSpec *spec = reader->spec;
    const SpecLine *points = spec_line(reader, "latin", "points"), *any = NULL;
    spec->latin_seed = 1;
    for (guint i = 0; i < reader->lines->len; i++) {
        const SpecLine *line = &g_array_index(reader->lines, SpecLine, i);
        if (strcmp(line->group, "latin") == 0)
            any = line;
    }
    if (!any)
        return TRUE;
    if (!points)
        return spec_bad(reader, any, error, "the group lacks 'points', how many samples there are");
    if (!spec_number(reader, points, 1, reader->most, &spec->samples, error) ||
        !spec_number(reader, spec_line(reader, "latin", "seed"), 0, G_MAXINT64, &spec->latin_seed, error))
        return FALSE;
    guint before = spec->axes->len;
    for (guint i = 0; i < reader->lines->len; i++) {
        const SpecLine *line = &g_array_index(reader->lines, SpecLine, i);
        if (strcmp(line->group, "latin") == 0 && strcmp(line->key, "points") != 0 && strcmp(line->key, "seed") != 0 &&
            !spec_read_sample(reader, line, error))
            return FALSE;
    }
    return spec->axes->len > before || spec_bad(reader, points, error, "no parameter has a range to draw from");
}

/* ---- [threshold] */

static gboolean spec_read_keep(SpecReader *reader, GError **error)
{
    SweepSpec *spec = reader->spec;
    const SpecLine *keep = spec_line(reader, "threshold", "keep");
    g_autofree char *text = g_strdup(keep->value);
    ParamRow row = {.name = "keep", .type = PARAM_U64_T, .unit = "ppm", .min = 1, .max = 1000000};
    char *percent = strchr(text, '%');
    guint64 ppm = 0;
    g_autofree char *normal = NULL, *wrong = NULL, *digits = NULL;
    gboolean good = percent && !percent[1];
    if (good) { /* percent to parts per million: four digits further */
        *percent = 0;
        g_strstrip(text);
        char *point = strchr(text, '.');
        gsize after = point ? strlen(point + 1) : 0;
        good = after <= 4 && *text != '.' && (!point || after > 0);
        digits = g_strdup_printf("%.*s%s%.*s", point ? (int)(point - text) : (int)strlen(text), text,
                                 point ? point + 1 : "", (int)(4 - MIN(after, 4)), "0000");
        good = good && param_row_parse(&row, digits, &ppm, &normal, &wrong);
    }
    spec->threshold.keep_ppm = (guint32)ppm;
    return good ||
           spec_bad(reader, keep, error, "'%s' is no share above 0 %% and up to 100 %%, like 95 %%", keep->value);
}

/* Times and what is measured in them are better when lower. */
gboolean spec_is_time(const char *metric)
{
    static const char *const ends[] = {"_ps", "_ns", "_us", "_ms", "_s"};
    for (guint i = 0; i < G_N_ELEMENTS(ends); i++)
        if (g_str_has_suffix(metric, ends[i]))
            return TRUE;
    return FALSE;
}

static gboolean spec_read_better(SpecReader *reader, GError **error)
{
    SweepSpec *spec = reader->spec;
    const SpecLine *better = spec_line(reader, "threshold", "better");
    spec->threshold.higher = better ? strcmp(better->value, "higher") == 0 : !spec_is_time(spec->threshold.metric);
    if (better && !spec->threshold.higher && strcmp(better->value, "lower") != 0)
        return spec_bad(reader, better, error, "'%s' is neither higher nor lower", better->value);
    return TRUE;
}

static gboolean spec_read_reference(SpecReader *reader, const Axis *axis, GError **error)
{
    SweepSpec *spec = reader->spec;
    const SpecLine *line = spec_line(reader, "threshold", "reference");
    g_autofree char *normal = NULL, *wrong = NULL;
    spec->threshold.reference = axis->values->len - 1;
    if (!line)
        return TRUE;
    if (!value_parse(&axis->type, line->value, NULL, &normal, &wrong))
        return spec_bad(reader, line, error, "%s", wrong);
    if (!g_ptr_array_find_with_equal_func(axis->values, normal, g_str_equal, &spec->threshold.reference))
        return spec_bad(reader, line, error, "'%s' is none of the values", line->value);
    return TRUE;
}

gboolean spec_read_threshold(SpecReader *reader, GError **error)
{
    static const char *const needed[] = {"key", "values", "metric", "keep"};
    SweepSpec *spec = reader->spec;
    const SpecLine *line[G_N_ELEMENTS(needed)], *any = NULL;
    for (guint i = 0; i < G_N_ELEMENTS(needed); i++) {
        line[i] = spec_line(reader, "threshold", needed[i]);
        any = line[i] ? line[i] : any;
    }
    if (!any)
        return TRUE;
    for (guint i = 0; i < G_N_ELEMENTS(needed); i++)
        if (!line[i])
            return spec_bad(reader, any, error, "the group lacks '%s'", needed[i]);
    Axis *axis = spec_add_axis(reader, line[0], line[0]->value, AXIS_THRESHOLD, error);
    if (!axis || !spec_axis_values(reader, axis, line[1], error))
        return FALSE;
    if (!value_is_number(&axis->type) || axis->values->len < 2)
        return spec_bad(reader, line[1], error, "a threshold is looked for among two numbers or more");
    for (guint i = 1; i < axis->values->len; i++) {
        const char *before = axis->values->pdata[i - 1], *value = axis->values->pdata[i];
        if (g_ascii_strtoull(before, NULL, 10) >= g_ascii_strtoull(value, NULL, 10))
            return spec_bad(reader, line[1], error, "%s stands behind %s; values ascend", value, before);
    }
    spec->threshold.axis = axis;
    spec->threshold.metric = g_strdup(line[2]->value);
    spec->threshold.metric_line = line[2]->line;
    return spec_read_keep(reader, error) && spec_read_better(reader, error) && spec_read_reference(reader, axis, error);
}
