/* preset, then --config, then --set: later ones win. */
#include "cli/system.h"

#include <string.h>

#include "model/presets/preset.h"
#include "device/launch_time.h"

static gboolean system_apply(System *system, const Options *options, GError **error)
{
    if (!preset_load(system->params, system->name, error))
        return FALSE;
    if (options->config && !param_load_file(system->params, options->config, error))
        return FALSE;
    for (char **set = options->sets; set && *set; set++)
        if (!param_set_text(system->params, *set, error))
            return FALSE;
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
