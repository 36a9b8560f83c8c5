/* PyTorch's NCCL flight recorder: what each rank called last, as a pickle (TORCH_NCCL_DEBUG_INFO_TEMP_FILE) or JSON, a
 * file a rank. Each process group is a stream; times are the host's, of the calls, and are not replayed. */
#include <string.h>

#include "traces/format/flight/flight.h"
#include "traces/format/flight/pickle.h"

#define FLIGHT_BYTES_MAX ((gsize)1 << 30)

static gboolean holds(const char *head, gsize n, const char *word)
{
    gsize length = strlen(word);
    for (gsize i = 0; i + length <= n; i++) {
        const char *at = memchr(head + i, word[0], n - length + 1 - i);
        if (!at)
            return FALSE;
        i = (gsize)(at - head);
        if (memcmp(at, word, length) == 0)
            return TRUE;
    }
    return FALSE;
}

static int flight_probe(const char *head, gsize n)
{
    gboolean pickle = n > 2 && (guint8)head[0] == 0x80 && head[1] >= 2 && head[1] <= 5;
    gboolean entries = holds(head, n, "entries") || holds(head, n, "profiling_name");
    gboolean ours = holds(head, n, "pg_config") || holds(head, n, "pg_status") || holds(head, n, "nccl_version") ||
                    holds(head, n, "profiling_name") || holds(head, n, "nccl_comm_state");
    if (pickle)
        return entries || ours ? 95 : 0;
    head += strspn(head, " \t\r\n");
    return *head == '{' && entries && ours && !holds(head, strlen(head), "\"traceEvents\"") ? 93 : 0;
}

/* The whole input; NULL: GError. */
static GByteArray *read_all(Input *input, GError **error)
{
    GByteArray *bytes = g_byte_array_new();
    gssize got = 1;
    while (got > 0) {
        guint at = bytes->len;
        g_byte_array_set_size(bytes, at + (256u << 10));
        got = input_read(input, bytes->data + at, 256u << 10, error);
        g_byte_array_set_size(bytes, at + (guint)MAX(got, 0));
        if (bytes->len > FLIGHT_BYTES_MAX) {
            g_set_error(error, TRACE_ERROR, TRACE_ERROR_FORMAT, "%s: over 1 GiB; a flight recorder's dump is smaller",
                        input_path(input));
            got = -1;
        }
    }
    if (got < 0) {
        g_byte_array_free(bytes, TRUE);
        return NULL;
    }
    return bytes;
}

static JsonDocument *read_document(Input *input, GError **error)
{
    GByteArray *bytes = read_all(input, error);
    JsonDocument *document = NULL;
    if (bytes && bytes->len > 1 && bytes->data[0] == 0x80) {
        char *wrong = NULL;
        gsize length;
        char *text = pickle_to_json(bytes->data, bytes->len, &length, &wrong);
        if (text) {
            document = json_parse(input_path(input), text, length, error);
        } else {
            gboolean cut = strstr(wrong, "ends ") != NULL;
            g_set_error(error, TRACE_ERROR, cut ? TRACE_ERROR_CUT_OFF : TRACE_ERROR_FORMAT, "%s: pickle: %s",
                        input_path(input), wrong);
        }
        g_free(text);
        g_free(wrong);
    } else if (bytes) {
        document = json_parse(input_path(input), (const char *)bytes->data, bytes->len, error);
    }
    if (bytes)
        g_byte_array_free(bytes, TRUE);
    return document;
}

static void free_ranks(gpointer ranks) { g_array_free(ranks, TRUE); }

/* [0, 1], "[0, 1]", or an object that has them as "ranks". */
static GArray *ranks_of(const Json *value)
{
    GArray *ranks = g_array_new(FALSE, FALSE, sizeof(guint32));
    const Json *list = value->type == JSON_OBJECT ? json_get(value, "ranks") : value;
    gboolean ok = list != NULL;
    if (ok && list->type == JSON_STRING) {
        ok = reader_parse_ranks(list->text, ranks);
    } else if (ok && list->type == JSON_ARRAY) {
        for (const Json *at = list->first; at && ok; at = at->next) {
            guint64 rank;
            ok = json_u64(at, &rank) && rank < RECORD_WORLD_MAX;
            guint32 small = ok ? (guint32)rank : 0;
            g_array_append_val(ranks, small);
        }
    }
    if (!ok)
        g_array_set_size(ranks, 0);
    return ranks;
}

/* The groups of a dump, by name; and how many ranks the job has by them: 0: nothing says. */
static guint32 read_groups(const Json *root, GHashTable *groups)
{
    const Json *config = json_get(root, "pg_config");
    guint32 world = 0;
    for (const Json *at = config && config->type == JSON_OBJECT ? config->first : NULL; at != NULL; at = at->next) {
        GArray *ranks = ranks_of(at);
        const char *name = json_string(json_get(at, "name"));
        for (guint i = 0; i < ranks->len; i++)
            world = MAX(world, g_array_index(ranks, guint32, i) + 1);
        if (ranks->len > 0)
            g_hash_table_insert(groups, g_strdup(name ? name : at->key), ranks);
        else
            g_array_free(ranks, TRUE);
    }
    return world;
}

/* Bytes of tensors [[3, 4], [5]] of ["Float", "Half"]. FALSE: something in it is not understood. */
static gboolean tensors(const Json *sizes, const Json *dtypes, RecordDtype *dtype, guint64 *bytes)
{
    const Json *type = dtypes ? dtypes->first : NULL;
    *bytes = 0;
    for (const Json *at = sizes ? sizes->first : NULL; at != NULL; at = at->next) {
        guint64 n = 1, size;
        guint element = 4;
        const char *name = json_string(type);
        if (at->type != JSON_ARRAY || (name && !reader_torch_dtype(name, dtype, &element)))
            return FALSE;
        for (const Json *dim = at->first; dim != NULL; dim = dim->next)
            if (!json_u64(dim, &size) || __builtin_mul_overflow(n, size, &n))
                return FALSE;
        if (__builtin_mul_overflow(n, element, &n) || __builtin_add_overflow(*bytes, n, bytes) ||
            *bytes > RECORD_BYTES_MAX)
            return FALSE;
        type = type ? type->next : NULL;
    }
    return TRUE;
}

static FlightState state_of(const Json *entry)
{
    const char *state = json_string(json_get(entry, "state"));
    return g_strcmp0(state, "completed") == 0 ? FLIGHT_COMPLETED
           : g_strcmp0(state, "started") == 0 ? FLIGHT_STARTED
                                              : FLIGHT_SCHEDULED;
}

/* The group of a call: of the dump's groups by its name, else all ranks. */
static guint32 group_of(Flight *flight, const Json *entry)
{
    Trace *trace = flight->reader->trace;
    const Json *group = json_get(entry, "process_group");
    const char *name = json_string(group && group->type == JSON_ARRAY ? group->first : group);
    const GArray *ranks = name ? g_hash_table_lookup(flight->ranks, name) : NULL;
    if (!ranks) {
        trace_count(trace, "calls in groups whose ranks the dump does not say are taken for all ranks'",
                    name ? name : "", 0);
        return trace_group_world(trace, trace->world);
    }
    return trace_group(trace, name, (const guint32 *)(const void *)ranks->data, ranks->len);
}

/* "nccl:send 0->1", "nccl:recv 1<-0": the peer, a rank of the job. */
static gint32 peer_of(const char *name, RecordOp op, const RecordGroup *group)
{
    const char *arrow = strstr(name, op == RECORD_SEND ? "->" : "<-");
    guint64 place = G_MAXUINT64;
    if (arrow && g_ascii_isdigit(arrow[2])) /* "?": from any rank */
        place = g_ascii_strtoull(arrow + 2, NULL, 10);
    return place < group->n ? (gint32)group->ranks[place] : RECORD_NO_PEER;
}

static gboolean same_number(const Json *a, const Json *b, const char *key)
{
    guint64 x, y;
    return json_u64(json_get(a, key), &x) && json_u64(json_get(b, key), &y) && x == y;
}

/* "nccl:coalesced" behind the calls that were coalesced: it closes them, and is no call of its own. */
static gboolean closes(const Json *entry, const Json *before)
{
    const char *name = json_string(json_get(entry, "profiling_name"));
    return name && g_str_has_suffix(name, ":coalesced") && before && same_number(entry, before, "pg_id") &&
           (same_number(entry, before, "collective_seq_id") || same_number(entry, before, "p2p_seq_id"));
}

/* A call, unless it is none that can be replayed, which is counted. */
static void read_call(Flight *flight, const Json *entry, guint32 rank, gint64 first_ns)
{
    Trace *trace = flight->reader->trace;
    const char *name = json_string(json_get(entry, "profiling_name"));
    char *word = g_strndup(name ? name : "", name ? strcspn(name, " ") : 0);
    FlightCall call = {.state = state_of(entry)};
    gint64 node = -1, created = first_ns, duration_ns;
    RecordOp op = RECORD_COMPUTE;
    json_i64(json_get(entry, "record_id"), &node);
    gboolean known = reader_torch_op(word, &op);
    Record *record = &call.record;
    record_init(record, rank, op);
    record->source = reader_here(flight->reader, 0, 0, node);
    record->name = trace_name(trace, name ? name : "");
    const Json *in = json_get(entry, "input_sizes"), *out = json_get(entry, "output_sizes");
    known = known && tensors(in, json_get(entry, "input_dtypes"), &record->dtype, &record->bytes_in) &&
            tensors(out, json_get(entry, "output_dtypes"), &record->dtype, &record->bytes_out);
    call.message = op == RECORD_SEND || op == RECORD_RECV;
    if (op == RECORD_BARRIER) /* whose tensor of one element is no data */
        record->bytes_in = record->bytes_out = 0;
    if (known) {
        record->group = group_of(flight, entry);
        const RecordGroup *group = trace_group_at(trace, record->group);
        known = record_group_place(group, rank) != RECORD_NO_PLACE && !group->names_rank_twice;
        record->peer = call.message             ? peer_of(name, op, group)
                       : record_op_has_root(op) ? (gint32)group->ranks[0]
                                                : RECORD_NO_PEER;
        known = known && (!call.message || (record->peer >= 0 && (guint32)record->peer != rank));
        record->bytes_in = op == RECORD_RECV ? MAX(record->bytes_in, record->bytes_out) : record->bytes_in;
        record->bytes_out = call.message ? record->bytes_in : record->bytes_out;
        record->stream = record->group;
    }
    known = known && (record_bytes(record) > 0 || op == RECORD_BARRIER);
    if (!known) {
        trace_count(trace, "calls of which the dump does not say what or how much are left out",
                    word[0] != 0 ? word : "unknown", 0);
    }
    if (json_i64(json_get(entry, "time_created_ns"), &created) && created >= first_ns &&
        (guint64)(created - first_ns) <= RECORD_PS_MAX / 1000)
        record->start_ps = (guint64)(created - first_ns) * 1000;
    if (json_decimal(json_get(entry, "duration_ms"), 6, &duration_ns) && duration_ns >= 0 &&
        (guint64)duration_ns <= RECORD_PS_MAX / 1000)
        record->duration_ps = (guint64)duration_ns * 1000;
    gboolean sequenced = json_u64(json_get(entry, "collective_seq_id"), &call.sequence) ||
                         json_u64(json_get(entry, "seq_id"), &call.sequence);
    if (known && (sequenced || call.message))
        g_array_append_val(flight->calls, call);
    g_free(word);
}

static gboolean read_entries(Flight *flight, const Json *root, guint32 rank, GError **error)
{
    const Json *entries = json_get(root, "entries");
    if (!entries || entries->type != JSON_ARRAY) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_VALUE, "%s: should have \"entries\", a list of calls",
                    input_path(flight->reader->input));
        return FALSE;
    }
    gint64 first_ns = G_MAXINT64, created, id;
    flight->closed[rank] = entries->n == 0;
    for (const Json *at = entries->first; at != NULL; at = at->next) {
        first_ns = json_i64(json_get(at, "time_created_ns"), &created) ? MIN(first_ns, created) : first_ns;
        flight->closed[rank] |= json_i64(json_get(at, "record_id"), &id) && id == 0;
    }
    const Json *before = NULL;
    for (const Json *at = entries->first; at != NULL; before = at, at = at->next)
        if (!closes(at, before))
            read_call(flight, at, rank, first_ns);
    return TRUE;
}

static void flight_free(gpointer data)
{
    Flight *flight = data;
    g_array_free(flight->calls, TRUE);
    g_free(flight->dumped);
    g_free(flight->closed);
    g_free(flight);
}

/* Which rank the dump is of, once the number of ranks is known. */
static gboolean own_rank(Flight *flight, const Json *root, guint32 *rank, GError **error)
{
    Reader *reader = flight->reader;
    guint64 said;
    gint64 own = json_u64(json_get(root, "rank"), &said) && said < RECORD_WORLD_MAX ? (gint64)said : reader->name_rank;
    own = MAX(own, 0);
    if (own >= reader->trace->world || flight->dumped[own]) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_MATCH,
                    "%s: is of rank %" G_GINT64_FORMAT "%s; a job of %u ranks has one dump of each",
                    input_path(reader->input), own, own >= reader->trace->world ? "" : ", as another file is",
                    reader->trace->world);
        return FALSE;
    }
    flight->dumped[own] = 1;
    trace_present(reader->trace, (guint32)own);
    *rank = (guint32)own;
    return TRUE;
}

static gboolean flight_read(Reader *reader, GError **error)
{
    Flight *flight = *reader->state;
    GError *broken = NULL;
    JsonDocument *document = read_document(reader->input, &broken);
    if (!document)
        return reader_skip(reader, &broken, error);
    const Json *root = json_root(document);
    GHashTable *groups = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_ranks);
    guint32 world = read_groups(root, groups), rank = 0;
    world = MAX(world, MAX(reader->spec->world, MAX(reader->world_hint, 1)));
    world = reader->trace->world != 0 ? MAX(world, reader->trace->world) : world;
    gboolean ok = reader_set_world(reader, world, error);
    if (ok && !flight) {
        flight = g_new0(Flight, 1);
        flight->calls = g_array_new(FALSE, FALSE, sizeof(FlightCall));
        flight->dumped = g_new0(guint8, world);
        flight->closed = g_new0(guint8, world);
        *reader->state = flight;
    }
    if (ok) {
        flight->reader = reader;
        flight->ranks = groups;
        ok = own_rank(flight, root, &rank, error) && read_entries(flight, root, rank, error);
        flight->ranks = NULL;
    }
    g_hash_table_destroy(groups);
    json_free(document);
    return ok;
}

/* Judges, and adds what can be replayed. */
static gboolean flight_end(Reader *reader, GError **error)
{
    Flight *flight = *reader->state;
    Trace *trace = reader->trace;
    if (!flight)
        return TRUE;
    flight->reader = reader;
    flight_judge(flight);
    guint kept = 0;
    for (guint i = 0; i < flight->calls->len; i++) {
        FlightCall *call = &g_array_index(flight->calls, FlightCall, i);
        if (!call->drop) {
            trace_add(trace, &call->record);
            kept++;
        }
    }
    trace->replicate = reader->job_files < trace->world;
    if (kept == 0) {
        GString *found = g_string_new(NULL);
        for (guint i = 0; i < trace->notes->len; i++)
            g_string_append_printf(found, "%s%s", i > 0 ? "; " : "", (char *)trace->notes->pdata[i]);
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_VALUE, "%s: holds no call that all its ranks made%s%s", trace->name,
                    found->len > 0 ? ": " : "", found->str);
        g_string_free(found, TRUE);
        return FALSE;
    }
    trace_note(trace, "%s: a flight recorder's times are the host's: operations follow one another in each group",
               trace->name);
    return TRUE;
}

static void flight_identify(Input *input, TraceIdentity *identity)
{
    JsonDocument *document = read_document(input, NULL);
    guint64 rank;
    if (!document)
        return;
    GHashTable *groups = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_ranks);
    guint32 world = read_groups(json_root(document), groups);
    identity->world = world > 0 ? (gint64)world : -1;
    if (json_u64(json_get(json_root(document), "rank"), &rank) && rank < RECORD_WORLD_MAX)
        identity->rank = (gint64)rank;
    g_hash_table_destroy(groups);
    json_free(document);
}

const TraceFormat trace_format_flight = {
    .name = "flight-recorder",
    .title = "PyTorch NCCL flight recorder",
    .probe = flight_probe,
    .read = flight_read,
    .end = flight_end,
    .state_free = flight_free,
    .per_rank = TRUE,
    .identify = flight_identify,
};
