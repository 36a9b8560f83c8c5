/* link.train_packets: two packets of one chunk as one unit, against the same packets one by one. */
#include "tests/model/warp_test.h"

#include "coll/coll.h"

#define LARGE (64ull << 20)
static const char *const trains[] = {"link.train_packets=2", NULL};

/* What one instruction of a warp left behind. */
typedef struct {
    guint64 packets[PACKET_KINDS], flits[PACKET_KINDS]; /* over all links */
    guint64 issued, served, operations;
    SimTime end_ps;
    guint8 member[4][2048], far[2048], reg[REG_BYTES];
} Trace;

static void trace_counts(Trace *trace, const Stand *stand)
{
    const Fabric *fabric = stand->bed.fabric;
    for (guint64 g = 0; g < fabric->spec.system.gpus; g++) {
        const Gpu *gpu = &fabric->gpu[g];
        trace->served += gpu->served;
        trace->issued += gpu->requests;
        for (guint32 l = 0; l < fabric->links; l++)
            for (guint32 k = 0; k < PACKET_KINDS; k++) {
                const LinkCount *up = link_count(&gpu->up[l], k), *down = link_count(&gpu->down[l], k);
                trace->packets[k] += up->packets + down->packets;
                trace->flits[k] += up->flits + down->flits;
            }
    }
    const OpTable *multicast = g_ptr_array_index(fabric->op_object, stand->object->id);
    for (int k = 0; k <= PACKET_MC_READ; k++) {
        trace->operations += fabric->op_remote.kind[k] ? fabric->op_remote.kind[k]->count : 0;
        trace->operations += multicast->kind[k] ? multicast->kind[k]->count : 0;
    }
    trace->end_ps = sim_now_ps(stand->bed.sim);
}

static Trace trace_of(UopKind kind, guint64 va, const char *const *sets)
{
    Stand stand;
    Trace trace = {.issued = 0};
    stand_open(&stand, 32, sets);
    for (guint at = 0; at < sizeof trace.far; at++) {
        stand.far->host[at] = (guint8)(at * 7 + at / 256);
        for (guint m = 0; m < 4; m++)
            stand.member[m]->host[at] = (guint8)(at * 3 + m);
    }
    Reg *reg = reg_new(16, TRUE), *old = reg_new(16, TRUE);
    for (guint at = 0; at < REG_BYTES; at++)
        reg->bytes[at] = (guint8)(at * 11 + 1);
    Uop uop = uop_of(kind, va, 16, 16, reg);
    uop.type = NUMERIC_U32;
    if (kind == UOP_ATOM)
        uop.dst = old;
    warp_push(&stand.cta->warp[0], &uop);
    stand_run(&stand);
    trace_counts(&trace, &stand);
    memcpy(trace.far, stand.far->host, sizeof trace.far);
    for (guint m = 0; m < 4; m++)
        memcpy(trace.member[m], stand.member[m]->host, sizeof trace.member[m]);
    memcpy(trace.reg, kind == UOP_ATOM ? old->bytes : reg->bytes, sizeof trace.reg);
    reg_free(reg);
    reg_free(old);
    stand_close(&stand);
    return trace;
}

/* Proves that an instruction's packets put the same flits on the links, count as many packets everywhere, and move the
 * same bytes as trains, wherever its lines lie in their chunks; and that they end later by less than a packet's time
 * at each of four ports. */
static void test_one_instruction(void **state)
{
    (void)state;
    static const UopKind kinds[] = {UOP_LOAD, UOP_STORE, UOP_RED, UOP_ATOM, UOP_MC_LOAD, UOP_MC_STORE, UOP_MC_RED};
    static const guint64 offsets[] = {0, 128, 64};
    for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++)
        for (gsize o = 0; o < G_N_ELEMENTS(offsets); o++) {
            guint64 va = (kinds[i] >= UOP_MC_LOAD ? TEAM_VA : FAR_VA) + offsets[o];
            Trace one = trace_of(kinds[i], va, NULL), two = trace_of(kinds[i], va, trains);
            assert_memory_equal(one.packets, two.packets, sizeof one.packets);
            assert_memory_equal(one.flits, two.flits, sizeof one.flits);
            assert_int_equal(one.issued, two.issued);
            assert_int_equal(one.served, two.served);
            assert_int_equal(one.operations, two.operations);
            assert_memory_equal(one.far, two.far, sizeof one.far);
            assert_memory_equal(one.member, two.member, sizeof one.member);
            assert_memory_equal(one.reg, two.reg, sizeof one.reg);
            assert_in_range(two.end_ps, one.end_ps, one.end_ps + 4 * 10 * 680 + 1);
        }
}

/* Proves that what is not two whole lines of one chunk goes as ever: the same to the picosecond. */
static void test_single_lines(void **state)
{
    (void)state;
    static const char *const one_line[] = {"sm.warp_issue_ps=0", NULL},
                             *const as_trains[] = {"sm.warp_issue_ps=0", "link.train_packets=2", NULL};
    SimTime end_ps[2];
    for (guint t = 0; t < 2; t++) {
        Stand stand;
        stand_open(&stand, 32, t ? as_trains : one_line);
        Reg *reg = reg_new(4, TRUE);
        for (guint64 at = 0; at < 64; at++) {
            Uop uop = uop_of(at % 2 ? UOP_STORE : UOP_MC_STORE, (at % 2 ? FAR_VA : TEAM_VA) + at * 128, 4, 4, reg);
            warp_push(&stand.cta->warp[0], &uop);
        }
        stand_run(&stand);
        end_ps[t] = sim_now_ps(stand.bed.sim);
        reg_free(reg);
        stand_close(&stand);
    }
    assert_int_equal(end_ps[0], end_ps[1]);
}

static SimTime time_of(CollOp op, CollAlgo algo, guint64 bytes, const char *const *sets, guint64 *events,
                       guint64 *crossings)
{
    Bed bed;
    CollSpec what = coll_spec_default(op);
    CollResult result;
    bed_spec(&bed, "dgx-h100", sets);
    bed.sim = sim_new(&(SimSpec){.seed = 1}, NULL);
    bed.fabric = fabric_new(bed.sim, &bed.spec, bytes < LARGE, NULL);
    bed.objects = g_ptr_array_new();
    CollGroup *group = coll_group_new(bed.fabric, NULL, 8, NULL);
    what.algo = algo;
    what.bytes = bytes;
    assert_true(coll_run(group, &what, &result, NULL));
    assert_int_equal(result.check, bytes < LARGE ? COLL_VERIFIED : COLL_NOT_CHECKED);
    *events = sim_events_fired(bed.sim);
    *crossings = fabric_crossings(bed.fabric);
    coll_group_free(group);
    bed_close(&bed);
    return result.time_ps;
}

/* Proves that collectives as trains give the right bytes, take what they take packet by packet, within 1 % for 8 MiB
 * (1.5 % without the switch's help) and 0.1 % for NVLS of 64 MiB, with 0.7 of the events at most, and that as many
 * packets cross links, but for acknowledgements, which merge as they come. */
static void test_collectives(void **state)
{
    (void)state;
    static const struct {
        CollOp op;
        CollAlgo algo;
        guint64 bytes;
        guint per_mille;
    } cases[] = {{COLL_ALL_REDUCE, COLL_NVLS, LARGE / 8, 10},     {COLL_ALL_GATHER, COLL_NVLS, LARGE / 8, 10},
                 {COLL_REDUCE_SCATTER, COLL_NVLS, LARGE / 8, 10}, {COLL_ALL_TO_ALL, COLL_DIRECT, LARGE / 8, 15},
                 {COLL_ALL_REDUCE, COLL_NVLS, LARGE, 1}};
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        guint64 events[2], crossings[2];
        SimTime one_ps = time_of(cases[i].op, cases[i].algo, cases[i].bytes, NULL, &events[0], &crossings[0]);
        SimTime two_ps = time_of(cases[i].op, cases[i].algo, cases[i].bytes, trains, &events[1], &crossings[1]);
        SimTime off_ps = one_ps / 1000 * cases[i].per_mille;
        assert_in_range(two_ps, one_ps - off_ps, one_ps + off_ps);
        assert_true(events[1] * 10 < events[0] * 7);
        assert_in_range(crossings[1], crossings[0] * 98 / 100, crossings[0] * 102 / 100);
    }
}

/* Proves that a fabric without room for both packets of a train is refused, by the parameter's name and the least or
 * the most that it may be, and that the same is built without trains. */
static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *set, *says;
    } cases[] = {{"switch.multicast_tags=1", "[switch] multicast_tags: 1; with [link] train_packets = 2 at least 2"},
                 {"switch.reduction_tags=1", "[switch] reduction_tags: 1;"},
                 {"switch.reduction_buffer_bytes=1024", "at least 2048"},
                 {"switch.request_flits=16", "at most 15"},
                 {"switch.replica_ack_flits=16", "at most 15"},
                 {"switch.done_flits=16", "at most 15"}};
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
        for (guint t = 0; t < 2; t++) {
            const char *const sets[] = {cases[i].set, t ? trains[0] : NULL, NULL};
            Bed bed;
            GError *error = NULL;
            bed_spec(&bed, "dgx-h100", sets);
            assert_int_equal(fabric_check(&bed.spec, &error), !t);
            if (t)
                assert_non_null(strstr(error->message, cases[i].says));
            g_clear_error(&error);
            param_set_free(bed.set);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_instruction),
        cmocka_unit_test(test_single_lines),
        cmocka_unit_test(test_collectives),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
