/* Waiting for a multicast team: for its members (host time, bounded by the watchdog alone, no lock held), then for the
 * fabric manager to set it up (simulated time, bounded). See team.h.
 *
 * The last device that is added sends one request to the fabric manager; what it answers is seen by
 * the process that binds or maps first, and a failure stays with the object for good.
 * Source: open-gpu-kernel-modules mem_multicast_fabric.c; the time-out as users observed it. */
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "api/cuda/multicast/team.h"

#include "sim/host_clock.h"

#define LOOK_AGAIN_MS 50 /* how often a waiter looks whether the process is ending */

static void fail(Team *team, CUresult error)
{
    team_lock(team);
    team->page->state = TEAM_FAILED;
    team->page->error = error;
    team_unlock(team);
}

/* The switches hold the team: from now on, or still. */
static gboolean has_entries(Call *call, const Team *team)
{
    g_autofree char *why = NULL;
    EngineRequest request = {.op = ENGINE_OBJECT_READY, .object = team->object, .argument = (guint64)(gpointer)&why};

    if (cuda_engine(call, &request, NULL))
        return TRUE;
    cuda_diagnose(call, team->handle, -1, 0, "the switches have no room for a team of %u GPUs: %s", team->n_devices,
                  why ? why : "the engine does not run");
    return FALSE;
}

static gboolean take_slot(Call *call, Team *team)
{
    Cuda *cuda = call->cuda;
    const guint64 slots = cuda->spec.multicast_slots;

    team_sweep(call);
    if (team->kind == ENGINE_OBJECT_ENDPOINT_UNICAST)
        return has_entries(call, team); /* takes none; its GPU is told to the fabric */
    if (slots != 0 && cuda->teams_ready >= slots) {
        cuda_diagnose(call, team->handle, -1, 0,
                      "[cuda] multicast_slots: all %" G_GUINT64_FORMAT " are taken; set %" G_GUINT64_FORMAT " or more",
                      slots, slots + 1);
        return FALSE;
    }
    if (!has_entries(call, team))
        return FALSE;
    cuda->teams_ready++;
    team->has_slot = TRUE;
    return TRUE;
}

/* The time of the first process that asked. */
static guint64 ask_once(Team *team, guint64 ready_ps)
{
    team_lock(team);
    if (team->page->ready_ps == 0)
        team->page->ready_ps = ready_ps;
    ready_ps = team->page->ready_ps;
    team_unlock(team);
    return ready_ps;
}

static guint64 now_ps(Call *call)
{
    EngineRequest now = {.op = ENGINE_NOW};
    EngineReply reply = {0};

    cuda_engine(call, &now, &reply);
    return reply.time_ps;
}

gboolean team_is_lost(Call *call, const Team *team)
{
    if (team->page->era == cuda_manager_era(call->cuda))
        return FALSE;
    cuda_diagnose(call, team->handle, -1, 0,
                  "the object was made before the fabric manager was restarted, which knows nothing of it any more: "
                  "make a new one, of GPUs that were reset since (fanout fabric gpu-reset)");
    return TRUE;
}

/* Takes the request at that time; a manager that does not answer does not take it. */
static void ask(Call *call, Team *team, guint64 at_ps)
{
    CudaFmState state = cuda_manager(call->cuda, -1);

    if (team->asked || state == CUDA_FM_STOPPED)
        return;
    team->asked = TRUE;
    team_sync(call, team);
    team->ready_ps = at_ps + call->cuda->spec.fm_latency_us * PS_PER_US;
    if (engine_remote_self(team->engine)) /* time is the same for all, and one request is made */
        team->ready_ps = ask_once(team, team->ready_ps);
    if (state != CUDA_FM_OK || team->members_seen < team->n_devices) /* or members that are none */
        fail(team, CUDA_ERROR_ILLEGAL_STATE);
    else if (!take_slot(call, team))
        fail(team, CUDA_ERROR_OUT_OF_MEMORY);
}

void team_ask_manager(Call *call, Team *team)
{
    if (!team->asked)
        ask(call, team, now_ps(call));
}

static void say_who_is_missing(Call *call, Team *team)
{
    g_autoptr(GString) missing = g_string_new(NULL);
    guint32 n;

    team_lock(team);
    n = team_members(team);
    for (guint i = 0; i < call->cuda->n_devices; i++)
        if (!team_has(team, call->cuda->device[i].gpu))
            g_string_append_printf(missing, "%s%u", missing->len > 0 ? ", " : "", i);
    team_unlock(team);
    cuda_diagnose(call, team->handle, -1, 0,
                  "watchdog: waiting for team members: %u of %u were added; not added: device %s", n, team->n_devices,
                  missing->len > 0 ? missing->str : "of another process");
}

/* Sleeps until the page changes; the caller holds no lock but has a reference. */
static EngineStatus wait_for_change(Team *team, gint sequence)
{
    struct timespec slice = {.tv_nsec = LOOK_AGAIN_MS * 1000000L};
    EngineRequest request = {.op = ENGINE_OBJECT_WAIT, .object = team->object, .value = (guint32)sequence};
    EngineReply reply;

    if (engine_remote_self(team->engine))
        return engine_call(team->engine, &request, &reply);
    syscall(SYS_futex, &team->page->sequence, FUTEX_WAIT, sequence, &slice, NULL, 0);
    return ENGINE_OK;
}

static gboolean complete(Team *team, gint *sequence)
{
    team_lock(team);
    gboolean all = team_members(team) >= team->n_devices;
    *sequence = g_atomic_int_get(&team->page->sequence);
    team_unlock(team);
    return all;
}

/* Another thread may have released the handle; a call that waits by it would then wait for ever. */
static gboolean is_held(Call *call, const Team *team, guint64 handle)
{
    return handle_get(call->cuda->handles, HANDLE_MULTICAST, handle, NULL) == team;
}

static CUresult wait_for_members(Call *call, Team *team, guint64 handle)
{
    guint64 watchdog_us = call->cuda->spec.watchdog_ms * 1000;
    CUresult result = CUDA_SUCCESS;
    gint sequence;

    if (complete(team, &sequence))
        return CUDA_SUCCESS;
    const gint64 start = host_clock_us();
    while (!complete(team, &sequence) && result == CUDA_SUCCESS) {
        cuda_unlock(call);
        EngineStatus status = wait_for_change(team, sequence);
        cuda_relock(call);
        if (cuda_exiting())
            result = CUDA_ERROR_DEINITIALIZED;
        else if (status == ENGINE_GONE)
            result = CUDA_ERROR_DEVICE_UNAVAILABLE;
        else if (!is_held(call, team, handle)) {
            cuda_diagnose(call, handle, -1, 0, "released by another thread while this one waited for team members");
            result = CUDA_ERROR_INVALID_VALUE;
        } else if (status != ENGINE_OK && !complete(team, &sequence)) { /* no process is left that could add one */
            say_who_is_missing(call, team);
            result = CUDA_ERROR_LAUNCH_TIMEOUT;
        } else if (watchdog_us != 0 && (guint64)(host_clock_us() - start) >= watchdog_us &&
                   !complete(team, &sequence)) {
            say_who_is_missing(call, team);
            result = CUDA_ERROR_LAUNCH_TIMEOUT;
        }
    }
    return result;
}

/* What the page says, if it is what a set-up can answer. */
static CUresult why_failed(const Team *team)
{
    CUresult error = (CUresult)team->page->error;
    return error == CUDA_ERROR_OUT_OF_MEMORY ? error : CUDA_ERROR_ILLEGAL_STATE;
}

/* It was asked, and has not been stopped before it could answer. */
static gboolean has_answered(const Call *call, const Team *team, guint64 at_ps)
{
    gboolean stopped = cuda_manager(call->cuda, -1) == CUDA_FM_STOPPED;

    return team->asked && team->ready_ps <= at_ps && !(stopped && cuda_manager_since_ps(call->cuda) < team->ready_ps);
}

/* Until the answer can be there, or the driver's patience is at its end. */
static guint64 sleep_ps(const Call *call, const Team *team, guint64 from_ps)
{
    guint64 timeout_ps = call->cuda->spec.fm_timeout_us * PS_PER_US;

    if (!team->asked || cuda_manager(call->cuda, -1) == CUDA_FM_STOPPED)
        return timeout_ps;
    return MIN(team->ready_ps - from_ps, timeout_ps);
}

static CUresult wait_for_manager(Call *call, Team *team)
{
    const guint64 from_ps = now_ps(call), until_ps = from_ps + call->cuda->spec.fm_timeout_us * PS_PER_US;
    EngineReply reply = {0};

    if (has_answered(call, team, from_ps))
        return CUDA_SUCCESS;
    EngineRequest request = {.op = ENGINE_SLEEP, .time_ps = sleep_ps(call, team, from_ps)};
    cuda_unlock(call);
    engine_call(call->cuda->engine, &request, &reply);
    cuda_relock(call);
    ask(call, team, MAX(from_ps, cuda_manager_since_ps(call->cuda))); /* it may have been started meanwhile */
    if (team->page->state == TEAM_FAILED)
        return why_failed(team);
    if (team_is_lost(call, team))
        return CUDA_ERROR_INVALID_VALUE;
    if (!has_answered(call, team, until_ps))
        return CUDA_ERROR_SYSTEM_NOT_READY;
    if (has_entries(call, team)) /* a fault may have come while the fabric manager was at it */
        return CUDA_SUCCESS;
    fail(team, CUDA_ERROR_OUT_OF_MEMORY);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

gboolean team_is_one_clique(Call *call, Team *team)
{
    const CudaSpec *spec = &call->cuda->spec;
    gboolean one = TRUE;

    if (spec->clique_gpus == 0)
        return TRUE;
    team_lock(team);
    for (guint32 i = 1; i < team_members(team) && one; i++)
        one = cuda_spec_clique(spec, team->page->member[i]) == cuda_spec_clique(spec, team->page->member[0]);
    team_unlock(team);
    if (!one)
        cuda_diagnose(call, team->handle, -1, 0,
                      "its devices are of several cliques of %" G_GUINT64_FORMAT " GPUs (cuda.clique_gpus)",
                      spec->clique_gpus);
    return one;
}

CUresult team_is_ready(Call *call, Team *team, gboolean *ready)
{
    gint sequence;

    *ready = FALSE;
    if (team_is_lost(call, team))
        return CUDA_ERROR_INVALID_VALUE;
    if (!complete(team, &sequence))
        return CUDA_SUCCESS;
    team_ask_manager(call, team);
    if (team->page->state == TEAM_FAILED)
        return why_failed(team);
    const guint64 at_ps = now_ps(call);
    if (team->asked_ps == 0)
        team->asked_ps = MAX(at_ps, 1);
    *ready = has_answered(call, team, at_ps);
    guint64 since_ps = MAX(team->asked_ps, cuda_manager_since_ps(call->cuda));
    if (!*ready && at_ps >= since_ps + call->cuda->spec.fm_timeout_us * PS_PER_US)
        return CUDA_ERROR_SYSTEM_NOT_READY;
    return CUDA_SUCCESS;
}

CUresult team_wait_ready(Call *call, Team *team, guint64 handle)
{
    CUresult result = team_is_lost(call, team) ? CUDA_ERROR_INVALID_VALUE : wait_for_members(call, team, handle);

    if (result == CUDA_SUCCESS && !team_is_one_clique(call, team))
        result = CUDA_ERROR_INVALID_DEVICE;
    if (result != CUDA_SUCCESS)
        return result;
    team_ask_manager(call, team);
    if (team->page->state == TEAM_FAILED)
        return why_failed(team);
    return wait_for_manager(call, team);
}
