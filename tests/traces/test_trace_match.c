#include "tests/traces/trace_test.h"

#include "traces/record/match.h"
#include "traces/record/select.h"

static Trace *read_text(const char *text)
{
    GError *error = NULL;
    Trace *trace = trace_test_read("m.trace", text, strlen(text), FALSE, &error);
    if (!trace)
        fail_msg("%s", error->message);
    return trace;
}

#define HEAD "fanout-trace 1\nworld 4\ngroup a 0,1\ngroup b 2,3\n"

/* Proves that the k-th collective of a group on each rank is one collective, whatever else the
 * ranks do, and that sends meet receives of their tag. */
static void test_matching(void **state)
{
    (void)state;
    Trace *trace = read_text(HEAD "rank 0\n1 all_reduce group=a bytes=8\n2 all_gather group=a bytes=8\n3 send to=3 "
                                  "tag=5 bytes=64\n"
                                  "4 send to=3 tag=6 bytes=32\n"
                                  "rank 1\n1 compute 1us\n7 all_reduce group=a bytes=8\n9 all_gather group=a bytes=8\n"
                                  "rank 3\n1 recv from=0 tag=6 bytes=32\n2 recv from=0 tag=5 bytes=64\n");
    GError *error = NULL;
    Match *match = match_new(trace, FALSE, &error);
    if (!match)
        fail_msg("%s", error->message);
    assert_int_equal(match->items->len, 4);
    const MatchItem *item = &g_array_index(match->items, MatchItem, 1);
    assert_true(item->op == RECORD_ALL_GATHER && item->n == 2 && item->sequence == 1);
    assert_int_equal(trace_record(trace, g_array_index(match->members, guint32, item->first + 1))->source.node, 9);
    item = &g_array_index(match->items, MatchItem, 2);
    assert_int_equal(trace_record(trace, g_array_index(match->members, guint32, item->first + 1))->tag, 5);
    match_free(match);
    trace_free(trace);
}

/* Proves that each way in which ranks may not fit together is refused, naming both places, and that
 * lenient skips the communication, counts it and still comes to an end. */
static void test_mismatches(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
        guint64 skipped;
    } cases[] = {
        {"rank 0\n1 all_reduce group=a bytes=8\nrank 1\n1 broadcast group=a bytes=8\n",
         "operations differ in the 1. collective", 1},
        {"rank 0\n1 all_reduce group=a bytes=8\nrank 1\n1 all_reduce group=a bytes=16\n",
         "sizes differ in the 1. collective of group 'a': all_reduce of 8 bytes on rank 0 "
         "(m.trace:6: node 1), but all_reduce of 16 "
         "bytes on rank 1 (m.trace:8: node 1)",
         1},
        {"rank 0\n1 all_reduce group=a bytes=8 dtype=f32\nrank 1\n1 all_reduce group=a bytes=8 "
         "dtype=f16\n",
         "element types differ", 1},
        {"rank 0\n1 all_reduce group=a bytes=8 reduction=max\nrank 1\n1 all_reduce group=a "
         "bytes=8\n",
         "reductions differ", 1},
        {"rank 0\n1 broadcast group=a bytes=8 root=0\nrank 1\n1 broadcast group=a bytes=8 root=1\n", "roots differ", 1},
        {"rank 0\n1 all_reduce group=a bytes=8\n", "rank 1 takes no part in the 1. collective of group 'a'", 1},
        {"rank 0\n1 all_reduce group=a bytes=8\n", "its trace is missing: give the files of all ranks", 1},
        {"rank 0\n1 all_reduce group=a bytes=8\nrank 1\n1 compute 1us\n",
         "all ranks of a group should make the same calls", 1},
        {"rank 0\n1 send to=1 bytes=8\nrank 1\n1 recv from=0 bytes=9\n", "sizes differ: send of 8 bytes", 1},
        {"rank 0\n1 send to=1 bytes=8 tag=1\nrank 1\n1 recv from=0 bytes=8 tag=2\n", "finds no receive on rank 1", 2},
        {"rank 0\n1 recv from=3 bytes=8\n", "finds no send on rank 3, whose trace is missing", 1},
        {"group c 0,1\nrank 0\n1 all_reduce group=a bytes=8\n2 all_reduce group=c bytes=8 after=1\n"
         "rank 1\n1 all_reduce group=c bytes=8\n2 all_reduce group=a bytes=8 after=1\n",
         "ranks wait for each other for ever", 1},
        {"rank 0\n1 recv from=1 bytes=8\n2 send to=1 bytes=8 after=1\nrank 1\n1 recv from=0 "
         "bytes=8\n2 send to=0 bytes=8 after=1\n",
         "ranks wait for each other for ever", 1},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        char *text = g_strconcat(HEAD, cases[i].text, NULL);
        GError *error = NULL;
        Trace *trace = read_text(text);
        assert_null(match_new(trace, FALSE, &error));
        if (!strstr(error->message, cases[i].says))
            fail_msg("'%s' should say '%s'", error->message, cases[i].says);
        g_clear_error(&error);
        Match *match = match_new(trace, TRUE, &error);
        assert_non_null(match);
        assert_int_equal(trace_skipped(trace), cases[i].skipped);
        match_free(match);
        trace_free(trace);
        g_free(text);
    }
}

/* Proves that both ranks may send first: sends do not wait for receives. */
static void test_sends_first(void **state)
{
    (void)state;
    Trace *trace = read_text(HEAD "rank 0\n1 send to=1 bytes=8\n2 recv from=1 bytes=8 after=1\n"
                                  "rank 1\n1 send to=0 bytes=8\n2 recv from=0 bytes=8 after=1\n");
    Match *match = match_new(trace, FALSE, NULL);
    assert_non_null(match);
    match_free(match);
    trace_free(trace);
}

/* Proves that a selection keeps what was asked for, and leaves out, counted, what lies across its
 * edge. */
static void test_selection(void **state)
{
    (void)state;
    const char *text = HEAD "group all 0-3\nrank *\n1 compute 5us stream=1 start=0us\n2 all_reduce "
                            "group=a bytes=8 stream=1 start=5us\n"
                            "3 all_reduce group=all bytes=8 stream=1 start=9us\n";
    GArray *ranks = g_array_new(FALSE, FALSE, sizeof(guint32));
    guint32 r0 = 0;
    g_array_append_val(ranks, r0);
    guint32 r1 = 1;
    g_array_append_val(ranks, r1);
    static const struct {
        guint32 limit;
        gboolean ranks;
        guint64 from, to;
        guint records, items, played;
    } cases[] = {{2, FALSE, 0, 0, 8, 2, 2},
                 {0, TRUE, 0, 0, 6, 2, 1},
                 {0, FALSE, 5000000, 9000000, 4, 2, 2},
                 {0, FALSE, 9000000, 0, 4, 1, 1}};
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        Trace *trace = read_text(text);
        TraceSelection selection = {cases[i].limit, cases[i].ranks ? ranks : NULL, cases[i].from, cases[i].to};
        GError *error = NULL;
        assert_true(trace_select(trace, &selection, &error));
        Match *match = match_new(trace, FALSE, &error);
        if (!match)
            fail_msg("%s", error->message);
        guint played = 0;
        for (guint k = 0; k < match->items->len; k++)
            played += !g_array_index(match->items, MatchItem, k).skipped;
        assert_int_equal(trace->records->len, cases[i].records);
        assert_int_equal(match->items->len, cases[i].items);
        assert_int_equal(played, cases[i].played);
        match_free(match);
        trace_free(trace);
    }
    Trace *trace = read_text(text);
    GError *error = NULL;
    guint32 r9 = 9;
    g_array_append_val(ranks, r9);
    TraceSelection wrong = {.ranks = ranks};
    assert_false(trace_select(trace, &wrong, &error));
    g_clear_error(&error);
    trace_free(trace);
    g_array_free(ranks, TRUE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matching),
        cmocka_unit_test(test_mismatches),
        cmocka_unit_test(test_sends_first),
        cmocka_unit_test(test_selection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
