/* The engine: the one thread that owns the simulation behind the CUDA front end.
 *
 * API threads post requests and sleep until the answer; nothing else is shared. A request and its answer are plain
 * numbers without pointers, since below `fanout exec` they come from other processes (machine/wire/; memory travels as
 * file descriptors, host addresses as numbers of the process that asks).
 *
 * Time (docs/time.md). Simulated time advances only when everything is quiet: every thread of the process, and below
 * `fanout exec` of every process of the job, waits in a call, sleeps in the kernel, or is gone (tree.h). What was asked
 * within one standstill starts when it ends, in the order of rank, thread and number, never of arrival. A query is a
 * wait of one quantum, or of nothing (rounds.c), ENGINE_SLEEP one of a given time. Work queued in streams starts no
 * earlier than it was submitted.
 *
 * Stuck. When nothing is due and all threads of the process wait, the waiters get ENGINE_STUCK,
 * unless another process shares memory with this one and may still write to it: then watched memory
 * is looked at again and again. */
#ifndef MACHINE_ENGINE_ENGINE_H
#define MACHINE_ENGINE_ENGINE_H

#include <glib.h>

#include "model/fabric/fabric.h"
#include "observe/series/watch.h"
#include "sim/engine/simtime.h"
#include "sim/log.h"
#include "sim/report/report.h"

typedef enum {
    /* memory: fd, bytes, gpu (or MEMORY_HOST), argument: the lock of its atomics in shared memory, value: not 0 where
       it is new, and counts as taken from the GPU's, offset: where in the file, width: the arena of its address
       (memory.h) -> value = region; region. Or source, instead of fd: bytes of the program's own, at that address */
    ENGINE_REGION_NEW,
    ENGINE_REGION_FREE,
    /* address space: address, bytes, and region + offset or object + offset; gpu + access */
    ENGINE_MAP,
    ENGINE_UNMAP,
    ENGINE_ACCESS,
    /* multicast objects: members in value, bytes, access: EngineObjectKind -> value = object; object (+ gpu, offset,
       bytes, region) */
    ENGINE_OBJECT_NEW,
    ENGINE_OBJECT_FREE,
    ENGINE_OBJECT_HANDLE, /* value: what the program calls it, for reports */
    ENGINE_OBJECT_MEMBER,
    ENGINE_OBJECT_READY, /* the team is complete: takes an entry of the multicast table, or looks whether it still
                          * has one; ENGINE_FULL: none, and *argument (a char *, NULL before; same process only) says
                          * why, to be freed */
    ENGINE_OBJECT_BIND,
    ENGINE_OBJECT_UNBIND,  /* value, of both: the bind's number in the team's page, for an owner of several processes;
                            * -> value: operations of kernels on an endpoint that are under way there */
    ENGINE_OBJECT_CHANGED, /* value: so many changes of the team's page; those that wait look again. By a gate */
    ENGINE_OBJECT_WAIT,    /* until it counts more than value; by a gate */
    /* logical endpoints: identifiers of the caller's program from value on, as many as bytes says */
    ENGINE_ENDPOINT_RESERVE,
    ENGINE_ENDPOINT_RELEASE,
    ENGINE_ENDPOINT_SET, /* value: the identifier, reserved; object: to which it leads from now on, 0: to nothing;
                          * access: EndpointFlags (model/memory/endpoint.h) */
    /* streams and events: -> value = number; context in object, flags in access (1: non-blocking,
     * 2: the context's legacy default stream) */
    ENGINE_STREAM_NEW,
    ENGINE_STREAM_FREE, /* its queued work still runs */
    ENGINE_EVENT_NEW,   /* argument: an EventPage that is the engine's from now on (same process only), or 0 */
    ENGINE_EVENT_FREE,
    /* queued work: stream + the fields named */
    ENGINE_COPY,        /* address, source, bytes, gpu (whose copy engine); access: EngineHostSide;
                          wait: EngineWait; region + object: contexts that it waits for, and they for
                          it, or 0; width: EngineEndpointSide, whose side is an offset in an endpoint: of the
                          destination in pitch, of the source in source_pitch stands its identifier */
    ENGINE_COPY_2D,     /* the same with width, height, pitch (destination) and source_pitch */
    ENGINE_FILL,        /* address, value, width (1, 2, 4), bytes, pitch and height for 2D, gpu, wait;
                          access: ENGINE_HOST_DESTINATION for registered host memory */
    ENGINE_RECORD,      /* event */
    ENGINE_WAIT_EVENT,  /* event: the stream waits for its latest record */
    ENGINE_HOST_CALL,   /* function, argument, as numbers of this process */
    ENGINE_WRITE_VALUE, /* address, value, width */
    ENGINE_WAIT_VALUE,  /* address, value, width, access: 0 >=, 1 ==, 2 &, 3 nor */
    ENGINE_LAUNCH,      /* argument: the FoKernel, copied before the call returns (same process only) */
    ENGINE_LAUNCH_PTX,  /* argument: a KernelSpec; kernel.h */
    ENGINE_SHARED,      /* from now on other processes may write to this one's memory */
    /* waits and queries */
    ENGINE_WAIT_STREAM,  /* stream */
    ENGINE_WAIT_RECORD,  /* event */
    ENGINE_WAIT_CONTEXT, /* object: context */
    ENGINE_SLEEP,        /* time_ps more; 0: as long as a query */
    ENGINE_QUERY_STREAM, /* value = 1 when idle */
    ENGINE_QUERY_EVENT,  /* value = 1 when complete or never recorded, time_ps its time */
    ENGINE_NOW,          /* time_ps */
    ENGINE_REPORT,       /* argument: the Report to add the simulation's tables to (same process only); object: of one
                    * client alone, 0: of all
                    * -> value = 1: no waveform was wanted, or it was written */
    ENGINE_TIMELINE,     /* argument: the file's name (same process only) -> value = 1: it was written
                      */
} EngineOp;

/* Which sides are host memory that the fabric does not see. Its bytes are read when the work starts,
 * with ENGINE_HOST_EARLY before the call is answered, and written before the work is done. */
typedef enum {
    ENGINE_HOST_NONE,
    ENGINE_HOST_SOURCE,
    ENGINE_HOST_DESTINATION,
    ENGINE_HOST_BOTH,
    ENGINE_HOST_EARLY
} EngineHostSide;

/* Of a copy: which side is a logical endpoint. */
typedef enum { ENGINE_ENDPOINT_NONE, ENGINE_ENDPOINT_DESTINATION, ENGINE_ENDPOINT_SOURCE } EngineEndpointSide;

/* Whose team and binds an object of the engine is. A unicast endpoint has a team of one and nothing in the switches. */
typedef enum {
    ENGINE_OBJECT_MULTICAST,
    ENGINE_OBJECT_ENDPOINT_UNICAST,
    ENGINE_OBJECT_ENDPOINT_MULTICAST,
    ENGINE_OBJECT_KINDS
} EngineObjectKind;

/* ENGINE_RECORD, access: the event is a graph's own, and kernels around it are as if it were not there; or it is a node
 * of a graph, and the kernel behind it starts later. */
#define ENGINE_RECORD_OF_GRAPH 1u
#define ENGINE_RECORD_IN_GRAPH 2u

/* What processes that have the same event share, all zero at first. Each word is read and written atomically, and any
 * value in it does no more harm than a wait that ends too early or late. */
typedef struct {
    guint64 magic;
    guint64 recorded; /* how many records were queued so far, in all processes */
    guint64 done;     /* the latest of them that was reached, counting from 1 */
    guint64 wanted;   /* the latest that a process waits for which did not make it */
    gint32 recorder;  /* the process that made the latest */
} EventPage;

/* When a copy or fill is answered. A call that was answered with an error while it waited leaves no
 * work behind that still touches host memory. */
typedef enum {
    ENGINE_ANSWER_QUEUED,  /* at once */
    ENGINE_ANSWER_DONE,    /* when the work is done */
    ENGINE_ANSWER_STARTED, /* when it is done if it can start at once; else at once */
} EngineWait;

typedef enum {
    ENGINE_OK,
    ENGINE_NO_MEMORY,    /* the host gave none */
    ENGINE_FULL,         /* the multicast table is full */
    ENGINE_FAULT,        /* a host address is not readable or writable */
    ENGINE_STUCK,        /* no thread of the process can act any more */
    ENGINE_INVALID,      /* a launch that cannot be: grid, threads */
    ENGINE_RESOURCES,    /* a kernel whose CTA does not fit on an SM */
    ENGINE_COOPERATIVE,  /* a cooperative grid that does not fit at once */
    ENGINE_DEVICE_FAULT, /* earlier work of the context went to memory that is not there: sticky */
    ENGINE_GONE,         /* the machine's owner has ended */
} EngineStatus;

/* Where a call stands among those of one standstill. */
typedef struct {
    guint32 rank, process, thread, unused;
    guint64 number; /* of the thread's calls */
} EngineOrder;

typedef struct {
    guint32 op;
    guint32 gpu;
    gint32 fd;
    guint32 region;
    guint32 object;
    guint32 stream;
    guint32 event;
    guint32 access;
    guint32 width;
    guint32 wait;    /* EngineWait */
    guint64 address; /* destination */
    guint64 source;
    guint64 offset;
    guint64 bytes;
    guint64 value;
    guint64 pitch;
    guint64 source_pitch;
    guint64 height;
    guint64 function;
    guint64 argument;
    guint64 time_ps;
    guint32 client, unused; /* whose address space; set by who takes the call, 0: this process */
    EngineOrder order;      /* the same */
    char call[48];          /* of queued work: the function that was called, for reports */
} EngineRequest;

typedef struct {
    guint32 status; /* EngineStatus */
    guint32 fault;  /* FaultKind, with ENGINE_DEVICE_FAULT; else 0 */
    guint64 value;
    guint64 time_ps;
} EngineReply;

typedef struct Engine Engine;
typedef struct EngineGate EngineGate; /* gate.h */

typedef struct {
    const FabricSpec *fabric; /* must outlive the engine */
    guint64 seed;
    guint64 query_quantum_ps;
    guint64 rank_skew_ps; /* at most so much later does a rank go on after each wait, at random */
    gboolean reference_calendar;
    gboolean reference_engine;
    gboolean keep_bytes;
    gboolean flow;          /* bulk loops of kernels as flows; without keep_bytes only */
    gboolean timeline;      /* remember when work ran, for ENGINE_TIMELINE */
    const gint16 *ordinal;  /* of each GPU of the system, for reports; -1: not seen. NULL: none */
    guint32 clique_gpus;    /* GPUs of a clique of logical endpoints, in the order of their numbers; 0: all are one */
    gboolean sticky_faults; /* a fault stays with its context, as in CUDA */
    guint64 watchdog_us;    /* host time of standstill after which waits end; 0: only when sure */
    guint64 quiet_us; /* host time without a call after which work goes on by itself; 0: only for other processes */
    /* Whether another process that lives could still act; asked from the engine's thread. NULL:
     * none. */
    gboolean (*others)(void *user);
    void *others_user;
    const char *vcd_path;   /* NULL: none */
    EngineGate *gate;       /* calls come through it, too; it outlives the engine. NULL: this process's threads alone */
    pid_t tree_root;        /* with a gate: the process whose tree must be quiet; 0: this one */
    WatchPage *watch;       /* outlives the engine, which answers questions that arrive there; NULL: none */
    const char *stats_path; /* of statistics in time; NULL: none */
    guint64 stats_interval_ps;
    gboolean page;         /* ENGINE_REPORT adds charts over time and the picture of the system; packets only */
    gboolean where;        /* and where the time of requests went; with reference_engine, packets only */
    const char *ptx_trace; /* KERNEL:CTA:WARP (device/kernel/trace.h), told on standard error; NULL: none */
    /* Both asked from the engine's thread. A signal that is to end the process: on_signal is called once, may make the
     * report (engine_call), and does not come back unless the process is at its end anyway. An interrupt, while time
     * runs: unless signal_comes says that it is about to become such a signal, the program itself will hear of it once
     * its call returns, and kernels that run are ended for that. NULL: none. */
    const gint *signalled, *interrupts; /* atomic: the signal's number, 0: none; how many there were */
    /* Atomic: not 0 from when the job was told to end. A thread that runs holds time for some milliseconds of the host
     * alone then, so that a launcher's wait before it kills passes. NULL: never. */
    const gint *ending;
    void (*on_signal)(int number);
    gboolean (*signal_comes)(void);
    Log *log;
} EngineSpec;

/* Starts the thread; GError: the system cannot be built. Never freed: threads may still wait in it.
 */
Engine *engine_new(const EngineSpec *spec, GError **error);

/* Posts a request and sleeps until it is answered. From the engine's own thread: ENGINE_STUCK at
 * once, but for ENGINE_REPORT and ENGINE_TIMELINE. */
EngineStatus engine_call(Engine *engine, const EngineRequest *request, EngineReply *reply);

/* An engine that lives in another process: requests go to `call`. */
typedef struct {
    EngineStatus (*call)(void *self, const EngineRequest *request, EngineReply *reply);
    void (*image_gone)(void *self, const void *image); /* a kernel's image is about to be freed */
} EngineRemote;
Engine *engine_remote_new(const EngineRemote *remote, void *self, const guint64 *seen_ps); /* seen_ps: atomic */
void *engine_remote_self(const Engine *engine); /* NULL: it lives in this process */
void engine_image_gone(Engine *engine, const void *image);

/* A cell with an address or handle; 0: null. */
void engine_table_hex(Table *table, guint64 value);

/* The simulated time as callers know it: the latest that an answer has told any of them. From any thread. */
guint64 engine_seen_ps(const Engine *engine);

gboolean engine_is_stuck(const Engine *engine); /* it happened; for the exit code */

#endif
