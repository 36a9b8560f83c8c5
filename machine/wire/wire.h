/* What the owner of a machine and its clients say to each other.
 *
 * `fanout exec` owns one machine: the engine, the model, SystemC. Every process below it that loads libcuda.so.1 is a
 * client. Each thread of a client has a connection of its own (a sequenced-packet socket), on which it sends a request
 * and sleeps until the answer; a further connection of the process is for what the owner asks of it: functions of the
 * host, and timers that have run out. Requests are those of machine/engine/engine.h: plain numbers. Memory travels as a
 * descriptor of a sealed memfd beside the message, modules as text in one, parameters of a launch as bytes behind it.
 *
 * Trust: the socket has no name in any file system; the owner takes connections of its own user alone (SO_PEERCRED),
 * and a client talks to an owner of its own user alone. A message of another version, length or kind ends its
 * connection. Numbers of regions, objects, streams, events and contexts are the client's own and mean nothing in
 * another's requests. Both sides are of one machine and one build: WIRE_VERSION names it, and another build is
 * refused by name. */
#ifndef MACHINE_WIRE_WIRE_H
#define MACHINE_WIRE_WIRE_H

#include <glib.h>

#include "config.h"

#include "machine/engine/engine.h"

#define WIRE_ENV "FANOUT_OWNER"           /* the socket's name, for clients */
#define WIRE_PAGE_ENV "FANOUT_OWNER_PAGE" /* a file of /proc that is the MachinePage, to ask only the time */
#define WIRE_MAGIC 0x4f4e4146u            /* "FANO" */
#define WIRE_VERSION "fanout " PACKAGE_VERSION " wire 1"
#define WIRE_PAYLOAD_MAX (128u << 10)  /* bytes behind a message */
#define WIRE_CLIENTS_MAX 4096u         /* processes at a time */
#define WIRE_EVER_MAX (1u << 20)       /* and in all */
#define WIRE_PROCESS_THREADS_MAX 8192u /* connections of one process */
#define WIRE_THREADS_MAX 65536u        /* connections of all clients */
#define WIRE_TEXT_MAX 256u
/* Mapped memory is as far into a line of so many bytes as its address, so that no access leaves a page of the host. */
#define WIRE_LINE 128u

typedef enum {
    WIRE_HELLO,   /* WireHello: the first on each connection; answered by WIRE_WELCOME */
    WIRE_WELCOME, /* WireWelcome */
    WIRE_CALL,    /* WireCall (+ a descriptor, + payload): answered by WIRE_REPLY */
    WIRE_REPLY,   /* WireReply (+ text that kernels have printed) */
    WIRE_ASK,     /* WireAsk, to the client's second connection (+ text): answered by WIRE_DONE */
    WIRE_DONE,    /* WireDone */
    WIRE_RUN,     /* ProgramRun (program.h), to the thread that runs device programs; answered by WIRE_BATCH */
    WIRE_BATCH,   /* ProgramBatch + its records */
    WIRE_CONTROL, /* WireControl (control.h), of `fanout fabric`; answered by WIRE_CONTROLLED */
    WIRE_CONTROLLED,
} WireKind;

typedef struct {
    guint32 magic;
    guint32 kind; /* WireKind */
} WireHead;

typedef enum {
    WIRE_ROLE_CALLER,  /* a thread that makes calls of the driver, or sleeps */
    WIRE_ROLE_SERVICE, /* what the owner asks of the process */
    WIRE_ROLE_TIMING,  /* where WIRE_ASK_TIMER comes */
    WIRE_ROLE_PROGRAM, /* where functions of device programs run: program.h */
    WIRE_ROLE_CONTROL, /* `fanout fabric`: no process of the job, asks by WIRE_CONTROL alone */
} WireRole;

typedef struct {
    WireHead head;
    char version[64];
    guint32 role; /* WireRole */
    gint32 tid;
    gint32 rank;    /* as launchers number them; -1: not told */
    guint32 driver; /* 1: the process makes calls of the driver; 0: it only sleeps */
    char program[64];
} WireHello;

typedef struct {
    WireHead head;
    guint32 refused; /* 0, or 1: `why` says it */
    guint32 client;
    char why[WIRE_TEXT_MAX];
} WireWelcome; /* + a descriptor of the MachinePage */

typedef struct {
    WireHead head;
    EngineRequest request;
    guint32 bytes; /* of the payload */
    guint32 unused;
} WireCall;

typedef struct {
    WireHead head;
    EngineReply reply;
    guint32 bytes; /* of the text */
    guint32 more;  /* 1: more text is to be had by WIRE_OP_PRINTS */
} WireReply;

typedef enum {
    WIRE_ASK_CALL,  /* function(argument) of the client */
    WIRE_ASK_TIMER, /* the timer `argument` has run out: no answer */
    WIRE_ASK_PRINT, /* text for standard output: no answer */
} WireAskKind;

typedef struct {
    WireHead head;
    guint32 what;   /* WireAskKind */
    guint32 bytes;  /* of the text */
    guint64 number; /* comes back in WireDone */
    guint64 function, argument;
} WireAsk;

typedef struct {
    WireHead head;
    guint64 number;
} WireDone;

/* Requests that the wire answers itself; the rest are EngineOp. */
typedef enum {
    WIRE_OP_MODULE_NEW = 1000, /* a descriptor of texts -> value: the module's number */
    WIRE_OP_IMAGE_NEW,  /* object: module, address and source: where its banks are -> value: the image's number */
    WIRE_OP_IMAGE_FREE, /* object: image, region: its module */
    WIRE_OP_LEAVE,      /* payload: the next piece of what the process adds to the report; value: 1: the last */
    WIRE_OP_PRINTS,     /* what kernels have printed and no answer has brought yet */
    WIRE_OP_TIMER,      /* argument: a number, time_ps from now: WIRE_ASK_TIMER comes then */
    WIRE_OP_TIMER_END,  /* argument: it is not wanted any more */
    WIRE_OP_SLEEP_END,  /* also while ENGINE_SLEEP is not answered, which then never is -> value: WIRE_SLEEP_ENDED,
                         * time_ps: how much of the latest sleep had passed; answered as WIRE_OP_WOKEN is */
    WIRE_OP_WOKEN,      /* a message has come where the thread polled: answered when all others are quiet */
    WIRE_OP_SEAT,       /* gpu: before the first memory there of a process without a rank; when all are quiet */
    WIRE_OP_SPIN,       /* a descriptor of a WireSpinPage that cannot shrink: threads that spin count there */
} WireOp;
#define WIRE_SLEEP_ENDED 1u /* what no answer to ENGINE_SLEEP has */

/* Threads of a client that ask again and again instead of waiting, and how often each has asked; and those whose sleep
 * is none, since they wait for something from elsewhere. Written by the client,
 * word by word; what it writes decides when time may pass, nothing else. */
#define WIRE_SPIN_SLOTS 512u
typedef struct {
    gint32 tid;      /* 0: the slot is free */
    guint32 calls;   /* so far */
    guint32 resting; /* 1: it sleeps for a moment of the host, and is to be taken for one that runs */
    guint32 changes; /* how often it was answered otherwise than that nothing is there */
    guint32 outside; /* not 0: it waits for what no thread of the job does, and is to be taken for one that runs */
} WireSpinSlot;
typedef struct {
    WireSpinSlot slot[WIRE_SPIN_SLOTS];
} WireSpinPage;

/* Behind ENGINE_LAUNCH_PTX: a KernelSpec in numbers, then its parameters. */
typedef struct {
    guint32 image;    /* as ENGINE_IMAGE_NEW answered */
    guint32 function; /* its index in the module */
    guint32 grid[3], block[3], cluster[3];
    guint32 dynamic_shared;
    guint32 cooperative, depends;
    guint64 workspace, heap, heap_bytes;
    guint32 param_bytes;
    guint32 unused;
} WireLaunch;

/* ENGINE_MODULE_NEW: a memfd of texts, each a WireUnit, its name and its text (both with a NUL behind). */
typedef struct {
    guint64 bytes; /* of the text */
    guint32 name_bytes, registers_max;
} WireUnit;
#define WIRE_MODULE_BYTES_MAX ((guint64)1 << 30)

/* What all processes of a machine can read at any time: a sealed memfd, written by the owner alone (clients map it for
 * reading). */
#define MACHINE_PAGE_MAGIC 0x3048434d4f4e4146ull
typedef struct {
    guint64 magic;
    guint64 seen_ps;          /* atomic: simulated time as any caller knows it */
    guint64 used_bytes[1024]; /* atomic: of each GPU's memory, by all processes */
    guint32 manager;          /* atomic: CudaFmState of the fabric manager, but for "restarted": that is told by eras */
    guint32 manager_era;      /* atomic: how often it has lost what it knew, */
    guint32 gpu_era[1024];    /* atomic: and in which of these each GPU was initialized last */
    guint64 manager_since_ps; /* atomic: simulated time at which it was last started or stopped */
} MachinePage;

/* One message with a descriptor (-1: none) and `bytes` of payload; EPIPE and the like: FALSE. Blocks. */
gboolean message_send(int fd, const void *message, gsize size, const void *payload, gsize bytes, int descriptor);
/* One message of at most `size` bytes into `message`, what is behind it into `payload` (at most payload_bytes).
 * Returns how many bytes came in all; 0: the other side is gone; -1: nothing is there (flags MSG_DONTWAIT) or it
 * failed. *descriptor: -1 or one to be closed; NULL: any that comes is closed. */
gssize message_receive(int fd, void *message, gsize size, void *payload, gsize payload_bytes, int *descriptor,
                       int flags);
/* A descriptor of our own, closed on exec, in place of a new one; -1 stays -1. Never 0 to 2: of a program that runs
 * with these closed, what it prints would land there. */
int wire_own_fd(int fd);
static inline WireHead wire_head(WireKind kind) { return (WireHead){WIRE_MAGIC, kind}; }

#endif
