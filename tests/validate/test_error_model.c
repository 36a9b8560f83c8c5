/* near: what the uncertainty of a cell is taken from, and that a file which is none is refused. */
#include "tests/test.h"

#include <glib/gstdio.h>
#include <math.h>

#include "validate/error_model.h"
#include "validate/validate.h"

#define HEAD "id,preset,gpus,op,program,timing,bytes,measured_us,simulated_us\n"

static char *path; /* of the file that tests write */

/* An id of the half that judges, or of the other one. */
static char *id_of(ValidateHalf half, guint *next)
{
    for (;;) {
        char *id = g_strdup_printf("row-%u", (*next)++);
        ValidateRow row = {.id = id};
        if (validate_half(&row) == half)
            return id;
        g_free(id);
    }
}

static void add(GString *text, ValidateHalf half, guint *next, const char *what, double error_pct)
{
    g_autofree char *id = id_of(half, next);
    char simulated[G_ASCII_DTOSTR_BUF_SIZE];
    g_string_append_printf(text, "%s,%s,100,%s\n", id, what,
                           g_ascii_dtostr(simulated, sizeof simulated, 100 + error_pct));
}

static ValidateErrors *load(const GString *text)
{
    assert_true(g_file_set_contents(path, text->str, (gssize)text->len, NULL));
    GError *error = NULL;
    ValidateErrors *errors = validate_errors_new(path, &error);
    if (!errors)
        fail_msg("%s", error->message);
    return errors;
}

/* Proves the rule: the nearest eight rows of the same operation, launch, program and generation, of the half that
 * judges; the half-width is the 90th percentile of their absolute errors; twice the GPUs is as far as four times the
 * size, and beyond a distance of four nothing is near. */
static void test_rule(void **state)
{
    (void)state;
    g_autoptr(GString) text = g_string_new(HEAD);
    guint next = 0;
    for (guint i = 0; i < 8; i++) /* -1, 2, -3 ... 8 % */
        add(text, VALIDATE_JUDGE, &next, "hgx-b200,8,all_reduce,nccl,eager,1048576", (i % 2 ? 1.0 : -1.0) * (i + 1));
    add(text, VALIDATE_CALIBRATE, &next, "hgx-b200,8,all_reduce,nccl,eager,1048576", 90);
    add(text, VALIDATE_JUDGE, &next, "hgx-b200,8,all_reduce,nccl,eager,2097152", 50); /* not among the nearest eight */
    add(text, VALIDATE_JUDGE, &next, "dgx-h100,8,all_reduce,nccl,eager,1048576", 70);
    add(text, VALIDATE_JUDGE, &next, "hgx-b200,8,all_gather,nccl,eager,1048576", 71);
    add(text, VALIDATE_JUDGE, &next, "hgx-b200,8,all_reduce,vllm,eager,1048576", 72);
    add(text, VALIDATE_JUDGE, &next, "hgx-b200,8,all_reduce,nccl,graph,1048576", 73);
    ValidateErrors *errors = load(text);
    assert_int_equal(validate_errors_count(errors), 13);
    ValidateCell cell = {100, COLL_ALL_REDUCE, 8, 1 << 20, VALIDATE_NCCL, TRUE};
    ValidateNear near = validate_near(errors, &cell);
    assert_int_equal(near.rows, 8);
    assert_true(fabs(near.half_width_pct - 8) < 1e-6); /* of fewer than ten the largest */
    assert_true(fabs(near.mean_pct - 0.5) < 1e-6);
    cell.bytes = 2 << 20; /* the row of its own size, and the eight, which are all as near as the second */
    near = validate_near(errors, &cell);
    assert_int_equal(near.rows, 9);
    assert_true(fabs(near.half_width_pct - 50) < 1e-6);
    cell = (ValidateCell){103, COLL_ALL_REDUCE, 16, 4 << 20, VALIDATE_NCCL, TRUE}; /* 2 + 2 from 1 MiB on 8 */
    assert_int_equal(validate_near(errors, &cell).rows, 9);
    cell.gpus = 64; /* 6 away */
    assert_int_equal(validate_near(errors, &cell).rows, 0);
    cell = (ValidateCell){90, COLL_ALL_REDUCE, 8, 1 << 20, VALIDATE_NCCL, TRUE}; /* one row alone says nothing */
    assert_int_equal(validate_near(errors, &cell).rows, 0);
    validate_errors_free(errors);
}

/* Proves that of ten rows and more the 90th percentile is meant, and not the largest. */
static void test_p90(void **state)
{
    (void)state;
    g_autoptr(GString) text = g_string_new(HEAD);
    guint next = 0;
    for (guint i = 0; i < 20; i++)
        add(text, VALIDATE_JUDGE, &next, "dgx-h200,4,all_gather,nccl,eager,65536", i + 1);
    ValidateErrors *errors = load(text);
    ValidateCell cell = {90, COLL_ALL_GATHER, 4, 65536, VALIDATE_NCCL, TRUE};
    ValidateNear near = validate_near(errors, &cell);
    assert_int_equal(near.rows, 20); /* all are as near as the eighth */
    assert_true(fabs(near.half_width_pct - 18) < 1e-6);
    validate_errors_free(errors);
}

/* Proves that the errors that come with Fanout can be read, and are of both generations. */
static void test_shipped(void **state)
{
    (void)state;
    ValidateErrors *errors = validate_errors_new(NULL, NULL);
    assert_non_null(errors);
    assert_true(validate_errors_count(errors) > 200);
    for (guint64 arch = 90; arch <= 100; arch += 10) {
        ValidateCell cell = {arch, COLL_ALL_REDUCE, 8, 16 << 20, VALIDATE_NCCL, TRUE};
        ValidateNear near = validate_near(errors, &cell);
        assert_true(near.rows >= 8 && near.half_width_pct > 0 && near.half_width_pct < 60);
    }
    validate_errors_free(errors);
}

/* Proves that what is written is read again, row by row. */
static void test_save(void **state)
{
    (void)state;
    guint next = 0;
    g_autofree char *id = id_of(VALIDATE_JUDGE, &next);
    ValidateRow good = {.id = id,
                        .preset = "gb200-nvl72",
                        .gpus = "72",
                        .op = "all_reduce",
                        .program = "nccl",
                        .timing = "eager",
                        .bytes = 512 << 20,
                        .schema = VALIDATE_PUBLISHED,
                        .measured = 1806.7,
                        .simulated = 2000};
    ValidateRow skipped = good, ours = good;
    skipped.skipped = "why";
    ours.schema = VALIDATE_MEASURED;
    g_autoptr(GPtrArray) rows = g_ptr_array_new();
    g_ptr_array_add(rows, &good);
    g_ptr_array_add(rows, &skipped);
    g_ptr_array_add(rows, &ours);
    assert_true(validate_errors_save(rows, path, NULL));
    ValidateErrors *errors = validate_errors_new(path, NULL);
    assert_int_equal(validate_errors_count(errors), 1);
    validate_errors_free(errors);
}

/* Proves that a file that is none of errors is refused, with its line and what is wrong there. */
static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why;
    } files[] = {
        {"", ":1: the first line"},
        {"id,preset\n", ":1: the first line"},
        {HEAD "a,dgx-h100,8,all_reduce,nccl,eager,1024,1\n", ":2: not nine columns"},
        {HEAD "a,dgx-h100,8,all_deduce,nccl,eager,1024,1,1\n", ":2: op: 'all_deduce'"},
        {HEAD "\na,dgx-h100,1,all_reduce,nccl,eager,1024,1,1\n", ":3: gpus: '1'"},
        {HEAD "a,dgx-h100,8,all_reduce,nccl,eager,1K,1,1\n", ":2: bytes: '1K'"},
        {HEAD "a,dgx-h100,8,all_reduce,nccl,eager,1024,0,1\n", ":2: measured_us: '0'"},
        {HEAD "a,dgx-h100,8,all_reduce,nccl,eager,1024,1,nan\n", ":2: simulated_us: 'nan'"},
        {HEAD "a,dgx-h100,8,all_reduce,nccl,eager,1024,1,\n", ":2: simulated_us: ''"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(files); i++) {
        GError *error = NULL;
        assert_true(g_file_set_contents(path, files[i].text, -1, NULL));
        assert_null(validate_errors_new(path, &error));
        if (!strstr(error->message, files[i].why))
            fail_msg("file %u: %s", i, error->message);
        g_error_free(error);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rule), cmocka_unit_test(test_p90),
                                       cmocka_unit_test(test_shipped), cmocka_unit_test(test_save),
                                       cmocka_unit_test(test_refusals)};
    g_autofree char *folder = g_dir_make_tmp("near-XXXXXX", NULL);
    path = g_build_filename(folder, "errors.csv", NULL);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    g_unlink(path);
    g_rmdir(folder);
    g_free(path);
    return failed;
}
