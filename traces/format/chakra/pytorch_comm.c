/* record_param_comms nodes of PyTorch execution traces. */
#include "traces/format/chakra/pytorch.h"

#include <string.h>

static const Json *attribute(const Json *node, const char *name)
{
    const Json *attrs = json_get(node, "attrs");
    for (const Json *at = attrs ? attrs->first : NULL; at != NULL; at = at->next) {
        const char *own = json_string(json_get(at, "name"));
        if (own && strcmp(own, name) == 0)
            return json_get(at, "value");
    }
    return NULL;
}

const Json *pytorch_values(const Json *node, const char *key)
{
    const Json *io = json_get(node, key);
    return io && io->type == JSON_OBJECT ? json_get(io, "values") : io;
}

/* "input_types": [..] before 1.0.2, then "inputs": {"types": [..]}. */
static const Json *types_of(const Json *node, const char *old, const char *key)
{
    const Json *types = json_get(node, old);
    return types ? types : json_get(json_get(node, key), "types");
}

/* The first element type in "GenericList[Tensor(float),Tensor(float)]"; FALSE: there is none that
 * is known. */
static gboolean tensor_dtype(const Json *types, RecordDtype *dtype)
{
    const char *text = types ? json_string(types->first) : NULL;
    const char *at = text ? strstr(text, "Tensor(") : NULL;
    if (!at)
        return FALSE;
    at += strlen("Tensor(");
    char *name = g_strndup(at, strcspn(at, ")"));
    guint bytes;
    gboolean known = reader_torch_dtype(name, dtype, &bytes);
    g_free(name);
    return known;
}

/* The bytes of an element of the first tensor in a value; 0: there is none. */
static guint element_bytes(const Json *value)
{
    guint64 size = 0;
    if (!value || value->type != JSON_ARRAY || !value->first)
        return 0;
    if (value->first->type == JSON_ARRAY)
        return element_bytes(value->first);
    const Json *at = value->first;
    for (guint i = 0; i < 4 && at; i++)
        at = at->next;
    return value->n == 6 && json_u64(at, &size) && size <= 16 ? size : 0;
}

/* Bytes of the tensors in a value: a tensor is [id, storage, offset, elements, element bytes,
 * device]. */
static guint64 tensor_bytes(const Json *value)
{
    if (!value || value->type != JSON_ARRAY)
        return 0;
    const Json *part[6] = {NULL};
    guint i = 0;
    for (const Json *at = value->first; at && i < 6; at = at->next)
        part[i++] = at;
    guint64 elements, size, bytes = 0;
    if (value->n == 6 && json_string(part[5]) && json_u64(part[3], &elements) && json_u64(part[4], &size))
        return elements > RECORD_BYTES_MAX / MAX(size, 1) ? RECORD_BYTES_MAX + 1 : elements * size;
    for (const Json *at = value->first; at != NULL; at = at->next)
        bytes = MIN(bytes + tensor_bytes(at), RECORD_BYTES_MAX + 1);
    return bytes;
}

static gboolean is_no_collective(const char *name)
{
    static const char *const names[] = {
        "wait", "init", "wait_tensor", "startcoalescing", "monitored_barrier", "endcoalescing", "coalesced"};
    for (guint i = 0; i < G_N_ELEMENTS(names); i++)
        if (strcmp(name, names[i]) == 0)
            return TRUE;
    return FALSE;
}

/* The positional form: [tensors], seq, (pg_name, pg_desc), rank, "broadcast", in_split, out_split,
 * start, stride, size. Fields before the name and behind the splits are missing in older ones. */
static const char *take_positions(Et *et, EtComm *comm, const Json *values)
{
    const Json *before[3] = {NULL}, *at = values ? values->first : NULL;
    const char *name = NULL;
    const Json *tensors = at;
    for (; at && !name; at = at->next) {
        RecordOp op;
        const char *text = json_string(at);
        if (text && (reader_torch_op(text, &op) || is_no_collective(text))) {
            name = text;
            break;
        }
        before[2] = before[1];
        before[1] = before[0];
        before[0] = at;
    }
    if (!name)
        return NULL;
    json_i64(before[0], &comm->rank);
    const Json *group = before[1] && before[1]->type == JSON_ARRAY ? before[1]->first : NULL;
    if (json_string(group))
        comm->pg_name = trace_name(et->reader->trace, json_string(group));
    comm->in_bytes = tensor_bytes(tensors);
    comm->element_bytes = element_bytes(tensors);
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

void pytorch_wrong(EtComm *comm, char *text)
{
    if (!comm->wrong)
        comm->wrong = text;
    else
        g_free(text);
}

static void attribute_number(EtComm *comm, const Json *node, const char *name, gint64 *value)
{
    const Json *member = attribute(node, name);
    if (member && (!json_i64(member, value) || *value < 0)) {
        char *is = json_describe(member);
        pytorch_wrong(comm, g_strdup_printf("\"%s\" is %s; it should be a whole number of 0 or more", name, is));
        g_free(is);
    }
}

/* The named form overrides. */
static void take_attributes(Et *et, EtComm *comm, const Json *node)
{
    const char *dtype = json_string(attribute(node, "dtype")), *pg = json_string(attribute(node, "pg_name"));
    gint64 in = -1, out = -1;
    guint bytes = 0;
    attribute_number(comm, node, "in_msg_nelems", &in);
    attribute_number(comm, node, "out_msg_nelems", &out);
    attribute_number(comm, node, "global_rank_start", &comm->start);
    attribute_number(comm, node, "global_rank_stride", &comm->stride);
    attribute_number(comm, node, "pg_size", &comm->size);
    comm->has_dtype |= dtype != NULL;
    if (dtype && !reader_torch_dtype(dtype, &comm->dtype, &bytes)) {
        pytorch_wrong(
            comm, g_strdup_printf("unknown dtype \"%.60s\"; PyTorch's are Float, Half, BFloat16, Long, ...", dtype));
    }
    if (pg)
        comm->pg_name = trace_name(et->reader->trace, pg);
    if (bytes > 0 && in >= 0) {
        gboolean fits = in <= (gint64)(RECORD_BYTES_MAX / bytes) && out <= (gint64)(RECORD_BYTES_MAX / bytes);
        comm->in_bytes = fits ? (guint64)in * bytes : RECORD_BYTES_MAX + 1;
        comm->out_bytes = fits && out > 0 ? (guint64)out * bytes : 0;
    }
}

gboolean pytorch_take(Et *et, const Json *node)
{
    EtComm comm = {.where = reader_here(et->reader, node->line, node->byte, -1),
                   .start = -1,
                   .stride = -1,
                   .size = -1,
                   .rank = -1};
    json_i64(json_get(node, "id"), &comm.where.node);
    const char *name = take_positions(et, &comm, pytorch_values(node, "inputs"));
    comm.out_bytes = tensor_bytes(pytorch_values(node, "outputs"));
    comm.has_dtype = tensor_dtype(types_of(node, "input_types", "inputs"), &comm.dtype) ||
                     tensor_dtype(types_of(node, "output_types", "outputs"), &comm.dtype);
    const char *named = json_string(attribute(node, "collective_name"));
    name = named ? named : name;
    if (name && is_no_collective(name)) {
        et->waits++;
        return TRUE;
    }
    RecordOp op;
    if (!name || !reader_torch_op(name, &op)) {
        trace_count(et->reader->trace, "communications that are not known are left out",
                    name ? name : "a record_param_comms without a name", 0);
        return TRUE;
    }
    take_attributes(et, &comm, node);
    comm.op = op;
    if (!record_op_has_root(comm.op) && comm.op != RECORD_SEND && comm.op != RECORD_RECV && comm.rank >= 0)
        et->own_rank = comm.rank;
    g_array_append_val(et->comms, comm);
    return TRUE;
}
