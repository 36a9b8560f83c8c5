#include "tests/traces/trace_test.h"

#include "traces/record/match.h"

#define CALL(pid, op, count, dtype, root, comm, more)                                                                  \
    "node1:" pid ":" pid " [" pid "] NCCL INFO " op ": opCount 1f sendbuff 0x7f10 recvbuff (nil) count " count         \
    " datatype " dtype " op 0 root " root " comm " comm more " stream 0x55aa\n"
#define INIT(pid, comm, rank, n, id)                                                                                   \
    "2026-01-01 node1:" pid ":9 [" pid "] NCCL INFO ncclCommInitRank comm " comm " rank " rank " nranks " n            \
    " cudaDev 0 nvmlDev 0 busId 1000 commId " id " - Init COMPLETE\n"

static Trace *read_text(const char *text)
{
    GError *error = NULL;
    Trace *trace = trace_test_read("x.log", text, strlen(text), FALSE, &error);
    if (!trace)
        fail_msg("%s", error->message);
    return trace;
}

/* Proves that calls of two processes are joined by their communicators, that a smaller
 * communicator's ranks become ranks of the job, and that counts become bytes as NCCL counts them.
 */
static void test_communicators(void **state)
{
    (void)state;
    Trace *trace = read_text("node1:0:0 [0] NCCL INFO NCCL version 2.27\n" INIT("0", "0xa0", "1", "2", "0xc1")
                                 INIT("1", "0xa1", "0", "2", "0xc1") INIT("0", "0xb0", "0", "3", "0xc2")
                                     INIT("1", "0xb1", "2", "3", "0xc2") INIT("2", "0xb2", "1", "3", "0xc2")
                                         CALL("0", "AllReduce", "256", "7", "0", "0xa0", " [nranks=2]")
                                             CALL("1", "AllReduce", "256", "7", "0", "0xa1", "")
                                                 CALL("0", "ReduceScatter", "100", "9", "0", "0xb0", "")
                                                     CALL("0", "AllGather", "10", "4", "0", "0xb0", ""));
    assert_int_equal(trace->world, 3);
    assert_int_equal(trace->records->len, 4);
    const Record *r = trace_record(trace, 0);
    const RecordGroup *group = trace_group_at(trace, r->group);
    assert_true(r->op == RECORD_ALL_REDUCE && r->bytes_in == 1024 && r->dtype == RECORD_F32 && r->rank == 0);
    assert_true(group->n == 2 && group->ranks[0] == 2 && group->ranks[1] == 0);
    r = trace_record(trace, 1);
    assert_true(r->op == RECORD_REDUCE_SCATTER && r->bytes_in == 600 && r->bytes_out == 200 && r->dep_count == 1);
    r = trace_record(trace, 2);
    assert_true(r->op == RECORD_ALL_GATHER && r->bytes_in == 80 && r->bytes_out == 240);
    assert_int_equal(trace_record(trace, 3)->rank, 2);
    trace_free(trace);
}

/* Proves that one process' log stands for all ranks, that sends of one group call run side by side,
 * and that a rank's send to itself is no communication. */
static void test_one_process(void **state)
{
    (void)state;
    Trace *trace = read_text(
        INIT("0", "0xa0", "0", "4", "0xc1") CALL("0", "Broadcast", "8", "0", "2", "0xa0", "")
            CALL("0", "Send", "8", "0", "1", "0xa0", "") CALL("0", "Send", "8", "0", "0", "0xa0", "")
                CALL("0", "Recv", "8", "0", "3", "0xa0", "") CALL("0", "AllReduce", "8", "0", "0", "0xa0", ""));
    assert_true(trace->replicate && trace->world == 4);
    assert_int_equal(trace_record(trace, 0)->peer, 2);
    assert_int_equal(trace_record(trace, 1)->dep_count, 1);
    assert_int_equal(trace_record(trace, 2)->op, RECORD_COMPUTE);
    assert_int_equal(trace_record(trace, 3)->dep_count, 1);
    assert_int_equal(trace_record(trace, 4)->dep_count, 3);
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
        {CALL("0", "AllReduce", "8", "17", "0", "0xa0", ""), "datatype 17 should be 0 (int8) to 11", 1},
        {CALL("0", "AllReduce", "-8", "7", "0", "0xa0", ""), "all_reduce should have 'count' with a number", 1},
        {CALL("0", "AllReduce", "9000000000000", "7", "0", "0xa0", ""), "is over 1 TiB", 1},
        {CALL("0", "Broadcast", "8", "7", "9", "0xa0", ""), "root 9 should be below the communicator's 4 ranks", 1},
        {CALL("5", "AllReduce", "8", "7", "0", "0xa0", ""), "has no Init line of the largest communicator", 1},
        {INIT("0", "0xa0", "7", "4", "0xc1"), "the rank below nranks", 1},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        char *text = g_strconcat(INIT("0", "0xa0", "0", "4", "0xc1"), cases[i].text,
                                 CALL("0", "AllReduce", "8", "7", "0", "0xa0", ""), NULL);
        trace_test_refused("x.log", text, strlen(text), cases[i].says, cases[i].skipped);
        g_free(text);
    }
    const char *alone = CALL("0", "AllReduce", "8", "7", "0", "0xa0", "");
    trace_test_refused("x.log", alone, strlen(alone), "says nowhere how many ranks there are", 0);
}

/* Proves that calls which are not known (those of NCCL 2.29 on windows), and calls of count 0, are left out and
 * counted in notes; what is known keeps its place among its group's calls. */
static void test_left_out(void **state)
{
    (void)state;
    const char *text = INIT("0", "0xa0", "0", "2", "0xc1") INIT("1", "0xa1", "1", "2", "0xc1")
        CALL("0", "PutSignal", "4096", "7", "1", "0xa0", "") CALL("1", "WaitSignal", "0", "7", "0", "0xa1", "")
            CALL("0", "AllReduce", "0", "7", "0", "0xa0", "") CALL("1", "AllReduce", "0", "7", "0", "0xa1", "")
                CALL("0", "AllReduce", "2048", "7", "0", "0xa0", "")
                    CALL("1", "AllReduce", "2048", "7", "0", "0xa1", "")
                        CALL("1", "AllShuffle", "8", "7", "0", "0xa1", "");
    GError *error = NULL;
    Trace *trace = trace_test_read("x.log", text, strlen(text), FALSE, &error);
    if (!trace)
        fail_msg("%s", error->message);
    Match *match = match_new(trace, FALSE, &error);
    if (!match)
        fail_msg("%s", error->message);
    assert_int_equal(match->items->len, 1);
    guint32 first = g_array_index(match->members, guint32, 0);
    assert_true(trace_record(trace, first)->op == RECORD_ALL_REDUCE && trace_record(trace, first)->bytes_in == 8192);
    static const char *const notes[] = {"left out: 1 of PutSignal", "left out: 1 of WaitSignal",
                                        "left out: 1 of AllShuffle", "take no time: 2 of all_reduce"};
    for (guint n = 0; n < G_N_ELEMENTS(notes); n++) {
        gboolean said = FALSE;
        for (guint i = 0; i < trace->notes->len; i++)
            said |= strstr(trace->notes->pdata[i], notes[n]) != NULL;
        if (!said)
            fail_msg("no note says '%s'", notes[n]);
    }
    match_free(match);
    trace_free(trace);
}

/* A split of comm 0xaR into 0x<letter>R, as NCCL 2.29 says it ("childCount"; "splitCount" before; neither in 2.23). */
#define SPLIT(pid, letter, rank, n, count, color)                                                                      \
    "node1:" pid ":9 [" pid "] NCCL INFO ncclCommSplit comm 0x" letter pid " rank " rank " nranks " n                  \
    " cudaDev 0 nvmlDev 0 busId 1000 parent 0xa" pid count " color " color " key 0 - Init COMPLETE\n"
/* clang-format off */
#define FOUR_SPLIT_TWICE(first, second)                                                                                \
    INIT("0", "0xa0", "0", "4", "0xc1") INIT("1", "0xa1", "1", "4", "0xc1")                                            \
    INIT("2", "0xa2", "2", "4", "0xc1") INIT("3", "0xa3", "3", "4", "0xc1")                                            \
    SPLIT("0", "b", "0", "2", first, "0") SPLIT("1", "b", "1", "2", first, "0")                                        \
    SPLIT("2", "b", "0", "2", first, "1") SPLIT("3", "b", "1", "2", first, "1")                                        \
    SPLIT("0", "d", "0", "2", second, "0") SPLIT("1", "d", "0", "2", second, "1")                                      \
    SPLIT("2", "d", "1", "2", second, "0") SPLIT("3", "d", "1", "2", second, "1")
#define EACH(op, letter)                                                                                               \
    CALL("0", op, "64", "7", "0", "0x" letter "0", "") CALL("1", op, "64", "7", "0", "0x" letter "1", "")              \
    CALL("2", op, "64", "7", "0", "0x" letter "2", "") CALL("3", op, "64", "7", "0", "0x" letter "3", "")
/* clang-format on */

static void check_group(const Trace *trace, guint record, guint32 first, guint32 second)
{
    const RecordGroup *group = trace_group_at(trace, trace_record(trace, record)->group);
    if (group->n != 2 || group->ranks[0] != first || group->ranks[1] != second)
        fail_msg("record %u: %u ranks, %u and %u", record, group->n, group->ranks[0], group->ranks[1]);
}

/* Proves that two splits of one communicator into equal colors are different communicators, whatever NCCL calls their
 * number and where it does not say it: pairs 0-1 and 2-3 (rows), then 0-2 and 1-3 (columns). */
static void test_splits(void **state)
{
    (void)state;
    static const char *const texts[] = {
        FOUR_SPLIT_TWICE(" splitCount 1", " splitCount 2") EACH("AllReduce", "b") EACH("AllGather", "d"),
        FOUR_SPLIT_TWICE(" childCount 1", " childCount 2") EACH("AllReduce", "b") EACH("AllGather", "d"),
        FOUR_SPLIT_TWICE("", "") EACH("AllReduce", "b") EACH("AllGather", "d"),
    };
    for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
        Trace *trace = read_text(texts[i]);
        assert_int_equal(trace->world, 4);
        check_group(trace, 0, 0, 1); /* two records a rank */
        check_group(trace, 1, 0, 2);
        check_group(trace, 3, 1, 3);
        check_group(trace, 4, 2, 3);
        trace_free(trace);
    }
}

/* Proves that without a number splits in which some ranks take no part (PyTorch's: a color of its own for each list of
 * ranks) are told apart by their colors: rank 0 makes two, ranks 1 and 2 one each. */
static void test_splits_of_some(void **state)
{
    (void)state;
    Trace *trace = read_text(
        INIT("0", "0xa0", "0", "3", "0xc1") INIT("1", "0xa1", "1", "3", "0xc1") INIT("2", "0xa2", "2", "3", "0xc1")
            SPLIT("0", "b", "0", "2", "", "71") SPLIT("1", "b", "1", "2", "", "71") SPLIT("0", "d", "0", "2", "", "93")
                SPLIT("2", "d", "1", "2", "", "93") CALL("0", "AllReduce", "64", "7", "0", "0xb0", "")
                    CALL("2", "AllReduce", "64", "7", "0", "0xd2", ""));
    check_group(trace, 0, 0, 1);
    check_group(trace, 1, 0, 2);
    trace_free(trace);
}

/* Proves that where no communicator has all processes (PyTorch makes those of a program's groups alone) ranks are in
 * the order of devices, which a note says. */
static void test_groups_alone(void **state)
{
    (void)state;
    Trace *trace = read_text(
        "n:10:1 [0] NCCL INFO comm 0xa rank 0 nranks 2 cudaDev 0 commId 0x1 - Init COMPLETE\n"
        "n:11:1 [1] NCCL INFO comm 0xa rank 1 nranks 2 cudaDev 1 commId 0x1 - Init COMPLETE\n"
        "n:12:1 [2] NCCL INFO comm 0xa rank 0 nranks 2 cudaDev 2 commId 0x2 - Init COMPLETE\n"
        "n:13:1 [3] NCCL INFO comm 0xa rank 1 nranks 2 cudaDev 3 commId 0x2 - Init COMPLETE\n"
        "n:13:1 [3] NCCL INFO AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x1 count 8 datatype 7 op 0 "
        "root 0 comm 0xa [nranks=2] stream 0x1\n");
    assert_int_equal(trace->world, 4);
    assert_int_equal(trace_record(trace, 0)->rank, 3);
    check_group(trace, 0, 2, 3);
    trace_test_said(trace, "no communicator has all processes: ranks are in the order of devices");
    trace_free(trace);
}

/* Proves that of a log which ends inside a line, wherever that is, that line is left out, and what its other ranks did
 * at the end without it; what is before is replayed. */
static void test_cut_off(void **state)
{
    (void)state;
    const char *whole = INIT("0", "0xa0", "0", "2", "0xc1") INIT("1", "0xa1", "1", "2", "0xc1")
        CALL("0", "AllReduce", "8", "7", "0", "0xa0", "") CALL("1", "AllReduce", "8", "7", "0", "0xa1", "")
            CALL("0", "AllGather", "2048", "7", "0", "0xa0", "") CALL("1", "AllGather", "2048", "7", "0", "0xa1", "");
    gsize length = strlen(whole) - strlen(" stream 0x55aa\n");
    gsize begin = strlen(whole) - strlen(CALL("1", "AllGather", "2048", "7", "0", "0xa1", "")) +
                  strlen("node1:1:1 [1] NCCL INFO AllGather: opCount ");
    for (gsize end = begin; end <= length; end++) {
        GError *error = NULL;
        Trace *trace = trace_test_read("x.log", whole, end, FALSE, &error);
        Match *match = trace ? match_new(trace, FALSE, &error) : NULL;
        if (!match)
            fail_msg("cut after %u bytes: %s", (guint)end, error->message);
        assert_int_equal(match->items->len, 1);
        trace_test_said(trace, "a line that the file ends in is left out: 1 of all_gather");
        trace_test_said(trace, "before the log was cut off are left out: 1 of all_gather");
        match_free(match);
        trace_free(trace);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_communicators), cmocka_unit_test(test_one_process), cmocka_unit_test(test_bad_lines),
        cmocka_unit_test(test_left_out),      cmocka_unit_test(test_splits),      cmocka_unit_test(test_splits_of_some),
        cmocka_unit_test(test_groups_alone),  cmocka_unit_test(test_cut_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
