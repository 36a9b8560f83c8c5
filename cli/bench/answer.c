/* See answer.h. */
#include "cli/bench/answer.h"

#include "sim/param/size.h"

static void answer_take(BenchFound *found, const BenchRequest *request, const BenchRow *row)
{
    g_autofree char *size = size_format(request->bytes);
    g_free(found->text);
    found->value = bench_row_value(row);
    found->unit = row->unit;
    found->text = g_strdup_printf("%.3f %s (%s%s%s, %u x %u threads%s%s)", found->value, row->unit, request->variant,
                                  *request->variant ? ", " : "", row->gpus, row->ctas, request->threads,
                                  request->bytes ? ", " : "", request->bytes ? size : "");
}

void bench_answer_row(BenchAnswer *answer, const BenchRequest *request, const BenchRow *row)
{
    const double value = bench_row_value(row);
    const gboolean first = answer->rows++ == 0;
    answer->mixed |= !first && !g_str_equal(row->unit, answer->most.unit);
    if (first || value < answer->least.value)
        answer_take(&answer->least, request, row);
    if (first || value > answer->most.value)
        answer_take(&answer->most, request, row);
}

void bench_answer_end(BenchAnswer *answer, const char *test)
{
    if (answer->rows == 1)
        report_add_answer(answer->report, "%s: %s", test, answer->most.text);
    else if (answer->rows && !answer->mixed)
        report_add_answer(answer->report, "%s: from %s to %s; %u rows", test, answer->least.text, answer->most.text,
                          answer->rows);
}

void bench_answer_clear(BenchAnswer *answer)
{
    g_free(answer->least.text);
    g_free(answer->most.text);
}
