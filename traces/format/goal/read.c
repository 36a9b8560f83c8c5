/* GOAL schedules in text (LogGOPSim, ATLAHS): sends, receives and calculations of each rank, with
 * dependencies.
 *
 * Sends never wait for their receiver. `irequires` (start after the other's start) is read as
 * waiting for what the other waits for. cpu and nic numbers are not modelled. */
#include <string.h>

#include "traces/format/goal/binary.h"
#include "traces/format/reader.h"
#include "traces/format/words.h"

typedef struct {
    guint32 record;
    char *on; /* label */
    gboolean at_start;
    RecordSource where;
} GoalRequire;

typedef struct {
    Reader *reader;
    gint64 rank; /* of the open block; -1: none */
    guint8 *seen;
    GHashTable *labels; /* of the open block: label -> record index + 1 */
    GArray *requires;   /* GoalRequire of the open block */
    GHashTable *waits;  /* record -> GArray of what it waits for, of the open block */
    gboolean in_comment;
} Goal;

static int goal_probe(const char *head, gsize n)
{
    (void)n;
    for (;;) {
        head += strspn(head, " \t\r\n");
        if (g_str_has_prefix(head, "//"))
            head += strcspn(head, "\n");
        else if (g_str_has_prefix(head, "/*") && strstr(head, "*/"))
            head = strstr(head, "*/") + 2;
        else
            return g_str_has_prefix(head, "num_ranks ") ? 90 : 0;
    }
}

static void require_clear(gpointer data) { g_free(((GoalRequire *)data)->on); }
static void free_waits(gpointer waits) { g_array_free(waits, TRUE); }

static RecordSource here(const Goal *goal)
{
    return reader_here(goal->reader, input_line_number(goal->reader->input), 0, -1);
}

/* A line that breaks the file's structure. */
G_GNUC_PRINTF(3, 4)
static gboolean fail(Goal *goal, GError **error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *what = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error(error, TRACE_ERROR, TRACE_ERROR_FORMAT, "%s:%u: %s", input_path(goal->reader->input),
                input_line_number(goal->reader->input), what);
    g_free(what);
    return FALSE;
}

/* The words that may follow: "tag 3 cpu 0 nic 1". NULL, or what is wrong with what would be right. */
static char *goal_options(GPtrArray *words, guint first, Record *record)
{
    for (guint i = first; i < words->len; i += 2) {
        const char *key = words->pdata[i];
        guint64 value;
        gboolean tag = strcmp(key, "tag") == 0;
        gboolean known = tag || strcmp(key, "cpu") == 0 || strcmp(key, "nic") == 0;
        if (!known || i + 1 >= words->len || !words_u64(words->pdata[i + 1], G_MAXUINT32, &value)) {
            const char *wrong = known && i + 1 < words->len ? words->pdata[i + 1] : key;
            return tag && strcmp(wrong, "-1") == 0
                       ? g_strdup("receives of any tag (-1) cannot be matched before the run; name the tag")
                       : g_strdup_printf("'%.40s' should be tag, cpu or nic and a number", wrong);
        }
        record->tag = tag ? value : record->tag;
    }
    return NULL;
}

static gboolean goal_bytes(const char *word, guint64 *bytes)
{
    gsize n = strlen(word);
    char *number = n > 1 && word[n - 1] == 'b' ? g_strndup(word, n - 1) : NULL;
    gboolean ok = number && words_u64(number, RECORD_BYTES_MAX, bytes);
    g_free(number);
    return ok;
}

/* "send 8b to 3 tag 1", "recv 8b from 3", "calc 100"; NULL, or what is wrong with what would be
 * right. */
static char *goal_operation(Goal *goal, GPtrArray *words, guint first, Record *record)
{
    const char *op = words->pdata[first];
    guint64 value = 0;
    if (strcmp(op, "calc") == 0) {
        if (first + 1 >= words->len || !words_u64(words->pdata[first + 1], RECORD_PS_MAX / 1000, &value))
            return g_strdup("should read 'calc NANOSECONDS', at most a day");
        record->duration_ps = value * 1000;
        return goal_options(words, first + 2, record);
    }
    gboolean send = strcmp(op, "send") == 0;
    if (!send && strcmp(op, "recv") != 0)
        return g_strdup_printf("'%.40s' should be send, recv or calc", op);
    const char *to = first + 3 < words->len ? words->pdata[first + 3] : "";
    if (strcmp(to, "-1") == 0)
        return g_strdup("receives from any rank (-1) cannot be matched before the run; name the rank");
    if (first + 3 >= words->len || !goal_bytes(words->pdata[first + 1], &record->bytes_in) ||
        strcmp(words->pdata[first + 2], send ? "to" : "from") != 0 ||
        !words_u64(to, goal->reader->trace->world - 1, &value)) {
        return g_strdup_printf("should read '%s' with at most 1 TiB and a rank below %u",
                               send ? "send BYTESb to RANK" : "recv BYTESb from RANK", goal->reader->trace->world);
    }
    record->op = send ? RECORD_SEND : RECORD_RECV;
    record->peer = value;
    record->bytes_in = goal_message_bytes(goal->reader, record->op, record->bytes_in);
    record->bytes_out = record->bytes_in;
    return goal_options(words, first + 4, record);
}

static gboolean goal_add(Goal *goal, GPtrArray *words, GError **error)
{
    char *label = words->pdata[0];
    gboolean labelled = g_str_has_suffix(label, ":");
    Record record;
    record_init(&record, goal->rank, RECORD_COMPUTE);
    record.source = here(goal);
    if (labelled)
        label[strlen(label) - 1] = 0;
    gboolean ok = TRUE, good = FALSE;
    char *wrong = labelled && words->len < 2 ? g_strdup("a label without an operation")
                                             : goal_operation(goal, words, labelled, &record);
    if (labelled && !wrong && g_hash_table_contains(goal->labels, label))
        wrong = g_strdup_printf("label '%s' is given twice in rank %" G_GINT64_FORMAT, label, goal->rank);
    if (wrong) {
        ok = reader_problem(goal->reader, record.source, "wrong operation", error, "%s", wrong);
        record.op = RECORD_COMPUTE;
    } else {
        ok = reader_check(goal->reader, &record, &good, error);
    }
    record.skipped = !good;
    g_free(wrong);
    guint32 index = trace_add(goal->reader->trace, &record);
    if (labelled && !g_hash_table_contains(goal->labels, label))
        g_hash_table_insert(goal->labels, g_strdup(label), GUINT_TO_POINTER(index + 1));
    return ok;
}

static gboolean goal_require(Goal *goal, GPtrArray *words, GError **error)
{
    guint of = GPOINTER_TO_UINT(g_hash_table_lookup(goal->labels, words->pdata[0]));
    if (of == 0 || words->len != 3) {
        return reader_problem(goal->reader, here(goal), "dependency on a missing node", error,
                              "should read 'LABEL %s LABEL' with labels of this rank", (char *)words->pdata[1]);
    }
    GoalRequire require = {of - 1, g_strdup(words->pdata[2]), *(char *)words->pdata[1] == 'i', here(goal)};
    g_array_append_val(goal->requires, require);
    return TRUE;
}

static void waits_add(Goal *goal, guint32 record, guint32 on)
{
    GArray *waits = g_hash_table_lookup(goal->waits, GUINT_TO_POINTER(record));
    if (!waits) {
        waits = g_array_new(FALSE, FALSE, sizeof(guint32));
        g_hash_table_insert(goal->waits, GUINT_TO_POINTER(record), waits);
    }
    g_array_append_val(waits, on);
    trace_add_dep(goal->reader->trace, record, on);
}

/* The block is complete: labels named before they were given are known now. */
static gboolean goal_end_rank(Goal *goal, GError **error)
{
    for (guint pass = 0; pass < 2; pass++) {
        for (guint i = 0; i < goal->requires->len; i++) {
            const GoalRequire *require = &g_array_index(goal->requires, GoalRequire, i);
            guint on = GPOINTER_TO_UINT(g_hash_table_lookup(goal->labels, require->on));
            if (on == 0 && pass == 0) {
                trace_record(goal->reader->trace, require->record)->skipped = TRUE;
                if (!reader_problem(goal->reader, require->where, "dependency on a missing node", error,
                                    "requires '%s', which rank %" G_GINT64_FORMAT " does not have", require->on,
                                    goal->rank))
                    return FALSE;
            } else if (on != 0 && !require->at_start && pass == 0) {
                waits_add(goal, require->record, on - 1);
            } else if (on != 0 && require->at_start && pass == 1) {
                const GArray *waits = g_hash_table_lookup(goal->waits, GUINT_TO_POINTER(on - 1));
                for (guint k = 0; waits && k < waits->len; k++)
                    trace_add_dep(goal->reader->trace, require->record, g_array_index(waits, guint32, k));
            }
        }
    }
    g_array_set_size(goal->requires, 0);
    g_hash_table_remove_all(goal->labels);
    g_hash_table_remove_all(goal->waits);
    goal->rank = -1;
    return TRUE;
}

static gboolean goal_begin(Goal *goal, GPtrArray *words, GError **error)
{
    guint64 value;
    Trace *trace = goal->reader->trace;
    if (strcmp(words->pdata[0], "num_ranks") == 0) {
        if (words->len != 2 || !words_u64(words->pdata[1], RECORD_WORLD_MAX, &value) || value == 0 || trace->world != 0)
            return fail(goal, error, "should read 'num_ranks N' once, with 1 to %u ranks", RECORD_WORLD_MAX);
        trace->world = value;
        goal->seen = g_new0(guint8, value);
        return TRUE;
    }
    gboolean block = strcmp(words->pdata[0], "rank") == 0 && words->len == 3 && strcmp(words->pdata[2], "{") == 0 &&
                     trace->world > 0 && words_u64(words->pdata[1], trace->world - 1, &value);
    if (!block)
        return fail(goal, error, "should read 'rank R {' with R below num_ranks (%u)", trace->world);
    if (goal->seen[value])
        return fail(goal, error, "rank %" G_GUINT64_FORMAT " is given twice", value);
    goal->seen[value] = TRUE;
    goal->rank = value;
    return TRUE;
}

/* Blanks out comments; they may run over lines. */
static void strip_comments(Goal *goal, char *line)
{
    for (char *at = line; *at != 0; at++) {
        if (goal->in_comment) {
            goal->in_comment = !g_str_has_prefix(at, "*/");
            if (!goal->in_comment)
                *at++ = ' ';
            *at = ' ';
        } else if (g_str_has_prefix(at, "//")) {
            *at = 0;
            return;
        } else if (g_str_has_prefix(at, "/*")) {
            goal->in_comment = TRUE;
            *at++ = ' ';
            *at = ' ';
        }
    }
}

static gboolean goal_line(Goal *goal, const char *line, GError **error)
{
    char *bare = g_strdup(line);
    strip_comments(goal, bare);
    GPtrArray *words = words_split(bare);
    gboolean ok = words || fail(goal, error, "a quote has no place in GOAL");
    if (ok && words->len > 0) {
        const char *second = words->len > 1 ? words->pdata[1] : "";
        if (goal->rank < 0)
            ok = goal_begin(goal, words, error);
        else if (strcmp(words->pdata[0], "}") == 0)
            ok = goal_end_rank(goal, error);
        else if (strcmp(second, "requires") == 0 || strcmp(second, "irequires") == 0)
            ok = goal_require(goal, words, error);
        else
            ok = goal_add(goal, words, error);
    }
    if (words)
        g_ptr_array_free(words, TRUE);
    g_free(bare);
    return ok;
}

static gboolean goal_read(Reader *reader, GError **error)
{
    Goal goal = {
        .reader = reader,
        .rank = -1,
        .labels = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
        .requires = g_array_new(FALSE, FALSE, sizeof(GoalRequire)),
        .waits = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, free_waits),
    };
    g_array_set_clear_func(goal.requires, require_clear);
    GError *broken = NULL;
    gboolean ok = TRUE;
    for (const char *line; ok && (line = input_line(reader->input, &broken));)
        ok = goal_line(&goal, line, error);
    if (ok && !broken && goal.rank >= 0) {
        g_set_error(&broken, TRACE_ERROR, TRACE_ERROR_CUT_OFF,
                    "%s:%u: rank %" G_GINT64_FORMAT " is not closed; a '}' should end it", input_path(reader->input),
                    input_line_number(reader->input), goal.rank);
    }
    if (ok && broken)
        ok = reader_skip(reader, &broken, error) && goal_end_rank(&goal, error);
    g_clear_error(&broken);
    g_hash_table_destroy(goal.labels);
    g_hash_table_destroy(goal.waits);
    g_array_free(goal.requires, TRUE);
    g_free(goal.seen);
    return ok;
}

const TraceFormat trace_format_goal = {
    .name = "goal",
    .title = "GOAL schedule",
    .probe = goal_probe,
    .read = goal_read,
};
