/* A simulator's life and its clock. */
#include <string.h>

#include "device/launch_time.h"
#include "lib/internal.h"
#include "model/presets/preset.h"

/* ---- life */

uint32_t fo_sim_version(void) { return FO_SIM_VERSION; }

static gboolean open_system(FoSim *sim, const FoSimSpec *spec, GError **error)
{
    if (!preset_load(sim->params, sim->name, error))
        return FALSE;
    if (spec->config && !param_load_file(sim->params, spec->config, error))
        return FALSE;
    for (const char *const *set = spec->sets; set && *set; set++)
        if (!param_set_text(sim->params, *set, error))
            return FALSE;
    const SimSpec engine = {.seed = sim->seed, .engine = spec->reference ? SIM_ENGINE_REFERENCE : SIM_ENGINE_FAST};
    sim->sim = sim_new(&engine, error);
    sim->fabric = sim->sim ? fabric_new(sim->sim, &sim->spec, spec->keep_bytes != 0, error) : NULL;
    return sim->fabric != NULL;
}

FoSimError fo_sim_open(FoSim **sim, const FoSimSpec *spec)
{
    if (sim)
        *sim = NULL;
    if (!sim || !spec)
        return FO_SIM_ERROR_ARGUMENT;
    if (guard_open())
        return FO_SIM_ERROR_THREAD;
    FoSim *made = *sim = g_new0(FoSim, 1);
    GError *error = NULL;
    made->magic = LIB_MAGIC;
    if (spec->version >> 8 != FO_SIM_VERSION >> 8)
        return made->error = lib_fail(
                   made, FO_SIM_ERROR_VERSION,
                   "the program was compiled for libfanout %u.%u, and this is %u.%u; compile it with "
                   "this library's fanout/sim.h (FoSimSpec.version = FO_SIM_VERSION)",
                   spec->version >> 16, spec->version >> 8 & 255, FO_SIM_VERSION >> 16, FO_SIM_VERSION >> 8 & 255);
    made->name = g_strdup(spec->system ? spec->system : PRESET_DEFAULT);
    made->seed = spec->seed ? spec->seed : 1;
    made->params = param_set_new();
    made->memory = g_array_new(FALSE, TRUE, sizeof(LibMemory));
    made->channels = message_channels_new();
    made->groups = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_queue_init(&made->jobs);
    g_queue_init(&made->receives);
    device_params(made->params, &made->spec);
    if (!open_system(made, spec, &error))
        return made->error = lib_fail_with(made, FO_SIM_ERROR_SYSTEM, error);
    made->vas = vas_new(made->fabric->memory, (guint32)made->spec.system.gpus);
    made->scratch = g_array_new(FALSE, TRUE, sizeof(FoSimMemory));
    g_array_set_size(made->scratch, (guint)made->spec.system.gpus);
    made->begin = usage_mark(made->fabric);
    return FO_SIM_OK;
}

static void close_jobs(FoSim *sim)
{
    while (sim->jobs.head) {
        Job *job = sim->jobs.head->data;
        g_queue_unlink(&sim->jobs, &job->link);
        sim_cancel(sim->sim, &job->start);
        if (job->free)
            job->free(job);
        g_free(job);
    }
}

static gboolean close_is_quiet(const FoSim *sim)
{
    guint waiting = sim->receives.length;
    for (GList *link = sim->jobs.head; link; link = link->next)
        waiting += event_is_pending(&((const Job *)link->data)->start);
    return waiting == sim->jobs.length;
}

/* Kernels that are under way hold memory and groups: these stay, as the frames of abandoned kernels do. */
static void close_system(FoSim *sim)
{
    if (close_is_quiet(sim)) {
        collective_close(sim);
        memory_close(sim);
    }
    close_jobs(sim);
    usage_mark_free(sim->begin);
    g_array_unref(sim->scratch);
    fabric_free(sim->fabric);
    sim->fabric = NULL;
}

FoSimError fo_sim_close(FoSim *sim)
{
    FoSimError error;
    if (!sim)
        return FO_SIM_OK;
    if (!lib_usable(sim, &error) && (error == FO_SIM_ERROR_THREAD || error != sim->error))
        return error;
    if (sim->running || sim->calls || !guard_run())
        return lib_fail(sim, FO_SIM_ERROR_BUSY,
                        "fo_sim_close() from a callback; fo_sim_stop(), and close it after "
                        "fo_sim_run() has returned");
    if (sim->fabric)
        close_system(sim);
    if (sim->sim)
        sim_free(sim->sim);
    if (sim->params) {
        g_array_unref(sim->memory);
        g_hash_table_unref(sim->channels);
        g_hash_table_unref(sim->groups);
        param_set_free(sim->params);
    }
    g_clear_pointer(&sim->parameters, g_array_unref);
    g_clear_pointer(&sim->dump, param_dump_free);
    g_free(sim->report);
    g_free(sim->name);
    g_free(sim->text);
    sim->magic = 0;
    g_free(sim);
    guard_end_run();
    guard_close();
    return FO_SIM_OK;
}

/* ---- time */

uint64_t fo_sim_now_ps(const FoSim *sim) { return sim && sim->fabric && guard_is_own() ? sim_now_ps(sim->sim) : 0; }

typedef struct {
    Job job;
    FoSimEvent event;
    void *user;
} Scheduled;

static void scheduled_call(void *job)
{
    const Scheduled *scheduled = job;
    scheduled->event(scheduled->job.owner, scheduled->user);
}

static void scheduled_run(Job *job)
{
    job_call(job, scheduled_call);
    job_end(job);
}

FoSimError fo_sim_schedule(FoSim *sim, uint64_t at_ps, FoSimEvent event, void *user)
{
    FoSimError error;
    if (!lib_usable(sim, &error) || !lib_time(sim, at_ps, &error))
        return error;
    if (!event)
        return lib_fail(sim, FO_SIM_ERROR_ARGUMENT, "event: NULL is no function to call");
    Scheduled *scheduled = (Scheduled *)(void *)job_new_event(sim, sizeof *scheduled, at_ps, scheduled_run);
    scheduled->event = event;
    scheduled->user = user;
    return FO_SIM_OK;
}

static FoSimError run_ended(FoSim *sim, SimStatus status)
{
    g_autofree char *thrown = g_steal_pointer(&sim->thrown);
    if (thrown)
        return lib_fail(sim, FO_SIM_ERROR_CALLBACK, "a callback threw an exception: %s; its run has ended", thrown);
    g_autofree char *receives = status == SIM_IDLE || status == SIM_STUCK ? message_waiters(sim) : NULL;
    if (status != SIM_STUCK && !receives)
        return FO_SIM_OK;
    g_autofree char *waiters = sim_waiters_text(sim->sim);
    return lib_fail(sim, FO_SIM_ERROR_STUCK, "nothing is due any more; who waits:%s%s", waiters,
                    receives ? receives : "");
}

FoSimError fo_sim_run(FoSim *sim, uint64_t until_ps)
{
    FoSimError error;
    if (!lib_usable(sim, &error))
        return error;
    if (until_ps < sim_now_ps(sim->sim)) {
        lib_time(sim, until_ps, &error);
        return error;
    }
    if (sim->running || sim->calls)
        return lib_fail(sim, FO_SIM_ERROR_BUSY, "fo_sim_run() from a callback: the clock moves on when it returns");
    if (!guard_run())
        return lib_fail(sim, FO_SIM_ERROR_BUSY, "another simulator runs; of one process they run by turns");
    sim->running = TRUE;
    const SimStatus status = sim_run(sim->sim, until_ps > SIMTIME_LAST_PS ? SIMTIME_NEVER : until_ps);
    sim->running = FALSE;
    guard_end_run();
    return run_ended(sim, status);
}

FoSimError fo_sim_stop(FoSim *sim)
{
    FoSimError error;
    if (!lib_usable(sim, &error))
        return error;
    if (sim->running)
        sim_stop(sim->sim);
    return FO_SIM_OK;
}
