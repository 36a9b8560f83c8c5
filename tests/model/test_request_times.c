/* What each time and size in the tables [switch], [multicast], [link], [gpu], [system] and [fault] stands for: on
 * teach-4gpu, whose numbers are round, one request of GPU 0 takes exactly what `right_ps` says, and exactly as much
 * more as worked out by hand beside each row when that row alone is changed. */
#include "tests/model/model_test.h"

#include "model/gpu/copy_engine.h"

typedef struct {
    PacketKind kind;
    guint16 bytes;
    gboolean cached;
    SimTime right_ps;
} Asked;

/* 50 ns to the port, 4 flights of 100, 2 switches of 100, L2 100, 50 from the port: 800 for all of them. Beside that a
 * nanosecond a flit and wire, four wires. */
static const Asked asked_read = {PACKET_READ, 128, TRUE, 820000};      /* 1 + 1, 9 + 9 */
static const Asked asked_dram = {PACKET_READ, 128, FALSE, 1020256};    /* and 200 of HBM, which gives 500 B a ns */
static const Asked asked_write = {PACKET_WRITE, 128, TRUE, 870000};    /* 9 + 9, 50 of the timer, 1 + 1 */
static const Asked asked_word = {PACKET_WRITE, 4, TRUE, 858000};       /* header, bytes, 16 B: 3 + 3, 50, 1 + 1 */
static const Asked asked_atom = {PACKET_ATOM, 4, TRUE, 814000};        /* and its operation: 4 + 4, 3 + 3 */
static const Asked asked_red = {PACKET_RED, 128, TRUE, 872000};        /* 10 + 10, 50, 1 + 1 */
static const Asked asked_store = {PACKET_MC_WRITE, 128, TRUE, 825000}; /* 9, 5 cycles until GPU 3's round, 9, 1, 1 */
static const Asked asked_add = {PACKET_MC_RED, 128, TRUE, 827000};     /* 10, 5 cycles, 10, 1, 1 */
static const Asked asked_reduce = {PACKET_MC_READ, 128, TRUE, 823000}; /* 2, 1 cycle, 2, 9, 9 */

static const SimEngine engines[] = {SIM_ENGINE_REFERENCE, SIM_ENGINE_FAST};

/* set: changes, with spaces between, or NULL */
static SimTime asked_ps(const Asked *asked, const char *set, SimEngine engine)
{
    g_auto(GStrv) sets = g_strsplit(set ? set : "", " ", -1);
    Bed bed;
    MemRegion *member[4];
    Answer answer = {0};
    bed_open(&bed, "teach-4gpu", (const char *const *)sets, &(SimSpec){.seed = 1, .engine = engine});
    GpuRequest request = {.kind = asked->kind, .bytes = asked->bytes};
    if (asked->kind >= PACKET_MC_WRITE)
        request.object = bed_team(&bed, 4, 65536, member);
    else
        memory_set_cached(bed.fabric->memory, request.region = bed_region(&bed, 1, 65536), asked->cached);
    bed_send(&bed, 0, &request, &answer);
    assert_int_equal(sim_run(bed.sim, SIMTIME_NEVER), SIM_IDLE);
    assert_int_equal(answer.times, 1);
    assert_int_equal(answer.state, TXN_OK);
    bed_close(&bed);
    return answer.at_ps;
}

/* Proves what each kind of request takes as the preset is. */
static void test_whole(void **state)
{
    (void)state;
    static const Asked *const all[] = {&asked_read, &asked_dram,  &asked_write, &asked_word,  &asked_atom,
                                       &asked_red,  &asked_store, &asked_add,   &asked_reduce};
    for (guint i = 0; i < 2 * G_N_ELEMENTS(all); i++) {
        const Asked *asked = all[i / 2];
        const SimTime took_ps = asked_ps(asked, NULL, engines[i % 2]);
        if (took_ps != asked->right_ps)
            fail_msg("request %u: %" G_GUINT64_FORMAT " ps, should be %" G_GUINT64_FORMAT, i / 2, took_ps,
                     asked->right_ps);
    }
}

static const struct {
    const Asked *asked;
    const char *set; /* the row and what it is changed to */
    gint64 more_ps;
} rows[] = {
    /* [switch] */
    {&asked_reduce, "switch.request_flits=3", 3000},    /* up, down, and a round of 48 B takes two cycles */
    {&asked_reduce, "switch.reduction_ps=7000", 7000},  /* once */
    {&asked_store, "switch.reduction_ps=7000", 0},      /* nothing is summed */
    {&asked_store, "switch.replica_ack_flits=3", 2000}, /* a member's way up */
    {&asked_store, "switch.done_flits=4", 3000},        /* the requester's way down */
    {&asked_reduce, "switch.done_flits=4", 0},
    {&asked_store, "switch.done_merge_max=2", 60000}, /* it waits for a second one until done_timer_ps */
    {&asked_store, "switch.done_merge_max=2 switch.done_timer_ps=7000", 7000},
    {&asked_store, "switch.done_timer_ps=7000", 0},
    {&asked_reduce, "switch.cycle_ps=3000", 2000},     /* the first round is 2 flits, 32 B: a cycle */
    {&asked_store, "switch.cycle_ps=3000", 10000},     /* 144 B: five */
    {&asked_store, "switch.crossbar_bytes=64", -2000}, /* three */
    {&asked_store, "switch.crossbar_bytes=16", 4000},  /* nine */
    {&asked_store, "switch.latency_ps=101000", 2000},  /* there and back */
    {&asked_read, "switch.latency_ps=101000", 2000},
    /* [multicast]: GPU 3 is the fourth of rounds of three */
    {&asked_store, "multicast.round_directives=4", -5000},
    {&asked_store, "multicast.round_directives=2", 0}, /* the second round begins as it did, with GPUs 2 and 3 */
    {&asked_store, "multicast.round_directives=1", 10000},
    {&asked_reduce, "multicast.round_directives=1", 2000},
    /* [link]: flits of each wire */
    {&asked_read, "link.rate_MBps=8000", 20000},
    {&asked_store, "link.rate_MBps=8000", 20000},
    {&asked_atom, "link.rate_MBps=8000", 14000},
    {&asked_read, "link.flight_ps=103000", 12000},
    /* [gpu] */
    {&asked_read, "gpu.out_ps=51000", 1000},
    {&asked_read, "gpu.in_ps=52000", 2000},
    {&asked_read, "gpu.l2_ps=104000", 4000},
    {&asked_read, "gpu.dram_ps=230000", 0},
    {&asked_dram, "gpu.dram_ps=230000", 30000},
    {&asked_dram, "gpu.hbm_MBps=250000", 256}, /* 128 B at 250 B a ns instead of 500 */
    {&asked_read, "gpu.hbm_MBps=250000", 0},
    {&asked_dram, "gpu.hbm_read_permille=500", 256}, /* the same */
    {&asked_dram, "gpu.hbm_write_permille=500", 0},
    {&asked_dram, "gpu.hbm_turns_permille=500 gpu.hbm_batch_permille=500", 0}, /* there is no turn of reads alone */
    /* It comes to HBM at 352 ns (50 to the port, two flits, two flights, a switch): the end of a refresh that is as
     * long as its period is the end of the period. A read alone meets no turns. */
    {&asked_dram, "gpu.hbm_refresh_ps=1950000", 1598000},
    {&asked_dram, "gpu.hbm_refresh_ps=400000 gpu.hbm_refresh_period_ps=400000", 48000},
    {&asked_dram, "gpu.hbm_refresh_period_ps=400000", 0},
    {&asked_read, "gpu.hbm_refresh_ps=1950000", 0},
    {&asked_dram, "gpu.hbm_turn_ps=600000", 0},
    {&asked_atom, "gpu.atomic_ps=70000", 70000},
    {&asked_read, "gpu.atomic_ps=70000", 0},
    {&asked_write, "gpu.ack_timer_ps=20000", -30000},
    {&asked_read, "gpu.ack_timer_ps=20000", 0},
    {&asked_word, "gpu.byte_enable_flits=3", 4000}, /* on both wires there */
    {&asked_write, "gpu.byte_enable_flits=3", 0},   /* whole units of 16 B */
    {&asked_red, "gpu.operation_flits=3", 4000},
    {&asked_atom, "gpu.operation_flits=4", 6000},
    {&asked_write, "gpu.operation_flits=3", 0},
    {&asked_add, "gpu.operation_flits=3", 5000}, /* both wires, and 192 B take six cycles instead of five */
    {&asked_add, "multicast.set_flits=1", 1000}, /* up; replicas need no names */
    {&asked_store, "multicast.set_flits=7", 7000},
    {&asked_read, "multicast.set_flits=7", 0},
    /* [fault]: both links of GPU 0, in both directions: flits there and back */
    {&asked_read, "fault.link_degraded=gpu0.link0,gpu0.link1", 10000},
    {&asked_read, "fault.link_degraded=gpu0.link0,gpu0.link1 fault.degraded_percent=25", 30000},
    {&asked_read, "fault.degraded_percent=25", 0},
};

/* Proves how often each row is on the way of a request that it is for, and that it is on no other's. */
static void test_rows(void **state)
{
    (void)state;
    for (guint i = 0; i < 2 * G_N_ELEMENTS(rows); i++) {
        const gint64 right_ps = rows[i / 2].more_ps;
        const gint64 more_ps = (gint64)asked_ps(rows[i / 2].asked, rows[i / 2].set, engines[i % 2]) -
                               (gint64)rows[i / 2].asked->right_ps;
        if (more_ps != right_ps)
            fail_msg("%s: %" G_GINT64_FORMAT " ps more, should be %" G_GINT64_FORMAT, rows[i / 2].set, more_ps,
                     right_ps);
    }
}

/* ---- copies */

typedef struct {
    guint16 from, to; /* GPUs, or HOST */
    guint32 bytes;
} Copied;
#define HOST 0xffffu

static void note_copied(void *user, FaultKind fault, SimTime now_ps)
{
    assert_int_equal(fault, FAULT_NONE);
    *(SimTime *)user = now_ps;
}

/* Which the engine of GPU 0 does. */
static SimTime copied_ps(const Copied *copied, const char *set)
{
    static guint8 host[16384];
    const char *sets[] = {set, NULL};
    Bed bed;
    SimTime end_ps = 0;
    CopyEnd end[2];
    bed_open(&bed, "teach-4gpu", set ? sets : NULL, NULL);
    for (guint i = 0; i < 2; i++) {
        const guint16 gpu = i ? copied->to : copied->from;
        end[i] = gpu == HOST ? (CopyEnd){.place = COPY_HOST, .host = host}
                             : (CopyEnd){.place = COPY_REGION, .region = bed_region(&bed, gpu, 65536)};
        if (gpu != HOST)
            memory_set_cached(bed.fabric->memory, end[i].region, TRUE);
    }
    copy_start(bed.fabric, 0, &end[1], &end[0], copied->bytes, "test", note_copied, &end_ps);
    assert_int_equal(sim_run(bed.sim, SIMTIME_NEVER), SIM_IDLE);
    bed_close(&bed);
    return end_ps;
}

static const Copied pull = {1, 0, 512}, push = {0, 1, 512}, in = {HOST, 0, 16000}, out = {0, HOST, 16000},
                    own = {0, 0, 10000};

/* 512 B are two packets of 256 of one chunk each. A read of one is 1 + 1 flits there and 17 + 17 back, 836 ns with the
 * 800 of its way; a write of one 17 + 17, 50 ns of its timer, and 1 + 1. */
static const struct {
    const Copied *copied;
    const char *set;
    SimTime right_ps;
} copies[] = {
    {&pull, "gpu.engine_in_flight=1", 1000000 + 2 * 836000},
    {&push, "gpu.engine_in_flight=1", 1000000 + 2 * 886000},
    {&pull, "gpu.engine_in_flight=2", 1000000 + 836000},             /* a link each */
    {&pull, "gpu.engine_packet_bytes=128", 1000000 + 820000 + 9000}, /* two on each link: the second's 9 flits */
    {&in, NULL, 1000000 + 500000 + 1000000},                         /* 16 B a ns */
    {&out, NULL, 1000000 + 500000 + 1000000},
    {&in, "system.host_ps=300000", 1000000 + 300000 + 1000000},
    {&out, "system.host_ps=300000", 1000000 + 300000 + 1000000},
    {&in, "system.host_MBps=8000", 1000000 + 500000 + 2000000},
    {&out, "system.host_MBps=8000", 1000000 + 500000 + 2000000},
    {&in, "gpu.engine_ps=700000", 700000 + 500000 + 1000000},
    {&own, NULL, 1000000 + 200000 + 20000}, /* L2, and 10 KB read and written at 1,000 B a ns */
    {&own, "gpu.local_MBps=500000", 1000000 + 200000 + 40000},
    {&own, "gpu.local_ps=210000", 1000000 + 210000 + 20000},
};

/* Proves what a copy engine takes of each. */
static void test_copies(void **state)
{
    (void)state;
    for (guint i = 0; i < G_N_ELEMENTS(copies); i++) {
        const SimTime took_ps = copied_ps(copies[i].copied, copies[i].set);
        if (took_ps != copies[i].right_ps)
            fail_msg("copy %u, %s: %" G_GUINT64_FORMAT " ps, should be %" G_GUINT64_FORMAT, i, copies[i].set, took_ps,
                     copies[i].right_ps);
    }
}

/* Proves that an answer to a read takes the acknowledgement of writes with it where gpu.ack_flush_on_read says so: the
 * read follows the write on both wires, so it is served a flit later, and the write ends 49 ns earlier than by the
 * timer of 50. */
static void test_flush_on_read(void **state)
{
    (void)state;
    for (guint i = 0; i < 4; i++) {
        const char *sets[] = {i / 2 ? "gpu.ack_flush_on_read=true" : "gpu.ack_flush_on_read=false", NULL};
        Bed bed;
        Answer wrote = {0}, read = {0};
        bed_open(&bed, "teach-4gpu", sets, &(SimSpec){.seed = 1, .engine = engines[i % 2]});
        GpuRequest write = {.kind = PACKET_WRITE, .bytes = 128, .region = bed_region(&bed, 1, 65536)};
        GpuRequest load = {.kind = PACKET_READ, .bytes = 128, .region = write.region};
        memory_set_cached(bed.fabric->memory, write.region, TRUE);
        bed_send(&bed, 0, &write, &wrote);
        bed_send(&bed, 0, &load, &read);
        assert_int_equal(sim_run(bed.sim, SIMTIME_NEVER), SIM_IDLE);
        assert_int_equal(wrote.at_ps, i / 2 ? 821000 : 870000);
        /* 17 behind the write's flits (9 + 9 - 1); where the acknowledgement goes first, 1 more */
        assert_int_equal(read.at_ps, i / 2 ? 838000 : 837000);
        bed_close(&bed);
    }
}

/* When the last of n loads of 128 B, sent at once by one link, is back. */
static SimTime last_load_ps(guint n, const char *set, SimEngine engine)
{
    const char *sets[] = {set, "link.credit_batch_ps=1", NULL};
    Bed bed;
    Answer answer[5] = {{0}};
    bed_open(&bed, "teach-4gpu", sets, &(SimSpec){.seed = 1, .engine = engine});
    GpuRequest load = {.kind = PACKET_READ, .bytes = 128, .region = bed_region(&bed, 1, 65536)};
    memory_set_cached(bed.fabric->memory, load.region, TRUE);
    for (guint i = 0; i < n; i++)
        bed_send(&bed, 0, &load, &answer[i]);
    assert_int_equal(sim_run(bed.sim, SIMTIME_NEVER), SIM_IDLE);
    bed_close(&bed);
    return answer[n - 1].at_ps;
}

/* Proves what a GPU's ingress buffer holds up: answers of 9 flits come 9 ns apart while they fit. The first one that
 * does not begins when the first one's flits are free again and that is known: a flight of 100, 50 in the GPU, a flight
 * back of 100, in steps of credit_batch_ps (1 ps). It ends 250.001 + 9 behind the first. */
static void test_gpu_buffer(void **state)
{
    (void)state;
    for (guint i = 0; i < 2; i++) {
        assert_int_equal(last_load_ps(3, "link.credits_gpu_flits=32", engines[i]), 838000);
        assert_int_equal(last_load_ps(4, "link.credits_gpu_flits=32", engines[i]), 820000 + 250001 + 9000);
        assert_int_equal(last_load_ps(4, "link.credits_gpu_flits=36", engines[i]), 847000);
        assert_int_equal(last_load_ps(5, "link.credits_gpu_flits=36", engines[i]), 820000 + 250001 + 9000);
        assert_int_equal(last_load_ps(5, "link.credits_gpu_flits=45", engines[i]), 856000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_whole), cmocka_unit_test(test_rows),
                                       cmocka_unit_test(test_copies), cmocka_unit_test(test_flush_on_read),
                                       cmocka_unit_test(test_gpu_buffer)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
