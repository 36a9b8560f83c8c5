/* One simulation: its clock, its calendar, its straight-line processes, its random streams and its
 * registries of parameters, statistics and waiters.
 *
 * What runs. A run is events (C callbacks) and processes (C functions on their own stack, SystemC
 * threads underneath). Both live on the thread that calls sim_run(), always the same one for a Sim.
 *
 * Order. At one picosecond all events run first, in (priority, sequence) order; then the processes
 * that became ready, in the order in which they became ready, each until it waits again; then the
 * events which those scheduled for the same picosecond; and so on. Both calendars give this order.
 *
 * The calendars. SIM_CALENDAR_WHEEL drains C events inside one SystemC process and runs ahead of
 * SystemC's clock until a process is due or other SystemC activity is. SIM_CALENDAR_SYSTEMC makes
 * every event a SystemC notification of its own: slow, and the proof that running ahead changes
 * nothing, since its output must be the same byte for byte. */
#ifndef SIM_ENGINE_SIM_H
#define SIM_ENGINE_SIM_H

#include <glib.h>

#include "sim/engine/event.h"
#include "sim/engine/simtime.h"

G_BEGIN_DECLS

typedef struct Sim Sim;
typedef struct SimProcess SimProcess;

typedef enum { SIM_CALENDAR_WHEEL, SIM_CALENDAR_SYSTEMC } SimCalendar;
/* For models that can run in two ways: the fast one does as much as it can without events; the reference has an event
 * for every step, and the same results. */
typedef enum { SIM_ENGINE_FAST, SIM_ENGINE_REFERENCE } SimEngine;

typedef struct {
    guint64 seed; /* of every named random stream */
    SimCalendar calendar;
    SimEngine engine;
    const char *vcd_path; /* NULL: no waveform; else written, and no running ahead */
    guint threads;        /* 0 or 1: one domain; more: see domain.h */
} SimSpec;

typedef enum {
    SIM_IDLE,    /* nothing is due and nothing waits: finished */
    SIM_STUCK,   /* nothing is due and processes wait (see sim_waiters) */
    SIM_STOPPED, /* sim_stop() was called */
    SIM_LIMIT,   /* until_ps was reached first */
} SimStatus;

/* A new simulation at time 0. Several may exist in a process and run one after another or by turns,
 * never two at once; SystemC's own clock cannot be set back, so a later one runs with its time
 * rebased. One with a VCD should not take turns. GError: the VCD cannot be opened. */
Sim *sim_new(const SimSpec *spec, GError **error);
/* Processes that have not returned are abandoned: their stacks go, what they allocated stays. */
void sim_free(Sim *sim);
/* Ends it in the middle of a run, between two sim_run() of one domain: processes are abandoned and no event is pending,
 * so that what they all were about can be freed in any order. Nothing of it runs again; sim_free() is what is left. */
void sim_abandon(Sim *sim);

static inline SimTime sim_now_ps(const Sim *sim);
guint64 sim_seed(const Sim *sim);
SimEngine sim_engine(const Sim *sim);
guint64 sim_events_fired(const Sim *sim);

/* Runs until nothing is due, sim_stop(), or the clock would pass until_ps (then it stands at
 * until_ps). May be called again and again. Not from inside a process or an event. An error that
 * SystemC or a component plugged into it raises ends the run as SIM_STUCK, for good; sim_waiters()
 * says what it was. */
SimStatus sim_run(Sim *sim, SimTime until_ps);
/* When the next event is due, between runs; SIMTIME_NEVER: none is. Now, where that is not told: with the reference
 * calendar, and with a unit of SystemC. */
SimTime sim_due_ps(Sim *sim);
void sim_stop(Sim *sim); /* sim_run returns after the current event or process slice */

/* Events. time_ps must not lie in the past; scheduling a pending event is a programming error. */
static inline void sim_at(Sim *sim, Event *event, SimTime time_ps, EventPriority priority);
static inline void sim_after(Sim *sim, Event *event, SimTime delay_ps, EventPriority priority);
/* An event of the hardware that goes behind the others of its instant (EVENT_PRIORITY_FABRIC), in the order of
 * its key: an order that does not depend on who scheduled them when. The key is set once; no sim_at() then. */
static inline void sim_set_key(Event *event, uint32_t key);
/* The same for one that goes before all others of its instant. */
static inline void sim_set_key_first(Event *event, uint32_t key);
static inline void sim_at_key(Sim *sim, Event *event, SimTime time_ps);
void sim_cancel(Sim *sim, Event *event); /* no-op when it is not pending */
/* An event that no run goes on for: it fires at its time, on the clock of `target` (sim, or another of its domains), if
 * anything is due after that or a unit waits, and else in a later run that gets there. The event has a key
 * (sim_set_key_first(): before all else of its instant) and cannot be cancelled. Between runs, or before the first. */
void sim_at_background(Sim *sim, Sim *target, Event *event, SimTime time_ps);
/* The time of the first of these that has not fired; SIMTIME_NEVER: there is none. A run that ends before it, and has
 * nothing else due, is SIM_IDLE or SIM_STUCK. */
SimTime sim_background_ps(const Sim *sim);

/* An observer looks at the simulation at a time of its choosing: all that was due before at_ps has happened, in all
 * domains, nothing of at_ps has. It changes nothing, so that what is observed runs as it would otherwise, and no run
 * goes on for it: it is not called again once nothing else is due. It returns when it looks next, which is later;
 * SIMTIME_NEVER: no more. One for each Sim, from before its first run on; look: NULL ends it, between runs. */
typedef SimTime (*SimObserve)(void *user, SimTime at_ps);
void sim_observe(Sim *sim, SimTime first_ps, SimObserve look, void *user);

/* Processes. main(arg) runs on a stack of stack_bytes (0: 64 KiB) from the current time on, after
 * the events of this instant. The SimProcess is freed by the Sim after main returned. */
SimProcess *sim_spawn(Sim *sim, const char *name, void (*main)(void *arg), void *arg, gsize stack_bytes);
/* How much of its stack a process has used at most so far, in bytes (from a painted pattern; 0 when
 * unknown). A stack that overflowed ends the program with a message naming the process. */
gsize sim_process_stack_used(const SimProcess *process);

/* From inside a process: let time pass; or sleep until sim_wake(). `why` says what is waited for,
 * in words for a person ("line 0x40 of GPU 3 to be written"); it is copied. sim_block may return
 * at once when a wake-up came since the last sim_block: callers loop over their condition. */
void sim_wait_ps(Sim *sim, SimTime delay_ps);
void sim_block(Sim *sim, const char *why);
void sim_wake(Sim *sim, SimProcess *process); /* from events, processes, or between runs */

/* What a stuck run waits for: one line for each blocked process and for each hardware unit that
 * registered itself and is not idle. Caller frees with g_strfreev. */
typedef char *(*SimWaiterText)(void *unit); /* NULL: idle; else a line to free */
void sim_add_waiter(Sim *sim, SimWaiterText text, void *unit);
/* The same for a unit that waits for nothing itself, but that others may wait for, such as one that is broken: its line
 * comes before all others. */
void sim_add_cause(Sim *sim, SimWaiterText text, void *unit);
char **sim_waiters(Sim *sim);
/* The first of these lines, of processes and of units as many as a person wants to read, each behind a line break
 * and two blanks, and how many more there are. Caller frees. */
char *sim_waiters_text(Sim *sim);

/* Waveforms: `value` is sampled whenever time moves on, until the Sim ends, which also finishes
 * the file (while it runs, PATH.raw.vcd grows beside it). Dots in the name make scopes. Before the
 * first sim_run() only. No-op without a VCD. */
void sim_trace_u64(Sim *sim, const char *name, const guint64 *value, int bits);
/* Finishes the file now, where the Sim is not freed: a process that ends. Between runs. No-op without a VCD.
 * FALSE: it could not be written; standard error says why. */
gboolean sim_trace_end(Sim *sim);

/* ---- what follows is inline because a packet's every step goes through it */

#include "sim/engine/calendar.h"

/* The first members of every Sim. */
typedef struct {
    SimTime now_ps;
    uint64_t sequence;
    Calendar *wheel; /* NULL: the reference calendar */
    uint64_t order;
} SimHot;
#define SIM_ORDER_PRIORITY_SHIFT 62
#define SIM_ORDER_KEYED ((uint64_t)1 << 61) /* behind every sequence */
#define SIM_ORDER_FIRST ((uint64_t)1 << 32) /* where sequences begin: behind every first key */
void sim_at_reference(Sim *sim, Event *event);

static inline SimTime sim_now_ps(const Sim *sim) { return ((const SimHot *)(const void *)sim)->now_ps; }

/* Where what happens now stands among the events of the instant at_ps, by Event.order: those before it have fired. */
static inline uint64_t sim_order(const Sim *sim, SimTime at_ps)
{
    const SimHot *hot = (const SimHot *)(const void *)sim;
    return at_ps == hot->now_ps ? hot->order : UINT64_MAX;
}

static inline __attribute__((always_inline)) void sim_at(Sim *sim, Event *event, SimTime time_ps,
                                                         EventPriority priority)
{
    SimHot *hot = (SimHot *)(void *)sim;
    /* one comparison tells a time in the past and one that is never */
    g_assert(time_ps - hot->now_ps < SIMTIME_NEVER / 2 && event->place == 0);
    event->time_ps = time_ps;
    event->order = (uint64_t)priority << SIM_ORDER_PRIORITY_SHIFT | hot->sequence++;
    if (G_LIKELY(hot->wheel != NULL))
        calendar_insert(hot->wheel, event);
    else
        sim_at_reference(sim, event);
}

static inline void sim_set_key(Event *event, uint32_t key) { event->order = SIM_ORDER_KEYED | key; }
static inline void sim_set_key_first(Event *event, uint32_t key) { event->order = key; }

static inline __attribute__((always_inline)) void sim_at_key(Sim *sim, Event *event, SimTime time_ps)
{
    SimHot *hot = (SimHot *)(void *)sim;
    g_assert(time_ps - hot->now_ps < SIMTIME_NEVER / 2 && event->place == 0);
    event->time_ps = time_ps;
    if (G_LIKELY(hot->wheel != NULL))
        calendar_insert(hot->wheel, event);
    else
        sim_at_reference(sim, event);
}

static inline void sim_after(Sim *sim, Event *event, SimTime delay_ps, EventPriority priority)
{
    sim_at(sim, event, sim_now_ps(sim) + delay_ps, priority);
}

G_END_DECLS

#endif
