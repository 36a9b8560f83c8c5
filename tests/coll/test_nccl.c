/* coll: NCCL's versions choose as their sources say, and only known ones are taken. */
#include "model/sm/place.h"
#include "tests/coll/coll_machine.h"

/* Proves that a version changes what auto takes where the versions' tables differ. Worked out by hand from the tables:
 * 16 rings of 45 GB/s on 8 B200, so that LL128 has 662 GB/s of bus with 73.4 a channel, 552 with 34.5 and 640 with 40:
 * 49.5, 53.9 and 50.2 us for an all_gather of 16 MiB, where Simple has 52.6. Five H200 have 5 heads of 60 GB/s: 250 up
 * to 2.27, 187 since then, where rings have 225. A message of 256 KiB is LL as long as 32 channels count, and Simple
 * with the four that it takes. */
static void test_choices(void **state)
{
    (void)state;
    static const struct {
        const char *preset;
        guint32 gpus;
        CollOp op;
        guint64 bytes;
        const char *nccl;
        CollAlgo algo;
        CollProto proto;
        guint32 ctas; /* 0: not looked at */
    } rows[] = {
        {"hgx-b200", 8, COLL_ALL_GATHER, 16 << 20, "2.25", COLL_RING, COLL_LL128, 0},
        {"hgx-b200", 8, COLL_ALL_GATHER, 16 << 20, "2.28.9", COLL_RING, COLL_LL128, 0},
        {"hgx-b200", 8, COLL_ALL_GATHER, 16 << 20, "2.29.2", COLL_RING, COLL_SIMPLE, 32},
        {"hgx-b200", 8, COLL_ALL_GATHER, 16 << 20, "2.29.7", COLL_RING, COLL_LL128, 0},
        {"hgx-b200", 8, COLL_ALL_GATHER, 16 << 20, "2.32", COLL_RING, COLL_LL128, 0},
        {"hgx-b200", 8, COLL_ALL_REDUCE, 64 << 20, "2.26.2", COLL_NVLS_BUFFERED, COLL_SIMPLE, 32},
        {"hgx-b200", 8, COLL_ALL_REDUCE, 64 << 20, "2.27.3", COLL_NVLS_BUFFERED, COLL_SIMPLE, 24},
        {"dgx-h200", 5, COLL_ALL_REDUCE, 240 << 20, "2.27.7", COLL_NVLS_BUFFERED, COLL_SIMPLE, 16},
        {"dgx-h200", 5, COLL_ALL_REDUCE, 240 << 20, "2.28.3", COLL_RING, COLL_SIMPLE, 24},
        {"dgx-h200", 4, COLL_ALL_REDUCE, 256 << 20, "2.23", COLL_RING, COLL_SIMPLE, 24},
        {"dgx-h200", 8, COLL_ALL_REDUCE, 256 << 20, "2.23", COLL_NVLS_BUFFERED, COLL_SIMPLE, 16},
        {"hgx-b200", 2, COLL_ALL_TO_ALL, 512 << 10, "2.28.9", COLL_P2P, COLL_LL, 0},
        {"hgx-b200", 2, COLL_ALL_TO_ALL, 512 << 10, "2.29.2", COLL_P2P, COLL_SIMPLE, 8},
    };
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        Machine machine = machine_open(rows[i].preset, rows[i].gpus, FALSE);
        CollSpec spec = coll_spec_default(rows[i].op);
        spec.bytes = rows[i].bytes;
        assert_true(coll_nccl_parse(rows[i].nccl, &spec.nccl, NULL));
        coll_library_apply(machine.group, &spec);
        CollShape shape = coll_shape(machine.group, &spec);
        if (shape.algo != rows[i].algo || shape.proto != rows[i].proto || (rows[i].ctas && shape.ctas != rows[i].ctas))
            fail_msg("row %u, %s: %s %s, %u CTAs", i, rows[i].nccl, coll_algo_name(shape.algo),
                     coll_proto_name(shape.proto), shape.ctas);
        machine_close(&machine);
    }
}

/* Proves that a channel has twice the traffic from 2.29 on: an all_gather of 128 KiB by LL128 on 8 GPUs, 16 KiB a
 * rank, has 8 channels with 16 KiB of traffic each and 4 with 32. */
static void test_traffic(void **state)
{
    (void)state;
    Machine machine = machine_open("dgx-h100", 8, FALSE);
    CollSpec spec = coll_spec_default(COLL_ALL_GATHER);
    spec.bytes = 128 << 10;
    spec.algo = COLL_RING;
    spec.proto = COLL_LL128;
    assert_true(coll_nccl_parse("2.28", &spec.nccl, NULL));
    assert_int_equal(coll_shape(machine.group, &spec).ctas, 8);
    assert_true(coll_nccl_parse("2.29", &spec.nccl, NULL));
    assert_int_equal(coll_shape(machine.group, &spec).ctas, 4);
    machine_close(&machine);
}

/* Proves that a version that does not know a GPU is refused, and with it every text that is no known version. */
static void test_unknown(void **state)
{
    (void)state;
    static const char *const wrong[] = {"2.22.3", "2.33", "3.1", "2", "2.27.5.1", "", "x", "2.-1", "2.27.", "1.99.1"};
    guint32 version = 7;
    for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
        g_autoptr(GError) error = NULL;
        assert_false(coll_nccl_parse(wrong[i], &version, &error));
        assert_non_null(strstr(error->message, "2.23 to 2.32"));
        assert_int_equal(version, 7);
    }
    Machine machine = machine_open("hgx-b200", 8, FALSE);
    CollSpec spec = coll_spec_default(COLL_ALL_REDUCE);
    g_autoptr(GError) error = NULL;
    assert_true(coll_nccl_parse("2.24.3", &spec.nccl, NULL));
    spec.algo = COLL_RING;
    assert_false(coll_check(machine.group, &spec, &error));
    assert_non_null(strstr(error->message, "2.25 is the first"));
    machine_close(&machine);
}

static void nothing(Coll *coll, const CollResult *result, void *user)
{
    (void)coll;
    (void)result;
    (void)user;
}

/* Proves that CTAs of NCCL's kernels share a GPC by clusters, which spread: eight of GPU 0 are on four GPCs in
 * clusters of two and on two in clusters of four. Without clusters they are on the four TPCs of one GPC that get a
 * grid's first CTAs. (Hardware puts clusters of two there, too: h100b/dev_h100_place.csv. NCCL has none.) */
static void test_clusters(void **state)
{
    (void)state;
    static const struct {
        const char *set;
        guint32 gpcs, most;
    } rows[] = {{"launch.nccl_cluster=0", 1, 8}, {"launch.nccl_cluster=2", 4, 2}, {"launch.nccl_cluster=4", 2, 4}};
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        Machine machine = machine_open("dgx-h100", 8, FALSE);
        assert_true(param_set_text(machine.set, rows[i].set, NULL));
        CollSpec spec = coll_spec_default(COLL_ALL_REDUCE);
        spec.bytes = 4 << 20;
        spec.algo = COLL_RING;
        spec.ctas = 8;
        assert_non_null(coll_start(machine.group, &spec, nothing, NULL, NULL));
        const Gpu *gpu = &machine.fabric->gpu[0];
        guint32 of[8] = {0}, ctas = 0, gpcs = 0, most = 0;
        for (SimTime until_ps = 1000000; ctas < 8; until_ps += 1000000) { /* until they are all placed */
            assert_true(until_ps < 100000000);
            sim_run(machine.sim, until_ps);
            memset(of, 0, sizeof of);
            ctas = 0;
            for (guint64 s = 0; s < machine.spec->sm.count; s++) {
                ctas += (guint32)gpu->sm[s].ctas;
                of[place_of(machine.spec, s).gpc] += (guint32)gpu->sm[s].ctas;
            }
        }
        for (guint g = 0; g < 8; g++) {
            gpcs += of[g] > 0;
            most = MAX(most, of[g]);
        }
        assert_int_equal(gpcs, rows[i].gpcs);
        assert_int_equal(most, rows[i].most);
        assert_int_equal(sim_run(machine.sim, SIMTIME_NEVER), SIM_IDLE);
        machine_close(&machine);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_choices), cmocka_unit_test(test_traffic),
                                       cmocka_unit_test(test_unknown), cmocka_unit_test(test_clusters)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
