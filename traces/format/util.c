/* What readers share: messages, checks, names and lists. */
#include <string.h>

#include "traces/format/reader.h"

RecordSource reader_here(const Reader *reader, guint32 line, guint64 byte, gint64 node)
{
    return (RecordSource){reader->file, line, byte, node};
}

gboolean reader_problem(Reader *reader, RecordSource where, const char *reason, GError **error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = g_strdup_vprintf(format, args);
    va_end(args);
    char *at = trace_where(reader->trace, &where);
    char *message = g_strconcat(at, text, NULL);
    char *valid = g_utf8_make_valid(message, -1);
    if (reader->spec->lenient)
        trace_skip(reader->trace, reason, valid);
    else
        g_set_error_literal(error, TRACE_ERROR, TRACE_ERROR_VALUE, valid);
    g_free(text);
    g_free(at);
    g_free(message);
    g_free(valid);
    return reader->spec->lenient;
}

gboolean reader_skip(Reader *reader, GError **broken, GError **error)
{
    if (reader->spec->lenient && g_error_matches(*broken, TRACE_ERROR, TRACE_ERROR_CUT_OFF)) {
        trace_skip(reader->trace, "file ends too early", (*broken)->message);
        g_clear_error(broken);
        return TRUE;
    }
    g_propagate_error(error, *broken);
    *broken = NULL;
    return FALSE;
}

guint64 reader_shared_bytes(Reader *reader, RecordOp op, guint64 bytes, guint32 n)
{
    guint64 more = n > 0 && bytes % n > 0 ? n - bytes % n : 0;
    if (more > 0) {
        trace_count(reader->trace, "sizes that the group's ranks cannot share alike are rounded up", record_op_name(op),
                    0);
    }
    return bytes + more;
}

gboolean reader_empty(Reader *reader, Record *record)
{
    if (record->op == RECORD_COMPUTE || record->op == RECORD_BARRIER || record->op == RECORD_ALL_TO_ALL ||
        record_bytes(record) > 0)
        return FALSE;
    trace_count(reader->trace, "communications of 0 bytes move nothing", record_op_name(record->op), 0);
    record->op = RECORD_COMPUTE;
    record->group = RECORD_NO_GROUP;
    record->peer = RECORD_NO_PEER;
    return TRUE;
}

gboolean reader_check(Reader *reader, const Record *record, gboolean *good, GError **error)
{
    const char *name = record_op_name(record->op);
    *good = FALSE;
    if (record->gap_ps > RECORD_PS_MAX || record->duration_ps > RECORD_PS_MAX) {
        return reader_problem(reader, record->source, "absurd duration", error,
                              "%s lasts over a day; durations should be at most 86400 s", name);
    }
    if (record->op == RECORD_COMPUTE) {
        *good = TRUE;
        return TRUE;
    }
    gboolean may = record->op == RECORD_BARRIER || record->op == RECORD_ALL_TO_ALL; /* whose ranks differ */
    if (record_bytes(record) == 0 && !may) {
        return reader_problem(reader, record->source, "0 bytes", error,
                              "%s of 0 bytes; a communication should move at least 1 byte", name);
    }
    if (record_bytes(record) > RECORD_BYTES_MAX) {
        return reader_problem(reader, record->source, "absurd size", error,
                              "%s of %" G_GUINT64_FORMAT " bytes on one rank; sizes should be at most "
                              "1 TiB",
                              name, record_bytes(record));
    }
    if (record->op == RECORD_SEND || record->op == RECORD_RECV) {
        if (record->peer < 0 || (guint32)record->peer == record->rank) {
            return reader_problem(reader, record->source, "wrong peer", error,
                                  "%s of rank %u with peer %d; the peer should be another rank", name, record->rank,
                                  record->peer);
        }
        *good = TRUE;
        return TRUE;
    }
    const RecordGroup *group = trace_group_at(reader->trace, record->group);
    if (group->names_rank_twice) {
        return reader_problem(reader, record->source, "wrong group", error,
                              "%s in group '%s', which names a rank twice; each should be named once", name,
                              group->name);
    }
    gboolean member = record_group_place(group, record->rank) != RECORD_NO_PLACE;
    gboolean root = !record_op_has_root(record->op) || record->peer < 0 ||
                    record_group_place(group, record->peer) != RECORD_NO_PLACE;
    if (!member || !root) {
        return reader_problem(reader, record->source, member ? "wrong root" : "not in its group", error,
                              "%s in group '%s' %s rank %d, which is not one of its %u members", name, group->name,
                              member ? "has as root" : "is run by", member ? record->peer : (gint32)record->rank,
                              group->n);
    }
    *good = TRUE;
    return TRUE;
}

gboolean reader_parse_ranks(const char *text, GArray *ranks)
{
    const char *at = text;
    while (*at == ' ' || *at == '[')
        at++;
    while (g_ascii_isdigit(*at)) {
        char *end;
        guint64 from = g_ascii_strtoull(at, &end, 10), to = from;
        if (*end == '-' && g_ascii_isdigit(end[1]))
            to = g_ascii_strtoull(end + 1, &end, 10);
        if (to < from || to >= RECORD_WORLD_MAX || ranks->len + (to - from) >= RECORD_WORLD_MAX)
            return FALSE;
        for (guint64 r = from; r <= to; r++) {
            guint32 rank = r;
            g_array_append_val(ranks, rank);
        }
        at = end;
        while (*at == ' ')
            at++;
        if (*at != ',')
            break;
        at++;
        while (*at == ' ')
            at++;
        if (!g_ascii_isdigit(*at))
            return FALSE;
    }
    at += *at == ']';
    return *at == 0;
}

gboolean reader_set_world(Reader *reader, guint64 world, GError **error)
{
    Trace *trace = reader->trace;
    const char *path = input_path(reader->input);
    if (world == 0 || world > RECORD_WORLD_MAX) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_VALUE, "%s: %" G_GUINT64_FORMAT " ranks; a job should have 1 to %u",
                    path, world, RECORD_WORLD_MAX);
        return FALSE;
    }
    guint32 given = reader->spec->world;
    if (given != 0 && given != world) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_MATCH,
                    "%s: says %" G_GUINT64_FORMAT
                    " ranks, but --world says %u; leave --world out where the files say it",
                    path, world, given);
        return FALSE;
    }
    if (trace->world != 0 && trace->world != world) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_MATCH,
                    "%s: says %" G_GUINT64_FORMAT " ranks, but %s says %u; files of one job should agree", path, world,
                    (char *)trace->files->pdata[0], trace->world);
        return FALSE;
    }
    trace->world = world;
    return TRUE;
}

/* "nccl:_all_gather_into_tensor_coalesced", "c10d::allgather_", "allgather" -> "allgather": PyTorch has
 * several names for one operation, which differ in who calls it and how tensors are handed over. */
static char *torch_stem(const char *name)
{
    static const char *const ends[] = {"_coalesced", "_into_tensor", "_tensor", "_base", "_single",
                                       "_oop",       "_out",         "_sparse", "_"};
    const char *colon = strrchr(name, ':');
    char *stem = g_ascii_strdown(colon ? colon + 1 : name, -1);
    for (gboolean cut = TRUE; cut;) {
        cut = FALSE;
        for (guint i = 0; i < G_N_ELEMENTS(ends); i++) {
            if (g_str_has_suffix(stem, ends[i])) {
                stem[strlen(stem) - strlen(ends[i])] = 0;
                cut = TRUE;
            }
        }
    }
    char *to = stem;
    for (const char *from = stem; *from != 0; from++)
        if (*from != '_')
            *to++ = *from;
    *to = 0;
    return stem;
}

static const struct {
    const char *stem;
    RecordOp op;
} torch_ops[] = {
    {"allreduce", RECORD_ALL_REDUCE},
    {"allgather", RECORD_ALL_GATHER},
    {"reducescatter", RECORD_REDUCE_SCATTER},
    {"broadcast", RECORD_BROADCAST},
    {"reduce", RECORD_REDUCE},
    {"alltoall", RECORD_ALL_TO_ALL},
    {"alltoallv", RECORD_ALL_TO_ALL},
    {"gather", RECORD_GATHER},
    {"scatter", RECORD_SCATTER},
    {"barrier", RECORD_BARRIER},
    {"allreducebarrier", RECORD_BARRIER}, /* as flight recorders call it since PyTorch 2.6 */
    {"send", RECORD_SEND},
    {"isend", RECORD_SEND},
    {"recv", RECORD_RECV},
    {"irecv", RECORD_RECV},
    {"recvanysource", RECORD_RECV},
};

gboolean reader_torch_op(const char *name, RecordOp *op)
{
    char *stem = torch_stem(name);
    gboolean found = FALSE;
    for (guint i = 0; i < G_N_ELEMENTS(torch_ops) && !found; i++) {
        found = strcmp(stem, torch_ops[i].stem) == 0;
        *op = found ? torch_ops[i].op : *op;
    }
    g_free(stem);
    return found;
}

static const struct {
    const char *name; /* in lower case */
    RecordDtype dtype;
    guint bytes;
} torch_dtypes[] = {
    {"float", RECORD_F32, 4},
    {"float32", RECORD_F32, 4},
    {"half", RECORD_F16, 2},
    {"float16", RECORD_F16, 2},
    {"c10::half", RECORD_F16, 2},
    {"bfloat16", RECORD_BF16, 2},
    {"c10::bfloat16", RECORD_BF16, 2},
    {"double", RECORD_F64, 8},
    {"float64", RECORD_F64, 8},
    {"long", RECORD_I64, 8},
    {"long int", RECORD_I64, 8},
    {"int64", RECORD_I64, 8},
    {"int", RECORD_I32, 4},
    {"int32", RECORD_I32, 4},
    {"short", RECORD_I16, 2},
    {"int16", RECORD_I16, 2},
    {"char", RECORD_I8, 1},
    {"signed char", RECORD_I8, 1},
    {"int8", RECORD_I8, 1},
    {"byte", RECORD_U8, 1},
    {"unsigned char", RECORD_U8, 1},
    {"uint8", RECORD_U8, 1},
    {"bool", RECORD_U8, 1},
    {"float8_e4m3fn", RECORD_E4M3, 1},
    {"float8_e4m3fnuz", RECORD_E4M3, 1},
    {"float8_e5m2", RECORD_E5M2, 1},
    {"float8_e5m2fnuz", RECORD_E5M2, 1},
    {"float8_e8m0fnu", RECORD_U8, 1},
    {"c10::float8_e4m3fn", RECORD_E4M3, 1},
    {"c10::float8_e5m2", RECORD_E5M2, 1},
    {"float4_e2m1fn_x2", RECORD_U8, 1},
    {"uint16", RECORD_I16, 2},
    {"uint32", RECORD_U32, 4},
    {"uint64", RECORD_U64, 8},
    {"complexhalf", RECORD_F16, 4},
    {"complexfloat", RECORD_F32, 8},
    {"complexdouble", RECORD_F64, 16},
};

gboolean reader_torch_dtype(const char *name, RecordDtype *dtype, guint *bytes)
{
    char *lower = g_ascii_strdown(name, -1);
    gboolean found = FALSE;
    for (guint i = 0; i < G_N_ELEMENTS(torch_dtypes) && !found; i++) {
        if (strcmp(lower, torch_dtypes[i].name) == 0) {
            *dtype = torch_dtypes[i].dtype;
            *bytes = torch_dtypes[i].bytes;
            found = TRUE;
        }
    }
    g_free(lower);
    return found;
}
