#include "tests/traces/trace_test.h"

#include "model/presets/preset.h"
#include "traces/replay/report.h"
#include "device/launch_time.h"

typedef struct {
    ParamSet *set;
    FabricSpec fabric;
    Trace *trace[2];
    ReplayJob job[2];
    ReplaySpec spec;
} Case;

static void open_case(Case *c, const char *preset)
{
    memset(c, 0, sizeof *c);
    c->set = param_set_new();
    device_params(c->set, &c->fabric);
    GError *error = NULL;
    if (!preset_load(c->set, preset, &error))
        fail_msg("%s", error->message);
    c->spec = (ReplaySpec){.fabric = &c->fabric, .memo = TRUE, .compute_ppm = 1000000, .sim.seed = 1};
    for (int op = 0; op < COLL_OPS; op++)
        c->spec.algo[op] = COLL_AUTO;
}

/* Takes the trace; ranks go on GPUs from `first` on. */
static void add_job(Case *c, guint j, Trace *trace, guint first)
{
    GError *error = NULL;
    c->trace[j] = trace;
    c->job[j].trace = trace;
    c->job[j].match = match_new(trace, FALSE, &error);
    if (!c->job[j].match)
        fail_msg("%s", error->message);
    c->job[j].gpu = g_new(guint16, trace->world);
    for (guint r = 0; r < trace->world; r++)
        c->job[j].gpu[r] = first + r;
}

static void add_text(Case *c, guint j, const char *text, guint first)
{
    GError *error = NULL;
    Trace *trace = trace_test_read("r.trace", text, strlen(text), FALSE, &error);
    if (!trace)
        fail_msg("%s", error->message);
    add_job(c, j, trace, first);
}

static ReplayResult *run(Case *c, guint n)
{
    GError *error = NULL;
    ReplayResult *result = replay_run(&c->spec, c->job, n, &error);
    if (!result)
        fail_msg("%s", error->message);
    return result;
}

static void close_case(Case *c)
{
    for (guint j = 0; j < 2; j++) {
        match_free(c->job[j].match);
        g_free(c->job[j].gpu);
        trace_free(c->trace[j]);
    }
    param_set_free(c->set);
}

#define NODES                                                                                                          \
    "rank *\n1 compute 10us stream=1\n2 all_reduce bytes=65536 dtype=f32 stream=2 after=1\n"                           \
    "3 compute 50us stream=1\n4 compute 1us stream=1 gap=2us after=2\n"

/* Proves that streams overlap, that gaps and dependencies hold to the picosecond, and that the
 * collective takes what the library says it takes alone. */
static void test_times(void **state)
{
    (void)state;
    Case c;
    open_case(&c, "dgx-h100");
    add_text(&c, 0, "fanout-trace 1\nworld 4\n" NODES, 0);
    ReplayResult *result = run(&c, 1);
    const ReplayJobResult *job = &result->job[0];
    assert_int_equal(job->start_ps[1], 10000000);
    SimTime coll_ps = job->end_ps[1] - job->start_ps[1];
    assert_true(coll_ps > 1000000);
    assert_int_equal(job->start_ps[2], 10000000);
    assert_int_equal(job->end_ps[2], 60000000);
    assert_int_equal(job->start_ps[3], MAX(60000000, job->end_ps[1]) + 2000000);
    assert_int_equal(result->total_ps, job->end_ps[3]);
    ReplayBusy busy = replay_busy(&c.job[0], job, 0, 4, RECORD_NO_STEP);
    assert_int_equal(busy.communicating_ps, coll_ps);
    assert_int_equal(busy.computing_ps, 61000000);
    assert_int_equal(busy.exposed_ps, coll_ps > 50000000 ? coll_ps - 50000000 : 0);
    /* alone, by the library */
    Sim *sim = sim_new(&c.spec.sim, NULL);
    Fabric *fabric = fabric_new(sim, &c.fabric, FALSE, NULL);
    CollGroup *group = coll_group_new(fabric, NULL, 4, NULL);
    CollSpec spec = coll_spec_default(COLL_ALL_REDUCE);
    spec.bytes = 65536;
    spec.check = FALSE;
    CollResult alone;
    assert_true(coll_run(group, &spec, &alone, NULL));
    assert_int_equal(alone.time_ps, coll_ps);
    coll_group_free(group);
    fabric_free(fabric);
    sim_free(sim);
    /* scaled: computations and gaps alone */
    replay_result_free(result);
    c.spec.compute_ppm = 500000;
    result = run(&c, 1);
    assert_int_equal(result->job[0].start_ps[1], 5000000);
    assert_int_equal(result->job[0].end_ps[1] - result->job[0].start_ps[1], coll_ps);
    replay_result_free(result);
    close_case(&c);
}

static gboolean same(const ReplayResult *a, const ReplayResult *b, const Case *c, guint n)
{
    gboolean equal = a->total_ps == b->total_ps;
    for (guint j = 0; j < n; j++) {
        gsize records = c->trace[j]->records->len * sizeof(SimTime);
        equal = equal && memcmp(a->job[j].start_ps, b->job[j].start_ps, records) == 0 &&
                memcmp(a->job[j].end_ps, b->job[j].end_ps, records) == 0;
    }
    gsize links = (gsize)a->usage.gpus * a->usage.links * 2 * sizeof(guint64);
    return equal && memcmp(a->usage.flits, b->usage.flits, links) == 0;
}

/* Proves that taking repeated communications from memory changes nothing: times of all operations
 * and flits of all links are the same, where nothing overlaps, where another job's communication
 * comes upon a remembered one, and at its very end. */
static void test_memo_changes_nothing(void **state)
{
    (void)state;
    GString *one = g_string_new("fanout-trace 1\nworld 2\nrank *\n"), *two = g_string_new(one->str);
    for (guint i = 0; i < 12; i++) {
        g_string_append_printf(one, "%u compute 20us stream=1\n%u all_reduce bytes=%u dtype=f32 stream=1\n", 2 * i,
                               2 * i + 1, i % 3 == 0 ? 32768 : 65536);
        g_string_append_printf(two, "%u compute %uus stream=1\n%u all_gather bytes=16384 dtype=f32 stream=1\n", 2 * i,
                               13 + 5 * (i % 4), 2 * i + 1);
    }
    Case c;
    open_case(&c, "teach-4gpu");
    add_text(&c, 0, one->str, 0);
    add_text(&c, 1, two->str, 2);
    for (guint n = 1; n <= 2; n++) {
        c.spec.memo = TRUE;
        ReplayResult *with = run(&c, n);
        c.spec.memo = FALSE;
        ReplayResult *without = run(&c, n);
        assert_true(same(with, without, &c, n));
        assert_int_equal(without->memoised, 0);
        assert_int_equal(without->simulated, 12 * n);
        assert_int_equal(with->memoised + with->simulated, 12 * n);
        assert_true(n == 2 || with->simulated == 2);
        assert_true(n == 1 || (with->overlapped > 0 && with->memoised > 0));
        replay_result_free(with);
        replay_result_free(without);
    }
    close_case(&c);
    g_string_free(one, TRUE);
    g_string_free(two, TRUE);
}

/* Proves that jobs contend: two all-reduces over the same links take longer together than one
 * alone, and on links of their own they do not. */
static void test_contention(void **state)
{
    (void)state;
    const char *text = "fanout-trace 1\nworld 4\nrank *\n1 all_reduce bytes=1048576 dtype=f32\n";
    SimTime alone_ps, together_ps;
    Case c;
    open_case(&c, "teach-4gpu");
    add_text(&c, 0, text, 0);
    ReplayResult *result = run(&c, 1);
    alone_ps = result->total_ps;
    replay_result_free(result);
    add_text(&c, 1, text, 0);
    result = run(&c, 2);
    together_ps = result->total_ps;
    replay_result_free(result);
    close_case(&c);
    assert_true(together_ps > alone_ps + alone_ps / 4);
    assert_true(together_ps < 3 * alone_ps);
}

/* Proves that messages, rooted operations, barriers and folded ranks are replayed, and that a
 * receive ends no sooner than its data. */
static void test_other_operations(void **state)
{
    (void)state;
    Case c;
    open_case(&c, "teach-4gpu");
    add_text(&c, 0,
             "fanout-trace 1\nworld 4\nrank 0\n1 send to=1 bytes=4096 dtype=u8\n2 reduce bytes=65536 "
             "root=2 dtype=f32 after=1\n"
             "3 gather bytes=4096 root=1 dtype=u8 after=2\n4 scatter bytes=16384 root=3 dtype=u8 "
             "after=3\n"
             "5 barrier bytes=0 dtype=u8 after=4\n6 all_to_all bytes=65536 dtype=u8 after=5\n"
             "rank 1\n1 recv from=0 bytes=4096 dtype=u8\n2 reduce bytes=65536 root=2 dtype=f32 after=1\n"
             "3 gather bytes=4096 root=1 dtype=u8 after=2\n4 scatter bytes=16384 root=3 dtype=u8 "
             "after=3\n"
             "5 barrier bytes=0 dtype=u8 after=4\n6 all_to_all bytes=65536 dtype=u8 after=5\n"
             "rank 2\n2 reduce bytes=65536 root=2 dtype=f32\n"
             "3 gather bytes=4096 root=1 dtype=u8 after=2\n4 scatter bytes=16384 root=3 dtype=u8 "
             "after=3\n"
             "5 barrier bytes=0 dtype=u8 after=4\n6 all_to_all bytes=65536 dtype=u8 after=5\n"
             "rank 3\n2 reduce bytes=65536 root=2 dtype=f32\n"
             "3 gather bytes=4096 root=1 dtype=u8 after=2\n4 scatter bytes=16384 root=3 dtype=u8 "
             "after=3\n"
             "5 barrier bytes=0 dtype=u8 after=4\n6 all_to_all bytes=65536 dtype=u8 after=5\n",
             0);
    ReplayResult *result = run(&c, 1);
    for (guint i = 0; i < c.job[0].match->items->len; i++)
        assert_true(result->job[0].item[i].end_ps > result->job[0].item[i].start_ps);
    guint32 recv = c.trace[0]->rank_first[1];
    assert_int_equal(result->job[0].end_ps[recv], result->job[0].end_ps[0]);
    replay_result_free(result);
    for (guint r = 0; r < 4; r++)
        c.job[0].gpu[r] = r / 2; /* two ranks a GPU */
    result = run(&c, 1);
    assert_int_equal(result->job[0].end_ps[0], 0); /* 0 to 1 is on one GPU */
    assert_true(result->total_ps > 0);
    replay_result_free(result);
    close_case(&c);
}

#define MESSAGE                                                                                                        \
    "fanout-trace 1\nworld 2\nrank 0\n1 send to=1 bytes=65536 dtype=u8\nrank 1\n1 recv from=0 bytes=65536 dtype=u8\n"

static guint64 flits(const ReplayResult *result, guint gpu, guint direction)
{
    guint64 sum = 0;
    for (guint link = 0; link < result->usage.links; link++)
        sum += result->usage.flits[(gpu * result->usage.links + link) * 2 + direction];
    return sum;
}

/* Proves that a message moves its bytes once: 64 KiB are 512 packets of nine flits, a header and eight times 16 B, up
 * from the sender and down to the receiver; and that it is of the L2 as long as it fits there, which says the time: at
 * 1 GB/s the HBM alone would take 65.5 us. */
static void test_message(void **state)
{
    (void)state;
    for (guint fits = 0; fits < 2; fits++) {
        Case c;
        open_case(&c, "teach-4gpu");
        c.fabric.gpu.hbm_MBps = 1000;
        c.fabric.gpu.l2_bytes = fits ? 65536 : 65535;
        add_text(&c, 0, MESSAGE, 0);
        ReplayResult *result = run(&c, 1);
        assert_int_equal(flits(result, 0, 0), 512 * 9);
        assert_int_equal(flits(result, 1, 1), 512 * 9);
        if (fits)
            assert_in_range(result->total_ps, 512 * 9 * 1000 / 2, 20000000);
        else
            assert_in_range(result->total_ps, 65536000, 2 * 65536000);
        replay_result_free(result);
        close_case(&c);
    }
}

#define PLAN_GPU(id, peer, op)                                                                                         \
    "{\"id\": " id ", \"input_chunks\": 2, \"output_chunks\": 2, \"scratch_chunks\": 2, "                              \
    "\"threadblocks\": [{\"id\": 0, \"ops\": [" op                                                                     \
    "], \"channels\": [{\"channel_type\": \"memory\", \"channel_ids\": [0]}, {\"channel_type\": "                      \
    "\"switch\", \"channel_ids\": [0]}],"                                                                              \
    " \"remote_buffer_refs\": [{\"access_channel_type\": \"memory\", \"remote_buffer_ids\": "                          \
    "[0]}]}],"                                                                                                         \
    " \"channels\": [{\"channel_type\": \"memory\", \"connected_to\": [" peer "]}, {\"channel_type\": \"switch\","     \
    " \"buffer_type\": \"i\", \"rank_groups\": [{\"ranks\": [0, 1]}]}], \"remote_buffers\": "                          \
    "[{\"rank\": " peer ", \"type\": \"s\"}]}"
/* A memory and a port channel to the other GPU, listed by each in another order: `first`, `second`. */
#define KINDS_GPU(id, peer, first, second, op)                                                                         \
    "{\"id\": " id ", \"input_chunks\": 1, \"threadblocks\": [{\"id\": 0, \"ops\": [" op                               \
    "], \"channels\": [{\"channel_type\": \"memory\", \"channel_ids\": [0]}, {\"channel_type\": "                      \
    "\"port\", \"channel_ids\": [0]}]}], \"channels\": [{\"channel_type\": \"" first "\", \"connected_to\": [" peer    \
    "]}, {\"channel_type\": \"" second "\", \"connected_to\": [" peer "]}]}"
#define KINDS_PLAN(op0, op1)                                                                                           \
    "{\"name\": \"p\", \"collective\": \"allreduce\", \"gpus\": [" KINDS_GPU(                                          \
        "0", "1", "memory", "port", op0) "," KINDS_GPU("1", "0", "port", "memory", op1) "]}"
#define KINDS_FLAG(name, kind) "{\"name\": \"" name "\", \"channel_ids\": [0], \"channel_type\": \"" kind "\"}"
#define PLAN(op0, op1)                                                                                                 \
    "{\"name\": \"p\", \"collective\": \"allreduce\", \"gpus\": [" PLAN_GPU("0", "1", op0) "," PLAN_GPU("1", "0",      \
                                                                                                        op1) "]}"
#define CHUNK(i) "\"index\": " i ", \"size\": 1}"
#define OP_PUT(i)                                                                                                      \
    "{\"name\": \"put\", \"src_buff\": [{\"type\": \"i\", " CHUNK(i) "], \"dst_buff\": [{\"buffer_id\": 0, " CHUNK(    \
        i) "], \"channel_type\": \"memory\"}"
#define OP_PACKETS(i)                                                                                                  \
    "{\"name\": \"ppkt\", \"src_buff\": [{\"type\": \"i\", " CHUNK(i) "], \"dst_buff\": [{\"buffer_id\": 0, " CHUNK(   \
        i) "], \"channel_type\": \"memory\"}"
#define OP_FLAG(name) "{\"name\": \"" name "\", \"channel_ids\": [0], \"channel_type\": \"memory\"}"
#define OP_ADD(name, i)                                                                                                \
    "{\"name\": \"" name "\", \"src_buff\": [{\"type\": \"i\", " CHUNK(i) ", {\"type\": \"s\", " CHUNK(                \
        i) "], \"dst_buff\": [{\"type\": \"i\", " CHUNK(i) "], \"reduce_op\": \"sum\"}"
#define OP_GLRES(i)                                                                                                    \
    "{\"name\": \"glres\", \"src_buff\": [{\"switch_channel_id\": 0, " CHUNK(                                          \
        i) "], \"dst_buff\": [{"                                                                                       \
           "\"switch_channel_id\": 0, " CHUNK(i) "], \"channel_type\": \"switch\", \"reduce_op\": \"sum\"}"

/* Proves that execution plans run as programs: puts with signals, packets, and switch operations,
 * which replicate; and that one whose rank waits for a signal that nobody sends is reported as
 * stuck, not replayed as something else. */
static void test_plans(void **state)
{
    (void)state;
    static const struct {
        const char *plan;
        gboolean multicast, stuck;
    } cases[] = {
        {PLAN(OP_PUT("1") "," OP_FLAG("signal") "," OP_FLAG("wait") "," OP_ADD("re", "0"),
              OP_PUT("0") "," OP_FLAG("signal") "," OP_FLAG("wait") "," OP_ADD("re", "1")),
         FALSE, FALSE},
        {PLAN(OP_PACKETS("1") "," OP_ADD("repkt", "0"), OP_PACKETS("0") "," OP_ADD("repkt", "1")), FALSE, FALSE},
        {PLAN(OP_FLAG("rlxsignal") "," OP_FLAG("rlxwait") "," OP_GLRES("0"),
              OP_FLAG("rlxsignal") "," OP_FLAG("rlxwait") "," OP_GLRES("1")),
         TRUE, FALSE},
        {PLAN(OP_FLAG("wait"), OP_PUT("0")), FALSE, TRUE},
        /* a signal of a kind is waited for by that kind, in whatever order channels are listed */
        {KINDS_PLAN(KINDS_FLAG("signal", "port"), KINDS_FLAG("wait", "port")), FALSE, FALSE},
        {KINDS_PLAN(KINDS_FLAG("signal", "port"), KINDS_FLAG("wait", "memory")), FALSE, TRUE},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        Case c;
        open_case(&c, "teach-4gpu");
        add_text(&c, 0, cases[i].plan, 1);
        GError *error = NULL;
        ReplayResult *result = replay_run(&c.spec, c.job, 1, &error);
        if (cases[i].stuck) {
            assert_null(result);
            assert_true(g_error_matches(error, COLL_ERROR, COLL_ERROR_STUCK));
        } else if (!result) {
            fail_msg("plan %u: %s", (guint)i, error->message);
        } else {
            guint64 replicas = 0;
            for (guint s = 0; s < result->usage.switches; s++)
                replicas += result->usage.replicas[s];
            assert_true(result->total_ps > 1000000);
            assert_int_equal(replicas > 0, cases[i].multicast);
        }
        g_clear_error(&error);
        replay_result_free(result);
        close_case(&c);
    }
}

/* Proves that sizes over what a GPU holds, and times over what the clock counts, are refused by their
 * place in the trace, and never wrap around. */
static void test_limits(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
        guint64 compute_ppm;
    } cases[] = {
        {"rank 0\n1 send to=1 bytes=1099511627776\nrank 1\n1 recv from=0 bytes=1099511627776\n",
         "r.trace:4: node 1: send: 1099511627776 bytes are more than a simulated GPU holds", 1000000},
        {"rank *\n1 all_reduce bytes=1099511627776\n", "r.trace:4: node 1: all_reduce: ", 1000000},
        {"rank *\n1 compute 86400s\n", "would take over 53 simulated days", (guint64)1 << 40},
        {"rank *\n1 all_reduce bytes=16 gap=86400s\n", "would take over 53 simulated days", (guint64)1 << 60},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        Case c;
        open_case(&c, "teach-4gpu");
        c.spec.compute_ppm = cases[i].compute_ppm;
        c.spec.flow = TRUE;
        char *text = g_strconcat("fanout-trace 1\nworld 2\n", cases[i].text, NULL);
        add_text(&c, 0, text, 0);
        GError *error = NULL;
        assert_null(replay_run(&c.spec, c.job, 1, &error));
        if (!strstr(error->message, cases[i].says))
            fail_msg("'%s' should say '%s'", error->message, cases[i].says);
        g_clear_error(&error);
        g_free(text);
        close_case(&c);
    }
    Case c;
    for (guint more = 0; more < 2; more++) { /* 2^40 ps 2^22 times are 2^62 ps, which is just not too long */
        open_case(&c, "teach-4gpu");
        c.spec.compute_ppm = (guint64)1000000 << 22;
        c.spec.flow = TRUE;
        add_text(&c, 0,
                 more ? "fanout-trace 1\nworld 1\nrank 0\n1 compute 1099511627777ps\n"
                      : "fanout-trace 1\nworld 1\nrank 0\n1 compute 1099511627776ps\n",
                 0);
        GError *error = NULL;
        ReplayResult *longest = replay_run(&c.spec, c.job, 1, &error);
        assert_true(more ? !longest && strstr(error->message, "53 simulated days") != NULL
                         : longest && longest->total_ps == (SimTime)1 << 62);
        if (longest)
            replay_result_free(longest);
        g_clear_error(&error);
        close_case(&c);
    }
    /* a day many times over is a long time, not a short one */
    open_case(&c, "teach-4gpu");
    add_text(&c, 0,
             "fanout-trace 1\nworld 1\nrank 0\n1 compute 86400s stream=1\n"
             "2 compute 86400s gap=86400s stream=1\n",
             0);
    ReplayResult *result = run(&c, 1);
    assert_int_equal(result->total_ps, 3 * RECORD_PS_MAX);
    replay_result_free(result);
    close_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times),      cmocka_unit_test(test_memo_changes_nothing),
        cmocka_unit_test(test_contention), cmocka_unit_test(test_other_operations),
        cmocka_unit_test(test_message),    cmocka_unit_test(test_plans),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
