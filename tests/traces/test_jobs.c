#include "tests/traces/trace_test.h"

#define KINETO                                                                                                         \
    "{\"schemaVersion\": 1, %s\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": "                       \
    "\"ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)\", \"ts\": 1, \"dur\": 1, \"args\": {\"stream\""                     \
    ": 20, \"device\": 0, \"Collective name\": \"allreduce\", \"In msg nelems\": 8, \"Out msg "                        \
    "nelems\": 8, \"dtype\": \"Float\", \"Group size\": %u}}]}"
#define ET                                                                                                             \
    "{\"schema\": \"1.0.1\", \"nodes\": [{\"name\": \"record_param_comms\", \"id\": 2, \"inputs\""                     \
    ": [[[10, 11, 0, 1024, 4, \"cuda:0\"]], 12, 0, 0, \"allreduce\", [], []], \"outputs\": []}]}"
#define FILES_MAX 12

typedef struct {
    const char *name; /* in the test's folder */
    int rank, world;  /* as distributedInfo has them; -1: there is none */
} Written;

typedef struct {
    const char *what, *format;
    Written files[FILES_MAX];
    const char *named[FILES_MAX]; /* arguments; none: all files, in their order */
    const char *jobs;             /* "RANKS/WORLD" of each job, separated by blanks */
    guint32 world;                /* as --world gives it; also the kernels' group size. 0: as many as files */
} Case;

static const Case cases[] = {
    {"TensorBoard's worker names with a step and milliseconds",
     "kineto",
     {{"worker0_step_12.1694128201545.pt.trace.json", 0, 2}, {"worker1_step_12.1694128201556.pt.trace.json", 1, 2}},
     {NULL},
     "2/2",
     0},
    {"the same without distributedInfo: the worker's number is the rank",
     "kineto",
     {{"worker0_step_12.1694128201545.pt.trace.json", -1, -1}, {"worker1_step_12.1694128201556.pt.trace.json", -1, -1}},
     {NULL},
     "2/2",
     0},
    {"host and process ids",
     "kineto",
     {{"nodeA_1074.1694128201545.pt.trace.json", 0, 2}, {"nodeA_1075.1694128201601.pt.trace.json", 1, 2}},
     {NULL},
     "2/2",
     0},
    {"the same without distributedInfo: in the order of the numbers",
     "kineto",
     {{"nodeA_1074.1694128201545.pt.trace.json", -1, -1}, {"nodeA_1075.1694128201501.pt.trace.json", -1, -1}},
     {NULL},
     "2/2",
     0},
    {"one of them stands for both",
     "kineto",
     {{"nodeA_1074.1694128201545.pt.trace.json", 0, 2}, {"nodeA_1075.1694128201601.pt.trace.json", 1, 2}},
     {"nodeA_1075.1694128201601.pt.trace.json"},
     "2/2",
     0},
    {"two steps of two ranks are two jobs",
     "kineto",
     {{"worker0_step_12.1694128201545.pt.trace.json", 0, 2},
      {"worker0_step_13.1694128201945.pt.trace.json", 0, 2},
      {"worker1_step_12.1694128201556.pt.trace.json", 1, 2},
      {"worker1_step_13.1694128201956.pt.trace.json", 1, 2}},
     {NULL},
     "2/2 2/2",
     0},
    {"one of those stands for its step alone",
     "kineto",
     {{"worker0_step_12.1694128201545.pt.trace.json", 0, 2},
      {"worker0_step_13.1694128201945.pt.trace.json", 0, 2},
      {"worker1_step_12.1694128201556.pt.trace.json", 1, 2},
      {"worker1_step_13.1694128201956.pt.trace.json", 1, 2}},
     {"worker1_step_13.1694128201956.pt.trace.json"},
     "2/2",
     0},
    {"profiled twice, told apart by times alone",
     "kineto",
     {{"h_7.1694128201545.json", 1, 2},
      {"h_7.1694128209945.json", 1, 2},
      {"h_8.1694128201546.json", 0, 2},
      {"h_8.1694128209946.json", 0, 2}},
     {NULL},
     "2/2 2/2",
     0},
    {"two recordings of one rank are two jobs",
     "kineto",
     {{"run1.json", 0, 2}, {"run2.json", 0, 2}},
     {NULL},
     "1/2 1/2",
     0},
    {"hosts of any name, by distributedInfo",
     "kineto",
     {{"alpha_10.17.json", 0, 4}, {"alpha_11.17.json", 2, 4}, {"beta_9.17.json", 1, 4}, {"beta_12.17.json", 3, 4}},
     {NULL},
     "4/4",
     0},
    {"folders named by ranks",
     "kineto",
     {{"rank_0/trace.json", -1, -1}, {"rank_1/trace.json", -1, -1}, {"rank_2/trace.json", -1, -1}},
     {NULL},
     "3/3",
     0},
    {"folders of two jobs",
     "kineto",
     {{"job1/rank0.json", -1, -1},
      {"job1/rank1.json", -1, -1},
      {"job2/rank0.json", -1, -1},
      {"job2/rank1.json", -1, -1}},
     {"job1", "job2"},
     "2/2 2/2",
     2},
    {"the number is no rank where the file says another",
     "kineto",
     {{"trace.1.json", 0, 2}, {"trace.2.json", 1, 2}},
     {NULL},
     "2/2",
     0},
    {"execution traces that differ in a number",
     "pytorch-et",
     {{"run_eg_0.json", -1, -1}, {"run_eg_1.json", -1, -1}},
     {NULL},
     "2/2",
     0},
    {"ten ranks are in the order of the numbers, not of the letters",
     "pytorch-et",
     {{"e8.json", -1, -1}, {"e9.json", -1, -1}, {"e10.json", -1, -1}, {"e11.json", -1, -1}},
     {"e11.json", "e10.json", "e9.json", "e8.json"},
     "4/4",
     0},
    {"one of those stands for both",
     "pytorch-et",
     {{"run_eg_0.json", -1, -1}, {"run_eg_1.json", -1, -1}},
     {"run_eg_1.json"},
     "2/2",
     0},
    {"numbers that are no ranks do not call files in that were not named",
     "pytorch-et",
     {{"iteration_100.json", -1, -1}, {"iteration_200.json", -1, -1}},
     {"iteration_200.json"},
     "1/2",
     2},
};

static char *make_files(const Case *c)
{
    char *dir = g_dir_make_tmp("fanout-XXXXXX", NULL);
    for (guint i = 0; i < FILES_MAX && c->files[i].name; i++) {
        const Written *w = &c->files[i];
        char *path = g_build_filename(dir, w->name, NULL), *folder = g_path_get_dirname(path);
        g_mkdir_with_parents(folder, 0700);
        char *info = w->rank < 0 ? g_strdup("")
                                 : g_strdup_printf("\"distributedInfo\": {\"rank\": %d, "
                                                   "\"world_size\": %d}, ",
                                                   w->rank, w->world);
        guint n = w->world > 0 ? (guint)w->world : c->world;
        while (n == 0 || (w->world < 0 && c->world == 0 && n < FILES_MAX && c->files[n].name))
            n++;
        char *text = strcmp(c->format, "kineto") == 0 ? g_strdup_printf(KINETO, info, n) : g_strdup(ET);
        assert_true(g_file_set_contents(path, text, -1, NULL));
        g_free(text);
        g_free(info);
        g_free(path);
        g_free(folder);
    }
    return dir;
}

static void remove_files(const Case *c, const char *dir)
{
    for (guint i = 0; i < FILES_MAX && c->files[i].name; i++) {
        char *path = g_build_filename(dir, c->files[i].name, NULL);
        char *folder = g_path_get_dirname(path);
        g_unlink(path);
        g_rmdir(folder);
        g_free(path);
        g_free(folder);
    }
    g_rmdir(dir);
}

/* Proves that files become jobs by what they and their names say: how many ranks were recorded of
 * each job, and how many it has. */
static void test_grouping(void **state)
{
    (void)state;
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        const Case *c = &cases[i];
        char *dir = make_files(c), *paths[FILES_MAX] = {NULL};
        guint n = 0;
        for (guint k = 0; k < FILES_MAX; k++) {
            const char *name = c->named[0] ? c->named[k] : c->files[k].name;
            if (name)
                paths[n++] = g_build_filename(dir, name, NULL);
        }
        TraceReadSpec spec = {.world = c->world};
        GError *error = NULL;
        GPtrArray *jobs = trace_read_jobs((const char *const *)paths, n, &spec, &error);
        if (!jobs)
            fail_msg("%s: %s", c->what, error->message);
        GString *got = g_string_new(NULL);
        for (guint j = 0; j < jobs->len; j++) {
            const Trace *trace = jobs->pdata[j];
            g_string_append_printf(got, "%s%u/%u", j > 0 ? " " : "", trace->recorded_ranks, trace->world);
        }
        if (strcmp(got->str, c->jobs) != 0)
            fail_msg("%s: jobs %s, should be %s", c->what, got->str, c->jobs);
        g_string_free(got, TRUE);
        g_ptr_array_free(jobs, TRUE);
        remove_files(c, dir);
        for (guint k = 0; k < n; k++)
            g_free(paths[k]);
        g_free(dir);
    }
}

/* Proves that ranks go by the numbers' order, which a note says, and that each operation keeps the
 * file it comes from. */
static void test_order(void **state)
{
    (void)state;
    const Case *c = NULL;
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
        c = g_str_has_prefix(cases[i].what, "ten ranks") ? &cases[i] : c;
    char *dir = make_files(c), *first = g_build_filename(dir, "e9.json", NULL),
         *second = g_build_filename(dir, "e10.json", NULL);
    const char *paths[] = {second, first};
    TraceReadSpec spec = {0};
    GPtrArray *jobs = trace_read_jobs(paths, 2, &spec, NULL);
    assert_non_null(jobs);
    assert_int_equal(jobs->len, 1);
    const Trace *trace = jobs->pdata[0];
    assert_string_equal(trace->files->pdata[trace_record(trace, 0)->source.file], first);
    assert_string_equal(trace->files->pdata[trace_record(trace, 1)->source.file], second);
    gboolean said = FALSE;
    for (guint i = 0; i < trace->notes->len; i++)
        said |= strstr(trace->notes->pdata[i], "in the order of the numbers") != NULL;
    assert_true(said);
    g_ptr_array_free(jobs, TRUE);
    remove_files(c, dir);
    g_free(first);
    g_free(second);
    g_free(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grouping),
        cmocka_unit_test(test_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
