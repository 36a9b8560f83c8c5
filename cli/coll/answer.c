/* See answer.h. */
#include "cli/coll/answer.h"

#include <string.h>

#include "cli/live/limits.h"
#include "sim/param/size.h"

typedef struct {
    guint64 bytes;
    NumericType type;
    CollAlgo asked; /* for; result has what ran */
    CollResult result;
    gboolean some_fail; /* of its search */
    double links_pct;   /* of the kernel's time: those of the busier direction, mean */
    const char *direction;
    char *waits, *full, *parts; /* limits.h; NULL: nothing, or not known */
    WhatIf what;                /* held it up */
} AnswerRow;

struct CollAnswer {
    const CollPlan *plan;
    guint32 gpus;
    GArray *rows; /* AnswerRow, size by size */
};

static void answer_clear_row(gpointer data)
{
    AnswerRow *row = data;
    g_free(row->waits);
    g_free(row->full);
    g_free(row->parts);
}

CollAnswer *coll_answer_new(const CollPlan *plan, guint32 gpus)
{
    CollAnswer *answer = g_new0(CollAnswer, 1);
    answer->plan = plan;
    answer->gpus = gpus;
    answer->rows = g_array_new(FALSE, TRUE, sizeof(AnswerRow));
    g_array_set_clear_func(answer->rows, answer_clear_row);
    return answer;
}

void coll_answer_free(CollAnswer *answer)
{
    g_array_free(answer->rows, TRUE);
    g_free(answer);
}

void coll_answer_add(CollAnswer *answer, const Fabric *fabric, const CollSpec *spec, const CollResult *result,
                     const Usage usage[USAGE_DIRECTIONS], const Samples *samples, gboolean some_fail)
{
    const gboolean up = usage[USAGE_UP].mean_pct > usage[USAGE_DOWN].mean_pct;
    const double busy_pct = usage[up ? USAGE_UP : USAGE_DOWN].mean_pct;
    AnswerRow row = {.bytes = spec->bytes, .type = spec->type, .asked = spec->algo, .result = *result};
    row.some_fail = some_fail;
    row.direction = up ? "to" : "from";
    row.links_pct = result->kernel_ps ? busy_pct * (double)result->time_ps / (double)result->kernel_ps : 0;
    row.waits = limits_waits(fabric);
    row.what = result->fidelity == COLL_PACKET ? what_if_of(fabric, row.links_pct) : WHAT_IF_NOTHING;
    row.full = g_strdup(samples->full);
    row.parts = g_strdup(samples->parts);
    g_array_append_val(answer->rows, row);
}

/* ---- which was fastest */

static const AnswerRow *answer_row(const CollAnswer *answer, guint i)
{
    return &g_array_index(answer->rows, AnswerRow, i);
}

static gboolean answer_same(const AnswerRow *a, const AnswerRow *b)
{
    return a->result.algo == b->result.algo && a->result.proto == b->result.proto;
}

static char *answer_name(const AnswerRow *row)
{
    return g_strdup_printf("%s %s", coll_algo_name(row->result.algo), coll_proto_name(row->result.proto));
}

/* The fastest of a size whose sums are right, beside `but`; NULL: there is none. */
static const AnswerRow *answer_best(const CollAnswer *answer, guint64 bytes, NumericType type, const AnswerRow *but)
{
    const AnswerRow *best = NULL;
    for (guint i = 0; i < answer->rows->len; i++) {
        const AnswerRow *row = answer_row(answer, i);
        if (row->bytes != bytes || row->type != type || row->result.check == COLL_WRONG ||
            (but && answer_same(row, but)))
            continue;
        if (!best || row->result.time_ps < best->result.time_ps)
            best = row;
    }
    return best;
}

static double answer_us(const AnswerRow *row) { return (double)row->result.time_ps / PS_PER_US; }

/* "27.62 us at 4M (busbw 265.77 GB/s)" */
static void answer_add_time(GString *text, const AnswerRow *row)
{
    g_autofree char *size = size_format(row->bytes);
    g_string_append_printf(text, "%.2f us", answer_us(row));
    if (row->bytes)
        g_string_append_printf(text, " at %s (bus bandwidth %.2f GB/s)", size, (double)row->result.busbw_MBps / 1e3);
}

/* "nvls simple at 64K to 4M, ring ll at 8M" */
static guint answer_add_winners(const CollAnswer *answer, NumericType type, GString *text)
{
    const AnswerRow *last = NULL;
    guint64 first_bytes = 0, last_bytes = 0;
    guint spans = 0;
    for (guint i = 0; i <= answer->rows->len; i++) {
        const AnswerRow *row = i < answer->rows->len ? answer_row(answer, i) : NULL;
        if (row && (row->type != type || (row->bytes == last_bytes && last)))
            continue;
        const AnswerRow *best = row ? answer_best(answer, row->bytes, row->type, NULL) : NULL;
        if (last && (!best || !answer_same(last, best))) {
            g_autofree char *name = answer_name(last), *from = size_format(first_bytes), *to = size_format(last_bytes);
            g_string_append_printf(text, "%s%s%s%s", spans++ ? ", " : "", name, last_bytes ? " at " : "",
                                   last_bytes ? from : "");
            if (last_bytes > first_bytes)
                g_string_append_printf(text, " to %s", to);
        }
        if (best && (!last || !answer_same(last, best)))
            first_bytes = row->bytes;
        last = best;
        last_bytes = row ? row->bytes : 0;
    }
    return spans;
}

static void answer_write_fastest(const CollAnswer *answer, const AnswerRow *best, Report *report)
{
    const AnswerRow *second = answer_best(answer, best->bytes, best->type, best);
    g_autofree char *name = answer_name(best);
    g_autoptr(GString) text = g_string_new(NULL);
    if (second) {
        g_string_append(text, "fastest of what ran: ");
        answer_add_winners(answer, best->type, text);
        g_autofree char *other = answer_name(second);
        g_string_append_printf(text, "; %s takes ", name);
        answer_add_time(text, best);
        g_string_append_printf(text, ", %s %.2f times as long", other, answer_us(second) / answer_us(best));
    } else {
        const char *chosen = best->some_fail               ? "the fastest that ends well (the others: see below), "
                             : best->asked == COLL_BEST    ? "the fastest of all, "
                             : best->asked == COLL_UNICAST ? "the fastest without multicast, "
                             : best->asked == COLL_AUTO    ? "which auto takes, "
                                                           : "";
        g_string_append_printf(text, "%s over %u GPUs by %s%s%stakes ", coll_op_name(answer->plan->spec.op),
                               answer->gpus, name, *chosen ? ", " : " ", chosen);
        answer_add_time(text, best);
        const AnswerRow *least = answer_best(answer, answer_row(answer, 0)->bytes, best->type, NULL);
        if (least && least->bytes < best->bytes) {
            g_string_append(text, ", ");
            answer_add_time(text, least);
        }
    }
    report_add_answer(report, "%s", text->str);
}

/* ---- what limits it */

static void answer_write_limits(const AnswerRow *row, Report *report)
{
    const CollResult *result = &row->result;
    g_autofree char *size = size_format(row->bytes);
    g_autoptr(GString) text = g_string_new(NULL);
    const double launch_pct = 100 * (1 - (double)result->kernel_ps / (double)MAX(result->time_ps, 1));
    g_string_append_printf(text, "what its time goes into%s%s: ", row->bytes ? " at " : "", row->bytes ? size : "");
    if (row->parts)
        g_string_append(text, row->parts);
    else
        g_string_append_printf(text, "%.0f %% launch and exit", launch_pct);
    g_string_append_printf(text, "; the links %s the switches are busy for %.0f %% of the kernel", row->direction,
                           row->links_pct);
    if (row->links_pct >= WHAT_IF_WIRES_PCT)
        g_string_append(text, ", so the wires are the limit");
    if (row->full)
        g_string_append_printf(text, "; %s", row->full);
    else if (row->waits)
        g_string_append_printf(text, "; %s", row->waits);
    report_add_answer(report, "%s", text->str);
}

/* ---- what was not tried */

static gboolean answer_has_tried(const CollAnswer *answer, CollAlgo algo)
{
    for (guint i = 0; i < answer->rows->len; i++) {
        const AnswerRow *row = answer_row(answer, i);
        if (row->result.algo == algo || row->asked == COLL_BEST ||
            (row->asked == COLL_UNICAST && !coll_needs_multicast(answer->plan->spec.op, algo)))
            return TRUE;
    }
    return FALSE;
}

static void answer_write_untried(const CollAnswer *answer, Report *report)
{
    const CollAlgoList all = coll_algos_of(answer->plan->spec.op);
    g_autoptr(GString) names = g_string_new(NULL);
    for (const CollAlgo *algo = all.algo; *algo != COLL_ALGOS; algo++)
        if (!answer_has_tried(answer, *algo))
            g_string_append_printf(names, "%s%s", names->len ? ", " : "", coll_algo_name(*algo));
    if (names->len)
        report_add_answer(report, "not tried: %s (-a best tries all)", names->str);
}

/* Those that are not among the fastest however short they took. */
static void answer_write_wrong(const CollAnswer *answer, Report *report)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < answer->rows->len; i++) {
        const AnswerRow *row = answer_row(answer, i);
        g_autofree char *name = answer_name(row);
        if (row->result.check == COLL_WRONG && !g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL))
            g_ptr_array_add(names, g_steal_pointer(&name));
    }
    if (names->len == 0)
        return;
    g_ptr_array_add(names, NULL);
    g_autofree char *all = g_strjoinv(", ", (char **)names->pdata);
    report_add_answer(report, "wrong results: %s; the notes below say what is wrong", all);
}

/* Of the last size and type; NULL: there is no row, or none whose sums are right. */
static const AnswerRow *answer_last(const CollAnswer *answer)
{
    if (answer->rows->len == 0)
        return NULL;
    const AnswerRow *last = answer_row(answer, answer->rows->len - 1);
    return answer_best(answer, last->bytes, last->type, NULL);
}

void coll_answer_write(const CollAnswer *answer, Report *report)
{
    if (answer->rows->len == 0)
        return;
    const AnswerRow *best = answer_last(answer);
    if (!best) {
        report_add_answer(report, "no result is right: the notes below say what is wrong");
        return;
    }
    answer_write_fastest(answer, best, report);
    answer_write_wrong(answer, report);
    answer_write_limits(best, report);
    answer_write_untried(answer, report);
}

gboolean coll_answer_held(const CollAnswer *answer, CollHeld *held)
{
    const AnswerRow *best = answer_last(answer);
    if (!best || best->what == WHAT_IF_NOTHING)
        return FALSE;
    *held = (CollHeld){best->bytes, best->type, best->asked, best->result, best->what};
    return TRUE;
}

/* ---- how much faster */

static char *answer_compared(const CollResult *one, const CollResult *base, const char *size)
{
    const gboolean faster = one->time_ps <= base->time_ps;
    const double times = (double)MAX(one->time_ps, base->time_ps) / (double)MIN(one->time_ps, base->time_ps);
    return g_strdup_printf("at %s %s %s %s %.2f times as %s as %s %s, the fastest without multicast", size,
                           coll_algo_name(one->algo), coll_proto_name(one->proto), faster ? "is" : "takes", times,
                           faster ? "fast" : "long", coll_algo_name(base->algo), coll_proto_name(base->proto));
}

void coll_answer_compare(const CollPlan *plan, const CollResult *ran, guint64 bytes, const CollResult *base,
                         Report *report)
{
    g_autofree char *size = size_format(bytes);
    guint64 least_ps = G_MAXUINT64;
    for (guint a = 0; a < plan->algos; a++)
        least_ps = MIN(least_ps, ran[a].time_ps);
    for (guint a = 0; a < plan->algos; a++) {
        if (ran[a].algo == base->algo && ran[a].proto == base->proto)
            continue;
        g_autofree char *text = answer_compared(&ran[a], base, size);
        if (ran[a].time_ps == least_ps)
            report_add_answer(report, "%s", text);
        else
            report_add_note(report, "%s", text);
    }
}
