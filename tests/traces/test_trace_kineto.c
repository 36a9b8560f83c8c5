#include "tests/traces/trace_test.h"

#include <stdio.h>
#include <sys/resource.h>
#include <zlib.h>

#define HEAD(world)                                                                                                    \
    "{\"schemaVersion\": 1, \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 0, "                                \
    "\"world_size\": " world ", \"pg_config\": [{\"pg_name\": \"0\", \"ranks\": [0, 1]}, "                             \
    "{\"pg_name\": \"7\", \"ranks\": []}]},\n\"traceEvents\": [\n"
#define KERNEL(ts, dur, stream)                                                                                        \
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm\", \"ts\": " ts ", \"dur\": " dur                           \
    ", \"args\": {\"device\": 0, \"stream\": " stream "}},\n"
#define NCCL(ts, dur, args)                                                                                            \
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": "                                                                  \
    "\"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)\","                                                                 \
    " \"ts\": " ts ", \"dur\": " dur ", \"args\": {\"device\": 0, \"stream\": 40, \"correlation\": 5, " args "}},\n"
#define ARGS                                                                                                           \
    "\"Collective name\": \"allreduce\", \"In msg nelems\": 1000, \"Out msg nelems\": 1000, "                          \
    "\"Group size\": 2, "                                                                                              \
    "\"dtype\": \"BFloat16\", \"Process Group Name\": \"0\", \"Process Group Ranks\": \"[0, 1]\""
#define END "{\"ph\": \"M\", \"name\": \"x\"}]}"

static Trace *read_text(const char *text)
{
    GError *error = NULL;
    Trace *trace = trace_test_read("k.json", text, strlen(text), FALSE, &error);
    if (!trace)
        fail_msg("%s", error->message);
    return trace;
}

/* Proves that kernels between which no communication starts or ends become one computation, that
 * what ended before something began is waited for, and that gaps are what is left, to the
 * nanosecond. */
static void test_timeline(void **state)
{
    (void)state;
    Trace *trace = read_text(HEAD("2") KERNEL("1000.5", "10", "7") KERNEL("1012.5", "8.25", "7")
                                 NCCL("1021", "20", ARGS) KERNEL("1022", "30", "7") KERNEL("1060", "1", "7") END);
    assert_int_equal(trace->records->len, 4);
    assert_true(trace->replicate && trace->world == 2);
    const Record *a = trace_record(trace, 0), *c = trace_record(trace, 1), *b = trace_record(trace, 2);
    const Record *d = trace_record(trace, 3);
    assert_true(a->op == RECORD_COMPUTE && a->duration_ps == 20250000 && a->gap_ps == 0 && a->start_ps == 0);
    assert_true(c->op == RECORD_ALL_REDUCE && c->bytes_in == 2000 && c->dtype == RECORD_BF16 && c->stream == 40);
    assert_true(c->gap_ps == 250000 && c->duration_ps == 20000000 && c->dep_count == 1 && c->source.node == 5);
    assert_true(b->duration_ps == 30000000 && b->dep_count == 0 &&
                b->gap_ps == 1250000);                      /* over the collective's end */
    assert_true(d->gap_ps == 8000000 && d->dep_count == 1); /* after both */
    trace_free(trace);
}

/* Proves that sizes and groups are found where kernels lack them: in record_param_comms by External
 * id, with a rank list cut short, or in an annotation around the launch, as in traces of 2023. */
static void test_older_forms(void **state)
{
    (void)state;
    Trace *trace = read_text(HEAD("8") "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"record_param_comms\", \"ts\": "
                                       "1, \"dur\": 1, \"args\": {\"External id\": 9,"
                                       " \"Collective name\": \"_allgather_base\", \"In msg nelems\": 16, \"Out msg "
                                       "nelems\": 64, \"Group size\": 4,"
                                       " \"dtype\": \"Float\", \"Process Group Name\": \"3\", \"Process Group Ranks\": "
                                       "\"[0, 2, ...]\","
                                       " \"Global rank start\": 0, \"Global rank stride\": 2}},\n"
                                       "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"nccl:all_to_all\", "
                                       "\"tid\": 3, \"ts\": 20, \"dur\": 9,"
                                       " \"args\": {\"Input Dims\": [[8, 32]], \"Input type\": [\"float\"]}},\n"
                                       "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", "
                                       "\"tid\": 3, \"ts\": 22, \"dur\": 1,"
                                       " \"args\": {\"correlation\": 77}},\n"
                                       "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"ncclKernel_AllGather_RING\", "
                                       "\"ts\": 10, \"dur\": 2,"
                                       " \"args\": {\"stream\": 40, \"External id\": 9}},\n"
                                       "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": "
                                       "\"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t\", \"ts\": 30, \"dur\": 2,"
                                       " \"args\": {\"stream\": 41, \"correlation\": 77}},\n" END);
    const Record *r = trace_record(trace, 0);
    const RecordGroup *group = trace_group_at(trace, r->group);
    assert_true(r->op == RECORD_ALL_GATHER && r->bytes_in == 64 && r->bytes_out == 256);
    assert_true(group->n == 4 && group->ranks[3] == 6);
    r = trace_record(trace, 1);
    group = trace_group_at(trace, r->group);
    assert_true(r->op == RECORD_ALL_TO_ALL && r->bytes_in == 1024 && group->n == 8);
    trace_free(trace);
}

/* Proves that "Dst Rank" and "Src Rank" are ranks of the job, as PyTorch writes them (groupRanks[rank]), "Rank" a place
 * in the group: of ranks 4 to 7, place 1 is rank 5, and the root at place 2 is rank 6; that a receive from any rank is
 * left out; and that a call of 0 bytes is. */
static void test_peers(void **state)
{
    (void)state;
#define IN_GROUP(name, ranks, elements, more)                                                                          \
    NCCL("10", "5",                                                                                                    \
         "\"Collective name\": \"" name "\", \"In msg nelems\": " elements ", \"Out msg nelems\": " elements           \
         ", \"Group size\": 4, \"dtype\": \"Float\", \"Process Group Name\": \"9\", \"Process Group Ranks\": \"" ranks \
         "\"" more)
    static const struct {
        const char *text;
        gint64 peer; /* -2: left out */
    } cases[] = {
        {HEAD("8") IN_GROUP("send", "[0, 5, 6, 7]", "8", ", \"Dst Rank\": 5, \"Rank\": 1") END, 5},
        {HEAD("8") IN_GROUP("recv", "[0, 1, 2, 7]", "8", ", \"Src Rank\": 2, \"Rank\": 2") END, 2},
        {HEAD("8") IN_GROUP("recv", "[0, 5, 6, 7]", "8", ", \"Rank\": 3") END, 7},
        {HEAD("8") IN_GROUP("broadcast", "[0, 5, 6, 7]", "8", ", \"Rank\": 2") END, 6},
        {HEAD("8") IN_GROUP("_reduce_oop", "[0, 5, 6, 7]", "8", ", \"Rank\": 3") END, 7},
        {HEAD("8") IN_GROUP("allreduce", "[0, 5, 6, 7]", "8", ", \"Rank\": 3") END, RECORD_NO_PEER},
        {HEAD("8") IN_GROUP("recvAnysource", "[0, 5, 6, 7]", "8", ", \"Rank\": -1") END, -2},
        {HEAD("8") IN_GROUP("_allgather_base", "[0, 5, 6, 7]", "0", "") END, -2},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        Trace *trace = read_text(cases[i].text);
        const Record *r = trace_record(trace, 0);
        if (cases[i].peer == -2 ? r->op != RECORD_COMPUTE || trace->notes->len == 0 : r->peer != cases[i].peer)
            fail_msg("case %u: %s with peer %d", (guint)i, record_op_name(r->op), r->peer);
        trace_free(trace);
    }
    const char *outside = HEAD("8") IN_GROUP("send", "[0, 5, 6, 7]", "8", ", \"Dst Rank\": 1") END;
    trace_test_refused("k.json", outside, strlen(outside), "1 is none of process group \"9\"", 1);
}

/* Proves that each kind of wrong event is refused by line and correlation, and skipped and counted
 * when lenient. */
static void test_bad_events(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
        guint64 skipped;
    } cases[] = {
        {HEAD("2") NCCL("1", "1", "\"In msg nelems\": \"1000\"") END,
         "is the string \"1000\"; it should be a whole number", 1},
        {HEAD("2") NCCL("1", "1", "\"dtype\": \"Floot\"") END, ":3: node 5: unknown dtype \"Floot\"", 1},
        {HEAD("2") NCCL("\"1\"", "1", ARGS) END, "\"ts\" of GPU work is the string \"1\"", 1},
        {HEAD("2") NCCL("1", "-1", ARGS) END, "\"dur\" of GPU work is the number -1", 1},
        {HEAD("2") NCCL("1", "1e30", ARGS) END, "\"dur\" of GPU work is the number 1e30", 1},
        {HEAD("3") NCCL("1", "1",
                        "\"Collective name\": \"allreduce\", \"In msg nelems\": 9e15, \"dtype\": \"Float\","
                        "\"Process Group Name\": \"0\"") END,
         "over 1 TiB", 1},
        {HEAD("4") NCCL("1", "1",
                        "\"Collective name\": \"allreduce\", \"In msg nelems\": 8, \"dtype\": \"Float\","
                        "\"Group size\": 3, \"Process Group Name\": \"0\"") END,
         "but lists 2 ranks; the two should agree", 1},
        {HEAD("1") NCCL("1", "1", ARGS) END, "lists rank 1, but the job has 1 ranks", 1},
        {HEAD("9") NCCL("1", "1",
                        "\"Collective name\": \"allreduce\", \"In msg nelems\": 8, \"dtype\": \"Float\","
                        "\"Group size\": 3, \"Process Group Name\": \"8\"") END,
         "are not said", 1},
        {HEAD("2") KERNEL("1", "1", "7") "{\"ph\": \"X\", \"cat\": \"ker", "ends too early", 1},
        {HEAD("2") KERNEL("1", "1", "7") "{\"ph\": }", "unallowed token", 0},
        {HEAD("2") END, "holds no operation", 0},
        {"{\"distributedInfo\": {\"rank\": 2, \"world_size\": 2}, \"traceEvents\": []}",
         "the rank should be below that", 0},
        {"{\"distributedInfo\": {\"rank\": \"0\", \"world_size\": 2}, \"traceEvents\": []}", "should be whole numbers",
         0},
        {"{\"traceEvents\": {}}", "should be an array", 0},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        gboolean extra = cases[i].skipped > 0 && g_str_has_suffix(cases[i].text, END);
        char *cut = g_strndup(cases[i].text, strlen(cases[i].text) - (extra ? strlen(END) : 0));
        char *text = g_strconcat(cut, extra ? KERNEL("500", "1", "7") END : "", NULL);
        trace_test_refused("k.json", text, strlen(text), cases[i].says, cases[i].skipped);
        g_free(cut);
        g_free(text);
    }
}

/* An independent count: lines of the public file that hold an NCCL kernel, by plain searches in its
 * text. */
static void count_kernels(const char *path, guint64 counts[2], guint64 elements_bytes[2])
{
    gzFile file = gzopen(path, "rb");
    gboolean kernel = FALSE;
    guint64 elements = 0;
    guint op = 0;
    static char line[1 << 20];
    while (gzgets(file, line, sizeof line)) {
        if (strstr(line, "\"cat\": \"kernel\"")) {
            kernel = strstr(line, "\"name\": \"ncclKernel_") != NULL;
            op = strstr(line, "AllReduce") ? 0 : 1;
        }
        const char *at = strstr(line, "\"In msg nelems\":");
        elements = at ? g_ascii_strtoull(at + strlen("\"In msg nelems\":"), NULL, 10) : elements;
        at = strstr(line, "\"dtype\":");
        if (kernel && at) {
            counts[op]++;
            elements_bytes[op] += elements * (strstr(at, "Long") ? 8 : 4);
            kernel = FALSE;
        }
    }
    gzclose(file);
}

/* Proves that counts, bytes and groups of the public DDP trace are those that a search through its
 * text finds, and that its recorded timeline is kept: replayed as recorded, the last operation
 * starts where it started. */
static void test_shared_counts(void **state)
{
    (void)state;
    char *path = trace_test_shared("kineto/ddp_resnet_2ranks.json.gz");
    Trace *trace = trace_test_read_shared("kineto/ddp_resnet_2ranks.json.gz");
    if (!trace)
        skip();
    guint64 counts[2] = {0}, bytes[2] = {0}, own_counts[2] = {0}, own_bytes[2] = {0};
    count_kernels(path, counts, bytes);
    guint64 *ends = g_new0(guint64, trace->records->len);
    for (guint i = 0; i < trace->records->len; i++) {
        const Record *r = trace_record(trace, i);
        if (r->op != RECORD_COMPUTE) {
            own_counts[r->op != RECORD_ALL_REDUCE]++;
            own_bytes[r->op != RECORD_ALL_REDUCE] += r->bytes_in;
            const RecordGroup *group = trace_group_at(trace, r->group);
            assert_true(group->n == 2 && group->ranks[0] == 0 && group->ranks[1] == 1);
            assert_true(r->op == RECORD_ALL_REDUCE || r->op == RECORD_BROADCAST);
        }
        guint64 ready = 0;
        for (guint k = 0; k < i; k++)
            ready = trace_record(trace, k)->stream == r->stream ? MAX(ready, ends[k]) : ready;
        for (guint k = 0; k < r->dep_count; k++)
            ready = MAX(ready, ends[g_array_index(trace->deps, guint32, r->dep_first + k)]);
        assert_true(ready + r->gap_ps == r->start_ps);
        ends[i] = r->start_ps + r->duration_ps;
    }
    assert_int_equal(counts[0], 15);
    assert_int_equal(counts[1], 6);
    for (guint i = 0; i < 2; i++) {
        assert_int_equal(own_counts[i], counts[i]);
        assert_int_equal(own_bytes[i], bytes[i]);
    }
    assert_true(trace->world == 2 && trace->replicate);
    assert_int_equal(trace_record(trace, trace->records->len - 1)->step, 6);
    g_free(ends);
    g_free(path);
    trace_free(trace);
}

/* Proves that two ranks' files of one job are read as one, and that the same rank twice is refused.
 */
static void test_two_ranks(void **state)
{
    (void)state;
    char *dir = g_dir_make_tmp("fanout-XXXXXX", NULL);
    char *one = g_build_filename(dir, "rank0.json", NULL), *two = g_build_filename(dir, "rank1.json", NULL);
    const char *text = HEAD("2") NCCL("1", "1", ARGS) END;
    char **halves = g_strsplit(text, "\"rank\": 0", 2);
    char *other = g_strjoinv("\"rank\": 1", halves);
    assert_true(g_file_set_contents(one, text, -1, NULL) && g_file_set_contents(two, other, -1, NULL));
    const char *paths[] = {one};
    TraceReadSpec spec = {0};
    GError *error = NULL;
    GPtrArray *jobs = trace_read_jobs(paths, 1, &spec, &error);
    assert_non_null(jobs);
    assert_true(((Trace *)jobs->pdata[0])->recorded_ranks == 2 && !((Trace *)jobs->pdata[0])->replicate);
    g_ptr_array_free(jobs, TRUE);
    assert_true(g_file_set_contents(two, text, -1, NULL));
    assert_null(trace_read_jobs(paths, 1, &spec, &error));
    assert_non_null(strstr(error->message, "files of one job should be of different ranks"));
    g_clear_error(&error);
    g_unlink(one);
    g_unlink(two);
    g_rmdir(dir);
    g_strfreev(halves);
    g_free(other);
    g_free(one);
    g_free(two);
    g_free(dir);
}

static guint64 peak_kib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

/* Proves that memory does not grow with the file: 40 MB of events, one in 256 of them a kernel, are
 * read within 16 MB. */
static void test_memory(void **state)
{
    (void)state;
    const char *sanitize = g_getenv("SANITIZE");
    if (sanitize && strcmp(sanitize, "no") != 0)
        skip(); /* whose own memory grows */
    char *path = g_build_filename(g_get_tmp_dir(), "fanout-test-memory.json", NULL);
    FILE *file = fopen(path, "w");
    fputs(HEAD("1"), file);
    for (guint i = 0; i < 200000; i++) {
        fprintf(file,
                "{\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"aten::op%u\", \"ts\": %u.5, \"dur\": "
                "1, \"args\": {\"stream\": 7, "
                "\"External id\": %u, \"Input Dims\": [[128, 256], [256, 512], []], \"Input "
                "type\": [\"float\", \"float\"]}},\n",
                i % 256 == 0 ? "kernel" : "cpu_op", i, i * 2, i);
    }
    fputs(END, file);
    assert_true(ftell(file) > 38000000);
    fclose(file);
    guint64 before = peak_kib();
    TraceReadSpec spec = {0};
    const char *paths[] = {path};
    GPtrArray *jobs = trace_read_jobs(paths, 1, &spec, NULL);
    assert_non_null(jobs);
    assert_true(peak_kib() - before < 16384);
    g_ptr_array_free(jobs, TRUE);
    g_unlink(path);
    g_free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timeline),   cmocka_unit_test(test_peers),         cmocka_unit_test(test_older_forms),
        cmocka_unit_test(test_bad_events), cmocka_unit_test(test_shared_counts), cmocka_unit_test(test_two_ranks),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
