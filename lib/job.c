/* What every call of libfanout begins with, its errors, and jobs: what is placed, from its time to its callback. */
#include "lib/internal.h"
#include "sim/engine/kernel.h"

/* ---- errors */

static const char *const error_names[FO_SIM_ERRORS] = {
    "FO_SIM_OK",          "FO_SIM_ERROR_VERSION", "FO_SIM_ERROR_ARGUMENT", "FO_SIM_ERROR_SYSTEM",
    "FO_SIM_ERROR_TIME",  "FO_SIM_ERROR_BUSY",    "FO_SIM_ERROR_THREAD",   "FO_SIM_ERROR_FULL",
    "FO_SIM_ERROR_STUCK", "FO_SIM_ERROR_FAULT",   "FO_SIM_ERROR_CALLBACK",
};
static const char thread_text[] = "the simulators of this process belong to the thread that opened the first of them; "
                                  "use them there, or in a process of their own";

const char *fo_sim_error_name(FoSimError error)
{
    return (guint)error < FO_SIM_ERRORS ? error_names[error] : "no error of libfanout";
}

const char *fo_sim_error_text(const FoSim *sim)
{
    if (!sim)
        return "no simulator is open (NULL), or another thread has the simulators of this process";
    if (!guard_is_own())
        return thread_text;
    return sim->text ? sim->text : "";
}

FoSimError lib_fail(FoSim *sim, FoSimError code, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    char *text = g_strdup_vprintf(format, list); /* it may quote the one before */
    va_end(list);
    g_free(sim->text);
    sim->text = text;
    return code;
}

FoSimError lib_fail_with(FoSim *sim, FoSimError code, GError *error)
{
    lib_fail(sim, code, "%s", error->message);
    g_error_free(error);
    return code;
}

gboolean lib_usable(FoSim *sim, FoSimError *error)
{
    *error = FO_SIM_OK;
    if (!sim)
        *error = FO_SIM_ERROR_ARGUMENT;
    else if (!guard_is_own())
        *error = FO_SIM_ERROR_THREAD;
    else if (sim->magic != LIB_MAGIC)
        *error = FO_SIM_ERROR_ARGUMENT;
    else if (sim->error)
        *error = sim->error; /* of fo_sim_open(); its words stand */
    return *error == FO_SIM_OK;
}

gboolean lib_time(FoSim *sim, guint64 at_ps, FoSimError *error)
{
    const guint64 now_ps = sim_now_ps(sim->sim);
    if (at_ps < now_ps)
        *error = lib_fail(sim, FO_SIM_ERROR_TIME,
                          "%" G_GUINT64_FORMAT " ps is past: it is %" G_GUINT64_FORMAT " ps; that or later is right",
                          at_ps, now_ps);
    else if (at_ps > SIMTIME_LAST_PS)
        *error = lib_fail(sim, FO_SIM_ERROR_TIME,
                          "%" G_GUINT64_FORMAT " ps is beyond the last time that there is, %" G_GUINT64_FORMAT " ps",
                          at_ps, (guint64)SIMTIME_LAST_PS);
    return *error == FO_SIM_OK;
}

gboolean lib_gpu(FoSim *sim, const char *what, guint32 gpu, FoSimError *error)
{
    if (gpu >= fo_sim_gpus(sim))
        *error = lib_fail(sim, FO_SIM_ERROR_ARGUMENT, "%s: there is no GPU %u; %s has GPUs 0 to %u", what, gpu,
                          sim->name, fo_sim_gpus(sim) - 1);
    return *error == FO_SIM_OK;
}

gboolean lib_gpus(FoSim *sim, const char *what, const guint32 *gpus, guint32 n, FoSimError *error)
{
    if (!gpus || n < 2 || n > fo_sim_gpus(sim)) {
        *error = lib_fail(sim, FO_SIM_ERROR_ARGUMENT, "gpus: a %s of %u GPUs; 2 to %u are right", what, gpus ? n : 0,
                          fo_sim_gpus(sim));
        return FALSE;
    }
    g_autofree guint8 *seen = g_new0(guint8, fo_sim_gpus(sim));
    for (guint32 i = 0; i < n; i++) {
        if (!lib_gpu(sim, "gpus", gpus[i], error))
            return FALSE;
        if (seen[gpus[i]]++) {
            *error = lib_fail(sim, FO_SIM_ERROR_ARGUMENT, "gpus: GPU %u stands there twice", gpus[i]);
            return FALSE;
        }
    }
    return TRUE;
}

unsigned fo_sim_gpus(const FoSim *sim) { return sim && sim->fabric ? (unsigned)sim->spec.system.gpus : 0; }

/* ---- jobs */

static void job_on_start(Event *event, SimTime now_ps)
{
    Job *job = EVENT_OWNER(event, Job, start);
    job->told.begin_ps = now_ps;
    job->run(job);
}

Job *job_new_event(FoSim *sim, gsize bytes, guint64 at_ps, void (*run)(Job *job))
{
    Job *job = g_malloc0(bytes);
    job->owner = sim;
    job->run = run;
    job->link.data = job;
    g_queue_push_tail_link(&sim->jobs, &job->link);
    event_init(&job->start, job_on_start);
    sim_at(sim->sim, &job->start, at_ps, EVENT_PRIORITY_DEVICE);
    return job;
}

Job *job_new(FoSim *sim, gsize bytes, guint64 at_ps, void (*run)(Job *job))
{
    Job *job = job_new_event(sim, bytes, at_ps, run);
    job->is_work = TRUE;
    sim->placed++;
    return job;
}

void job_call(Job *job, void (*call)(void *job))
{
    FoSim *sim = job->owner;
    g_autofree char *thrown = NULL;
    sim->calls++;
    const gboolean whole = kernel_call(call, job, &thrown);
    sim->calls--;
    if (whole)
        return;
    if (!sim->thrown)
        sim->thrown = g_steal_pointer(&thrown);
    sim_stop(sim->sim);
}

static void job_tell(void *data)
{
    const Job *job = data;
    job->callback(job->owner, &job->told, job->user);
}

void job_end(Job *job)
{
    FoSim *sim = job->owner;
    job->told.end_ps = sim_now_ps(sim->sim);
    g_queue_unlink(&sim->jobs, &job->link);
    sim->done += job->is_work ? 1 : 0;
    sim->failed += job->told.error != FO_SIM_OK;
    if (job->callback)
        job_call(job, job_tell);
    if (job->free)
        job->free(job);
    g_free(job);
}

void job_fail(Job *job, FoSimError code, const char *text)
{
    g_autofree char *kept = g_strdup(text);
    job->told.error = code;
    job->told.text = kept;
    job_end(job);
}
