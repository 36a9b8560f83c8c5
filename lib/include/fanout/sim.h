/* libfanout: simulated GPUs and their fabric as a library, for simulators, planners and notebooks.
 *
 *     FoSimSpec spec = {.version = FO_SIM_VERSION, .system = "dgx-h100"};
 *     FoSim *sim;
 *     if (fo_sim_open(&sim, &spec))
 *         puts(fo_sim_error_text(sim));
 *     fo_sim_send(sim, 0, &(FoSimMessage){.from = 0, .to = 1, .bytes = 1 << 20}, on_arrival, NULL);
 *     fo_sim_run(sim, FO_SIM_FOREVER);
 *     fo_sim_close(sim);
 *
 * Shapes and units. Times are simulated, in picoseconds since fo_sim_open(); sizes are bytes; GPUs have numbers from 0
 * on. What is placed happens at its time, in the order of (time, order of placing); the same calls give the same times.
 *
 * Callbacks are called from fo_sim_run(), with the clock standing at the time of what they tell. They may place more,
 * and ask; they may not run or close a simulator (FO_SIM_ERROR_BUSY). An exception of C++ that leaves one ends the run
 * (FO_SIM_ERROR_CALLBACK), and the next one goes on behind it.
 *
 * Errors are codes; fo_sim_error_text() has the words of the last one: what was wrong and what would be right. A call
 * that fails has no effect. Nothing here ends the program, but for a host that has no memory left.
 *
 * Ownership. Strings and arrays that are given are copied. What a simulator gives is its own and lives until it is
 * closed, unless the function says otherwise.
 *
 * Several simulators. SystemC, the kernel below, is one in a process. So any number of simulators may be open, each
 * with a clock, statistics and errors of its own, and they run by turns, one fo_sim_run() after the other, all on the
 * thread that opened the first of them; another thread gets FO_SIM_ERROR_THREAD until all are closed. What is to run at
 * once runs in several processes.
 *
 * Structures only grow at their end; what is not set is 0, which is each field's usual value. */
#ifndef FANOUT_SIM_H
#define FANOUT_SIM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef FO_API
#define FO_API __attribute__((visibility("default")))
#endif

/* Of this header; a library takes programs of its own major and minor number: 0xMMmmpp. */
#define FO_SIM_VERSION 0x000300u
#define FO_SIM_FOREVER UINT64_MAX

typedef struct FoSim FoSim;

typedef enum {
    FO_SIM_OK,
    FO_SIM_ERROR_VERSION,  /* the program was compiled for another library */
    FO_SIM_ERROR_ARGUMENT, /* a value that cannot be: a GPU, a size, a type, a NULL */
    FO_SIM_ERROR_SYSTEM,   /* no such system, file, parameter or value; or one that cannot be built */
    FO_SIM_ERROR_TIME,     /* it lies in the past, or beyond the last time that there is (104 days) */
    FO_SIM_ERROR_BUSY,     /* not from a callback */
    FO_SIM_ERROR_THREAD,   /* another thread has the simulators of this process */
    FO_SIM_ERROR_FULL,     /* the switches' tables, or the host's memory */
    FO_SIM_ERROR_STUCK,    /* nothing is due, and something waits: the text says what for */
    FO_SIM_ERROR_FAULT,    /* an access that hardware refuses, or that was lost to a fault */
    FO_SIM_ERROR_CALLBACK, /* an exception has left a callback: the text says which */
    FO_SIM_ERRORS
} FoSimError;

/* ---- a simulator */

typedef struct {
    uint32_t version;        /* FO_SIM_VERSION */
    const char *system;      /* a preset ("dgx-h100") or the path of an INI file; NULL: dgx-h100 */
    const char *config;      /* an INI file over it; NULL: none */
    const char *const *sets; /* "link.rate_MBps=11775", ..., NULL; NULL: none. Later ones win */
    uint64_t seed;           /* of all random streams; 0: 1, as the command has it */
    int keep_bytes;          /* 0: times alone; else memory has contents, which operations move and sum */
    int reference;           /* 0: the fast engine; else the reference engine: the same times, more slowly */
} FoSimSpec;

FO_API uint32_t fo_sim_version(void); /* of the library */
/* *sim is given after an error, too, so that its text can be asked for, and is to be closed; NULL only after
 * FO_SIM_ERROR_ARGUMENT (sim or spec is NULL) and FO_SIM_ERROR_THREAD. */
FO_API FoSimError fo_sim_open(FoSim **sim, const FoSimSpec *spec);
/* What is under way is given up: its callbacks are not called. NULL is none. */
FO_API FoSimError fo_sim_close(FoSim *sim);
/* The last error's words, until the next one; "" before the first. Of another thread, or NULL: what is wrong there. */
FO_API const char *fo_sim_error_text(const FoSim *sim);
FO_API const char *fo_sim_error_name(FoSimError error); /* "FO_SIM_ERROR_TIME" */

/* The presets: names by number; NULL: there are no more. */
FO_API const char *fo_sim_system(unsigned number);

typedef struct {
    const char *section, *key; /* "link", "flight_ps": --set link.flight_ps=VALUE */
    const char *value;         /* as text, in its unit */
    const char *unit;          /* "ps", or "" */
    const char *meaning;
    const char *source; /* where the value comes from: "source: ...", "--set", ... */
} FoSimParameter;
/* All parameters that it runs with, *n of them, in the order of `fanout systems NAME`. */
FO_API FoSimError fo_sim_parameters(FoSim *sim, const FoSimParameter **parameters, size_t *n);
FO_API unsigned fo_sim_gpus(const FoSim *sim); /* 0: none is open */

/* ---- time */

FO_API uint64_t fo_sim_now_ps(const FoSim *sim);
typedef void (*FoSimEvent)(FoSim *sim, void *user);
FO_API FoSimError fo_sim_schedule(FoSim *sim, uint64_t at_ps, FoSimEvent event, void *user);
/* Until nothing is due, fo_sim_stop(), or the clock would pass until_ps, where it then stands. STUCK: nothing is due
 * and something waits, a receive for its send, too; what is placed then may let it go on. */
FO_API FoSimError fo_sim_run(FoSim *sim, uint64_t until_ps);
FO_API FoSimError fo_sim_stop(FoSim *sim); /* from a callback: fo_sim_run() returns after it */

/* ---- what is told of something that has ended */

typedef struct {
    FoSimError error;          /* FO_SIM_OK, or why it did not do what it was to */
    const char *text;          /* of the error, for the call alone; NULL: none */
    uint64_t begin_ps, end_ps; /* end: now */
    uint64_t bytes;            /* that it was about */
    uint8_t value[16];         /* of loads and atomics of up to 16 bytes, where bytes are kept; else 0 */
    const char *algo, *proto;  /* of a collective: what ran */
    int verified;              /* of a collective: 1: checked and right; 0: not checked. Wrong is an error */
} FoSimDone;
typedef void (*FoSimCallback)(FoSim *sim, const FoSimDone *done, void *user);

/* ---- messages: a send is a kernel of the sender that stores into the receiver's memory, as NCCL's is, but without a
 * launch: of a kernel that runs already. It ends when its last store is performed there, and acknowledged. */

typedef struct {
    uint32_t from, to; /* GPUs, different */
    uint64_t bytes;    /* 1 to 64 GiB; whole words of 4 are moved */
    uint64_t tag;      /* sends and receives of a pair meet by tag, in order */
} FoSimMessage;
/* sent may be NULL. No receive need be there: what has come waits for it. */
FO_API FoSimError fo_sim_send(FoSim *sim, uint64_t at_ps, const FoSimMessage *message, FoSimCallback sent, void *user);
/* Ends when the send that it meets has ended, and not before at_ps. A message longer than bytes is an error of both. */
FO_API FoSimError fo_sim_recv(FoSim *sim, uint64_t at_ps, const FoSimMessage *message, FoSimCallback received,
                              void *user);

/* ---- memory, and operations on it */

typedef uint32_t FoSimMemory; /* a number, not 0 */
/* Memory of a GPU: 1 byte to 64 GiB, zeros. All GPUs may use it. */
FO_API FoSimError fo_sim_memory(FoSim *sim, uint32_t gpu, uint64_t bytes, FoSimMemory *memory);
/* A multicast object over new memory of each of n different GPUs: member[i] (may be NULL) is that of gpus[i], *team
 * the object, which multicast operations of its members use. FULL: the switches have no room for it. */
FO_API FoSimError fo_sim_team(FoSim *sim, const uint32_t *gpus, uint32_t n, uint64_t bytes, FoSimMemory *team,
                              FoSimMemory *member);
/* Contents, at once, in no simulated time; where keep_bytes was asked for. */
FO_API FoSimError fo_sim_write(FoSim *sim, FoSimMemory memory, uint64_t offset, const void *data, size_t bytes);
FO_API FoSimError fo_sim_read(FoSim *sim, FoSimMemory memory, uint64_t offset, void *data, size_t bytes);

typedef enum {
    FO_SIM_LOAD,             /* ends when the values are there */
    FO_SIM_STORE,            /* of value, again and again; ends when it is performed and acknowledged, as all below */
    FO_SIM_ATOMIC,           /* one of 4 or 8 bytes (u32, u64, f32); ends with the old value */
    FO_SIM_COPY,             /* loads, and stores to to_memory */
    FO_SIM_MULTICAST_STORE,  /* to every member: memory is a team's */
    FO_SIM_MULTICAST_REDUCE, /* the switch adds value to every member (multimem.red) */
    FO_SIM_LOAD_REDUCE,      /* the switch sums the members' values (multimem.ld_reduce) */
    FO_SIM_OPERATIONS
} FoSimOperation;
typedef enum { FO_SIM_F32, FO_SIM_F16, FO_SIM_BF16, FO_SIM_U32, FO_SIM_U64, FO_SIM_TYPES } FoSimType;
typedef struct {
    FoSimOperation operation;
    uint32_t gpu; /* whose instruction it is */
    FoSimMemory memory, to_memory;
    uint64_t offset, to_offset; /* multiples of the width of a thread's access: the largest of 16, 8, 4 in bytes */
    uint64_t bytes;             /* a multiple of 4. Up to 32 accesses are one instruction of a warp; more, a loop */
    FoSimType type;             /* of atomics and reductions, which add; multicast: f32, f16, bf16, u32, u64 */
    uint8_t value[16];          /* of stores, atomics and reductions */
    uint32_t ctas, threads;     /* of a loop; 0: a CTA for each 64 KiB up to 16, of 512 threads */
} FoSimAccess;
FO_API FoSimError fo_sim_place(FoSim *sim, uint64_t at_ps, const FoSimAccess *access, FoSimCallback done, void *user);

/* ---- collectives, with their launches, as `fanout coll` has them */

typedef struct {
    const char *op;       /* "all_reduce", "all_gather", "reduce_scatter", "broadcast", "all_to_all", "sendrecv", ... */
    const char *algo;     /* "ring", "nvls", ...; NULL: what NCCL would take */
    const char *proto;    /* "simple", "ll", "ll128"; NULL: NCCL's choice */
    const char *type;     /* of its elements; NULL: "f32" */
    uint64_t bytes;       /* nccl-tests' size */
    const uint32_t *gpus; /* n of them, different; NULL: all */
    uint32_t n;
    uint32_t root;          /* rank, of broadcast */
    uint32_t ctas, threads; /* 0: the algorithm's own */
    int check;              /* fill and verify; needs keep_bytes */
} FoSimCollective;
FO_API FoSimError fo_sim_coll(FoSim *sim, uint64_t at_ps, const FoSimCollective *collective, FoSimCallback done,
                              void *user);

/* ---- results */

typedef struct {
    uint64_t now_ps, events;
    uint64_t crossings;             /* packets that crossed a link */
    uint64_t placed, done, failed;  /* messages, operations, collectives: failed ones are done, too */
    uint64_t faults;                /* accesses that hardware refused or lost */
    double up_mean_pct, up_max_pct; /* time for which links from GPUs were busy: the mean of all, the busiest */
    double down_mean_pct, down_max_pct;
} FoSimStatistics;
/* bytes: sizeof *statistics. */
FO_API FoSimError fo_sim_statistics(FoSim *sim, FoSimStatistics *statistics, size_t bytes);
/* The report of all so far as JSON ("schema": "fanout/1"), until the next one. NULL: an error. */
FO_API const char *fo_sim_report(FoSim *sim);

#ifdef __cplusplus
}
#endif
#endif
