/* Comparing the simulator with measurements: reference CSV files, row by row.
 *
 *     ValidateSetup setup = {...};
 *     GPtrArray *rows = validate_rows_new();
 *     validate_load(rows, "bandwidth.csv", &error);
 *     validate_run(&setup, rows, &error);
 *     validate_groups(rows) -> medians
 *
 * Two schemas: `test,variant,gpus,ctas,threads,bytes,value,unit` (our own measurements; each row names a
 * micro-benchmark or an NCCL collective) and `id,group,preset,...,bytes,time_us,timing,...` (published
 * figures). A third one, `kind,case,value,name` (answers of the CUDA driver), has nothing to simulate: its
 * rows are counted as skipped.
 *
 * Rows run in worker processes, `jobs` at a time; rows that come from one run of a program (both
 * flows of a pair) share one. Results do not depend on the number of jobs. */
#ifndef VALIDATE_VALIDATE_H
#define VALIDATE_VALIDATE_H

#include "bench/bench.h"
#include "sim/param/param.h"

typedef enum { VALIDATE_MEASURED, VALIDATE_PUBLISHED, VALIDATE_DRIVER } ValidateSchema;

typedef struct {
    char *file; /* last part of the path */
    guint line;
    ValidateSchema schema;
    char *group; /* "bandwidth", "nvls", ... */
    char *name;  /* what the row is, for people */
    char *id;    /* published: the column `id`; measured: the name */
    /* measured schema */
    char *test, *variant, *gpus;
    guint32 ctas, threads;
    guint64 bytes;
    /* published schema */
    char *preset, *op, *algo, *proto, *program, *timing;
    const char *dtype;        /* of an element, not owned; NULL: f32 */
    gboolean threads_launch;  /* one process with a thread a GPU */
    gboolean moe;             /* all_to_all by TensorRT-LLM's kernels for experts */
    guint32 token_bytes;      /* of such a row; 0: of 16 bits an element */
    gboolean torch;           /* timed by PyTorch, each call alone */
    guint32 nccl;             /* its version (coll_nccl_parse); 0: not known */
    guint64 nvls_chunk_bytes; /* that the site sets for NCCL; 0: NCCL's own */
    double measured;
    char *unit;
    char *more; /* the file's own columns, "note=...", or NULL */
    /* results */
    double simulated; /* NaN until simulated */
    double error_pct;
    gboolean known; /* the results are a journal's */
    char *skipped;  /* NULL, or why */
    gboolean extrapolated;
    double check_pct;
} ValidateRow;

/* Fills spec with a preset and whatever changes the user asked for. The ParamSet owns its strings. */
typedef ParamSet *(*ValidateSystem)(const char *preset, FabricSpec *spec, void *user, GError **error);

typedef struct {
    ValidateSystem system;
    void *user;
    const char *measured_preset; /* what the measured schema's rows run on: "dgx-h200" */
    guint64 seed;
    SimCalendar calendar;
    SimEngine engine;
    guint64 crossings_max;
    CollFidelity fidelity; /* AUTO: rows beyond crossings_max are flows */
    guint jobs;
    WatchPage *watch; /* in memory that processes share, one for each job: questions there are answered; NULL: none */
    /* Told when more rows are done: how many of all, and of the first ones without a gap. NULL: nobody is told. */
    void (*progress)(guint done, guint all, guint first, void *user);
} ValidateSetup;

GPtrArray *validate_rows_new(void); /* of ValidateRow, which it frees */
/* Adds a file's rows. GError naming file, line and field. */
gboolean validate_load(GPtrArray *rows, const char *path, GError **error);
/* The cells of a line of CSV, in which quotes may enclose commas and doubled quotes; g_strfreev() frees them. */
char **validate_split_line(const char *line);
/* Adds the rows of a planner's table, nccl_perf.txt or custom_allreduce_perf.txt of aiconfigurator
 * (validate/planner.c), as measured on the system `preset`. GError naming file, line and column. */
gboolean validate_load_planner(GPtrArray *rows, const char *path, const char *preset, GError **error);
/* Simulates all rows. FALSE: the system cannot be built, or a worker died; a row that cannot run is
 * skipped with its reason instead. */
gboolean validate_run(const ValidateSetup *setup, GPtrArray *rows, GError **error);

/* A file that results are added to as rows are done. Opening it takes the results of rows that are there; validate_run
 * then leaves those out, and repeats the ones that share runs with rows that are not there, so that the results are
 * those of one run. settings: one line that must be the same as when the file was begun. GError: another file, other
 * settings, cannot be written. */
typedef struct ValidateJournal ValidateJournal;
ValidateJournal *validate_journal_open(GPtrArray *rows, const char *path, const char *settings, GError **error);
void validate_journal_add(ValidateJournal *journal, const ValidateRow *row);
gboolean validate_journal_close(ValidateJournal *journal, GError **error); /* frees; NULL is fine */

typedef struct {
    char *name;
    guint rows, skipped;
    double median_abs_pct, p90_abs_pct, max_abs_pct, mean_pct; /* NaN when nothing was simulated */
} ValidateSummary;
typedef enum {
    VALIDATE_BY_FILE,
    VALIDATE_BY_GROUP,
    VALIDATE_BY_TARGET,
    VALIDATE_BY_FIDELITY, /* rows of no such group are left out */
    VALIDATE_BY_NCCL,     /* published rows of NCCL by its version, in ascending order; others are left out */
    VALIDATE_OVERALL
} ValidateBy;
/* In order of first appearance (by target and fidelity: in the order of the targets); of ValidateSummary, owned. */
GPtrArray *validate_summarize(const GPtrArray *rows, ValidateBy by);

/* What the project aims at, for sets of groups. */
typedef struct {
    const char *name;
    const char *groups;         /* space separated */
    double median_pct, p90_pct; /* 0: no target yet */
} ValidateTarget;
extern const ValidateTarget validate_targets[]; /* ends with a NULL name */

/* Each row belongs to one of two halves, for good: parameters may be taken from rows of the first alone, and rows of
 * the second alone say how good the model is. The first hexadecimal digit of the SHA-256 of the row's id tells: 0 to 7
 * is the first half. (`printf %s ID | sha256sum` shows it.) */
typedef enum { VALIDATE_CALIBRATE, VALIDATE_JUDGE, VALIDATE_HALVES } ValidateHalf;
extern const char *const validate_half_names[VALIDATE_HALVES + 1];
ValidateHalf validate_half(const ValidateRow *row);
GPtrArray *validate_rows_of(const GPtrArray *rows, ValidateHalf half); /* not owned */
/* Takes out the rows of the other half. */
void validate_rows_keep(GPtrArray *rows, ValidateHalf half);
/* Takes out all but `most` rows of each group and half: those stay whose ids have the lowest SHA-256, so that which
 * ones they are has nothing to do with what is measured or simulated. Returns how many were taken out. */
guint validate_rows_sample(GPtrArray *rows, guint most);

/* What is aimed at for published rows, by machine, GPUs, size and timing. */
typedef struct {
    const char *key; /* one word, as files of recorded errors have it */
    const char *name;
    const char *presets; /* prefixes, space separated */
    guint gpus_min, gpus_max;
    guint64 bytes_min, bytes_max;        /* inclusive */
    const char *timings;                 /* space separated; NULL: any */
    const char *ops;                     /* not NULL: a group of rows that are of another one, too */
    double median_pct, p90_pct, max_pct; /* max 0: no limit */
} ValidateFidelity;
extern const ValidateFidelity validate_fidelity[]; /* ends with a NULL name */
gboolean validate_fidelity_has(const ValidateFidelity *group, const ValidateRow *row);
/* The first group without `ops` that has the row, or NULL. */
const ValidateFidelity *validate_fidelity_of(const ValidateRow *row);

#define VALIDATE_ERROR (validate_error_quark())
GQuark validate_error_quark(void);
typedef enum { VALIDATE_ERROR_FILE, VALIDATE_ERROR_RUN } ValidateErrorCode;

#endif
