/* Micro-benchmarks: small device programs that each show one property of the fabric.
 *
 *     BenchSetup setup = {.spec = &spec, .seed = 1, .crossings_max = BENCH_CROSSINGS};
 *     BenchRequest request = {"stream_bw", "read16", "0>1", 132, 1024, 1 << 29};
 *     GArray *rows = bench_run(&setup, &request, &error);     // of BenchRow
 *
 * Tests, variants and loops are those of the CUDA programs whose measurements the model is compared
 * with; in addition there are tests of multicast. Each run builds a fabric of its own.
 *
 * A request that would cross links more than crossings_max times runs at three smaller sizes, and its
 * time is extrapolated from the slope between the smallest and the largest; the middle one checks that
 * the slope is steady. Such rows say so. The three sizes cross links crossings_max times together, or a
 * quarter of that if the test is a loop without steps, which is steady after few rounds of its grid.
 * With COLL_FIDELITY_AUTO it is flows instead.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include "coll/coll.h"
#include "model/fabric/fabric.h"
#include "observe/recording.h"

typedef struct {
    const FabricSpec *spec;
    guint64 seed;
    SimCalendar calendar;
    SimEngine engine;
    guint64 crossings_max;
    CollFidelity fidelity;
    const RecordingSpec *record; /* of each run; of flows without where its time went. NULL: none */
    const char *vcd_path;        /* a waveform of the run, of packets in the reference engine; NULL: none */
    gboolean *vcd_lost;          /* set to TRUE if it could not be written, which has been said */
    void (*done)(const Fabric *fabric, void *user); /* at the end of a run at its full size; NULL: nothing */
    void *done_user;
} BenchSetup;
#define BENCH_CROSSINGS 100000000u

typedef struct {
    const char *test, *variant;
    const char *gpus; /* "0>1": SMs of GPU 0 act on memory of GPU 1; "4": how many; or a word */
    guint32 ctas, threads;
    guint64 bytes;
} BenchRequest;

typedef struct {
    char test[32];
    char gpus[16];
    guint32 ctas;
    guint64 amount;  /* bytes (or operations) moved in `time_ps`; 0: the value is a time */
    guint64 repeats; /* of what was timed: the value is time_ps / repeats */
    SimTime time_ps;
    const char *unit; /* "GB/s", "Gops/s", "ns", "us" */
    gboolean extrapolated;
    double check_pct; /* how far the middle size is off the slope's line; 0 unless extrapolated */
} BenchRow;
double bench_row_value(const BenchRow *row);

/* One test of the list that `fanout bench` prints. */
typedef struct BenchWorld BenchWorld;
typedef struct {
    const char *name;
    const char *variants; /* for people: "read16, read8, ..." */
    const char *text;
    BenchRequest usual; /* what runs when nothing else is asked for; test is the name */
    /* Runs world->request at world->bytes and adds rows; FALSE: `error` set. */
    gboolean (*run)(BenchWorld *world, GError **error);
    /* Link crossings of a whole run, roughly; NULL: it is small at any size. */
    guint64 (*crossings)(const BenchSetup *setup, const BenchRequest *request);
    /* Why a request runs in packets whatever the fidelity: flows would say something else, or nothing. NULL, or it
     * answers NULL: it does not. */
    const char *(*packets)(const BenchRequest *request);
} BenchTest;
extern const BenchTest *const bench_tests[]; /* ends with NULL */
const BenchTest *bench_find(const char *name);

/* What runs on a system when nothing else is asked for: test->usual, with as many GPUs as the system has where it
 * has fewer. The text is the test's own, or `buffer` of 16 bytes. */
BenchRequest bench_usual(const BenchTest *test, const FabricSpec *spec, char *buffer);
/* Why a request of such a test, which there is, runs in packets though setup->fidelity asks for flows; NULL: it runs as
 * asked. */
const char *bench_needs_packets(const BenchSetup *setup, const BenchRequest *request);
/* Whether a request of such a test, which there is, is extrapolated. */
gboolean bench_is_extrapolated(const BenchSetup *setup, const BenchRequest *request);
/* The rows of one run; free with g_array_free. NULL with an error: unknown test or variant, GPUs that the
 * system does not have, a grid or a size that moves nothing, a stuck fabric, a GPU that answers nothing. */
GArray *bench_run(const BenchSetup *setup, const BenchRequest *request, GError **error);

#define BENCH_ERROR (bench_error_quark())
GQuark bench_error_quark(void);
typedef enum { BENCH_ERROR_REQUEST, BENCH_ERROR_SYSTEM, BENCH_ERROR_STUCK } BenchErrorCode;

#endif
