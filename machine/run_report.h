/* The report of a run: what processes say of themselves (calls, diagnostics), the engine's tables, and the files that
 * the environment asks for (FANOUT_REPORT, FANOUT_FORMAT, FANOUT_HTML, FANOUT_PERFETTO). A program alone writes one as
 * it ends; the owner of a machine writes one for its job, with what each process left. */
#ifndef MACHINE_RUN_REPORT_H
#define MACHINE_RUN_REPORT_H

#include "machine/engine/engine.h"

typedef struct {
    char *name; /* of a function of the driver API */
    guint64 count, errors;
} RunCall;

typedef struct {
    char *call, *text;
    gint32 device;           /* its ordinal; -1: none */
    guint64 handle, address; /* 0: none */
} RunDiagnostic;

/* What one process says, or all of them. */
typedef struct {
    char *program, *why; /* its short name; how it ended */
    guint64 gpus;        /* that it sees */
    guint64 n_diagnostics;
    GArray *calls;       /* RunCall, by name */
    GArray *diagnostics; /* RunDiagnostic, the first of them */
} RunPart;

RunPart *run_part_new(const char *program, const char *why, guint64 gpus);
void run_part_free(RunPart *part);
void run_part_add_call(RunPart *part, const char *name, guint64 count, guint64 errors);
void run_part_add_diagnostic(RunPart *part, const char *call, const char *text, int device, guint64 handle,
                             guint64 address);
void run_part_join(RunPart *all, const RunPart *part); /* calls are summed, diagnostics follow */
/* As bytes, for another process; NULL: they are none. */
GBytes *run_part_pack(const RunPart *part);
RunPart *run_part_unpack(const void *bytes, gsize n);

/* One process of a job, for the report. */
typedef struct {
    gint32 rank;    /* -1: it used no GPU and has none */
    guint32 client; /* the engine's number of it */
    const char *program, *why;
    guint64 calls;
    const RunPart *part; /* NULL: it left none */
} RunRank;

typedef struct {
    Engine *engine;
    const char *system;
    guint64 driver_version;
    const RunPart *part; /* of the process, or of all */
    const GArray *ranks; /* RunRank in order, where there are several; NULL: one process alone */
    const RunRank *rank; /* of this one alone; NULL: of all */
    gint number;         /* of the reports that were written before; the first has the file's plain name */
} RunReport;

/* A file for each process, where the environment names a folder (FANOUT_REPORT_RANKS): before the report of all. */
gboolean run_report_write_ranks(const RunReport *job);
/* Whether some file is wanted. */
gboolean run_report_wanted(void);
/* Writes what is wanted. FALSE: something could not be written; standard error says what. */
gboolean run_report_write(const RunReport *run);

#endif
