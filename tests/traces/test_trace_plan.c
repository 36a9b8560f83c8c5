#include "tests/traces/trace_test.h"

#include <unistd.h>

#include "traces/record/plan.h"

/* A plan of two ranks; `op` is rank 0's only operation. */
static char *plan_with(const char *op)
{
    static const char gpu[] = "{\"id\": %d, \"input_chunks\": 2, \"output_chunks\": 2, \"scratch_chunks\": 0, "
                              "\"threadblocks\": [{\"id\": 0,"
                              " \"ops\": [%s], \"channels\": [{\"channel_type\": \"memory\", \"channel_ids\": [0]}, "
                              "{\"channel_type\": \"switch\","
                              " \"channel_ids\": [0]}], \"remote_buffer_refs\": [{\"access_channel_type\": \"memory\", "
                              "\"remote_buffer_ids\": [0]}]}],"
                              " \"channels\": [{\"channel_type\": \"memory\", \"connected_to\": [%d]}, "
                              "{\"channel_type\": \"switch\", \"buffer_type\": \"i\","
                              " \"rank_groups\": [{\"size\": 2, \"ranks\": [0, 1]}]}], \"remote_buffers\": [{\"rank\": "
                              "%d, \"type\": \"s\"}]}";
    char *first = g_strdup_printf(gpu, 0, op, 1, 1), *second = g_strdup_printf(gpu, 1, "{\"name\": \"nop\"}", 0, 0);
    char *text = g_strdup_printf("{\"name\": \"p\", \"collective\": \"allreduce\", \"protocol\": "
                                 "\"Simple\", \"gpus\": [%s, %s],"
                                 " \"min_message_size\": 0, \"max_message_size\": 18446744073709551615}",
                                 first, second);
    g_free(first);
    g_free(second);
    return text;
}

/* Proves that operations' buffers, remote ranks and channels are resolved, pipelines flattened and
 * block groups kept. */
static void test_operations(void **state)
{
    (void)state;
    char *text = plan_with("{\"name\": \"ppkt\", \"src_buff\": [{\"type\": \"i\", \"index\": 1, \"size\": "
                           "1}], \"dst_buff\": [{\"buffer_id\": 0, \"index\": 1,"
                           " \"size\": 1}], \"channel_type\": \"memory\", \"tbg_info\": {\"tb_id\": 1, "
                           "\"tbg_size\": 2}},"
                           "{\"name\": \"signal\", \"channel_ids\": [0], \"channel_type\": \"memory\"},"
                           "{\"name\": \"pipeline\", \"iter_context\": {\"unit_size\": 1048576, "
                           "\"num_chunks\": 1}, \"ops\": [{\"name\": \"glres\","
                           " \"src_buff\": [{\"switch_channel_id\": 0, \"index\": 0, \"size\": 1}], "
                           "\"dst_buff\": [{\"switch_channel_id\": 0, \"index\": 0,"
                           " \"size\": 1}], \"channel_type\": \"switch\", \"reduce_op\": \"sum\"}]}");
    GError *error = NULL;
    Trace *trace = trace_test_read("p.json", text, strlen(text), FALSE, &error);
    if (!trace)
        fail_msg("%s", error->message);
    assert_true(trace->world == 2 && trace->records->len == 2 && trace->plan->bytes == 1 << 20);
    const PlanRank *rank = &g_array_index(trace->plan->ranks, PlanRank, 0);
    const GArray *ops = g_array_index(rank->blocks, PlanBlock, 0).ops;
    assert_int_equal(ops->len, 3);
    const PlanOp *op = &g_array_index(ops, PlanOp, 0);
    assert_true(op->kind == PLAN_PUT && op->packet && op->part == 1 && op->parts == 2 && op->src[0].index == 1);
    assert_true(op->dst[0].rank == 1 && op->dst[0].buffer == PLAN_SCRATCH && op->src[0].rank == 0);
    op = &g_array_index(ops, PlanOp, 1);
    assert_true(op->kind == PLAN_SIGNAL && op->n_peers == 1 && op->peers[0] == 1);
    op = &g_array_index(ops, PlanOp, 2);
    assert_true(op->kind == PLAN_SWITCH_REDUCE_STORE && op->src[0].channel == 0 && op->src[0].buffer == PLAN_INPUT);
    g_free(text);
    trace_free(trace);
}

/* Proves that a thread block's channels and remote buffers are numbered through all of its lists of one kind: memory
 * channel 1 is the first of the second list, which leads to rank 2. */
static void test_several_lists(void **state)
{
    (void)state;
    static const char gpu[] =
        "{\"id\": %u, \"input_chunks\": 1, \"output_chunks\": 1, \"scratch_chunks\": 0, \"threadblocks\": [{\"id\": 0, "
        "\"ops\": [{\"name\": \"signal\", \"channel_type\": \"memory\", \"channel_ids\": [1]}, {\"name\": \"put\", "
        "\"channel_type\": \"memory\", \"src_buff\": [{\"type\": \"i\", \"index\": 0, \"size\": 1}], \"dst_buff\": "
        "[{\"buffer_id\": 1, \"index\": 0, \"size\": 1}]}], \"channels\": [{\"channel_type\": \"memory\", "
        "\"channel_ids\": [0]}, {\"channel_type\": \"memory\", \"channel_ids\": [1]}], \"remote_buffer_refs\": "
        "[{\"access_channel_type\": \"memory\", \"remote_buffer_ids\": [0]}, {\"access_channel_type\": \"memory\", "
        "\"remote_buffer_ids\": [1]}]}], \"channels\": [{\"channel_type\": \"memory\", \"connected_to\": [1, 2]}], "
        "\"remote_buffers\": [{\"rank\": 1, \"type\": \"o\"}, {\"rank\": 2, \"type\": \"o\"}]}";
    GString *text =
        g_string_new("{\"name\": \"p\", \"collective\": \"allreduce\", \"protocol\": \"Simple\", \"gpus\": [");
    for (guint i = 0; i < 3; i++) {
        g_string_append(text, i > 0 ? ", " : "");
        g_string_append_printf(text, gpu, i);
    }
    g_string_append(text, "]}");
    GError *error = NULL;
    Trace *trace = trace_test_read("p.json", text->str, text->len, FALSE, &error);
    if (!trace)
        fail_msg("%s", error->message);
    const GArray *ops = g_array_index(g_array_index(trace->plan->ranks, PlanRank, 0).blocks, PlanBlock, 0).ops;
    assert_int_equal(g_array_index(ops, PlanOp, 0).peers[0], 2);
    assert_int_equal(g_array_index(ops, PlanOp, 1).dst[0].rank, 2);
    g_string_free(text, TRUE);
    trace_free(trace);
}

/* Proves that wrong operations are refused by gpu, thread block and operation; a plan with a hole
 * is no plan, also when lenient. */
static void test_bad_operations(void **state)
{
    (void)state;
    static const struct {
        const char *op, *says;
    } cases[] = {
        {"{\"name\": \"nop\"}, {\"name\": \"teleport\"}",
         ": gpu 0, thread block 0, operation 1: unknown operation \"teleport\""},
        {"{\"name\": \"sem_acquire\", \"semaphore_ids\": [0]}",
         "operation 0: 'sem_acquire': semaphores are not supported"},
        {"{\"name\": \"put\"}", "'put' should have src_buff and dst_buff"},
        {"{\"name\": \"signal\", \"channel_ids\": [1], \"channel_type\": \"memory\"}",
         "memory 1 is not in the thread block's"},
        {"{\"name\": \"wait\"}", "'wait' should have channel_ids"},
        {"{\"name\": \"copy\", \"src_buff\": [{\"type\": \"q\"}], \"dst_buff\": [{\"type\": "
         "\"i\"}]}",
         "should be \"i\", \"o\" or \"s\""},
        {"{\"name\": \"copy\", \"src_buff\": [{\"type\": \"i\", \"index\": \"1\"}], \"dst_buff\": "
         "[{\"type\": \"i\"}]}",
         "\"index\" is the string \"1\""},
        {"{\"name\": \"copy\", \"src_buff\": [{\"type\": \"i\", \"index\": 99999999}], "
         "\"dst_buff\": [{\"type\": \"i\"}]}",
         "should be a whole number up to"},
        {"{\"name\": \"gstore\", \"src_buff\": [{\"type\": \"i\"}], \"dst_buff\": [{\"type\": "
         "\"i\"}]}",
         "should be a switch channel"},
        {"{\"name\": \"nop\", \"tbg_info\": {\"tb_id\": 2, \"tbg_size\": 2}}", "\"tb_id\" should be below"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        char *text = plan_with(cases[i].op);
        trace_test_refused("p.json", text, strlen(text), cases[i].says, 0);
        g_free(text);
    }
}

/* Proves that the public NVLS plan is read with its switch operations on both ranks. */
static void test_shared_plan(void **state)
{
    (void)state;
    Trace *trace = trace_test_read_shared("mscclpp/reduce_nvls.json");
    if (!trace)
        skip();
    assert_int_equal(trace->world, 2);
    for (guint r = 0; r < 2; r++) {
        const PlanRank *rank = &g_array_index(trace->plan->ranks, PlanRank, r);
        const GArray *ops = g_array_index(rank->blocks, PlanBlock, 0).ops;
        guint glres = 0;
        for (guint i = 0; i < ops->len; i++) {
            const PlanOp *op = &g_array_index(ops, PlanOp, i);
            glres += op->kind == PLAN_SWITCH_REDUCE_STORE && op->src[0].index == r;
        }
        assert_int_equal(ops->len, 11);
        assert_int_equal(glres, 1);
        assert_true(trace_record(trace, r)->op == RECORD_PLAN);
    }
    trace_free(trace);
}

/* Proves that channels are counted by kind: of a GPU with one memory channel to 1 and one port channel
 * to 2, channel 0 is the one or the other by the operation's kind; and channel 1 of a kind is none. */
static void test_channel_kinds(void **state)
{
    (void)state;
#define KINDS_GPU(id, near, far, ops)                                                                                  \
    "{\"id\": " id ", \"input_chunks\": 1, \"threadblocks\": [{\"id\": 0, \"ops\": [" ops                              \
    "], \"channels\": [{\"channel_type\": \"memory\", \"channel_ids\": [0]}, {\"channel_type\": "                      \
    "\"port\", \"channel_ids\": [0, 1]}]}], \"channels\": [{\"channel_type\": \"memory\", "                            \
    "\"connected_to\": [" near "]}, {\"channel_type\": \"port\", \"connected_to\": [" far "]}]}"
#define KINDS_PLAN(ops)                                                                                                \
    "{\"name\": \"p\", \"collective\": \"x\", \"protocol\": \"Simple\", \"gpus\": [" KINDS_GPU(                        \
        "0", "1", "2", ops) "," KINDS_GPU("1", "0", "3", "") "," KINDS_GPU("2", "3", "0",                              \
                                                                           "") "," KINDS_GPU("3", "2", "1", "") "]}"
#define KINDS_OP(name, kind, id) "{\"name\": \"" name "\", \"channel_ids\": [" id "], \"channel_type\": \"" kind "\"}"
    const char *text = KINDS_PLAN(KINDS_OP("signal", "memory", "0") "," KINDS_OP("signal", "port", "0"));
    Trace *trace = trace_test_read("p.json", text, strlen(text), FALSE, NULL);
    assert_non_null(trace);
    const PlanRank *rank = &g_array_index(trace->plan->ranks, PlanRank, 0);
    const GArray *ops = g_array_index(rank->blocks, PlanBlock, 0).ops;
    const PlanOp *memory = &g_array_index(ops, PlanOp, 0), *port = &g_array_index(ops, PlanOp, 1);
    assert_int_equal(memory->peers[0], 1);
    assert_int_equal(port->peers[0], 2);
    assert_int_not_equal(memory->channels[0], port->channels[0]);
    trace_free(trace);
    text = KINDS_PLAN(KINDS_OP("signal", "port", "1"));
    trace_test_refused("p.json", text, strlen(text), "operation 0: port channel 1 is not among the gpu's channels", 0);
}

/* Proves that a second plan in one job is refused by its name, and does not take the place of the first. */
static void test_two_plans(void **state)
{
    (void)state;
    const char *text = KINDS_PLAN(KINDS_OP("signal", "memory", "0"));
    g_autofree char *folder = g_dir_make_tmp("fanout-plans-XXXXXX", NULL);
    char *paths[2];
    for (guint i = 0; i < 2; i++) {
        g_autofree char *name = g_strdup_printf("rank%u.json", i);
        paths[i] = g_build_filename(folder, name, NULL);
        assert_true(g_file_set_contents(paths[i], text, -1, NULL));
    }
    g_autofree char *job = g_strjoin(",", paths[0], paths[1], NULL);
    const char *const jobs[] = {job};
    const TraceReadSpec spec = {0};
    GError *error = NULL;
    assert_null(trace_read_jobs(jobs, 1, &spec, &error));
    assert_non_null(strstr(error->message, "rank1.json: a second plan in one job"));
    g_clear_error(&error);
    for (guint i = 0; i < 2; i++) {
        remove(paths[i]);
        g_free(paths[i]);
    }
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations),  cmocka_unit_test(test_bad_operations),
        cmocka_unit_test(test_shared_plan), cmocka_unit_test(test_channel_kinds),
        cmocka_unit_test(test_two_plans),   cmocka_unit_test(test_several_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
