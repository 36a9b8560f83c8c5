/* PyTorch execution traces (ET JSON, what Chakra traces are converted from): the record_param_comms
 * nodes.
 *
 * These traces have no durations: operations of one process group follow one another, groups run
 * side by side, and no computation is replayed. Sizes come from the named attributes (schema 1.1.0)
 * or, before that, from the tensors in the positional inputs. */
#include <string.h>

#include "traces/format/reader.h"

typedef struct {
    RecordSource where;
    RecordOp op;
    RecordDtype dtype;
    guint64 in_bytes, out_bytes;
    gint64 start, stride, size; /* of the group's ranks; -1: not said */
    gint64 rank; /* positional: the root of rooted operations, else the own rank; -1 */
    guint32 pg_name;
    char *wrong;
} EtComm;

typedef struct {
    Reader *reader;
    GArray *comms;
    GHashTable *groups; /* pg_name -> GArray of ranks; empty: 0 .. size-1 */
    GHashTable *sizes;  /* pg_name -> size */
    gint64 own_rank;
    guint64 waits;
} Et;

static int et_probe(const char *head, gsize n)
{
    (void)n;
    gboolean schema = strstr(head, "\"schema\"") != NULL && strstr(head, "\"nodes\"") != NULL;
    return schema ? 90 : strstr(head, "[pytorch|profiler|execution_trace") != NULL ? 85 : 0;
}

static void free_ranks(gpointer ranks)
{
    g_array_free(ranks, TRUE);
}

static const Json *attribute(const Json *node, const char *name)
{
    const Json *attrs = json_get(node, "attrs");
    for (const Json *at = attrs != NULL ? attrs->first : NULL; at != NULL; at = at->next) {
        const char *own = json_string(json_get(at, "name"));
        if (own != NULL && strcmp(own, name) == 0) {
            return json_get(at, "value");
        }
    }
    return NULL;
}

/* "inputs": {"values": [..]} since 1.0.2, "inputs": [..] before. */
static const Json *values_of(const Json *node, const char *key)
{
    const Json *io = json_get(node, key);
    return io != NULL && io->type == JSON_OBJECT ? json_get(io, "values") : io;
}

/* Bytes of the tensors in a value: a tensor is [id, storage, offset, elements, element bytes,
 * device]. */
static guint64 tensor_bytes(const Json *value)
{
    if (value == NULL || value->type != JSON_ARRAY) {
        return 0;
    }
    const Json *part[6] = {NULL};
    guint i = 0;
    for (const Json *at = value->first; at != NULL && i < 6; at = at->next) {
        part[i++] = at;
    }
    guint64 elements, size, bytes = 0;
    if (value->n == 6 && json_string(part[5]) != NULL && json_u64(part[3], &elements) &&
        json_u64(part[4], &size)) {
        return elements > RECORD_BYTES_MAX / MAX(size, 1) ? RECORD_BYTES_MAX + 1 : elements * size;
    }
    for (const Json *at = value->first; at != NULL; at = at->next) {
        bytes = MIN(bytes + tensor_bytes(at), RECORD_BYTES_MAX + 1);
    }
    return bytes;
}

static gboolean is_no_collective(const char *name)
{
    static const char *const names[] = {"wait", "init", "wait_tensor", "startcoalescing",
                                        "monitored_barrier"};
    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        if (strcmp(name, names[i]) == 0) {
            return TRUE;
        }
    }
    return FALSE;
}

/* The positional form: [tensors], seq, (pg_name, pg_desc), rank, "broadcast", in_split, out_split,
 * start, stride, size. Fields before the name and behind the splits are missing in older ones. */
static const char *take_positions(Et *et, EtComm *comm, const Json *values)
{
    const Json *before[3] = {NULL}, *at = values != NULL ? values->first : NULL;
    const char *name = NULL;
    const Json *tensors = at;
    for (; at != NULL && name == NULL; at = at->next) {
        RecordOp op;
        const char *text = json_string(at);
        if (text != NULL && (reader_torch_op(text, &op) || is_no_collective(text))) {
            name = text;
            break;
        }
        before[2] = before[1];
        before[1] = before[0];
        before[0] = at;
    }
    if (name == NULL) {
        return NULL;
    }
    json_i64(before[0], &comm->rank);
    const Json *group =
        before[1] != NULL && before[1]->type == JSON_ARRAY ? before[1]->first : NULL;
    if (json_string(group) != NULL) {
        comm->pg_name = trace_name(et->reader->trace, json_string(group));
    }
    comm->in_bytes = tensor_bytes(tensors);
    gint64 last[3] = {-1, -1, -1};
    for (at = at->next; at != NULL; at = at->next) {
        if (at->type == JSON_NUMBER) {
            last[0] = last[1];
            last[1] = last[2];
            json_i64(at, &last[2]);
        }
    }
    comm->start = last[0];
    comm->stride = last[1];
    comm->size = last[2];
    return name;
}

static void wrong(EtComm *comm, char *text)
{
    if (comm->wrong == NULL) {
        comm->wrong = text;
    } else {
        g_free(text);
    }
}

static void attribute_number(EtComm *comm, const Json *node, const char *name, gint64 *value)
{
    const Json *member = attribute(node, name);
    if (member != NULL && (!json_i64(member, value) || *value < 0)) {
        char *is = json_describe(member);
        wrong(comm,
              g_strdup_printf("\"%s\" is %s; it should be a whole number of 0 or more", name, is));
        g_free(is);
    }
}

/* The named form overrides. */
static void take_attributes(Et *et, EtComm *comm, const Json *node)
{
    const char *dtype = json_string(attribute(node, "dtype")),
               *pg = json_string(attribute(node, "pg_name"));
    gint64 in = -1, out = -1;
    guint bytes = 0;
    attribute_number(comm, node, "in_msg_nelems", &in);
    attribute_number(comm, node, "out_msg_nelems", &out);
    attribute_number(comm, node, "global_rank_start", &comm->start);
    attribute_number(comm, node, "global_rank_stride", &comm->stride);
    attribute_number(comm, node, "pg_size", &comm->size);
    if (dtype != NULL && !reader_torch_dtype(dtype, &comm->dtype, &bytes)) {
        wrong(comm, g_strdup_printf(
                        "unknown dtype \"%.60s\"; PyTorch's are Float, Half, BFloat16, Long, ...",
                        dtype));
    }
    if (pg != NULL) {
        comm->pg_name = trace_name(et->reader->trace, pg);
    }
    if (bytes > 0 && in >= 0) {
        gboolean fits =
            in <= (gint64)(RECORD_BYTES_MAX / bytes) && out <= (gint64)(RECORD_BYTES_MAX / bytes);
        comm->in_bytes = fits ? (guint64)in * bytes : RECORD_BYTES_MAX + 1;
        comm->out_bytes = fits && out > 0 ? (guint64)out * bytes : 0;
    }
}

static gboolean take_comm(Et *et, const Json *node)
{
    EtComm comm = {.where = reader_here(et->reader, node->line, node->byte, -1),
                   .start = -1,
                   .stride = -1,
                   .size = -1,
                   .rank = -1};
    json_i64(json_get(node, "id"), &comm.where.node);
    const char *name = take_positions(et, &comm, values_of(node, "inputs"));
    comm.out_bytes = tensor_bytes(values_of(node, "outputs"));
    const char *named = json_string(attribute(node, "collective_name"));
    name = named != NULL ? named : name;
    if (name != NULL && is_no_collective(name)) {
        et->waits++;
        return TRUE;
    }
    take_attributes(et, &comm, node);
    if (name == NULL || !reader_torch_op(name, &comm.op)) {
        wrong(&comm, g_strdup_printf(
                         "unknown collective \"%.60s\"; known are allreduce, broadcast, allgather, "
                         "reduce_scatter, alltoall and their variants",
                         name != NULL ? name : ""));
    } else if (!record_op_has_root(comm.op) && comm.op != RECORD_SEND && comm.op != RECORD_RECV &&
               comm.rank >= 0) {
        et->own_rank = comm.rank;
    }
    g_array_append_val(et->comms, comm);
    return TRUE;
}

/* "## process_group:init ##" holds JSON in its input: [{"pg_name": "0", "ranks": [], "group_size":
 * 2}] */
static gboolean take_groups(Et *et, const Json *node, GError **error)
{
    const Json *values = values_of(node, "inputs");
    const char *text = json_string(values != NULL ? values->first : NULL);
    if (text == NULL) {
        return TRUE;
    }
    const char *path = input_path(et->reader->input);
    JsonDocument *document = json_parse(path, text, strlen(text), error);
    const Json *list = document != NULL ? json_root(document) : NULL;
    for (const Json *at = list != NULL ? list->first : NULL; at != NULL; at = at->next) {
        const char *name = json_string(json_get(at, "pg_name"));
        const Json *members = json_get(at, "ranks");
        gint64 size = 0;
        GArray *ranks = g_array_new(FALSE, FALSE, sizeof(guint32));
        for (const Json *m = members != NULL ? members->first : NULL; m != NULL; m = m->next) {
            guint64 rank = 0;
            guint32 small = json_u64(m, &rank) ? MIN(rank, RECORD_WORLD_MAX) : RECORD_WORLD_MAX;
            g_array_append_val(ranks, small);
        }
        json_i64(json_get(at, "group_size"), &size);
        g_hash_table_insert(et->groups, g_strdup(name != NULL ? name : ""), ranks);
        g_hash_table_insert(et->sizes, g_strdup(name != NULL ? name : ""),
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
    if (name == NULL) {
        return TRUE;
    }
    if (strstr(name, "process_group:init") != NULL) {
        return take_groups(et, node, error);
    }
    return strcmp(name, "record_param_comms") == 0 ? take_comm(et, node) : TRUE;
}

/* The ranks of a communication's group into `ranks`; FALSE: not known. */
static gboolean group_ranks(Et *et, const EtComm *comm, GArray *ranks)
{
    const char *name = et->reader->trace->names->pdata[comm->pg_name];
    const GArray *listed = g_hash_table_lookup(et->groups, name);
    gint64 size = comm->size > 0 ? comm->size
                                 : (gint64)GPOINTER_TO_SIZE(g_hash_table_lookup(et->sizes, name));
    g_array_set_size(ranks, 0);
    if (listed != NULL && listed->len > 0) {
        g_array_append_vals(ranks, listed->data, listed->len);
        return TRUE;
    }
    if (size <= 0 && listed == NULL) {
        size = et->reader->world_hint;
    }
    gint64 start = MAX(comm->start, 0), stride = comm->stride > 0 ? comm->stride : 1;
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
        if (group_ranks(et, &g_array_index(et->comms, EtComm, i), ranks)) {
            for (guint k = 0; k < ranks->len; k++) {
                world = MAX(world, g_array_index(ranks, guint32, k) + 1);
            }
        }
    }
    g_array_free(ranks, TRUE);
    if (et->reader->trace->world >= world) {
        return TRUE; /* another file of the job knows more */
    }
    et->reader->trace->world = 0;
    return reader_set_world(et->reader, world, error);
}

static gboolean et_add(Et *et, EtComm *comm, guint32 rank, GError **error)
{
    Reader *reader = et->reader;
    Record record;
    record_init(&record, rank, RECORD_COMPUTE);
    record.source = comm->where;
    record.dtype = comm->dtype;
    GArray *ranks = g_array_new(FALSE, FALSE, sizeof(guint32));
    if (comm->wrong == NULL && !group_ranks(et, comm, ranks)) {
        wrong(comm, g_strdup_printf("the ranks of process group \"%s\" are not said; give --world "
                                    "N if it is all of them",
                                    (char *)reader->trace->names->pdata[comm->pg_name]));
    }
    if (comm->wrong == NULL && MAX(comm->in_bytes, comm->out_bytes) > RECORD_BYTES_MAX) {
        wrong(comm, g_strdup("a communication of over 1 TiB on one rank"));
    }
    gboolean message = comm->op == RECORD_SEND || comm->op == RECORD_RECV;
    if (comm->wrong == NULL && message && (comm->rank < 0 || comm->rank >= (gint64)ranks->len)) {
        wrong(
            comm,
            g_strdup("a send or recv should name its peer, a rank of its group, before its name"));
    }
    gboolean ok = TRUE, good = FALSE;
    if (comm->wrong != NULL) {
        ok = reader_problem(reader, comm->where, "wrong collective", error, "%s", comm->wrong);
    } else {
        const char *name = reader->trace->names->pdata[comm->pg_name];
        record.op = comm->op;
        record.group = trace_group(reader->trace, name[0] != 0 ? name : "world",
                                   (guint32 *)(void *)ranks->data, ranks->len);
        record.stream = record.group;
        record_set_bytes_in(&record, comm->in_bytes, ranks->len);
        record.bytes_out = comm->out_bytes > 0 ? comm->out_bytes : record.bytes_out;
        if ((message || record_op_has_root(comm->op)) && comm->rank >= 0 &&
            comm->rank < (gint64)ranks->len) {
            record.peer = g_array_index(ranks, guint32, comm->rank);
        }
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
    if (!et_world(et, error)) {
        return FALSE;
    }
    gint64 rank = reader->name_rank >= 0 ? reader->name_rank : et->own_rank;
    if (rank < 0 || rank >= reader->trace->world) {
        rank = 0;
    }
    reader->trace->replicate = reader->job_files == 1 && reader->trace->world > 1;
    trace_note(
        reader->trace,
        "%s: execution traces carry no times: communications only, one after another in each group",
        input_path(reader->input));
    gboolean ok = TRUE;
    for (guint i = 0; i < et->comms->len && ok; i++) {
        ok = et_add(et, &g_array_index(et->comms, EtComm, i), rank, error);
    }
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
    gboolean ok =
        json_stream(reader->input, &handler, &broken) || reader_forgive(reader, &broken, error);
    ok = ok && et_build(&et, error);
    for (guint i = 0; i < et.comms->len; i++) {
        g_free(g_array_index(et.comms, EtComm, i).wrong);
    }
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
