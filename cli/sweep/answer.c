/* See answer.h. */
#include "cli/sweep/answer.h"

#include <math.h>
#include <string.h>

#define ANSWER_NEAR 0.02 /* so much of the best is as good as the best */

/* What is asked of most sweeps; the first that the database has is what the answer is about. */
static const struct {
    const char *name;
    gboolean less;
} metrics[] = {{"busbw_GBps", FALSE}, {"value", FALSE}, {"total_us", TRUE}, {"time_us", TRUE}, {"simulated_us", TRUE}};

static const FrameColumn *answer_column(const Frame *frame, const char *name)
{
    for (guint c = 0; c < frame->columns->len; c++) {
        const FrameColumn *column = frame->columns->pdata[c];
        if (strcmp(column->name, name) == 0)
            return column->is_number && !column->is_input ? column : NULL;
    }
    return NULL;
}

/* A column whose rows differ. */
static gboolean answer_varies(const FrameColumn *column)
{
    for (guint r = 1; r < column->text->len; r++)
        if (g_strcmp0(column->text->pdata[r], column->text->pdata[0]) != 0)
            return TRUE;
    return FALSE;
}

/* The only input that varies, where it is a number; else NULL. */
static const FrameColumn *answer_input(const Frame *frame)
{
    const FrameColumn *only = NULL;
    for (guint c = 0; c < frame->columns->len; c++) {
        const FrameColumn *column = frame->columns->pdata[c];
        if (!column->is_input || !answer_varies(column))
            continue;
        if (only)
            return NULL;
        only = column;
    }
    return only && only->is_number ? only : NULL;
}

static gboolean answer_beats(double a, double b, gboolean less) { return isnan(b) || (less ? a < b : a > b); }

/* From which value of the input on all are as good as the best, where there are points that are not. */
static void answer_add_knee(Report *report, const FrameColumn *input, const FrameColumn *metric, double best,
                            gboolean less)
{
    double last_bad = -INFINITY, knee = INFINITY;
    for (guint r = 0; r < input->text->len; r++) {
        const double off = less ? metric->number[r] / best - 1 : 1 - metric->number[r] / best;
        if (!isnan(metric->number[r]) && off > ANSWER_NEAR)
            last_bad = MAX(last_bad, input->number[r]);
    }
    for (guint r = 0; r < input->text->len; r++)
        if (!isnan(metric->number[r]) && input->number[r] > last_bad)
            knee = MIN(knee, input->number[r]);
    if (isfinite(last_bad) && isfinite(knee))
        report_add_answer(report, "from %s = %.15g on, all are within %.0f %% of the best; %.15g is not", input->name,
                          knee, 100 * ANSWER_NEAR, last_bad);
}

void sweep_answer_add(Report *report, const Frame *frame)
{
    for (guint m = 0; m < G_N_ELEMENTS(metrics); m++) {
        const FrameColumn *metric = answer_column(frame, metrics[m].name);
        const gboolean less = metrics[m].less;
        guint best = 0, worst = 0;
        if (!metric || !answer_varies(metric))
            continue;
        for (guint r = 1; r < frame->rows; r++) {
            const double value = metric->number[r];
            if (isnan(value))
                continue;
            best = answer_beats(value, metric->number[best], less) ? r : best;
            worst = answer_beats(value, metric->number[worst], !less) ? r : worst;
        }
        g_autofree char *first = frame_point(frame, best), *last = frame_point(frame, worst);
        report_add_answer(report, "of %u points the best by %s is %s %s, at %s; the worst is %s, at %s", frame->rows,
                          metric->name, (char *)metric->text->pdata[best], metric->unit, first,
                          (char *)metric->text->pdata[worst], last);
        const FrameColumn *input = answer_input(frame);
        if (input && metric->number[best] > 0)
            answer_add_knee(report, input, metric, metric->number[best], less);
        return;
    }
}
