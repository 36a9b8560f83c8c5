#include "tests/traces/trace_test.h"

#include "traces/record/replicate.h"

#define HEAD(tp, ep, all)                                                                                              \
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: " tp " ep: " ep " pp: 1 vpp: 1 ga: 1 all_gpus: " all    \
    " checkpoints: 0 checkpoint_initiates: 0\n"

/* Proves that a step runs forward through the layers and backward through them, that weight
 * gradients' communication has a stream of its own, and that each kind of communication is in its
 * group. */
static void test_step(void **state)
{
    (void)state;
    const char *text = HEAD("2", "2", "8") "2\n"
                                           "a -1 100 ALLGATHER 64 30 ALLTOALL_EP 32 7 ALLREDUCE 16 1\n"
                                           "b -1 200 NONE 0 40 REDUCESCATTER 0 8 REDUCESCATTER_DP_EP 8 1\n";
    GError *error = NULL;
    Trace *trace = trace_test_read("w.txt", text, strlen(text), FALSE, &error);
    if (!trace)
        fail_msg("%s", error->message);
    static const struct {
        RecordOp op;
        guint32 n, second;
        guint64 in, out, ps;
    } want[] = {
        {RECORD_COMPUTE, 0, 0, 0, 0, 100000},   {RECORD_ALL_GATHER, 2, 1, 32, 64, 0},
        {RECORD_COMPUTE, 0, 0, 0, 0, 200000},   {RECORD_COMPUTE, 0, 0, 0, 0, 8000},
        {RECORD_REDUCE_SCATTER, 2, 4, 8, 4, 0}, {RECORD_COMPUTE, 0, 0, 0, 0, 40000},
        {RECORD_COMPUTE, 0, 0, 0, 0, 7000},     {RECORD_ALL_REDUCE, 4, 2, 16, 16, 0},
        {RECORD_COMPUTE, 0, 0, 0, 0, 30000},    {RECORD_ALL_TO_ALL, 2, 2, 32, 32, 0},
    };
    assert_int_equal(trace->records->len, G_N_ELEMENTS(want));
    for (guint i = 0; i < G_N_ELEMENTS(want); i++) {
        const Record *r = trace_record(trace, i);
        assert_int_equal(r->op, want[i].op);
        assert_true(r->bytes_in == want[i].in && r->bytes_out == want[i].out && r->duration_ps == want[i].ps);
        assert_int_equal(r->stream, i == 4 || i == 7);
        if (want[i].n > 0) {
            const RecordGroup *group = trace_group_at(trace, r->group);
            assert_true(group->n == want[i].n && group->ranks[1] == want[i].second);
        }
    }
    /* replicated: rank 5 is in the tensor group 4,5 and the data group 1,3,5,7 */
    assert_true(trace_replicate(trace, &error));
    assert_int_equal(trace->records->len, 8 * G_N_ELEMENTS(want));
    const Record *r = trace_record(trace, trace->rank_first[5] + 1);
    const RecordGroup *group = trace_group_at(trace, r->group);
    assert_true(group->ranks[0] == 4 && group->ranks[1] == 5);
    group = trace_group_at(trace, trace_record(trace, trace->rank_first[5] + 7)->group);
    assert_true(group->n == 4 && group->ranks[0] == 1 && group->ranks[3] == 7);
    trace_free(trace);
}

/* Proves that wrong files are refused by line, and wrong layers counted when lenient. */
static void test_bad_lines(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
        guint64 skipped;
    } cases[] = {
        {HEAD("2", "1", "8") "1\na -1 x NONE 64 30 NONE 0 7 NONE 0 1\n", "compute time 'x' should be nanoseconds", 1},
        {HEAD("2", "1", "8") "1\na -1 1 ALLREDUCE 99999999999999 30 NONE 0 7 NONE 0 1\n", "up to 1 TiB", 1},
        {HEAD("2", "1", "8") "1\na 9 1 NONE 7 30 NONE 0 7 NONE 0 1\n", "dependency '9' should be -1 or a layer", 1},
        {HEAD("2", "1", "8") "1\na -1 1 NONE\n", "should have 12 columns", 1},
        {HEAD("2", "1", "8") "2\na -1 1 NONE 7 30 NONE 0 7 NONE 0 1\n", "ends after 1 of 2 layers", 1},
        {HEAD("2", "1", "8") "0\n", "should be the number of layers", 0},
        {HEAD("2", "1", "8") "1\na -1 1 NONE 7 30 NONE 0 7 NONE 0 1\nb\n", ":4: more layers than the 1", 0},
        {HEAD("3", "1", "8") "1\n", "should be a multiple of", 0},
        {HEAD("0", "1", "8") "1\n", "should be a number of 1 or more", 0},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
        trace_test_refused("w.txt", cases[i].text, strlen(cases[i].text), cases[i].says, cases[i].skipped);
}

/* Proves that the public micro-benchmark has the two all-reduces that its text shows, over 8 ranks.
 */
static void test_shared_counts(void **state)
{
    (void)state;
    Trace *trace = trace_test_read_shared("simai/microAllReduce.txt");
    if (!trace)
        skip();
    char *path = trace_test_shared("simai/microAllReduce.txt"), *text;
    assert_true(g_file_get_contents(path, &text, NULL, NULL));
    guint64 bytes = 0, own = 0;
    guint count = 0, own_count = 0;
    for (const char *at = text; (at = strstr(at, "ALLREDUCE")) != NULL; at++) {
        count++;
        bytes += g_ascii_strtoull(at + strlen("ALLREDUCE"), NULL, 10);
    }
    for (guint i = 0; i < trace->records->len; i++) {
        const Record *r = trace_record(trace, i);
        own_count += r->op == RECORD_ALL_REDUCE;
        own += r->bytes_in;
        assert_true(r->op == RECORD_COMPUTE || trace_group_at(trace, r->group)->n == 8);
    }
    assert_int_equal(count, 2);
    assert_int_equal(own_count, count);
    assert_int_equal(own, bytes);
    g_free(path);
    g_free(text);
    trace_free(trace);
}

/* Proves that workloads are read as ASTRA-sim ships them: with other first words, tabulators, carriage
 * returns, and without a number of ranks, which --world gives; that each word's passes communicate
 * with the ranks that they should; and that what a word does not have is counted. */
static void test_policies(void **state)
{
    (void)state;
#define LAYER "a\t-1\t5\tALLGATHER\t64\t6\tALLTOALL\t32\t7\tALLREDUCE\t16\t1\r\n"
    static const struct {
        const char *head;
        guint32 world;
        guint64 compute_ps;
        const char *operations; /* each with its group's ranks */
        guint notes;
    } cases[] = {
        {"MICRO", 4, 0, "all_reduce 4", 0},
        {"MICRO\r", 8, 0, "all_reduce 8", 0},
        {"DATA", 4, 18000, "all_reduce 4", 2},
        {"MODEL", 4, 18000, "all_gather 4, all_to_all 4", 1},
        {"DISTRIBUTED_INFERENCE", 4, 5000, "all_gather 4", 0},
        {"HYBRID_DLRM DLRM_LAST_BOTTOM_LAYER: 1", 4, 18000, "all_gather 4, all_reduce 4, all_to_all 4", 0},
        {"HYBRID_TRANSFORMER\tmodel_parallel_NPU_group: 2", 8, 18000, "all_gather 2, all_reduce 4, all_to_all 2", 0},
        {"HYBRID_MODEL_DATA model_parallel_NPU_group: 2", 8, 18000, "all_gather 2, all_reduce 4, all_to_all 2", 0},
        {"HYBRID_TRANSFORMER_FWD_IN_BCKWD\tmodel_parallel_NPU_group: 4 checkpoints: 2 1 0 "
         "checkpoint_initiates: 1 0",
         8, 18000, "all_gather 4, all_reduce 2, all_to_all 4", 1},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        char *text = g_strdup_printf("%s\n1\r\n" LAYER, cases[i].head);
        TraceReadSpec spec = {.world = cases[i].world};
        GError *error = NULL;
        Trace *trace = trace_read_input(input_open_memory("w.txt", text, strlen(text)), &spec, &error);
        if (!trace)
            fail_msg("%s: %s", cases[i].head, error->message);
        assert_string_equal(trace->format, "simai");
        assert_int_equal(trace->world, cases[i].world);
        GString *got = g_string_new(NULL);
        guint64 compute_ps = 0;
        for (guint k = 0; k < trace->records->len; k++) {
            const Record *r = trace_record(trace, k);
            compute_ps += r->duration_ps;
            if (r->op != RECORD_COMPUTE) {
                g_string_append_printf(got, "%s%s %u", got->len > 0 ? ", " : "", record_op_name(r->op),
                                       trace_group_at(trace, r->group)->n);
            }
        }
        if (g_str_has_prefix(cases[i].head, "HYBRID_MODEL_DATA")) /* 0,4 share a model */
            assert_int_equal(trace_group_at(trace, trace_record(trace, 1)->group)->ranks[1], 4);
        assert_string_equal(got->str, cases[i].operations);
        assert_int_equal(compute_ps, cases[i].compute_ps);
        assert_int_equal(trace->notes->len, cases[i].notes);
        g_string_free(got, TRUE);
        trace_free(trace);
        g_free(text);
    }
}

/* Proves that a missing number of ranks names --world, and that sizes which do not fit are said. */
static void test_heads(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        guint32 world;
        const char *says;
    } cases[] = {
        {"MICRO\n1\n" LAYER, 0, "w.txt:1: says nowhere how many ranks there are; give --world N"},
        {"HYBRID_TRANSFORMER\n1\n" LAYER, 4, "should say 'model_parallel_NPU_group: N'"},
        {"HYBRID_CUSTOMIZED\n1\n" LAYER, 4, "'HYBRID_CUSTOMIZED' is not read; known are MICRO"},
        {"HYBRID_TRANSFORMER model_parallel_NPU_group: 3\n1\n" LAYER, 4,
         "--world: 4 should be a multiple of model_parallel_NPU_group"},
        {HEAD("2", "1", "8") "1\n" LAYER, 4, "says 8 ranks, but --world says 4"},
        {HEAD("1048576", "1048576", "8") "1\n" LAYER, 0, "all_gpus: 8 should be a multiple"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        TraceReadSpec spec = {.world = cases[i].world};
        GError *error = NULL;
        assert_null(trace_read_input(input_open_memory("w.txt", cases[i].text, strlen(cases[i].text)), &spec, &error));
        if (!strstr(error->message, cases[i].says))
            fail_msg("'%s' should say '%s'", error->message, cases[i].says);
        g_clear_error(&error);
    }
}

/* Proves that a broadcast is one, from its group's first rank; that a communication of an unknown name is left out
 * and its layer's computation is not; and that a size which its ranks cannot share alike is rounded up: 7 bytes of
 * two ranks to 8. */
static void test_left_out(void **state)
{
    (void)state;
    const char *text = HEAD("2", "1", "8") "3\na -1 100 BROADCAST 16384 30 NONE 0 0 NONE 0 1\n"
                                           "b -1 200 ALLREDO 64 0 NONE 0 0 NONE 0 1\n"
                                           "c -1 0 ALLGATHER 7 0 NONE 0 0 NONE 0 1\n";
    GError *error = NULL;
    Trace *trace = trace_test_read("x", text, strlen(text), FALSE, &error);
    if (!trace)
        fail_msg("%s", error->message);
    guint broadcasts = 0, gathers = 0;
    guint64 compute_ps = 0;
    for (guint i = 0; i < trace->records->len; i++) {
        const Record *r = trace_record(trace, i);
        compute_ps += r->op == RECORD_COMPUTE ? r->duration_ps : 0;
        broadcasts += r->op == RECORD_BROADCAST && r->bytes_in == 16384 && r->peer == 0;
        gathers += r->op == RECORD_ALL_GATHER && r->bytes_in == 4 && r->bytes_out == 8;
    }
    assert_true(broadcasts == 1 && gathers == 1 && compute_ps == 330000);
    gboolean unknown = FALSE, rounded = FALSE;
    for (guint i = 0; i < trace->notes->len; i++) {
        unknown |= strstr(trace->notes->pdata[i], "not known are left out: 1 of ALLREDO") != NULL;
        rounded |= strstr(trace->notes->pdata[i], "are rounded up: 1 of all_gather") != NULL;
    }
    assert_true(unknown && rounded);
    assert_true(trace_replicate(trace, &error));
    for (guint i = 0; i < trace->records->len; i++) { /* the root of each group is its own first rank */
        const Record *r = trace_record(trace, i);
        assert_true(r->op != RECORD_BROADCAST || r->peer == (gint32)(r->rank / 2 * 2));
    }
    trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_step),      cmocka_unit_test(test_policies), cmocka_unit_test(test_heads),
        cmocka_unit_test(test_bad_lines), cmocka_unit_test(test_left_out), cmocka_unit_test(test_shared_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
