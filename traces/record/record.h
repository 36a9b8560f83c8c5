/* The one internal record that every trace format is read into.
 *
 * A Trace is one job: its ranks, the groups (communicators, process groups) they talk in, and for
 * each rank its operations in program order. An operation starts when the one before it on the
 * same stream has ended, all its dependencies have ended, and its gap has passed after that.
 *
 * Bytes. `bytes_in` is what one rank puts in, `bytes_out` what one rank gets out; record_bytes() is
 * the larger of the two, which is the size that nccl-tests prints and bus bandwidths are computed
 * from.
 *
 * Not kept: tensors' names and shapes, host-side work, memory operations of other engines. */
#ifndef TRACES_RECORD_RECORD_H
#define TRACES_RECORD_RECORD_H

#include <glib.h>

typedef enum {
    RECORD_COMPUTE,
    RECORD_ALL_REDUCE,
    RECORD_ALL_GATHER,
    RECORD_REDUCE_SCATTER,
    RECORD_BROADCAST,
    RECORD_REDUCE,
    RECORD_ALL_TO_ALL,
    RECORD_GATHER,
    RECORD_SCATTER,
    RECORD_BARRIER,
    RECORD_SEND,
    RECORD_RECV,
    RECORD_PLAN, /* a device program of trace->plan, one for each rank of the group */
    RECORD_OPS
} RecordOp;

typedef enum { RECORD_SUM, RECORD_PROD, RECORD_MAX, RECORD_MIN, RECORD_AVG, RECORD_REDUCTIONS } RecordReduction;

typedef enum {
    RECORD_U8,
    RECORD_I8,
    RECORD_I16,
    RECORD_I32,
    RECORD_U32,
    RECORD_I64,
    RECORD_U64,
    RECORD_F16,
    RECORD_BF16,
    RECORD_F32,
    RECORD_F64,
    RECORD_E4M3,
    RECORD_E5M2,
    RECORD_DTYPES
} RecordDtype;

#define RECORD_NO_GROUP G_MAXUINT32
#define RECORD_NO_PEER (-1)
#define RECORD_NO_STREAM G_MAXUINT32 /* ordered by its dependencies alone */
#define RECORD_NO_TIME G_MAXUINT64
#define RECORD_NO_STEP (-1)
#define RECORD_BYTES_MAX ((guint64)1 << 40)            /* no GPU holds more */
#define RECORD_PS_MAX ((guint64)86400 * 1000000000000) /* one day */
#define RECORD_WORLD_MAX (1u << 20)

/* Where an operation was read: for messages. line 0: a binary file, byte counts. */
typedef struct {
    guint32 file; /* index into trace->files */
    guint32 line;
    guint64 byte;
    gint64 node; /* the file's own number of it; -1: the format has none */
} RecordSource;

typedef struct {
    guint32 rank;
    guint32 group; /* index into trace->groups; RECORD_NO_GROUP of computations */
    RecordOp op;
    RecordReduction reduction;
    RecordDtype dtype;
    gint32 peer;    /* send: to; recv: from; broadcast, reduce, gather, scatter: root; a rank of the
                       job */
    guint32 tag;    /* of send and recv */
    guint32 stream; /* RECORD_NO_STREAM, or operations of one stream run one after another */
    guint64 bytes_in, bytes_out;
    guint64 sequence;             /* k-th collective of its group on this rank; k-th (src, dst, tag) message */
    guint64 gap_ps;               /* idle or unrecorded time between what it waits for and its start */
    guint64 duration_ps;          /* of a computation; of a communication what was recorded, only for reports */
    guint64 start_ps;             /* as recorded, from the job's first operation; RECORD_NO_TIME */
    guint32 dep_first, dep_count; /* into trace->deps: indices of records */
    gint32 step;                  /* training step; RECORD_NO_STEP */
    guint32 name;                 /* index into trace->names */
    gboolean skipped;             /* --lenient left it out: it takes no time, but keeps order and sequence */
    RecordSource source;
} Record;

typedef struct {
    char *name; /* "0", "tp1": as in the file */
    guint32 n;
    guint32 *ranks;            /* of the job, in group order */
    guint32 *order;            /* places in ranks, by rank; NULL: ranks ascend */
    gboolean names_rank_twice; /* a rank is named more than once: no group that can be used */
} RecordGroup;

/* The place of a rank in a group; RECORD_NO_PLACE: it is no member. */
#define RECORD_NO_PLACE G_MAXUINT32
guint32 record_group_place(const RecordGroup *group, guint32 rank);

/* What --lenient left out, by reason. */
typedef struct {
    char *reason;
    char *first; /* the message of the first one */
    guint64 count;
} TraceSkip;

/* What was read, but not understood, and how it was taken: notes that are counted. */
typedef struct {
    char *what, *name; /* "WHAT: COUNT of NAME, TIME us in all" */
    guint64 count, time_ps;
} TraceCount;

typedef struct Plan Plan;

typedef struct {
    char *name;          /* the job, for messages and reports */
    const char *format;  /* the reader's name */
    guint32 world;       /* ranks 0 .. world-1 */
    gboolean replicate;  /* not all ranks were recorded: the others do the same (trace_replicate) */
    GHashTable *present; /* ranks that a file is of, though it may hold no operation; NULL: not known */
    gboolean replicated;
    gboolean selected;      /* only a part is left (trace_select) */
    guint32 recorded_ranks; /* how many ranks the files hold */
    GArray *records;        /* Record; after trace_finish by rank, then program order */
    GArray *deps;           /* guint32 */
    guint32 *rank_first;    /* world + 1 indices into records, after trace_finish */
    GPtrArray *groups;      /* RecordGroup * */
    GPtrArray *files;       /* char * */
    GPtrArray *names;       /* char * */
    GPtrArray *notes;       /* char *: what was assumed or left out, each a sentence for the report */
    GArray *skips;          /* TraceSkip */
    GArray *counts;         /* TraceCount; notes after trace_finish */
    Plan *plan;
    guint64 members;           /* of all groups */
    gboolean too_many_members; /* RECORD_MEMBERS_MAX is exceeded: what is read stands for nothing */
    /* while reading */
    GHashTable *name_index, *group_index;
    guint32 world_group; /* the last one that trace_group_world gave */
    GArray *dep_pairs;
} Trace;

#define TRACE_ERROR (trace_error_quark())
GQuark trace_error_quark(void);
typedef enum {
    TRACE_ERROR_OPEN,    /* cannot be read at all */
    TRACE_ERROR_FORMAT,  /* no reader knows it, or a reader cannot go on */
    TRACE_ERROR_CUT_OFF, /* ends too early */
    TRACE_ERROR_VALUE,   /* one node is wrong */
    TRACE_ERROR_MATCH,   /* nodes do not fit together */
    TRACE_ERROR_WRITE
} TraceError;

Trace *trace_new(const char *name);
void trace_free(Trace *trace);

#define RECORD_MEMBERS_MAX (1u << 25) /* of all groups of a job together: 128 MiB */

/* Indices of an interned name, of a file, of a group (same name and same ranks: the same group; when
 * all groups together have over RECORD_MEMBERS_MAX members: any, trace->too_many_members, and trace_finish
 * says so). */
guint32 trace_name(Trace *trace, const char *name);
guint32 trace_file(Trace *trace, const char *path);
guint32 trace_group(Trace *trace, const char *name, const guint32 *ranks, guint32 n);
/* The group of all ranks 0 .. n-1, under the name "world". */
guint32 trace_group_world(Trace *trace, guint32 n);
void record_groups_init(Trace *trace); /* of trace_new */
const RecordGroup *trace_group_at(const Trace *trace, guint32 group);

/* A record with nothing set but what cannot be 0. */
void record_init(Record *record, guint32 rank, RecordOp op);
/* Appends a copy; its index. */
guint32 trace_add(Trace *trace, const Record *record);
/* `record` starts after `on` has ended: indices as trace_add gave them. */
void trace_add_dep(Trace *trace, guint32 record, guint32 on);
Record *trace_record(const Trace *trace, guint32 index);
/* Says something once, however often it is noted. */
void trace_note(Trace *trace, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* Counts one of `name` (at most 16 differ; then "others") under `what`, for a note that says how many
 * and, where time_ps is not 0, how long in all. */
void trace_count(Trace *trace, const char *what, const char *name, guint64 time_ps);
/* Counts something left out under `reason`; `message` is kept of the first. */
void trace_skip(Trace *trace, const char *reason, const char *message);
/* A file of this rank was read. */
void trace_present(Trace *trace, guint32 rank);
guint64 trace_skipped(const Trace *trace); /* all reasons together */

/* Ends the reading: orders the records by rank, drops dependencies that streams imply, refuses
 * cycles, numbers the sequence of each group. lenient: a node on a cycle is skipped and counted. */
gboolean trace_finish(Trace *trace, gboolean lenient, GError **error);

/* "FILE:LINE: node N: " or "FILE: byte B: node N: "; caller frees. */
char *trace_where(const Trace *trace, const RecordSource *source);

static inline guint64 record_bytes(const Record *r) { return MAX(r->bytes_in, r->bytes_out); }
/* What is replayed and written of a record: itself, or nothing but its place in the order when it
 * is skipped. */
Record record_effective(const Record *record);
gboolean record_op_is_collective(RecordOp op); /* not send, recv, computation */
gboolean record_op_reduces(RecordOp op);
gboolean record_op_has_root(RecordOp op);
const char *record_op_name(RecordOp op); /* "all_reduce", as the command line has it */
gboolean record_op_parse(const char *name, RecordOp *op);
const char *record_reduction_name(RecordReduction reduction);
gboolean record_reduction_parse(const char *name, RecordReduction *reduction);
const char *record_dtype_name(RecordDtype dtype);
gboolean record_dtype_parse(const char *name, RecordDtype *dtype);
guint record_dtype_bytes(RecordDtype dtype);
/* Sets both sizes of an operation from what one rank puts in, with n ranks in the group. FALSE: it
 * does not divide by the group, or is absurd. */
gboolean record_set_bytes_in(Record *record, guint64 bytes_in, guint32 n);

#endif
