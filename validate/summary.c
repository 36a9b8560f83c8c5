/* Medians and percentiles of the errors, and what is aimed at. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coll/coll.h"
#include "validate/validate.h"

const ValidateTarget validate_targets[] = {
    {"bandwidth, contention, mixed, footprint", "bandwidth contention mixed footprint", 2, 6},
    {"latency, loaded latency, messages, barriers", "latency loaded_latency messages barriers", 5, 12},
    {"unicast collectives >= 256 KiB", "collectives nccl_simple", 5, 12},
    {"multimem kernels and NVLS >= 4 MiB", "nvls", 3, 8},
    {"graph or kernel rows below 4 MiB", "small", 10, 25},
    {"Blackwell and NVL72", "blackwell", 8, 20},
    {"published unicast collectives >= 4 MiB", "collective", 0, 0},
    {"eager rows below 4 MiB", "launch", 0, 0},
    {"unicast collectives below 256 KiB", "collectives_small nccl_simple_small", 0, 0},
    {"NCCL LL, LL128, default", "nccl_other", 0, 0},
    {NULL, NULL, 0, 0},
};

typedef struct {
    ValidateSummary *summary;
    GArray *abs_pct; /* double */
    double sum;
} SummaryWork;

static gboolean summary_in(const ValidateTarget *target, const char *group)
{
    g_auto(GStrv) groups = g_strsplit(target->groups, " ", 0);
    return g_strv_contains((const char *const *)groups, group);
}

static gboolean summary_is_nccl(const ValidateRow *row)
{
    return row->schema == VALIDATE_PUBLISHED && g_str_has_prefix(row->program, "nccl");
}

/* made: a name that was made for it, which the caller frees. */
static const char *summary_key(const ValidateRow *row, ValidateBy by, char **made)
{
    if (by == VALIDATE_BY_NCCL)
        return !summary_is_nccl(row) ? NULL : row->nccl ? (*made = coll_nccl_format(row->nccl)) : "not known";
    if (by == VALIDATE_BY_FILE)
        return row->file;
    if (by == VALIDATE_BY_GROUP)
        return row->group;
    if (by == VALIDATE_OVERALL)
        return "overall";
    if (by == VALIDATE_BY_FIDELITY) {
        const ValidateFidelity *group = validate_fidelity_of(row);
        return group ? group->name : NULL;
    }
    for (const ValidateTarget *target = validate_targets; target->name; target++)
        if (summary_in(target, row->group))
            return target->name;
    return NULL;
}

static SummaryWork *summary_find(GPtrArray *all, const char *name)
{
    for (guint i = 0; i < all->len; i++) {
        SummaryWork *work = g_ptr_array_index(all, i);
        if (strcmp(work->summary->name, name) == 0)
            return work;
    }
    SummaryWork *work = g_new0(SummaryWork, 1);
    work->summary = g_new0(ValidateSummary, 1);
    work->summary->name = g_strdup(name);
    work->abs_pct = g_array_new(FALSE, FALSE, sizeof(double));
    g_ptr_array_add(all, work);
    return work;
}

static int summary_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Linear between the two nearest ranks. */
static double summary_percentile(const GArray *sorted, double share)
{
    if (sorted->len == 0)
        return NAN;
    double at = share * (sorted->len - 1);
    guint low = (guint)at, high = MIN(low + 1, sorted->len - 1);
    double a = g_array_index(sorted, double, low), b = g_array_index(sorted, double, high);
    return a + (b - a) * (at - low);
}

static void summary_free(gpointer data)
{
    ValidateSummary *summary = data;
    g_free(summary->name);
    g_free(summary);
}

static void summary_count(SummaryWork *work, const ValidateRow *row)
{
    work->summary->rows++;
    if (row->skipped) {
        work->summary->skipped++;
        return;
    }
    double abs_pct = fabs(row->error_pct);
    g_array_append_val(work->abs_pct, abs_pct);
    work->sum += row->error_pct;
}

static int summary_compare_nccl(gconstpointer a, gconstpointer b)
{
    guint32 x = (*(ValidateRow *const *)a)->nccl, y = (*(ValidateRow *const *)b)->nccl;
    return (x > y) - (x < y);
}

GPtrArray *validate_summarize(const GPtrArray *all, ValidateBy by)
{
    g_autoptr(GPtrArray) rows = g_ptr_array_new();
    GPtrArray *works = g_ptr_array_new();
    g_ptr_array_extend(rows, (GPtrArray *)all, NULL, NULL);
    if (by == VALIDATE_BY_NCCL)
        g_ptr_array_sort(rows, summary_compare_nccl);
    GPtrArray *summaries = g_ptr_array_new_with_free_func(summary_free);
    if (by == VALIDATE_BY_TARGET)
        for (const ValidateTarget *target = validate_targets; target->name; target++)
            summary_find(works, target->name);
    if (by == VALIDATE_BY_FIDELITY)
        for (const ValidateFidelity *group = validate_fidelity; group->name; group++)
            summary_find(works, group->name);
    for (guint i = 0; i < rows->len; i++) {
        const ValidateRow *row = g_ptr_array_index(rows, i);
        g_autofree char *made = NULL;
        const char *key = summary_key(row, by, &made);
        if (key)
            summary_count(summary_find(works, key), row);
        for (const ValidateFidelity *group = validate_fidelity; by == VALIDATE_BY_FIDELITY && group->name; group++)
            if (group->ops && validate_fidelity_has(group, row))
                summary_count(summary_find(works, group->name), row);
    }
    for (guint i = 0; i < works->len; i++) {
        SummaryWork *work = g_ptr_array_index(works, i);
        ValidateSummary *summary = work->summary;
        if (work->abs_pct->len)
            qsort(work->abs_pct->data, work->abs_pct->len, sizeof(double), summary_compare);
        summary->median_abs_pct = summary_percentile(work->abs_pct, 0.5);
        summary->p90_abs_pct = summary_percentile(work->abs_pct, 0.9);
        summary->max_abs_pct = summary_percentile(work->abs_pct, 1);
        summary->mean_pct = work->abs_pct->len ? work->sum / work->abs_pct->len : NAN;
        g_ptr_array_add(summaries, summary);
        g_array_free(work->abs_pct, TRUE);
        g_free(work);
    }
    g_ptr_array_free(works, TRUE);
    return summaries;
}
