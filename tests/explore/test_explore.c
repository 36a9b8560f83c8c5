/* Lists, ranges and samples of sweeps; the reports that become rows. */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "explore/latin.h"
#include "explore/result.h"
#include "explore/values.h"
#include "explore/worker.h"

static const ParamRow flight = {"flight_ps", PARAM_U64_T, 0, "ps", 1000, 1000000, NULL, ""};

static void expect(const ValueType *type, const char *text, const char *all)
{
    g_autofree char *wrong = NULL;
    GPtrArray *values = values_parse(type, text, 100, &wrong);
    assert_non_null(values);
    g_ptr_array_add(values, NULL);
    g_autofree char *joined = g_strjoinv("|", (char **)values->pdata);
    assert_string_equal(joined, all);
    g_ptr_array_unref(values);
}

static void refuse(const ValueType *type, const char *text, const char *why)
{
    g_autofree char *wrong = NULL;
    assert_null(values_parse(type, text, 100, &wrong));
    if (!strstr(wrong, why))
        fail_msg("'%s': no '%s' in '%s'", text, why, wrong);
}

/* Lists and ranges give the values that a reader expects, in the key's own unit. */
static void test_values(void **state)
{
    (void)state;
    const ValueType number = {.kind = VALUE_NUMBER, .max = G_MAXINT64}, size = {.kind = VALUE_SIZE};
    const ValueType time = {.kind = VALUE_PARAM, .row = &flight}, text = {.kind = VALUE_TEXT};
    expect(&number, "5", "5");
    expect(&number, "1..16 x2", "1|2|4|8|16");
    expect(&number, "1..15 x2", "1|2|4|8");
    expect(&number, "0..10 +5, 3", "0|5|10|3");
    expect(&number, "1..9223372036854775807 x1000000000", "1|1000000000|1000000000000000000");
    expect(&number, "9223372036854775806..9223372036854775807 +5", "9223372036854775806");
    expect(&size, "4K..16K *2,1M", "4096|8192|16384|1048576");
    expect(&time, "100ns..1us+300ns", "100000|400000|700000|1000000");
    expect(&time, "100ns..1us+2us", "100000"); /* a step is no value: neither the least nor the largest one binds it */
    expect(&time, "1ns..3ns+500ps", "1000|1500|2000|2500|3000");
    expect(&text, "\"4,5, 5\", 6", "4,5, 5|6");
}

/* What is no list of values is refused with the reason, whatever its size. */
static void test_values_wrong(void **state)
{
    (void)state;
    const ValueType number = {.kind = VALUE_NUMBER, .max = G_MAXINT64};
    const ValueType time = {.kind = VALUE_PARAM, .row = &flight}, text = {.kind = VALUE_TEXT};
    refuse(&number, "1..", "has no end");
    refuse(&number, "..5 +1", "has no beginning");
    refuse(&number, "1..5", "has no step");
    refuse(&number, "1..5 +0", "never ends");
    refuse(&number, "1..5 x1", "2 or more");
    refuse(&number, "0..5 x2", "stays 0");
    refuse(&number, "5..1 +1", "backwards");
    refuse(&number, "1..101 +1", "more than the 100");
    refuse(&number, "0..9223372036854775807 +1", "more than the 100");
    refuse(&number, "1, 2, 1", "twice");
    refuse(&number, "1,,2", "missing");
    refuse(&number, "-1", "whole number");
    refuse(&time, "1..5000 +1000", "out of bounds");
    refuse(&time, "1us..2ms +1us", "out of bounds");
    refuse(&text, "\"open", "no end");
}

/* Each of n equal parts of the range has exactly one sample, for several seeds and ranges up to the widest. */
static void test_latin(void **state)
{
    (void)state;
    enum { N = 37 };
    static const guint64 ends[][2] = {{0, 36}, {5, 5 + 37 * 10 - 1}, {0, G_MAXUINT64}, {100, 100}};
    for (guint64 seed = 1; seed < 20; seed++)
        for (guint r = 0; r < G_N_ELEMENTS(ends); r++) {
            g_autofree guint64 *drawn = latin_draw(seed, "a", N, ends[r][0], ends[r][1]);
            guint seen[N] = {0};
            for (guint i = 0; i < N; i++) {
                assert_true(drawn[i] >= ends[r][0] && drawn[i] <= ends[r][1]);
                unsigned __int128 span = (unsigned __int128)ends[r][1] - ends[r][0] + 1;
                seen[(guint64)((unsigned __int128)(drawn[i] - ends[r][0]) * N / span)]++;
            }
            for (guint i = 0; i < N && r < 2; i++)
                assert_int_equal(seen[i], 1);
        }
}

/* A dimension's samples depend on its name and the seed, and on nothing else. */
static void test_latin_stream(void **state)
{
    (void)state;
    g_autofree guint64 *a = latin_draw(1, "a", 50, 0, 1000000), *again = latin_draw(1, "a", 50, 0, 1000000);
    g_autofree guint64 *b = latin_draw(1, "b", 50, 0, 1000000), *seed = latin_draw(2, "a", 50, 0, 1000000);
    assert_memory_equal(a, again, 50 * sizeof *a);
    assert_memory_not_equal(a, b, 50 * sizeof *a);
    assert_memory_not_equal(a, seed, 50 * sizeof *a);
}

static const Output *output(const Result *result, const char *name)
{
    for (guint i = 0; i < result->outputs->len; i++)
        if (strcmp(g_array_index(result->outputs, Output, i).name, name) == 0)
            return &g_array_index(result->outputs, Output, i);
    return NULL;
}

/* Numbers stay numbers, rows are told apart, and an exit code, a signal or no JSON at all is a status with its
 * reason. */
static void test_result(void **state)
{
    (void)state;
    static const char json[] = "{\"schema\": \"x\", \"seed\": 1, \"late_us\": 1.5, \"rows\": [{\"n\": 3, \"bw_GBps\": "
                               "2.25, "
                               "\"ok\": true, \"who\": null}, {\"n\": 4, \"bw_GBps\": 7}]}";
    Result *result = result_new(0, json, strlen(json), "", 0);
    assert_string_equal(result->status, "done");
    assert_null(result->error);
    assert_null(output(result, "seed"));
    assert_int_equal(output(result, "n")->integer, 3);
    assert_true(output(result, "bw_GBps")->real == 2.25);
    assert_int_equal(output(result, "n_2")->integer, 4);
    assert_int_equal(output(result, "who")->type, OUTPUT_NULL);
    result_free(result);
    result = result_new(1 << 8, "", 0, "fanout coll: no such thing\n", 27);
    assert_string_equal(result->status, "failed");
    assert_string_equal(result->error, "no such thing");
    result_free(result);
    result = result_new(9, "{", 1, "", 0);
    assert_string_equal(result->status, "died");
    assert_string_equal(result->error, "ended by signal 9");
    result_free(result);
    static const char *const wrong[] = {"{", "", "[{\"n\": 1}]", "3", "{\"n\": 1} {"};
    for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
        result = result_new(0, wrong[i], strlen(wrong[i]), "", 0);
        assert_string_equal(result->status, "failed");
        assert_int_equal(result->outputs->len, 0);
        result_free(result);
    }
}

/* Only the report's own facts and its rows, in this order, whatever stands between: not what other tables have, not
 * lists, and of a list of rows no more than 16. */
static void test_result_place(void **state)
{
    (void)state;
    GString *json = g_string_new("{\"a\": -7, \"rows\": [");
    for (guint i = 1; i <= 17; i++)
        g_string_append_printf(json, "%s{\"x\": %u, \"deep\": {\"y\": 1}, \"list\": [{\"z\": 2}, 3], \"w\": 1e3}",
                               i > 1 ? "," : "", i);
    g_string_append(json, "], \"links\": [{\"n\": 1}], \"rows_of\": {\"m\": 2}, \"said\": \"\\u00e9\"}\n");
    Result *result = result_new(0, json->str, json->len, "", 0);
    assert_int_equal(result->outputs->len, 2 + 2 * 16);
    assert_int_equal(g_array_index(result->outputs, Output, 0).integer, -7);
    assert_string_equal(g_array_index(result->outputs, Output, 1).text, "\303\251");
    assert_string_equal(g_array_index(result->outputs, Output, 2).name, "x");
    assert_true(output(result, "w_16")->real == 1000);
    assert_null(output(result, "x_17"));
    result_free(result);
    g_string_assign(json, "{\"rows\": {\"x\": 5, \"deep\": {\"y\": 1}}}");
    result = result_new(0, json->str, json->len, "", 0);
    assert_int_equal(result->outputs->len, 1);
    assert_int_equal(output(result, "x")->integer, 5);
    result_free(result);
    g_string_free(json, TRUE);
}

/* A name's last part is its unit, also behind the number of a row, and a word that only looks like one is none. */
static void test_units(void **state)
{
    (void)state;
    assert_string_equal(result_unit("busbw_GBps"), "GB/s");
    assert_string_equal(result_unit("GBps_2"), "GB/s");
    assert_string_equal(result_unit("time_us"), "us");
    assert_string_equal(result_unit("ctas"), "");
    assert_string_equal(result_unit("s"), "");
}

/* What a point says while it runs: nothing but whether it was told to keep its progress to itself. */
static int say_whether_quiet(int n, char **words)
{
    (void)n;
    (void)words;
    puts(g_getenv("FANOUT_QUIET") ? "quiet" : "loud");
    return 0;
}

/* A point that takes long does not say so on standard error, where it would be taken for the point's error: neither a
 * program of its own nor a copy of this one, whatever the sweep itself does. */
static void test_worker_is_quiet(void **state)
{
    (void)state;
    g_unsetenv("FANOUT_QUIET");
    char *words[] = {"/bin/sh", "-c", "echo ${FANOUT_QUIET:+quiet}", NULL};
    const WorkerMain ways[] = {NULL, say_whether_quiet};
    for (guint i = 0; i < G_N_ELEMENTS(ways); i++) {
        Worker worker = {0};
        g_auto(GStrv) argv = g_strdupv(words); /* which the copy frees, in its own memory */
        assert_true(worker_start(&worker, argv, ways[i], NULL));
        int status;
        while (!worker_has_ended(&worker, &status))
            g_usleep(1000);
        assert_int_equal(status, 0);
        WorkerOutput output;
        worker_collect(&worker, &output);
        assert_string_equal(output.out, "quiet\n");
        worker_output_clear(&output);
        worker_kill(&worker);
    }
    assert_null(g_getenv("FANOUT_QUIET"));
}

/* What a copy of this process does with a point: says its last word and how many it had before, and ends as told. */
static int say_which(int n, char **words)
{
    static int before;
    printf("%s after %d\n", words[n - 1], before++);
    return (int)g_ascii_strtoll(words[1], NULL, 10);
}

static pid_t end_of(Worker *worker, const char *code, const char *word, int *status, WorkerOutput *output)
{
    const char *const words[] = {"point", code, word, NULL};
    g_auto(GStrv) argv = g_strdupv((char **)words);
    assert_true(worker_start(worker, argv, say_which, NULL));
    const pid_t pid = worker->pid;
    while (!worker_has_ended(worker, status))
        g_usleep(1000);
    worker_collect(worker, output);
    return pid;
}

/* A copy takes one point after another, and what each printed is its own; after one that does not end well the next
 * point gets a new copy, and so it does when something ends a copy that waits. */
static void test_worker_goes_on(void **state)
{
    (void)state;
    static const struct {
        const char *code, *word, *says;
        gboolean is_new;
    } points[] = {{"0", "long words first", "long words first after 0\n", TRUE},
                  {"0", "", " after 1\n", FALSE},
                  {"3", "bad", "bad after 2\n", FALSE},
                  {"0", "next", "next after 0\n", TRUE},
                  {"0", "last", "last after 0\n", TRUE}};
    Worker worker = {0};
    pid_t before = 0;
    for (guint i = 0; i < G_N_ELEMENTS(points); i++) {
        WorkerOutput output;
        int status;
        if (i + 1 == G_N_ELEMENTS(points)) { /* it waits: something ends it */
            kill(before, SIGKILL);
            siginfo_t unused;
            waitid(P_PID, (id_t)before, &unused, WEXITED | WNOWAIT);
        }
        const pid_t pid = end_of(&worker, points[i].code, points[i].word, &status, &output);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), g_ascii_strtoll(points[i].code, NULL, 10));
        assert_string_equal(output.out, points[i].says);
        assert_int_equal(output.err_bytes, 0);
        assert_int_equal(pid != before, points[i].is_new);
        worker_output_clear(&output);
        before = pid;
    }
    worker_kill(&worker);
    assert_int_equal(worker.pid, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),         cmocka_unit_test(test_values_wrong),
        cmocka_unit_test(test_latin),          cmocka_unit_test(test_latin_stream),
        cmocka_unit_test(test_result),         cmocka_unit_test(test_units),
        cmocka_unit_test(test_result_place),   cmocka_unit_test(test_worker_is_quiet),
        cmocka_unit_test(test_worker_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
