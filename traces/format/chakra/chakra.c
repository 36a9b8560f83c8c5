/* Chakra nodes become records. */
#include "traces/format/chakra/chakra.h"

#include <string.h>

const char *const chakra_attribute_names[CHAKRA_ATTRIBUTES] = {
    "is_cpu_op",     "comm_type",          "comm_size",        "comm_src",     "comm_dst",         "comm_tag",
    "num_ops",       "root_rank",          "fanout_out_bytes", "fanout_dtype", "fanout_reduction", "fanout_stream",
    "fanout_gap_ps", "fanout_duration_ps", "fanout_start_ps",  "fanout_step",  "fanout_is_gap"};

static const RecordOp comm_types[] = {RECORD_ALL_REDUCE,     RECORD_REDUCE,    RECORD_ALL_GATHER, RECORD_GATHER,
                                      RECORD_SCATTER,        RECORD_BROADCAST, RECORD_ALL_TO_ALL, RECORD_REDUCE_SCATTER,
                                      RECORD_REDUCE_SCATTER, RECORD_BARRIER};

int chakra_attribute_by_name(const char *name)
{
    for (int i = 0; i < CHAKRA_ATTRIBUTES; i++)
        if (strcmp(name, chakra_attribute_names[i]) == 0)
            return i;
    return -1;
}

static gboolean chakra_op(gint64 comm_type, RecordOp *op)
{
    if (comm_type < 0 || comm_type >= (gint64)G_N_ELEMENTS(comm_types))
        return FALSE;
    *op = comm_types[comm_type];
    return TRUE;
}

int chakra_comm_type(RecordOp op)
{
    for (guint i = 0; i < G_N_ELEMENTS(comm_types); i++)
        if (comm_types[i] == op)
            return i;
    return -1;
}

static gboolean read_groups_file(Chakra *chakra, const char *path, GError **error)
{
    Input *input = input_open(path, NULL, NULL, error);
    JsonDocument *document = input ? json_read(input, error) : NULL;
    gboolean ok = document && chakra_groups(chakra, json_root(document), path, error);
    json_free(document);
    input_close(input);
    return ok;
}

static void free_ids(gpointer ids) { g_array_free(ids, TRUE); }

gboolean chakra_init(Chakra *chakra, Reader *reader, GError **error)
{
    *chakra = (Chakra){
        .reader = reader,
        .rank = MAX(reader->name_rank, 0),
        .ids = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL),
        .deps = g_array_new(FALSE, FALSE, 2 * sizeof(guint64)),
        .groups = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
        .gaps = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, free_ids),
    };
    if (reader->world_hint > 0) {
        if (!reader_set_world(reader, reader->world_hint, error))
            return FALSE;
        if (chakra->rank >= reader->world_hint) {
            g_set_error(error, TRACE_ERROR, TRACE_ERROR_MATCH,
                        "%s: is rank %u by its name, but the job "
                        "has %u ranks",
                        input_path(reader->input), chakra->rank, reader->world_hint);
            return FALSE;
        }
        if (reader->job_files == 1 && reader->world_hint > 1)
            reader->trace->replicate = TRUE;
    }
    return !reader->spec->groups_path || read_groups_file(chakra, reader->spec->groups_path, error);
}

void chakra_clear(Chakra *chakra)
{
    g_hash_table_destroy(chakra->ids);
    g_hash_table_destroy(chakra->groups);
    g_hash_table_destroy(chakra->gaps);
    g_array_free(chakra->deps, TRUE);
}

static gboolean add_group(Chakra *chakra, const char *name, const Json *list, const char *where, GError **error)
{
    GArray *ranks = g_array_new(FALSE, FALSE, sizeof(guint32));
    gboolean ok = name && list && list->type == JSON_ARRAY && list->first;
    for (const Json *at = ok ? list->first : NULL; at && ok; at = at->next) {
        guint64 rank;
        ok = json_u64(at, &rank) && rank < RECORD_WORLD_MAX;
        guint32 small = ok ? rank : 0;
        g_array_append_val(ranks, small);
    }
    if (ok) {
        guint32 group = trace_group(chakra->reader->trace, name, (guint32 *)(void *)ranks->data, ranks->len);
        g_hash_table_insert(chakra->groups, g_strdup(name), GUINT_TO_POINTER(group + 1));
    } else {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_VALUE,
                    "%s: group '%s' should be a list of ranks, "
                    "like {\"0\": [0, 1, 2, 3]}",
                    where, name ? name : "");
    }
    g_array_free(ranks, TRUE);
    return ok;
}

gboolean chakra_groups(Chakra *chakra, const Json *groups, const char *where, GError **error)
{
    for (const Json *at = groups->first; at != NULL; at = at->next) {
        gboolean listed = groups->type == JSON_ARRAY;
        if (!add_group(chakra, listed ? json_string(json_get(at, "pg_name")) : at->key,
                       listed ? json_get(at, "ranks") : at, where, error))
            return FALSE;
    }
    return TRUE;
}

/* The group of a collective: by pg_name, or all ranks. FALSE with what is wrong in *problem. */
static gboolean find_group(Chakra *chakra, const ChakraNode *node, guint32 *group, const char **problem)
{
    Trace *trace = chakra->reader->trace;
    gboolean named = node->pg_name && node->pg_name[0] != 0;
    if (named) {
        guint found = GPOINTER_TO_UINT(g_hash_table_lookup(chakra->groups, node->pg_name));
        if (found != 0) {
            *group = found - 1;
            return TRUE;
        }
    }
    if (node->partial_dims) {
        *problem = "involved_dim leaves out network dimensions, which this file does not define; "
                   "name groups "
                   "with pg_name and --groups";
        return FALSE;
    }
    if (named && g_hash_table_size(chakra->groups) > 0) {
        *problem = "pg_name is none of the groups given";
        return FALSE;
    }
    if (trace->world == 0) {
        *problem = "the number of ranks is not known: give the files of all ranks, --world N, or "
                   "--groups FILE";
        return FALSE;
    }
    if (named && strcmp(node->pg_name, "0") != 0 && strcmp(node->pg_name, "default_pg") != 0) {
        *problem = "pg_name names a group whose ranks are not in the file; give them with --groups FILE";
        return FALSE;
    }
    *group = trace_group_world(trace, trace->world);
    return TRUE;
}

static const char *fill_collective(Chakra *chakra, const ChakraNode *node, Record *record)
{
    const char *problem = NULL;
    record->op = RECORD_COMPUTE;
    if (!chakra_op(node->value[CHAKRA_COMM_TYPE], &record->op))
        return "comm_type should be 0 (all-reduce) to 9 (barrier)";
    if (!find_group(chakra, node, &record->group, &problem))
        return problem;
    gint64 size = node->value[CHAKRA_COMM_SIZE];
    guint32 n = trace_group_at(chakra->reader->trace, record->group)->n;
    if (size < 0 || (guint64)size > RECORD_BYTES_MAX)
        return "comm_size should be 1 byte to 1 TiB";
    gboolean parts = record->op == RECORD_REDUCE_SCATTER || record->op == RECORD_SCATTER;
    if (parts && !node->has[CHAKRA_OUT_BYTES])
        size = (gint64)reader_shared_bytes(chakra->reader, record->op, (guint64)size, n);
    if (!record_set_bytes_in(record, size, n) && !node->has[CHAKRA_OUT_BYTES])
        return "comm_size should stay below 1 TiB over all ranks";
    if (node->has[CHAKRA_ROOT]) {
        if (node->value[CHAKRA_ROOT] < 0 || node->value[CHAKRA_ROOT] >= RECORD_WORLD_MAX)
            return "root_rank should be a rank";
        record->peer = node->value[CHAKRA_ROOT];
    }
    return NULL;
}

static const char *fill_message(Chakra *chakra, const ChakraNode *node, Record *record)
{
    ChakraAttribute peer = node->type == CHAKRA_SEND ? CHAKRA_COMM_DST : CHAKRA_COMM_SRC;
    if (!node->has[peer])
        return peer == CHAKRA_COMM_DST ? "a send should have comm_dst" : "a receive should have comm_src";
    if (!node->has[CHAKRA_COMM_SIZE] || node->value[CHAKRA_COMM_SIZE] < 0 ||
        node->value[CHAKRA_COMM_SIZE] > (gint64)RECORD_BYTES_MAX)
        return "comm_size should be 1 byte to 1 TiB";
    if (node->value[peer] < 0 || node->value[peer] >= RECORD_WORLD_MAX)
        return "the peer should be a rank";
    if (node->value[CHAKRA_COMM_TAG] < G_MININT32 || node->value[CHAKRA_COMM_TAG] > G_MAXUINT32)
        return "comm_tag should be a number of 32 bits";
    record->op = node->type == CHAKRA_SEND ? RECORD_SEND : RECORD_RECV;
    record->peer = node->value[peer];
    record->tag = node->value[CHAKRA_COMM_TAG];
    record->bytes_in = record->bytes_out = node->value[CHAKRA_COMM_SIZE];
    guint group = node->pg_name ? GPOINTER_TO_UINT(g_hash_table_lookup(chakra->groups, node->pg_name)) : 0;
    record->group = group != 0 ? group - 1 : RECORD_NO_GROUP;
    return NULL;
}

/* Attributes of files written here. */
static const char *fill_own(const ChakraNode *node, Record *record)
{
    const gint64 *v = node->value;
    if (node->has[CHAKRA_OUT_BYTES])
        record->bytes_out = v[CHAKRA_OUT_BYTES];
    if (v[CHAKRA_DTYPE] < 0 || v[CHAKRA_DTYPE] >= RECORD_DTYPES || v[CHAKRA_REDUCTION] < 0 ||
        v[CHAKRA_REDUCTION] >= RECORD_REDUCTIONS || v[CHAKRA_STREAM] < 0 || v[CHAKRA_STEP] < 0 ||
        v[CHAKRA_STREAM] >= RECORD_NO_STREAM || v[CHAKRA_STEP] > G_MAXINT32 || v[CHAKRA_OUT_BYTES] < 0 ||
        v[CHAKRA_START_PS] < 0 || v[CHAKRA_DURATION_PS] < 0 || v[CHAKRA_GAP_PS] < 0)
        return "an attribute fanout_... is out of its range";
    record->dtype = node->has[CHAKRA_DTYPE] ? (RecordDtype)v[CHAKRA_DTYPE] : RECORD_F32;
    record->reduction = v[CHAKRA_REDUCTION];
    record->gap_ps = v[CHAKRA_GAP_PS];
    record->stream = node->has[CHAKRA_STREAM] ? (guint32)v[CHAKRA_STREAM] : RECORD_NO_STREAM;
    record->step = node->has[CHAKRA_STEP] ? v[CHAKRA_STEP] : RECORD_NO_STEP;
    record->start_ps = node->has[CHAKRA_START_PS] ? (guint64)v[CHAKRA_START_PS] : RECORD_NO_TIME;
    if (node->has[CHAKRA_DURATION_PS])
        record->duration_ps = v[CHAKRA_DURATION_PS];
    return NULL;
}

static const char *fill_record(Chakra *chakra, const ChakraNode *node, Record *record)
{
    if (node->type == 0 || node->type >= CHAKRA_TYPES)
        return "the node type should be 1 (metadata) to 10 (checkpoint)";
    if (node->duration_us > RECORD_PS_MAX / 1000000)
        return "the duration should be at most a day";
    record->duration_ps = node->duration_us * 1000000;
    const char *problem = NULL;
    if (node->type == CHAKRA_SEND || node->type == CHAKRA_RECV) {
        problem = fill_message(chakra, node, record);
    } else if (node->type == CHAKRA_COLLECTIVE && node->has[CHAKRA_COMM_TYPE] && node->has[CHAKRA_COMM_SIZE]) {
        problem = fill_collective(chakra, node, record);
    } else if (node->type == CHAKRA_COLLECTIVE) {
        if (node->has[CHAKRA_IS_CPU_OP] && !node->value[CHAKRA_IS_CPU_OP])
            return "a collective on the GPU should have comm_type and comm_size";
        chakra->host_nodes++;
    }
    if (!problem)
        problem = fill_own(node, record);
    chakra->unknown_times += record->op == RECORD_COMPUTE && record->duration_ps == 0 &&
                             node->value[CHAKRA_NUM_OPS] > 0;
    return problem;
}

static gint64 *boxed(gint64 value)
{
    gint64 *box = g_new(gint64, 1);
    *box = value;
    return box;
}

gboolean chakra_add(Chakra *chakra, ChakraNode *node, GError **error)
{
    Reader *reader = chakra->reader;
    Record record;
    record_init(&record, chakra->rank, RECORD_COMPUTE);
    record.source = node->where;
    record.name = trace_name(reader->trace, node->name ? node->name : "");
    gboolean ok = TRUE, good = FALSE;
    if (node->where.node < 0 || g_hash_table_contains(chakra->ids, &node->where.node)) {
        ok = reader_problem(reader, node->where, "doubled node", error,
                            "another node has this id; ids should differ and be below 2^63");
        g_clear_pointer(&node->bad_text, g_free);
        return ok;
    }
    if (node->has[CHAKRA_IS_GAP] && !node->bad_text) { /* the node behind it carries the gap itself */
        g_hash_table_insert(chakra->gaps, boxed(node->where.node), g_array_copy(node->deps));
        return TRUE;
    }
    const char *problem = node->bad_text ? node->bad_text : fill_record(chakra, node, &record);
    if (problem) {
        gboolean grouped = record.op != RECORD_COMPUTE && record.group != RECORD_NO_GROUP;
        ok = reader_problem(reader, node->where, "wrong node", error, "'%s': %s", node->name ? node->name : "",
                            problem);
        record.op = grouped ? record.op : RECORD_COMPUTE;
        record.duration_ps = 0;
    } else {
        reader_empty(reader, &record);
        ok = reader_check(reader, &record, &good, error);
    }
    record.skipped = !good;
    if (ok) {
        guint32 index = trace_add(reader->trace, &record);
        g_hash_table_insert(chakra->ids, boxed(node->where.node), GUINT_TO_POINTER(index + 1));
        for (guint i = 0; i < node->deps->len; i++) {
            guint64 pair[2] = {index, g_array_index(node->deps, guint64, i)};
            g_array_append_val(chakra->deps, pair);
        }
    }
    g_clear_pointer(&node->bad_text, g_free);
    return ok;
}

static gboolean resolve(Chakra *chakra, guint32 index, gint64 id, GError **error)
{
    Trace *trace = chakra->reader->trace;
    guint on = GPOINTER_TO_UINT(g_hash_table_lookup(chakra->ids, &id));
    if (on != 0) {
        trace_add_dep(trace, index, on - 1);
        return TRUE;
    }
    Record *record = trace_record(trace, index);
    record->skipped = TRUE;
    return reader_problem(chakra->reader, record->source, "dependency on a missing node", error,
                          "waits for node %" G_GUINT64_FORMAT ", which the file does not have", (guint64)id);
}

gboolean chakra_finish(Chakra *chakra, GError **error)
{
    Trace *trace = chakra->reader->trace;
    for (guint i = 0; i < chakra->deps->len; i++) {
        const guint64 *pair = (const guint64 *)(const void *)chakra->deps->data + 2 * i;
        gint64 id = pair[1];
        const GArray *gap = g_hash_table_lookup(chakra->gaps, &id);
        gboolean ok = gap || resolve(chakra, pair[0], id, error);
        for (guint k = 0; gap && k < gap->len && ok; k++)
            ok = resolve(chakra, pair[0], g_array_index(gap, guint64, k), error);
        if (!ok)
            return FALSE;
    }
    if (chakra->host_nodes > 0) {
        trace_note(trace,
                   "%s: %" G_GUINT64_FORMAT " COMM_COLL nodes without comm_size are the host's side "
                   "and take their recorded time only",
                   input_path(chakra->reader->input), chakra->host_nodes);
    }
    if (chakra->unknown_times > 0) {
        trace_note(trace, "%s: %" G_GUINT64_FORMAT " computations give num_ops but no duration and take no time",
                   input_path(chakra->reader->input), chakra->unknown_times);
    }
    return TRUE;
}
