#include "tests/model/model_test.h"

#include "model/gpu/copy_engine.h"
#include "sim/rng.h"

typedef struct {
    guint times;
    FaultKind fault;
    SimTime at_ps;
} End;

static void on_done(void *user, FaultKind fault, SimTime now_ps)
{
    End *end = user;
    end->times++;
    end->fault = fault;
    end->at_ps = now_ps;
}

static CopyEnd in_region(MemRegion *region, guint64 offset)
{
    return (CopyEnd){.place = COPY_REGION, .region = region, .offset = offset};
}

static CopyEnd in_host(void *host) { return (CopyEnd){.place = COPY_HOST, .host = host}; }

static void fill(MemRegion *region, guint8 seed)
{
    for (guint64 i = 0; i < region->bytes; i++)
        region->host[i] = (guint8)(i * 7 + i / 251 + seed);
}

/* Runs one copy to its end; the time it took. */
static SimTime run_copy(Bed *bed, guint16 gpu, CopyEnd dst, CopyEnd src, guint64 bytes)
{
    End end = {0};
    SimTime start_ps = sim_now_ps(bed->sim);
    copy_start(bed->fabric, gpu, &dst, &src, bytes, "test", on_done, &end);
    assert_int_equal(end.times, 0); /* never from inside */
    assert_int_equal(sim_run(bed->sim, SIMTIME_NEVER), SIM_IDLE);
    assert_int_equal(end.times, 1);
    assert_int_equal(end.fault, FAULT_NONE);
    assert_true(fabric_is_quiet(bed->fabric));
    return end.at_ps - start_ps;
}

/* Proves that one packet pushed to another GPU takes exactly the engine's start, the way there with 17 flits,
 * and the way back of one acknowledgement that nobody joins. */
static void test_push_latency(void **state)
{
    (void)state;
    Bed bed;
    bed_open(&bed, "teach-4gpu", NULL, NULL);
    MemRegion *from = bed_region(&bed, 0, 4096), *to = bed_region(&bed, 2, 4096);
    fill(from, 1);
    SimTime took_ps = run_copy(&bed, 0, in_region(to, 0), in_region(from, 0), 256);
    SimTime ns = 1000, expect_ps = 1000000    /* engine */
                                   + 50 * ns  /* GPU to port */
                                   + 17 * ns  /* serialization: header and 16 data flits */
                                   + 100 * ns /* flight */
                                   + 100 * ns /* switch */
                                   + 17 * ns  /* serialization */
                                   + 100 * ns /* flight */
                                   + 50 * ns  /* the acknowledgement waits for others */
                                   + 100 * ns /* L2 */
                                   + 1 * ns   /* serialization */
                                   + 100 * ns /* flight */
                                   + 100 * ns /* switch */
                                   + 1 * ns   /* serialization */
                                   + 100 * ns /* flight */
                                   + 50 * ns; /* port to engine */
    assert_true(took_ps == expect_ps);
    assert_memory_equal(to->host, from->host, 256);
    assert_int_equal(to->host[256], 0);
    bed_close(&bed);
}

/* Proves that a pull's answers carry the data back, and that nothing but the asked range changes. */
static void test_pull(void **state)
{
    (void)state;
    Bed bed;
    bed_open(&bed, "teach-4gpu", NULL, NULL);
    MemRegion *from = bed_region(&bed, 3, 70000), *to = bed_region(&bed, 1, 70000);
    fill(from, 2);
    run_copy(&bed, 1, in_region(to, 13), in_region(from, 301), 60001);
    assert_int_equal(to->host[12], 0);
    assert_memory_equal(to->host + 13, from->host + 301, 60001);
    assert_int_equal(to->host[13 + 60001], 0);
    assert_true(bed.fabric->gpu[1].engine_packets >= 60001 / 256);
    bed_close(&bed);
}

/* Proves that a copy between two other GPUs passes through the engine's GPU, whole and once. */
static void test_relay(void **state)
{
    (void)state;
    Bed bed;
    bed_open(&bed, "teach-4gpu", NULL, NULL);
    MemRegion *from = bed_region(&bed, 3, 40000), *to = bed_region(&bed, 1, 40000);
    fill(from, 3);
    run_copy(&bed, 0, in_region(to, 100), in_region(from, 7), 39000);
    assert_memory_equal(to->host + 100, from->host + 7, 39000);
    assert_int_equal(to->host[99], 0);
    assert_int_equal(to->host[39100], 0);
    bed_close(&bed);
}

/* Proves that one push to a multicast address lands in every member's memory, and leaves the sender's port once
 * only. */
static void test_multicast(void **state)
{
    (void)state;
    Bed bed;
    bed_open(&bed, "teach-4gpu", NULL, NULL);
    MemRegion *from = bed_region(&bed, 0, 65536), *to[4];
    McObject *object = bed_team(&bed, 4, 65536, to);
    fill(from, 4);
    CopyEnd dst = {.place = COPY_OBJECT, .object = object, .offset = 512};
    run_copy(&bed, 0, dst, in_region(from, 512), 60000);
    for (guint g = 0; g < 4; g++) {
        assert_memory_equal(to[g]->host + 512, from->host + 512, 60000);
        assert_int_equal(to[g]->host[511], 0);
        assert_int_equal(to[g]->host[60512], 0);
    }
    guint64 up = 0, down = 0;
    for (guint l = 0; l < 2; l++) {
        up += link_packets_total(&bed.fabric->gpu[0].up[l]);
        down += link_packets_total(&bed.fabric->gpu[3].down[l]);
    }
    guint64 packets = bed.fabric->gpu[0].engine_packets;
    assert_true(packets == (60000 + 255) / 256);
    assert_true(up == 2 * packets); /* requests, and its own replicas' acknowledgements */
    assert_true(down == packets);   /* replicas */
    bed_close(&bed);
}

/* Proves that fills repeat their pattern from the first byte on, at odd places and sizes, near and far. */
static void test_fill(void **state)
{
    (void)state;
    Bed bed;
    bed_open(&bed, "teach-4gpu", NULL, NULL);
    MemRegion *to[4];
    McObject *object = bed_team(&bed, 4, 4096, to);
    CopyEnd src = {.place = COPY_PATTERN, .pattern = {1, 2, 3, 4}, .pattern_bytes = 4};
    run_copy(&bed, 0, in_region(to[0], 5), src, 1003);
    run_copy(&bed, 0, in_region(to[1], 5), src, 1003);
    for (guint g = 0; g < 2; g++) {
        assert_int_equal(to[g]->host[4], 0);
        for (guint i = 0; i < 1003; i++)
            assert_int_equal(to[g]->host[5 + i], i % 4 + 1);
        assert_int_equal(to[g]->host[1008], 0);
    }
    src = (CopyEnd){.place = COPY_PATTERN, .pattern = {9}, .pattern_bytes = 1};
    run_copy(&bed, 2, (CopyEnd){.place = COPY_OBJECT, .object = object, .offset = 2000}, src, 777);
    for (guint g = 0; g < 4; g++)
        for (guint i = 1999; i <= 2777; i++)
            assert_int_equal(to[g]->host[i], i >= 2000 && i < 2777 ? 9 : 0);
    bed_close(&bed);
}

/* Proves that copies from and to the host move the bytes and take the engine's start, the bytes at the host link's
 * rate, and its latency. */
static void test_host(void **state)
{
    (void)state;
    Bed bed;
    bed_open(&bed, "teach-4gpu", NULL, NULL);
    guint64 bytes = 1 << 20;
    g_autofree guint8 *one = g_malloc(bytes), *two = g_malloc0(bytes);
    for (guint64 i = 0; i < bytes; i++)
        one[i] = (guint8)(i * 11);
    MemRegion *region = bed_region(&bed, 1, bytes);
    SimTime expect_ps = 1000000 + bytes * 1000000 / 16000 + 500000; /* 16 GB/s */
    assert_true(run_copy(&bed, 1, in_region(region, 0), in_host(one), bytes) == expect_ps);
    assert_memory_equal(region->host, one, bytes);
    assert_true(run_copy(&bed, 1, in_host(two), in_region(region, 0), bytes) == expect_ps);
    assert_memory_equal(two, one, bytes);
    assert_true(bed.fabric->gpu[1].host_in_bytes == bytes && bed.fabric->gpu[1].host_out_bytes == bytes);
    /* through the fabric to another GPU, and back from it */
    MemRegion *far = bed_region(&bed, 2, bytes);
    assert_true(run_copy(&bed, 1, in_region(far, 0), in_host(one), bytes) > expect_ps);
    assert_memory_equal(far->host, one, bytes);
    memset(two, 0, bytes);
    assert_true(run_copy(&bed, 1, in_host(two), in_region(far, 0), bytes) > expect_ps);
    assert_memory_equal(two, one, bytes);
    bed_close(&bed);
}

/* Proves that a GPU has as many engines as its preset says: with two, the third of three equal copies ends when a
 * second round does. */
static void test_engines(void **state)
{
    (void)state;
    Bed bed;
    bed_open(&bed, "teach-4gpu", NULL, NULL);
    MemRegion *from = bed_region(&bed, 0, 65536), *to = bed_region(&bed, 0, 65536);
    End end[3] = {{0}};
    for (guint i = 0; i < 3; i++) {
        CopyEnd dst = in_region(to, 0), src = in_region(from, 0);
        copy_start(bed.fabric, 0, &dst, &src, 4096, NULL, on_done, &end[i]);
    }
    assert_false(copy_is_quiet(&bed.fabric->gpu[0]));
    g_autofree char *text = copy_waiter_text(&bed.fabric->gpu[0]);
    assert_non_null(strstr(text, "2 copies are under way, 1 wait"));
    assert_int_equal(sim_run(bed.sim, SIMTIME_NEVER), SIM_IDLE);
    assert_true(end[1].at_ps < 2000000);
    assert_true(end[2].at_ps > 2 * 1000000 + end[0].at_ps - 1000000);
    bed_close(&bed);
}

/* Proves that what CUDA leaves undefined is told as a fault, once, and changes nothing: copies from
 * a multicast address, to one without a complete team, to one with a member that bound no memory.
 */
static void test_faults(void **state)
{
    (void)state;
    Bed bed;
    bed_open(&bed, "teach-4gpu", NULL, NULL);
    MemRegion *near = bed_region(&bed, 0, 4096), *to[4];
    fill(near, 9);
    McObject *good = bed_team(&bed, 2, 4096, to), *open = fabric_mc_object(bed.fabric, 2, 4096);
    g_ptr_array_add(bed.objects, open);
    End end[3] = {{0}};
    CopyEnd region = in_region(near, 0), object = {.place = COPY_OBJECT, .object = good};
    copy_start(bed.fabric, 0, &region, &object, 64, "one", on_done, &end[0]);
    object.object = open;
    copy_start(bed.fabric, 0, &object, &region, 64, "two", on_done, &end[1]);
    assert_int_equal(sim_run(bed.sim, SIMTIME_NEVER), SIM_IDLE);
    assert_int_equal(end[0].fault, FAULT_PLAIN_ON_MULTICAST);
    assert_int_equal(end[1].fault, FAULT_TEAM_INCOMPLETE);
    assert_true(bed.fabric->n_faults == 2);
    assert_string_equal(g_array_index(bed.fabric->faults, FabricFault, 1).who, "two");
    assert_true(mcobject_unbind(good, 1, 0, 4096));
    object.object = good;
    copy_start(bed.fabric, 0, &object, &region, 64, "three", on_done, &end[2]);
    assert_int_equal(sim_run(bed.sim, SIMTIME_NEVER), SIM_IDLE);
    assert_int_equal(end[2].fault, FAULT_UNBOUND);
    assert_memory_equal(to[0]->host, near->host, 64); /* the member that has memory got it */
    assert_int_equal(end[0].times + end[1].times + end[2].times, 3);
    assert_true(fabric_is_quiet(bed.fabric));
    bed_close(&bed);
}

/* Proves that a large push reaches 16/17 of the flit rate of all links (header and 16 data flits), within 2 %. */
static void test_rate(void **state)
{
    (void)state;
    Bed bed;
    bed_open(&bed, "dgx-h200", NULL, NULL);
    guint64 bytes = 16 << 20;
    MemRegion *from = bed_region(&bed, 0, bytes), *to = bed_region(&bed, 1, bytes);
    SimTime took_ps = run_copy(&bed, 0, in_region(to, 0), in_region(from, 0), bytes) - bed.spec.gpu.engine_ps;
    double GBps = (double)bytes * 1000 / (double)took_ps, bound = 18 * 23.55 * 16 / 17;
    if (GBps > bound || GBps < 0.93 * bound)
        fail_msg("%.1f GB/s; the bound is %.1f", GBps, bound);
    bed_close(&bed);
}

/* Proves that what fits the L2 is copied at its rate, and more at that of HBM. */
static void test_l2_and_hbm(void **state)
{
    (void)state;
    static const char *const sets[] = {"gpu.l2_bytes=1000000", "gpu.local_MBps=1000000", "gpu.hbm_MBps=10000",
                                       "gpu.engine_ps=0", NULL};
    Bed bed;
    bed_open(&bed, "teach-4gpu", sets, NULL);
    MemRegion *from = bed_region(&bed, 0, 2000000), *to = bed_region(&bed, 0, 2000000);
    memory_set_cached(bed.fabric->memory, from, TRUE);
    memory_set_cached(bed.fabric->memory, to, TRUE);
    SimTime small_ps = run_copy(&bed, 0, in_region(to, 0), in_region(from, 0), 900000);
    SimTime large_ps = run_copy(&bed, 0, in_region(to, 0), in_region(from, 0), 1800000);
    assert_true(small_ps < 20 * 1000000);                          /* 1.8 MB at 1 TB/s, and latencies */
    assert_in_range(large_ps, 360 * 1000000ull, 380 * 1000000ull); /* 3.6 MB at 10 GB/s */
    bed_close(&bed);
}

/* Proves that an empty copy ends, and that copies cost the same time whether their bytes are kept or not. */
static void test_timing_only(void **state)
{
    (void)state;
    SimTime took_ps[2];
    for (guint keep = 0; keep < 2; keep++) {
        Bed bed;
        bed_spec(&bed, "teach-4gpu", NULL);
        bed.sim = sim_new(&(SimSpec){.seed = 1}, NULL);
        bed.fabric = fabric_new(bed.sim, &bed.spec, keep, NULL);
        bed.objects = g_ptr_array_new();
        MemRegion *from = bed_region(&bed, 0, 1 << 20), *to = bed_region(&bed, 1, 1 << 20);
        assert_true(run_copy(&bed, 0, in_region(to, 0), in_region(from, 0), 0) == 1000000);
        took_ps[keep] = run_copy(&bed, 0, in_region(to, 3), in_region(from, 77), 999000);
        took_ps[keep] += run_copy(&bed, 0, in_region(to, 0), in_host(NULL), 1 << 20);
        bed_close(&bed);
    }
    assert_true(took_ps[0] == took_ps[1]);
}

#define SLICE 20000u

/* Proves that many copies of every kind at once, with overlapping times and disjoint destinations, leave the memory
 * that one memcpy after the other would, end once each and leave nothing behind; over 10 seeds. */
static void test_many(void **state)
{
    (void)state;
    for (guint64 seed = 1; seed <= 10; seed++) {
        Bed bed;
        bed_open(&bed, "teach-4gpu", NULL, NULL);
        Rng rng;
        rng_init(&rng, seed, "copies");
        MemRegion *source[5], *sink[5];
        g_autofree guint8 *want = g_malloc0(5 * 8 * SLICE);
        for (guint g = 0; g < 5; g++) { /* 4: the host's */
            source[g] = bed_region(&bed, g < 4 ? (guint16)g : MEMORY_HOST, 2 * SLICE);
            sink[g] = bed_region(&bed, g < 4 ? (guint16)g : MEMORY_HOST, 8 * SLICE);
            fill(source[g], (guint8)(seed + g));
        }
        End end[40] = {{0}};
        for (guint i = 0; i < 40; i++) {
            guint64 bytes = rng_below(&rng, SLICE) + 1, shift = rng_below(&rng, SLICE - bytes + 1);
            guint64 from = rng_below(&rng, SLICE), g = rng_below(&rng, 5);
            CopyEnd dst = in_region(sink[i / 8], i % 8 * SLICE + shift), src = in_region(source[g], from);
            memcpy(want + i * SLICE + shift, source[g]->host + from, bytes);
            copy_start(bed.fabric, (guint16)rng_below(&rng, 4), &dst, &src, bytes, NULL, on_done, &end[i]);
        }
        assert_int_equal(sim_run(bed.sim, SIMTIME_NEVER), SIM_IDLE);
        for (guint i = 0; i < 40; i++)
            assert_int_equal(end[i].times, 1);
        for (guint g = 0; g < 5; g++)
            assert_memory_equal(sink[g]->host, want + g * 8 * SLICE, 8 * SLICE);
        assert_true(fabric_is_quiet(bed.fabric));
        bed_close(&bed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_push_latency), cmocka_unit_test(test_l2_and_hbm),  cmocka_unit_test(test_pull),
        cmocka_unit_test(test_relay),        cmocka_unit_test(test_multicast),   cmocka_unit_test(test_fill),
        cmocka_unit_test(test_host),         cmocka_unit_test(test_engines),     cmocka_unit_test(test_faults),
        cmocka_unit_test(test_rate),         cmocka_unit_test(test_timing_only), cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
