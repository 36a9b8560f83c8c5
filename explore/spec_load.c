/* A SPEC.ini as a whole: its groups in order, how many points it has, its systems, its fingerprint. */
#include <string.h>

#include "explore/spec_parts.h"
#include "model/fabric/fabric.h"
#include "model/presets/preset.h"
#include "sim/param/nearest.h"
#include "sim/param/whole.h"
#include "device/launch_time.h"

/* ---- unknown groups and keys; those of [fixed], [grid] and [latin] are looked at where they are read */

static gboolean spec_check_lines(const SpecReader *reader, GError **error)
{
    static const char *const groups[] = {"sweep", "fixed", "grid", "latin", "threshold", NULL};
    static const char *const sweep[] = {"run", "title", NULL};
    static const char *const threshold[] = {"key", "values", "metric", "keep", "better", "reference", NULL};
    for (guint i = 0; i < reader->lines->len; i++) {
        const SpecLine *line = &g_array_index(reader->lines, SpecLine, i);
        const char *const *keys = strcmp(line->group, "sweep") == 0       ? sweep
                                  : strcmp(line->group, "threshold") == 0 ? threshold
                                                                          : NULL;
        if (!g_strv_contains(groups, line->group)) {
            g_autofree char *hint = nearest_hint(line->group, groups);
            g_set_error(error, SPEC_ERROR, SPEC_ERROR_VALUE, "%s:%d: unknown group [%s]%s", reader->spec->path,
                        line->line, line->group, hint);
            return FALSE;
        }
        if (keys && !g_strv_contains(keys, line->key)) {
            g_autofree char *hint = nearest_hint(line->key, keys);
            return spec_bad(reader, line, error, "unknown key%s", hint);
        }
    }
    return TRUE;
}

/* ---- how many points */

static gboolean spec_count(const SpecReader *reader, GError **error)
{
    SweepSpec *spec = reader->spec;
    guint64 all;
    gboolean fits = TRUE;
    spec->combinations = MAX(spec->samples, 1);
    for (guint i = 0; i < spec->axes->len; i++) {
        const Axis *axis = spec->axes->pdata[i];
        if (axis->kind == AXIS_GRID)
            fits = fits && g_uint64_checked_mul(&spec->combinations, spec->combinations, axis->values->len);
    }
    spec->stride = 1;
    if (spec->threshold.axis) { /* both ends, and what halves the rest until one is left */
        spec->stride = spec->threshold.reference > 0 ? 2 : 1;
        for (guint rest = spec->threshold.reference; rest > 1; rest = (rest + 1) / 2)
            spec->stride++;
    }
    fits = fits && g_uint64_checked_mul(&all, spec->combinations, spec->stride);
    if (fits && all <= reader->most)
        return TRUE;
    g_autofree char *many = fits ? g_strdup_printf("%" G_GUINT64_FORMAT, all) : g_strdup("more than 2^64");
    g_set_error(error, SPEC_ERROR, SPEC_ERROR_LIMIT,
                "%s: %s points are more than the %" G_GUINT64_FORMAT " that --max-points allows", spec->path, many,
                reader->most);
    return FALSE;
}

/* ---- systems */

static gboolean spec_add_system(SweepSpec *spec, const Axis *axis, const char *name, GError **error)
{
    SpecSystem system = {g_strdup(name), param_set_new(), g_new0(FabricSpec, 1)};
    g_autofree char *path = workload_path(spec->folder, name);
    device_params(system.params, system.fabric);
    g_array_append_val(spec->systems, system);
    if (preset_load(system.params, path, error))
        return TRUE;
    g_prefix_error(error, "%s:%d: system: ", spec->path, axis->line);
    return FALSE;
}

static gboolean spec_add_systems(SweepSpec *spec, GError **error)
{
    for (guint i = 0; i < spec->axes->len; i++) {
        const Axis *axis = spec->axes->pdata[i];
        if (!g_strv_contains((const char *const *)axis->names, "system"))
            continue;
        for (guint v = 0; v < axis->values->len; v++)
            if (!spec_add_system(spec, axis, axis->values->pdata[v], error))
                return FALSE;
    }
    return TRUE;
}

static void spec_clear_system(gpointer data)
{
    SpecSystem *system = data;
    g_free(system->name);
    param_set_free(system->params);
    g_free(system->fabric);
}

/* ---- fingerprint */

static void spec_sum_text(GChecksum *sum, const char *text)
{
    g_checksum_update(sum, (const guchar *)text, (gssize)strlen(text) + 1);
}

/* What a path leads to: another content is another sweep. */
static gboolean spec_sum_file(const SweepSpec *spec, const Axis *axis, const char *value, GChecksum *sum,
                              GError **error)
{
    g_autofree char *path = workload_path(spec->folder, value);
    g_autoptr(GMappedFile) file = g_mapped_file_new(path, FALSE, NULL);
    if (!file) {
        g_set_error(error, SPEC_ERROR, SPEC_ERROR_VALUE, "%s:%d: %s: there is no file '%s' that can be read",
                    spec->path, axis->line, axis->names[0], path);
        return FALSE;
    }
    g_checksum_update(sum, (const guchar *)g_mapped_file_get_contents(file), (gssize)g_mapped_file_get_length(file));
    return TRUE;
}

static gboolean spec_sum_axis(const SweepSpec *spec, const Axis *axis, GChecksum *sum, GError **error)
{
    gboolean files = axis->type.kind == VALUE_PATH && strcmp(axis->names[0], "system") != 0;
    g_autofree char *head = g_strdup_printf("axis %d %u", axis->kind, axis->values->len);
    spec_sum_text(sum, head);
    for (char **name = axis->names; *name; name++)
        spec_sum_text(sum, *name);
    for (guint v = 0; v < axis->values->len; v++) {
        spec_sum_text(sum, axis->values->pdata[v]);
        if (files && !spec_sum_file(spec, axis, axis->values->pdata[v], sum, error))
            return FALSE;
    }
    return TRUE;
}

static void spec_sum_system(const SpecSystem *system, GChecksum *sum)
{
    GArray *rows = param_dump(system->params);
    spec_sum_text(sum, system->name);
    for (guint i = 0; i < rows->len; i++) {
        const ParamDumpRow *row = &g_array_index(rows, ParamDumpRow, i);
        spec_sum_text(sum, row->section);
        spec_sum_text(sum, row->row->name);
        spec_sum_text(sum, row->value);
    }
    param_dump_free(rows);
}

static gboolean spec_sum(SweepSpec *spec, GError **error)
{
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
    spec_sum_text(sum, spec->workload->verb);
    for (guint i = 0; i < spec->axes->len; i++)
        if (!spec_sum_axis(spec, spec->axes->pdata[i], sum, error))
            return FALSE;
    for (guint i = 0; i < spec->systems->len; i++)
        spec_sum_system(&g_array_index(spec->systems, SpecSystem, i), sum);
    g_autofree char *rest = g_strdup_printf(
        "%" G_GUINT64_FORMAT " %s %u %d %u", spec->samples, spec->threshold.metric ? spec->threshold.metric : "",
        spec->threshold.keep_ppm, spec->threshold.higher, spec->threshold.reference);
    spec_sum_text(sum, rest);
    spec->fingerprint = g_strdup(g_checksum_get_string(sum));
    return TRUE;
}

/* ---- all of it */

static gboolean spec_read(SpecReader *reader, GError **error)
{
    g_autofree char *text = NULL;
    SweepSpec *spec = reader->spec;
    if (!whole_read(spec->path, &text, NULL, error))
        return FALSE;
    reader->lines = lines_read(spec->path, text, error);
    return reader->lines && spec_check_lines(reader, error) && spec_read_run(reader, error) &&
           spec_read_grid(reader, error) && spec_read_latin(reader, error) && spec_read_threshold(reader, error) &&
           spec_count(reader, error) && spec_add_systems(spec, error) && spec_sum(spec, error);
}

SweepSpec *spec_load(const char *path, guint64 most, GError **error)
{
    SweepSpec *spec = g_new0(SweepSpec, 1);
    FabricSpec nothing = {0};
    SpecReader reader = {.spec = spec, .rows = param_set_new(), .most = most};
    device_params(reader.rows, &nothing);
    spec->path = g_strdup(path);
    spec->folder = g_path_get_dirname(path);
    spec->axes = spec_new_axes();
    spec->systems = g_array_new(FALSE, FALSE, sizeof(SpecSystem));
    g_array_set_clear_func(spec->systems, spec_clear_system);
    gboolean good = spec_read(&reader, error);
    g_clear_pointer(&reader.lines, g_array_unref);
    param_set_free(reader.rows); /* the rows that axes point to are const tables */
    if (good)
        return spec;
    spec_free(spec);
    return NULL;
}

void spec_free(SweepSpec *spec)
{
    g_ptr_array_unref(spec->axes);
    g_array_unref(spec->systems);
    g_free(spec->path);
    g_free(spec->folder);
    g_free(spec->title);
    g_free(spec->threshold.metric);
    g_free(spec->fingerprint);
    g_free(spec);
}

GPtrArray *spec_inputs(const SweepSpec *spec)
{
    GPtrArray *names = g_ptr_array_new();
    for (guint i = 0; i < spec->axes->len; i++)
        for (char **name = ((Axis *)spec->axes->pdata[i])->names; *name; name++)
            g_ptr_array_add(names, *name);
    return names;
}

static const Axis *spec_axis_of(const SweepSpec *spec, const char *name)
{
    for (guint i = 0; i < spec->axes->len; i++)
        if (g_strv_contains((const char *const *)((Axis *)spec->axes->pdata[i])->names, name))
            return spec->axes->pdata[i];
    return NULL;
}

gboolean spec_input_is_number(const SweepSpec *spec, const char *name)
{
    const Axis *axis = spec_axis_of(spec, name);
    return axis && value_is_number(&axis->type);
}

const char *spec_input_unit(const SweepSpec *spec, const char *name)
{
    const Axis *axis = spec_axis_of(spec, name);
    if (!axis)
        return "";
    return axis->type.kind == VALUE_SIZE ? "B" : axis->type.kind == VALUE_PARAM ? axis->type.row->unit : "";
}
