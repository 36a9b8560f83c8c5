/* Readers: a folder each (traces/format/<format>/), whose read.c ends in its TraceFormat; reader.c has the table of
 * them. Which one reads a file is told from its first bytes. A new format is its folder, its name at the foot of this
 * header, a line in that table and one in traces.mk.
 *
 * Errors name the file, the line or byte, the node where there is one, what is wrong and what would
 * be right. With `lenient` a wrong node is skipped and counted, and a file that ends too early
 * counts as what it holds. */
#ifndef TRACES_FORMAT_READER_H
#define TRACES_FORMAT_READER_H

#include <glib.h>

#include "traces/format/input.h"
#include "traces/format/json.h"
#include "traces/record/record.h"

typedef struct {
    gboolean lenient;
    const char *format;      /* NULL: by content; else a TraceFormat's name */
    guint32 world;           /* ranks of the job where the files do not say; 0: they do */
    const char *groups_path; /* {"pg name": [ranks], ...} for Chakra files without groups; NULL: none */
    guint64 plan_bytes;      /* message size that execution plans run with; 0: 1 MiB */
    InputProgress progress;  /* NULL: none */
    void *user;
} TraceReadSpec;

typedef struct {
    const TraceReadSpec *spec;
    Trace *trace;
    Input *input;
    guint32 file;       /* index into trace->files */
    gint64 name_rank;   /* the rank by the file's name or its place in the job (jobs.h); -1 */
    guint32 world_hint; /* ranks of the job as far as known before reading; 0 */
    guint32 job_files;
    gpointer *state; /* the format's own, from the job's first file to its last */
} Reader;

/* What a file says of itself before it is read. */
typedef struct {
    gint64 rank, world; /* -1: it does not say */
    GPtrArray *ids;     /* char *: what it shares with other files of its job; NULL: nothing */
} TraceIdentity;

typedef struct {
    const char *name, *title;
    int (*probe)(const char *head, gsize n); /* 0: not this one; up to 100: surely */
    gboolean (*read)(Reader *reader, GError **error);
    gboolean (*end)(Reader *reader, GError **error); /* behind the job's last file; NULL: nothing */
    void (*state_free)(gpointer state);
    gboolean per_rank; /* a file holds one rank: files of one set of names are one job (jobs.h) */
    void (*identify)(Input *input, TraceIdentity *identity); /* NULL: files say nothing */
} TraceFormat;

const TraceFormat *const *trace_formats(void); /* NULL-terminated */
const TraceFormat *trace_format_by_name(const char *name);

/* Reads the files (or folders of files) named into jobs: Trace *, finished but not yet matched.
 * jobs.h says which files are one job; of formats with a file a rank one stands for all that lie
 * beside it. NULL and error: nothing is left behind. Free with g_ptr_array_free. */
GPtrArray *trace_read_jobs(const char *const *paths, guint n, const TraceReadSpec *spec, GError **error);
/* One job from an open input, for tests and fuzzing. Takes the input. */
Trace *trace_read_input(Input *input, const TraceReadSpec *spec, GError **error);

/* For readers ------------------------------------------------------------------------------------
 */

RecordSource reader_here(const Reader *reader, guint32 line, guint64 byte, gint64 node);
/* A wrong node. lenient: counts it under `reason` and returns TRUE: skip the node and go on; else
 * FALSE and the error "where: text". */
gboolean reader_problem(Reader *reader, RecordSource where, const char *reason, GError **error, const char *format, ...)
    G_GNUC_PRINTF(5, 6);
/* After a reader's parser failed with *broken: TRUE when lenient and the file only ends too early
 * (*broken is counted and cleared); else hands *broken to error. */
gboolean reader_skip(Reader *reader, GError **broken, GError **error);
/* A communication of 0 bytes, as programs make with empty tensors, becomes a computation, which a note counts: TRUE. An
 * all-to-all stays one, since its other ranks may have more. */
gboolean reader_empty(Reader *reader, Record *record);
/* What every communication must satisfy: bytes neither 0 nor absurd (a barrier may have 0, and a rank of an
 * all-to-all), rank and peer in the world, rank in its group. As reader_problem when not; *good tells whether to add
 * it. */
gboolean reader_check(Reader *reader, const Record *record, gboolean *good, GError **error);
/* The bytes of a buffer that n ranks share: rounded up to what they can share alike, which a note counts. */
guint64 reader_shared_bytes(Reader *reader, RecordOp op, guint64 bytes, guint32 n);
/* "[0, 1, 4]", "0-3,8": FALSE when it is no list or holds "..."; *ranks of guint32. */
gboolean reader_parse_ranks(const char *text, GArray *ranks);
/* Sets trace->world; an error when another file of the job said something else. */
gboolean reader_set_world(Reader *reader, guint64 world, GError **error);
/* The format by the input's first bytes, or the one that spec names. */
const TraceFormat *reader_detect(Input *input, const TraceReadSpec *spec, GError **error);
/* Operation and dtype from the names that PyTorch uses; FALSE: unknown. */
gboolean reader_torch_op(const char *name, RecordOp *op);
gboolean reader_torch_dtype(const char *name, RecordDtype *dtype, guint *bytes);

extern const TraceFormat trace_format_text, trace_format_kineto, trace_format_chakra, trace_format_chakra_json,
    trace_format_pytorch_et, trace_format_nccl_log, trace_format_mscclpp, trace_format_goal, trace_format_simai,
    trace_format_flight, trace_format_inspector, trace_format_nsight, trace_format_goal_binary;

#endif
