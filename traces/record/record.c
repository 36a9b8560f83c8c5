/* Records: names, sizes, and the container that readers fill. trace_finish is in finish.c. */
#include "traces/record/record.h"

#include <string.h>

#include "traces/record/plan.h"

#define COUNT_NAMES_MAX 16

GQuark trace_error_quark(void) { return g_quark_from_static_string("fanout-trace-error"); }

static const char *const op_names[RECORD_OPS] = {"compute", "all_reduce", "all_gather", "reduce_scatter", "broadcast",
                                                 "reduce",  "all_to_all", "gather",     "scatter",        "barrier",
                                                 "send",    "recv",       "plan"};
static const char *const reduction_names[RECORD_REDUCTIONS] = {"sum", "prod", "max", "min", "avg"};
static const struct {
    const char *name;
    guint bytes;
} dtypes[RECORD_DTYPES] = {{"u8", 1},  {"i8", 1},   {"i16", 2}, {"i32", 4}, {"u32", 4},  {"i64", 8}, {"u64", 8},
                           {"f16", 2}, {"bf16", 2}, {"f32", 4}, {"f64", 8}, {"e4m3", 1}, {"e5m2", 1}};

const char *record_op_name(RecordOp op) { return op_names[op]; }
const char *record_reduction_name(RecordReduction reduction) { return reduction_names[reduction]; }
const char *record_dtype_name(RecordDtype dtype) { return dtypes[dtype].name; }
guint record_dtype_bytes(RecordDtype dtype) { return dtypes[dtype].bytes; }

gboolean record_op_parse(const char *name, RecordOp *op)
{
    for (int i = 0; i < RECORD_OPS; i++) {
        if (strcmp(name, op_names[i]) == 0) {
            *op = i;
            return TRUE;
        }
    }
    return FALSE;
}

gboolean record_reduction_parse(const char *name, RecordReduction *reduction)
{
    for (int i = 0; i < RECORD_REDUCTIONS; i++) {
        if (strcmp(name, reduction_names[i]) == 0) {
            *reduction = i;
            return TRUE;
        }
    }
    return FALSE;
}

gboolean record_dtype_parse(const char *name, RecordDtype *dtype)
{
    for (int i = 0; i < RECORD_DTYPES; i++) {
        if (strcmp(name, dtypes[i].name) == 0) {
            *dtype = i;
            return TRUE;
        }
    }
    return FALSE;
}

gboolean record_op_is_collective(RecordOp op) { return op != RECORD_COMPUTE && op != RECORD_SEND && op != RECORD_RECV; }

gboolean record_op_reduces(RecordOp op)
{
    return op == RECORD_ALL_REDUCE || op == RECORD_REDUCE || op == RECORD_REDUCE_SCATTER;
}

gboolean record_op_has_root(RecordOp op)
{
    return op == RECORD_BROADCAST || op == RECORD_REDUCE || op == RECORD_GATHER || op == RECORD_SCATTER;
}

gboolean record_set_bytes_in(Record *record, guint64 bytes_in, guint32 n)
{
    if (bytes_in > RECORD_BYTES_MAX || n == 0)
        return FALSE;
    record->bytes_in = record->bytes_out = bytes_in;
    switch (record->op) {
    case RECORD_ALL_GATHER:
    case RECORD_GATHER: record->bytes_out = bytes_in * n; return record->bytes_out <= RECORD_BYTES_MAX;
    case RECORD_REDUCE_SCATTER:
    case RECORD_SCATTER: record->bytes_out = bytes_in / n; return bytes_in % n == 0;
    default: return TRUE;
    }
}

Record record_effective(const Record *record)
{
    Record effective = *record;
    if (record->skipped) {
        record_init(&effective, record->rank, RECORD_COMPUTE);
        effective.stream = record->stream;
        effective.dep_first = record->dep_first;
        effective.dep_count = record->dep_count;
        effective.step = record->step;
        effective.name = record->name;
        effective.source = record->source;
    }
    return effective;
}

static void skip_clear(gpointer data)
{
    TraceSkip *skip = data;
    g_free(skip->reason);
    g_free(skip->first);
}

static void count_clear(gpointer data)
{
    TraceCount *count = data;
    g_free(count->what);
    g_free(count->name);
}

Trace *trace_new(const char *name)
{
    Trace *trace = g_new0(Trace, 1);
    trace->name = g_strdup(name);
    trace->records = g_array_new(FALSE, FALSE, sizeof(Record));
    trace->deps = g_array_new(FALSE, FALSE, sizeof(guint32));
    trace->dep_pairs = g_array_new(FALSE, FALSE, 2 * sizeof(guint32));
    record_groups_init(trace);
    trace->files = g_ptr_array_new_with_free_func(g_free);
    trace->names = g_ptr_array_new_with_free_func(g_free);
    trace->notes = g_ptr_array_new_with_free_func(g_free);
    trace->skips = g_array_new(FALSE, FALSE, sizeof(TraceSkip));
    g_array_set_clear_func(trace->skips, skip_clear);
    trace->counts = g_array_new(FALSE, FALSE, sizeof(TraceCount));
    g_array_set_clear_func(trace->counts, count_clear);
    trace->name_index = g_hash_table_new(g_str_hash, g_str_equal);
    trace_name(trace, ""); /* index 0: no name */
    return trace;
}

void trace_free(Trace *trace)
{
    if (!trace)
        return;
    g_free(trace->name);
    g_array_free(trace->records, TRUE);
    g_array_free(trace->deps, TRUE);
    g_array_free(trace->dep_pairs, TRUE);
    g_hash_table_destroy(trace->name_index);
    g_hash_table_destroy(trace->group_index);
    g_ptr_array_free(trace->groups, TRUE);
    g_ptr_array_free(trace->files, TRUE);
    g_ptr_array_free(trace->names, TRUE);
    g_ptr_array_free(trace->notes, TRUE);
    g_array_free(trace->skips, TRUE);
    g_clear_pointer(&trace->present, g_hash_table_destroy);
    g_array_free(trace->counts, TRUE);
    g_free(trace->rank_first);
    plan_free(trace->plan);
    g_free(trace);
}

guint32 trace_name(Trace *trace, const char *name)
{
    gpointer found;
    if (g_hash_table_lookup_extended(trace->name_index, name, NULL, &found))
        return GPOINTER_TO_UINT(found);
    guint32 index = trace->names->len;
    char *copy = g_utf8_make_valid(name, -1);
    g_ptr_array_add(trace->names, copy);
    g_hash_table_insert(trace->name_index, copy, GUINT_TO_POINTER(index));
    return index;
}

guint32 trace_file(Trace *trace, const char *path)
{
    for (guint32 i = 0; i < trace->files->len; i++)
        if (strcmp(trace->files->pdata[i], path) == 0)
            return i;
    g_ptr_array_add(trace->files, g_strdup(path));
    return trace->files->len - 1;
}

const RecordGroup *trace_group_at(const Trace *trace, guint32 group)
{
    g_assert(group < trace->groups->len);
    return trace->groups->pdata[group];
}

void record_init(Record *record, guint32 rank, RecordOp op)
{
    *record = (Record){
        .rank = rank,
        .group = RECORD_NO_GROUP,
        .op = op,
        .peer = RECORD_NO_PEER,
        .stream = RECORD_NO_STREAM,
        .start_ps = RECORD_NO_TIME,
        .step = RECORD_NO_STEP,
        .source.node = -1,
    };
}

guint32 trace_add(Trace *trace, const Record *record)
{
    Record own = *record;
    if (own.op == RECORD_COMPUTE) { /* also what was to become a communication */
        own.group = RECORD_NO_GROUP;
        own.peer = RECORD_NO_PEER;
        own.bytes_in = own.bytes_out = 0;
    }
    g_array_append_val(trace->records, own);
    return trace->records->len - 1;
}

void trace_add_dep(Trace *trace, guint32 record, guint32 on)
{
    guint32 pair[2] = {record, on};
    g_array_append_val(trace->dep_pairs, pair);
}

Record *trace_record(const Trace *trace, guint32 index) { return &g_array_index(trace->records, Record, index); }

void trace_note(Trace *trace, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = g_strdup_vprintf(format, args);
    va_end(args);
    for (guint i = 0; i < trace->notes->len; i++) {
        if (strcmp(trace->notes->pdata[i], text) == 0) {
            g_free(text);
            return;
        }
    }
    g_ptr_array_add(trace->notes, text);
}

void trace_count(Trace *trace, const char *what, const char *name, guint64 time_ps)
{
    TraceCount *count = NULL;
    guint of_kind = 0;
    for (guint i = 0; i < trace->counts->len && !count; i++) {
        TraceCount *at = &g_array_index(trace->counts, TraceCount, i);
        gboolean kind = strcmp(at->what, what) == 0;
        of_kind += kind;
        count = kind && (strcmp(at->name, name) == 0 || of_kind > COUNT_NAMES_MAX) ? at : NULL;
    }
    if (!count) {
        const char *as = of_kind < COUNT_NAMES_MAX ? name : "others";
        TraceCount new = {g_strdup(what), g_utf8_make_valid(as, -1), 0, 0};
        g_array_append_val(trace->counts, new);
        count = &g_array_index(trace->counts, TraceCount, trace->counts->len - 1);
    }
    count->count++;
    count->time_ps = MIN(count->time_ps + time_ps, G_MAXUINT64 / 2);
}

void trace_skip(Trace *trace, const char *reason, const char *message)
{
    for (guint i = 0; i < trace->skips->len; i++) {
        TraceSkip *skip = &g_array_index(trace->skips, TraceSkip, i);
        if (strcmp(skip->reason, reason) == 0) {
            skip->count++;
            return;
        }
    }
    TraceSkip skip = {g_strdup(reason), g_strdup(message), 1};
    g_array_append_val(trace->skips, skip);
}

void trace_present(Trace *trace, guint32 rank)
{
    if (!trace->present)
        trace->present = g_hash_table_new(g_direct_hash, g_direct_equal);
    g_hash_table_add(trace->present, GUINT_TO_POINTER(rank));
}

guint64 trace_skipped(const Trace *trace)
{
    guint64 sum = 0;
    for (guint i = 0; i < trace->skips->len; i++)
        sum += g_array_index(trace->skips, TraceSkip, i).count;
    return sum;
}

char *trace_where(const Trace *trace, const RecordSource *source)
{
    GString *text = g_string_new(trace->files->pdata[source->file]);
    if (source->line > 0)
        g_string_append_printf(text, ":%u: ", source->line);
    else
        g_string_append_printf(text, ": byte %" G_GUINT64_FORMAT ": ", source->byte);
    if (source->node >= 0)
        g_string_append_printf(text, "node %" G_GINT64_FORMAT ": ", source->node);
    return g_string_free(text, FALSE);
}
