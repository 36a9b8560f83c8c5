#include "tests/traces/trace_test.h"

static const char good[] = "# a comment\n"
                           "fanout-trace 1\n"
                           "world 4\n"
                           "group pair 0,2\n"
                           "group all 0-3\n"
                           "rank 0\n"
                           "1 compute 12500ns stream=7 step=1 name=\"layer \\\"1\\\"\"\n"
                           "2 all_reduce group=pair bytes=1048576 dtype=bf16 reduction=max stream=40 gap=10us after=1\n"
                           "3 all_gather group=all bytes=4096 dtype=u8 stream=40\n"
                           "5 send bytes=64 to=3 tag=9 dtype=u8 after=3\n"
                           "rank 2\n"
                           "7 all_reduce group=pair bytes=1048576 dtype=bf16 reduction=max\n"
                           "8 all_gather group=all bytes=4096 dtype=u8 after=7\n"
                           "rank 1\n"
                           "1 all_gather group=all bytes=4096 dtype=u8\n"
                           "rank 3\n"
                           "1 all_gather group=all bytes=4096 dtype=u8\n"
                           "2 recv bytes=64 from=0 tag=9 dtype=u8 after=1\n";

static Trace *read_good(const char *text)
{
    GError *error = NULL;
    Trace *trace = trace_test_read("x.trace", text, strlen(text), FALSE, &error);
    if (!trace)
        fail_msg("%s", error->message);
    return trace;
}

/* Proves that every attribute of a line arrives in the record, and that sizes follow from bytes and
 * group. */
static void test_fields(void **state)
{
    (void)state;
    Trace *trace = read_good(good);
    assert_int_equal(trace->world, 4);
    assert_int_equal(trace->records->len, 9);
    assert_int_equal(trace->rank_first[1], 4);
    const Record *r = trace_record(trace, 0);
    assert_int_equal(r->op, RECORD_COMPUTE);
    assert_true(r->duration_ps == 12500000 && r->stream == 7 && r->step == 1);
    assert_string_equal(trace->names->pdata[r->name], "layer \"1\"");
    r = trace_record(trace, 1);
    assert_int_equal(r->op, RECORD_ALL_REDUCE);
    assert_true(r->bytes_in == 1048576 && r->bytes_out == 1048576 && r->gap_ps == 10000000);
    assert_true(r->dtype == RECORD_BF16 && r->reduction == RECORD_MAX && r->dep_count == 1);
    assert_int_equal(g_array_index(trace->deps, guint32, r->dep_first), 0);
    const RecordGroup *group = trace_group_at(trace, r->group);
    assert_true(group->n == 2 && group->ranks[1] == 2);
    r = trace_record(trace, 2);
    assert_true(r->bytes_in == 4096 && r->bytes_out == 16384 && record_bytes(r) == 16384);
    r = trace_record(trace, 3);
    assert_true(r->op == RECORD_SEND && r->peer == 3 && r->tag == 9 && r->group == RECORD_NO_GROUP);
    trace_free(trace);
}

/* Proves that what is written is read back as the same text: nothing is lost between the two. */
static void test_round_trip(void **state)
{
    (void)state;
    Trace *trace = read_good(good);
    char *first = write_text_string(trace);
    Trace *again = read_good(first);
    char *second = write_text_string(again);
    assert_string_equal(first, second);
    assert_non_null(strstr(first, "2 all_reduce group=pair bytes=1048576 dtype=bf16 reduction=max stream=40 "
                                  "gap=10us after=1\n"));
    g_free(first);
    g_free(second);
    trace_free(trace);
    trace_free(again);
}

/* Proves that a dependency which the stream's order already gives is dropped, and that doubled ones
 * count once. */
static void test_implied_dependencies(void **state)
{
    (void)state;
    Trace *trace = read_good("fanout-trace 1\nworld 1\nrank 0\n1 compute 1us stream=3\n"
                             "2 compute 1us stream=3 after=1\n3 compute 1us after=1,1,2\n");
    assert_int_equal(trace_record(trace, 1)->dep_count, 0);
    assert_int_equal(trace_record(trace, 2)->dep_count, 2);
    trace_free(trace);
}

/* Proves that 'rank *' stands for all ranks and is written so again. */
static void test_rank_star(void **state)
{
    (void)state;
    Trace *trace = read_good("fanout-trace 1\nworld 8\nrank *\n1 all_reduce bytes=8 dtype=f32\n");
    assert_true(trace->replicate && trace->records->len == 1);
    char *text = write_text_string(trace);
    assert_non_null(strstr(text, "rank *\n"));
    g_free(text);
    trace_free(trace);
}

#define HEAD "fanout-trace 1\nworld 4\ngroup g 0-1\nrank 0\n"

/* Proves that each kind of bad line is refused with its place and what would be right, and that
 * --lenient skips and counts it where only that operation is wrong. */
static void test_bad_lines(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
        guint64 skipped;
    } cases[] = {
        {HEAD "1 all_reduce bytes=0 dtype=f32\n", ":5: node 1: all_reduce of 0 bytes", 1},
        {HEAD "1 all_redoes bytes=8\n", ":5: node 1: 'all_redoes' should be an operation", 1},
        {HEAD "1 all_reduce bytes=99999999999999999999\n", "should be a number of bytes up to 1 TiB", 1},
        {HEAD "1 all_reduce bytes=-4\n", "'bytes=-4' should be", 1},
        {HEAD "1 all_reduce bytes=\"8\"x\n", "'bytes=8x' should be", 1},
        {HEAD "1 all_gather bytes=1099511627776\n", "should divide", 1},
        {HEAD "1 all_reduce group=h bytes=8\n", "'group=h' should be a group", 1},
        {HEAD "1 send bytes=8 to=4\n", "'to=4' should be a rank", 1},
        {HEAD "1 send bytes=8 to=0\n", "peer should be another rank", 1},
        {HEAD "1 send bytes=8\n", "a send needs to=RANK", 1},
        {HEAD "1 compute 5\n", "'5' should be a time with its unit", 1},
        {HEAD "1 compute 999999s\n", "lasts over a day", 1},
        {HEAD "1 compute 1us after=9\n", ":5: node 1: waits for node 9, which rank 0 does not have", 1},
        {HEAD "1 compute 1us after=2\n2 compute 1us after=1\n", "waits for itself", 1},
        {HEAD "1 compute 1us after=1\n", ":5: node 1: waits for itself", 1},
        {HEAD "1 compute 1us stream=1 after=2\n2 compute 1us stream=1\n", "waits for itself", 1},
        {HEAD "1 compute 1us\n1 compute 1us\n", ":6: node 1: rank 0 has another operation", 1},
        {HEAD "1 compute 1us name=\"x\n", "a quote (\") is not closed", 0},
        {HEAD "rank 0\n", "rank 0 is given twice", 0},
        {HEAD "rank 4\n", "should read 'rank R' with R below 4", 0},
        {HEAD "hello\n", "'hello' should be world, group, rank", 0},
        {"fanout-trace 2\nworld 2\n", ":1: should read 'fanout-trace 1'", 0},
        {"fanout-trace 1\nworld 0\n", "should read 'world N'", 0},
        {"fanout-trace 1\nworld 99999999999\n", "should read 'world N'", 0},
        {"fanout-trace 1\nworld 2\ngroup g 0-7\n", "each below 2", 0},
        {"fanout-trace 1\nworld 2\ngroup g 0-2\n", "each below 2", 0},
        {"fanout-trace 1\nworld 2\ngroup g 0,0\n", "named once", 0},
        {"fanout-trace 1\nworld 2\n1 compute 1us\n", "before the first 'rank' line", 0},
        {"fanout-trace 1\nworld 2\nrank 0\n", "holds no operation", 0},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        char *text = g_strconcat(cases[i].text, cases[i].skipped > 0 ? "77 compute 1us\n" : "", NULL);
        trace_test_refused("bad.trace", text, strlen(text), cases[i].says, cases[i].skipped);
        g_free(text);
    }
}

/* Proves that a skipped collective keeps its place in its group's sequence, so that later ones
 * still match. */
static void test_skipped_keeps_sequence(void **state)
{
    (void)state;
    const char *text = HEAD "1 all_reduce group=g bytes=0\n2 all_reduce group=g bytes=8 after=1\n";
    Trace *trace = trace_test_read("x", text, strlen(text), TRUE, NULL);
    assert_non_null(trace);
    assert_true(trace_record(trace, 0)->skipped);
    assert_int_equal(trace_record(trace, 1)->sequence, 1);
    assert_int_equal(trace_record(trace, 1)->dep_count, 1);
    trace_free(trace);
}

/* Proves that 'rank *' stands alone, in either order, and that a --world that contradicts the file is
 * said, while one that agrees is taken. */
static void test_contradictions(void **state)
{
    (void)state;
    static const char *const texts[] = {"fanout-trace 1\nworld 2\nrank *\n1 compute 1us\nrank 0\n1 compute 1us\n",
                                        "fanout-trace 1\nworld 2\nrank 1\n1 compute 1us\nrank *\n1 compute 1us\n"};
    for (guint i = 0; i < 2; i++) {
        trace_test_refused("x", texts[i], strlen(texts[i]),
                           ":5: 'rank *' says what every rank does, so no other rank line", 0);
    }
    const char *two = "fanout-trace 1\nworld 2\nrank 0\n1 compute 1us\n";
    for (guint32 world = 1; world <= 3; world++) {
        TraceReadSpec spec = {.world = world};
        GError *error = NULL;
        Trace *trace = trace_read_input(input_open_memory("x", two, strlen(two)), &spec, &error);
        assert_true((trace != NULL) == (world == 2));
        assert_true(trace || strstr(error->message, "says 2 ranks, but --world says"));
        g_clear_error(&error);
        trace_free(trace);
    }
}

/* Proves that groups whose names become the same word are written under words of their own, each once:
 * a word is not changed while it is looked up. */
static void test_group_words(void **state)
{
    (void)state;
    static const char *const names[] = {"a b", "a#b", "a=b", "a_b"};
    Trace *trace = trace_new("t");
    trace->world = 8;
    for (guint32 i = 0; i < G_N_ELEMENTS(names); i++) {
        for (guint32 r = 2 * i; r < 2 * i + 2; r++) {
            Record record;
            record_init(&record, r, RECORD_ALL_REDUCE);
            record.group = trace_group(trace, names[i], (const guint32[]){2 * i, 2 * i + 1}, 2);
            record_set_bytes_in(&record, 64, 2);
            trace_add(trace, &record);
        }
    }
    assert_true(trace_finish(trace, FALSE, NULL));
    char *text = write_text_string(trace);
    GError *error = NULL;
    Trace *again = trace_test_read("t", text, strlen(text), FALSE, &error);
    if (!again)
        fail_msg("%s\n%s", error->message, text);
    assert_int_equal(again->groups->len, 4 + (trace_group_at(again, 0)->n == 8));
    g_free(text);
    trace_free(trace);
    trace_free(again);
}

/* Proves that a gzip file is read like a plain one, and that one cut off is refused by its name. */
static void test_gzip(void **state)
{
    (void)state;
    char *dir = g_dir_make_tmp("fanout-XXXXXX", NULL);
    char *plain = g_build_filename(dir, "a.trace", NULL);
    assert_true(g_file_set_contents(plain, good, -1, NULL));
    char *command = g_strdup_printf("cd '%s' && gzip -k a.trace && head -c 120 a.trace.gz > cut.gz", dir);
    assert_int_equal(system(command), 0);
    char *zipped = g_strconcat(plain, ".gz", NULL), *cut = g_build_filename(dir, "cut.gz", NULL);
    const char *paths[] = {zipped}, *cut_paths[] = {cut};
    TraceReadSpec spec = {0};
    GError *error = NULL;
    GPtrArray *jobs = trace_read_jobs(paths, 1, &spec, &error);
    assert_non_null(jobs);
    assert_int_equal(((Trace *)jobs->pdata[0])->records->len, 9);
    g_ptr_array_free(jobs, TRUE);
    assert_null(trace_read_jobs(cut_paths, 1, &spec, &error));
    assert_true(g_error_matches(error, TRACE_ERROR, TRACE_ERROR_CUT_OFF));
    assert_non_null(strstr(error->message, "cut.gz: the gzip file ends too early"));
    g_clear_error(&error);
    g_free(command);
    command = g_strdup_printf("rm -r '%s'", dir);
    assert_int_equal(system(command), 0);
    g_free(command);
    g_free(zipped);
    g_free(cut);
    g_free(plain);
    g_free(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_implied_dependencies),
        cmocka_unit_test(test_rank_star),
        cmocka_unit_test(test_bad_lines),
        cmocka_unit_test(test_skipped_keeps_sequence),
        cmocka_unit_test(test_contradictions),
        cmocka_unit_test(test_group_words),
        cmocka_unit_test(test_gzip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
