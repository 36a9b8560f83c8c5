/* The simulation: its life, its events, and the pump that drains the wheel.
 *
 * The pump is called back by SystemC (kernel.h). It fires events up to a limit that nothing else
 * can be due before: the end of the run, SystemC's next own activity, or, while a process is
 * ready, the current instant. A process runs only once SystemC's clock has caught up with ours. */
#include "sim/engine/sim.h"

#include "sim/engine/foreign.h"
#include "sim/engine/internal.h"

#define WAITERS_SHOWN 8 /* lines of a stuck run that a person wants to read */

G_STATIC_ASSERT(G_STRUCT_OFFSET(Sim, now_ps) == G_STRUCT_OFFSET(SimHot, now_ps));
G_STATIC_ASSERT(G_STRUCT_OFFSET(Sim, sequence) == G_STRUCT_OFFSET(SimHot, sequence));
G_STATIC_ASSERT(G_STRUCT_OFFSET(Sim, wheel) == G_STRUCT_OFFSET(SimHot, wheel));

Sim *sim_new(const SimSpec *spec, GError **error)
{
    Vcd *vcd = NULL;

    if (spec->vcd_path && !(vcd = vcd_open(spec->vcd_path, error)))
        return NULL;
    Sim *sim = g_new0(Sim, 1);
    sim->sequence = SIM_ORDER_FIRST;
    sim->order = UINT64_MAX;
    sim->seed = spec->seed;
    sim->engine = spec->engine;
    sim->threads = spec->threads;
    sim->vcd = vcd;
    sim->settled_ps = sim->observe_ps = SIMTIME_NEVER;
    sim->waiters = g_array_new(FALSE, FALSE, sizeof(Waiter));
    g_queue_init(&sim->alive);
    if (spec->calendar == SIM_CALENDAR_WHEEL)
        sim->wheel = calendar_new();
    else
        reference_init(sim);
    return sim;
}

void sim_abandon(Sim *sim)
{
    g_assert(!sim->running);
    process_abandon_all(sim);
    if (sim->wheel)
        calendar_clear(sim->wheel);
    else
        reference_forget(sim);
}

void sim_free(Sim *sim)
{
    if (!sim)
        return;
    g_assert(!sim->running);
    split_free(sim->split);
    process_abandon_all(sim);
    sim_trace_end(sim);
    if (sim->wheel)
        calendar_free(sim->wheel);
    else
        reference_clear(sim);
    g_array_unref(sim->waiters);
    if (sim->background)
        g_array_unref(sim->background);
    g_free(sim->failure);
    g_free(sim);
}

SimEngine sim_engine(const Sim *sim) { return sim->engine; }

guint64 sim_seed(const Sim *sim) { return sim->seed; }

guint64 sim_events_fired(const Sim *sim) { return sim->fired + (sim->split ? split_events_fired(sim->split) : 0); }

/* ---- events ---- */

void sim_at_reference(Sim *sim, Event *event) { reference_insert(sim, event); }

void sim_cancel(Sim *sim, Event *event)
{
    if (!event_is_pending(event))
        return;
    if (sim->wheel)
        calendar_remove(sim->wheel, event);
    else
        reference_remove(sim, event);
}

/* ---- running ---- */

/* The status is known: let SystemC's clock catch up and kernel_run() return. */
void sim_finish(Sim *sim, SimStatus status)
{
    sim->status = status;
    sim->ended = TRUE;
    if (status == SIM_LIMIT)
        sim->now_ps = sim->until_ps;
    else if (status == SIM_IDLE && sim->split)
        sim->now_ps = MAX(sim->now_ps, split_now_ps(sim->split));
    if (!sim->wheel)
        reference_leave(sim); /* before SystemC makes due what is due in the next delta cycle */
    SimTime behind_ps = sim->base_ps + sim->now_ps - kernel_now_ps();
    if (behind_ps > 0)
        kernel_wake_after(behind_ps);
    else
        kernel_pause();
}

/* Nothing of ours can go on before next_ps. Ends the run, or lets SystemC's other activity have its
 * turn first. */
void sim_sleep(Sim *sim, SimTime next_ps, SimTime clock_ps)
{
    SimTime foreign_ps = kernel_foreign_delay_ps();
    SimTime due_ps = foreign_ps == SIMTIME_NEVER ? next_ps : MIN(next_ps, clock_ps + foreign_ps);

    if (due_ps == SIMTIME_NEVER)
        sim_finish(sim, SIM_IDLE);
    else if (due_ps > sim->until_ps)
        sim_finish(sim, SIM_LIMIT);
    else if (MIN(next_ps, sim->until_ps) != SIMTIME_NEVER)
        kernel_wake_after(MIN(next_ps, sim->until_ps) - clock_ps);
}

static SimTime wheel_due_ps(const Sim *sim)
{
    return sim->split ? split_due_ps(sim->split) : calendar_next_ps(sim->wheel);
}

static void wheel_drain(Sim *sim, SimTime limit_ps)
{
    do {
        SimTime before_ps = MIN(limit_ps, background_next_ps(sim) - 1);
        if (sim->split)
            split_drain(sim->split, before_ps);
        else
            sim_drain(sim, before_ps);
    } while (!sim->stop && !sim->ready_first && background_next_ps(sim) <= limit_ps &&
             background_release(sim, wheel_due_ps(sim)));
}

static void pump_wheel(Sim *sim)
{
    SimTime clock_ps = kernel_now_ps() - sim->base_ps;
    SimTime foreign_ps = kernel_foreign_delay_ps();
    SimTime limit_ps = sim->until_ps;

    if (sim->vcd)
        limit_ps = MIN(limit_ps, clock_ps);
    else if (foreign_ps != SIMTIME_NEVER)
        limit_ps = MIN(limit_ps, clock_ps + foreign_ps);
    wheel_drain(sim, limit_ps);
    if (sim->stop) {
        sim_finish(sim, SIM_STOPPED);
    } else if (sim->ready_first) {
        if (clock_ps < sim->now_ps)
            kernel_wake_after(sim->now_ps - clock_ps);
        else
            process_resume_first(sim);
    } else {
        /* It was drained up to an earlier limit only where the clock goes step by step: they may be what is next. */
        background_release(sim, wheel_due_ps(sim));
        sim_sleep(sim, wheel_due_ps(sim), clock_ps);
    }
}

static void pump(void *user)
{
    Sim *sim = user;

    if (sim->ended)
        kernel_pause();
    else if (sim->needs_thread)
        process_resume_first(sim);
    else if (sim->wheel)
        pump_wheel(sim);
    else
        reference_pump(sim);
}

SimStatus sim_run(Sim *sim, SimTime until_ps)
{
    g_assert(!sim->running && !sim->current);
    g_assert(until_ps >= sim->now_ps && until_ps <= SIMTIME_NEVER);
    if (!sim->thread) {
        sim->thread = g_thread_self();
        sim->vcd_base_ps = kernel_now_ps();
    }
    g_assert(sim->thread == g_thread_self());
    if (sim->failure)
        return SIM_STUCK;
    sim->running = TRUE;
    sim->stop = FALSE;
    sim->ended = FALSE;
    sim->status = SIM_IDLE;
    sim->until_ps = MIN(until_ps, SIMTIME_LAST_PS);
    sim->base_ps = kernel_now_ps() - sim->now_ps;
    if (!sim->wheel)
        reference_enter(sim);
    gboolean fine = kernel_run(pump, sim, &sim->failure);
    if (!sim->wheel)
        reference_leave(sim);
    sim->running = FALSE;
    split_settle(sim->split);
    if (fine && kernel_now_ps() - sim->base_ps > sim->now_ps)
        sim->now_ps = kernel_now_ps() - sim->base_ps; /* something foreign was last */
    if (fine && sim->status == SIM_LIMIT && until_ps > SIMTIME_LAST_PS) {
        sim->failure = g_strdup_printf("simulated time has passed %" G_GUINT64_FORMAT
                                       " s, the most that a run can take",
                                       SIMTIME_LAST_PS / PS_PER_S);
        fine = FALSE;
    } else if (!fine) {
        char *message = sim->failure;
        sim->failure = g_strdup_printf("SystemC: %s", message);
        g_free(message);
    }
    if (!fine)
        sim->status = SIM_STUCK;
    else if (sim->status == SIM_IDLE && !sim_nobody_waits(sim))
        sim->status = SIM_STUCK;
    return sim->status;
}

SimTime sim_due_ps(Sim *sim)
{
    const gboolean told = sim->wheel && !sim->ready_first && kernel_foreign_delay_ps() == SIMTIME_NEVER;

    return told ? wheel_due_ps(sim) : sim->now_ps;
}

void sim_stop(Sim *sim) { sim->stop = TRUE; }

/* ---- from outside the pump: SystemC components, see tlm_port.cpp ---- */

SimEntry sim_enter(Sim *sim)
{
    if (!sim->running)
        return SIM_ENTRY_CLOSED;
    SimTime clock_ps = kernel_now_ps() - sim->base_ps;
    gboolean busy = sim->ended || sim->current || sim->ready_first ||
                    (sim->wheel ? calendar_next_ps(sim->wheel) <= clock_ps : reference_is_busy(sim));
    if (!busy)
        sim->now_ps = MAX(sim->now_ps, clock_ps);
    return busy ? SIM_ENTRY_LATER : SIM_ENTRY_OPEN;
}

void sim_leave(void) { kernel_wake_now(); }

SimTime sim_foreign_delay_ps(Sim *sim)
{
    sim->limit_ps = MIN(sim->limit_ps, sim->now_ps);
    return sim->base_ps + sim->now_ps - kernel_now_ps();
}

/* ---- who waits ---- */

void sim_add_waiter(Sim *sim, SimWaiterText text, void *unit)
{
    Waiter waiter = {FALSE, text, unit};
    g_array_append_val(sim->waiters, waiter);
}

void sim_add_cause(Sim *sim, SimWaiterText text, void *unit)
{
    Waiter waiter = {TRUE, text, unit};
    g_array_append_val(sim->waiters, waiter);
}

static char *process_waiter_text(const SimProcess *process)
{
    if (process->state == PROCESS_BLOCKED)
        return g_strdup_printf("%s waits for %s", process->name, process->why->str);
    return NULL;
}

static GPtrArray *waiting_processes(Sim *sim)
{
    GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
    char *line;

    if (sim->failure)
        g_ptr_array_add(lines, g_strdup(sim->failure));
    for (GList *link = sim->alive.head; link != NULL; link = link->next)
        if ((line = process_waiter_text(link->data)))
            g_ptr_array_add(lines, line);
    return lines;
}

static GPtrArray *waiting_units(Sim *sim, gboolean causes)
{
    GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
    char *line;

    for (guint i = 0; i < sim->waiters->len; i++) {
        Waiter *waiter = &g_array_index(sim->waiters, Waiter, i);
        if (waiter->cause == causes && (line = waiter->text(waiter->unit)))
            g_ptr_array_add(lines, line);
    }
    return lines;
}

char **sim_waiters(Sim *sim)
{
    GPtrArray *lines = waiting_units(sim, TRUE);

    g_ptr_array_extend_and_steal(lines, waiting_processes(sim));
    g_ptr_array_extend_and_steal(lines, waiting_units(sim, FALSE));
    g_ptr_array_add(lines, NULL);
    return (char **)g_ptr_array_free(lines, FALSE);
}

static void show_waiters(GString *text, GPtrArray *lines)
{
    for (guint i = 0; i < MIN(lines->len, WAITERS_SHOWN); i++)
        g_string_append_printf(text, "\n  %s", (const char *)lines->pdata[i]);
    if (lines->len > WAITERS_SHOWN)
        g_string_append_printf(text, "\n  and %u more", lines->len - WAITERS_SHOWN);
    g_ptr_array_free(lines, TRUE);
}

char *sim_waiters_text(Sim *sim)
{
    GString *text = g_string_new(NULL);

    show_waiters(text, waiting_units(sim, TRUE));
    show_waiters(text, waiting_processes(sim));
    show_waiters(text, waiting_units(sim, FALSE));
    return g_string_free(text, FALSE);
}

gboolean sim_nobody_waits(Sim *sim)
{
    GPtrArray *processes = waiting_processes(sim), *units = waiting_units(sim, FALSE);
    gboolean none_left = processes->len == 0 && units->len == 0;

    g_ptr_array_free(processes, TRUE);
    g_ptr_array_free(units, TRUE);
    return none_left;
}
