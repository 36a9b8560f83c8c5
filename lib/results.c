/* What a simulator knows of itself: presets, parameters, statistics, the report. */
#include <string.h>

#include "lib/internal.h"
#include "model/presets/preset.h"
#include "sim/report/report.h"

const char *fo_sim_system(unsigned number)
{
    g_auto(GStrv) names = preset_names();
    return number < g_strv_length(names) ? g_intern_string(names[number]) : NULL;
}

FoSimError fo_sim_parameters(FoSim *sim, const FoSimParameter **parameters, size_t *n)
{
    FoSimError error;
    if (!lib_usable(sim, &error))
        return error;
    if (!parameters || !n)
        return lib_fail(sim, FO_SIM_ERROR_ARGUMENT, "parameters, n: NULL is no place for them");
    if (!sim->parameters) {
        sim->dump = param_dump(sim->params);
        sim->parameters = g_array_new(FALSE, FALSE, sizeof(FoSimParameter));
        for (guint i = 0; i < sim->dump->len; i++) {
            const ParamDumpRow *row = &g_array_index(sim->dump, ParamDumpRow, i);
            const FoSimParameter parameter = {row->section,   row->row->name, row->value,
                                              row->row->unit, row->row->text, row->origin};
            g_array_append_val(sim->parameters, parameter);
        }
    }
    *parameters = (const FoSimParameter *)(const void *)sim->parameters->data;
    *n = sim->parameters->len;
    return FO_SIM_OK;
}

FoSimError fo_sim_statistics(FoSim *sim, FoSimStatistics *statistics, size_t bytes)
{
    FoSimError error;
    if (!lib_usable(sim, &error))
        return error;
    if (!statistics)
        return lib_fail(sim, FO_SIM_ERROR_ARGUMENT, "statistics: NULL is no place for them");
    usage_settle(sim->fabric);
    const Usage up = usage_of(sim->fabric, sim->begin, USAGE_UP, NULL, 0);
    const Usage down = usage_of(sim->fabric, sim->begin, USAGE_DOWN, NULL, 0);
    const FoSimStatistics now = {.now_ps = sim_now_ps(sim->sim),
                                 .events = sim_events_fired(sim->sim),
                                 .crossings = fabric_crossings(sim->fabric),
                                 .placed = sim->placed,
                                 .done = sim->done,
                                 .failed = sim->failed,
                                 .faults = sim->fabric->n_faults,
                                 .up_mean_pct = up.mean_pct,
                                 .up_max_pct = up.max_pct,
                                 .down_mean_pct = down.mean_pct,
                                 .down_max_pct = down.max_pct};
    memset(statistics, 0, bytes); /* a program of a later minor version has more fields */
    memcpy(statistics, &now, MIN(bytes, sizeof now));
    return FO_SIM_OK;
}

const char *fo_sim_report(FoSim *sim)
{
    FoSimError error;
    if (!lib_usable(sim, &error))
        return NULL;
    Report *report = report_new("library", "what was placed by libfanout");
    report_add_text(report, "system", sim->name);
    report_add_text(report, "title", sim->spec.system.title);
    report_add_u64(report, "seed", sim->seed, "");
    report_add_fixed(report, "time_us", (double)sim_now_ps(sim->sim) / PS_PER_US, 6, "us");
    report_add_u64(report, "placed", sim->placed, "");
    report_add_u64(report, "done", sim->done, "");
    report_add_u64(report, "failed", sim->failed, "");
    report_add_u64(report, "faults", sim->fabric->n_faults, "");
    usage_settle(sim->fabric);
    usage_add_operations(sim->fabric, report);
    usage_add_links(sim->fabric, sim->begin, report);
    usage_add_switches(sim->fabric, report);
    g_free(sim->report);
    sim->report = g_string_free(report_format(report, REPORT_JSON), FALSE);
    report_free(report);
    return sim->report;
}
