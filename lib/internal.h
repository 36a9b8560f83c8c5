/* What the files of libfanout share: the simulator behind FoSim, what is placed in it, and how errors are told.
 *
 * A placed thing is a Job: an event at its time, then whatever it is, then its callback. Jobs that have not ended stand
 * in a list, so that closing a simulator frees them. */
#ifndef LIB_INTERNAL_H
#define LIB_INTERNAL_H

#include "coll/coll.h"
#include "device/device.h"
#include "fanout/sim.h"
#include "model/fabric/fabric.h"
#include "model/fabric/usage.h"
#include "sim/param/param.h"

#define LIB_BYTES_MAX COLL_BYTES_MAX
#define LIB_MAGIC 0x464f5331u /* of a FoSim that is open */

/* Behind a FoSimMemory, which is its number from 1 on. */
typedef struct {
    guint64 bytes;
    guint64 va;
    MemRegion *region; /* or of a team: */
    McObject *object;
} LibMemory;

struct FoSim {
    guint32 magic;
    Sim *sim;
    Fabric *fabric;
    FabricSpec spec;
    ParamSet *params;
    char *name; /* of the system */
    guint64 seed;
    Vas *vas;
    GArray *memory;       /* LibMemory */
    GArray *scratch;      /* by GPU: number of the memory that sends store into; 0: none yet */
    GHashTable *channels; /* messages that wait for their other half (message.c) */
    GQueue receives;      /* those of them that wait */
    GHashTable *groups;   /* by its GPUs, as text: CollGroup */
    GQueue jobs;          /* that have not ended */
    UsageMark *begin;
    GArray *parameters; /* FoSimParameter; NULL: not asked for yet */
    GArray *dump;       /* behind them */
    char *report;
    char *text; /* of the last error */
    FoSimError error;
    guint64 placed, done, failed;
    guint calls;  /* of callbacks, one inside the other */
    char *thrown; /* by a callback of this run: what; NULL: nothing was */
    gboolean running, stopped;
};

typedef struct Job Job;
struct Job {
    FoSim *owner;
    GList link;
    Event start;
    gboolean is_work; /* and counted as placed and done */
    void (*run)(Job *job);
    void (*free)(Job *job); /* of what it has beside itself; NULL: nothing */
    FoSimCallback callback; /* or NULL */
    void *user;
    FoSimDone told;
};

/* ---- guard.c: one thread has the kernel of this process */

FoSimError guard_open(void); /* FO_SIM_OK: this thread has it, once more */
void guard_close(void);      /* once less */
gboolean guard_is_own(void); /* this thread has it */
gboolean guard_run(void);    /* FALSE: a simulator runs already */
void guard_end_run(void);

/* ---- job.c */

/* FALSE, with *error: not to be used here and now (NULL, another thread, failed when it was opened). */
gboolean lib_usable(FoSim *sim, FoSimError *error);
/* Keeps the words and returns the code. */
FoSimError lib_fail(FoSim *sim, FoSimError code, const char *format, ...) G_GNUC_PRINTF(3, 4);
FoSimError lib_fail_with(FoSim *sim, FoSimError code, GError *error); /* which is freed */
/* FALSE, with *error: no time at which something can be placed. */
gboolean lib_time(FoSim *sim, guint64 at_ps, FoSimError *error);
/* FALSE, with *error: no such GPU. what: "from". */
gboolean lib_gpu(FoSim *sim, const char *what, guint32 gpu, FoSimError *error);
/* FALSE, with *error: not two GPUs and more, each once. what: "team". */
gboolean lib_gpus(FoSim *sim, const char *what, const guint32 *gpus, guint32 n, FoSimError *error);
/* A job of so many bytes, which begins with a Job, at that time; lib_time() was asked. */
Job *job_new(FoSim *sim, gsize bytes, guint64 at_ps, void (*run)(Job *job));
/* The same of an event, which is no work that statistics count. */
Job *job_new_event(FoSim *sim, gsize bytes, guint64 at_ps, void (*run)(Job *job));
/* A callback, by call(job). An exception that leaves it ends the run (sim->thrown). */
void job_call(Job *job, void (*call)(void *job));
/* It has ended, as job->told says: its callback is called, and it is freed. */
void job_end(Job *job);
void job_fail(Job *job, FoSimError code, const char *text);

/* ---- memory.c */

/* NULL, with *error: no such memory, or not so many bytes there. team: one is asked for. */
const LibMemory *memory_at(FoSim *sim, FoSimMemory memory, gboolean team, guint64 offset, guint64 bytes,
                           FoSimError *error);
/* Memory of the GPU of at least that many bytes that messages may overwrite. 0: the host has none. */
FoSimMemory memory_scratch(FoSim *sim, guint32 gpu, guint64 bytes);
void memory_close(FoSim *sim);

/* ---- message.c */

GHashTable *message_channels_new(void);
char *message_waiters(FoSim *sim); /* receives that wait, a line each; NULL: none */

/* ---- place.c: a loop, or an instruction, of a GPU as a job. */

typedef struct {
    Job job;
    FoSimOperation operation;
    guint32 gpu;
    guint64 va, to_va, bytes;
    FoType type;
    guint8 value[16];
    guint32 ctas, threads;
    guint64 faults;          /* of the fabric, when it began */
    void (*ended)(Job *job); /* instead of job_end() */
} Work;
void work_run(Job *job);
void work_shape(Work *work); /* CTAs and threads, where they are 0 */

/* ---- collective.c */

void collective_close(FoSim *sim);

#endif
