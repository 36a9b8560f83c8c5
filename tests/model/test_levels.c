/* Two levels of switches: nothing is lost, nothing waits for ever, sums are right, and an unused level changes nothing.
 * FANOUT_LEVEL_SEEDS says how many draws, FANOUT_LEVEL_FROM the first one; make check-levels does a thousand. */
#include "tests/model/model_test.h"

#include "coll/coll.h"
#include "sim/rng.h"

static void levels_visit(const char *path, const StatRow *row, const void *value, void *user)
{
    if (row->type != STAT_HIST_T)
        g_ptr_array_add(user, g_strdup_printf("%s.%s %" G_GUINT64_FORMAT, path, row->name, *(const guint64 *)value));
}

/* The path of one of the systems that are examples; to be freed. */
static char *levels_path(const char *name)
{
    const char *top = g_getenv("TOP_SRCDIR");
    return g_strdup_printf("%s/examples/systems/%s.ini", top ? top : ".", name);
}

/* The time and every statistic of a collective among the first GPUs, a line each. */
static GPtrArray *levels_run(const char *system, const char *const *sets, guint32 gpus, CollAlgo algo)
{
    Bed bed;
    CollResult result;
    GError *error = NULL;
    GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
    bed_open(&bed, system, sets, NULL);
    CollSpec spec = coll_spec_default(COLL_ALL_REDUCE);
    spec.algo = algo;
    spec.bytes = gpus * 8192;
    spec.ctas = 2;
    CollGroup *group = coll_group_new(bed.fabric, NULL, gpus, &error);
    if (!group || !coll_run(group, &spec, &result, &error))
        fail_msg("%s", error->message);
    g_ptr_array_add(lines, g_strdup_printf("time %" G_GUINT64_FORMAT, result.time_ps));
    stat_visit(bed.fabric->stats, levels_visit, lines);
    coll_group_free(group);
    bed_close(&bed);
    return lines;
}

/* Proves that a collective whose GPUs share their leaf switches gives every statistic of the system with one level. */
static void test_unused_level(void **state)
{
    (void)state;
    static const char *const two[] = {"system.gpus=16", NULL};
    static const struct {
        const char *one, *both; /* a system, and the example that joins several of them */
        const char *const *sets;
        guint32 gpus;
        CollAlgo algo;
    } rows[] = {{"dgx-h100", "dgx-h100-256", two, 8, COLL_NVLS},
                {"dgx-h100", "dgx-h100-256", two, 8, COLL_RING},
                {"dgx-h100", "dgx-h100-256", NULL, 8, COLL_NVLS},
                {"gb200-nvl72", "gb200-nvl72-x4", NULL, 72, COLL_NVLS},
                {"gb200-nvl72", "gb200-nvl72-x4", NULL, 72, COLL_TWOSHOT}};
    for (gsize a = 0; a < G_N_ELEMENTS(rows); a++) {
        g_autofree char *path = levels_path(rows[a].both);
        g_autoptr(GPtrArray) one = levels_run(rows[a].one, NULL, rows[a].gpus, rows[a].algo);
        g_autoptr(GPtrArray) both = levels_run(path, rows[a].sets, rows[a].gpus, rows[a].algo);
        g_autoptr(GHashTable) had = g_hash_table_new(g_str_hash, g_str_equal);
        for (guint i = 0; i < both->len; i++)
            g_hash_table_add(had, both->pdata[i]);
        for (guint i = 0; i < one->len; i++) {
            g_auto(GStrv) parts = g_strsplit(one->pdata[i], "switch", -1);
            g_autofree char *line = g_strjoinv("leaf", parts);
            if (!g_hash_table_contains(had, line))
                fail_msg("two levels lack '%s'", line);
        }
    }
}

/* ---- drawn systems under full load */

#define LEVELS_TEAM_BYTES 8192u

typedef struct {
    Bed bed;
    Rng rng;
    guint32 gpus;
    guint each; /* requests of a GPU */
    MemRegion **region, **copy;
    McObject *object;
    GArray *answers; /* Answer */
    guint64 requests[PACKET_MC_READ + 1];
} Levels;

static void levels_set(GPtrArray *sets, Rng *rng, const char *name, guint64 from, guint64 range)
{
    g_ptr_array_add(sets, g_strdup_printf("%s=%" G_GUINT64_FORMAT, name, from + rng_below(rng, range)));
}

/* Any taper; every fourth wiring is made of rules in which two spines serve all links. */
static char *levels_draw_wiring(Levels *levels, GPtrArray *sets)
{
    Rng *rng = &levels->rng;
    levels->each = 60;
    levels->gpus = 4 + (guint32)rng_below(rng, 13);
    g_ptr_array_add(sets, g_strdup_printf("system.gpus=%u", levels->gpus));
    if (rng_below(rng, 4) == 0) {
        g_ptr_array_add(sets, g_strdup("topology.kind=rules"));
        g_ptr_array_add(sets, g_strdup_printf("topology.wire=gpu*.link* -> leaf{gpu/3*2+link}.port*; "
                                              "leaf*.trunk[0-%u] -> spine{trunk%%2}.port*",
                                              1 + (guint)rng_below(rng, 4)));
    } else {
        g_ptr_array_add(sets, g_strdup("topology.kind=two_level"));
        levels_set(sets, rng, "topology.leaf_gpus", 1, 5);
        levels_set(sets, rng, "topology.spines", 1, 3);
        levels_set(sets, rng, "topology.trunks", 1, 3);
    }
    levels_set(sets, rng, "topology.trunk_MBps", 5000, 40000);
    levels_set(sets, rng, "topology.trunk_flight_ps", 0, 300000);
    g_ptr_array_add(sets, g_strdup("switch.reduction_buffer_bytes=2048"));
    return g_strdup("teach-4gpu");
}

/* One of the examples: every sixteenth time all of it, else one to four of its groups of GPUs. */
static char *levels_draw_example(Levels *levels, guint64 seed, GPtrArray *sets)
{
    static const struct {
        const char *name;
        guint32 gpus, group, members; /* members: of a switch, at most */
    } rows[] = {{"dgx-h100-256", 256, 8, 32},  {"gb200-nvl576", 576, 36, 36}, {"gb200-nvl72-x4", 288, 72, 72},
                {"nvlink6-nvl72", 72, 72, 72}, {"links-128", 16, 16, 16},     {"switches-3", 8, 8, 8},
                {"switches-7", 8, 8, 8},       {"links-unequal", 8, 8, 8}};
    const gsize i = seed % G_N_ELEMENTS(rows);
    const guint32 groups = MIN(1 + (guint32)rng_below(&levels->rng, 4), rows[i].gpus / rows[i].group);
    levels->gpus = seed / G_N_ELEMENTS(rows) % 16 == 15 ? rows[i].gpus : groups * rows[i].group;
    levels->each = MAX(2, 480 / levels->gpus);
    g_ptr_array_add(sets, g_strdup_printf("system.gpus=%u", levels->gpus));
    g_ptr_array_add(sets, g_strdup_printf("switch.reduction_buffer_bytes=%u", rows[i].members * LINE_BYTES));
    return levels_path(rows[i].name);
}

/* Small buffers, few tags. */
static void levels_open(Levels *levels, guint64 seed, gboolean example, SimEngine engine)
{
    Rng *rng = &levels->rng;
    g_autoptr(GPtrArray) sets = g_ptr_array_new_with_free_func(g_free);
    memset(levels, 0, sizeof *levels);
    rng_init(rng, seed, example ? "examples" : "levels");
    g_autofree char *system = example ? levels_draw_example(levels, seed, sets) : levels_draw_wiring(levels, sets);
    levels_set(sets, rng, "topology.trunk_credits_flits", 32, 16);
    levels_set(sets, rng, "link.credits_switch_flits", 32, 16);
    levels_set(sets, rng, "link.credits_gpu_flits", 32, 16);
    levels_set(sets, rng, "switch.multicast_tags", 1, 3);
    levels_set(sets, rng, "switch.reduction_tags", 1, 3);
    levels_set(sets, rng, "gpu.response_queue_packets", 1, 4);
    g_ptr_array_add(sets, NULL);
    levels->region = g_new0(MemRegion *, levels->gpus);
    levels->copy = g_new0(MemRegion *, levels->gpus);
    bed_open(&levels->bed, system, (const char *const *)sets->pdata, &(SimSpec){.seed = seed, .engine = engine});
    levels->object = bed_team(&levels->bed, levels->gpus, LEVELS_TEAM_BYTES, levels->copy);
    for (guint32 g = 0; g < levels->gpus; g++)
        levels->region[g] = bed_region(&levels->bed, (guint16)g, LEVELS_TEAM_BYTES);
}

static void levels_send(Levels *levels, guint32 gpu, Answer *answer)
{
    static const PacketKind kinds[] = {PACKET_READ,     PACKET_WRITE,  PACKET_ATOM,
                                       PACKET_MC_WRITE, PACKET_MC_RED, PACKET_MC_READ};
    Rng *rng = &levels->rng;
    const PacketKind kind = kinds[rng_below(rng, G_N_ELEMENTS(kinds))];
    const guint32 to = (gpu + 1 + (guint32)rng_below(rng, levels->gpus - 1)) % levels->gpus;
    static const guint8 bytes[DATA_SLOT_BYTES] = {1};
    GpuRequest request = {.kind = kind,
                          .offset = 128 * rng_below(rng, LEVELS_TEAM_BYTES / 128),
                          .bytes = kind == PACKET_ATOM ? 4 : 128,
                          .type = NUMERIC_U32,
                          .op = NUMERIC_ADD};
    request.data = kind == PACKET_READ || kind == PACKET_MC_READ ? NULL : bytes;
    if (kind >= PACKET_MC_WRITE)
        request.object = levels->object;
    else
        request.region = levels->region[to];
    levels->requests[kind]++;
    bed_send(&levels->bed, (guint16)gpu, &request, answer);
}

static guint64 levels_trunk_packets(const Fabric *fabric, guint32 way, PacketKind kind)
{
    guint64 sum = 0;
    for (guint32 t = 0; t < fabric->n_trunks; t++)
        sum += fabric->trunk[2 * t + way].count[kind].packets;
    return sum;
}

/* What every switch has made of requests that came in, and what went over trunks. */
static void levels_check(const Levels *levels)
{
    const Fabric *fabric = levels->bed.fabric;
    guint64 requests = 0, replicas[2] = {0, 0}, of_gpus = 0, of_leaves = 0, roots[2] = {0, 0};
    for (guint32 s = 0; s < fabric->n_switches; s++) {
        const Switch *sw = &fabric->sw[s];
        assert_int_equal(sw->multicast_requests, sw->reduced);
        requests += sw->multicast_requests;
        replicas[sw->spine] += sw->replicated;
        roots[sw->spine] += sw->multicast_requests;
    }
    for (int k = PACKET_MC_WRITE; k <= PACKET_MC_READ; k++)
        of_gpus += levels->requests[k];
    for (int k = PACKET_MC_ACK; k <= PACKET_MC_OPERAND; k++)
        of_leaves += levels_trunk_packets(fabric, 0, (PacketKind)k);
    assert_true(replicas[0] == of_gpus * levels->gpus); /* each request reached each member once */
    assert_true(of_leaves == replicas[1]);              /* each leaf answered each replica of a spine once */
    assert_true(requests == of_gpus + replicas[1]);     /* each request has a root, each such replica a leaf */
    for (guint32 s = 0; s < fabric->n_switches; s++)    /* and what climbed was rooted in a spine */
        assert_true(!fabric->sw[s].spine || fabric->sw[s].replicated >= fabric->sw[s].multicast_requests);
    assert_true(roots[1] == levels_trunk_packets(fabric, 0, PACKET_MC_WRITE) +
                                levels_trunk_packets(fabric, 0, PACKET_MC_RED) +
                                levels_trunk_packets(fabric, 0, PACKET_MC_READ));
}

static SimTime levels_draw(guint64 seed, gboolean example, SimEngine engine)
{
    Levels levels;
    levels_open(&levels, seed, example, engine);
    const guint each = levels.each;
    Answer *answers = g_new0(Answer, (gsize)levels.gpus * each);
    for (guint i = 0; i < each; i++)
        for (guint32 g = 0; g < levels.gpus; g++)
            levels_send(&levels, g, &answers[g * each + i]);
    const SimStatus status = sim_run(levels.bed.sim, SIMTIME_NEVER);
    SimTime end_ps = 0;
    for (guint i = 0; i < levels.gpus * each; i++) {
        if (status != SIM_IDLE || answers[i].times != 1)
            fail_msg("seed %" G_GUINT64_FORMAT ": request %u was answered %u times", seed, i, answers[i].times);
        end_ps = MAX(end_ps, answers[i].at_ps);
    }
    if (!fabric_is_quiet(levels.bed.fabric))
        fail_msg("seed %" G_GUINT64_FORMAT ": something is left in the fabric", seed);
    levels_check(&levels);
    g_free(answers);
    bed_close(&levels.bed);
    g_free(levels.region);
    g_free(levels.copy);
    return end_ps;
}

/* That many seeds unless the environment says another number. */
static void levels_draw_all(guint64 seeds, gboolean example)
{
    const char *wanted = g_getenv("FANOUT_LEVEL_SEEDS"), *from = g_getenv("FANOUT_LEVEL_FROM");
    const guint64 first = from ? g_ascii_strtoull(from, NULL, 10) : 1;
    seeds = wanted ? g_ascii_strtoull(wanted, NULL, 10) : seeds;
    for (guint64 seed = first; seed < first + seeds; seed++) {
        const SimTime fast_ps = levels_draw(seed, example, SIM_ENGINE_FAST);
        if (seed % 4 == 0 && fast_ps != levels_draw(seed, example, SIM_ENGINE_REFERENCE))
            fail_msg("seed %" G_GUINT64_FORMAT ": the engines end at different times", seed);
    }
}

/* Proves that under full load by all kinds of requests, with small buffers and few tags, every request is answered
 * once, whatever the two levels are like; that nothing is lost or doubled between the levels; and that both engines end
 * at the same time. */
static void test_full_load(void **state)
{
    (void)state;
    levels_draw_all(40, FALSE);
}

/* Proves the same of the systems that are examples, with their wiring. */
static void test_full_load_of_examples(void **state)
{
    (void)state;
    levels_draw_all(16, TRUE);
}

/* ---- collectives */

/* Proves that every algorithm's result is right over two levels, where some or all GPUs share a leaf. */
static void test_collectives(void **state)
{
    (void)state;
    static const struct {
        CollOp op;
        CollAlgo algo;
    } kinds[] = {
        {COLL_ALL_REDUCE, COLL_NVLS},     {COLL_ALL_REDUCE, COLL_NVLS_BUFFERED}, {COLL_ALL_REDUCE, COLL_NVLS_ONESHOT},
        {COLL_REDUCE_SCATTER, COLL_NVLS}, {COLL_ALL_GATHER, COLL_NVLS},          {COLL_BROADCAST, COLL_NVLS},
        {COLL_ALL_REDUCE, COLL_RING},     {COLL_ALL_REDUCE, COLL_TREE},          {COLL_ALL_REDUCE, COLL_TWOSHOT}};
    static const char *const sets[] = {"system.gpus=12",    "topology.kind=two_level", "topology.leaf_gpus=5",
                                       "topology.spines=2", "topology.trunks=1",       NULL};
    for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++) {
        Bed bed;
        GError *error = NULL;
        CollResult result = {0};
        bed_open(&bed, "teach-4gpu", sets, NULL);
        CollSpec spec = coll_spec_default(kinds[i].op);
        spec.algo = kinds[i].algo;
        spec.bytes = 12 * 4096;
        spec.check = TRUE;
        CollGroup *group = coll_group_new(bed.fabric, NULL, 12, &error);
        if (!group || !coll_run(group, &spec, &result, &error))
            fail_msg("%s", error->message);
        assert_int_equal(result.check, COLL_VERIFIED);
        assert_true(fabric_is_quiet(bed.fabric));
        coll_group_free(group);
        bed_close(&bed);
    }
}

/* Proves that collectives give the right bytes on every example, with all its GPUs; nothing stays in the fabric. */
static void test_collectives_of_examples(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        CollOp op;
        CollAlgo algo;
        guint64 bytes;
    } rows[] = {{"dgx-h100-256", COLL_ALL_REDUCE, COLL_NVLS, 1 << 16},
                {"dgx-h100-256", COLL_ALL_GATHER, COLL_NVLS, 1 << 15},
                {"gb200-nvl576", COLL_ALL_REDUCE, COLL_NVLS, 576 * 64},
                {"gb200-nvl72-x4", COLL_REDUCE_SCATTER, COLL_NVLS, 288 * 128},
                {"gb200-nvl72-x4", COLL_BROADCAST, COLL_NVLS, 1 << 15},
                {"nvlink6-nvl72", COLL_ALL_REDUCE, COLL_NVLS, 1 << 17},
                {"nvlink6-nvl72", COLL_ALL_TO_ALL, COLL_P2P, 72 * 1024},
                {"links-128", COLL_ALL_REDUCE, COLL_NVLS, 1 << 18},
                {"links-128", COLL_ALL_REDUCE, COLL_TWOSHOT, 1 << 18},
                {"links-128", COLL_ALL_TO_ALL, COLL_P2P, 1 << 16},
                {"switches-3", COLL_ALL_REDUCE, COLL_NVLS, 1 << 18},
                {"switches-3", COLL_ALL_GATHER, COLL_RING, 1 << 18},
                {"switches-7", COLL_ALL_REDUCE, COLL_NVLS, 1 << 18},
                {"switches-7", COLL_ALL_REDUCE, COLL_TREE, 1 << 18},
                {"links-unequal", COLL_ALL_REDUCE, COLL_NVLS, 1 << 18},
                {"links-unequal", COLL_ALL_TO_ALL, COLL_P2P, 1 << 18}};
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        Bed bed;
        GError *error = NULL;
        CollResult result = {0};
        g_autofree char *path = levels_path(rows[i].name);
        bed_open(&bed, path, NULL, NULL);
        CollSpec spec = coll_spec_default(rows[i].op);
        spec.algo = rows[i].algo;
        spec.bytes = rows[i].bytes;
        spec.check = TRUE;
        spec.ctas = rows[i].algo == COLL_P2P ? 0 : 1;
        CollGroup *group = coll_group_new(bed.fabric, NULL, (guint32)bed.spec.system.gpus, &error);
        if (!group || !coll_run(group, &spec, &result, &error))
            fail_msg("%s: %s", rows[i].name, error->message);
        if (result.check != COLL_VERIFIED)
            fail_msg("%s: %s", rows[i].name, result.wrong);
        assert_true(fabric_is_quiet(bed.fabric));
        coll_group_free(group);
        bed_close(&bed);
    }
}

/* ---- teams that do not fit */

static char *levels_refusal(const char *system, guint32 team, const char *const *sets)
{
    Bed bed;
    g_autoptr(GError) error = NULL;
    bed_open(&bed, system, sets, NULL);
    McObject *object = fabric_mc_object(bed.fabric, team, 4096);
    for (guint32 g = 0; g < team; g++)
        mcobject_add_member(object, (guint16)g);
    assert_false(fabric_mc_attach(bed.fabric, object, &error));
    char *text = g_strdup(error->message);
    mcobject_free(object);
    bed_close(&bed);
    return text;
}

/* Proves that a team which the tables do not hold is refused with the key, the value needed and the value set. */
static void test_refusals(void **state)
{
    (void)state;
    g_autofree char *rounds = levels_refusal("teach-4gpu", 4, (const char *const[]){"multicast.rounds=1", NULL});
    assert_string_equal(rounds, "[multicast] rounds: 4 ports of switch0 take 2 rounds of 3 (round_directives); "
                                "rounds = 1, set 2 or more");
    g_autofree char *directives = levels_refusal(
        "teach-4gpu", 4, (const char *const[]){"multicast.directives=1", "multicast.overflow=extended", NULL});
    assert_string_equal(directives, "[multicast] directives: 4 ports of switch0 need as many directives, an entry has "
                                    "directives = 1 and as many in an extended entry; set 2 or more");
    g_autofree char *extended = levels_refusal("teach-4gpu", 4,
                                               (const char *const[]){"multicast.directives=2",
                                                                     "multicast.overflow=extended",
                                                                     "multicast.extended_entries=0", NULL});
    assert_string_equal(extended, "[multicast] extended_entries: 4 ports of switch0 need an extended entry beside 2 "
                                  "directives, and all of extended_entries = 0 are taken; set 1 or more, or "
                                  "directives = 4");
    g_autofree char *spine = levels_refusal("teach-4gpu", 12,
                                            (const char *const[]){"system.gpus=12", "topology.kind=two_level",
                                                                  "topology.leaf_gpus=2", "topology.spines=1",
                                                                  "topology.trunks=1", "multicast.rounds=1", NULL});
    assert_non_null(strstr(spine, "rounds: 6 ports of spine0 take 2 rounds"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_unused_level),
                                       cmocka_unit_test(test_full_load),
                                       cmocka_unit_test(test_full_load_of_examples),
                                       cmocka_unit_test(test_collectives),
                                       cmocka_unit_test(test_collectives_of_examples),
                                       cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
