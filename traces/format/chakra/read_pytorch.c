/* PyTorch execution traces (ET JSON, what Chakra traces are converted from): the record_param_comms
 * nodes.
 *
 * These traces have no durations: operations of one process group follow one another, groups run
 * side by side, and no computation is replayed. Sizes come from the named attributes (schema 1.1.0)
 * or, before that, from the tensors in the positional inputs. */
#include "traces/format/chakra/pytorch.h"

#include <string.h>

static int et_probe(const char *head, gsize n)
{
    (void)n;
    gboolean schema = strstr(head, "\"schema\"") && strstr(head, "\"nodes\"");
    return schema ? 90 : strstr(head, "[pytorch|profiler|execution_trace") ? 85 : 0;
}

static void free_ranks(gpointer ranks) { g_array_free(ranks, TRUE); }

/* "## process_group:init ##" holds JSON in its input: [{"pg_name": "0", "ranks": [], "group_size":
 * 2}] */
static gboolean take_groups(Et *et, const Json *node, GError **error)
{
    const Json *values = pytorch_values(node, "inputs");
    const char *text = json_string(values ? values->first : NULL);
    if (!text)
        return TRUE;
    const char *path = input_path(et->reader->input);
    JsonDocument *document = json_parse(path, text, strlen(text), error);
    const Json *list = document ? json_root(document) : NULL;
    for (const Json *at = list ? list->first : NULL; at != NULL; at = at->next) {
        const char *name = json_string(json_get(at, "pg_name"));
        const Json *members = json_get(at, "ranks");
        gint64 size = 0;
        GArray *ranks = g_array_new(FALSE, FALSE, sizeof(guint32));
        for (const Json *m = members ? members->first : NULL; m != NULL; m = m->next) {
            guint64 rank = 0;
            guint32 small = json_u64(m, &rank) ? MIN(rank, RECORD_WORLD_MAX) : RECORD_WORLD_MAX;
            g_array_append_val(ranks, small);
        }
        json_i64(json_get(at, "group_size"), &size);
        g_hash_table_insert(et->groups, g_strdup(name ? name : ""), ranks);
        g_hash_table_insert(et->sizes, g_strdup(name ? name : ""),
                            GSIZE_TO_POINTER(CLAMP(size, 0, (gint64)RECORD_WORLD_MAX)));
    }
    gboolean ok = document != NULL;
    json_free(document);
    return ok;
}

static gboolean et_item(void *user, const Json *node, GError **error)
{
    Et *et = user;
    const char *name = json_string(json_get(node, "name"));
    if (!name)
        return TRUE;
    if (strstr(name, "process_group:init"))
        return take_groups(et, node, error);
    return strcmp(name, "record_param_comms") == 0 ? pytorch_take(et, node) : TRUE;
}

/* The ranks of a communication's group into `ranks`; FALSE: not known. */
static gboolean group_ranks(Et *et, const EtComm *comm, GArray *ranks)
{
    const char *name = et->reader->trace->names->pdata[comm->pg_name];
    const GArray *listed = g_hash_table_lookup(et->groups, name);
    gint64 size = comm->size > 0 ? comm->size : (gint64)GPOINTER_TO_SIZE(g_hash_table_lookup(et->sizes, name));
    g_array_set_size(ranks, 0);
    if (listed && listed->len > 0) {
        g_array_append_vals(ranks, listed->data, listed->len);
        return TRUE;
    }
    if (size <= 0 && !listed)
        size = et->reader->world_hint;
    gint64 start = CLAMP(comm->start, 0, RECORD_WORLD_MAX);
    gint64 stride = comm->stride > 0 ? MIN(comm->stride, RECORD_WORLD_MAX) : 1;
    for (gint64 i = 0; i < size && start + i * stride < RECORD_WORLD_MAX; i++) {
        guint32 rank = start + i * stride;
        g_array_append_val(ranks, rank);
    }
    return ranks->len > 0 && ranks->len == size;
}

static gboolean et_world(Et *et, GError **error)
{
    GArray *ranks = g_array_new(FALSE, FALSE, sizeof(guint32));
    guint32 world = MAX(et->reader->world_hint, et->reader->job_files);
    for (guint i = 0; i < et->comms->len; i++) {
        if (group_ranks(et, &g_array_index(et->comms, EtComm, i), ranks))
            for (guint k = 0; k < ranks->len; k++)
                world = MAX(world, g_array_index(ranks, guint32, k) + 1);
    }
    g_array_free(ranks, TRUE);
    if (et->reader->trace->world >= world)
        return TRUE; /* another file of the job knows more */
    et->reader->trace->world = 0;
    return reader_set_world(et->reader, world, error);
}

/* Element types that nothing names: by their bytes. */
static RecordDtype guess_dtype(Et *et, const EtComm *comm)
{
    static const RecordDtype by_bytes[] = {[1] = RECORD_U8, [2] = RECORD_BF16, [4] = RECORD_F32, [8] = RECORD_I64};
    gboolean known = comm->element_bytes == 1 || comm->element_bytes == 2 || comm->element_bytes == 4 ||
                     comm->element_bytes == 8;
    RecordDtype dtype = known ? by_bytes[comm->element_bytes] : RECORD_U8;
    char *what = g_strdup_printf("communications whose element type is not said are taken as %s%s",
                                 record_dtype_name(dtype), known ? ", by its bytes" : "");
    trace_count(et->reader->trace, what, record_op_name(comm->op), 0);
    g_free(what);
    return dtype;
}

static gboolean et_add(Et *et, EtComm *comm, guint32 rank, GError **error)
{
    Reader *reader = et->reader;
    Record record;
    record_init(&record, rank, RECORD_COMPUTE);
    record.source = comm->where;
    record.dtype = comm->has_dtype ? comm->dtype : guess_dtype(et, comm);
    GArray *ranks = g_array_new(FALSE, FALSE, sizeof(guint32));
    if (!comm->wrong && !group_ranks(et, comm, ranks)) {
        pytorch_wrong(comm, g_strdup_printf("the ranks of process group \"%s\" are not said; give --world "
                                            "N if it is all of them",
                                            (char *)reader->trace->names->pdata[comm->pg_name]));
    }
    if (!comm->wrong && MAX(comm->in_bytes, comm->out_bytes) > RECORD_BYTES_MAX)
        pytorch_wrong(comm, g_strdup("a communication of over 1 TiB on one rank"));
    gboolean message = comm->op == RECORD_SEND || comm->op == RECORD_RECV;
    if (!comm->wrong && message && (comm->rank < 0 || comm->rank >= (gint64)ranks->len))
        pytorch_wrong(comm, g_strdup("a send or recv should name its peer, a rank of its group, before its name"));
    gboolean ok = TRUE, good = FALSE;
    if (comm->wrong) {
        ok = reader_problem(reader, comm->where, "wrong collective", error, "%s", comm->wrong);
    } else {
        const char *name = reader->trace->names->pdata[comm->pg_name];
        record.op = comm->op;
        record.group = trace_group(reader->trace, name[0] != 0 ? name : "world", (guint32 *)(void *)ranks->data,
                                   ranks->len);
        record.stream = record.group;
        record_set_bytes_in(&record, comm->in_bytes, ranks->len);
        record.bytes_out = comm->out_bytes > 0 ? comm->out_bytes : record.bytes_out;
        if ((message || record_op_has_root(comm->op)) && comm->rank >= 0 && comm->rank < (gint64)ranks->len)
            record.peer = g_array_index(ranks, guint32, comm->rank);
        reader_empty(reader, &record);
        ok = reader_check(reader, &record, &good, error);
    }
    record.skipped = !good;
    trace_add(reader->trace, &record);
    g_array_free(ranks, TRUE);
    return ok;
}

static gboolean et_build(Et *et, GError **error)
{
    Reader *reader = et->reader;
    if (!et_world(et, error))
        return FALSE;
    gint64 rank = reader->name_rank >= 0 ? reader->name_rank : et->own_rank;
    if (reader->name_rank >= (gint64)reader->trace->world) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_VALUE,
                    "%s: is of rank %" G_GINT64_FORMAT
                    " by its name, but its groups are of %u ranks: give --world N, or the files "
                    "of all ranks",
                    input_path(reader->input), reader->name_rank, reader->trace->world);
        return FALSE;
    }
    if (rank < 0 || rank >= reader->trace->world)
        rank = 0;
    trace_present(reader->trace, (guint32)rank);
    reader->trace->replicate = reader->job_files < reader->trace->world;
    trace_note(reader->trace,
               "%s: execution traces carry no times: communications only, one after another in each group",
               input_path(reader->input));
    gboolean ok = TRUE;
    for (guint i = 0; i < et->comms->len && ok; i++)
        ok = et_add(et, &g_array_index(et->comms, EtComm, i), rank, error);
    return ok;
}

static gboolean et_read(Reader *reader, GError **error)
{
    Et et = {
        .reader = reader,
        .comms = g_array_new(FALSE, FALSE, sizeof(EtComm)),
        .groups = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_ranks),
        .sizes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
        .own_rank = -1,
    };
    JsonHandler handler = {.array = "nodes", .item = et_item, .user = &et};
    GError *broken = NULL;
    gboolean ok = json_stream(reader->input, &handler, &broken) || reader_skip(reader, &broken, error);
    ok = ok && et_build(&et, error);
    for (guint i = 0; i < et.comms->len; i++)
        g_free(g_array_index(et.comms, EtComm, i).wrong);
    g_array_free(et.comms, TRUE);
    g_hash_table_destroy(et.groups);
    g_hash_table_destroy(et.sizes);
    return ok;
}

const TraceFormat trace_format_pytorch_et = {
    .name = "pytorch-et",
    .title = "PyTorch execution trace",
    .probe = et_probe,
    .read = et_read,
    .per_rank = TRUE,
};
