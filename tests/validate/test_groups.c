/* validate/fidelity.c, validate/summary.c: which group of published rows a row is of, at the edges of each, and what is
 * said of a group, worked out by hand. */
#include "tests/test.h"

#include <math.h>

#include "validate/validate.h"

#define MIB (1ull << 20)

static const struct {
    const char *preset, *gpus, *timing, *op;
    guint64 bytes;
    const char *group; /* NULL: none */
    gboolean all_to_all;
} rows[] = {
    /* Hopper: 5 to 8 GPUs, and 2 to 4, from 4 MiB on */
    {"dgx-h100", "8", "graph", "all_reduce", 4 * MIB, "hopper8", FALSE},
    {"dgx-h200", "5", "eager", "all_gather", 64 * MIB, "hopper8", FALSE},
    {"dgx-h100", "4", "graph", "all_reduce", 4 * MIB, "hopper4", FALSE},
    {"dgx-h200", "2", "kernel", "all_reduce", 4 * MIB, "hopper4", FALSE},
    {"dgx-h100", "9", "graph", "all_reduce", 4 * MIB, NULL, FALSE},
    {"dgx-h100", "1", "graph", "all_reduce", 4 * MIB, NULL, FALSE},
    /* A100 */
    {"dgx-a100", "2", "eager", "all_reduce", 4 * MIB, "ampere", FALSE},
    {"dgx-a100", "8", "eager", "all_reduce", 4 * MIB, "ampere", FALSE},
    {"dgx-a100", "8", "eager", "all_reduce", 4 * MIB - 1, NULL, FALSE},
    /* trays of four: any size; one host's 2 to 4 of them are Blackwell's like any */
    {"gb200-nvl72", "5", "eager", "all_reduce", 1, "trays", FALSE},
    {"gb300-nvl72", "64", "graph", "all_reduce", 64 * MIB, "trays", FALSE},
    {"gb200-nvl72", "4", "graph", "all_reduce", 4 * MIB, "blackwell8", FALSE},
    {"hgx-b200", "8", "graph", "all_reduce", 4 * MIB, "blackwell8", FALSE},
    {"hgx-b300", "2", "graph", "all_reduce", 4 * MIB, "blackwell8", FALSE},
    {"gb200-nvl72", "65", "eager", "all_reduce", 4 * MIB, "nvl72", FALSE},
    {"gb300-nvl72", "72", "eager", "all_reduce", 4 * MIB, "nvl72", FALSE},
    {"gb300-nvl72", "73", "eager", "all_reduce", 4 * MIB, NULL, FALSE},
    /* small ones, by how they were timed */
    {"dgx-h100", "2", "graph", "all_reduce", 4 * MIB - 1, "graph", FALSE},
    {"gb200-nvl72", "72", "kernel", "all_reduce", 8, "graph", FALSE},
    {"hgx-b200", "8", "eager", "all_reduce", 8, "eager", FALSE},
    {"hgx-b200", "8", "other", "all_reduce", 8, NULL, FALSE},
    {"hgx-b200", "1", "eager", "all_reduce", 8, NULL, FALSE},
    /* and of these, again, all_to_all, large */
    {"dgx-h100", "8", "graph", "all_to_all", 4 * MIB, "hopper8", TRUE},
    {"dgx-a100", "2", "graph", "all_to_all", 4 * MIB, "ampere", TRUE},
    {"gb200-nvl72", "72", "graph", "all_to_all", 4 * MIB, "nvl72", TRUE},
    {"dgx-h100", "8", "graph", "all_to_all", 4 * MIB - 1, "graph", FALSE},
};

static ValidateRow row_of(guint i)
{
    return (ValidateRow){.schema = VALIDATE_PUBLISHED,
                         .file = (char *)"f.csv",
                         .group = (char *)"nvls",
                         .preset = (char *)rows[i].preset,
                         .gpus = (char *)rows[i].gpus,
                         .timing = (char *)rows[i].timing,
                         .op = (char *)rows[i].op,
                         .bytes = rows[i].bytes};
}

static const ValidateFidelity *group_named(const char *key)
{
    const ValidateFidelity *group = validate_fidelity;
    while (group->name && strcmp(group->key, key) != 0)
        group++;
    assert_non_null(group->name);
    return group;
}

/* Proves of which group a row is, at both edges of each. */
static void test_groups(void **state)
{
    (void)state;
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        const ValidateRow row = row_of(i);
        const ValidateFidelity *group = validate_fidelity_of(&row);
        if (g_strcmp0(group ? group->key : NULL, rows[i].group) != 0)
            fail_msg("row %u: %s, should be %s", i, group ? group->key : "none",
                     rows[i].group ? rows[i].group : "none");
        assert_int_equal(validate_fidelity_has(group_named("all_to_all"), &row), rows[i].all_to_all);
    }
}

static void summary_is(const GPtrArray *all, const char *name, guint n, guint skipped, double median, double p90,
                       double most, double mean)
{
    for (guint i = 0; i < all->len; i++) {
        const ValidateSummary *summary = all->pdata[i];
        if (strcmp(summary->name, name) != 0)
            continue;
        assert_int_equal(summary->rows, n);
        assert_int_equal(summary->skipped, skipped);
        if (n == skipped) {
            assert_true(isnan(summary->median_abs_pct) && isnan(summary->mean_pct));
            return;
        }
        assert_true(fabs(summary->median_abs_pct - median) < 1e-9 && fabs(summary->p90_abs_pct - p90) < 1e-9);
        assert_true(fabs(summary->max_abs_pct - most) < 1e-9 && fabs(summary->mean_pct - mean) < 1e-9);
        return;
    }
    fail_msg("no %s", name);
}

/* Errors of 10, -20 and 60 % on eight Hoppers, the last of an all_to_all, and a row that was skipped: of 10, 20, 60 the
 * median is 20, nine tenths of the way 20 + 0.8 * 40, the mean 50 / 3; the all_to_all is one for itself, too. */
static void test_summaries(void **state)
{
    static const guint which[] = {0, 1, 22, 0};
    static const double error_pct[] = {10, -20, 60, 0};
    ValidateRow row[G_N_ELEMENTS(which)];
    GPtrArray *array = g_ptr_array_new();
    (void)state;
    for (guint i = 0; i < G_N_ELEMENTS(which); i++) {
        row[i] = row_of(which[i]);
        row[i].error_pct = error_pct[i];
        row[i].skipped = i == 3 ? (char *)"why" : NULL;
        g_ptr_array_add(array, &row[i]);
    }
    g_autoptr(GPtrArray) groups = validate_summarize(array, VALIDATE_BY_FIDELITY);
    summary_is(groups, group_named("hopper8")->name, 4, 1, 20, 52, 60, 50.0 / 3);
    summary_is(groups, group_named("all_to_all")->name, 1, 0, 60, 60, 60, 60);
    summary_is(groups, group_named("hopper4")->name, 0, 0, 0, 0, 0, 0);
    g_autoptr(GPtrArray) files = validate_summarize(array, VALIDATE_BY_FILE);
    assert_int_equal(files->len, 1);
    summary_is(files, "f.csv", 4, 1, 20, 52, 60, 50.0 / 3);
    g_autoptr(GPtrArray) overall = validate_summarize(array, VALIDATE_OVERALL);
    summary_is(overall, "overall", 4, 1, 20, 52, 60, 50.0 / 3);
    g_ptr_array_free(array, TRUE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_groups), cmocka_unit_test(test_summaries)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
