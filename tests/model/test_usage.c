#include "tests/model/model_test.h"

#include <math.h>

#include "model/fabric/usage.h"

/* The CSV of the table that `add` puts first into a report. */
static char *csv_of(const Fabric *fabric, void (*add)(const Fabric *, Report *))
{
    Report *report = report_new("test", "");
    add(fabric, report);
    GString *out = report_format(report, REPORT_CSV);
    report_free(report);
    return g_string_free(out, FALSE);
}

static void send_and_run(Bed *bed, guint16 from, GpuRequest *request)
{
    Answer answer = {0};
    bed_send(bed, from, request, &answer);
    assert_int_equal(sim_run(bed->sim, SIMTIME_NEVER), SIM_IDLE);
    assert_int_equal(answer.times, 1);
}

/* Proves that one unicast write counts 9 flits each way up and down, its acknowledgement one, and
 * that utilisation is their time on the wire over the time that passed. */
static void test_one_write(void **state)
{
    (void)state;
    Bed bed;
    bed_open(&bed, "teach-4gpu", NULL, NULL);
    UsageMark *mark = usage_mark(bed.fabric);
    GpuRequest write = {.kind = PACKET_WRITE, .region = bed_region(&bed, 1, 4096), .bytes = 128};
    send_and_run(&bed, 0, &write);
    double flit_ps = 16.0 * 1e6 / (double)bed.spec.link.rate_MBps;
    double passed_ps = (double)sim_now_ps(bed.sim), links = 4 * bed.fabric->links;
    for (int d = 0; d < USAGE_DIRECTIONS; d++) {
        Usage usage = usage_of(bed.fabric, mark, (UsageDirection)d, NULL, 0);
        assert_int_equal(usage.packets, 2);
        assert_int_equal(usage.flits, 10);
        assert_true(fabs(usage.mean_pct - 100 * 10 * flit_ps / passed_ps / links) < 1e-4);
        assert_true(usage.min_pct == 0);
        assert_true(fabs(usage.max_pct - 100 * 9 * flit_ps / passed_ps) < 1e-3);
    }
    const guint16 only[] = {0};
    assert_int_equal(usage_of(bed.fabric, mark, USAGE_UP, only, 1).flits, 9);
    assert_int_equal(usage_of(bed.fabric, mark, USAGE_DOWN, only, 1).flits, 1);
    usage_mark_free(mark);
    bed_close(&bed);
}

/* The link that carried the request of GPU 0. */
static const Link *used_link(const Bed *bed)
{
    for (guint32 l = 0; l < bed->fabric->links; l++)
        if (link_flits_total(&bed->fabric->gpu[0].up[l]) > 0)
            return &bed->fabric->gpu[0].up[l];
    fail_msg("none");
    return NULL;
}

/* Proves that a look in the midst of a packet counts it as far as it has got, at the end of a stretch and at a mark;
 * that the busiest switch has it as one of its ports; and that looking changes nothing of when it is answered. */
static void test_midst_of_packet(void **state)
{
    (void)state;
    Bed bed;
    SimTime start_ps = 0, sent_ps = 0, end_ps = 0;
    for (int looks = 0; looks < 2; looks++) {
        bed_open(&bed, "teach-4gpu", NULL, NULL);
        UsageMark *mark = usage_mark(bed.fabric), *half = NULL;
        GpuRequest write = {.kind = PACKET_WRITE, .region = bed_region(&bed, 1, 4096), .bytes = 128};
        Answer answer = {0};
        bed_send(&bed, 0, &write, &answer);
        if (looks) {
            sim_run(bed.sim, (start_ps + sent_ps) / 2);
            usage_settle(bed.fabric);
            const double now_ps = (double)sim_now_ps(bed.sim), busy_ps = now_ps - (double)start_ps;
            const Usage usage = usage_of(bed.fabric, mark, USAGE_UP, NULL, 0);
            assert_true(busy_ps > 0 && now_ps < (double)sent_ps);
            assert_true(fabs(usage.max_pct - 100 * busy_ps / now_ps) < 1e-2);
            const double ports = 4.0 * bed.fabric->links / bed.fabric->n_switches;
            assert_true(fabs(usage_of_switch(bed.fabric, mark) - usage.max_pct / ports) < 1e-6);
            half = usage_mark(bed.fabric);
        }
        assert_int_equal(sim_run(bed.sim, SIMTIME_NEVER), SIM_IDLE);
        sent_ps = simfine_to_ps(used_link(&bed)->free_at);
        start_ps = sent_ps - 9 * 16 * 1000000 / bed.spec.link.rate_MBps;
        if (looks) {
            const double passed_ps = (double)(sim_now_ps(bed.sim) - (start_ps + sent_ps) / 2);
            const Usage rest = usage_of(bed.fabric, half, USAGE_UP, (const guint16[]){0}, 1);
            assert_int_equal(rest.packets, 0);
            assert_true(fabs(rest.max_pct - 50 * (double)(sent_ps - start_ps) / passed_ps) < 1e-2);
            assert_int_equal(sim_now_ps(bed.sim), end_ps);
            usage_mark_free(half);
        }
        end_ps = sim_now_ps(bed.sim);
        usage_mark_free(mark);
        bed_close(&bed);
    }
}

/* Proves that a mark forgets what was before it, and that no time passed is no utilisation, not
 * NaN. */
static void test_mark(void **state)
{
    (void)state;
    Bed bed;
    bed_open(&bed, "teach-4gpu", NULL, NULL);
    GpuRequest write = {.kind = PACKET_WRITE, .region = bed_region(&bed, 1, 4096), .bytes = 128};
    send_and_run(&bed, 0, &write);
    UsageMark *mark = usage_mark(bed.fabric);
    Usage usage = usage_of(bed.fabric, mark, USAGE_UP, NULL, 0);
    assert_int_equal(usage.packets + usage.flits, 0);
    assert_true(usage.mean_pct == 0 && usage.max_pct == 0);
    GpuRequest read = {.kind = PACKET_READ, .region = write.region, .bytes = 128};
    send_and_run(&bed, 0, &read);
    usage = usage_of(bed.fabric, mark, USAGE_UP, NULL, 0);
    assert_int_equal(usage.packets, 2);
    assert_int_equal(usage.flits, 10); /* one of request, nine of answer */
    usage_mark_free(mark);
    bed_close(&bed);
}

/* Proves that operations are told apart by target, with the latency the requester saw, and that the
 * switch that replicated says so. */
static void test_operations(void **state)
{
    (void)state;
    Bed bed;
    MemRegion *region[4];
    bed_open(&bed, "teach-4gpu", NULL, NULL);
    McObject *object = bed_team(&bed, 4, 4096, region);
    GpuRequest store = {.kind = PACKET_MC_WRITE, .object = object, .bytes = 128};
    send_and_run(&bed, 2, &store);
    SimTime latency_ps = sim_now_ps(bed.sim);
    GpuRequest read = {.kind = PACKET_READ, .region = region[1], .bytes = 32};
    send_and_run(&bed, 1, &read);
    char *csv = csv_of(bed.fabric, usage_add_operations);
    char **lines = g_strsplit(csv, "\n", -1);
    assert_true(g_str_has_prefix(lines[0], "target,op,count,bytes,latency_min_ns,"));
    assert_true(g_str_has_prefix(lines[1], "own memory,read,1,32,"));
    char *expected = g_strdup_printf("multicast 1,multimem.st,1,128,%.1f,", (double)latency_ps / 1000);
    if (!g_str_has_prefix(lines[2], expected))
        fail_msg("'%s' does not begin with '%s'", lines[2], expected);
    assert_string_equal(lines[3], "");
    g_free(expected);
    g_strfreev(lines);
    g_free(csv);
    csv = csv_of(bed.fabric, usage_add_switches);
    assert_non_null(strstr(csv, ",1,4,0,0,0\n")); /* one request, four replicas */
    assert_non_null(strstr(csv, ",0,0,0,0,0\n")); /* the other switch */
    g_free(csv);
    bed_close(&bed);
}

/* n requests of GPU 0 at once, and the CSV of a table behind them. */
static char *csv_behind(const char *const *sets, GpuRequest request, guint n, gboolean team,
                        void (*add)(const Fabric *, Report *))
{
    Bed bed;
    MemRegion *region[4];
    Answer answer[4] = {{0}};
    bed_open(&bed, "teach-4gpu", sets, NULL);
    McObject *object = bed_team(&bed, 4, 65536, region);
    if (team)
        request.object = object;
    else
        memory_set_cached(bed.fabric->memory, request.region = region[1], TRUE);
    for (guint i = 0; i < n; i++) {
        GpuRequest one = request;
        bed_send(&bed, 0, &one, &answer[i]);
    }
    assert_int_equal(sim_run(bed.sim, SIMTIME_NEVER), SIM_IDLE);
    char *csv = csv_of(bed.fabric, add);
    bed_close(&bed);
    return csv;
}

/* Proves each figure of an operation's row. Of three reads of 128 B the first takes 820 ns (test_request_times.c), each
 * other one 9 ns longer, as its answer is behind. The median is known to a sixteenth of its power of two: 829 ns lie
 * among the 32.768 ns from 524.288 + 9 * 32.768 on, whose middle is 835.584. 384 B in 838 ns are 0.458 GB/s. */
static void test_operation_columns(void **state)
{
    (void)state;
    const GpuRequest read = {.kind = PACKET_READ, .bytes = 128}, store = {.kind = PACKET_MC_WRITE, .bytes = 128};
    g_autofree char *three = csv_behind(NULL, read, 3, FALSE, usage_add_operations);
    assert_non_null(strstr(three, "\nother GPUs,read,3,384,820.0,835.6,838.0,838.0,0.46\n"));
    g_autofree char *one = csv_behind(NULL, store, 1, TRUE, usage_add_operations); /* 825 ns; 128 B in it */
    assert_non_null(strstr(one, "\nmulticast 1,multimem.st,1,128,825.0,825.0,825.0,825.0,0.16\n"));
}

/* Proves what switches count. The second of two stores comes 9 ns behind the first, whose replicas leave in two
 * rounds of five cycles of a ns: it waits. With 64 B a cycle the rounds take 6 ns: it does not. With one tag it waits
 * for that, too. A reduction has four operands of 128 B: in 1,024 B there is room for two, and the third waits. */
static void test_switch_columns(void **state)
{
    static const struct {
        const char *set;
        PacketKind kind;
        guint n;
        const char *row;
    } rows[] = {
        {NULL, PACKET_MC_WRITE, 2, ",2,8,0,0,1\n"},
        {"switch.crossbar_bytes=64", PACKET_MC_WRITE, 2, ",2,8,0,0,0\n"},
        {"switch.multicast_tags=1", PACKET_MC_WRITE, 2, ",2,8,1,0,1\n"},
        {"switch.reduction_buffer_bytes=1024", PACKET_MC_READ, 2, ",2,8,0,0,0\n"},
        {"switch.reduction_buffer_bytes=1024", PACKET_MC_READ, 3, ",3,12,0,1,0\n"},
    };
    (void)state;
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        const GpuRequest request = {.kind = rows[i].kind, .bytes = 128};
        const char *const sets[] = {rows[i].set, NULL};
        g_autofree char *csv = csv_behind(sets, request, rows[i].n, TRUE, usage_add_switches);
        if (!strstr(csv, rows[i].row))
            fail_msg("%s: no '%s' in '%s'", rows[i].set ? rows[i].set : "as it is", rows[i].row, csv);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_write),
        cmocka_unit_test(test_midst_of_packet),
        cmocka_unit_test(test_mark),
        cmocka_unit_test(test_operations),
        cmocka_unit_test(test_operation_columns),
        cmocka_unit_test(test_switch_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
