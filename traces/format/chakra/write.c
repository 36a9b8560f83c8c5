/* Writes Chakra .et files, one a rank, which read.c reads back identically. What the schema
 * has no name for (streams, dtypes, picoseconds) goes into attributes called fanout_...; tools that
 * do not know them still see the same graph: an operation's gap is a computation before it, its
 * stream's order a dependency. */
#include <string.h>

#include "traces/format/chakra/chakra.h"
#include "sim/report/file.h"
#include "traces/format/chakra/chakra.pb-c.h"
#include "traces/format/write.h"
#include "traces/record/replicate.h"

typedef struct {
    Chakra__Attribute attr[24];
    Chakra__Attribute *list[24];
    gsize n;
} Attributes;

static Chakra__Attribute *add_attribute(Attributes *to, const char *name)
{
    g_assert(to->n < G_N_ELEMENTS(to->attr));
    Chakra__Attribute *attr = &to->attr[to->n];
    chakra__attribute__init(attr);
    attr->name = (char *)name;
    to->list[to->n++] = attr;
    return attr;
}

static void add_integer(Attributes *to, const char *name, gint64 value)
{
    Chakra__Attribute *attr = add_attribute(to, name);
    attr->value_case = CHAKRA__ATTRIBUTE__VALUE_INT64_VAL;
    attr->int64_val = value;
}

static void add_known(Attributes *to, ChakraAttribute known, gint64 value)
{
    add_integer(to, chakra_attribute_names[known], value);
}

static void add_string(Attributes *to, const char *name, const char *value)
{
    Chakra__Attribute *attr = add_attribute(to, name);
    attr->value_case = CHAKRA__ATTRIBUTE__VALUE_STRING_VAL;
    attr->string_val = (char *)value;
}

static void append_message(GByteArray *to, const ProtobufCMessage *message)
{
    gsize n = protobuf_c_message_get_packed_size(message);
    guint8 length[10];
    guint used = 0;
    for (gsize left = n; used == 0 || left > 0; left >>= 7)
        length[used++] = (left & 0x7f) | (left > 0x7f ? 0x80 : 0);
    g_byte_array_append(to, length, used);
    guint at = to->len;
    g_byte_array_set_size(to, at + n);
    protobuf_c_message_pack(message, to->data + at);
}

/* Groups by a name that is theirs alone: pg_name is all a node has. */
static char *group_name(const Trace *trace, guint32 index)
{
    const RecordGroup *group = trace_group_at(trace, index);
    for (guint32 i = 0; i < trace->groups->len; i++)
        if (i != index && strcmp(trace_group_at(trace, i)->name, group->name) == 0)
            return g_strdup_printf("%s@%u", group->name, index);
    return g_strdup(group->name);
}

/* All ranks, by the name that they have where none is said: such nodes are written without a pg_name, which readers
 * take as all ranks. ASTRA-sim's knows no names but numbers. */
static gboolean group_goes_without_saying(const Trace *trace, guint32 index, const char *name)
{
    const RecordGroup *group = trace_group_at(trace, index);
    return group->n == trace->world && !group->order && strcmp(name, "world") == 0; /* as many, and they ascend */
}

static char *groups_json(const Trace *trace)
{
    GString *json = g_string_new("{");
    for (guint32 i = 0; i < trace->groups->len; i++) {
        const RecordGroup *group = trace_group_at(trace, i);
        char *name = group_name(trace, i);
        g_string_append(json, i > 0 ? ", " : "");
        json_append_quoted(json, name);
        g_string_append(json, ": [");
        for (guint32 r = 0; r < group->n; r++)
            g_string_append_printf(json, r > 0 ? ", %u" : "%u", group->ranks[r]);
        g_string_append_c(json, ']');
        g_free(name);
    }
    g_string_append_c(json, '}');
    return g_string_free(json, FALSE);
}

static void append_metadata(GByteArray *to, const Trace *trace, const char *groups)
{
    Chakra__Metadata metadata = CHAKRA__METADATA__INIT;
    Attributes attributes = {.n = 0};
    metadata.version = (char *)"0.0.4";
    add_string(&attributes, "schema", "1.0.2-chakra.0.0.4");
    add_integer(&attributes, "fanout_world", trace->world);
    add_string(&attributes, "process_groups", groups);
    metadata.n_attr = attributes.n;
    metadata.attr = attributes.list;
    append_message(to, &metadata.base);
}

static void add_communication(Attributes *to, const Trace *trace, const Record *r, char **names)
{
    if (r->op == RECORD_SEND || r->op == RECORD_RECV) {
        gboolean send = r->op == RECORD_SEND;
        add_known(to, CHAKRA_COMM_SRC, send ? (gint64)r->rank : r->peer);
        add_known(to, CHAKRA_COMM_DST, send ? r->peer : (gint64)r->rank);
        add_known(to, CHAKRA_COMM_TAG, r->tag);
    } else {
        add_known(to, CHAKRA_COMM_TYPE, chakra_comm_type(r->op));
        if (r->peer != RECORD_NO_PEER)
            add_known(to, CHAKRA_ROOT, r->peer);
    }
    if (r->group != RECORD_NO_GROUP && !group_goes_without_saying(trace, r->group, names[r->group]))
        add_string(to, "pg_name", names[r->group]);
    add_known(to, CHAKRA_COMM_SIZE, r->bytes_in);
    add_known(to, CHAKRA_OUT_BYTES, r->bytes_out);
    add_known(to, CHAKRA_DTYPE, r->dtype);
    add_known(to, CHAKRA_REDUCTION, r->reduction);
}

static ChakraType node_type(RecordOp op)
{
    return op == RECORD_COMPUTE ? CHAKRA_COMPUTE
           : op == RECORD_SEND  ? CHAKRA_SEND
           : op == RECORD_RECV  ? CHAKRA_RECV
                                : CHAKRA_COLLECTIVE;
}

static void add_own(Attributes *to, const Record *r)
{
    add_known(to, CHAKRA_DURATION_PS, r->duration_ps);
    if (r->stream != RECORD_NO_STREAM)
        add_known(to, CHAKRA_STREAM, r->stream);
    if (r->gap_ps > 0)
        add_known(to, CHAKRA_GAP_PS, r->gap_ps);
    if (r->start_ps != RECORD_NO_TIME)
        add_known(to, CHAKRA_START_PS, r->start_ps);
    if (r->step != RECORD_NO_STEP)
        add_known(to, CHAKRA_STEP, r->step);
}

/* A computation of the gap's length, which waits for what the operation waits for. */
static void append_gap(GByteArray *to, const Chakra__Node *of, guint64 id, guint64 gap_ps)
{
    Chakra__Node gap = *of;
    Attributes attributes = {.n = 0};
    add_known(&attributes, CHAKRA_IS_GAP, 1);
    add_known(&attributes, CHAKRA_DURATION_PS, gap_ps);
    gap.id = id;
    gap.name = (char *)"gap";
    gap.type = CHAKRA_COMPUTE;
    gap.duration_micros = (gap_ps + 500000) / 1000000;
    gap.n_attr = attributes.n;
    gap.attr = attributes.list;
    append_message(to, &gap.base);
}

static void append_node(GByteArray *to, const Trace *trace, guint32 index, const gint64 *ids, gint64 before,
                        gint64 *next_gap, char **names)
{
    Record record = record_effective(trace_record(trace, index));
    const Record *r = &record;
    Chakra__Node node = CHAKRA__NODE__INIT;
    Attributes attributes = {.n = 0};
    Chakra__Attribute *cpu = add_attribute(&attributes, "is_cpu_op");
    cpu->value_case = CHAKRA__ATTRIBUTE__VALUE_BOOL_VAL;
    guint64 ctrl = before;
    guint64 *data = g_new(guint64, r->dep_count + 1);
    for (guint32 d = 0; d < r->dep_count; d++)
        data[d] = ids[g_array_index(trace->deps, guint32, r->dep_first + d)];
    node.name = trace->names->pdata[r->name];
    node.n_ctrl_deps = before >= 0;
    node.ctrl_deps = &ctrl;
    node.n_data_deps = r->dep_count;
    node.data_deps = data;
    if (r->gap_ps > 0) {
        append_gap(to, &node, *next_gap, r->gap_ps);
        ctrl = (*next_gap)++;
        node.n_ctrl_deps = 1;
        node.n_data_deps = 0;
    }
    node.id = ids[index];
    node.type = node_type(r->op);
    node.duration_micros = (r->duration_ps + 500000) / 1000000;
    node.start_time_micros = r->start_ps != RECORD_NO_TIME ? r->start_ps / 1000000 : 0;
    if (r->op != RECORD_COMPUTE)
        add_communication(&attributes, trace, r, names);
    add_own(&attributes, r);
    node.n_attr = attributes.n;
    node.attr = attributes.list;
    append_message(to, &node.base);
    g_free(data);
}

/* The file's own ids where all of the rank's differ; else 0, 1, ... */
static void number_rank(const Trace *trace, guint32 first, guint32 end, gint64 *ids)
{
    GHashTable *seen = g_hash_table_new(g_int64_hash, g_int64_equal);
    gboolean own = TRUE;
    for (guint32 i = first; i < end; i++) {
        ids[i] = trace_record(trace, i)->source.node;
        own = own && ids[i] >= 0 && g_hash_table_add(seen, &ids[i]);
    }
    g_hash_table_destroy(seen);
    for (guint32 i = first; i < end && !own; i++)
        ids[i] = i - first;
}

static gboolean write_rank(const Trace *trace, guint32 rank, const char *prefix, const char *groups, char **names,
                           gint64 *ids, GError **error)
{
    guint32 first = trace->rank_first[rank], end = trace->rank_first[rank + 1];
    GByteArray *bytes = g_byte_array_new();
    GHashTable *last = g_hash_table_new(g_direct_hash, g_direct_equal); /* stream -> record + 1 */
    append_metadata(bytes, trace, groups);
    number_rank(trace, first, end, ids);
    gint64 next_gap = 0;
    for (guint32 i = first; i < end; i++)
        next_gap = MAX(next_gap, ids[i] + 1);
    for (guint32 i = first; i < end; i++) {
        const Record *r = trace_record(trace, i);
        gpointer stream = GUINT_TO_POINTER(r->stream);
        guint before = r->stream == RECORD_NO_STREAM ? 0 : GPOINTER_TO_UINT(g_hash_table_lookup(last, stream));
        append_node(bytes, trace, i, ids, before != 0 ? ids[before - 1] : -1, &next_gap, names);
        g_hash_table_insert(last, stream, GUINT_TO_POINTER(i + 1));
    }
    char *path = g_strdup_printf("%s.%u.et", prefix, rank);
    GError *inner = NULL;
    gboolean ok = file_write(path, (char *)bytes->data, bytes->len, &inner);
    if (!ok) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_WRITE, "%s", inner->message);
        g_clear_error(&inner);
    }
    g_free(path);
    g_hash_table_destroy(last);
    g_byte_array_free(bytes, TRUE);
    return ok;
}

gboolean write_chakra(Trace *trace, const char *prefix, GError **error)
{
    if (!trace_replicate(trace, error))
        return FALSE;
    char **names = g_new0(char *, trace->groups->len + 1);
    for (guint32 i = 0; i < trace->groups->len; i++)
        names[i] = group_name(trace, i);
    char *groups = groups_json(trace);
    gint64 *ids = g_new(gint64, trace->records->len + 1);
    gboolean ok = TRUE;
    for (guint32 rank = 0; rank < trace->world && ok; rank++)
        ok = write_rank(trace, rank, prefix, groups, names, ids, error);
    g_free(ids);
    g_free(groups);
    g_strfreev(names);
    return ok;
}
