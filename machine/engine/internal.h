/* Inside the engine: everything here belongs to its thread. */
#ifndef MACHINE_ENGINE_INTERNAL_H
#define MACHINE_ENGINE_INTERNAL_H

#include "device/device.h"
#include "machine/engine/engine.h"
#include "machine/engine/gate.h"
#include "machine/engine/rounds.h"
#include "machine/engine/tree.h"
#include "device/kernel/trace.h"
#include "model/fabric/fabric.h"
#include "model/fabric/usage.h"
#include "model/gpu/copy_engine.h"
#include "model/memory/address_space.h"
#include "observe/recording.h"
#include "sim/engine/sim.h"
#include "sim/rng.h"
#include "sim/report/report.h"

#include <pthread.h>

#define FAULT_HOST ((FaultKind)FAULT_KINDS) /* a host address cannot be written: no device's fault */

typedef struct Work Work;
typedef struct EngineStream EngineStream;
typedef struct EngineShared EngineShared;
typedef struct EngineGroup EngineGroup;

/* groups.c */
typedef struct {
    GPtrArray *open;    /* EngineGroup of which a launch runs, or that ended just now */
    GPtrArray *rows;    /* what the report has of those that have ended, in the order of their ends */
    GHashTable *by_key; /* GPtrArray of the same by what they have in common */
} EngineGroups;

typedef struct {
    guint32 id, client;
    guint16 gpu;
    FaultKind fault;    /* FAULT_NONE, or why work of it failed */
    guint32 legacy;     /* stream number */
    GPtrArray *streams; /* EngineStream that have not been freed */
    gboolean gone;      /* its process has ended: what is queued is not done any more */
    guint32 unfinished; /* works that were queued and are not done */
    Work *barrier;      /* a copy between contexts that all later work waits for: a reference, or NULL */
} EngineContext;

struct EngineStream {
    guint32 id;
    EngineContext *context;
    gboolean blocking; /* waits for the legacy stream, and the other way round */
    Work *tail;        /* the last work queued, a reference; NULL: never any */
};

/* What a kind of work does. NULL: nothing, but for `start`. */
typedef struct {
    EngineStatus (*prepare)(Work *work); /* at submission: snapshots, checks of host addresses */
    void (*start)(Work *work);           /* its turn has come; leads to engine_work_done() */
    void (*ended)(Work *work);           /* inside engine_work_done(), when those that followed it have been told */
    void (*clear)(Work *work);           /* frees what is its own */
} WorkSteps;

/* One piece of work. It starts when everything it waits for is done. */
struct Work {
    Engine *engine;
    EngineRequest request;
    EngineContext *context; /* NULL: of none (a wait) */
    const WorkSteps *steps;
    guint32 refs;
    guint32 waits_for;    /* works that are not done yet, +1 while it is being queued */
    GPtrArray *followers; /* works that wait for this one; each a reference */
    gboolean done;
    FaultKind fault;
    SimTime submit_ps, start_ps, end_ps;
    SimTime skipped_ps;   /* at its end: skip.h */
    EngineCall *call;     /* a wait: whom to wake */
    Work *of;             /* a wait for one piece of work: a reference */
    gboolean guarded;     /* a call waits for it, and is told of its faults */
    gboolean dropped;     /* that call was answered with an error: the work must not touch host memory */
    gboolean never;       /* it is done without having been: its process had ended */
    guint8 *staging;      /* bytes of host memory that the fabric does not see */
    FoKernel kernel;      /* of a launch: name and args are owned */
    KernelSpec ptx;       /* of a kernel of PTX: its param is owned; kernel.name is its name */
    KernelLaunch *launch; /* while it runs */
    KernelStats *counted; /* of a kernel of PTX that has run; owned */
    EngineGroup *group;   /* of a launch that runs */
    Work *primary;        /* the kernel before it in its stream, which it may start before the end of; a reference until
                           * that one is done, and so long it is not done itself */
    Work *behind;         /* a record: the kernel right before it; a reference until it is done */
    guint32 events; /* records of a graph's event nodes right before it and right after that kernel, its own too */
    GPtrArray *dependents;              /* kernels whose primary it is; each a reference */
    gboolean programmatic, waits_early; /* it may start at its primary's trigger; it waits for its primary's moment */
    gboolean triggered, performed, released, held; /* held: it has ended, and waits for its primary's end */
    SimTime triggered_ps, performed_ps, ready_ps;  /* ready: it starts no earlier */
    guint64 at, row;                               /* progress of copies and fills: bytes of the row, rows */
    MemWatch watch;                                /* ENGINE_WAIT_VALUE */
    Event timer;                                   /* ENGINE_SLEEP, and what cuda.rank_skew_us adds to a wait */
    gboolean skewed;                               /* it runs for the latter */
    EngineShared *shared; /* a record of an event that processes share, or a wait for another's; a reference, or NULL */
    guint64 number;       /* which record of it */
};

typedef struct {
    guint32 id;
    Work *record;         /* the latest record, a reference; NULL: never */
    EngineShared *shared; /* with other processes; NULL: it is not */
} EngineEvent;

/* What work cost, by what it was: rows of the report. */
typedef struct {
    char *name;
    guint64 count, bytes, faults;
    SimTime first_ps, last_ps, busy_ps;
    Hist latency_ps;
} WorkStats;

/* What the report says of a multicast object, also when it is gone. */
typedef struct {
    guint64 handle; /* in the program; 0: not told */
    guint64 bytes;
    guint64 binds; /* that were made */
    guint32 team;  /* GPUs asked for */
    EngineObjectKind kind;
    GString *members;
} ObjectNote;

/* A multicast object's address range. */
typedef struct {
    guint64 va, bytes, offset;
    guint32 object;
} ObjectWindow;

struct Engine {
    EngineSpec spec;
    GThread *thread;
    guint64 seen_ps;      /* atomic: simulated time of the latest answer to a caller */
    pthread_mutex_t lock; /* of the two below only */
    pthread_cond_t posted;
    GQueue calls;   /* EngineCall */
    gint waiting;   /* atomic: API threads asleep in a call */
    gint callbacks; /* atomic: host calls that run */
    GQueue to_call; /* Work: host calls that wait for the calling thread; under lock */
    pthread_cond_t call_posted;
    gboolean has_caller;
    GQueue returned; /* Work whose host call returned; under lock */
    Sim *sim;
    Fabric *fabric;
    StatsFile *stats_file; /* NULL: none, as is */
    Recording *recording;  /* NULL: none is wanted */
    Tracks *tracks;        /* of the recording that has ended, for the timeline; NULL: none */
    GPtrArray *vases;      /* Vas by client; NULL: it is gone */
    GPtrArray *objects;    /* McObject by number, which is its id too; [0] NULL */
    GArray *notes;         /* ObjectNote by object */
    GPtrArray *unicasts;   /* EngineUnicast (endpoint.h) by number, less ENGINE_UNICAST */
    GArray *windows;       /* ObjectWindow that are mapped */
    GHashTable *contexts;  /* id -> EngineContext */
    GPtrArray *streams;    /* EngineStream by number */
    GArray *shown;         /* guint32 by the same: its number in reports, in the order of first use; 0: not used yet */
    guint32 n_shown;
    GPtrArray *events;   /* EngineEvent by number */
    GPtrArray *sleepers; /* Work: waits that are not answered */
    GPtrArray *ready;    /* Work that could start, once the standstill ends; references */
    GPtrArray *alarms;   /* EngineAlarm that have not rung */
    EngineRounds rounds; /* rounds.c */
    GPtrArray *woken;    /* EngineCall of threads that are to go on when all others are quiet: woken.c */
    GPtrArray *outside;  /* EngineCall that the gate's waits hold: not answered by simulated time */
    GArray *departed;    /* clients that have ended and whose address space work still uses */
    guint depth;         /* works that started the next one, on the stack */
    GPtrArray *deep;     /* Work that is to start when that is less; references */
    gboolean in_time;    /* simulated time runs, or what a standstill has left starts */
    Tree *tree;
    gboolean disturbed;    /* something has been, since time ran last */
    gboolean stirred;      /* something has been answered or asked since the latest try of a proof */
    SimTime stirred_ps;    /* when it last was, by the job's clock */
    guint64 skipped_ps;    /* of it, what is left out of the model's: skip.h */
    gboolean quiet;        /* it was proved, and nothing has been answered or asked since */
    gboolean spins;        /* but for threads that spin: for a quantum of time alone */
    gboolean was_forced;   /* cuda.quiet_ms has let time run: a thread still runs */
    gboolean host_written; /* meanwhile the machine has written to memory of the host, which that thread may poll */
    guint64 waited_us;     /* that the host has let pass for the next slice: slice.c */
    guint64 look_us;       /* until the next try of the proof */
    gint64 still_us;       /* host time since when time was wanted and the tree was not quiet; 0: it is not wanted */
    gboolean told_busy;
    TreeRunner busy,
        computes; /* who ran at the latest look, tid 0: unknown; and for how long it is the same: woken.c */
    gint64 computes_since_us;
    guint64 forced;             /* how often cuda.quiet_ms has let time run */
    int wake_fd;                /* readable when a thread of this process has posted something, with a gate */
    const EngineRemote *remote; /* not NULL: nothing else here is used */
    void *remote_self;
    const guint64 *remote_seen_ps;
    GPtrArray *stats;         /* WorkStats in order of first use */
    GHashTable *client_stats; /* client -> GPtrArray of the same */
    GPtrArray *faults;        /* faults.c */
    GArray *slices;           /* timeline.c; NULL: none is wanted */
    GArray *spans;            /* timeline.c; the same, when SMs had CTAs of which kernel */
    GArray *launches;         /* launches.c */
    EngineGroups groups;
    GArray *arrivals;   /* arrivals.c */
    GHashTable *skews;  /* rank -> Rng, of cuda.rank_skew_us */
    KernelTrace *trace; /* NULL: none is wanted */
    guint64 n_traced;   /* warps */
    guint64 n_faults;
    UsageMark *mark;
    guint64 nobody_us; /* host time that nothing was due and no thread could act */
    guint64 quiet_us;
    gint64 busy_since_us; /* host time since which kernels run and nothing has ended and no call has come */
    gboolean shared;      /* other processes may write to watched memory */
    guint quiet_looks;    /* without a call, and work waits for one */
    gboolean alone;       /* no call has come for a while, and work goes on all the same */
    gint running;         /* atomic: works started and not done */
    gint interrupts;      /* that were seen */
    gboolean signalled;   /* a signal that is to end the process was seen */
    GPtrArray *active;    /* Work that runs */
    GPtrArray *promised;  /* Work: records of shared events that are not reached */
    GPtrArray *awaited;   /* Work that waits for a record of another process; references */
    GPtrArray *graveyard; /* McObject to free when nothing runs any more */
    gboolean stuck;
    GError *start_error;
    gboolean started;
};

/* kernel.c: how long until the first instruction of a kernel whose turn has come */
SimTime engine_launch_ps(const Work *work);

/* stuck.c; lock held, which the second gives up inside */
gboolean engine_is_deadlocked(Engine *engine);       /* every other thread of the process sleeps in a call */
gboolean engine_has_external_waiter(Engine *engine); /* another process that lives could still act */
void engine_declare_stuck(Engine *engine);

/* No call has come, and no callback has come back. Lock held. */
static inline gboolean engine_nothing_posted(Engine *engine)
{
    return g_queue_is_empty(&engine->calls) && g_queue_is_empty(&engine->returned);
}

/* call.c, with the lock: answers a call; sleeps for a moment, or until something is posted. Without it: hands a call of
 * a host function to the thread that makes them. */
#define ENGINE_LOOK_FIRST_US 20        /* between two tries of the proof of quiet, at first */
void engine_disturbed(Engine *engine); /* something was answered or asked: quiet must be proved anew; also without it */
void engine_tell_time(Engine *engine); /* to all: threads may go on that have no answer to a call */
void engine_answer(Engine *engine, EngineCall *call, EngineStatus status);
void engine_signal(Engine *engine);
void engine_look_later(Engine *engine, guint64 look_us); /* G_MAXUINT64: until something is posted */
void engine_host_call(Engine *engine, Work *work);

/* standstill.c */
static inline gboolean engine_wants_time(const Engine *engine) /* a call waits for it, or something is under way */
{
    return engine->sleepers->len > 0 || engine->alarms->len > 0 || engine->ready->len > 0 || engine->active->len > 0 ||
           engine->woken->len > 0;
}
gboolean engine_is_quiet(Engine *engine);   /* lock held, given up inside: time may run */
void engine_standstill_end(Engine *engine); /* without the lock: what came within it starts, in its order */
void engine_await_quiet(Engine *engine);    /* lock held, given up inside: until the next look is worth it */
/* gate.c */
void engine_bury_clients(Engine *engine); /* frees the address spaces of those that nothing uses any more */
void engine_value_give_up(Work *work);    /* value.c: a wait for a value that no call waits for any more */
static inline gint engine_order_compare(const EngineOrder *a, const EngineOrder *b)
{
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}
static inline Vas *engine_vas(const Engine *engine, guint32 client)
{
    return client < engine->vases->len ? g_ptr_array_index(engine->vases, client) : NULL;
}

/* woken.c; lock held. TRUE: some go on. */
gboolean engine_woken_go(Engine *engine, gboolean quiet);

/* idle.c: for a moment in which no call waits; the program computes, or waits for something else than its GPUs. Lock
 * held, given up inside. */
void engine_idle(Engine *engine);
void engine_look_for_signal(Engine *engine);

/* watch.c: after each slice of time, without the lock */
void engine_watch(Engine *engine);
void engine_watch_signals(Engine *engine); /* also while no time runs */

/* memory.c */
void engine_bury(Engine *engine); /* frees what waited for the end of running work */
gboolean engine_memory_request(Engine *engine, const EngineRequest *request, EngineReply *reply);
McObject *engine_object(Engine *engine, guint32 number);
guint64 engine_handle(const Engine *engine, guint32 object); /* 0: not told */
void engine_objects_report(Engine *engine, Report *report);

/* queue.c: streams, events, order */
/* wait.c */
extern const WorkSteps engine_wait_steps; /* of a wait for one piece of work, whose `of` and `call` are set */
void engine_wait_request(Engine *engine, EngineCall *call);                                 /* the answer comes later */
void engine_answer_query(Engine *engine, const EngineRequest *request, EngineReply *reply); /* as things are now */
EngineStatus engine_status_of(FaultKind fault); /* of work, for its caller */
void engine_wait_drop(Work *wait); /* that is among the sleepers no more: its caller is gone, or has an answer */
gboolean engine_queue_request(Engine *engine, EngineCall *call); /* TRUE: answered now */

/* work.c */
Work *engine_work_new(Engine *engine, const EngineRequest *request, EngineContext *context, const WorkSteps *steps);
Work *engine_work_ref(Work *work);
void engine_work_unref(Work *work);
void engine_work_follow(Work *work, Work *before); /* NULL, done, or itself: nothing to wait for */
void engine_work_advance(Work *work);              /* one thing less to wait for */
void engine_work_start(Work *work);                /* nothing is left of that, and its turn has come */
void engine_work_done(Work *work, FaultKind fault, SimTime now_ps);
void engine_work_unmapped(Work *work, guint64 va); /* it ends: nothing is mapped there */

/* stream_number.c: work in it starts; its number in reports */
void engine_stream_used(Engine *engine, guint32 number);
guint32 engine_stream_shown(const Engine *engine, guint32 number);

/* stream.c */
EngineStream *engine_stream(Engine *engine, guint32 number); /* NULL: freed */
guint32 engine_stream_new(Engine *engine, const EngineRequest *request);
void engine_stream_free(Engine *engine, guint32 number); /* its queued work still runs */
guint32 engine_event_new(Engine *engine, const EngineRequest *request);
void engine_event_free(Engine *engine, guint32 number);

/* Kinds of work: transfer.c (copies and fills), value.c, program.c (device programs in C), kernel.c (kernels of PTX) */
extern const WorkSteps engine_transfer_steps, engine_write_value_steps, engine_wait_value_steps, engine_program_steps,
    engine_kernel_steps;

/* host_memory.c. FALSE: an address is not there. */
gboolean engine_host_read(const Work *work, guint8 *into, guint64 address, guint64 bytes);
gboolean engine_host_write(const Work *work, guint64 address, const guint8 *from, guint64 bytes);

/* kernel.c */
void engine_kernels_end(Engine *engine, const char *why); /* those that run do not end: they are ended */
guint engine_kernels_run(const Engine *engine);

/* dependents.c: kernels that start before the one ahead of them in the stream has ended */
gboolean engine_depend(Work *work, Work *before); /* FALSE: it has to wait for it as a whole */
void engine_kernel_reaches(const KernelLaunch *launch, KernelMoment moment, void *work);
gboolean engine_kernel_depends(const Work *work); /* its primary's stores are not all performed */
void engine_kernel_end(Work *work, FaultKind fault);
void engine_dependents_done(Work *work); /* a kernel's step `ended` */

/* stats.c */
void engine_stats_add(Engine *engine, Work *work);
void engine_stats_report(Engine *engine, Report *report);
void engine_stats_report_client(Engine *engine, Report *report, guint32 client); /* what is of one process */
/* Statistics in time, where they are asked for. FALSE: the file cannot be written (begin: the engine's start_error). */
gboolean engine_series_begin(Engine *engine);
gboolean engine_series_end(Engine *engine, Report *report);

/* launches.c */
GArray *engine_launches_new(void);
void engine_launches_add(Work *work);                                        /* that has ended */
void engine_launches_report(Engine *engine, Report *report, guint32 client); /* of all processes: 0 */
void engine_launches_shape(const Work *work, guint32 grid[3], guint32 block[3]);
void engine_launches_add_shape(Table *table, const guint32 n[3]);

/* arrivals.c: which process comes last. `arrivals`: EngineArrival of one group */
typedef struct {
    guint32 client, rank;
    SimTime start_ps;
} EngineArrival;
GArray *engine_arrivals_new(void);
void engine_arrivals_note(GArray *arrivals, const Work *work);
void engine_arrivals_add(Engine *engine, const GArray *arrivals);
void engine_arrivals_report(Engine *engine, Report *report, guint32 client); /* of all processes: 0 */

/* groups.c: launches of one kernel on several GPUs at once */
void engine_groups_init(EngineGroups *groups);
void engine_groups_join(Work *work);       /* a launch starts */
void engine_groups_leave(Work *work);      /* it has ended; work->counted is there */
void engine_groups_settle(Engine *engine); /* at the end of the run: those whose launches have ended are over */
void engine_groups_report(Engine *engine, Report *report);

/* faults.c */
GPtrArray *engine_faults_new(void);
void engine_faults_add(const FabricFault *fault, void *engine);
void engine_faults_add_stuck(Engine *engine, const char *waiter);
void engine_faults_report(Engine *engine, Report *report);

/* shared_event.c: events that other processes have, too */
EngineShared *engine_shared_new(EventPage *page);
void engine_shared_unref(EngineShared *shared);
void engine_shared_record(Work *work, const EngineEvent *event); /* a record is queued */
void engine_shared_reached(Work *work);                          /* it is done */
gboolean engine_shared_complete(const EngineEvent *event);       /* the latest record, of whichever process */
/* The work waits for another process's record; FALSE: the latest is this one's own. */
gboolean engine_shared_follow(Work *work, const EngineEvent *event);
void engine_follow_record(Work *work, const EngineEvent *event); /* it waits for the latest record, of whichever */
void engine_shared_look(Engine *engine);                         /* have others recorded what is waited for? */
gboolean engine_shared_wanted(const Engine *engine);             /* another process waits for a record of this one */

/* timeline.c */
void engine_timeline_start(Engine *engine);
void engine_timeline_add(Engine *engine, const Work *work, const char *name);
void engine_timeline_spans(Engine *engine, const KernelLaunch *launch);
gboolean engine_timeline_save(Engine *engine, const char *path, GError **error);

#endif
