/* preset, then --config, then --set: later ones win. */
#include "cli/system.h"

#include <string.h>

#include "cli/hints.h"
#include "model/presets/preset.h"
#include "device/launch_time.h"

/* A file that is not there, with the name of a system that comes with Fanout. */
static gboolean system_name_preset(const char *path, GError **error)
{
    g_autofree char *name = g_path_get_basename(path);
    g_auto(GStrv) names = preset_names();

    if (g_str_has_suffix(name, ".ini"))
        name[strlen(name) - strlen(".ini")] = '\0';
    if (error && g_error_matches(*error, G_FILE_ERROR, G_FILE_ERROR_NOENT) &&
        g_strv_contains((const char *const *)names, name)) {
        g_autofree char *meant = g_strdup_printf("the system of this name, which comes with Fanout, is -s %s", name);
        options_tell_more(*error, "; ", meant);
    }
    return FALSE;
}

/* A key that stands in another section. */
static gboolean system_name_key(const char *set, GError **error)
{
    const char *dot = strchr(set, '.');
    g_autofree char *meant = dot ? hints_parameter(dot + 1) : NULL;

    if (meant && error && g_error_matches(*error, PARAM_ERROR, PARAM_ERROR_UNKNOWN) &&
        !strstr((*error)->message, "did you mean"))
        options_tell_more(*error, "; a key of this name: ", meant);
    return FALSE;
}

static gboolean system_apply(System *system, const Options *options, GError **error)
{
    if (!preset_load(system->params, system->name, error))
        return system_name_preset(system->name, error);
    if (options->config && !param_load_file(system->params, options->config, error))
        return system_name_preset(options->config, error);
    for (char **set = options->sets; set && *set; set++)
        if (!param_set_text(system->params, *set, error))
            return system_name_key(*set, error);
    return TRUE;
}

/* Flows share the links of GPUs and know no trunk, and nothing that changes. */
static gboolean system_check_flows(const System *system, const Options *options, GError **error)
{
    if (options->fidelity != COLL_FLOW)
        return TRUE;
    if (fabric_needs_packets(&system->spec)) {
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                    "--fidelity flow: flows know no faults in time, errors of links, slow GPUs, merging of loads or "
                    "components; write --fidelity packet");
        return FALSE;
    }
    if (system->spec.topology.kind == TOPOLOGY_RAILS)
        return TRUE;
    g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                "--fidelity flow: flows know no trunks between switches, and [topology] kind of %s is not rails; write "
                "--fidelity packet",
                system->name);
    return FALSE;
}

gboolean system_load(System *system, const char *name, const Options *options, GError **error)
{
    memset(system, 0, sizeof *system);
    name = name ? name : options->system;
    system->name = g_strdup(name ? name : SYSTEM_DEFAULT);
    system->params = param_set_new();
    device_params(system->params, &system->spec);
    if (!system_apply(system, options, error) || !system_check_flows(system, options, error)) {
        system_clear(system);
        return FALSE;
    }
    return TRUE;
}

void system_clear(System *system)
{
    if (system->params)
        param_set_free(system->params);
    g_free(system->name);
    memset(system, 0, sizeof *system);
}

void system_describe(const System *system, Report *report)
{
    report_add_text(report, "system", system->name);
    report_add_text(report, "title", system->spec.system.title);
}

static gboolean system_is_changed(const ParamDumpRow *row, const Options *options)
{
    g_autofree char *config = options->config ? g_strconcat("--config ", options->config, NULL) : NULL;
    return g_strcmp0(row->origin, "--set") == 0 || (config && g_strcmp0(row->origin, config) == 0);
}

void system_describe_run(const System *system, const Options *options, const char *more, Report *report)
{
    GString *settings = g_string_new(NULL);
    GArray *rows = param_dump(system->params);
    for (guint i = 0; i < rows->len; i++) {
        const ParamDumpRow *row = &g_array_index(rows, ParamDumpRow, i);
        if (system_is_changed(row, options))
            g_string_append_printf(settings, "%s%s.%s=%s", settings->len ? " " : "", row->section, row->row->name,
                                   row->value);
    }
    param_dump_free(rows);
    if (more && *more)
        g_string_append_printf(settings, "%s%s", settings->len ? " " : "", more);
    g_autofree char *seed = g_strdup_printf("%" G_GUINT64_FORMAT, options->seed);
    report_add_run(report, "system", system->name);
    report_add_run(report, "settings", settings->str);
    report_add_run(report, "seed", seed);
    g_string_free(settings, TRUE);
}

static const Column parameter_columns[] = {
    COLUMN_TEXT(section, "section", "group of the INI file"),
    COLUMN_TEXT(key, "key", "as in --set section.key=value"),
    COLUMN_TEXT(value, "value", "what the simulation runs with"),
    COLUMN_TEXT(unit, "unit", "of the value"),
    COLUMN_TEXT(text, "meaning", "what it stands for"),
    COLUMN_TEXT(origin, "origin", "where the value comes from"),
    COLUMN_END,
};

void system_add_parameters(const System *system, Report *report, TableFlags flags)
{
    Table *table = report_add_table(report, "parameters", "parameters", parameter_columns, flags);
    GArray *rows = param_dump(system->params);
    for (guint i = 0; i < rows->len; i++) {
        const ParamDumpRow *row = &g_array_index(rows, ParamDumpRow, i);
        table_text(table, row->section);
        table_text(table, row->row->name);
        table_text(table, row->value);
        table_text(table, row->row->unit);
        table_text(table, row->row->text);
        table_text(table, row->origin);
    }
    param_dump_free(rows);
}
