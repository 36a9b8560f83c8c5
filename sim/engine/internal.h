/* What sim.c and process.c share. Nothing outside sim/ includes this. */
#ifndef SIM_ENGINE_INTERNAL_H
#define SIM_ENGINE_INTERNAL_H

#include "sim/engine/calendar.h"
#include "sim/engine/kernel.h"
#include "sim/engine/sim.h"
#include "sim/report/vcd.h"

typedef enum { PROCESS_READY, PROCESS_RUNNING, PROCESS_TIMED, PROCESS_BLOCKED } ProcessState;

struct SimProcess {
    Event wake; /* the end of a sim_wait_ps() */
    Sim *sim;
    KernelThread *thread; /* NULL until first resumed */
    ProcessState state;
    gboolean woken; /* a sim_wake() came while it was not blocked */
    gboolean started;
    gboolean abandoned; /* the Sim ends: drop the stack */
    SimProcess *ready_next;
    GList alive_link; /* in sim->alive, in order of creation */
    char *name;
    void (*main)(void *arg);
    void *arg;
    gsize stack_bytes;
    GString *why;
};

typedef struct {
    gboolean cause; /* others may wait because of it: it is named first */
    SimWaiterText text;
    void *unit;
} Waiter;

struct Sim {
    SimTime now_ps; /* first: sim_now_ps() */
    uint64_t sequence;
    Calendar *wheel; /* NULL: the reference calendar */
    uint64_t order;  /* of the event that fires; UINT64_MAX: none does, those of this instant have */
    guint64 fired;
    gboolean stop;
    gboolean running;
    SimTime limit_ps; /* events up to here may fire now */

    SimProcess *ready_first, *ready_last;
    SimProcess *current;
    gboolean needs_thread; /* the first ready process lacks one, and goes on before any event */
    GQueue alive;

    SimTime until_ps;
    SimTime base_ps; /* SystemC's time at our 0, for this sim_run() */
    SimStatus status;
    gboolean ended; /* the pump has decided the status */

    /* The reference calendar: notified events of this instant, and how many are still to come. */
    Event *due;
    GArray *armed;       /* Armed: events pending as notifications, with gaps */
    GArray *fresh;       /* guint32: places in armed which the pump has not notified yet */
    guint32 armed_free;  /* the first gap */
    guint64 armed_n;     /* all that are armed or fresh */
    guint64 armed_now_n; /* of these, for the current instant */
    SimTime settled_ps;  /* SystemC's time whose notifications have all come */

    guint64 seed;
    SimEngine engine;
    guint threads;
    struct SimSplit *split; /* other domains; NULL: there is one */
    GThread *thread;
    Vcd *vcd;
    SimTime vcd_base_ps;
    GArray *waiters;
    GArray *background; /* of background.c, in order of time; NULL: there never was any */
    SimObserve observe; /* NULL: nothing looks */
    void *observe_user;
    SimTime observe_ps; /* when it looks next */
    char *failure;      /* what SystemC said */
};

void sim_finish(Sim *sim, SimStatus status);
void sim_drain(Sim *sim, SimTime limit_ps); /* drain.c, of the wheel: fires what is due */
void sim_sleep(Sim *sim, SimTime next_ps, SimTime clock_ps);
gboolean sim_nobody_waits(Sim *sim);

void process_resume_first(Sim *sim); /* from the pump: there is one */
void process_abandon_all(Sim *sim);

/* domain.c */
typedef struct SimSplit SimSplit;
void split_free(SimSplit *split);   /* may be NULL */
void split_settle(SimSplit *split); /* may be NULL: the other threads rest when it returns */
void split_drain(SimSplit *split, SimTime limit_ps);
SimTime split_due_ps(const SimSplit *split);       /* when any domain goes on */
SimTime split_now_ps(const SimSplit *split);       /* of the other domain that has come furthest */
guint64 split_events_fired(const SimSplit *split); /* of all other domains */

/* background.c */
typedef struct {
    Sim *target;
    Event *event;
    SimTime time_ps;
} Background;
/* When the first of its events is due; when that is, or the observer looks. SIMTIME_NEVER: never. */
static inline SimTime background_due_ps(const Sim *sim)
{
    return sim->background && sim->background->len != 0 ? g_array_index(sim->background, Background, 0).time_ps
                                                        : SIMTIME_NEVER;
}
static inline SimTime background_next_ps(const Sim *sim) { return MIN(background_due_ps(sim), sim->observe_ps); }
/* All else that is due is due at next_ps or later. TRUE: the observer has looked, or background events stand in the
 * calendar now, for then or before. */
gboolean background_release(Sim *sim, SimTime next_ps);

/* systemc_calendar.c */
void reference_init(Sim *sim);
void reference_clear(Sim *sim);
void reference_insert(Sim *sim, Event *event);
void reference_remove(Sim *sim, Event *event);
void reference_enter(Sim *sim); /* sim_run() begins, ends */
void reference_leave(Sim *sim);
void reference_forget(Sim *sim); /* nothing is due any more, and the Sim runs no more */
void reference_pump(Sim *sim);
gboolean reference_is_busy(const Sim *sim); /* at this instant */

#endif
