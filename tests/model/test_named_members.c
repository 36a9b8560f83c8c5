/* Requests that name their members themselves (multicast.set_flits) instead of an entry of a switch's table. That both
 * engines agree is proved on drawn loads by test_engines. */
#include "tests/model/model_test.h"

#include "model/memory/numeric.h"

/* Flits of one kind that a link has carried. */
static guint64 named_flits(const Link *link, PacketKind kind) { return link->count[kind].flits; }

/* A request of GPU 0 to a team of all four on teach-4gpu, of 128 B; when it ended. */
static SimTime named_send(Bed *bed, const char *const *sets, PacketKind kind)
{
    MemRegion *region[4];
    Answer answer = {0};
    bed_open(bed, "teach-4gpu", sets, NULL);
    GpuRequest request = {
        .kind = kind, .object = bed_team(bed, 4, 4096, region), .bytes = 128, .type = NUMERIC_F32, .op = NUMERIC_ADD};
    guint8 data[128];
    memset(data, 7, sizeof data);
    if (kind != PACKET_MC_READ)
        request.data = data;
    bed_send(bed, 0, &request, &answer);
    assert_int_equal(sim_run(bed->sim, SIMTIME_NEVER), SIM_IDLE);
    assert_int_equal(answer.times, 1);
    assert_int_equal(answer.state, TXN_OK);
    assert_true(fabric_is_quiet(bed->fabric));
    for (guint g = 0; g < 4 && kind == PACKET_MC_WRITE; g++)
        assert_memory_equal(memory_read(region[g], 0), data, sizeof data);
    return answer.at_ps;
}

/* Proves what two flits of names cost a store and an ld_reduce where a flit takes 1 ns: 2 ns on the way to the switch,
 * and nothing behind it, since replicas do not carry them. A store has 1 + 8 flits without names, an ld_reduce 2. */
static void test_costs_its_flits(void **state)
{
    (void)state;
    static const struct {
        PacketKind kind;
        guint64 flits;
    } row[] = {{PACKET_MC_WRITE, 9}, {PACKET_MC_READ, 2}};
    for (guint i = 0; i < G_N_ELEMENTS(row); i++) {
        Bed bed;
        const SimTime table_ps = named_send(&bed, NULL, row[i].kind);
        assert_int_equal(named_flits(&bed.fabric->gpu[0].up[0], row[i].kind), row[i].flits);
        bed_close(&bed);
        const char *const sets[] = {"multicast.set_flits=2", NULL};
        const SimTime named_ps = named_send(&bed, sets, row[i].kind);
        assert_int_equal(named_ps - table_ps, 2000);
        assert_int_equal(named_flits(&bed.fabric->gpu[0].up[0], row[i].kind), row[i].flits + 2);
        for (guint g = 0; g < 4; g++)
            assert_int_equal(named_flits(&bed.fabric->gpu[g].down[0], row[i].kind), row[i].flits);
        bed_close(&bed);
    }
}

/* Proves that with two levels of switches the names go up to the spine and down to both leaves, which need them, and no
 * further: a store of 9 flits has 11 on every trunk. */
static void test_names_reach_the_leaves(void **state)
{
    (void)state;
    Bed bed;
    const char *const sets[] = {"multicast.set_flits=2", "topology.kind=two_level", "topology.leaf_gpus=2",
                                "topology.spines=1",     "topology.trunks=1",       NULL};
    named_send(&bed, sets, PACKET_MC_WRITE);
    guint64 trunks = 0, used = 0;
    for (guint32 t = 0; t < 2 * bed.fabric->n_trunks; t++) {
        const guint64 flits = named_flits(&bed.fabric->trunk[t], PACKET_MC_WRITE);
        trunks += flits;
        used += flits != 0;
    }
    assert_int_equal(used, 3);
    assert_int_equal(trunks, 3 * 11);
    for (guint g = 0; g < 4; g++)
        assert_int_equal(named_flits(&bed.fabric->gpu[g].down[0], PACKET_MC_WRITE), 9);
    bed_close(&bed);
}

/* Proves that tables which hold no more than one team of one member refuse a second team, and one of four, and that no
 * team is refused when requests name their members; each uses both links. */
static void test_no_team_is_refused(void **state)
{
    (void)state;
    static const char *const small[] = {"multicast.entries=1",
                                        "multicast.directives=1",
                                        "multicast.rounds=1",
                                        "multicast.spray_groups=1",
                                        "multicast.extended_entries=0",
                                        NULL,
                                        NULL};
    for (guint named = 0; named < 2; named++) {
        Bed bed;
        const char *sets[G_N_ELEMENTS(small)];
        memcpy(sets, small, sizeof small);
        sets[5] = named ? "multicast.set_flits=1" : NULL;
        bed_open(&bed, "teach-4gpu", sets, NULL);
        for (guint i = 0; i < 3; i++) {
            GError *error = NULL;
            McObject *object = fabric_mc_object(bed.fabric, 4, 4096);
            g_ptr_array_add(bed.objects, object);
            for (guint16 g = 0; g < 4; g++)
                mcobject_add_member(object, g);
            assert_int_equal(fabric_mc_attach(bed.fabric, object, &error), named);
            if (named)
                assert_int_equal(bed.fabric->mc_route[object->mcid].n, 2);
            else
                assert_non_null(strstr(error->message, "[multicast] rounds: 4 ports"));
            g_clear_error(&error);
        }
        bed_close(&bed);
    }
}

/* Proves that names which make a request longer than a buffer on its way are refused by key: such a request would wait
 * for ever. */
static void test_too_long(void **state)
{
    (void)state;
    bed_refused("teach-4gpu", (const char *const[]){"multicast.set_flits=14", "link.credits_switch_flits=32", NULL},
                "[multicast] set_flits: with 14 of them a request has up to 33 flits, and [link] credits_switch_flits");
    bed_refused("teach-4gpu",
                (const char *const[]){"multicast.set_flits=64", "link.credits_switch_flits=128",
                                      "topology.kind=two_level", "topology.leaf_gpus=2", "topology.spines=1",
                                      "topology.trunk_credits_flits=64", NULL},
                "[topology] trunk_credits_flits = 64");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_costs_its_flits),
        cmocka_unit_test(test_names_reach_the_leaves),
        cmocka_unit_test(test_no_team_is_refused),
        cmocka_unit_test(test_too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
