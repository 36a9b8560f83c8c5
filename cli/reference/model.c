/* Parameters and statistics as JSON, of every unit that a system has. */
#include "cli/reference/internal.h"

#include <string.h>

#include "machine/spec.h"
#include "cli/run.h"
#include "cli/system.h"
#include "model/presets/preset.h"
#include "sim/report/json.h"

static void model_member(yajl_gen gen, const char *key, const char *text)
{
    report_json_string(gen, key);
    if (text)
        report_json_string(gen, text);
    else
        yajl_gen_null(gen);
}

static void model_parameter(yajl_gen gen, const ParamDumpRow *row)
{
    g_autofree char *bounds = param_row_bounds(row->row);
    yajl_gen_map_open(gen);
    model_member(gen, "section", row->section);
    model_member(gen, "key", row->row->name);
    model_member(gen, "value", row->value);
    model_member(gen, "unit", row->row->unit);
    model_member(gen, "bounds", bounds);
    model_member(gen, "text", row->row->text);
    model_member(gen, "origin", row->origin);
    yajl_gen_map_close(gen);
}

/* Those of programs (cuda.*), too. */
static gboolean model_parameters(yajl_gen gen, GError **error)
{
    CudaSpec cuda;
    FabricSpec fabric;
    ParamSet *params = param_set_new();
    memset(&cuda, 0, sizeof cuda);
    memset(&fabric, 0, sizeof fabric);
    gboolean good = cuda_spec_load(params, &cuda, &fabric, PRESET_DEFAULT, NULL, NULL, error);
    GArray *rows = param_dump(params);
    yajl_gen_array_open(gen);
    for (guint i = 0; good && i < rows->len; i++)
        model_parameter(gen, &g_array_index(rows, ParamDumpRow, i));
    yajl_gen_array_close(gen);
    param_dump_free(rows);
    param_set_free(params);
    return good;
}

/* "gpu0.link3.up" is "gpuN.linkN.up". */
static char *model_path(const char *path)
{
    GString *text = g_string_new(NULL);
    for (; *path; path++)
        if (!g_ascii_isdigit(*path))
            g_string_append_c(text, *path);
        else if (text->len == 0 || text->str[text->len - 1] != 'N')
            g_string_append_c(text, 'N');
    return g_string_free(text, FALSE);
}

typedef struct {
    yajl_gen gen;
    GHashTable *seen; /* path and name of what was written */
} ModelVisit;

static void model_statistic(const char *path, const StatRow *row, const void *value, void *user)
{
    static const char *const kinds[] = {
        [STAT_COUNTER_T] = "counter", [STAT_PEAK_T] = "peak", [STAT_HIST_T] = "histogram", [STAT_LEVEL_T] = "level"};
    ModelVisit *visit = user;
    g_autofree char *kind_of_path = model_path(path);
    (void)value;
    if (!g_hash_table_add(visit->seen, g_strdup_printf("%s %s", kind_of_path, row->name)))
        return;
    yajl_gen_map_open(visit->gen);
    model_member(visit->gen, "path", kind_of_path);
    model_member(visit->gen, "name", row->name);
    model_member(visit->gen, "kind", kinds[row->type]);
    model_member(visit->gen, "unit", row->unit);
    model_member(visit->gen, "text", row->text);
    yajl_gen_map_close(visit->gen);
}

static gboolean model_statistics(yajl_gen gen, GError **error)
{
    Options options = {.seed = 1, .data = DATA_OFF};
    System system;
    Run run;
    if (!system_load(&system, PRESET_DEFAULT, &options, error))
        return FALSE;
    gboolean good = run_open(&run, &system, &options, 0, error);
    yajl_gen_array_open(gen);
    if (good) {
        ModelVisit visit = {gen, g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
        stat_visit(run.fabric->stats, model_statistic, &visit);
        g_hash_table_destroy(visit.seen);
        run_close(&run);
    }
    yajl_gen_array_close(gen);
    system_clear(&system);
    return good;
}

char *reference_model(GError **error)
{
    GString *out = g_string_new(NULL);
    yajl_gen gen = yajl_gen_alloc(NULL);
    yajl_gen_config(gen, yajl_gen_beautify, 1);
    yajl_gen_config(gen, yajl_gen_indent_string, " ");
    yajl_gen_map_open(gen);
    report_json_string(gen, "parameters");
    gboolean good = model_parameters(gen, error);
    report_json_string(gen, "statistics");
    good = good && model_statistics(gen, error);
    yajl_gen_map_close(gen);
    report_json_end(gen, out);
    return g_string_free(out, !good);
}
