/* What each row gpu.fabric_* stands for: operations that GPU 0 of teach-4gpu, whose numbers are round, posts to its
 * fabric engine end exactly when it is worked out by hand. */
#include "tests/model/model_test.h"

#include "model/gpu/fabric_engine.h"

typedef struct {
    Bed bed;
    MemRegion *far;
    SimTime end_ps[3];
} Post;

typedef struct {
    Post *post;
    guint index;
} Ended;

static void note_end(void *user, TxnFault fault, SimTime now_ps)
{
    Ended *ended = user;
    assert_int_equal(fault, TXN_OK);
    ended->post->end_ps[ended->index] = now_ps;
}

static const SimEngine engines[] = {SIM_ENGINE_REFERENCE, SIM_ENGINE_FAST};

/* n operations of so many bytes each, posted at once. set: changes, with spaces between, or NULL. */
static void run(Post *post, PacketKind kind, guint32 bytes, gboolean counted, guint n, const char *set,
                SimEngine engine)
{
    g_auto(GStrv) sets = g_strsplit(set ? set : "", " ", -1);
    Ended ended[3];
    memset(post, 0, sizeof *post);
    bed_open_with(&post->bed, "teach-4gpu", (const char *const *)sets, &(SimSpec){.seed = 1, .engine = engine}, FALSE);
    post->far = bed_region(&post->bed, 1, 65536);
    memory_set_cached(post->bed.fabric->memory, post->far, TRUE);
    for (guint i = 0; i < n; i++) {
        ended[i] = (Ended){post, i};
        FabricWork work = {.kind = kind,
                           .counted = counted,
                           .counter = {.region = post->far, .offset = 32768, .bytes = 8},
                           .byte_mask = 0xffff,
                           .bytes = bytes,
                           .n_span = 1,
                           .span = g_new0(FabricSpan, 1),
                           .done = note_end,
                           .user = &ended[i]};
        work.span[0] = (FabricSpan){.region = post->far, .bytes = bytes};
        fabric_engine_post(&post->bed.fabric->gpu[0], &work);
    }
    assert_int_equal(sim_run(post->bed.sim, SIMTIME_NEVER), SIM_IDLE);
}

static void ends(const Post *post, guint index, SimTime right_ps, const char *set)
{
    if (post->end_ps[index] != right_ps)
        fail_msg("%s: operation %u ends at %" G_GUINT64_FORMAT " ps, should be %" G_GUINT64_FORMAT,
                 set ? set : "as it is", index, post->end_ps[index], right_ps);
}

/* 50 ns to the engine, 50 to the first packet, what the packets take (tests/model/test_request_times.c: 820 for a load
 * of 128 B, 870 for a store), 50 for the report. */
static const struct {
    PacketKind kind;
    guint32 bytes;
    gboolean counted;
    const char *set;
    SimTime right_ps;
} rows[] = {
    {PACKET_READ, 128, FALSE, NULL, 970000},
    {PACKET_WRITE, 128, FALSE, NULL, 1020000},
    {PACKET_READ, 128, FALSE, "gpu.fabric_post_ps=57000", 977000},
    {PACKET_READ, 128, FALSE, "gpu.fabric_start_ps=61000", 981000},
    {PACKET_READ, 128, FALSE, "gpu.fabric_report_ps=63000", 983000},
    {PACKET_READ, 128, FALSE, "gpu.fabric_issue_ps=90000", 970000},  /* there is no second packet, */
    {PACKET_READ, 128, FALSE, "gpu.fabric_retry_ps=1", 970000},      /* no refusal, */
    {PACKET_READ, 128, FALSE, "gpu.fabric_counter_flits=3", 970000}, /* and no counter */
    /* the second answer, of 9 flits on each wire, comes behind the first, or as much later as its request left */
    {PACKET_READ, 256, FALSE, NULL, 979000},
    {PACKET_READ, 256, FALSE, "gpu.fabric_issue_ps=20000", 990000},
    {PACKET_READ, 256, FALSE, "gpu.fabric_in_flight=1", 1790000}, /* 820 more: not before the first answer */
    /* the counter's place is a flit on both wires there */
    {PACKET_WRITE, 128, TRUE, NULL, 1022000},
    {PACKET_WRITE, 128, TRUE, "gpu.fabric_counter_flits=3", 1026000},
    {PACKET_WRITE, 128, TRUE, "gpu.fabric_counter_flits=0", 1020000},
};

/* Proves when one operation ends, and what each row adds. */
static void test_times(void **state)
{
    (void)state;
    for (guint i = 0; i < 2 * G_N_ELEMENTS(rows); i++) {
        Post post;
        run(&post, rows[i / 2].kind, rows[i / 2].bytes, rows[i / 2].counted, 1, rows[i / 2].set, engines[i % 2]);
        ends(&post, 0, rows[i / 2].right_ps, rows[i / 2].set);
        bed_close(&post.bed);
    }
}

/* Proves what the queue's rows do, with one place and one operation at work: the second one, which is there at 50 ns,
 * begins when the first one has ended (970) and takes 920 (start, load, report); the third finds the queue full, at 50
 * ns and every 100 ns after that until 950, has a place at 1050, and begins when the second one has ended. */
static void test_queue(void **state)
{
    (void)state;
    static const struct {
        const char *set;
        SimTime right_ps[3];
        guint64 refused, retries;
    } queues[] = {
        {"gpu.fabric_queue=1 gpu.fabric_operations=1", {970000, 1890000, 2810000}, 1, 10},
        /* the next try is at 2 us, when nothing is at work: 2000 + 920 */
        {"gpu.fabric_queue=1 gpu.fabric_operations=1 gpu.fabric_retry_ps=1950000", {970000, 1890000, 2920000}, 1, 1},
        {"gpu.fabric_queue=2 gpu.fabric_operations=1", {970000, 1890000, 2810000}, 0, 0},
        /* two at work: each issues its packet in turn, a nanosecond apart, and answers are 9 ns apart; the third,
         * as the first has ended */
        {"gpu.fabric_queue=1 gpu.fabric_operations=2", {970000, 979000, 1890000}, 0, 0},
    };
    for (guint i = 0; i < 2 * G_N_ELEMENTS(queues); i++) {
        Post post;
        run(&post, PACKET_READ, 128, FALSE, 3, queues[i / 2].set, engines[i % 2]);
        for (guint k = 0; k < 3; k++)
            ends(&post, k, queues[i / 2].right_ps[k], queues[i / 2].set);
        assert_int_equal(post.bed.fabric->gpu[0].fabric_refused, queues[i / 2].refused);
        assert_int_equal(post.bed.fabric->gpu[0].fabric_retries, queues[i / 2].retries);
        assert_int_equal(post.bed.fabric->gpu[0].fabric_operations, 3);
        assert_int_equal(post.bed.fabric->gpu[0].fabric_packets, 3);
        assert_int_equal(post.bed.fabric->gpu[0].fabric_bytes, 384);
        bed_close(&post.bed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_times), cmocka_unit_test(test_queue)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
