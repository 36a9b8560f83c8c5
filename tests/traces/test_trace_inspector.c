#include "tests/traces/trace_test.h"

#include "traces/record/match.h"

#define HEAD(host, pid, rank)                                                                                          \
    "\"header\": {\"id\": \"0xad56\", \"rank\": " rank ", \"n_ranks\": 2, \"nnodes\": 1}, "                            \
    "\"metadata\": {\"inspector_output_format_version\": \"v4.0\", \"hostname\": \"" host "\", \"pid\": " pid "}, "
#define COLL(name, sn, bytes)                                                                                          \
    "\"coll_perf\": {\"coll\": \"" name "\", \"coll_sn\": " sn ", \"coll_msg_size_bytes\": " bytes                     \
    ", \"coll_exec_time_us\": 12.5}"
#define P2P(name, peer, bytes)                                                                                         \
    "\"p2p_perf\": {\"p2p\": \"" name "\", \"p2p_sn\": 1, \"p2p_peer\": " peer ", \"p2p_msg_size_bytes\": " bytes "}"
#define BOTH(body) "{" HEAD("n1", "7", "0") body "}\n{" HEAD("n2", "7", "1") body "}\n"

static Match *match_text(const char *text, Trace **trace)
{
    GError *error = NULL;
    *trace = trace_test_read("i.log", text, strlen(text), FALSE, &error);
    Match *match = *trace ? match_new(*trace, FALSE, &error) : NULL;
    if (!match)
        fail_msg("%s", error->message);
    return match;
}

static void check(const Trace *trace, const Match *match, guint item, RecordOp op, guint64 in, guint64 out)
{
    const MatchItem *at = &g_array_index(match->items, MatchItem, item);
    const Record *r = trace_record(trace, g_array_index(match->members, guint32, at->first));
    if (at->n != 2 || r->op != op || r->bytes_in != in || r->bytes_out != out) {
        fail_msg("item %u: %s of %u and %u bytes", item, record_op_name(r->op), (guint)r->bytes_in,
                 (guint)r->bytes_out);
    }
}

/* Proves that the Inspector's records are calls of two processes of two hosts: sizes are of one rank's part, as NCCL's
 * counts (1024 bytes that each rank of a reduce-scatter gets are 2048 that it puts in), messages meet by their peers,
 * statistics between them are passed over, and a record without a header is of the last one. */
static void test_inspector(void **state)
{
    (void)state;
    const char *text = BOTH(COLL("AllReduce", "1", "4096")) "{" HEAD(
        "n1", "7", "0") "\"dump_stats\": {\"written\": 1}}\n"
                        "{" COLL("ReduceScatter", "2", "1024") "}\n{" HEAD("n2", "7", "1")
                            COLL("ReduceScatter", "2", "1024") "}\n" BOTH(COLL("AllGather", "3", "1024"))
                                BOTH(COLL("PutSignal", "4", "8")) "{" HEAD("n1", "7", "0")
                                    P2P("Send", "1", "512") "}\n{" HEAD("n2", "7", "1") P2P("Recv", "0", "512") "}\n";
    Trace *trace;
    Match *match = match_text(text, &trace);
    assert_int_equal(trace->world, 2);
    assert_int_equal(match->items->len, 4);
    check(trace, match, 0, RECORD_ALL_REDUCE, 4096, 4096);
    check(trace, match, 1, RECORD_REDUCE_SCATTER, 2048, 1024);
    check(trace, match, 2, RECORD_ALL_GATHER, 1024, 2048);
    check(trace, match, 3, RECORD_SEND, 512, 512);
    assert_true(trace_record(trace, 0)->duration_ps == 12500000 && trace_record(trace, 0)->dtype == RECORD_F32);
    gboolean said = FALSE;
    for (guint i = 0; i < trace->notes->len; i++)
        said |= strstr(trace->notes->pdata[i], "left out: 2 of PutSignal") != NULL;
    assert_true(said);
    match_free(match);
    trace_free(trace);
}

#define EVENT(rank, name, cat, args)                                                                                   \
    "{\"name\": \"" name "\", \"cat\": \"" cat "\", \"ph\": \"b\", \"id\": 0, \"pid\": 39" rank                        \
    ", \"tid\": 1, \"ts\": 17.5, \"args\": {\"CommHash\": 12715772615376301750, \"Rank\": " rank ", " args "}},\n"

/* Proves that the events of NCCL's example plugin are calls: those that begin, of collectives and messages alone,
 * though other lines are no JSON. */
static void test_events(void **state)
{
    (void)state;
    const char *text =
        "[\n{\"name\": \"KernelLaunch\", \"cat\": \"KERNEL_LAUNCH\", \"ph\": \"b\", "
        "\"args\": {\"Stream\": 0x262ca50}},\n" EVENT("0", "AllReduce", "COLL",
                                                      "\"SeqNum\": 0, \"Count\": 1024, \"Datatype\": \"ncclBfloat16\"")
            EVENT("1", "AllReduce", "COLL", "\"SeqNum\": 0, \"Count\": 1024, \"Datatype\": \"ncclBfloat16\"") EVENT(
                "0", "Send", "P2P", "\"Peer\": 1, \"Count\": 64, \"Datatype\": \"ncclFloat32\"")
                EVENT("0", "PutSignal", "COLL", "\"SeqNum\": 1, \"Count\": 8, \"Datatype\": \"ncclInt8\"") EVENT(
                    "1", "Recv", "P2P",
                    "\"Peer\": 0, \"Count\": 64, \"Datatype\": \"ncclFloat32\"") "{\"name\": \"AllReduce\", \"cat\": "
                                                                                 "\"COLL\", \"ph\": \"e\", \"id\": 0, "
                                                                                 "\"pid\": 390, \"tid\": 1, "
                                                                                 "\"ts\": 19.5},\n{}]\n";
    Trace *trace;
    Match *match = match_text(text, &trace);
    assert_int_equal(trace->world, 2);
    assert_int_equal(match->items->len, 2);
    check(trace, match, 0, RECORD_ALL_REDUCE, 2048, 2048);
    check(trace, match, 1, RECORD_SEND, 256, 256);
    assert_int_equal(trace_record(trace, 0)->dtype, RECORD_BF16);
    gboolean said = FALSE;
    for (guint i = 0; i < trace->notes->len; i++)
        said |= strstr(trace->notes->pdata[i], "left out: 1 of PutSignal") != NULL;
    assert_true(said);
    match_free(match);
    trace_free(trace);
}

/* Proves that wrong lines are refused by line, and skipped when lenient. */
static void test_bad_lines(void **state)
{
    (void)state;
    static const struct {
        const char *line, *says;
    } cases[] = {
        {"{\"coll_perf\": {\"coll\": \"AllReduce\"}}\n", ":1: a record should have a header"},
        {"{\"header\": {\"id\": \"1\", \"rank\": 2, \"n_ranks\": 2}, \"coll_perf\": {}}\n",
         ":1: a record should have a header"},
        {"{" HEAD("n1", "7", "0") "\"coll_perf\": {\"coll\": \"AllReduce\"}}\n", ":1: a record should have its size"},
        {"{" HEAD("n1", "7", "0") COLL("AllReduce", "1", "8") "\n", ":1: no JSON object"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        char *text = g_strconcat(cases[i].line, BOTH(COLL("AllReduce", "1", "8")), NULL);
        trace_test_refused("i.log", text, strlen(text), cases[i].says, 1);
        g_free(text);
    }
}

/* Proves that a file which ends inside a record is read without it, and without the other rank's call of it. */
static void test_cut_off(void **state)
{
    (void)state;
    const char *text = BOTH(COLL("AllReduce", "1", "4096")) BOTH(COLL("AllGather", "2", "1024"));
    char *cut = g_strndup(text, strlen(text) - 20);
    Trace *trace;
    Match *match = match_text(cut, &trace);
    assert_int_equal(match->items->len, 1);
    check(trace, match, 0, RECORD_ALL_REDUCE, 4096, 4096);
    trace_test_said(trace, "a line that the file ends in is left out: 1 of record");
    match_free(match);
    trace_free(trace);
    g_free(cut);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inspector),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_bad_lines),
        cmocka_unit_test(test_cut_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
