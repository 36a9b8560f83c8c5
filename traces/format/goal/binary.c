#include "traces/format/goal/binary.h"

#include <string.h>

#define COOKIE 4223u
#define TABLE_AT 6u /* behind ranks, cpu and nic */
#define NODE_BYTES 39u
#define FILE_MAX ((gsize)2000 << 20)

struct GoalBinary {
    GByteArray *table, *body;
    guint32 ranks;
};

static void put(GByteArray *to, guint64 number, guint bytes)
{
    for (guint i = 0; i < bytes; i++) {
        guint8 byte = (guint8)(number >> (8 * i));
        g_byte_array_append(to, &byte, 1);
    }
}

static gint edge_compare(gconstpointer a, gconstpointer b)
{
    const GoalEdge *x = a, *y = b;
    return x->on != y->on ? (x->on < y->on ? -1 : 1) : (x->node > y->node) - (x->node < y->node);
}

GoalBinary *goal_binary_new(guint32 ranks)
{
    GoalBinary *binary = g_new0(GoalBinary, 1);
    binary->table = g_byte_array_new();
    binary->body = g_byte_array_new();
    binary->ranks = ranks;
    return binary;
}

void goal_binary_add(GoalBinary *binary, const GArray *nodes, GArray *edges)
{
    guint64 base = TABLE_AT + (guint64)binary->ranks * 16;
    guint32 *waits = g_new0(guint32, nodes->len + 1), roots = 0;
    g_array_sort(edges, edge_compare);
    for (guint i = 0; i < edges->len; i++)
        waits[g_array_index(edges, GoalEdge, i).node]++;
    put(binary->table, base + binary->body->len, 8);
    put(binary->body, nodes->len, 4);
    for (guint i = 0; i < nodes->len; i++)
        roots += waits[i] == 0;
    put(binary->body, roots, 4);
    for (guint i = 0; i < nodes->len; i++)
        if (waits[i] == 0)
            put(binary->body, i, 4);
    for (guint i = 0, first = 0, end; i < nodes->len; i++, first = end) {
        const GoalNode *node = &g_array_index(nodes, GoalNode, i);
        for (end = first; end < edges->len && g_array_index(edges, GoalEdge, end).on == i; end++) {
        }
        put(binary->body, waits[i], 4);
        put(binary->body, node->type, 1);
        put(binary->body, node->peer, 4);
        put(binary->body, node->size, 8);
        put(binary->body, node->tag, 4);
        put(binary->body, 0, 2); /* cpu and nic */
        put(binary->body, end - first, 4);
        put(binary->body, first, 4);
        put(binary->body, 0, 4);
        put(binary->body, end, 4);
    }
    for (guint i = 0; i < edges->len; i++)
        put(binary->body, g_array_index(edges, GoalEdge, i).node, 4);
    put(binary->table, base + binary->body->len, 8);
    g_free(waits);
}

GByteArray *goal_binary_end(GoalBinary *binary)
{
    GByteArray *file = g_byte_array_new();
    put(file, COOKIE, 8);
    put(file, binary->ranks, 4);
    put(file, 0, 1); /* the highest cpu, */
    put(file, 0, 1); /* and nic: one of each */
    g_byte_array_append(file, binary->table->data, binary->table->len);
    g_byte_array_append(file, binary->body->data, binary->body->len);
    g_byte_array_free(binary->table, TRUE);
    g_byte_array_free(binary->body, TRUE);
    g_free(binary);
    return file;
}

/* ---- reading */

typedef struct {
    Reader *reader;
    const guint8 *data; /* behind the cookie */
    gsize bytes;
    guint32 rank;
    gsize begin, end;            /* of the rank */
    guint32 nodes, roots, first; /* first: record of the rank's node 0 */
} Binary;

static guint64 get(const guint8 *at, guint bytes)
{
    guint64 number = 0;
    for (guint i = 0; i < bytes; i++)
        number |= (guint64)at[i] << (8 * i);
    return number;
}

static int binary_probe(const char *head, gsize n)
{
    return n >= 8 + TABLE_AT && get((const guint8 *)head, 8) == COOKIE ? 91 : 0;
}

static const guint8 *node_at(const Binary *b, guint32 node)
{
    return b->data + b->begin + 8 + (gsize)b->roots * 4 + (gsize)node * NODE_BYTES;
}

/* The appendix, and how many numbers are in it. */
static const guint8 *appendix(const Binary *b, guint64 *n)
{
    const guint8 *at = node_at(b, b->nodes);
    *n = (guint64)(b->data + b->end - at) / 4;
    return at;
}

static gboolean broken(const Binary *b, const char *what, GError **error)
{
    g_set_error(error, TRACE_ERROR, TRACE_ERROR_CUT_OFF, "%s: rank %u: %s; it ends too early, or is of another version",
                input_path(b->reader->input), b->rank, what);
    return FALSE;
}

/* Fits the rank's header into the file. */
static gboolean open_rank(Binary *b, GError **error)
{
    const guint8 *entry = b->data + TABLE_AT + (gsize)b->rank * 16;
    guint64 begin = get(entry, 8), end = get(entry + 8, 8);
    if (begin > b->bytes || end > b->bytes || end < begin || end - begin < 8)
        return broken(b, "its schedule lies outside of the file", error);
    b->begin = begin;
    b->end = end;
    b->nodes = (guint32)get(b->data + begin, 4);
    b->roots = (guint32)get(b->data + begin + 4, 4);
    guint64 fixed = 8 + (guint64)b->roots * 4 + (guint64)b->nodes * NODE_BYTES;
    return fixed <= end - begin || broken(b, "its nodes lie outside of its schedule", error);
}

guint64 goal_message_bytes(Reader *reader, RecordOp op, guint64 bytes)
{
    if (bytes == 0)
        trace_count(reader->trace, "messages of 0 bytes, which their receivers wait for, move 1", record_op_name(op),
                    0);
    return MAX(bytes, 1);
}

static gboolean read_node(Binary *b, guint32 node, GError **error)
{
    const guint8 *at = node_at(b, node);
    guint8 type = at[4];
    guint64 peer = get(at + 5, 4), size = get(at + 9, 8);
    Record record;
    gboolean ok, good = FALSE;
    record_init(&record, b->rank, type == GOAL_SEND ? RECORD_SEND : type == GOAL_RECV ? RECORD_RECV : RECORD_COMPUTE);
    record.source = reader_here(b->reader, 0, 8 + (guint64)(at - b->data), node);
    record.tag = (guint32)get(at + 17, 4);
    const char *wrong = NULL;
    if (type == GOAL_CALC) {
        wrong = size > RECORD_PS_MAX / 1000 ? "calc should be nanoseconds, at most a day" : NULL;
        record.duration_ps = !wrong ? size * 1000 : 0;
    } else if (type != GOAL_SEND && type != GOAL_RECV) {
        wrong = "the operation should be 1 (send), 2 (recv) or 3 (calc)";
    } else if (type == GOAL_RECV && record.tag == G_MAXUINT32) {
        wrong = "receives of any tag cannot be matched before the run; name the tag";
    } else if (peer >= b->reader->trace->world) {
        wrong = peer == G_MAXUINT32 ? "receives from any rank cannot be matched before the run; name the rank"
                                    : "the peer should be a rank of the job";
    } else {
        record.peer = (gint32)peer;
        size = goal_message_bytes(b->reader, record.op, size);
        record.bytes_in = record.bytes_out = MIN(size, RECORD_BYTES_MAX + 1);
    }
    if (wrong) {
        ok = reader_problem(b->reader, record.source, "wrong operation", error, "%s", wrong);
        record.op = RECORD_COMPUTE;
    } else {
        ok = reader_check(b->reader, &record, &good, error);
    }
    record.skipped = !good;
    trace_add(b->reader->trace, &record);
    return ok;
}

/* Who waits for a node's end; and who for its start, which is for what the node itself waits for. */
static gboolean read_edges(Binary *b, guint32 node, GArray *starts, GArray *waits, GError **error)
{
    guint64 n;
    const guint8 *list = appendix(b, &n), *at = node_at(b, node);
    for (guint way = 0; way < 2; way++) {
        guint64 count = get(at + 23 + 8 * way, 4), first = get(at + 27 + 8 * way, 4);
        if (count == 0)
            continue;
        if (first + count > n)
            return broken(b, "a node's dependencies lie outside of the appendix", error);
        for (guint64 i = 0; i < count; i++) {
            guint64 other = get(list + (first + i) * 4, 4);
            if (other >= b->nodes)
                return broken(b, "a node is waited for by one that is not there", error);
            GoalEdge start = {node, (guint32)other}, wait = {(guint32)other, node};
            if (way == 0) {
                trace_add_dep(b->reader->trace, b->first + (guint32)other, b->first + node);
                g_array_append_val(waits, wait);
            } else {
                g_array_append_val(starts, start);
            }
        }
    }
    return TRUE;
}

/* Starts: what the earlier node waits for. waits: {node, what it waits for}. */
static void add_starts(Binary *b, const GArray *starts, GArray *waits)
{
    g_array_sort(waits, edge_compare);
    for (guint i = 0; i < starts->len; i++) {
        const GoalEdge *start = &g_array_index(starts, GoalEdge, i);
        guint low = 0, high = waits->len;
        while (low < high) {
            guint middle = low + (high - low) / 2;
            if (g_array_index(waits, GoalEdge, middle).on < start->on)
                low = middle + 1;
            else
                high = middle;
        }
        for (; low < waits->len && g_array_index(waits, GoalEdge, low).on == start->on; low++) {
            trace_add_dep(b->reader->trace, b->first + start->node,
                          b->first + g_array_index(waits, GoalEdge, low).node);
        }
    }
}

static gboolean read_rank(Binary *b, GError **error)
{
    GArray *starts = g_array_new(FALSE, FALSE, sizeof(GoalEdge));
    GArray *waits = g_array_new(FALSE, FALSE, sizeof(GoalEdge));
    gboolean ok = open_rank(b, error);
    b->first = b->reader->trace->records->len;
    for (guint32 i = 0; ok && i < b->nodes; i++)
        ok = read_node(b, i, error);
    for (guint32 i = 0; ok && i < b->nodes; i++)
        ok = read_edges(b, i, starts, waits, error);
    if (ok)
        add_starts(b, starts, waits);
    g_array_free(starts, TRUE);
    g_array_free(waits, TRUE);
    return ok;
}

static gboolean binary_read(Reader *reader, GError **error)
{
    GByteArray *all = g_byte_array_new();
    gboolean ok = TRUE;
    for (gssize got = 1; got > 0 && ok;) {
        guint at = all->len;
        g_byte_array_set_size(all, at + (1u << 20));
        got = input_read(reader->input, all->data + at, 1u << 20, error);
        g_byte_array_set_size(all, at + (guint)MAX(got, 0));
        ok = got >= 0 && all->len <= FILE_MAX;
        if (got >= 0 && !ok)
            g_set_error(error, TRACE_ERROR, TRACE_ERROR_FORMAT, "%s: over 2000 MiB", input_path(reader->input));
    }
    guint64 world = ok && all->len >= 8 + TABLE_AT ? get(all->data + 8, 4) : 0;
    if (ok && (world == 0 || get(all->data, 8) != COOKIE || (all->len - 8 - TABLE_AT) / 16 < world)) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_CUT_OFF, "%s: no table of all ranks' schedules; it ends too early",
                    input_path(reader->input));
        ok = FALSE;
    }
    ok = ok && reader_set_world(reader, world, error);
    Binary b = {.reader = reader, .data = all->data + 8, .bytes = all->len >= 8 ? all->len - 8 : 0};
    for (; ok && b.rank < world; b.rank++)
        ok = read_rank(&b, error);
    g_byte_array_free(all, TRUE);
    return ok;
}

const TraceFormat trace_format_goal_binary = {
    .name = "goal-binary",
    .title = "GOAL schedule, binary",
    .probe = binary_probe,
    .read = binary_read,
};
