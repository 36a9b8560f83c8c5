/* Random programs for simulated GPUs, and what their memory must hold in the end.
 *
 * A program is a list of steps. Each is done by one CTA of one GPU (a message: by two) in one phase; a phase is one
 * kernel on every GPU, and ends before the next begins. No two steps of a phase write the same bytes, or one what
 * another reads, but counters, which only operations that commute touch; so any subset of the steps is a program too,
 * which is what shrinking needs, and time decides nothing: the oracle does the steps one after the other.
 *
 * draw.c draws programs of a seed, oracle.c says what comes out, run.c writes them in the calls of fanout/device.h and
 * runs them, child.c does that in a process of its own, so that a crash or a hang is a result, and shrinks. */
#ifndef TESTS_RANDOM_PROGRAM_H
#define TESTS_RANDOM_PROGRAM_H

#include <glib.h>

#include "fanout/device.h"
#include "sim/engine/sim.h"

#define PROGRAM_GPUS 8u
#define PROGRAM_CTAS 3u
#define PROGRAM_THREADS 128u
#define PROGRAM_TYPES 10u
#define PROGRAM_BLOCK 2048u /* bytes: what the threads of a CTA touch at most with one call */
/* Each GPU has two memories of this layout: one of its own, and one bound to the team's multicast object. */
#define PROGRAM_READ_BLOCKS 20u                  /* never written; block b holds elements of type b % PROGRAM_TYPES */
#define PROGRAM_COUNTERS PROGRAM_READ_BLOCKS     /* first of the blocks of counters, of the same types */
#define PROGRAM_FLAGS (2u * PROGRAM_READ_BLOCKS) /* first of the blocks of flags and lines, 0 at first */
#define PROGRAM_FLAG_BLOCKS 16u
/* From here on each byte is written once. */
#define PROGRAM_WRITES ((PROGRAM_FLAGS + PROGRAM_FLAG_BLOCKS) * PROGRAM_BLOCK)
#define PROGRAM_BYTES (256u << 10)

typedef enum { MEMORY_OWN, MEMORY_TEAM, MEMORY_MULTICAST } ProgramMemory;
typedef struct {
    ProgramMemory memory;
    guint8 gpu; /* not of MEMORY_MULTICAST */
    guint32 offset;
} Place;

typedef enum {
    STEP_COPY,       /* dst = a, by every thread its element */
    STEP_GATHER,     /* the same from an address of each thread's own */
    STEP_SCATTER,    /* the same to one */
    STEP_FILL,       /* dst = value */
    STEP_COMBINE,    /* dst = a op b */
    STEP_ROUND,      /* scratch = a, dst = scratch */
    STEP_TEAM_ROUND, /* the same, with a multicast store and a fence between */
    STEP_GET,        /* dst = 3 times what one thread loaded, and 1, in the function of the CTA */
    STEP_LD_REDUCE,  /* dst = sum of all members' a */
    STEP_COUNT,      /* counters at dst: red, multimem.red or an atomic whose result nothing uses */
    STEP_ATOM,       /* dst = scratch, scratch = scratch op value */
    STEP_EXCHANGE,   /* dst = scratch, scratch = value */
    STEP_CAS,        /* the same where scratch is number, by one thread */
    STEP_LOOP,       /* fo_loop */
    STEP_SLEEP,
    STEP_MESSAGE, /* data to another CTA, which waits for a flag: dst = a by way of scratch */
    STEP_LINES,   /* the same in lines of data and flag (fo_ll), with an operand of the receiver's: dst = a op b */
    STEP_KINDS
} StepKind;

typedef struct {
    StepKind kind;
    guint8 phase, gpu, cta;
    guint8 to_gpu, to_cta; /* of a message: who waits */
    guint16 first, count;  /* threads; count 0: all */
    guint8 width;
    Place a, b, dst, scratch, flag;
    guint8 type; /* number in program_types */
    FoOp op;
    guint8 vec;
    gboolean wide;                  /* a wider accumulator */
    guint8 load_order, store_order; /* 0 weak, 1 relaxed, 2 acquire or release */
    guint8 variant; /* of how a flag is set and waited for, of a loop's shape, of a counter's instruction */
    guint8 value[16];
    guint64 number;
    guint32 bytes;                /* of a loop or lines */
    guint8 sources, destinations; /* of a loop: */
    Place source[3], destination[3];
} Step;

typedef struct {
    guint64 seed;
    const char *system;
    GPtrArray *sets; /* "link.vcs=2", to free; without NULL at the end */
    guint32 gpus, phases;
    guint32 ctas[3], threads[3]; /* of each phase */
    gboolean multicast;          /* the system has it */
    SimEngine engine;
    guint32 cores;
    GArray *step; /* Step */
} Program;

typedef struct {
    FoType type;
    guint8 bytes, element; /* f16x2: 4, 2 */
    gboolean is_float;
    const char *name;
} ProgramType;
extern const ProgramType program_types[PROGRAM_TYPES];

/* ---- draw.c. A program of a seed; system NULL: one is drawn, as are settings and faults, the engine and the number of
 * cores. With a system nothing of these is: sets are the caller's. */
Program *program_draw(guint64 seed, const char *system);
void program_free(Program *program);
/* The steps that stay, and what is needed to repeat it, as text to free. */
char *program_text(const Program *program);

/* ---- oracle.c */
typedef struct {
    guint8 *bytes[PROGRAM_GPUS][2]; /* PROGRAM_BYTES each, by GPU and ProgramMemory */
} Image;
Image *image_new(const Program *program); /* as memory is at first */
void image_free(Image *image);
guint8 *image_at(const Image *image, Place place); /* of a multicast place: GPU 0's copy */
void oracle_run(const Program *program, guint32 phase, Image *image);
/* Where threads of STEP_GATHER load, and which thread's element STEP_SCATTER stores as the t-th. */
Place program_gather(const Program *program, const Step *step, guint32 t);
guint32 program_scatter(const Step *step, guint32 count, guint32 t);
guint32 program_count(const Program *program, const Step *step); /* of active threads */

/* ---- run.c */
typedef enum { PROGRAM_GOOD, PROGRAM_REFUSED, PROGRAM_WRONG, PROGRAM_STUCK, PROGRAM_CRASHED, PROGRAM_HANGS } ProgramEnd;
/* In this process. text: what was wrong, where and why, or why it was refused; to free. end_ps: of simulated time. */
ProgramEnd program_run(const Program *program, guint64 *end_ps, char **text);

/* ---- child.c */
/* In a process of its own that may take so many seconds. */
ProgramEnd program_run_apart(const Program *program, guint seconds, guint64 *end_ps, char **text);
/* Any test of that kind. `run` is called in the new process. */
typedef ProgramEnd (*ProgramRun)(const void *what, guint64 *end_ps, char **text);
ProgramEnd program_apart(ProgramRun run, const void *what, guint seconds, guint64 *end_ps, char **text);
/* Drops steps, settings, cores as long as the program still ends in that way. Changes it. */
void program_shrink(Program *program, ProgramEnd end, guint seconds);

#endif
