/* See spec.h. */
#include "explore/spec.h"

#include <string.h>

#include "explore/spec_parts.h"
#include "model/presets/preset.h"
#include "sim/param/nearest.h"

gboolean spec_bad(const SpecReader *reader, const SpecLine *line, GError **error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *what = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error(error, SPEC_ERROR, SPEC_ERROR_VALUE, "%s:%d: [%s] %s: %s", reader->spec->path, line->line, line->group,
                line->key, what);
    return FALSE;
}

const SpecLine *spec_line(const SpecReader *reader, const char *group, const char *key)
{
    for (guint i = 0; i < reader->lines->len; i++) {
        const SpecLine *line = &g_array_index(reader->lines, SpecLine, i);
        if (strcmp(line->group, group) == 0 && strcmp(line->key, key) == 0)
            return line;
    }
    return NULL;
}

gboolean spec_number(const SpecReader *reader, const SpecLine *line, guint64 least, guint64 most, guint64 *to,
                     GError **error)
{
    if (!line || g_ascii_string_to_unsigned(line->value, 10, least, most, to, NULL))
        return TRUE;
    return spec_bad(reader, line, error, "'%s' is not a whole number from %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT,
                    line->value, least, most);
}

/* ---- which keys there are */

static gboolean spec_refuse_name(const SpecReader *reader, const SpecLine *line, const char *name, GError **error)
{
    g_autofree const char **words = workload_names(reader->spec->workload);
    g_autofree char *hint = nearest_hint(name, words);
    return spec_bad(reader, line, error, "'%s' is neither a word of '%s' nor a parameter like link.flight_ps%s", name,
                    reader->spec->workload->verb, hint);
}

static gboolean spec_type(const SpecReader *reader, const SpecLine *line, const char *name, ValueType *type,
                          GError **error)
{
    const WorkloadKey *key = workload_key(reader->spec->workload, name);
    g_autoptr(GError) why = NULL;
    if (key) {
        *type = workload_type(key);
        return TRUE;
    }
    if (!strchr(name, '.'))
        return spec_refuse_name(reader, line, name, error);
    *type = (ValueType){.kind = VALUE_PARAM, .row = param_row(reader->rows, name, &why)};
    return type->row || spec_bad(reader, line, error, "%s", why->message);
}

static gboolean spec_check_name_free(const SpecReader *reader, const SpecLine *line, const char *name, GError **error)
{
    for (guint i = 0; i < reader->spec->axes->len; i++) {
        const Axis *axis = reader->spec->axes->pdata[i];
        if (!g_strv_contains((const char *const *)axis->names, name))
            continue;
        if (axis->line)
            return spec_bad(reader, line, error, "'%s' has its values in line %d already", name, axis->line);
        return spec_bad(reader, line, error, "'%s' stands behind 'run' already", name);
    }
    return TRUE;
}

static void spec_free_axis(gpointer data)
{
    Axis *axis = data;
    g_strfreev(axis->names);
    g_clear_pointer(&axis->values, g_ptr_array_unref);
    g_free(axis);
}

static gboolean spec_same_type(const ValueType *a, const ValueType *b)
{
    return a->kind == b->kind && (!a->row || (a->row->type == b->row->type && strcmp(a->row->unit, b->row->unit) == 0));
}

Axis *spec_add_axis(SpecReader *reader, const SpecLine *line, const char *names, AxisKind kind, GError **error)
{
    Axis *axis = g_new0(Axis, 1);
    axis->kind = kind;
    axis->line = line->line;
    axis->names = g_strsplit(names, "+", 0);
    gboolean good = TRUE;
    for (char **name = axis->names; good && *name; name++) {
        ValueType type;
        g_strstrip(*name);
        good = spec_check_name_free(reader, line, *name, error) && spec_type(reader, line, *name, &type, error);
        for (char **other = axis->names; good && other < name; other++)
            if (strcmp(*other, *name) == 0)
                good = spec_bad(reader, line, error, "'%s' stands there twice", *name);
        if (good && name != axis->names && !spec_same_type(&axis->type, &type))
            good = spec_bad(reader, line, error, "'%s' takes other values than '%s'", *name, axis->names[0]);
        if (name == axis->names)
            axis->type = type;
    }
    if (!good) {
        spec_free_axis(axis);
        return NULL;
    }
    g_ptr_array_add(reader->spec->axes, axis);
    return axis;
}

gboolean spec_axis_values(SpecReader *reader, Axis *axis, const SpecLine *line, GError **error)
{
    g_autofree char *wrong = NULL;
    axis->values = values_parse(&axis->type, line->value, reader->most, &wrong);
    if (!axis->values)
        return spec_bad(reader, line, error, "%s", wrong);
    for (char **name = axis->names + 1; axis->names[0] && *name; name++)
        for (guint i = 0; i < axis->values->len; i++) {
            ValueType type;
            g_autofree char *normal = NULL;
            if (!spec_type(reader, line, *name, &type, error))
                return FALSE;
            if (!value_parse(&type, axis->values->pdata[i], NULL, &normal, &wrong))
                return spec_bad(reader, line, error, "%s: %s", *name, wrong);
        }
    return TRUE;
}

static gboolean spec_read_axis(SpecReader *reader, const SpecLine *line, gboolean fixed, GError **error)
{
    Axis *axis = spec_add_axis(reader, line, line->key, AXIS_GRID, error);
    if (!axis || !spec_axis_values(reader, axis, line, error))
        return FALSE;
    if (fixed && axis->values->len > 1)
        return spec_bad(reader, line, error,
                        "%u values; lists and ranges belong into [grid], and double quotes keep "
                        "commas in a value",
                        axis->values->len);
    return TRUE;
}

/* What the spec leaves out and a result depends on is an input all the same. */
static void spec_add_default(SweepSpec *spec, const char *name, const char *value)
{
    for (guint i = 0; i < spec->axes->len; i++)
        if (g_strv_contains((const char *const *)((Axis *)spec->axes->pdata[i])->names, name))
            return;
    Axis *axis = g_new0(Axis, 1);
    axis->names = g_strsplit(name, "+", 0);
    axis->type = workload_type(workload_key(spec->workload, name));
    axis->values = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(axis->values, g_strdup(value));
    g_ptr_array_add(spec->axes, axis);
}

/* ---- [sweep], [fixed], [grid] */

gboolean spec_read_run(SpecReader *reader, GError **error)
{
    SweepSpec *spec = reader->spec;
    const SpecLine *run = spec_line(reader, "sweep", "run"), *title = spec_line(reader, "sweep", "title");
    g_autoptr(GError) why = NULL;
    if (!run) {
        g_set_error(error, SPEC_ERROR, SPEC_ERROR_VALUE,
                    "%s: [sweep] lacks 'run', what a point runs, like 'run = coll all_reduce'", spec->path);
        return FALSE;
    }
    spec->title = g_strdup(title ? title->value : run->value);
    g_auto(GStrv) words = g_strsplit(run->value, " ", 2);
    spec->workload = workload_find(words[0] ? words[0] : "", &why);
    if (!spec->workload)
        return spec_bad(reader, run, error, "%s", why->message);
    if (!words[1])
        return TRUE;
    SpecLine argument = {run->group, run->key, g_strstrip(words[1]), run->line};
    Axis *axis = spec_add_axis(reader, run, spec->workload->keys[0].name, AXIS_GRID, error);
    return axis && spec_axis_values(reader, axis, &argument, error);
}

gboolean spec_read_grid(SpecReader *reader, GError **error)
{
    for (guint i = 0; i < reader->lines->len; i++) {
        const SpecLine *line = &g_array_index(reader->lines, SpecLine, i);
        gboolean fixed = strcmp(line->group, "fixed") == 0;
        if ((fixed || strcmp(line->group, "grid") == 0) && !spec_read_axis(reader, line, fixed, error))
            return FALSE;
    }
    SweepSpec *spec = reader->spec;
    const char *argument = spec->workload->keys[0].name;
    for (guint i = 0; i < spec->axes->len; i++)
        if (g_strv_contains((const char *const *)((Axis *)spec->axes->pdata[i])->names, argument)) {
            spec_add_default(spec, "system", PRESET_DEFAULT);
            spec_add_default(spec, "seed", "1");
            return TRUE;
        }
    return spec_bad(reader, spec_line(reader, "sweep", "run"), error,
                    "which %s? Write it behind '%s', or '%s = ...' "
                    "in [grid]",
                    argument, spec->workload->verb, argument);
}

GPtrArray *spec_new_axes(void) { return g_ptr_array_new_with_free_func(spec_free_axis); }
