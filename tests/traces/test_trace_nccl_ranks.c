#include "tests/traces/trace_test.h"

#include "traces/record/match.h"

#define CALL(who, op, count, root, comm, more)                                                                         \
    who " NCCL INFO " op ": opCount 12 sendbuff 0x7f10 recvbuff (nil) count " count " datatype 7 op 0 root " root      \
        " comm " comm " [nranks=2] stream 0x55aa" more "\n"
#define INIT(who, how, comm, rank, n, dev, more)                                                                       \
    who " NCCL INFO " how " comm " comm " rank " rank " nranks " n " cudaDev " dev " nvmlDev 0 busId 1000 " more       \
        " - Init COMPLETE\n"

/* "RANK OP PEER" of each operation, by rank. */
static char *operations(const Trace *trace)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < trace->records->len; i++) {
        const Record *r = trace_record(trace, i);
        g_string_append_printf(text, "%s%u %s", i > 0 ? "; " : "", r->rank, record_op_name(r->op));
        if (r->peer >= 0)
            g_string_append_printf(text, " %d", r->peer);
    }
    return g_string_free(text, FALSE);
}

static const struct {
    const char *what, *text, *operations;
} cases[] = {
    {"devices of one process, the second one first",
     CALL("b:9:12 [1]", "Send", "100", "0", "0x2", "") CALL("b:9:11 [0]", "Recv", "100", "1", "0x1", ""),
     "0 recv 1; 1 send 0"},
    {"processes of one host, by device and not by id",
     CALL("b:8:12 [1]", "Send", "100", "0", "0x2", "") CALL("b:9:11 [0]", "Recv", "100", "1", "0x2", ""),
     "0 recv 1; 1 send 0"},
    {"processes that each see one device, by id",
     CALL("b:12:12 [0]", "Send", "100", "0", "0x2", "") CALL("b:9:11 [0]", "Recv", "100", "1", "0x1", ""),
     "0 recv 1; 1 send 0"},
    {"hosts, whose numbers are numbers",
     CALL("n10:5:5 [0]", "Send", "100", "0", "0x2", "") CALL("n9:7:7 [0]", "Recv", "100", "1", "0x1", ""),
     "0 recv 1; 1 send 0"},
    {"globalrank of calls on one device",
     CALL("b:9:9 [1]", "Send", "100", "0", "0x2", " task 0 globalrank 1")
         CALL("b:9:9 [1]", "Recv", "100", "1", "0x1", " task 0 globalrank 0"),
     "0 recv 1; 1 send 0"},
    {"Init lines, though all calls say device 0",
     INIT("b:9:12", "ncclCommInitAll", "0x2", "1", "2", "1", "commId 0xc")
         INIT("b:9:11", "ncclCommInitAll", "0x1", "0", "2", "0", "commId 0xc")
             CALL("b:9:9 [0]", "Send", "100", "0", "0x2", "") CALL("b:9:9 [0]", "Recv", "100", "1", "0x1", ""),
     "0 recv 1; 1 send 0"},
    {"Init lines against devices and process ids",
     INIT("b:8:8 [0]", "ncclCommInitRank", "0x2", "1", "2", "0", "commId 0xc")
         INIT("b:9:9 [1]", "ncclCommInitRank", "0x1", "0", "2", "1", "commId 0xc")
             CALL("b:8:8 [0]", "Send", "100", "0", "0x2", "") CALL("b:9:9 [1]", "Recv", "100", "1", "0x1", ""),
     "0 recv 1; 1 send 0"},
    {"a pointer that is used again for another communicator",
     INIT("b:8:8 [0]", "ncclCommInitRank", "0x2", "0", "2", "0", "commId 0xc")
         INIT("b:9:9 [1]", "ncclCommInitRank", "0x2", "1", "2", "1", "commId 0xc")
             CALL("b:8:8 [0]", "Broadcast", "100", "0", "0x2", "") CALL("b:9:9 [1]", "Broadcast", "100", "0", "0x2", "")
                 INIT("b:8:8 [0]", "ncclCommInitRank", "0x2", "1", "2", "0", "commId 0xd")
                     INIT("b:9:9 [1]", "ncclCommInitRank", "0x2", "0", "2", "1", "commId 0xd")
                         CALL("b:8:8 [0]", "Broadcast", "100", "0", "0x2", "")
                             CALL("b:9:9 [1]", "Broadcast", "100", "0", "0x2", ""),
     "0 broadcast 0; 0 broadcast 1; 1 broadcast 0; 1 broadcast 1"},
    {"a split that has no commId of its own",
     INIT("b:7:7 [0]", "ncclCommInitRank", "0x1", "0", "3", "0", "commId 0xc") INIT("b:8:8 [1]", "ncclCommInitRank",
                                                                                    "0x1", "1", "3", "1", "commId 0xc")
         INIT("b:9:9 [2]", "ncclCommInitRank", "0x1", "2", "3", "2", "commId 0xc")
             INIT("b:7:7 [0]", "ncclCommSplit", "0x2", "0", "2", "0", "parent 0x1 splitCount 1 color 5 key 0")
                 INIT("b:9:9 [2]", "ncclCommSplit", "0x2", "1", "2", "2", "parent 0x1 splitCount 1 color 5 key 0")
                     INIT("b:8:8 [1]", "ncclCommSplit", "0x2", "0", "1", "1", "parent 0x1 splitCount 1 color 6 key 0")
                         CALL("b:9:9 [2]", "Broadcast", "100", "1", "0x2", "")
                             CALL("b:7:7 [0]", "Broadcast", "100", "1", "0x2", ""),
     "0 broadcast 2; 2 broadcast 2"},
    {"lines that a launcher wrote something before",
     CALL("(Worker pid=615, ip=10.0.0.6) b:9:12 [1]", "Send", "100", "0", "0x2", "")
         CALL("[2026-03-12 13:57:49] b:9:11 [0]", "Recv", "100", "1", "0x1", ""),
     "0 recv 1; 1 send 0"},
};

/* Proves that ranks are found by Init lines, whatever device is current when a communicator is used;
 * else by globalrank, else by devices, hosts and process ids; never by the order of the lines. */
static void test_ranks(void **state)
{
    (void)state;
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        GError *error = NULL;
        Trace *trace = trace_test_read("x.log", cases[i].text, strlen(cases[i].text), FALSE, &error);
        if (!trace)
            fail_msg("%s: %s", cases[i].what, error->message);
        char *got = operations(trace);
        if (strcmp(got, cases[i].operations) != 0)
            fail_msg("%s: %s; should be %s", cases[i].what, got, cases[i].operations);
        g_free(got);
        Match *match = match_new(trace, FALSE, &error);
        if (!match)
            fail_msg("%s: %s", cases[i].what, error->message);
        match_free(match);
        trace_free(trace);
    }
}

/* Proves that logs of one process each are one job where they share a communicator, or lie in one
 * folder; and that logs of two jobs are two. */
static void test_files(void **state)
{
    (void)state;
#define PART(who, rank, id)                                                                                            \
    INIT(who, "ncclCommInitRank", "0x1", rank, "2", "0", "commId " id)                                                 \
    CALL(who, "AllReduce", "100", "0", "0x1", "")
    static const struct {
        const char *name, *text;
    } files[] = {{"a.log", PART("nodeA:7:7 [0]", "0", "0xc")},
                 {"b.log", PART("nodeB:8:8 [0]", "1", "0xc")},
                 {"c.log", PART("nodeC:7:7 [0]", "0", "0xd")},
                 {"d.log", PART("nodeD:8:8 [0]", "1", "0xd")}};
    char *dir = g_dir_make_tmp("fanout-XXXXXX", NULL), *paths[4];
    for (guint i = 0; i < 4; i++) {
        paths[i] = g_build_filename(dir, files[i].name, NULL);
        assert_true(g_file_set_contents(paths[i], files[i].text, -1, NULL));
    }
    const char *mixed[] = {paths[0], paths[3], paths[1], paths[2]};
    TraceReadSpec spec = {0};
    GError *error = NULL;
    GPtrArray *jobs = trace_read_jobs(mixed, 4, &spec, &error);
    if (!jobs)
        fail_msg("%s", error->message);
    assert_int_equal(jobs->len, 2);
    for (guint j = 0; j < 2; j++) {
        const Trace *trace = jobs->pdata[j];
        assert_true(trace->world == 2 && trace->recorded_ranks == 2 && !trace->replicate);
        assert_int_equal(trace->records->len, 2);
    }
    g_ptr_array_free(jobs, TRUE);
    const char *folder[] = {dir};
    jobs = trace_read_jobs(folder, 1, &spec, &error); /* the same, by their communicators */
    assert_non_null(jobs);
    assert_int_equal(jobs->len, 2);
    for (guint j = 0; j < 2; j++) {
        const Trace *trace = jobs->pdata[j];
        assert_true(trace->world == 2 && trace->recorded_ranks == 2);
        gboolean said = FALSE;
        for (guint i = 0; i < trace->notes->len; i++)
            said |= strstr(trace->notes->pdata[i], "shares no communicator") != NULL;
        assert_true(said);
    }
    g_ptr_array_free(jobs, TRUE);
    g_unlink(paths[2]);
    g_unlink(paths[3]);
    jobs = trace_read_jobs(folder, 1, &spec, &error);
    assert_non_null(jobs);
    assert_int_equal(jobs->len, 1);
    assert_int_equal(((Trace *)jobs->pdata[0])->recorded_ranks, 2);
    g_ptr_array_free(jobs, TRUE);
    jobs = trace_read_jobs((const char *const *)paths, 1, &spec, &error);
    assert_non_null(jobs);
    assert_true(((Trace *)jobs->pdata[0])->replicate); /* one log of two: it stands for both */
    g_ptr_array_free(jobs, TRUE);
    for (guint i = 0; i < 4; i++) {
        g_unlink(paths[i]);
        g_free(paths[i]);
    }
    g_rmdir(dir);
    g_free(dir);
}

/* Proves that a message of a rank to itself is no communication at all, and that more processes than
 * a communicator has ranks are said. */
static void test_odd_logs(void **state)
{
    (void)state;
    const char *self = CALL("b:9:12 [0]", "Send", "100", "0", "0x2", "")
        CALL("b:9:12 [0]", "Recv", "100", "0", "0x2", "");
    Trace *trace = trace_test_read("x.log", self, strlen(self), FALSE, NULL);
    assert_non_null(trace);
    const Record *r = trace_record(trace, 0);
    assert_true(r->op == RECORD_COMPUTE && r->group == RECORD_NO_GROUP && r->bytes_in == 0);
    Match *match = match_new(trace, FALSE, NULL);
    assert_int_equal(match->items->len, 0);
    match_free(match);
    trace_free(trace);
    const char *three = CALL("b:9:12 [0]", "AllReduce", "100", "0", "0x2", "")
        CALL("b:9:12 [1]", "AllReduce", "100", "0", "0x3", "") CALL("b:9:12 [2]", "AllReduce", "100", "0", "0x4", "");
    trace_test_refused("x.log", three, strlen(three),
                       "has calls of 3 processes or devices, but no communicator of more than 2", 0);
}

/* Proves that a communicator of many ranks is named once, though its Init line stands there for each
 * rank: a name that was given back is not looked at again (X, X, Y, X: X and Y). */
static void test_identify(void **state)
{
    (void)state;
    const char *log = INIT("n:1:1 [0]", "ncclCommInitRank", "0x1", "0", "3", "0", "commId 0xaaaa")
        INIT("n:2:2 [1]", "ncclCommInitRank", "0x2", "1", "3", "1", "commId 0xaaaa")
            INIT("n:3:3 [2]", "ncclCommInitRank", "0x3", "0", "1", "2", "commId 0xbbbb")
                INIT("n:4:4 [3]", "ncclCommInitRank", "0x4", "2", "3", "3", "commId 0xaaaa");
    Input *input = input_open_memory("x.log", log, strlen(log));
    TraceIdentity identity = {.rank = -1, .world = -1};
    trace_format_nccl_log.identify(input, &identity);
    assert_int_equal(identity.ids->len, 2);
    assert_string_equal(identity.ids->pdata[0], "0xaaaa");
    assert_string_equal(identity.ids->pdata[1], "0xbbbb");
    g_ptr_array_free(identity.ids, TRUE);
    input_close(input);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_odd_logs),
        cmocka_unit_test(test_identify),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
