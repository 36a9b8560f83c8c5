#include "tests/traces/trace_test.h"

#include "traces/record/match.h"

/* Bytes that each rank sends in a GOAL file read back, and whether its ranks come to an end. */
static void read_back(const char *path, guint64 *sent, guint32 world)
{
    TraceReadSpec spec = {0};
    GError *error = NULL;
    GPtrArray *jobs = trace_read_jobs(&path, 1, &spec, &error);
    if (!jobs)
        fail_msg("%s", error->message);
    Trace *trace = jobs->pdata[0];
    assert_int_equal(trace->world, world);
    Match *match = match_new(trace, FALSE, &error);
    if (!match)
        fail_msg("%s", error->message);
    for (guint i = 0; i < trace->records->len; i++) {
        const Record *r = trace_record(trace, i);
        sent[r->rank] += r->op == RECORD_SEND ? r->bytes_in : 0;
    }
    match_free(match);
    g_ptr_array_free(jobs, TRUE);
}

/* Proves that each operation taken apart for GOAL moves the bytes that its algorithm moves, is
 * matched on all ranks and comes to an end, for a number of ranks that is no power of two. */
static void test_goal(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        guint64 sent[5];
    } cases[] = {
        {"all_reduce bytes=500", {800, 800, 800, 800, 800}},
        {"all_gather bytes=100", {400, 400, 400, 400, 400}},
        {"reduce_scatter bytes=500", {400, 400, 400, 400, 400}},
        {"all_to_all bytes=500", {400, 400, 400, 400, 400}},
        {"barrier bytes=0", {3, 3, 3, 3, 3}},
        {"broadcast bytes=10 root=2", {0, 10, 30, 0, 0}},
        {"reduce bytes=10 root=2", {10, 10, 0, 10, 10}},
        {"gather bytes=10 root=1", {10, 0, 10, 10, 10}},
        {"scatter bytes=50 root=1", {0, 40, 0, 0, 0}},
    };
    char *path = g_build_filename(g_get_tmp_dir(), "fanout-test-convert.goal", NULL);
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        char *text =
            g_strdup_printf("fanout-trace 1\nworld 5\nrank *\n1 compute 5us stream=1\n2 %s gap=1us stream=1\n3 %s "
                            "stream=2 after=2\n",
                            cases[i].line, cases[i].line);
        GError *error = NULL;
        Trace *trace = trace_test_read("c.trace", text, strlen(text), FALSE, &error);
        assert_non_null(trace);
        assert_true(write_goal(trace, path, FALSE, &error));
        guint64 sent[5] = {0};
        read_back(path, sent, 5);
        guint64 total = 0, want = 0;
        for (guint r = 0; r < 5; r++) {
            total += sent[r];
            want += 2 * cases[i].sent[r];
            if (!strstr(cases[i].line, "broadcast"))
                assert_int_equal(sent[r], 2 * cases[i].sent[r]);
        }
        assert_int_equal(total, want);
        trace_free(trace);
        g_free(text);
    }
    g_unlink(path);
    g_free(path);
}

/* Proves that GOAL read and written again keeps every send, receive and calculation. */
static void test_goal_again(void **state)
{
    (void)state;
    Trace *trace = trace_test_read_shared("goal/binary_tree_32.goal");
    if (!trace)
        skip();
    char *path = g_build_filename(g_get_tmp_dir(), "fanout-test-again.goal", NULL);
    GError *error = NULL;
    assert_true(write_goal(trace, path, FALSE, &error));
    guint64 sent[32] = {0}, total = 0;
    read_back(path, sent, 32);
    for (guint r = 0; r < 32; r++)
        total += sent[r];
    assert_int_equal(total, 31);
    g_unlink(path);
    g_free(path);
    trace_free(trace);
}

/* Proves that a real trace (Kineto) written as text and as Chakra, and read back, is the same to
 * the picosecond. */
static void test_real_round_trip(void **state)
{
    (void)state;
    Trace *trace = trace_test_read_shared("kineto/ddp_resnet_2ranks.json.gz");
    if (!trace)
        skip();
    char *dir = g_dir_make_tmp("fanout-XXXXXX", NULL), *prefix = g_build_filename(dir, "k", NULL);
    GError *error = NULL;
    assert_true(write_chakra(trace, prefix, &error));
    TraceReadSpec spec = {0};
    const char *paths[] = {prefix};
    GPtrArray *jobs = trace_read_jobs(paths, 1, &spec, &error);
    if (!jobs)
        fail_msg("%s", error->message);
    char *before = write_text_string(trace), *after = write_text_string(jobs->pdata[0]);
    Trace *text = trace_test_read("k.trace", before, strlen(before), FALSE, &error);
    assert_non_null(text);
    char *again = write_text_string(text);
    assert_string_equal(again, before);
    /* Chakra numbers computations from 0, the text format from 1 */
    GRegex *numbers = g_regex_new("(?m)^[0-9]+ | after=[0-9,]+", 0, 0, NULL);
    char *bare_before = g_regex_replace_literal(numbers, before, -1, 0, "", 0, NULL);
    char *bare_after = g_regex_replace_literal(numbers, after, -1, 0, "", 0, NULL);
    assert_string_equal(bare_after, bare_before);
    char *command = g_strdup_printf("rm -r '%s'", dir);
    assert_int_equal(system(command), 0);
    g_free(command);
    g_regex_unref(numbers);
    g_free(bare_before);
    g_free(bare_after);
    g_free(before);
    g_free(after);
    g_free(again);
    g_free(prefix);
    g_free(dir);
    trace_free(text);
    trace_free(trace);
    g_ptr_array_free(jobs, TRUE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_goal),
        cmocka_unit_test(test_goal_again),
        cmocka_unit_test(test_real_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
