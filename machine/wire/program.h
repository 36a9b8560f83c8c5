/* Device programs in C across the wire (fanout/device.h): a CTA's function runs in the client that launched it, and its
 * calls are done by the owner, which has the model.
 *
 * The owner's CTA is a process of the simulation, as ever. Where it would call the program's function it asks the
 * client to run that until it needs something: the value of a register, the time, or its end. What the function asked
 * for on the way comes back as one batch of records and is done in order, so that what it takes is what it takes in
 * one process. A function waits without simulated time, since the owner waits for it: it must not wait for what only
 * simulated time brings.
 *
 * On the client a CTA's function is a coroutine of one thread, which has a connection of its own (WIRE_ROLE_PROGRAM).
 * */
#ifndef MACHINE_WIRE_PROGRAM_H
#define MACHINE_WIRE_PROGRAM_H

#include "machine/wire/wire.h"
#include "fanout/device.h"

typedef enum {
    PROGRAM_REG,     /* a: width */
    PROGRAM_GET,     /* d, a: thread, b: whether there is room for the value. Ends a batch */
    PROGRAM_TIME,    /* ends a batch */
    PROGRAM_SET,     /* d, payload: the value */
    PROGRAM_SET_U64, /* d, value */
    PROGRAM_COMBINE, /* d, s, a: type, b: op */
    PROGRAM_ONLY,    /* a: first, b: count */
    PROGRAM_ALL,
    PROGRAM_LD,                 /* d, address */
    PROGRAM_ST,                 /* s, address */
    PROGRAM_LD_AT,              /* d, payload: addresses */
    PROGRAM_ST_AT,              /* s, payload: addresses */
    PROGRAM_LD_SYS,             /* d, address, a: order */
    PROGRAM_ST_SYS,             /* s, address, a: order */
    PROGRAM_ST_SYS_AT,          /* s, payload: addresses, a: order */
    PROGRAM_RED,                /* s, address, a: type, b: op, c: order */
    PROGRAM_ATOM,               /* d, s, address, a: type, b: op, c: order */
    PROGRAM_ATOM_EXCH,          /* d, s, address, c: order */
    PROGRAM_ATOM_CAS,           /* d, s, compare, address, c: order */
    PROGRAM_MULTIMEM_LD_REDUCE, /* d, address, payload: FoMultimem */
    PROGRAM_MULTIMEM_ST,        /* s, address, payload: FoMultimem */
    PROGRAM_MULTIMEM_RED,       /* s, address, payload: FoMultimem */
    PROGRAM_SYNC,
    PROGRAM_SYNC_ACTIVE, /* a: barrier */
    PROGRAM_FENCE,
    PROGRAM_WAIT,
    PROGRAM_SLEEP,        /* value: picoseconds */
    PROGRAM_POLL,         /* address, a: width, b: comparison, value, c: order */
    PROGRAM_POLL_SEEN,    /* d, address, b: comparison, value, c: order */
    PROGRAM_POLL_AT,      /* payload: addresses, count, a: width, b: comparison, value, c: order */
    PROGRAM_POLL_MEMBERS, /* payload: addresses, count, a: width, value, c: order */
    PROGRAM_LOOP,         /* payload: FoLoop */
    PROGRAM_LL,           /* payload: FoLl */
    PROGRAM_EXCHANGE,     /* payload: FoExchange, its `to`, its `input` */
    PROGRAM_END,          /* the function has returned. Ends a batch */
    PROGRAM_CALLS
} ProgramCall;

/* One call. Its payload is behind it, filled up to a multiple of 8 bytes; none: the pointer was NULL. */
typedef struct {
    guint32 call;         /* ProgramCall */
    guint32 bytes;        /* of the payload */
    gint32 d, s, compare; /* registers by number, from 1, or: */
    guint32 a, b, c, count;
    guint32 unused;
    guint64 address, value;
} ProgramRecord;
#define PROGRAM_REG_NONE 0     /* NULL, or the call has none */
#define PROGRAM_REG_OTHER (-1) /* of another CTA */

/* Owner to client. */
typedef struct {
    WireHead head;
    guint32 start; /* 1: a CTA begins; 0: it goes on */
    guint32 cta, ctas, threads, gpu;
    guint64 handle; /* of the CTA, until its end */
    guint64 launch; /* as the client numbered it */
    guint64 time_ps;
    guint8 value[16]; /* of PROGRAM_GET */
} ProgramRun;

/* Client to owner: records behind it. */
typedef struct {
    WireHead head;
    guint32 bytes;
    guint32 more; /* 1: another batch of the same turn follows */
    guint64 handle;
} ProgramBatch;

/* Behind ENGINE_LAUNCH. */
typedef struct {
    guint64 launch;
    guint32 ctas, threads;
    char name[64];
} WireProgram;

#endif
