/* What rows of [topology] stand for: on eight GPUs of teach-4gpu in two groups, whose numbers are round, what a read of
 * GPU 0 takes within its group and across, and how many trunks there are, worked out by hand. */
#include "tests/model/model_test.h"

/* Two leaf switches a group, one for each link of its GPUs; one spine joins the leaves of a place. */
#define TWO_LEVELS                                                                                                     \
    "system.gpus=8", "topology.kind=two_level", "topology.leaf_gpus=4", "topology.spines=1", "topology.trunks=1",      \
        "link.credit_batch_ps=1"

static const SimEngine engines[] = {SIM_ENGINE_REFERENCE, SIM_ENGINE_FAST};

/* When the last of n reads of 128 B of one address of a GPU is answered. set: changes, with spaces between, or NULL */
static SimTime read_ps(guint16 from, guint n, const char *set, SimEngine engine)
{
    g_auto(GStrv) changes = g_strsplit(set ? set : "", " ", -1);
    const char *sets[16] = {TWO_LEVELS};
    Answer answer[8] = {{0}};
    SimTime last_ps = 0;
    Bed bed;
    for (guint i = 0, at = 6; changes[i]; i++)
        sets[at++] = changes[i];
    bed_open(&bed, "teach-4gpu", sets, &(SimSpec){.seed = 1, .engine = engine});
    MemRegion *region = bed_region(&bed, from, 65536);
    memory_set_cached(bed.fabric->memory, region, TRUE);
    for (guint i = 0; i < n; i++)
        bed_send(&bed, 0, &(GpuRequest){.kind = PACKET_READ, .bytes = 128, .region = region}, &answer[i]);
    assert_int_equal(sim_run(bed.sim, SIMTIME_NEVER), SIM_IDLE);
    for (guint i = 0; i < n; i++) {
        assert_int_equal(answer[i].times, 1);
        assert_int_equal(answer[i].state, TXN_OK);
        last_ps = MAX(last_ps, answer[i].at_ps);
    }
    bed_close(&bed);
    return last_ps;
}

/* Within a group a read takes what it takes on teach-4gpu, 820 ns (test_request_times.c): four flights of 100 ns and
 * two switches of 100, and flits of a ns, 1 + 1 there and 9 + 9 back. Across there are two trunks more each way, each
 * with its flight and the switch behind it, and with the flits once more: 4 * 200 + 2 * (1 + 9) = 820 ns more. Of
 * four reads each answer comes 9 ns after the one before. */
static const struct {
    guint16 from;
    guint n;
    const char *set;
    SimTime right_ps;
} rows[] = {
    {3, 1, NULL, 820000},
    {4, 1, NULL, 1640000},
    {3, 1, "topology.leaf_gpus=2", 1640000}, /* it is in another group then */
    {4, 1, "topology.leaf_gpus=8", 820000},
    {4, 1, "topology.kind=rails", 820000},
    {4, 1, "topology.trunk_MBps=8000", 1660000}, /* each flit twice as long: 2 * (1 + 9) ns */
    {3, 1, "topology.trunk_MBps=8000", 820000},
    {4, 1, "topology.trunk_flight_ps=103000", 1652000}, /* four trunks */
    {3, 1, "topology.trunk_flight_ps=103000", 820000},
    {4, 4, NULL, 1667000},
    {4, 4, "topology.trunk_credits_flits=36", 1667000}, /* room for four answers of nine flits */
    /* Room for three: the fourth waits until the first has left the spine, 9 + 200 ns behind its start at the leaf, and
     * until that is known, at the end of the picosecond and a flight later; so it starts 309.001 ns behind the first
     * instead of 27. On the second trunk the first has made room by then, as much later. */
    {4, 4, "topology.trunk_credits_flits=35", 1949001},
    /* Rooms freed within 32.768 ns are told together: those of the first answer, freed at 1,272 ns, at 39 * 32.768 =
     * 1,277.952, and at the sender at 1,377.952; those behind the spine, freed at 1,481, at 1,507.328. There the fourth
     * starts at 1,607.328 and takes 209 to the leaf and 159 to the reader. */
    {4, 4, "topology.trunk_credits_flits=35 link.credit_batch_ps=32768", 1975328},
    {4, 4, "topology.trunk_credits_flits=35 link.credit_batch_ps=65535", 1975328}, /* the power of two below */
    {3, 4, "topology.trunk_credits_flits=32", 847000},
};

/* Proves what each row adds to a read that it is on the way of, and that it is on no other's, with both engines. */
static void test_times(void **state)
{
    (void)state;
    for (guint i = 0; i < 2 * G_N_ELEMENTS(rows); i++) {
        const SimTime took_ps = read_ps(rows[i / 2].from, rows[i / 2].n, rows[i / 2].set, engines[i % 2]);
        if (took_ps != rows[i / 2].right_ps)
            fail_msg("%s, %u reads of GPU %u: %" G_GUINT64_FORMAT " ps, should be %" G_GUINT64_FORMAT,
                     rows[i / 2].set ? rows[i / 2].set : "as it is", rows[i / 2].n, rows[i / 2].from, took_ps,
                     rows[i / 2].right_ps);
    }
}

/* Proves how many switches and trunks there are: of two groups of four GPUs a leaf for each group and link, of which
 * each has so many trunks to each of the spines of its place. */
static void test_counts(void **state)
{
    static const struct {
        const char *set;
        guint32 switches, trunks;
    } counts[] = {
        {"topology.trunks=1", 4 + 2, 4},
        {"topology.trunks=3", 4 + 2, 4 * 3},
        {"topology.spines=2,1", 4 + 3, 2 * 2 + 2 * 1},
        {"topology.leaf_gpus=2", 8 + 2, 8},
        {"system.links_per_switch=2,1", 4 + 2, 4}, /* two links to one switch */
        {"system.links_per_switch=1,1,1", 6 + 3, 6},
    };
    (void)state;
    for (guint i = 0; i < G_N_ELEMENTS(counts); i++) {
        Bed bed;
        bed_open(&bed, "teach-4gpu", (const char *const[]){TWO_LEVELS, counts[i].set, NULL}, NULL);
        if (bed.fabric->n_switches != counts[i].switches || bed.fabric->n_trunks != counts[i].trunks)
            fail_msg("%s: %u switches and %u trunks, should be %u and %u", counts[i].set, bed.fabric->n_switches,
                     bed.fabric->n_trunks, counts[i].switches, counts[i].trunks);
        bed_close(&bed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_times), cmocka_unit_test(test_counts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
