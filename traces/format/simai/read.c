/* SimAI and ASTRA-sim 1 workload text: layers with computations and communications of one step.
 *
 * One rank's step is: forward through the layers, each computation and then its communication;
 * backward from the last layer, weight gradient and its communication on a stream of its own, then
 * input gradient and its communication; the step ends when all are done. All ranks do the same.
 * Ranks are placed tensor parallel first, then data parallel (expert parallel within it), then
 * pipeline stages. Compute columns are taken as nanoseconds.
 *
 * Not replayed: checkpoints' recomputation, and the transfers between pipeline stages (pp_comm). */
#include "traces/format/simai/simai.h"

#include <string.h>

#include "traces/format/words.h"

/* "ALLGATHER_DP_EP" -> all-gather, "_DP_EP". */
static gboolean simai_op(const char *word, Work *work)
{
    static const struct {
        const char *name;
        RecordOp op;
    } ops[] = {{"NONE", RECORD_COMPUTE},         {"ALLREDUCE", RECORD_ALL_REDUCE},
               {"ALLGATHER", RECORD_ALL_GATHER}, {"REDUCESCATTER", RECORD_REDUCE_SCATTER},
               {"ALLTOALL", RECORD_ALL_TO_ALL},  {"BROADCAST", RECORD_BROADCAST},
               {"REDUCE", RECORD_REDUCE}};
    static const char *const suffixes[] = {"", "_EP", "_DP_EP"};
    for (guint i = 0; i < G_N_ELEMENTS(ops); i++) {
        for (guint s = 0; s < G_N_ELEMENTS(suffixes) && g_str_has_prefix(word, ops[i].name); s++) {
            if (strcmp(word + strlen(ops[i].name), suffixes[s]) == 0) {
                work->op = ops[i].op;
                work->suffix = suffixes[s];
                return TRUE;
            }
        }
    }
    return FALSE;
}

/* For a note, the word as far as it can be printed. */
static void simai_count(SimAi *simai, const char *what, const char *word)
{
    char *valid = g_utf8_make_valid(word, -1);
    char *name = g_strndup(valid, MIN(strlen(valid), 40));
    char *whole = g_utf8_make_valid(name, -1);
    trace_count(simai->reader->trace, what, whole, 0);
    g_free(valid);
    g_free(name);
    g_free(whole);
}

/* name dep fwd_ns fwd_comm fwd_bytes ig_ns ig_comm ig_bytes wg_ns wg_comm wg_bytes update */
static gboolean simai_layer(SimAi *simai, const char *line, GError **error)
{
    static const Pass columns[] = {PASS_FORWARD, PASS_INPUT, PASS_WEIGHT};
    GPtrArray *words = words_split(line);
    RecordSource where = reader_here(simai->reader, input_line_number(simai->reader->input), 0, simai->layer->len);
    Layer layer = {.line = where.line};
    char *wrong = NULL;
    guint64 dep;
    if (!words || words->len < 12) {
        wrong = g_strdup("a layer should have 12 columns: name, dependency, three times compute, communication "
                         "and bytes, update");
    } else if (strcmp(words->pdata[1], "-1") != 0 && !words_u64(words->pdata[1], simai->layers - 1, &dep)) {
        wrong = g_strdup_printf("dependency '%.20s' should be -1 or a layer below %" G_GUINT64_FORMAT,
                                (char *)words->pdata[1], simai->layers);
    }
    for (guint i = 0; i < PASSES && !wrong; i++) {
        Work *work = &layer.work[columns[i]];
        char **word = (char **)&words->pdata[2 + 3 * i];
        if (!words_u64(word[0], RECORD_PS_MAX / 1000, &work->compute_ns)) {
            wrong = g_strdup_printf("compute time '%.20s' should be nanoseconds, at most a day", word[0]);
        } else if (!simai_op(word[1], work)) {
            work->op = RECORD_COMPUTE;
            work->suffix = "";
            simai_count(simai, "communications that are not known are left out", word[1]);
        } else if (!words_u64(word[2], RECORD_BYTES_MAX, &work->bytes)) {
            wrong = g_strdup_printf("'%.24s' bytes should be a number up to 1 TiB", word[2]);
        }
    }
    gboolean ok = TRUE;
    if (wrong) {
        ok = reader_problem(simai->reader, where, "wrong layer", error, "%s", wrong);
        layer = (Layer){.line = where.line, .bad = TRUE};
    } else {
        layer.name = trace_name(simai->reader->trace, words->pdata[0]);
    }
    g_array_append_val(simai->layer, layer);
    g_free(wrong);
    if (words)
        g_ptr_array_free(words, TRUE);
    return ok;
}

/* Rank 0's group: n ranks, `stride` apart. */
static guint32 simai_group(SimAi *simai, const char *name, guint64 n, guint64 stride)
{
    guint32 *ranks = g_new(guint32, n);
    for (guint64 i = 0; i < n; i++)
        ranks[i] = i * stride;
    guint32 group = trace_group(simai->reader->trace, name, ranks, n);
    g_free(ranks);
    return group;
}

static gboolean simai_add_comm(SimAi *simai, Record *record, const Work *work, Dims dims, GError **error)
{
    gboolean inner = simai->policy->data_inner;
    guint64 dp = simai->all / simai->tp / simai->pp;
    if (strcmp(work->suffix, "_EP") == 0) {
        record->group = simai_group(simai, "ep", simai->ep, simai->tp);
    } else if (strcmp(work->suffix, "_DP_EP") == 0) {
        record->group = simai_group(simai, "dp_ep", dp / simai->ep, simai->tp * simai->ep);
    } else {
        record->group = dims == DIMS_ALL    ? simai_group(simai, "world", simai->all, 1)
                        : dims == DIMS_DATA ? simai_group(simai, "dp", dp, inner ? 1 : simai->tp)
                                            : simai_group(simai, "tp", simai->tp, inner ? dp : 1);
    }
    record->op = work->op;
    record->dtype = RECORD_BF16;
    guint32 n = trace_group_at(simai->reader->trace, record->group)->n;
    if (n == 1) {
        trace_note(simai->reader->trace, "%s: communications in groups of one rank move nothing",
                   input_path(simai->reader->input));
        record->op = RECORD_COMPUTE;
        record->group = RECORD_NO_GROUP;
        return TRUE;
    }
    gboolean whole = work->op == RECORD_ALL_REDUCE || record_op_has_root(work->op);
    guint64 bytes = work->bytes; /* the whole buffer, of an all-gather too */
    bytes = whole ? bytes : reader_shared_bytes(simai->reader, work->op, bytes, n);
    if (record_op_has_root(work->op)) /* which says no root: the group's first */
        record->peer = (gint32)trace_group_at(simai->reader->trace, record->group)->ranks[0];
    record->bytes_in = work->op == RECORD_ALL_GATHER ? bytes / n : bytes;
    record->bytes_out = work->op == RECORD_REDUCE_SCATTER ? bytes / n : bytes;
    gboolean good = FALSE;
    gboolean ok = reader_check(simai->reader, record, &good, error);
    record->skipped = !good;
    return ok;
}

static gboolean simai_add(SimAi *simai, guint index, Pass pass, GError **error)
{
    static const char *const names[] = {"forward", "input gradient", "weight gradient"};
    const Layer *layer = &g_array_index(simai->layer, Layer, index);
    const Work *work = &layer->work[pass];
    Trace *trace = simai->reader->trace;
    Record record;
    record_init(&record, 0, RECORD_COMPUTE);
    char *name = g_strdup_printf("%s %s", (char *)trace->names->pdata[layer->name], names[pass]);
    record.name = trace_name(trace, name);
    g_free(name);
    record.source = reader_here(simai->reader, layer->line, 0, index);
    record.stream = 0;
    record.step = 0;
    record.skipped = layer->bad;
    const Policy *policy = simai->policy;
    Dims dims = policy->first_all && index == 0 ? DIMS_ALL : policy->dims[pass];
    if (!layer->bad &&
        ((policy->weights_only && pass != PASS_WEIGHT) || (policy->forward_only && pass != PASS_FORWARD)))
        return TRUE;
    record.duration_ps = policy->weights_only ? 0 : work->compute_ns * 1000;
    if (record.duration_ps > 0 || layer->bad)
        simai->last = trace_add(trace, &record) + 1;
    record.duration_ps = 0;
    if (layer->bad || work->op == RECORD_COMPUTE || work->bytes == 0) {
        simai->empty += !layer->bad && work->op != RECORD_COMPUTE;
        return TRUE;
    }
    if (dims == DIMS_NONE) {
        char *what = g_strdup_printf("communications of %ss, which %s does not have, are left out", names[pass],
                                     policy->name);
        trace_count(trace, what, record_op_name(work->op), 0);
        g_free(what);
        return TRUE;
    }
    record.stream = pass == PASS_WEIGHT ? 1 : 0;
    if (!simai_add_comm(simai, &record, work, dims, error))
        return FALSE;
    guint32 at = trace_add(trace, &record);
    if (pass == PASS_WEIGHT && simai->last > 0)
        trace_add_dep(trace, at, simai->last - 1);
    simai->last = pass == PASS_WEIGHT ? simai->last : at + 1;
    return TRUE;
}

static gboolean simai_lines(SimAi *simai, GError **error)
{
    Input *input = simai->reader->input;
    GError *broken = NULL;
    const char *line = input_line(input, &broken);
    if (!line && !broken)
        g_set_error(&broken, TRACE_ERROR, TRACE_ERROR_CUT_OFF, "%s: is empty", input_path(input));
    if (!line) {
        g_propagate_error(error, broken);
        return FALSE;
    }
    gboolean ok = simai_header(simai, line, error);
    line = ok ? input_line(input, &broken) : NULL;
    char *count = g_strdup(line ? line : "");
    g_strstrip(count);
    if (ok && !broken && (!words_u64(count, 1u << 24, &simai->layers) || simai->layers == 0)) {
        g_set_error(&broken, TRACE_ERROR, TRACE_ERROR_VALUE, "%s:2: '%.20s' should be the number of layers",
                    input_path(input), count);
    }
    g_free(count);
    while (ok && !broken && simai->layer->len < simai->layers) {
        line = input_line(input, &broken);
        if (!line)
            break;
        ok = line[strspn(line, " \t")] == 0 || simai_layer(simai, line, error);
    }
    if (ok && !broken && simai->layer->len < simai->layers) {
        g_set_error(&broken, TRACE_ERROR, TRACE_ERROR_CUT_OFF, "%s:%u: ends after %u of %" G_GUINT64_FORMAT " layers",
                    input_path(input), input_line_number(input), simai->layer->len, simai->layers);
    }
    while (ok && !broken && (line = input_line(input, &broken))) {
        if (line[strspn(line, " \t")] != 0) {
            g_set_error(&broken, TRACE_ERROR, TRACE_ERROR_VALUE,
                        "%s:%u: more layers than the %" G_GUINT64_FORMAT " that line 2 says", input_path(input),
                        input_line_number(input), simai->layers);
        }
    }
    return ok && (!broken || reader_skip(simai->reader, &broken, error));
}

static gboolean simai_read(Reader *reader, GError **error)
{
    SimAi simai = {.reader = reader, .layer = g_array_new(FALSE, FALSE, sizeof(Layer))};
    gboolean ok = simai_lines(&simai, error);
    for (guint i = 0; i < simai.layer->len && ok; i++)
        ok = simai_add(&simai, i, PASS_FORWARD, error);
    for (guint i = simai.layer->len; i-- > 0 && ok;)
        ok = simai_add(&simai, i, PASS_WEIGHT, error) && simai_add(&simai, i, PASS_INPUT, error);
    if (ok && simai.empty > 0) {
        trace_note(reader->trace, "%s: %" G_GUINT64_FORMAT " communications of 0 bytes are not there, as in ASTRA-sim",
                   input_path(reader->input), simai.empty);
    }
    reader->trace->replicate = simai.all > 1;
    g_array_free(simai.layer, TRUE);
    return ok;
}

const TraceFormat trace_format_simai = {
    .name = "simai",
    .title = "SimAI workload",
    .probe = simai_probe,
    .read = simai_read,
};
