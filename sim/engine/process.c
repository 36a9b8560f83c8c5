/* Processes: straight-line C on a stack of its own.
 *
 * Which process runs is decided here, not by SystemC: ready processes queue up in the order in
 * which they became ready, and each hands over to the next one itself when it waits; the last one
 * hands back to the pump. SystemC only ever sees one runnable thread. */
#include "sim/engine/internal.h"

#define PROCESS_STACK_BYTES (64 * 1024)
#define PROCESS_STACK_BYTES_MIN (16 * 1024)
#define PROCESS_THREADS_KEPT 1024 /* for the next Sim */

static void process_push_ready(Sim *sim, SimProcess *process)
{
    process->state = PROCESS_READY;
    process->ready_next = NULL;
    if (!sim->ready_first)
        sim->ready_first = process;
    else
        sim->ready_last->ready_next = process;
    sim->ready_last = process;
    sim->limit_ps = MIN(sim->limit_ps, sim->now_ps);
}

static void process_main(void *arg);

/* The first ready process goes on; it has a thread. */
static void process_go(Sim *sim)
{
    SimProcess *process = sim->ready_first;

    sim->ready_first = process->ready_next;
    if (!process->started) {
        process->started = TRUE;
        kernel_thread_start(process->thread, process_main, process, process->name);
    } else {
        kernel_thread_resume(process->thread);
    }
    process->state = PROCESS_RUNNING;
}

void process_resume_first(Sim *sim)
{
    SimProcess *process = sim->ready_first;

    if (!process->thread)
        process->thread = kernel_thread_take(process->stack_bytes);
    if (!process->thread)
        process->thread = kernel_thread_new(process->stack_bytes);
    sim->needs_thread = FALSE;
    process_go(sim);
}

/* A process is about to sleep or to end: the next one goes on, or the pump. */
static void process_pass_on(Sim *sim)
{
    SimProcess *process = sim->ready_first;

    sim->current = NULL;
    if (process && !sim->stop) {
        if (!process->thread)
            process->thread = kernel_thread_take(process->stack_bytes);
        if (process->thread) {
            process_go(sim);
            return;
        }
        sim->needs_thread = TRUE;
    }
    kernel_wake_now();
}

static void process_free(SimProcess *process)
{
    sim_cancel(process->sim, &process->wake);
    g_queue_unlink(&process->sim->alive, &process->alive_link);
    g_string_free(process->why, TRUE);
    g_free(process->name);
    g_free(process);
}

static void process_main(void *arg)
{
    SimProcess *process = arg;
    Sim *sim = process->sim;

    sim->current = process;
    process->main(process->arg);
    process_free(process);
    process_pass_on(sim);
}

static void process_yield(SimProcess *process)
{
    Sim *sim = process->sim;

    process_pass_on(sim);
    kernel_thread_yield(process->thread);
    if (G_UNLIKELY(process->abandoned))
        kernel_thread_leave(process->thread);
    sim->current = process;
}

static void process_fire_wake(Event *event, SimTime now_ps)
{
    SimProcess *process = EVENT_OWNER(event, SimProcess, wake);
    (void)now_ps;
    process_push_ready(process->sim, process);
}

SimProcess *sim_spawn(Sim *sim, const char *name, void (*main)(void *arg), void *arg, gsize stack_bytes)
{
    SimProcess *process = g_new0(SimProcess, 1);

    process->sim = sim;
    process->name = g_strdup(name);
    process->main = main;
    process->arg = arg;
    process->stack_bytes = stack_bytes == 0 ? PROCESS_STACK_BYTES : MAX(stack_bytes, PROCESS_STACK_BYTES_MIN);
    process->why = g_string_new(NULL);
    event_init(&process->wake, process_fire_wake);
    process->alive_link.data = process;
    g_queue_push_tail_link(&sim->alive, &process->alive_link);
    process_push_ready(sim, process);
    return process;
}

gsize sim_process_stack_used(const SimProcess *process)
{
    return process->thread ? kernel_thread_stack_used(process->thread) : 0;
}

void sim_wait_ps(Sim *sim, SimTime delay_ps)
{
    SimProcess *process = sim->current;

    g_assert(process != NULL);
    process->state = PROCESS_TIMED;
    sim_after(sim, &process->wake, delay_ps, EVENT_PRIORITY_PROCESS);
    process_yield(process);
}

void sim_block(Sim *sim, const char *why)
{
    SimProcess *process = sim->current;

    g_assert(process != NULL);
    if (process->woken) {
        process->woken = FALSE;
        return;
    }
    g_string_assign(process->why, why);
    process->state = PROCESS_BLOCKED;
    process_yield(process);
}

void sim_wake(Sim *sim, SimProcess *process)
{
    if (process->state == PROCESS_BLOCKED)
        process_push_ready(sim, process);
    else
        process->woken = TRUE;
}

/* ---- the end of a Sim ---- */

/* Abandoned threads park themselves; what is parked beyond a few ends, and so frees its stack. */
static void pump_abandon(void *user)
{
    Sim *sim = user;

    if (sim->ended) {
        kernel_threads_trim(PROCESS_THREADS_KEPT);
        kernel_pause();
        return;
    }

    for (GList *link = sim->alive.head; link != NULL; link = link->next) {
        SimProcess *process = link->data;
        if (process->thread) {
            process->abandoned = TRUE;
            kernel_thread_resume(process->thread);
        }
    }
    sim->ended = TRUE;
    kernel_wake_after(0);
}

void process_abandon_all(Sim *sim)
{
    gboolean started = FALSE;

    for (GList *link = sim->alive.head; link != NULL; link = link->next)
        started = started || ((SimProcess *)link->data)->thread;
    if ((started || kernel_threads_parked() > PROCESS_THREADS_KEPT) && !sim->failure) {
        sim->ended = FALSE;
        kernel_run(pump_abandon, sim, &sim->failure);
    }
    while (sim->alive.head)
        process_free(sim->alive.head->data);
}
