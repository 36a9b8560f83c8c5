/* See run.h. */
#include "cli/run.h"

#include <string.h>

#include "model/fabric/waves.h"

static Log *run_new_log(const Options *options, GError **error)
{
    const char *spec = options->log ? options->log : g_getenv("FANOUT_LOG");
    Log *log = log_new();
    if (!spec || log_parse(log, spec, error))
        return log;
    g_prefix_error(error, "%s: ", options->log ? "--log" : "FANOUT_LOG");
    log_free(log);
    return NULL;
}

gboolean run_keeps(const Options *options, guint64 data_bytes)
{
    return options->data == DATA_FULL || (options->data == DATA_AUTO && data_bytes <= options->max_memory);
}

gboolean run_open(Run *run, const System *system, const Options *options, guint64 data_bytes, GError **error)
{
    const SimSpec spec = {.seed = options->seed,
                          .calendar = options->calendar,
                          .engine = options->vcd ? SIM_ENGINE_REFERENCE : options->engine,
                          .vcd_path = options->vcd,
                          .threads = options->cores};
    GError *why = NULL;
    memset(run, 0, sizeof *run);
    run->log = run_new_log(options, &why);
    run->sim = run->log ? sim_new(&spec, &why) : NULL;
    run->fabric = run->sim ? fabric_new(run->sim, &system->spec, run_keeps(options, data_bytes), &why) : NULL;
    if (!run->fabric) {
        run_close(run);
        g_propagate_error(error, why);
        return FALSE;
    }
    run->fabric->log = run->log;
    if (options->vcd)
        fabric_trace(run->fabric);
    return TRUE;
}

void run_close(Run *run)
{
    if (run->fabric)
        fabric_free(run->fabric);
    if (run->sim)
        sim_free(run->sim);
    if (run->log)
        log_free(run->log);
    memset(run, 0, sizeof *run);
}
