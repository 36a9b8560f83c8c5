/* coll: every collective gives the right bytes on every rank, or is refused with a reason. */
#include "tests/test.h"

#include <math.h>

#include "coll/coll.h"
#include "model/presets/preset.h"
#include "device/launch_time.h"

typedef struct {
    ParamSet *set;
    FabricSpec spec;
    Sim *sim;
    Fabric *fabric;
} World;

static World *world_new_with(const char *preset, gboolean keep_bytes, guint64 sms)
{
    World *world = g_new0(World, 1);
    const SimSpec sim = {.seed = 1};
    world->set = param_set_new();
    device_params(world->set, &world->spec);
    assert_true(preset_load(world->set, preset, NULL));
    world->spec.sm.count = sms ? sms : world->spec.sm.count;
    world->sim = sim_new(&sim, NULL);
    world->fabric = fabric_new(world->sim, &world->spec, keep_bytes, NULL);
    assert_non_null(world->fabric);
    return world;
}

static World *world_new_on(const char *preset, gboolean keep_bytes) { return world_new_with(preset, keep_bytes, 0); }

static World *world_new(gboolean keep_bytes) { return world_new_on("dgx-h100", keep_bytes); }

static void world_free(World *world)
{
    assert_true(fabric_is_quiet(world->fabric)); /* nothing in flight, all credits at home */
    assert_int_equal(world->fabric->n_faults, 0);
    fabric_free(world->fabric);
    sim_free(world->sim);
    param_set_free(world->set);
    g_free(world);
}

static guint run_or_refuse(CollGroup *group, const CollSpec *spec)
{
    CollResult result;
    GError *error = NULL;
    char what[160];
    g_snprintf(what, sizeof what, "%s %s %s %s %s, %u ranks, %" G_GUINT64_FORMAT " bytes", coll_op_name(spec->op),
               coll_algo_name(spec->algo), coll_proto_name(spec->proto), numeric_type_name(spec->type),
               numeric_op_name(spec->reduce), coll_group_ranks(group), spec->bytes);
    if (!coll_check(group, spec, &error)) {
        assert_true(strlen(error->message) > 20);
        g_error_free(error);
        return 0;
    }
    if (!coll_run(group, spec, &result, &error))
        fail_msg("%s: %s", what, error->message);
    if (result.check != COLL_VERIFIED && spec->op != COLL_BARRIER)
        fail_msg("%s: %s", what, result.wrong);
    return 1;
}

static void all_of(CollOp op)
{
    static const NumericType types[] = {NUMERIC_F32, NUMERIC_F16, NUMERIC_BF16, NUMERIC_S32,
                                        NUMERIC_U64, NUMERIC_F64, NUMERIC_E4M3, NUMERIC_E5M2};
    guint ran = 0;
    for (guint n = 2; n <= 8; n++) {
        World *world = world_new(TRUE);
        CollGroup *group = coll_group_new(world->fabric, NULL, n, NULL);
        const CollAlgoList all = coll_algos_of(op);
        for (const CollAlgo *algo = all.algo; *algo != COLL_ALGOS; algo++)
            for (guint p = COLL_SIMPLE; p < COLL_PROTOS; p++)
                for (guint t = 0; t < G_N_ELEMENTS(types); t++)
                    for (guint s = 0; s < 3; s++) {
                        CollSpec spec = coll_spec_default(op);
                        guint64 element = numeric_type_bytes(types[t]);
                        /* a few elements; ragged; and a multiple of all rank counts */
                        spec.bytes = s == 0 ? 3 * element : s == 1 ? 437 * element : 840 * 16;
                        spec.algo = *algo;
                        spec.proto = (CollProto)p;
                        spec.type = types[t];
                        spec.reduce = (t + n + s) % 4 == 0   ? NUMERIC_MAX
                                      : (t + n + s) % 4 == 1 ? NUMERIC_MUL
                                                             : NUMERIC_ADD;
                        spec.average = (t + n + s) % 4 == 2;
                        spec.root = n - 1;
                        spec.ctas = op == COLL_GATHER || op == COLL_SCATTER ? n : 2;
                        spec.threads = 64;
                        ran += run_or_refuse(group, &spec);
                    }
        coll_group_free(group);
        world_free(world);
    }
    assert_true(ran > 50);
}

/* Proves all_reduce: every algorithm and protocol, type, 2 to 8 ranks, tiny, ragged and even sizes. */
static void test_all_reduce(void **state)
{
    (void)state;
    all_of(COLL_ALL_REDUCE);
}

/* Proves all_gather the same way. */
static void test_all_gather(void **state)
{
    (void)state;
    all_of(COLL_ALL_GATHER);
}

/* Proves reduce_scatter the same way. */
static void test_reduce_scatter(void **state)
{
    (void)state;
    all_of(COLL_REDUCE_SCATTER);
}

/* Proves broadcast, all_to_all and sendrecv the same way. */
static void test_moves(void **state)
{
    (void)state;
    all_of(COLL_BROADCAST);
    all_of(COLL_ALL_TO_ALL);
    all_of(COLL_SENDRECV);
}

/* Proves reduce, gather and scatter the same way: the root, which is the last rank, has all that is right, or all
 * others have theirs of it. */
static void test_roots(void **state)
{
    (void)state;
    all_of(COLL_REDUCE);
    all_of(COLL_GATHER);
    all_of(COLL_SCATTER);
}

/* Proves that avg and prod are what NCCL's rings and trees have, and that the switch, which can only add and compare,
 * refuses them with what would be right. */
static void test_avg_and_prod(void **state)
{
    (void)state;
    World *world = world_new(TRUE);
    CollGroup *group = coll_group_new(world->fabric, NULL, 8, NULL);
    static const CollAlgo algos[] = {COLL_RING, COLL_TREE, COLL_NVLS, COLL_ONESHOT, COLL_SYM_MC};
    for (guint a = 0; a < G_N_ELEMENTS(algos); a++)
        for (guint average = 0; average < 2; average++) {
            CollSpec spec = coll_spec_default(COLL_ALL_REDUCE);
            GError *error = NULL;
            spec.algo = algos[a];
            spec.bytes = 16384;
            spec.average = average != 0;
            spec.reduce = average ? NUMERIC_ADD : NUMERIC_MUL;
            assert_int_equal(coll_check(group, &spec, &error), a < 2);
            if (error)
                assert_non_null(strstr(error->message, average ? "has no avg" : "has no prod"));
            g_clear_error(&error);
        }
    coll_group_free(group);
    world_free(world);
}

/* Proves that every algorithm moves all data where a GPU holds fewer CTAs than NCCL opens channels, and one alone:
 * what a channel is given is shared among those that run. */
static void test_few_ctas(void **state)
{
    (void)state;
    static const CollOp ops[] = {COLL_ALL_REDUCE, COLL_ALL_GATHER, COLL_REDUCE_SCATTER, COLL_BROADCAST, COLL_ALL_TO_ALL,
                                 COLL_SENDRECV,   COLL_REDUCE,     COLL_GATHER,         COLL_SCATTER};
    static const guint64 sms[] = {1, 4};
    for (guint s = 0; s < G_N_ELEMENTS(sms); s++) {
        World *world = world_new_with("teach-4gpu", TRUE, sms[s]);
        CollGroup *group = coll_group_new(world->fabric, NULL, 4, NULL);
        guint ran = 0, asked = 0;
        for (guint o = 0; o < G_N_ELEMENTS(ops); o++) {
            const CollAlgoList all = coll_algos_of(ops[o]);
            for (const CollAlgo *algo = all.algo; *algo != COLL_ALGOS; algo++)
                for (guint p = COLL_SIMPLE; p < COLL_PROTOS; p++, asked++) {
                    CollSpec spec = coll_spec_default(ops[o]);
                    spec.bytes = 1u << 18;
                    spec.algo = *algo;
                    spec.proto = (CollProto)p;
                    ran += run_or_refuse(group, &spec);
                }
        }
        assert_true(ran * 3 >= asked); /* LL and LL128 are not for all of them */
        coll_group_free(group);
        world_free(world);
    }
}

/* Proves that a wrong byte is found: the check is not blind. */
static void test_check_sees_a_wrong_element(void **state)
{
    (void)state;
    World *world = world_new(TRUE);
    CollGroup *group = coll_group_new(world->fabric, NULL, 4, NULL);
    CollSpec spec = coll_spec_default(COLL_ALL_REDUCE);
    CollResult result;
    spec.algo = COLL_NVLS;
    spec.corrupt = TRUE;
    for (spec.bytes = 4096; spec.bytes <= 1u << 20; spec.bytes *= 16) { /* below and above what the numbers repeat in */
        assert_true(coll_run(group, &spec, &result, NULL));
        assert_int_equal(result.check, COLL_WRONG);
        assert_non_null(strstr(result.wrong, "element"));
    }
    coll_group_free(group);
    world_free(world);
}

/* Proves trees over many nodes: any number of them sums what all ranks have. */
static void test_trees_of_nodes(void **state)
{
    (void)state;
    static const guint ranks[] = {9, 12, 20, 36, 70};
    for (guint i = 0; i < G_N_ELEMENTS(ranks); i++) {
        World *world = world_new_on("gb200-nvl72", TRUE);
        CollGroup *group = coll_group_new(world->fabric, NULL, ranks[i], NULL);
        CollSpec spec = coll_spec_default(COLL_ALL_REDUCE);
        spec.algo = COLL_TREE;
        spec.bytes = 4000;
        assert_int_equal(run_or_refuse(group, &spec), 1);
        coll_group_free(group);
        world_free(world);
    }
}

/* Proves that a bus bandwidth is nccl-tests' multiple of bytes / time: 2 (n - 1) / n of all_reduce, (n - 1) / n where
 * every rank has a part, 1 of the others. */
static void test_rates(void **state)
{
    (void)state;
    static const struct {
        CollOp op;
        double factor; /* of 6 ranks */
    } row[] = {{COLL_ALL_REDUCE, 10 / 6.0},
               {COLL_ALL_GATHER, 5 / 6.0},
               {COLL_REDUCE_SCATTER, 5 / 6.0},
               {COLL_ALL_TO_ALL, 5 / 6.0},
               {COLL_BROADCAST, 1},
               {COLL_SENDRECV, 1},
               {COLL_REDUCE, 1},
               {COLL_GATHER, 5 / 6.0},
               {COLL_SCATTER, 5 / 6.0}};
    World *world = world_new(FALSE);
    CollGroup *group = coll_group_new(world->fabric, NULL, 6, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(row); i++) {
        CollResult result;
        CollSpec spec = coll_spec_default(row[i].op);
        spec.bytes = 6u << 16;
        assert_true(coll_run(group, &spec, &result, NULL));
        double algbw = (double)spec.bytes / ((double)result.time_ps / 1e6); /* bytes a microsecond: MB/s */
        assert_true(fabs((double)result.algbw_MBps - algbw) <= 1);
        assert_true(fabs((double)result.busbw_MBps - algbw * row[i].factor) <= 2);
    }
    coll_group_free(group);
    world_free(world);
}

/* Proves that a timing-only fabric takes the same time and says that nothing was checked. */
static void test_timing_only(void **state)
{
    (void)state;
    static const CollAlgo algos[] = {COLL_NVLS, COLL_RING, COLL_TWOSHOT};
    for (guint a = 0; a < G_N_ELEMENTS(algos); a++) {
        CollResult result[2];
        for (guint keep = 0; keep < 2; keep++) {
            World *world = world_new(keep);
            CollGroup *group = coll_group_new(world->fabric, NULL, 8, NULL);
            CollSpec spec = coll_spec_default(COLL_ALL_REDUCE);
            spec.algo = algos[a];
            spec.bytes = 1u << 18;
            assert_true(coll_run(group, &spec, &result[keep], NULL));
            coll_group_free(group);
            world_free(world);
        }
        assert_int_equal(result[0].check, COLL_NOT_CHECKED);
        assert_int_equal(result[1].check, COLL_VERIFIED);
        assert_true(result[0].time_ps == result[1].time_ps);
    }
}

static void count_done(Coll *coll, const CollResult *result, void *user)
{
    (void)coll;
    assert_int_equal(result->check, COLL_VERIFIED);
    ++*(guint *)user;
}

/* Proves that several collectives run at once on one fabric, started between runs, and slow each other. */
static void test_several_at_once(void **state)
{
    (void)state;
    World *world = world_new(TRUE);
    const guint16 low[] = {0, 1, 2, 3}, high[] = {2, 3, 4, 5};
    CollGroup *a = coll_group_new(world->fabric, low, 4, NULL);
    CollGroup *b = coll_group_new(world->fabric, high, 4, NULL);
    CollSpec spec = coll_spec_default(COLL_ALL_REDUCE);
    guint done = 0;
    spec.bytes = 1u << 18;
    spec.algo = COLL_NVLS;
    assert_non_null(coll_start(a, &spec, count_done, &done, NULL));
    assert_non_null(coll_start(b, &spec, count_done, &done, NULL));
    spec.algo = COLL_RING;
    assert_non_null(coll_start(a, &spec, count_done, &done, NULL));
    sim_run(world->sim, SIMTIME_NEVER);
    assert_int_equal(done, 3);
    coll_group_free(a);
    coll_group_free(b);
    world_free(world);
}

/* Proves that a Blackwell switch sums fp8, that wider accumulators are taken, and that defaults fit a small
 * system. */
static void test_other_systems(void **state)
{
    (void)state;
    static const struct {
        const char *preset;
        NumericType type;
        NumericPrecision acc;
        CollAlgo algo;
    } rows[] = {{"hgx-b200", NUMERIC_E4M3, NUMERIC_ACC_F16, COLL_NVLS},
                {"hgx-b200", NUMERIC_E5M2, NUMERIC_NATIVE, COLL_NVLS_ONESHOT},
                {"hgx-b200", NUMERIC_BF16, NUMERIC_ACC_F32, COLL_NVLS},
                {"teach-4gpu", NUMERIC_F32, NUMERIC_NATIVE, COLL_RING},
                {"teach-4gpu", NUMERIC_F32, NUMERIC_NATIVE, COLL_TREE},
                {"dgx-a100", NUMERIC_F16, NUMERIC_NATIVE, COLL_AUTO}};
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        World *world = world_new_on(rows[i].preset, TRUE);
        CollGroup *group = coll_group_new(world->fabric, NULL, (guint32)world->spec.system.gpus, NULL);
        CollSpec spec = coll_spec_default(COLL_ALL_REDUCE);
        spec.bytes = 5000;
        spec.type = rows[i].type;
        spec.acc = rows[i].acc;
        spec.algo = rows[i].algo;
        assert_int_equal(run_or_refuse(group, &spec), 1);
        coll_group_free(group);
        world_free(world);
    }
    World *world = world_new_on("dgx-a100", TRUE);
    CollGroup *group = coll_group_new(world->fabric, NULL, 8, NULL);
    CollSpec spec = coll_spec_default(COLL_ALL_REDUCE);
    spec.algo = COLL_NVLS;
    assert_int_equal(run_or_refuse(group, &spec), 0); /* its switches have no multicast */
    coll_group_free(group);
    world_free(world);
}

/* Proves what `auto` takes: NCCL's published choices by size and number of GPUs, and that its version matters: five
 * GPUs take NVLS up to 2.27 and rings since, as measured (nccl_versions.csv). */
static void test_auto(void **state)
{
    (void)state;
    static const struct {
        guint32 n;
        guint64 bytes;
        CollAlgo algo;
        CollProto proto;
        guint32 nccl;
    } rows[] = {{8, 1u << 10, COLL_RING, COLL_LL, 0},     {8, 1u << 20, COLL_RING, COLL_LL, 0},
                {8, 2u << 20, COLL_NVLS, COLL_SIMPLE, 0}, {8, 1u << 28, COLL_NVLS, COLL_SIMPLE, 0},
                {5, 1u << 28, COLL_RING, COLL_SIMPLE, 0}, {5, 1u << 28, COLL_NVLS, COLL_SIMPLE, 2027000},
                {4, 1u << 28, COLL_RING, COLL_SIMPLE, 0}, {2, 1u << 28, COLL_RING, COLL_SIMPLE, 0}};
    World *world = world_new(FALSE);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        CollGroup *group = coll_group_new(world->fabric, NULL, rows[i].n, NULL);
        CollSpec spec = coll_spec_default(COLL_ALL_REDUCE);
        CollAlgo algo;
        CollProto proto;
        spec.bytes = rows[i].bytes;
        spec.nccl = rows[i].nccl;
        coll_choice(group, &spec, &algo, &proto);
        if (algo != rows[i].algo || proto != rows[i].proto)
            fail_msg("row %u: %s %s", i, coll_algo_name(algo), coll_proto_name(proto));
        coll_group_free(group);
    }
    world_free(world);
}

/* Proves that `best` is at least as fast as each candidate, and says which one it was. */
static void test_best(void **state)
{
    (void)state;
    World *world = world_new(TRUE);
    CollGroup *group = coll_group_new(world->fabric, NULL, 4, NULL);
    CollSpec spec = coll_spec_default(COLL_ALL_GATHER);
    CollResult best, one;
    spec.bytes = 1u << 16;
    spec.algo = COLL_BEST;
    assert_true(coll_run(group, &spec, &best, NULL));
    assert_int_equal(best.check, COLL_VERIFIED);
    const CollAlgoList all = coll_algos_of(spec.op);
    for (const CollAlgo *algo = all.algo; *algo != COLL_ALGOS; algo++) {
        spec.algo = *algo;
        assert_true(coll_run(group, &spec, &one, NULL));
        assert_true(best.time_ps <= one.time_ps * 101 / 100); /* other addresses, other links */
    }
    coll_group_free(group);
    world_free(world);
}

/* Proves that `best` goes on without multicast, and says why, where the switches' tables do not hold the team. */
static void test_best_without_team(void **state)
{
    (void)state;
    World *world = world_new(TRUE);
    world->fabric->spec.mctable.rounds = 1; /* four members take two of three */
    CollGroup *group = coll_group_new(world->fabric, NULL, 4, NULL);
    CollSpec spec = coll_spec_default(COLL_ALL_REDUCE);
    CollResult result;
    spec.bytes = 1u << 16;
    spec.algo = COLL_BEST;
    assert_true(coll_run(group, &spec, &result, NULL));
    assert_false(coll_needs_multicast(spec.op, result.algo));
    assert_non_null(strstr(coll_group_left_out(group), "rounds = 1, set 2 or more"));
    coll_group_free(group);
    world_free(world);
}

/* Proves that a search leaves out what it is told to: its winner then is the second, and where all are left out the
 * winner is the first again. */
static void test_best_leaves(void **state)
{
    (void)state;
    World *world = world_new(TRUE);
    CollGroup *group = coll_group_new(world->fabric, NULL, 4, NULL);
    CollSpec spec = coll_spec_default(COLL_ALL_REDUCE);
    CollResult first, second, last;
    spec.bytes = 1u << 14;
    spec.algo = COLL_BEST;
    assert_true(coll_run(group, &spec, &first, NULL));
    coll_group_leave(group, first.algo, first.proto);
    assert_true(coll_run(group, &spec, &second, NULL));
    assert_true(second.algo != first.algo || second.proto != first.proto);
    assert_true(second.time_ps * 101 / 100 >= first.time_ps); /* other addresses, other links */
    for (guint a = 0; a < COLL_ALGOS; a++)
        for (guint p = 0; p < COLL_PROTOS; p++)
            coll_group_leave(group, (CollAlgo)a, (CollProto)p);
    assert_true(coll_run(group, &spec, &last, NULL));
    assert_int_equal(last.algo, first.algo);
    assert_null(coll_group_dropped(group));
    coll_group_free(group);
    world_free(world);
}

/* Proves that the flags of a barrier reach all ranks where a CTA has fewer threads than there are ranks. */
static void test_few_threads(void **state)
{
    static const CollAlgo algos[] = {COLL_ONESHOT, COLL_TWOSHOT, COLL_SYM_LL, COLL_SYM_MC};
    (void)state;
    for (guint i = 0; i < G_N_ELEMENTS(algos); i++) {
        World *world = world_new_on("gb200-nvl72", TRUE);
        CollGroup *group = coll_group_new(world->fabric, NULL, 40, NULL);
        CollSpec spec = coll_spec_default(COLL_ALL_REDUCE);
        spec.algo = algos[i];
        spec.bytes = 40 * 128;
        spec.ctas = 2;
        spec.threads = 32;
        assert_int_equal(run_or_refuse(group, &spec), 1);
        coll_group_free(group);
        world_free(world);
    }
}

/* Proves that impossible requests are refused with what would be right. */
static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        CollOp op;
        CollAlgo algo;
        guint64 bytes;
        guint32 ctas, threads, root;
        NumericType type;
        const char *why;
    } rows[] = {
        {COLL_ALL_REDUCE, COLL_PULL, 4096, 0, 0, 0, NUMERIC_F32, "it has ring"},
        {COLL_ALL_REDUCE, COLL_RING, 4095, 0, 0, 0, NUMERIC_F32, "whole number"},
        {COLL_ALL_REDUCE, COLL_RING, 0, 0, 0, 0, NUMERIC_F32, "0 bytes"},
        {COLL_ALL_GATHER, COLL_RING, 4100, 0, 0, 0, NUMERIC_F32, "divided among 8"},
        {COLL_ALL_REDUCE, COLL_RING, 4096, 100000, 0, 0, NUMERIC_F32, "resident"},
        {COLL_ALL_REDUCE, COLL_RING, 4096, 0, 33, 0, NUMERIC_F32, "multiple of 32"},
        {COLL_BROADCAST, COLL_RING, 4096, 0, 0, 8, NUMERIC_F32, "root 8"},
        {COLL_ALL_REDUCE, COLL_NVLS, 4096, 0, 0, 0, NUMERIC_S64, "integer add"},
        {COLL_ALL_REDUCE, COLL_NVLS, 4096, 0, 0, 0, NUMERIC_E4M3, "sm_100a"},
    };
    World *world = world_new(TRUE);
    CollGroup *group = coll_group_new(world->fabric, NULL, 8, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        CollSpec spec = coll_spec_default(rows[i].op);
        CollResult result;
        GError *error = NULL;
        spec.algo = rows[i].algo;
        spec.bytes = rows[i].bytes;
        spec.ctas = rows[i].ctas;
        spec.threads = rows[i].threads;
        spec.root = rows[i].root;
        spec.type = rows[i].type;
        assert_false(coll_run(group, &spec, &result, &error));
        if (!strstr(error->message, rows[i].why))
            fail_msg("row %u: %s", i, error->message);
        g_error_free(error);
    }
    GError *error = NULL;
    assert_null(coll_group_new(world->fabric, NULL, 9, &error));
    assert_non_null(strstr(error->message, "the system has 8"));
    g_error_free(error);
    coll_group_free(group);
    world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_reduce),     cmocka_unit_test(test_all_gather),
        cmocka_unit_test(test_reduce_scatter), cmocka_unit_test(test_moves),
        cmocka_unit_test(test_roots),          cmocka_unit_test(test_avg_and_prod),
        cmocka_unit_test(test_few_ctas),       cmocka_unit_test(test_check_sees_a_wrong_element),
        cmocka_unit_test(test_timing_only),    cmocka_unit_test(test_rates),
        cmocka_unit_test(test_trees_of_nodes), cmocka_unit_test(test_several_at_once),
        cmocka_unit_test(test_other_systems),  cmocka_unit_test(test_auto),
        cmocka_unit_test(test_best),           cmocka_unit_test(test_best_without_team),
        cmocka_unit_test(test_best_leaves),    cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_few_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
