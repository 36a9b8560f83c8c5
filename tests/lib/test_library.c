/* libfanout as a program meets it: by its public header and shared library alone. Times are those of teach-4gpu: a flit
 * 1 ns, a link's flight and a switch 100 ns each, the SM 50 ns from its port, the L2 100 ns. */
#include "tests/test.h"

#include <fanout/sim.h>

typedef struct {
    guint calls;
    FoSimDone last;
} Heard;

static void on_end(FoSim *sim, const FoSimDone *done, void *user)
{
    Heard *heard = user;
    heard->calls++;
    heard->last = *done;
    assert_int_equal(done->end_ps, fo_sim_now_ps(sim));
}

static FoSim *open_teach(int keep_bytes)
{
    const FoSimSpec spec = {.version = FO_SIM_VERSION, .system = "teach-4gpu", .keep_bytes = keep_bytes};
    FoSim *sim;
    if (fo_sim_open(&sim, &spec))
        fail_msg("%s", fo_sim_error_text(sim));
    return sim;
}

static guint64 time_of(FoSim *sim, const FoSimAccess *access, FoSimDone *done)
{
    Heard heard = {0};
    const guint64 at_ps = fo_sim_now_ps(sim) + 10000000; /* acknowledgements of what was before are through */
    if (fo_sim_place(sim, at_ps, access, on_end, &heard) || fo_sim_run(sim, FO_SIM_FOREVER))
        fail_msg("%s", fo_sim_error_text(sim));
    assert_int_equal(heard.calls, 1);
    assert_int_equal(heard.last.error, FO_SIM_OK);
    assert_int_equal(heard.last.begin_ps, at_ps);
    if (done)
        *done = heard.last;
    return heard.last.end_ps - heard.last.begin_ps;
}

/* Proves that each kind of operation takes the sum of its stages. The way of f flits one way, from port to port, is
 * f + 100 (flight) + 100 (switch) + f + 100 (flight) ns, and the SM stands 50 ns before and behind its port. */
static void test_times(void **state)
{
    (void)state;
    FoSim *sim = open_teach(0);
    const uint32_t gpus[] = {0, 1, 2, 3};
    FoSimMemory far, team;
    assert_int_equal(fo_sim_memory(sim, 1, 4096, &far), FO_SIM_OK);
    assert_int_equal(fo_sim_team(sim, gpus, 4, 4096, &team, NULL), FO_SIM_OK);
    /* A request of 1 flit, 100 ns of L2, an answer of 9 flits. */
    FoSimAccess access = {.operation = FO_SIM_LOAD, .memory = far, .bytes = 128};
    assert_int_equal(time_of(sim, &access, NULL), 1000 * (50 + 302 + 100 + 318 + 50));
    /* 9 flits; the L2 waits 50 ns for others to acknowledge with it; an acknowledgement of 1 flit. */
    access.operation = FO_SIM_STORE;
    assert_int_equal(time_of(sim, &access, NULL), 1000 * (50 + 318 + 100 + 50 + 302 + 50));
    /* The data of 16 B, a header and the operation's: 3 flits; the old value's answer: 2 flits. */
    access.operation = FO_SIM_ATOMIC;
    access.type = FO_SIM_U32;
    access.bytes = 4;
    assert_int_equal(time_of(sim, &access, NULL), 1000 * (50 + 306 + 100 + 304 + 50 + 4));
    /* A load, then a store of what it brought. */
    FoSimMemory there;
    assert_int_equal(fo_sim_memory(sim, 2, 4096, &there), FO_SIM_OK);
    access = (FoSimAccess){.operation = FO_SIM_COPY, .memory = far, .to_memory = there, .bytes = 128};
    assert_int_equal(time_of(sim, &access, NULL), 1000 * (820 + 870));
    /* As a store, but that replicas are acknowledged one by one: no 50 ns, and 5 ns in turn. */
    access = (FoSimAccess){.operation = FO_SIM_MULTICAST_STORE, .memory = team, .bytes = 128};
    assert_int_equal(time_of(sim, &access, NULL), 1000 * (50 + 318 + 100 + 302 + 50 + 5));
    /* The report says all of it, of time each picosecond. */
    g_autofree char *says = g_strdup_printf("\"seed\": 1,\n \"time_us\": %" G_GUINT64_FORMAT
                                            ".%06u,\n \"placed\": 5,\n \"done\": 5,\n \"failed\": 0,\n "
                                            "\"faults\": 0,",
                                            fo_sim_now_ps(sim) / 1000000, (guint)(fo_sim_now_ps(sim) % 1000000));
    assert_non_null(strstr(fo_sim_report(sim), says));
    assert_int_equal(fo_sim_close(sim), FO_SIM_OK);
}

/* Proves that bytes move: a multicast store lands in every copy, the switch sums, an atomic gives the old value. */
static void test_values(void **state)
{
    (void)state;
    FoSim *sim = open_teach(1);
    const uint32_t gpus[] = {3, 1, 2};
    FoSimMemory team, member[3];
    assert_int_equal(fo_sim_team(sim, gpus, 3, 65536, &team, member), FO_SIM_OK);
    for (int i = 0; i < 3; i++) {
        const float f[2] = {(float)(i + 1), 10.0f * (float)(i + 1)};
        assert_int_equal(fo_sim_write(sim, member[i], 512, f, sizeof f), FO_SIM_OK);
    }
    FoSimDone done;
    FoSimAccess access = {.operation = FO_SIM_LOAD_REDUCE, .gpu = 1, .memory = team, .offset = 512, .bytes = 8};
    time_of(sim, &access, &done);
    float sum[2];
    memcpy(sum, done.value, sizeof sum);
    assert_true(sum[0] == 6 && sum[1] == 60);
    access = (FoSimAccess){.operation = FO_SIM_MULTICAST_STORE, .gpu = 3, .memory = team, .bytes = 32768};
    memcpy(access.value, (const guint32[]){1, 2, 3, 4}, 16);
    time_of(sim, &access, NULL);
    for (int i = 0; i < 3; i++) {
        guint32 word[4];
        assert_int_equal(fo_sim_read(sim, member[i], 32768 - 16, word, sizeof word), FO_SIM_OK);
        assert_memory_equal(word, access.value, 16);
    }
    access = (FoSimAccess){
        .operation = FO_SIM_ATOMIC, .gpu = 2, .memory = member[0], .offset = 8, .bytes = 4, .type = FO_SIM_U32};
    access.value[0] = 39;
    time_of(sim, &access, &done);
    assert_int_equal(done.value[0], 3);
    guint32 word;
    assert_int_equal(fo_sim_read(sim, member[0], 8, &word, 4), FO_SIM_OK);
    assert_int_equal(word, 42);
    assert_int_equal(fo_sim_close(sim), FO_SIM_OK);
}

/* Proves that a receive ends when its message is there and not before it was posted, in either order, by tag. */
static void test_messages(void **state)
{
    (void)state;
    FoSim *sim = open_teach(0);
    const FoSimMessage first = {0, 1, 4096, 1}, second = {0, 1, 4096, 2};
    Heard sent[2] = {{0}}, early = {0}, late = {0};
    assert_int_equal(fo_sim_recv(sim, 0, &second, on_end, &early), FO_SIM_OK);
    assert_int_equal(fo_sim_send(sim, 1000000, &first, on_end, &sent[0]), FO_SIM_OK);
    assert_int_equal(fo_sim_send(sim, 20000000, &second, on_end, &sent[1]), FO_SIM_OK);
    assert_int_equal(fo_sim_recv(sim, 10000000, &first, on_end, &late), FO_SIM_OK);
    assert_int_equal(fo_sim_run(sim, FO_SIM_FOREVER), FO_SIM_OK);
    assert_int_equal(late.last.end_ps, 10000000);
    assert_int_equal(early.last.end_ps, sent[1].last.end_ps);
    assert_int_equal(sent[0].last.end_ps - sent[0].last.begin_ps, sent[1].last.end_ps - sent[1].last.begin_ps);
    /* Longer than its receive: both hear of it. Nothing sent: the run says who waits. */
    const FoSimMessage large = {2, 3, 64, 0}, small = {2, 3, 60, 0};
    fo_sim_send(sim, fo_sim_now_ps(sim), &large, on_end, &sent[0]);
    fo_sim_recv(sim, fo_sim_now_ps(sim), &small, on_end, &late);
    assert_int_equal(fo_sim_run(sim, FO_SIM_FOREVER), FO_SIM_OK);
    assert_int_equal(sent[0].last.error, FO_SIM_ERROR_ARGUMENT);
    assert_int_equal(late.last.error, FO_SIM_ERROR_ARGUMENT);
    fo_sim_recv(sim, fo_sim_now_ps(sim), &small, on_end, &late);
    assert_int_equal(fo_sim_run(sim, FO_SIM_FOREVER), FO_SIM_ERROR_STUCK);
    assert_non_null(strstr(fo_sim_error_text(sim), "a receive of 60 bytes, GPU 2 to 3, tag 0, waits for its send"));
    assert_int_equal(fo_sim_close(sim), FO_SIM_OK);
}

/* Proves that large messages go at the rate of the links: of 16 MiB each link of 16 GB/s carries half, in packets of
 * 9 flits for 128 B: 590 us; what is before and behind them, and the hash's unevenness, are less than 2 %. */
static void test_bandwidth(void **state)
{
    (void)state;
    FoSim *sim = open_teach(0);
    const FoSimMessage message = {0, 1, 16u << 20, 0};
    Heard heard = {0};
    assert_int_equal(fo_sim_send(sim, 0, &message, on_end, &heard), FO_SIM_OK);
    fo_sim_recv(sim, 0, &message, NULL, NULL);
    assert_int_equal(fo_sim_run(sim, FO_SIM_FOREVER), FO_SIM_OK);
    const double us = (double)heard.last.end_ps / 1e6, right = (16u << 20) / 128 / 2 * 9 / 1e3;
    assert_true(us > right && us < 1.02 * right);
    FoSimStatistics now;
    assert_int_equal(fo_sim_statistics(sim, &now, sizeof now), FO_SIM_OK);
    assert_int_equal(now.done, 2);
    assert_true(now.up_max_pct > 97 && now.up_max_pct <= 100);
    /* One GPU of four sends, and another receives: all links together carry a quarter of that. */
    assert_true(now.down_max_pct > 97 && now.down_max_pct <= 100);
    assert_true(now.up_mean_pct > 24 &&
                now.up_mean_pct < 27); /* acknowledgements, too: one of a flit for four of nine */
    assert_true(now.down_mean_pct > 24 && now.down_mean_pct < 27);
    assert_int_equal(fo_sim_close(sim), FO_SIM_OK);
}

/* Proves that a collective is the command's, verified; that bad names are refused with what would be right. */
static void test_collectives(void **state)
{
    (void)state;
    FoSim *sim = open_teach(1);
    FoSimCollective all = {.op = "all_reduce", .algo = "nvls", .bytes = 65536, .check = 1};
    Heard heard = {0};
    assert_int_equal(fo_sim_coll(sim, 5000000, &all, on_end, &heard), FO_SIM_OK);
    assert_int_equal(fo_sim_run(sim, FO_SIM_FOREVER), FO_SIM_OK);
    assert_int_equal(heard.last.verified, 1);
    assert_string_equal(heard.last.algo, "nvls");
    all.algo = "nvlz";
    assert_int_equal(fo_sim_coll(sim, 5000000, &all, on_end, &heard), FO_SIM_ERROR_TIME);
    assert_int_equal(fo_sim_coll(sim, FO_SIM_FOREVER, &all, on_end, &heard), FO_SIM_ERROR_TIME);
    assert_int_equal(fo_sim_coll(sim, fo_sim_now_ps(sim), &all, on_end, &heard), FO_SIM_ERROR_ARGUMENT);
    assert_non_null(strstr(fo_sim_error_text(sim), "algo: 'nvlz' is not known; one of auto, best"));
    all.algo = NULL;
    all.bytes = G_MAXUINT64;
    assert_int_equal(fo_sim_coll(sim, fo_sim_now_ps(sim), &all, on_end, &heard), FO_SIM_ERROR_ARGUMENT);
    assert_int_equal(fo_sim_close(sim), FO_SIM_OK);
}

/* Proves that simulators stand beside each other: by turns, each on its own clock, with the times that it has alone. */
static void test_several(void **state)
{
    (void)state;
    FoSim *sim[3];
    Heard heard[3] = {{0}};
    const FoSimMessage message = {0, 1, 65536, 0};
    for (int i = 0; i < 3; i++) {
        sim[i] = open_teach(i == 1);
        fo_sim_send(sim[i], 0, &message, on_end, &heard[i]);
    }
    for (guint64 until_ps = 500000; until_ps < 8000000; until_ps += 500000)
        for (int i = 0; i < 3; i++)
            assert_int_equal(fo_sim_run(sim[i], until_ps + (guint)i), FO_SIM_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(heard[i].calls, 1);
        assert_int_equal(heard[i].last.end_ps, heard[0].last.end_ps);
        assert_int_equal(fo_sim_now_ps(sim[i]), heard[i].last.end_ps); /* nothing was due any more */
        assert_int_equal(fo_sim_close(sim[i]), FO_SIM_OK);
    }
}

/* Proves that parameters have value, unit and source, that what is set is seen, and that the report is JSON. */
static void test_parameters(void **state)
{
    (void)state;
    const char *const sets[] = {"link.flight_ps=70ns", NULL};
    const FoSimSpec spec = {.version = FO_SIM_VERSION, .system = "teach-4gpu", .sets = sets};
    FoSim *sim;
    const FoSimParameter *parameter;
    size_t n, found = 0;
    assert_int_equal(fo_sim_open(&sim, &spec), FO_SIM_OK);
    assert_int_equal(fo_sim_parameters(sim, &parameter, &n), FO_SIM_OK);
    for (size_t i = 0; i < n; i++)
        if (strcmp(parameter[i].section, "link") == 0 && strcmp(parameter[i].key, "flight_ps") == 0) {
            assert_string_equal(parameter[i].value, "70000");
            assert_string_equal(parameter[i].unit, "ps");
            assert_string_equal(parameter[i].source, "--set");
            found++;
        }
    assert_int_equal(found, 1);
    assert_non_null(strstr(fo_sim_report(sim), "\"report\": \"library\""));
    assert_string_equal(fo_sim_system(0), "dgx-a100");
    assert_null(fo_sim_system(1000));
    assert_int_equal(fo_sim_close(sim), FO_SIM_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times),      cmocka_unit_test(test_values),  cmocka_unit_test(test_messages),
        cmocka_unit_test(test_bandwidth),  cmocka_unit_test(test_several), cmocka_unit_test(test_collectives),
        cmocka_unit_test(test_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
