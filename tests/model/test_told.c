/* What ports are told ahead, take in before they decide, or leave for the next look, against what they do step by step:
 * an observer wants each step as it happens, so that a watched fabric does none of it. */
#include "tests/model/model_test.h"

#include "bench/traffic.h"
#include "coll/coll.h"
#include "sim/rng.h"

static void told_visit(const char *path, const StatRow *row, const void *value, void *user)
{
    if (row->type != STAT_HIST_T)
        g_string_append_printf(user, "%s.%s %" G_GUINT64_FORMAT "\n", path, row->name, *(const guint64 *)value);
}

static void told_probe(void *user, ProbeStage stage, const char *file, const char *path, const Packet *packet,
                       SimTime at_ps)
{
    (void)stage;
    (void)file;
    (void)path;
    (void)packet;
    (void)at_ps;
    ++*(guint64 *)user;
}

static void told_count(GString *text, const OpStats *stats)
{
    const Hist *hist = &stats->latency_ps;
    const guint64 value[] = {stats->count, stats->bytes, stats->first_ps, stats->last_ps,
                             hist->count, hist->sum, hist->min, hist->max,
                             hist_percentile(hist, 500), hist_percentile(hist, 990)};
    for (guint i = 0; i < G_N_ELEMENTS(value); i++)
        g_string_append_printf(text, "writes %" G_GUINT64_FORMAT "\n", value[i]);
}

/* End of the traffic, what requesters saw, and every statistic. */
static char *told_run(const char *const *sets, guint64 seed, guint32 load, gboolean watched, gboolean bytes)
{
    Bed bed;
    guint64 steps = 0;
    GString *text = g_string_new("");
    bed_open_with(&bed, "dgx-h100", sets, &(SimSpec){.seed = seed}, bytes);
    if (watched)
        fabric_observe(bed.fabric, told_probe, &steps);
    Traffic *traffic = traffic_new(bed.fabric, &(TrafficSpec){.packets = 4000, .load_per_mille = load, .bytes = 128});
    assert_int_equal(sim_run(bed.sim, SIMTIME_NEVER), SIM_IDLE);
    assert_true(fabric_is_quiet(bed.fabric));
    assert_int_equal(steps > 0, watched);
    g_string_append_printf(text, "end %" G_GUINT64_FORMAT "\n", traffic_end_ps(traffic));
    told_count(text, bed.fabric->op_remote.kind[PACKET_WRITE]);
    stat_visit(bed.fabric->stats, told_visit, text);
    traffic_free(traffic);
    bed_close(&bed);
    return g_string_free(text, FALSE);
}

/* The same of a collective by multicast: its time and every statistic. */
static char *told_coll(const char *const *sets, const CollSpec *spec, gboolean watched)
{
    Bed bed;
    GError *error = NULL;
    guint64 steps = 0;
    CollResult result;
    GString *text = g_string_new("");
    bed_open_with(&bed, "dgx-h100", sets, NULL, FALSE);
    if (watched)
        fabric_observe(bed.fabric, told_probe, &steps);
    CollGroup *group = coll_group_new(bed.fabric, NULL, (guint32)bed.spec.system.gpus, &error);
    if (!group || !coll_run(group, spec, &result, &error))
        fail_msg("%s", error->message);
    assert_true(fabric_is_quiet(bed.fabric));
    assert_int_equal(steps > 0, watched);
    g_string_append_printf(text, "time %" G_GUINT64_FORMAT "\n", result.time_ps);
    stat_visit(bed.fabric->stats, told_visit, text);
    coll_group_free(group);
    bed_close(&bed);
    return g_string_free(text, FALSE);
}

/* A setting drawn among from..from + range - 1, or every other time none. */
static void told_draw(GPtrArray *sets, Rng *rng, const char *name, guint64 from, guint64 range)
{
    guint64 value = from + rng_below(rng, range);
    if (rng_below(rng, 2))
        g_ptr_array_add(sets, g_strdup_printf("%s=%" G_GUINT64_FORMAT, name, value));
}

/* Of GPUs, credits and queues; room: of the queue of answers. */
static GPtrArray *told_sets(Rng *rng, guint64 room)
{
    GPtrArray *sets = g_ptr_array_new_with_free_func(g_free);
    told_draw(sets, rng, "system.gpus", 2, 7);
    told_draw(sets, rng, "link.credits_switch_flits", 32, 100);
    told_draw(sets, rng, "link.credits_gpu_flits", 32, 100);
    told_draw(sets, rng, "gpu.source_queue_packets", 1, 10);
    told_draw(sets, rng, "gpu.response_queue_packets", 1, room);
    return sets;
}

/* Proves that ends and statistics are the same with much room and little, at any load, with any merging of
 * acknowledgements, and whether bytes are kept, so that each store has its transaction, or only its time. */
static void test_told(void **state)
{
    (void)state;
    for (guint64 seed = 1; seed <= 40; seed++) {
        Rng rng;
        rng_init(&rng, seed, "told");
        g_autoptr(GPtrArray) sets = told_sets(&rng, 4);
        g_ptr_array_add(sets, g_strdup("system.links_per_switch=1"));
        told_draw(sets, &rng, "gpu.ack_merge_max", 1, 8);
        told_draw(sets, &rng, "gpu.ack_timer_ps", 1000, 100000);
        g_ptr_array_add(sets, NULL);
        guint32 load = 100 + (guint32)rng_below(&rng, 1100);
        g_autofree char *watched = told_run((const char *const *)sets->pdata, seed, load, TRUE, TRUE);
        g_autofree char *told = told_run((const char *const *)sets->pdata, seed, load, FALSE, TRUE);
        g_autofree char *brief = told_run((const char *const *)sets->pdata, seed, load, FALSE, FALSE);
        assert_string_equal(told, watched);
        assert_string_equal(brief, watched);
    }
}

/* Proves that replicas are answered as step by step, whether answers or requests of a port's own hold them up, come
 * from L2 or HBM, fill the queue of answers, or pass through an idle port. */
static void test_told_replicas(void **state)
{
    (void)state;
    static const struct {
        CollOp op;
        CollAlgo algo;
    } kinds[] = {{COLL_ALL_REDUCE, COLL_NVLS}, {COLL_ALL_REDUCE, COLL_NVLS_BUFFERED},
                 {COLL_REDUCE_SCATTER, COLL_NVLS}, {COLL_BROADCAST, COLL_NVLS}, {COLL_ALL_GATHER, COLL_NVLS},
                 {COLL_ALL_REDUCE, COLL_SYM_LSA}, {COLL_ALL_REDUCE, COLL_NVLS_ONESHOT}};
    for (guint64 seed = 1; seed <= 42; seed++) {
        Rng rng;
        rng_init(&rng, seed, "replicas");
        g_autoptr(GPtrArray) sets = told_sets(&rng, 40);
        told_draw(sets, &rng, "switch.reduction_tags", 4, 100);
        told_draw(sets, &rng, "switch.multicast_tags", 4, 100);
        told_draw(sets, &rng, "link.train_packets", 1, 2);
        g_ptr_array_add(sets, NULL);
        CollSpec spec = coll_spec_default(kinds[seed % G_N_ELEMENTS(kinds)].op);
        spec.algo = kinds[seed % G_N_ELEMENTS(kinds)].algo;
        spec.bytes = 840 << (6 + rng_below(&rng, 4)); /* for 2 to 8 GPUs */
        spec.as_bytes = rng_below(&rng, 2) ? (guint64)1 << 30 : 0;
        spec.check = FALSE;
        g_autofree char *told = told_coll((const char *const *)sets->pdata, &spec, FALSE);
        g_autofree char *watched = told_coll((const char *const *)sets->pdata, &spec, TRUE);
        assert_string_equal(told, watched);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_told), cmocka_unit_test(test_told_replicas)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
