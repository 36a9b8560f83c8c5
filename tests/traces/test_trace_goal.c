#include "tests/traces/trace_test.h"

static Trace *read_text(const char *text)
{
    GError *error = NULL;
    Trace *trace = trace_test_read("x.goal", text, strlen(text), FALSE, &error);
    if (!trace)
        fail_msg("%s", error->message);
    return trace;
}

/* Proves that sends, receives, calculations, tags, comments and both kinds of dependency arrive as
 * meant. */
static void test_operations(void **state)
{
    (void)state;
    Trace *trace = read_text("/* two\n lines */ num_ranks 2 // two ranks\nrank 0 {\na: calc 100 cpu 1\n"
                             "b: send 8b to 1 tag 7 nic 0\nb requires a\nc: calc 5\nc irequires b\n}\n"
                             "rank 1 {\nrecv 8b from 0 tag 7\n}\n");
    assert_int_equal(trace->world, 2);
    assert_int_equal(trace->records->len, 4);
    const Record *r = trace_record(trace, 0);
    assert_true(r->op == RECORD_COMPUTE && r->duration_ps == 100000 && r->source.line == 4);
    r = trace_record(trace, 1);
    assert_true(r->op == RECORD_SEND && r->bytes_in == 8 && r->peer == 1 && r->tag == 7 && r->dep_count == 1);
    r = trace_record(trace, 2);
    assert_int_equal(g_array_index(trace->deps, guint32, r->dep_first), 0);
    trace_free(trace);
}

/* Proves that messages of 0 bytes, with which programs tell each other that they are there, are messages of 1 byte,
 * which a note counts: their receivers wait for them. */
static void test_empty_messages(void **state)
{
    (void)state;
    static const char text[] = "num_ranks 2\nrank 0 {\nsend 0b to 1\n}\nrank 1 {\nrecv 0b from 0\n}\n";
    Trace *trace = trace_test_read("x.goal", text, strlen(text), FALSE, NULL);
    assert_non_null(trace);
    assert_true(trace_record(trace, 0)->op == RECORD_SEND && trace_record(trace, 0)->bytes_in == 1);
    assert_true(trace_record(trace, 1)->op == RECORD_RECV && trace_record(trace, 1)->bytes_out == 1);
    trace_test_said(trace, "move 1: 1 of send");
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
        {"num_ranks 2\nrank 0 {\ncalc 1\nsend 8b to 2\n}\n", ":4: should read 'send BYTESb to RANK'", 1},
        {"num_ranks 2\nrank 0 {\ncalc 1\nsend 99999999999999999999b to 1\n}\n", "at most 1 TiB", 1},
        {"num_ranks 2\nrank 0 {\ncalc 1\nrecv 8b from -1\n}\n", "cannot be matched before the run", 1},
        {"num_ranks 2\nrank 0 {\ncalc 1\nrecv 8b from 1 tag -1\n}\n", "receives of any tag (-1) cannot be matched", 1},
        {"num_ranks 2\nrank 0 {\ncalc 1\nrecv 8b from 1 cpu -1\n}\n", "'-1' should be tag, cpu or nic and a number", 1},
        {"num_ranks 2\nrank 0 {\ncalc 1\nbcast 8b to 1\n}\n", "'bcast' should be send, recv or calc", 1},
        {"num_ranks 2\nrank 0 {\na: calc 1\na requires zz\n}\n", ":4: requires 'zz', which rank 0 does not have", 1},
        {"num_ranks 2\nrank 0 {\na: calc 1\nb: calc 1\na requires b\nb requires a\n}\n", "waits for itself", 1},
        {"num_ranks 2\nrank 0 {\na: calc 1\na: calc 2\n}\n", "label 'a' is given twice", 1},
        {"num_ranks 2\nrank 0 {\ncalc 1\n", "rank 0 is not closed", 1},
        {"num_ranks 2\nrank 2 {\ncalc 1\n}\n", ":2: should read 'rank R {' with R below num_ranks", 0},
        {"num_ranks 0\n", ":1: should read 'num_ranks N'", 0},
        {"num_ranks 2\nrank 0 {\n}\nrank 0 {\n}\n", "rank 0 is given twice", 0},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
        trace_test_refused("x.goal", cases[i].text, strlen(cases[i].text), cases[i].says, cases[i].skipped);
}

/* Proves that the public tree of 32 ranks has the sends and receives that a search through its text
 * finds. */
static void test_shared_counts(void **state)
{
    (void)state;
    Trace *trace = trace_test_read_shared("goal/binary_tree_32.goal");
    if (!trace)
        skip();
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

static void put(GByteArray *to, guint64 number, guint bytes)
{
    for (guint i = 0; i < bytes; i++) {
        guint8 byte = (guint8)(number >> (8 * i));
        g_byte_array_append(to, &byte, 1);
    }
}

/* A node, as LogGOPSim's txt2bin writes it. */
static void put_node(GByteArray *to, guint32 waits, guint8 type, guint32 peer, guint64 size, guint32 tag, guint32 n_end,
                     guint32 end, guint32 n_start, guint32 start)
{
    put(to, waits, 4);
    put(to, type, 1);
    put(to, peer, 4);
    put(to, size, 8);
    put(to, tag, 4);
    put(to, 0, 2);
    put(to, n_end, 4);
    put(to, end, 4);
    put(to, n_start, 4);
    put(to, start, 4);
}

/* Two ranks: calc 100, then a send of 8 bytes under tag 7 and, where `starts`, a calc of 5 that begins with the send;
 * and its receive. */
static GByteArray *binary_file(gboolean starts)
{
    GByteArray *file = g_byte_array_new();
    guint n = starts ? 3 : 2, first = 6 + 32, one = 8 + 4 + n * 39 + 4 * (n - 1), two = 8 + 4 + 39;
    put(file, 4223, 8);
    put(file, 2, 4);
    put(file, 0, 2); /* the highest cpu and nic: the parser adds one to each */
    put(file, first, 8);
    put(file, first + one, 8);
    put(file, first + one, 8);
    put(file, first + one + two, 8);
    put(file, n, 4);
    put(file, 1, 4);
    put(file, 0, 4);
    put_node(file, 0, 3, 0, 100, 0, 1, 0, 0, 1);
    put_node(file, 1, 1, 1, 8, 7, 0, 1, starts, 1 + starts);
    if (starts) {
        file->data[file->len - 4] = 1; /* the start's place in the appendix */
        put_node(file, 1, 3, 0, 5, 0, 0, 2, 0, 2);
    }
    put(file, 1, 4);
    if (starts)
        put(file, 2, 4);
    put(file, 1, 4);
    put(file, 1, 4);
    put(file, 0, 4);
    put_node(file, 0, 2, 0, 8, 7, 0, 0, 0, 0);
    return file;
}

static guint8 *last_node(GByteArray *file)
{
    return file->data + file->len - 39;
} /* the receive: nothing waits for it */

/* Proves that the binary form is read as the text is, dependencies on starts with it, on whatever cpu and nic its nodes
 * are; and written byte for byte as LogGOPSim's own compiler lays it out. */
static void test_binary(void **state)
{
    (void)state;
    GByteArray *file = binary_file(TRUE);
    file->data[12] = 3; /* the highest cpu */
    file->data[13] = 2; /* the highest nic */
    last_node(file)[21] = 3;
    last_node(file)[22] = 2;
    Trace *trace = trace_test_read("x.bin", file->data, file->len, FALSE, NULL);
    assert_non_null(trace);
    assert_true(trace->world == 2 && trace->records->len == 4);
    const Record *r = trace_record(trace, 1);
    assert_true(r->op == RECORD_SEND && r->bytes_in == 8 && r->peer == 1 && r->tag == 7 && r->dep_count == 1);
    r = trace_record(trace, 2); /* begins with the send, so waits for what that waits for */
    assert_true(r->duration_ps == 5000 && r->dep_count == 1 && g_array_index(trace->deps, guint32, r->dep_first) == 0);
    assert_true(trace_record(trace, 3)->op == RECORD_RECV && trace_record(trace, 3)->peer == 0);
    trace_free(trace);
    g_byte_array_free(file, TRUE);
    file = binary_file(FALSE);
    memset(last_node(file) + 17, 0xff, 4); /* a receive of any tag */
    trace_test_refused("x.bin", (const char *)file->data, file->len, "receives of any tag cannot be matched", 1);
    g_byte_array_free(file, TRUE);

    trace = read_text("num_ranks 2\nrank 0 {\na: calc 100\nb: send 8b to 1 tag 7\nb requires a\n}\n"
                      "rank 1 {\nrecv 8b from 0 tag 7\n}\n");
    char *dir = g_dir_make_tmp("fanout-XXXXXX", NULL), *path = g_build_filename(dir, "x.bin", NULL), *written;
    gsize bytes;
    assert_true(write_trace(trace, path, NULL, NULL));
    assert_true(g_file_get_contents(path, &written, &bytes, NULL));
    file = binary_file(FALSE);
    assert_int_equal(bytes, file->len);
    assert_memory_equal(written, file->data, bytes);
    g_unlink(path);
    g_rmdir(dir);
    g_free(written);
    g_free(path);
    g_free(dir);
    trace_free(trace);
    for (gsize cut = 8; cut < file->len; cut++) { /* cut anywhere it is refused, by its name */
        GError *error = NULL;
        trace = trace_read_input(input_open_memory("cut.bin", file->data, cut),
                                 &(TraceReadSpec){.format = "goal-binary"}, &error);
        assert_null(trace);
        assert_true(g_str_has_prefix(error->message, "cut.bin: "));
        g_clear_error(&error);
    }
    g_byte_array_free(file, TRUE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations), cmocka_unit_test(test_bad_lines),     cmocka_unit_test(test_empty_messages),
        cmocka_unit_test(test_binary),     cmocka_unit_test(test_shared_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
