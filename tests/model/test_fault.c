#include "tests/model/model_test.h"

static const char *const *one_set(const char *set)
{
    static const char *sets[4];
    sets[0] = set;
    sets[1] = NULL;
    return sets;
}

static guint64 crossings(Bed *bed, guint g, guint l)
{
    return link_packets_total(&bed->fabric->gpu[g].up[l]) + link_packets_total(&bed->fabric->gpu[g].down[l]);
}

/* Every GPU reads 64 chunks of every other one. */
static void all_read(Bed *bed)
{
    guint16 gpus = (guint16)bed->spec.system.gpus;
    Answer answer = {0};
    for (guint16 g = 0; g < gpus; g++) {
        MemRegion *region = bed_region(bed, g, 64 * 256);
        for (guint16 from = 0; from < gpus; from++)
            for (guint i = 0; from != g && i < 64; i++) {
                GpuRequest request = {.kind = PACKET_READ, .region = region, .offset = i * 256, .bytes = 128};
                bed_send(bed, from, &request, &answer);
            }
    }
    assert_int_equal(sim_run(bed->sim, SIMTIME_NEVER), SIM_IDLE);
    assert_int_equal(answer.times, gpus * (gpus - 1) * 64);
}

/* Proves that a lost link carries nothing, that every unicast request is answered over the others, which share its
 * chunks, and that chunks of pairs which never used it stay where they were. */
static void test_link_down(void **state)
{
    (void)state;
    Bed whole, broken;
    bed_open(&whole, "dgx-h100", NULL, NULL);
    bed_open(&broken, "dgx-h100", one_set("fault.link_down=gpu0.link3,gpu1.link0"), NULL);
    all_read(&broken);
    assert_true(crossings(&broken, 0, 3) == 0 && crossings(&broken, 1, 0) == 0);
    for (guint l = 0; l < 18; l++)
        assert_true(l == 3 || crossings(&broken, 0, l) > 0);
    assert_true(fabric_is_quiet(broken.fabric));
    guint64 others = 0; /* links that have the lost one's chunks */
    for (guint i = 0; i < 400; i++) {
        MemRegion region = {.id = 7, .gpu = 5};
        GpuRequest request = {.kind = PACKET_READ, .region = &region, .offset = i * 256, .bytes = 128};
        assert_int_equal(gpu_link_of(&whole.fabric->gpu[4], &request), gpu_link_of(&broken.fabric->gpu[4], &request));
        guint32 before = gpu_link_of(&whole.fabric->gpu[0], &request);
        guint32 after = gpu_link_of(&broken.fabric->gpu[0], &request);
        assert_true(before == 3 ? after != 3 : after == before);
        others |= before == 3 ? (guint64)1 << after : 0;
    }
    assert_true(__builtin_popcountll(others) > 6);
    bed_close(&whole);
    bed_close(&broken);
}

/* Proves that a team drops the link numbers that a member has lost, works over the rest, and that a team without that
 * member keeps them all. */
static void test_spray_group_dropped(void **state)
{
    (void)state;
    Bed bed;
    bed_open(&bed, "dgx-h100", one_set("fault.link_down=gpu7.link2"), NULL);
    MemRegion *region[8];
    McObject *all = bed_team(&bed, 8, 65536, region), *seven = bed_team(&bed, 7, 65536, region);
    assert_int_equal(bed.fabric->mc_route[all->mcid].n, 17);
    assert_int_equal(bed.fabric->mc_route[seven->mcid].n, 18);
    Answer answer = {0};
    for (guint at = 0; at < 65536; at += 256) {
        GpuRequest request = {.kind = PACKET_MC_WRITE, .object = all, .offset = at, .bytes = 128};
        bed_send(&bed, 0, &request, &answer);
    }
    assert_int_equal(sim_run(bed.sim, SIMTIME_NEVER), SIM_IDLE);
    assert_int_equal(answer.times, 256);
    for (guint g = 0; g < 8; g++)
        assert_true(crossings(&bed, g, 2) == 0);
    bed_close(&bed);
}

/* Proves that with a switch down everything goes through the others. */
static void test_switch_down(void **state)
{
    (void)state;
    Bed bed;
    bed_open(&bed, "dgx-h100", one_set("fault.switch_down=switch1"), NULL);
    all_read(&bed);
    for (guint g = 0; g < 8; g++)
        for (guint l = 0; l < 18; l++)
            assert_int_equal(crossings(&bed, g, l) > 0, bed.fabric->topology->leaf[l] != 1);
    MemRegion *region[8];
    McObject *object = bed_team(&bed, 8, 4096, region);
    assert_int_equal(bed.fabric->mc_route[object->mcid].n, 13);
    bed_close(&bed);
}

/* Proves that a degraded link takes longer for its flits by just the rate that it lost. */
static void test_degraded(void **state)
{
    (void)state;
    SimTime took_ps[2];
    for (guint i = 0; i < 2; i++) {
        Bed bed;
        bed_open(&bed, "teach-4gpu",
                 one_set(i ? "fault.link_degraded=gpu0.link0,gpu0.link1" : "fault.link_degraded=none"), NULL);
        MemRegion *region = bed_region(&bed, 1, 4096);
        GpuRequest request = {.kind = PACKET_READ, .region = region, .bytes = 128};
        Answer answer = {0};
        bed_send(&bed, 0, &request, &answer);
        assert_int_equal(sim_run(bed.sim, SIMTIME_NEVER), SIM_IDLE);
        took_ps[i] = answer.at_ps;
        bed_close(&bed);
    }
    assert_true(took_ps[1] - took_ps[0] == 1000 + 9000); /* one flit up, nine down, at half the rate */
}

/* Proves that requests of a team with a silent member end with the hardware's error after the time-out, once, bring no
 * wrong sum, free their tags, and that live members got the data. */
static void test_silent_member(void **state)
{
    (void)state;
    Bed bed;
    bed_open(&bed, "teach-4gpu", one_set("fault.gpu_silent=gpu2"), NULL);
    MemRegion *region[4];
    McObject *object = bed_team(&bed, 4, 4096, region);
    Answer stored = {0}, loaded = {0};
    guint8 data[128] = {1, 2, 3};
    GpuRequest store = {.kind = PACKET_MC_WRITE, .object = object, .bytes = 128, .data = data};
    GpuRequest load = {.kind = PACKET_MC_READ, .object = object, .bytes = 128, .offset = 512, .type = 0};
    bed_send(&bed, 0, &store, &stored);
    bed_send(&bed, 1, &load, &loaded);
    assert_int_equal(sim_run(bed.sim, SIMTIME_NEVER), SIM_IDLE);
    assert_int_equal(stored.times, 1);
    assert_int_equal(loaded.times, 1);
    assert_int_equal(stored.state, TXN_TIMEOUT);
    assert_int_equal(loaded.state, TXN_TIMEOUT);
    assert_false(loaded.has_bytes);
    assert_true(stored.at_ps > bed.spec.fault.multicast_timeout_ps);
    assert_int_equal(region[1]->host[1], 2);
    assert_int_equal(region[2]->host[1], 0);
    assert_true(bed.fabric->sw[0].crumbstore_mcto_err + bed.fabric->sw[1].crumbstore_mcto_err == 1);
    assert_true(bed.fabric->sw[0].crumbstore_rto_err + bed.fabric->sw[1].crumbstore_rto_err == 1);
    assert_true(bed.fabric->n_faults == 2);
    assert_int_equal(g_array_index(bed.fabric->faults, FabricFault, 0).kind, FAULT_TIMEOUT);
    assert_true(fabric_is_quiet(bed.fabric));
    bed_close(&bed);
}

/* Proves that without a time-out the run is stuck, and says who waits for whom. */
static void test_stuck(void **state)
{
    (void)state;
    const char *sets[] = {"fault.gpu_silent=gpu2", "fault.multicast_timeout_ps=0", NULL};
    Bed bed;
    bed_open(&bed, "teach-4gpu", sets, NULL);
    MemRegion *region[4];
    McObject *object = bed_team(&bed, 4, 4096, region);
    GpuRequest store = {.kind = PACKET_MC_WRITE, .object = object, .bytes = 128};
    Answer answer = {0};
    bed_send(&bed, 0, &store, &answer);
    assert_int_equal(sim_run(bed.sim, SIMTIME_NEVER), SIM_STUCK);
    g_auto(GStrv) waiters = sim_waiters(bed.sim);
    g_autofree char *text = g_strjoinv("\n", waiters);
    assert_non_null(strstr(text, "1 multicast requests wait for answers of their members"));
    assert_non_null(strstr(text, "gpu2: is silent"));
    assert_non_null(strstr(text, "gpu0: 1 requests wait for their answers"));
    bed_close(&bed);
}

/* Proves that names the system has not, and faults that cut two GPUs apart, are refused with key and bounds. */
static void test_refused(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"fault.link_down=gpu4.link0", "'gpu4.link0' is nothing this system has; it has gpu0 to gpu3"},
        {"fault.link_down=gpu0.link2", "link_down"},
        {"fault.link_down=gpu0", "link_down"},
        {"fault.link_degraded=gpu0.link0x", "link_degraded"},
        {"fault.switch_down=switch2", "switch_down"},
        {"fault.gpu_silent=gpu-1", "gpu_silent"},
        {"fault.link_down=gpu0.link0,gpu1.link1", "gpu0 and gpu1 have no link left"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++)
        bed_refused("teach-4gpu", one_set(bad[i][0]), bad[i][1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_link_down),     cmocka_unit_test(test_spray_group_dropped),
        cmocka_unit_test(test_switch_down),   cmocka_unit_test(test_degraded),
        cmocka_unit_test(test_silent_member), cmocka_unit_test(test_stuck),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
