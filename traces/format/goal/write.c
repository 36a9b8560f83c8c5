/* Writes GOAL schedules: sends, receives and calculations, with the collectives taken apart.
 *
 * all-reduce, all-gather, reduce-scatter: ring; broadcast and reduce: binomial tree; gather,
 * scatter, all-to-all: direct; barrier: dissemination. The bytes are those that the algorithm
 * moves; a compute gap is a calculation. */
#include "traces/format/write.h"
#include "sim/report/file.h"
#include "traces/format/goal/binary.h"
#include "traces/record/match.h"

typedef struct {
    const Trace *trace;
    const Match *match;
    GString *to;
    guint32 next;          /* label */
    guint32 tag_base;      /* of collectives: above all tags of messages */
    GArray *before;        /* guint32: labels that the next operation requires */
    guint32 *end;          /* label at which each record has ended */
    GoalBinary *binary;    /* NULL: text */
    GArray *nodes, *edges; /* of the rank, for it: GoalNode, GoalEdge */
} Goal;

static void emit_node(Goal *goal, guint32 label, const char *what, guint64 number, gint64 peer, guint32 tag)
{
    GoalNode node = {.type = peer < 0 ? GOAL_CALC : what[0] == 's' ? GOAL_SEND : GOAL_RECV, .size = number};
    if (peer >= 0) {
        node.peer = (guint32)peer;
        node.tag = tag;
        node.size = MAX(number, 1);
    }
    g_array_append_val(goal->nodes, node);
    for (guint i = 0; i < goal->before->len; i++) {
        GoalEdge edge = {g_array_index(goal->before, guint32, i) - 1, label - 1};
        g_array_append_val(goal->edges, edge);
    }
}

static guint32 emit(Goal *goal, const char *what, guint64 number, gint64 peer, guint32 tag)
{
    guint32 label = goal->next++;
    if (goal->binary) {
        emit_node(goal, label, what, number, peer, tag);
        return label;
    }
    if (peer < 0) {
        g_string_append_printf(goal->to, "l%u: calc %" G_GUINT64_FORMAT "\n", label, number);
    } else {
        g_string_append_printf(goal->to, "l%u: %s %" G_GUINT64_FORMAT "b %s %" G_GINT64_FORMAT " tag %u\n", label, what,
                               MAX(number, 1), what[0] == 's' ? "to" : "from", peer, tag);
    }
    for (guint i = 0; i < goal->before->len; i++)
        g_string_append_printf(goal->to, "l%u requires l%u\n", label, g_array_index(goal->before, guint32, i));
    return label;
}

/* What follows requires this label alone. */
static void after(Goal *goal, guint32 label)
{
    g_array_set_size(goal->before, 0);
    g_array_append_val(goal->before, label);
}

static guint32 join(Goal *goal, const GArray *labels)
{
    g_array_set_size(goal->before, 0);
    g_array_append_vals(goal->before, labels->data, labels->len);
    guint32 label = emit(goal, "calc", 0, -1, 0);
    after(goal, label);
    return label;
}

static guint32 ring(Goal *goal, const RecordGroup *group, guint32 place, guint64 chunk, guint32 steps, guint32 tag)
{
    guint32 last = 0;
    for (guint32 s = 0; s < steps; s++) {
        GArray *labels = g_array_new(FALSE, FALSE, sizeof(guint32));
        guint32 send = emit(goal, "send", chunk, group->ranks[(place + 1) % group->n], tag);
        guint32 recv = emit(goal, "recv", chunk, group->ranks[(place + group->n - 1) % group->n], tag);
        g_array_append_val(labels, send);
        g_array_append_val(labels, recv);
        last = join(goal, labels);
        g_array_free(labels, TRUE);
    }
    return last;
}

/* Binomial tree, places relative to the root; reduce runs it backwards. */
static guint32 tree(Goal *goal, const RecordGroup *group, guint32 place, guint32 root, guint64 bytes, gboolean reduce,
                    guint32 tag)
{
    guint32 n = group->n, own = (place + n - root) % n, top = 1;
    GArray *labels = g_array_new(FALSE, FALSE, sizeof(guint32));
    while (top < n)
        top *= 2;
    guint32 parent_bit = own == 0 ? top : own & -own;
    guint32 parent = group->ranks[((own & (own - 1)) + root) % n];
    if (!reduce && own != 0)
        after(goal, emit(goal, "recv", bytes, parent, tag));
    for (guint32 bit = parent_bit / 2; bit > 0; bit /= 2) {
        if (own + bit < n) {
            guint32 label = emit(goal, reduce ? "recv" : "send", bytes, group->ranks[(own + bit + root) % n], tag);
            g_array_append_val(labels, label);
        }
    }
    if (labels->len > 0)
        join(goal, labels);
    if (reduce && own != 0)
        after(goal, emit(goal, "send", bytes, parent, tag));
    g_array_free(labels, TRUE);
    return goal->before->len > 0 ? g_array_index(goal->before, guint32, 0) : emit(goal, "calc", 0, -1, 0);
}

static guint32 direct(Goal *goal, const RecordGroup *group, guint32 place, guint32 root, RecordOp op, guint64 part,
                      guint32 tag)
{
    GArray *labels = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint32 i = 1; i < group->n; i++) {
        guint32 to = (place + i) % group->n, from = (place + group->n - i) % group->n;
        gboolean all = op == RECORD_ALL_TO_ALL;
        if (all || (op == RECORD_GATHER ? to == root : place == root)) {
            guint32 label = emit(goal, "send", part, group->ranks[to], tag);
            g_array_append_val(labels, label);
        }
        if (all || (op == RECORD_GATHER ? place == root : from == root)) {
            guint32 label = emit(goal, "recv", part, group->ranks[from], tag);
            g_array_append_val(labels, label);
        }
    }
    guint32 end = join(goal, labels);
    g_array_free(labels, TRUE);
    return end;
}

static guint32 barrier(Goal *goal, const RecordGroup *group, guint32 place, guint32 tag)
{
    guint32 last = emit(goal, "calc", 0, -1, 0);
    after(goal, last);
    for (guint32 distance = 1; distance < group->n; distance *= 2) {
        GArray *labels = g_array_new(FALSE, FALSE, sizeof(guint32));
        guint32 send = emit(goal, "send", 1, group->ranks[(place + distance) % group->n], tag);
        guint32 recv = emit(goal, "recv", 1, group->ranks[(place + group->n - distance) % group->n], tag);
        g_array_append_val(labels, send);
        g_array_append_val(labels, recv);
        last = join(goal, labels);
        g_array_free(labels, TRUE);
    }
    return last;
}

static guint32 place_of(const RecordGroup *group, gint64 rank)
{
    for (guint32 i = 0; i < group->n; i++)
        if (group->ranks[i] == rank)
            return i;
    return 0;
}

static guint32 collective(Goal *goal, const Record *r, guint32 tag)
{
    const RecordGroup *group = trace_group_at(goal->trace, r->group);
    guint32 n = group->n, place = place_of(group, r->rank), root = place_of(group, r->peer);
    guint64 bytes = record_bytes(r), part = (bytes + n - 1) / n;
    if (n == 1)
        return emit(goal, "calc", 0, -1, 0);
    switch (r->op) {
    case RECORD_ALL_REDUCE: return ring(goal, group, place, part, 2 * (n - 1), tag);
    case RECORD_ALL_GATHER:
    case RECORD_REDUCE_SCATTER: return ring(goal, group, place, part, n - 1, tag);
    case RECORD_BROADCAST:
    case RECORD_REDUCE: return tree(goal, group, place, root, bytes, r->op == RECORD_REDUCE, tag);
    case RECORD_BARRIER: return barrier(goal, group, place, tag);
    default: return direct(goal, group, place, root, r->op, part, tag);
    }
}

static void write_record(Goal *goal, guint32 index, guint32 stream_before)
{
    Record r = record_effective(trace_record(goal->trace, index));
    guint32 item = goal->match->of_record[index];
    gboolean skipped = item != MATCH_NONE && g_array_index(goal->match->items, MatchItem, item).skipped;
    g_array_set_size(goal->before, 0);
    for (guint32 d = 0; d < r.dep_count; d++)
        g_array_append_val(goal->before, goal->end[g_array_index(goal->trace->deps, guint32, r.dep_first + d)]);
    if (stream_before != G_MAXUINT32)
        g_array_append_val(goal->before, stream_before);
    if (r.gap_ps > 0 && r.op != RECORD_COMPUTE)
        after(goal, emit(goal, "calc", (r.gap_ps + 500) / 1000, -1, 0));
    if (r.op == RECORD_COMPUTE || skipped)
        goal->end[index] = emit(goal, "calc", (r.gap_ps + r.duration_ps + 500) / 1000, -1, 0);
    else if (r.op == RECORD_SEND || r.op == RECORD_RECV)
        goal->end[index] = emit(goal, r.op == RECORD_SEND ? "send" : "recv", r.bytes_in, r.peer, r.tag);
    else
        goal->end[index] = collective(goal, &r, goal->tag_base + item);
}

/* Labels are looked up when a rank ends, so an operation may require a later one; here records that
 * are required come first anyhow, except in files that name them the other way round. */
static gboolean write_rank(Goal *goal, guint32 rank, GError **error)
{
    guint32 first = goal->trace->rank_first[rank], end = goal->trace->rank_first[rank + 1];
    GHashTable *last = g_hash_table_new(g_direct_hash, g_direct_equal); /* stream -> label + 1 */
    g_string_append_printf(goal->to, "rank %u {\n", rank);
    goal->next = 1;
    gboolean ok = TRUE;
    for (guint32 i = first; i < end && ok; i++) {
        const Record *r = trace_record(goal->trace, i);
        for (guint32 d = 0; d < r->dep_count && ok; d++)
            ok = g_array_index(goal->trace->deps, guint32, r->dep_first + d) < i;
        gpointer stream = GUINT_TO_POINTER(r->stream);
        guint before = r->stream == RECORD_NO_STREAM ? 0 : GPOINTER_TO_UINT(g_hash_table_lookup(last, stream));
        if (ok) {
            write_record(goal, i, before - 1);
            g_hash_table_insert(last, stream, GUINT_TO_POINTER(goal->end[i] + 1));
        } else {
            char *where = trace_where(goal->trace, &r->source);
            g_set_error(error, TRACE_ERROR, TRACE_ERROR_WRITE,
                        "%swaits for a later operation of its rank; GOAL is written for "
                        "traces in an order that can be run",
                        where);
            g_free(where);
        }
    }
    g_string_append(goal->to, "}\n");
    if (goal->binary) {
        goal_binary_add(goal->binary, goal->nodes, goal->edges);
        g_array_set_size(goal->nodes, 0);
        g_array_set_size(goal->edges, 0);
    }
    g_hash_table_destroy(last);
    return ok;
}

gboolean write_goal(Trace *trace, const char *path, gboolean binary, GError **error)
{
    Match *match = match_new(trace, FALSE, error);
    if (!match)
        return FALSE;
    Goal goal = {.trace = trace,
                 .match = match,
                 .to = g_string_new(NULL),
                 .tag_base = 1,
                 .before = g_array_new(FALSE, FALSE, sizeof(guint32)),
                 .end = g_new0(guint32, trace->records->len + 1),
                 .binary = binary ? goal_binary_new(trace->world) : NULL,
                 .nodes = g_array_new(FALSE, FALSE, sizeof(GoalNode)),
                 .edges = g_array_new(FALSE, FALSE, sizeof(GoalEdge))};
    for (guint i = 0; i < trace->records->len; i++)
        goal.tag_base = MAX(goal.tag_base, trace_record(trace, i)->tag + 1);
    g_string_append_printf(goal.to, "num_ranks %u\n", trace->world);
    gboolean ok = TRUE;
    for (guint32 rank = 0; rank < trace->world && ok; rank++)
        ok = write_rank(&goal, rank, error);
    GError *inner = NULL;
    GByteArray *file = binary ? goal_binary_end(goal.binary) : NULL;
    if (ok && !file_write(path, file ? (char *)file->data : goal.to->str, file ? file->len : goal.to->len, &inner)) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_WRITE, "%s", inner->message);
        g_clear_error(&inner);
        ok = FALSE;
    }
    if (file)
        g_byte_array_free(file, TRUE);
    g_array_free(goal.nodes, TRUE);
    g_array_free(goal.edges, TRUE);
    g_string_free(goal.to, TRUE);
    g_array_free(goal.before, TRUE);
    g_free(goal.end);
    match_free(match);
    return ok;
}
