#include "tests/model/model_test.h"

#include "model/memory/numeric.h"

/* The latency of one packet of each kind, alone in the fabric, is the sum of what its stages take, written out
 * here stage by stage from the parameters of every preset. */

/* Serialization of so many flits, in ps, rounded up to whole ps as each link does. */
static double wire(const Bed *bed, guint32 flits) { return flits * 16e6 / (double)bed->spec.link.rate_MBps; }

/* Port to port to port: two wires and the switch between them. */
static double hop(const Bed *bed, guint32 flits) { return wire(bed, flits) + (double)bed->spec.link.flight_ps; }

static double there(const Bed *bed, guint32 flits)
{
    return (double)bed->spec.gpu.out_ps + hop(bed, flits) + (double)bed->spec.sw.latency_ps + hop(bed, flits);
}

/* L2 and all the way back. */
static double back(const Bed *bed, guint32 flits)
{
    return (double)bed->spec.gpu.l2_ps + hop(bed, flits) + (double)bed->spec.sw.latency_ps + hop(bed, flits) +
           (double)bed->spec.gpu.in_ps;
}

/* An acknowledgement waits for others to join it, where they may. */
static double acknowledged(const Bed *bed)
{
    return (bed->spec.gpu.ack_merge_max > 1 ? (double)bed->spec.gpu.ack_timer_ps : 0) + back(bed, 1);
}

/* Sends one request and checks when its answer comes: four links may each round up by a picosecond. */
static void expect(Bed *bed, const char *what, GpuRequest request, double expect_ps)
{
    Answer answer = {0};
    static guint8 data[256];
    if (request.kind != PACKET_READ && request.kind != PACKET_MC_READ)
        request.data = data;
    SimTime start_ps = sim_now_ps(bed->sim);
    bed_send(bed, 0, &request, &answer);
    assert_int_equal(sim_run(bed->sim, SIMTIME_NEVER), SIM_IDLE);
    assert_int_equal(answer.times, 1);
    double took_ps = (double)(answer.at_ps - start_ps);
    if (took_ps < expect_ps - 0.5 || took_ps > expect_ps + 5)
        fail_msg("%s: %s took %.0f ps, the stages sum up to %.0f", bed->spec.system.title, what, took_ps, expect_ps);
    assert_true(fabric_is_quiet(bed->fabric));
}

static void for_every_preset(void (*check)(Bed *bed))
{
    g_auto(GStrv) names = preset_names();
    for (guint i = 0; names[i]; i++) {
        Bed bed;
        bed_open(&bed, names[i], NULL, NULL);
        check(&bed);
        bed_close(&bed);
    }
}

/* A line that is read alone. */
static double hbm_read_ps(const Bed *bed)
{
    return 128e9 / (double)bed->spec.gpu.hbm_MBps / (double)bed->spec.gpu.hbm_read_permille;
}

static void check_reads(Bed *bed)
{
    MemRegion *far = bed_region(bed, 1, 4096), *dram = bed_region(bed, 1, 4096);
    memory_set_cached(bed->fabric->memory, dram, FALSE);
    GpuRequest line = {.kind = PACKET_READ, .region = far, .bytes = 128}, sector = line, cold = line;
    expect(bed, "a load of 128 B", line, there(bed, 1) + back(bed, 1 + 8));
    sector.bytes = 4; /* a whole sector comes back */
    expect(bed, "a load of 4 B", sector, there(bed, 1) + back(bed, 1 + 2));
    cold.region = dram;
    expect(bed, "a load of 128 B from HBM", cold,
           there(bed, 1) + hbm_read_ps(bed) + (double)bed->spec.gpu.dram_ps + back(bed, 1 + 8));
}

/* Proves it for loads: of a line, of less than a sector, from HBM. */
static void test_loads(void **state)
{
    (void)state;
    for_every_preset(check_reads);
}

static void check_writes(Bed *bed)
{
    MemRegion *far = bed_region(bed, 1, 4096);
    guint32 enable = (guint32)bed->spec.gpu.byte_enable_flits, op = (guint32)bed->spec.gpu.operation_flits;
    GpuRequest write = {.kind = PACKET_WRITE, .region = far, .bytes = 128};
    expect(bed, "a store of 128 B", write, there(bed, 1 + 8) + acknowledged(bed));
    write.bytes = 4;
    expect(bed, "a store of 4 B", write, there(bed, 1 + enable + 1) + acknowledged(bed));
    GpuRequest red = {.kind = PACKET_RED, .region = far, .bytes = 128, .type = NUMERIC_U32, .op = NUMERIC_ADD};
    expect(bed, "a red of 128 B", red, there(bed, 1 + op + 8) + acknowledged(bed));
    GpuRequest atom = {.kind = PACKET_ATOM, .region = far, .bytes = 16, .type = NUMERIC_U32, .op = NUMERIC_ADD};
    expect(bed, "an atom of 16 B", atom, there(bed, 1 + op + 1) + (double)bed->spec.gpu.atomic_ps + back(bed, 1 + 2));
}

/* Proves it for stores, whole and partial, for reds and atomics. */
static void test_writes(void **state)
{
    (void)state;
    for_every_preset(check_writes);
}

/* When the last replica of so many flits leaves the crossbar: its round's turn. */
static double last_round(const Bed *bed, guint32 flits)
{
    guint64 rounds_before = (bed->spec.system.gpus - 1) / bed->spec.mctable.round_directives;
    guint64 beats = (flits * 16 + bed->spec.sw.crossbar_bytes - 1) / bed->spec.sw.crossbar_bytes;
    return (double)(rounds_before * beats * bed->spec.sw.cycle_ps);
}

/* Replica answers come back to the switch only; the gathered one goes on from there. */
static double gathered(const Bed *bed, guint32 replica_flits, guint32 flits)
{
    return (double)bed->spec.gpu.l2_ps + hop(bed, replica_flits) + (double)bed->spec.sw.latency_ps + hop(bed, flits) +
           (double)bed->spec.gpu.in_ps;
}

static void check_multicast(Bed *bed)
{
    if (bed->spec.mctable.entries == 0)
        return;
    MemRegion *region[VAS_GPUS_MAX];
    McObject *object = bed_team(bed, (guint32)bed->spec.system.gpus, 4096, region);
    guint32 op = (guint32)bed->spec.gpu.operation_flits, ask = (guint32)bed->spec.sw.request_flits;
    double done_ps = bed->spec.sw.done_merge_max > 1 ? (double)bed->spec.sw.done_timer_ps : 0;
    double acked = done_ps + gathered(bed, (guint32)bed->spec.sw.replica_ack_flits, (guint32)bed->spec.sw.done_flits);
    GpuRequest store = {.kind = PACKET_MC_WRITE, .object = object, .bytes = 128};
    expect(bed, "a multimem.st of 128 B", store, there(bed, 9) + last_round(bed, 9) + acked);
    GpuRequest red = {.kind = PACKET_MC_RED, .object = object, .bytes = 128, .type = NUMERIC_F32, .op = NUMERIC_ADD};
    expect(bed, "a multimem.red of 128 B", red, there(bed, 9 + op) + last_round(bed, 9 + op) + acked);
    GpuRequest load = {.kind = PACKET_MC_READ, .object = object, .bytes = 128, .type = NUMERIC_F32, .op = NUMERIC_ADD};
    expect(bed, "a multimem.ld_reduce of 128 B", load,
           there(bed, ask) + last_round(bed, ask) + gathered(bed, 9, 9) + (double)bed->spec.sw.reduction_ps);
}

/* Proves it for multimem.st, .red and .ld_reduce of the whole system's team, replication rounds included. */
static void test_multicast(void **state)
{
    (void)state;
    for_every_preset(check_multicast);
}

static void check_own(Bed *bed)
{
    MemRegion *own = bed_region(bed, 0, 4096), *dram = bed_region(bed, 0, 4096),
              *host = bed_region(bed, MEMORY_HOST, 4096);
    const GpuSpec *gpu = &bed->spec.gpu;
    memory_set_cached(bed->fabric->memory, dram, FALSE);
    GpuRequest load = {.kind = PACKET_READ, .region = own, .bytes = 128};
    double l2_ps = 128e6 / (double)gpu->local_MBps + (double)gpu->local_ps;
    expect(bed, "a load from the own L2", load, l2_ps);
    load.region = dram;
    double hbm_ps = hbm_read_ps(bed) + (double)gpu->local_ps;
    expect(bed, "a load from the own HBM", load, MAX(l2_ps, hbm_ps) + (double)gpu->local_dram_ps);
    load.region = host;
    expect(bed, "a load from the host", load,
           2.0 * (double)bed->spec.system.host_ps + 128e6 / (double)bed->spec.system.host_MBps);
    GpuRequest atom = {.kind = PACKET_ATOM, .region = own, .bytes = 4, .type = NUMERIC_U32, .op = NUMERIC_ADD};
    expect(bed, "an atom in the own L2", atom,
           32e6 / (double)gpu->local_MBps + (double)gpu->local_ps + (double)gpu->local_atomic_ps);
}

/* Proves it for what stays in the GPU or goes to its host. */
static void test_own_memory(void **state)
{
    (void)state;
    for_every_preset(check_own);
}

/* Proves that the measured unloaded latencies of the H200 come out: 857 ns for a load from a remote L2, 147 ns
 * from the own one, 838 ns for a remote atomic, 150 ns more from HBM (each within 3 %). */
static void test_h200_measured(void **state)
{
    (void)state;
    static const struct {
        PacketKind kind;
        guint8 home, cached;
        double ns;
    } row[] = {{PACKET_READ, 1, 1, 857}, {PACKET_READ, 0, 1, 147}, {PACKET_ATOM, 1, 1, 838}, {PACKET_READ, 1, 0, 1007}};
    for (guint i = 0; i < G_N_ELEMENTS(row); i++) {
        Bed bed;
        bed_open(&bed, "dgx-h200", NULL, NULL);
        MemRegion *region = bed_region(&bed, row[i].home, 4096);
        memory_set_cached(bed.fabric->memory, region, row[i].cached);
        guint8 data[8] = {0};
        GpuRequest request = {.kind = row[i].kind,
                              .region = region,
                              .bytes = 4,
                              .type = NUMERIC_U32,
                              .data = row[i].kind == PACKET_ATOM ? data : NULL};
        Answer answer = {0};
        bed_send(&bed, 0, &request, &answer);
        assert_int_equal(sim_run(bed.sim, SIMTIME_NEVER), SIM_IDLE);
        double ns = (double)answer.at_ps / 1000;
        if (ABS(ns / row[i].ns - 1) > 0.03)
            fail_msg("row %u: %.0f ns, measured %.0f", i, ns, row[i].ns);
        bed_close(&bed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loads),      cmocka_unit_test(test_writes),        cmocka_unit_test(test_multicast),
        cmocka_unit_test(test_own_memory), cmocka_unit_test(test_h200_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
