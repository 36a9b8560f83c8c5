/* near: what measured neighbours of a cell say on it, and that a file which is none is refused. */
#include "tests/test.h"

#include <glib/gstdio.h>
#include <math.h>

#include "validate/error_model.h"
#include "validate/kriging.h"

#define HEAD VALIDATE_ERRORS_HEAD "\n"
#define ROW "dgx-h100,8,all_reduce,nccl,2.29.2,eager,1048576" /* what `cell` is */

static char *path; /* of the file that tests write */
static const ValidateCell cell_of_row = {.preset = "dgx-h100",
                                         .arch = 90,
                                         .op = COLL_ALL_REDUCE,
                                         .gpus = 8,
                                         .bytes = 1 << 20,
                                         .program = "nccl",
                                         .nccl = 2029002};

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

static gboolean same(double a, double b) { return fabs(a - b) < 1e-9; }

/* Proves the estimate from one value and from two by the formulas of two and three normal variables: of one, with prior
 * variance 4, noise 1 and correlation 0.5, mean 2 * 10 / 5 and variance 4 - 2 * 2 / 5; of two that know nothing of each
 * other the sums of both; and of none the prior. */
static void test_kriging(void **state)
{
    (void)state;
    const double value[] = {10, -5}, one[] = {1}, apart[] = {1, 0, 0, 1}, with[] = {0.5, 0.25};
    KrigingEstimate estimate = kriging_estimate(1, value, one, with, 2, 1);
    assert_true(same(estimate.mean, 4) && same(estimate.sd, sqrt(3.2)));
    estimate = kriging_estimate(2, value, apart, with, 2, 1);
    assert_true(same(estimate.mean, 4 - 1) && same(estimate.sd, sqrt(4 - 0.8 - 0.2)));
    estimate = kriging_estimate(0, value, one, with, 2, 1);
    assert_true(same(estimate.mean, 0) && same(estimate.sd, 2));
}

/* Proves that two values which are the same place, without noise to speak of, count as one: the mean of a place
 * measured twice as 10 is 10, and of one measured as 9 and 11, too. */
static void test_kriging_twice(void **state)
{
    (void)state;
    const double value[] = {9, 11}, correlation[] = {1, 1, 1, 1}, with[] = {1, 1};
    KrigingEstimate estimate = kriging_estimate(2, value, correlation, with, 100, 0.1);
    assert_true(fabs(estimate.mean - 10) < 1e-3 && estimate.sd < 0.1);
}

/* Proves that a cell which was measured is corrected by its own error, all but the share that noise may be, and that
 * its half-width is that of nine of ten of a normal distribution. */
static void test_measured(void **state)
{
    (void)state;
    g_autoptr(GString) text = g_string_new(HEAD);
    guint next = 0;
    add(text, VALIDATE_CALIBRATE, &next, ROW, -20);
    ValidateErrors *errors = load(text);
    ValidateNear near = validate_near(errors, &cell_of_row, VALIDATE_NEAR_ALL);
    const double prior = VALIDATE_NEAR_SD * VALIDATE_NEAR_SD, noise = VALIDATE_NEAR_NOISE_SD * VALIDATE_NEAR_NOISE_SD;
    assert_int_equal(near.rows, 1);
    assert_true(same(near.log_error, log(0.8) * prior / (prior + noise)));
    assert_true(same(near.half_width_pct, 100 * (exp(1.645 * sqrt(prior * noise / (prior + noise) + noise)) - 1)));
    assert_true(same(validate_near_time(&near, 80), 80 / exp(near.log_error)));
    validate_errors_free(errors);
}

/* Proves that each thing which is not the same takes its factor, and sizes and GPUs their distance in powers of two:
 * the estimate from one row is its error times the correlation, times what noise leaves. */
static void test_factors(void **state)
{
    (void)state;
    static const struct {
        const char *row;
        double correlation;
    } cases[] = {
        {"dgx-h100,8,all_reduce,nccl,2.29.7,eager,1048576", 1}, /* a repair is no other version */
        {"dgx-h100,8,all_reduce,nccl,2.30.4,eager,1048576", VALIDATE_NEAR_NCCL},
        {"dgx-h200,8,all_reduce,nccl,2.29.2,eager,1048576", VALIDATE_NEAR_MACHINE},
        {"dgx-h100,8,all_reduce,nccl,2.29.2,graph,1048576", 1},
        {"dgx-h100,8,all_reduce,nccl-sym,2.29.2,eager,1048576", 0},
        {"dgx-h100,8,all_reduce,vllm,2.29.2,eager,1048576", 0},
        {"dgx-h100,8,all_gather,nccl,2.29.2,eager,1048576", VALIDATE_NEAR_OP},
        {"hgx-b200,8,all_reduce,nccl,2.29.2,eager,1048576", 0},
        {"dgx-h100,8,all_reduce,nccl,2.29.2,eager,2097152", exp(-1 / VALIDATE_NEAR_SIZE_LENGTH)},
        {"dgx-h100,8,all_reduce,nccl,2.29.2,eager,524288", exp(-1 / VALIDATE_NEAR_SIZE_LENGTH)},
        {"dgx-h100,4,all_reduce,nccl,2.29.2,eager,1048576", exp(-1 / VALIDATE_NEAR_GPUS_LENGTH)},
        {"dgx-h200,8,all_reduce,nccl,2.29.2,eager,2097152",
         VALIDATE_NEAR_MACHINE * exp(-1 / VALIDATE_NEAR_SIZE_LENGTH)},
    };
    const double prior = VALIDATE_NEAR_SD * VALIDATE_NEAR_SD, noise = VALIDATE_NEAR_NOISE_SD * VALIDATE_NEAR_NOISE_SD;
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GString) text = g_string_new(HEAD);
        guint next = 0;
        add(text, VALIDATE_JUDGE, &next, cases[i].row, 10);
        ValidateErrors *errors = load(text);
        ValidateNear near = validate_near(errors, &cell_of_row, VALIDATE_NEAR_ALL);
        if (cases[i].correlation >= VALIDATE_NEAR_LEAST) {
            assert_int_equal(near.rows, 1);
            if (!same(near.log_error, cases[i].correlation * log(1.1) * prior / (prior + noise)))
                fail_msg("%s: %g", cases[i].row, near.log_error);
        } else {
            assert_true(near.rows == 0 && near.log_error == 0 && isnan(near.half_width_pct));
        }
        validate_errors_free(errors);
    }
}

/* Proves that the model is judged by the rows of the other half alone, and that no row is its own neighbour. */
static void test_judge(void **state)
{
    (void)state;
    g_autoptr(GString) text = g_string_new(HEAD);
    guint next = 0;
    add(text, VALIDATE_JUDGE, &next, ROW, 30);
    ValidateErrors *errors = load(text);
    assert_int_equal(validate_near(errors, &cell_of_row, VALIDATE_NEAR_ALL).rows, 1);
    assert_int_equal(validate_near(errors, &cell_of_row, VALIDATE_NEAR_TO_JUDGE).rows, 0);
    validate_errors_free(errors);

    guint first = 0;
    g_autofree char *id = id_of(VALIDATE_CALIBRATE, &first);
    next = 0;
    add(text, VALIDATE_CALIBRATE, &next, ROW, 30);
    errors = load(text);
    ValidateCell cell = cell_of_row;
    assert_int_equal(validate_near(errors, &cell, VALIDATE_NEAR_TO_JUDGE).rows, 1);
    cell.id = id;
    assert_int_equal(validate_near(errors, &cell, VALIDATE_NEAR_TO_JUDGE).rows, 0);
    validate_errors_free(errors);
}

/* Proves that rows of a run take the place of those with their ids, are corrected by the others, and are counted where
 * they lie within what was claimed: two rows 20 % fast, of which one is to judge and is 0.6 % off afterwards. */
static void test_rows(void **state)
{
    (void)state;
    guint next = 0;
    g_autofree char *first = id_of(VALIDATE_CALIBRATE, &next), *second = id_of(VALIDATE_JUDGE, &next);
    ValidateRow known = {.id = first,
                         .preset = "dgx-h100",
                         .gpus = "8",
                         .op = "all_reduce",
                         .algo = "auto",
                         .program = "nccl",
                         .timing = "eager",
                         .bytes = 1 << 20,
                         .schema = VALIDATE_PUBLISHED,
                         .measured = 100,
                         .simulated = 80};
    ValidateRow judged = known;
    judged.id = second;
    g_autoptr(GPtrArray) rows = g_ptr_array_new();
    g_ptr_array_add(rows, &known);
    g_ptr_array_add(rows, &judged);
    g_autoptr(GString) text = g_string_new(HEAD);
    g_string_append_printf(text, "%s," ROW ",100,100\n", first); /* as an older model had it */
    ValidateErrors *errors = load(text);
    validate_errors_add(errors, rows);
    assert_int_equal(validate_errors_count(errors), 2);
    guint covered;
    g_autoptr(GPtrArray) corrected = validate_near_rows(errors, rows, &covered);
    assert_int_equal(corrected->len, 1); /* the first has no neighbour but itself and the half that judges */
    assert_int_equal(covered, 1);
    const ValidateRow *row = g_ptr_array_index(corrected, 0);
    const double prior = VALIDATE_NEAR_SD * VALIDATE_NEAR_SD, noise = VALIDATE_NEAR_NOISE_SD * VALIDATE_NEAR_NOISE_SD;
    assert_true(same(row->simulated, 80 * exp(-log(0.8) * prior / (prior + noise))));
    assert_true(same(row->error_pct, row->simulated - 100));
    validate_errors_free(errors);
}

/* Proves that the errors that come with Fanout can be read, and are of both generations. */
static void test_shipped(void **state)
{
    (void)state;
    ValidateErrors *errors = validate_errors_new(NULL, NULL);
    assert_non_null(errors);
    assert_true(validate_errors_count(errors) > 900);
    ValidateCell cell = cell_of_row;
    for (guint i = 0; i < 2; i++) {
        cell.preset = i ? "hgx-b200" : "dgx-h100";
        cell.arch = i ? 100 : 90;
        cell.bytes = 16 << 20;
        ValidateNear near = validate_near(errors, &cell, VALIDATE_NEAR_ALL);
        assert_true(near.rows >= 8 && near.rows <= VALIDATE_NEAR_ROWS);
        assert_true(near.half_width_pct > 0 && near.half_width_pct < 30 && fabs(near.log_error) < 0.5);
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
                        .algo = "auto",
                        .program = "nccl",
                        .nccl = 2027005,
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
    g_autofree char *text = NULL;
    assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_autofree char *line =
        g_strdup_printf(HEAD "%s,gb200-nvl72,72,all_reduce,nccl,2.27.5,eager,536870912,1806.700,2000.000\n", id);
    assert_string_equal(text, line);
    ValidateErrors *errors = validate_errors_new(path, NULL);
    assert_int_equal(validate_errors_count(errors), 1);
    validate_errors_free(errors);
}

/* Proves that a file that is none of errors is refused, with its line and what is wrong there. */
static void test_bad(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", ":1: the first line"},
        {"id,preset\n", ":1: the first line"},
        {HEAD "a,b\n", ":2: not ten columns"},
        {HEAD "a,dgx-h100,8,sum,nccl,,eager,1024,1,1\n", ":2: op: 'sum'"},
        {HEAD "a,dgx-h100,1,all_reduce,nccl,,eager,1024,1,1\n", ":2: gpus: '1'"},
        {HEAD "a,dgx-h100,8,all_reduce,nccl,,eager,0,1,1\n", ":2: bytes: '0'"},
        {HEAD "a,dgx-h100,8,all_reduce,nccl,1.2,eager,1024,1,1\n", ":2: nccl: '1.2'"},
        {HEAD "a,dgx-h100,8,all_reduce,nccl,,eager,1024,-1,1\n", ":2: measured_us: '-1'"},
        {HEAD "a,dgx-h100,8,all_reduce,nccl,,eager,1024,1,inf\n", ":2: simulated_us: 'inf'"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        GError *error = NULL;
        assert_true(g_file_set_contents(path, cases[i].text, -1, NULL));
        assert_null(validate_errors_new(path, &error));
        if (!strstr(error->message, cases[i].says))
            fail_msg("%s", error->message);
        g_error_free(error);
    }
}

/* Proves that a planner's table is read as what it says, units and names of types and operations included, and that one
 * which is none is refused with its line. */
static void test_planner(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"", ":1: the file is empty"},
        {"num_gpus,message_size,latency\n", ":1: no column"},
        {"nccl_dtype,num_gpus,message_size,latency\nhalf,8,1024\n", ":2: not as many fields"},
        {"nccl_dtype,num_gpus,message_size,latency\nint3,8,1024,1\n", ":2: a type must be"},
        {"nccl_dtype,num_gpus,message_size,latency\nhalf,1,1024,1\n", ":2: num_gpus must be"},
        {"nccl_dtype,num_gpus,message_size,latency\nhalf,8,x,1\n", ":2: message_size must be"},
        {"nccl_dtype,num_gpus,message_size,latency\nhalf,8,1024,0\n", ":2: latency must be"},
        {"op_name,nccl_dtype,num_gpus,message_size,latency\nsum,half,8,1024,1\n", ":2: op_name is not"},
    };
    g_autoptr(GPtrArray) rows = validate_rows_new();
    assert_true(g_file_set_contents(path,
                                    "framework,version,op_name,kernel_source,nccl_dtype,num_gpus,message_size,latency\n"
                                    "x,2.27.5,alltoall,NCCL,bfloat16,4,1024,0.025\n"
                                    "x,1.0,all_reduce,TRTLLM,float,2,512,0.004\n",
                                    -1, NULL));
    assert_true(validate_load_planner(rows, path, "dgx-h200", NULL));
    assert_int_equal(rows->len, 2);
    const ValidateRow *row = g_ptr_array_index(rows, 0), *other = g_ptr_array_index(rows, 1);
    assert_string_equal(row->op, "all_to_all");
    assert_string_equal(row->program, "nccl");
    assert_string_equal(row->timing, "eager");
    assert_string_equal(row->preset, "dgx-h200");
    assert_int_equal(row->nccl, 2027005);
    assert_int_equal(row->bytes, 2048);
    assert_true(same(row->measured, 25));
    assert_string_equal(other->program, "trtllm");
    assert_string_equal(other->timing, "graph");
    assert_int_equal(other->nccl, 0);
    assert_int_equal(other->bytes, 2048);
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        GError *error = NULL;
        assert_true(g_file_set_contents(path, bad[i][0], -1, NULL));
        assert_false(validate_load_planner(rows, path, "dgx-h200", &error));
        if (!strstr(error->message, bad[i][1]))
            fail_msg("%s", error->message);
        g_error_free(error);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kriging), cmocka_unit_test(test_kriging_twice), cmocka_unit_test(test_measured),
        cmocka_unit_test(test_factors), cmocka_unit_test(test_judge),         cmocka_unit_test(test_rows),
        cmocka_unit_test(test_shipped), cmocka_unit_test(test_save),          cmocka_unit_test(test_bad),
        cmocka_unit_test(test_planner),
    };
    path = g_build_filename(g_get_tmp_dir(), "fanout-errors-XXXXXX", NULL);
    int fd = g_mkstemp(path);
    assert_true(fd >= 0);
    g_close(fd, NULL);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    g_unlink(path);
    g_free(path);
    return failed;
}
