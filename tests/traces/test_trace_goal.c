#include "tests/traces/trace_test.h"

static Trace *read_text(const char *text)
{
    GError *error = NULL;
    Trace *trace = trace_test_read("x.goal", text, strlen(text), FALSE, &error);
    if (trace == NULL) {
        fail_msg("%s", error->message);
    }
    return trace;
}

/* Proves that sends, receives, calculations, tags, comments and both kinds of dependency arrive as
 * meant. */
static void test_operations(void **state)
{
    (void)state;
    Trace *trace =
        read_text("/* two\n lines */ num_ranks 2 // two ranks\nrank 0 {\na: calc 100 cpu 1\n"
                  "b: send 8b to 1 tag 7 nic 0\nb requires a\nc: calc 5\nc irequires b\n}\n"
                  "rank 1 {\nrecv 8b from 0 tag 7\n}\n");
    assert_int_equal(trace->world, 2);
    assert_int_equal(trace->records->len, 4);
    const Record *r = trace_record(trace, 0);
    assert_true(r->op == RECORD_COMPUTE && r->duration_ps == 100000 && r->source.line == 4);
    r = trace_record(trace, 1);
    assert_true(r->op == RECORD_SEND && r->bytes_in == 8 && r->peer == 1 && r->tag == 7 &&
                r->dep_count == 1);
    r = trace_record(trace, 2);
    assert_int_equal(g_array_index(trace->deps, guint32, r->dep_first), 0);
    trace_free(trace);
}

/* Proves that wrong lines are refused by line, and counted when lenient. */
static void test_bad_lines(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
        guint64 skipped;
    } cases[] = {
        {"num_ranks 2\nrank 0 {\ncalc 1\nsend 0b to 1\n}\n", ":4: send of 0 bytes", 1},
        {"num_ranks 2\nrank 0 {\ncalc 1\nsend 8b to 2\n}\n",
         ":4: should read 'send BYTESb to RANK'", 1},
        {"num_ranks 2\nrank 0 {\ncalc 1\nsend 99999999999999999999b to 1\n}\n", "at most 1 TiB", 1},
        {"num_ranks 2\nrank 0 {\ncalc 1\nrecv 8b from -1\n}\n", "cannot be matched before the run",
         1},
        {"num_ranks 2\nrank 0 {\ncalc 1\nbcast 8b to 1\n}\n",
         "'bcast' should be send, recv or calc", 1},
        {"num_ranks 2\nrank 0 {\na: calc 1\na requires zz\n}\n",
         ":4: requires 'zz', which rank 0 does not have", 1},
        {"num_ranks 2\nrank 0 {\na: calc 1\nb: calc 1\na requires b\nb requires a\n}\n",
         "waits for itself", 1},
        {"num_ranks 2\nrank 0 {\na: calc 1\na: calc 2\n}\n", "label 'a' is given twice", 1},
        {"num_ranks 2\nrank 0 {\ncalc 1\n", "rank 0 is not closed", 1},
        {"num_ranks 2\nrank 2 {\ncalc 1\n}\n", ":2: should read 'rank R {' with R below num_ranks",
         0},
        {"num_ranks 0\n", ":1: should read 'num_ranks N'", 0},
        {"num_ranks 2\nrank 0 {\n}\nrank 0 {\n}\n", "rank 0 is given twice", 0},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        trace_test_refused("x.goal", cases[i].text, strlen(cases[i].text), cases[i].says,
                           cases[i].skipped);
    }
}

/* Proves that the public tree of 32 ranks has the sends and receives that a search through its text
 * finds. */
static void test_shared_counts(void **state)
{
    (void)state;
    Trace *trace = trace_test_read_shared("goal/binary_tree_32.goal");
    if (trace == NULL) {
        skip();
    }
    char *path = trace_test_shared("goal/binary_tree_32.goal"), *text;
    assert_true(g_file_get_contents(path, &text, NULL, NULL));
    guint sends = 0, recvs = 0, own_sends = 0, own_recvs = 0;
    for (const char *at = text; (at = strstr(at, ": ")) != NULL; at++) {
        sends += g_str_has_prefix(at, ": send 1b");
        recvs += g_str_has_prefix(at, ": recv 1b");
    }
    for (guint i = 0; i < trace->records->len; i++) {
        const Record *r = trace_record(trace, i);
        own_sends += r->op == RECORD_SEND && r->bytes_in == 1;
        own_recvs += r->op == RECORD_RECV && r->bytes_in == 1;
    }
    assert_int_equal(sends, 31);
    assert_int_equal(own_sends, sends);
    assert_int_equal(own_recvs, recvs);
    assert_int_equal(trace->world, 32);
    g_free(path);
    g_free(text);
    trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations),
        cmocka_unit_test(test_bad_lines),
        cmocka_unit_test(test_shared_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
