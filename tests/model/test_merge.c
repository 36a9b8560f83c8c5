/* Merging of equal loads in a switch (model/switch/merge.c), on teach-4gpu, where a flit takes 1 ns and all fixed
 * stages are round numbers. That both engines agree is proved on drawn loads by test_engines. */
#include "tests/model/model_test.h"

#define MERGE_ON "gpu.hash_by_gpu=false", "switch.merge_entries=4"

typedef struct {
    Event event;
    Bed *bed;
    guint16 gpu;
    GpuRequest request;
    Answer answer;
} Asking;

static void asking_on_event(Event *event, SimTime now_ps)
{
    Asking *asking = EVENT_OWNER(event, Asking, event);
    (void)now_ps;
    bed_send(asking->bed, asking->gpu, &asking->request, &asking->answer);
}

/* A GPU loads a line at at_ps. */
static void asking_load(Asking *asking, Bed *bed, guint16 gpu, MemRegion *region, guint64 offset, SimTime at_ps)
{
    *asking = (Asking){
        .bed = bed, .gpu = gpu, .request = {.kind = PACKET_READ, .region = region, .offset = offset, .bytes = 128}};
    event_init(&asking->event, asking_on_event);
    sim_at(bed->sim, &asking->event, at_ps, EVENT_PRIORITY_FABRIC);
}

static void merge_run(Bed *bed)
{
    assert_int_equal(sim_run(bed->sim, SIMTIME_NEVER), SIM_IDLE);
    assert_true(fabric_is_quiet(bed->fabric));
}

/* Packets of a kind on all links to GPU 0, or from it. */
static guint64 merge_count(const Bed *bed, PacketKind kind)
{
    const Gpu *gpu = &bed->fabric->gpu[0];
    guint64 packets = 0;
    for (guint32 l = 0; l < bed->fabric->links; l++)
        packets += gpu->up[l].count[kind].packets + gpu->down[l].count[kind].packets;
    return packets;
}

typedef struct {
    const char *name;
    guint64 value;
} MergeStat;

static void merge_visit(const char *path, const StatRow *row, const void *value, void *user)
{
    MergeStat *stat = user;
    if (g_str_has_suffix(path, ".merge") && strcmp(row->name, stat->name) == 0)
        stat->value += *(const guint64 *)value;
}

static guint64 merge_stat(const Bed *bed, const char *name)
{
    MergeStat stat = {name, 0};
    stat_visit(bed->fabric->stats, merge_visit, &stat);
    return stat.value;
}

/* Three GPUs load a line of GPU 0 at once; the first of its bytes. When the last one has it. */
static SimTime merge_together(const char *const *sets, guint64 *loads, guint64 *answers)
{
    Bed bed;
    Asking asking[3];
    SimTime last_ps = 0;
    bed_open(&bed, "teach-4gpu", sets, NULL);
    MemRegion *region = bed_region(&bed, 0, 4096);
    memset(memory_bytes(region, 0), 42, 128);
    for (guint16 i = 0; i < 3; i++)
        asking_load(&asking[i], &bed, (guint16)(i + 1), region, 0, 1000);
    merge_run(&bed);
    for (guint i = 0; i < 3; i++) {
        assert_int_equal(asking[i].answer.times, 1);
        assert_int_equal(asking[i].answer.bytes[127], 42);
        last_ps = MAX(last_ps, asking[i].answer.at_ps);
    }
    *loads = merge_count(&bed, PACKET_READ);
    *answers = merge_count(&bed, PACKET_READ_RSP);
    bed_close(&bed);
    return last_ps;
}

/* Proves that three loads of a line are one at its GPU, and what that saves: the other two answers, of 9 flits each,
 * would follow the first one on the line's link. Each of the three gets the bytes. */
static void test_together(void **state)
{
    (void)state;
    guint64 loads, answers;
    const char *const apart[] = {"gpu.hash_by_gpu=false", NULL}, *const merged[] = {MERGE_ON, NULL};
    const SimTime apart_ps = merge_together(apart, &loads, &answers);
    assert_int_equal(loads, 3);
    assert_int_equal(answers, 3);
    const SimTime merged_ps = merge_together(merged, &loads, &answers);
    assert_int_equal(loads, 1);
    assert_int_equal(answers, 1);
    assert_int_equal(apart_ps - merged_ps, 2 * 9000);
}

/* Proves that a load after the answer is served from the entry, by the trip that this leaves: 50 ns to the port, 1 ns
 * of flit, 100 ns of flight, 100 ns of switch, then 9 ns, 100 ns and 50 ns back; and that the GPUs' last load frees the
 * entry: the first GPU's second load of the line goes to its GPU. */
static void test_later(void **state)
{
    (void)state;
    Bed bed;
    Asking asking[4];
    const char *const sets[] = {MERGE_ON, NULL};
    bed_open(&bed, "teach-4gpu", sets, NULL);
    MemRegion *region = bed_region(&bed, 0, 4096);
    for (guint16 i = 0; i < 4; i++)
        asking_load(&asking[i], &bed, (guint16)(i % 3 + 1), region, 0, 1000000 * (i + 1));
    merge_run(&bed);
    const SimTime whole_ps = asking[0].answer.at_ps - 1000000;
    assert_int_equal(asking[1].answer.at_ps - 2000000, 410000);
    assert_int_equal(asking[2].answer.at_ps - 3000000, 410000);
    assert_int_equal(asking[3].answer.at_ps - 4000000, whole_ps);
    assert_int_equal(whole_ps, 410000 + 1000 + 100000 + 100000 + 9000 + 100000 + 100000); /* to the GPU, its L2, back */
    assert_int_equal(merge_count(&bed, PACKET_READ), 2);
    assert_int_equal(merge_stat(&bed, "merged"), 2);
    bed_close(&bed);
}

/* Proves that an entry which nobody used for the time-out is free, and that its line's next load goes to the GPU. */
static void test_timeout(void **state)
{
    (void)state;
    Bed bed;
    Asking asking[2];
    const char *const sets[] = {MERGE_ON, "switch.merge_timeout_ps=500000", NULL};
    for (guint late = 0; late < 2; late++) {
        bed_open(&bed, "teach-4gpu", sets, NULL);
        MemRegion *region = bed_region(&bed, 0, 4096);
        asking_load(&asking[0], &bed, 1, region, 0, 0);
        /* the answer is at the switch 661 ns after the load began, the second load 251 ns after it did */
        asking_load(&asking[1], &bed, 2, region, 0, 661000 + 500000 - 251000 - 1 + late);
        merge_run(&bed);
        assert_int_equal(merge_count(&bed, PACKET_READ), 1 + late);
        assert_int_equal(merge_stat(&bed, "evicted"), late);
        bed_close(&bed);
    }
}

/* Proves that a table of one entry keeps the line that was used last, but one whose answer is still to come: a load
 * that finds no entry then goes on as ever. */
static void test_full(void **state)
{
    (void)state;
    Bed bed;
    Asking asking[5];
    const char *const sets[] = {"gpu.hash_by_gpu=false", "switch.merge_entries=1", "system.links_per_switch=1", NULL};
    bed_open(&bed, "teach-4gpu", sets, NULL);
    MemRegion *region = bed_region(&bed, 0, 4096);
    asking_load(&asking[0], &bed, 1, region, 0, 0);
    asking_load(&asking[1], &bed, 2, region, 128, 1000);    /* finds no entry */
    asking_load(&asking[2], &bed, 1, region, 256, 2000000); /* takes the first one's */
    asking_load(&asking[3], &bed, 2, region, 0, 4000000);   /* which is not there any more; takes it again */
    asking_load(&asking[4], &bed, 3, region, 0, 6000000);   /* merged */
    merge_run(&bed);
    assert_int_equal(merge_count(&bed, PACKET_READ), 4);
    assert_int_equal(merge_stat(&bed, "full"), 1);
    assert_int_equal(merge_stat(&bed, "evicted"), 2);
    assert_int_equal(merge_stat(&bed, "merged"), 1);
    assert_int_equal(merge_stat(&bed, "peak"), 1);
    bed_close(&bed);
}

/* Proves that a store to a line ends its entry: the next load of it goes to the GPU, and has the new bytes; and that a
 * part of a line, and memory that programs poll, are never merged. */
static void test_what_changes(void **state)
{
    (void)state;
    Bed bed;
    Asking asking[5];
    guint8 data[128];
    memset(data, 9, sizeof data);
    const char *const sets[] = {MERGE_ON, NULL};
    bed_open(&bed, "teach-4gpu", sets, NULL);
    MemRegion *region = bed_region(&bed, 0, 4096);
    asking_load(&asking[0], &bed, 1, region, 0, 0);
    asking_load(&asking[1], &bed, 2, region, 0, 2000000);
    asking[1].request.kind = PACKET_WRITE;
    asking[1].request.data = data;
    asking_load(&asking[2], &bed, 3, region, 0, 4000000);
    asking_load(&asking[3], &bed, 1, region, 256, 6000000);
    asking_load(&asking[4], &bed, 2, region, 256, 8000000);
    asking[3].request.bytes = asking[4].request.bytes = 64;
    merge_run(&bed);
    assert_int_equal(asking[2].answer.bytes[0], 9);
    assert_int_equal(merge_count(&bed, PACKET_READ), 4);
    assert_int_equal(merge_stat(&bed, "merged"), 0);
    bed_close(&bed);
}

/* Proves that merging is refused where a load may be lost, which others would wait for. */
static void test_refused(void **state)
{
    (void)state;
    bed_refused("teach-4gpu", (const char *const[]){MERGE_ON, "fault.link_down=gpu0.link0@1us", NULL},
                "[switch] merge_entries: loads are merged where none is lost");
    bed_refused("teach-4gpu", (const char *const[]){MERGE_ON, "fault.gpu_silent=gpu1", NULL}, "[switch] merge_entries");
}

/* Proves how many loads an entry waits for: two GPUs load a line at once, a third 3 us later. Where an entry is free
 * after two, or after one, the third load goes to the line's GPU; where it waits for three, or for all, it does not. */
static void test_readers(void **state)
{
    (void)state;
    static const guint64 loads[] = {1, 2, 2, 1}; /* by merge_readers: 0 is all other GPUs, three */
    for (guint readers = 0; readers < 4; readers++) {
        g_autofree char *set = g_strdup_printf("switch.merge_readers=%u", readers);
        const char *sets[] = {MERGE_ON, set, NULL};
        Bed bed;
        Asking asking[3];
        bed_open(&bed, "teach-4gpu", sets, NULL);
        MemRegion *region = bed_region(&bed, 0, 4096);
        for (guint16 g = 0; g < 3; g++)
            asking_load(&asking[g], &bed, (guint16)(g + 1), region, 0, g < 2 ? 1000 : 3000000);
        merge_run(&bed);
        assert_int_equal(merge_count(&bed, PACKET_READ), loads[readers]);
        bed_close(&bed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_together), cmocka_unit_test(test_later),        cmocka_unit_test(test_timeout),
        cmocka_unit_test(test_full),     cmocka_unit_test(test_what_changes), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_readers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
