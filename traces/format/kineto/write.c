/* Writes the trace format of PyTorch's profiler, a file for each rank: GPU work with starts and durations. What read.c
 * takes from such a file is what is written: kernels on streams, the arguments of collectives, the ranks of groups. No
 * operators of the host, no launches: there were none. Operations without a stream get one of their own each time the
 * others are busy, as the rank's first free one. */
#include <string.h>

#include "sim/report/file.h"
#include "traces/format/json.h"
#include "traces/format/write.h"
#include "traces/record/replicate.h"

#define ALL_RANKS "all ranks" /* the group of messages that name none */
#define FREE_STREAMS 1000u    /* streams of operations that have none begin here */

static const char *const dtype_words[RECORD_DTYPES] = {
    [RECORD_U8] = "Byte",         [RECORD_I8] = "Char",   [RECORD_I16] = "Short",  [RECORD_I32] = "Int",
    [RECORD_U32] = "UInt32",      [RECORD_I64] = "Long",  [RECORD_U64] = "UInt64", [RECORD_F16] = "Half",
    [RECORD_BF16] = "BFloat16",   [RECORD_F32] = "Float", [RECORD_F64] = "Double", [RECORD_E4M3] = "Float8_e4m3fn",
    [RECORD_E5M2] = "Float8_e5m2"};
/* What PyTorch calls an operation, and the kernel that NCCL has for it. */
static const struct {
    const char *collective, *kernel;
} op_words[RECORD_OPS] = {
    [RECORD_ALL_REDUCE] = {"allreduce", "AllReduce"},
    [RECORD_ALL_GATHER] = {"_allgather_base", "AllGather"},
    [RECORD_REDUCE_SCATTER] = {"_reduce_scatter_base", "ReduceScatter"},
    [RECORD_BROADCAST] = {"broadcast", "Broadcast"},
    [RECORD_REDUCE] = {"reduce", "Reduce"},
    [RECORD_ALL_TO_ALL] = {"all_to_all", "SendRecv"},
    [RECORD_GATHER] = {"gather", "SendRecv"},
    [RECORD_SCATTER] = {"scatter", "SendRecv"},
    [RECORD_BARRIER] = {"barrier", "AllReduce"},
    [RECORD_SEND] = {"send", "SendRecv"},
    [RECORD_RECV] = {"recv", "SendRecv"},
};

static void append_us(GString *to, const char *key, guint64 ps)
{
    g_string_append_printf(to, ", \"%s\": %" G_GUINT64_FORMAT ".%06" G_GUINT64_FORMAT, key, ps / 1000000, ps % 1000000);
}

/* group NULL: all ranks. */
static void append_ranks(GString *to, const Trace *trace, const RecordGroup *group)
{
    for (guint32 i = 0; i < (group ? group->n : trace->world); i++)
        g_string_append_printf(to, i ? ", %u" : "[%u", group ? group->ranks[i] : i);
    g_string_append_c(to, ']');
}

static void append_head(GString *to, const Trace *trace, guint32 rank)
{
    g_string_append_printf(to,
                           "{\n\"schemaVersion\": 1,\n\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": %u, "
                           "\"world_size\": %u, \"pg_config\": [",
                           rank, trace->world);
    for (guint32 i = 0; i < trace->groups->len; i++) {
        const RecordGroup *group = trace_group_at(trace, i);
        g_string_append(to, "{\"pg_name\": ");
        json_append_quoted(to, group->name);
        g_string_append(to, ", \"ranks\": ");
        append_ranks(to, trace, group);
        g_string_append(to, "}, ");
    }
    g_string_append(to, "{\"pg_name\": \"" ALL_RANKS "\", \"ranks\": ");
    append_ranks(to, trace, NULL);
    g_string_append_c(to, '}');
    g_string_append_printf(to,
                           "]},\n\"displayTimeUnit\": \"ns\",\n\"traceEvents\": [\n"
                           "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": %u, \"tid\": 0, \"ts\": 0, "
                           "\"args\": {\"name\": \"rank %u, simulated\"}}",
                           rank, rank);
}

static void append_arguments(GString *to, const Trace *trace, const Record *r)
{
    const RecordGroup *group = r->group != RECORD_NO_GROUP ? trace_group_at(trace, r->group) : NULL;
    guint size = record_dtype_bytes(r->dtype);
    const gboolean whole = r->bytes_in % size == 0 && r->bytes_out % size == 0;
    if (!whole)
        size = 1;
    g_string_append_printf(to,
                           ", \"Collective name\": \"%s\", \"dtype\": \"%s\", \"In msg nelems\": %" G_GUINT64_FORMAT
                           ", \"Out msg nelems\": %" G_GUINT64_FORMAT ", \"Group size\": %u, "
                           "\"Process Group Name\": ",
                           op_words[r->op].collective, whole ? dtype_words[r->dtype] : "Byte", r->bytes_in / size,
                           r->bytes_out / size, group ? group->n : trace->world);
    json_append_quoted(to, group ? group->name : ALL_RANKS);
    g_string_append(to, ", \"Process Group Ranks\": \"");
    append_ranks(to, trace, group);
    g_string_append_c(to, '"');
    const gboolean message = r->op == RECORD_SEND || r->op == RECORD_RECV;
    if (message) /* of the job; "Rank" is a place in the group */
        g_string_append_printf(to, ", \"%s Rank\": %d", r->op == RECORD_SEND ? "Dst" : "Src", r->peer);
    if (message || (r->peer != RECORD_NO_PEER && record_op_has_root(r->op)))
        g_string_append_printf(to, ", \"Rank\": %u",
                               group ? record_group_place(group, (guint32)r->peer) : (guint32)r->peer);
}

static void append_kernel(GString *to, const Trace *trace, const Record *r, guint32 stream, guint32 number)
{
    const char *name = trace->names->pdata[r->name];
    g_string_append(to, ",\n{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": ");
    if (r->op == RECORD_COMPUTE) {
        json_append_quoted(to, name[0] ? name : "compute");
    } else {
        g_autofree char *kernel = g_strdup_printf("ncclDevKernel_%s", op_words[r->op].kernel);
        json_append_quoted(to, kernel);
    }
    g_string_append_printf(to, ", \"pid\": %u, \"tid\": %u", r->rank, stream);
    append_us(to, "ts", r->start_ps);
    append_us(to, "dur", r->duration_ps);
    g_string_append_printf(to,
                           ", \"args\": {\"External id\": %u, \"device\": %u, \"context\": 1, \"stream\": %u, "
                           "\"correlation\": %u",
                           number, r->rank, stream, number);
    if (r->op != RECORD_COMPUTE)
        append_arguments(to, trace, r);
    g_string_append(to, "}}");
}

/* A stream for what has none: the first that is free then. */
static guint32 free_stream(GArray *free_ps, const Record *r)
{
    guint i = 0;
    while (i < free_ps->len && g_array_index(free_ps, guint64, i) > r->start_ps)
        i++;
    const guint64 end_ps = r->start_ps + r->duration_ps;
    if (i == free_ps->len)
        g_array_append_val(free_ps, end_ps);
    g_array_index(free_ps, guint64, i) = end_ps;
    return FREE_STREAMS + i;
}

static gboolean write_rank(const Trace *trace, guint32 rank, const char *path, GError **error)
{
    GString *to = g_string_new(NULL);
    GArray *free_ps = g_array_new(FALSE, FALSE, sizeof(guint64));
    append_head(to, trace, rank);
    gboolean known = TRUE;
    for (guint32 i = trace->rank_first[rank]; i < trace->rank_first[rank + 1] && known; i++) {
        const Record *r = trace_record(trace, i);
        if (r->start_ps == RECORD_NO_TIME) {
            g_set_error(error, TRACE_ERROR, TRACE_ERROR_WRITE,
                        "%s: the trace does not say when its operations ran; fanout replay --record FILE.json "
                        "simulates that, and writes it",
                        path);
            known = FALSE;
        } else if (r->op < RECORD_PLAN && !r->skipped) {
            const guint32 stream = r->stream != RECORD_NO_STREAM ? r->stream : free_stream(free_ps, r);
            append_kernel(to, trace, r, stream, i - trace->rank_first[rank] + 1);
        }
    }
    g_string_append(to, "\n]\n}\n");
    const gboolean written = known && file_write(path, to->str, to->len, error);
    g_array_free(free_ps, TRUE);
    g_string_free(to, TRUE);
    return written;
}

gboolean write_kineto(Trace *trace, const char *prefix, GError **error)
{
    if (!trace_replicate(trace, error))
        return FALSE;
    for (guint32 rank = 0; rank < trace->world; rank++) {
        g_autofree char *path = g_strdup_printf("%s.%u.json", prefix, rank);
        if (!write_rank(trace, rank, path, error))
            return FALSE;
    }
    return TRUE;
}
