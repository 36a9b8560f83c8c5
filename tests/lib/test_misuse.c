/* What a program can do wrong with libfanout: each is a named error, and none ends the program. */
#include "tests/test.h"

#include <fanout/sim.h>

static FoSim *open_teach(void)
{
    const FoSimSpec spec = {.version = FO_SIM_VERSION, .system = "teach-4gpu"};
    FoSim *sim;
    assert_int_equal(fo_sim_open(&sim, &spec), FO_SIM_OK);
    return sim;
}

/* Proves that what cannot be opened says why, and is closed like any other. */
static void test_open(void **state)
{
    (void)state;
    static const char *const no_key[] = {"link.flight=1", NULL}, *const no_value[] = {"link.flight_ps=fast", NULL};
    const struct {
        FoSimSpec spec;
        FoSimError error;
        const char *text;
    } cases[] = {
        {{.version = 0x000200}, FO_SIM_ERROR_VERSION, "compiled for libfanout 0.2, and this is 0.3"},
        {{.version = FO_SIM_VERSION, .system = "dgx-h10"}, FO_SIM_ERROR_SYSTEM, "no system 'dgx-h10'"},
        {{.version = FO_SIM_VERSION, .system = "./no.ini"}, FO_SIM_ERROR_SYSTEM, "./no.ini"},
        {{.version = FO_SIM_VERSION, .config = "no.ini"}, FO_SIM_ERROR_SYSTEM, "no.ini"},
        {{.version = FO_SIM_VERSION, .sets = no_key}, FO_SIM_ERROR_SYSTEM, "flight_ps"},
        {{.version = FO_SIM_VERSION, .sets = no_value}, FO_SIM_ERROR_SYSTEM, "fast"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        FoSim *sim;
        assert_int_equal(fo_sim_open(&sim, &cases[i].spec), cases[i].error);
        if (!strstr(fo_sim_error_text(sim), cases[i].text))
            fail_msg("no '%s' in: %s", cases[i].text, fo_sim_error_text(sim));
        assert_int_equal(fo_sim_run(sim, 1), cases[i].error);
        assert_int_equal(fo_sim_gpus(sim), 0);
        assert_null(fo_sim_report(sim));
        assert_int_equal(fo_sim_close(sim), FO_SIM_OK);
    }
    assert_int_equal(fo_sim_open(NULL, &cases[0].spec), FO_SIM_ERROR_ARGUMENT);
    assert_int_equal(fo_sim_run(NULL, 1), FO_SIM_ERROR_ARGUMENT);
    assert_int_equal(fo_sim_close(NULL), FO_SIM_OK);
    assert_string_equal(fo_sim_error_name(FO_SIM_ERROR_STUCK), "FO_SIM_ERROR_STUCK");
    assert_string_equal(fo_sim_error_name((FoSimError)99), "no error of libfanout");
}

static void on_turn(FoSim *sim, void *user)
{
    FoSim **other = user;
    assert_int_equal(fo_sim_run(sim, FO_SIM_FOREVER), FO_SIM_ERROR_BUSY);
    assert_int_equal(fo_sim_close(sim), FO_SIM_ERROR_BUSY);
    assert_int_equal(fo_sim_run(*other, FO_SIM_FOREVER), FO_SIM_ERROR_BUSY);
    assert_non_null(strstr(fo_sim_error_text(*other), "by turns"));
    assert_int_equal(fo_sim_close(*other), FO_SIM_ERROR_BUSY);
    assert_int_equal(fo_sim_schedule(sim, fo_sim_now_ps(sim) - 1, on_turn, user), FO_SIM_ERROR_TIME);
    assert_int_equal(fo_sim_stop(sim), FO_SIM_OK);
}

/* Proves that a callback can neither run nor close a simulator, its own or another; and that it can stop its own. */
static void test_callbacks(void **state)
{
    (void)state;
    FoSim *sim = open_teach(), *other = open_teach();
    assert_int_equal(fo_sim_schedule(sim, 1000, on_turn, &other), FO_SIM_OK);
    assert_int_equal(fo_sim_schedule(sim, 2000, NULL, NULL), FO_SIM_ERROR_ARGUMENT);
    assert_int_equal(fo_sim_run(sim, 5000), FO_SIM_OK);
    assert_int_equal(fo_sim_now_ps(sim), 1000);
    assert_int_equal(fo_sim_run(sim, 10), FO_SIM_ERROR_TIME);
    assert_int_equal(fo_sim_close(sim), FO_SIM_OK);
    assert_int_equal(fo_sim_run(other, 10), FO_SIM_OK);
    assert_int_equal(fo_sim_close(other), FO_SIM_OK);
}

/* What `throw std::runtime_error(text)` becomes, which C has no words for. */
G_GNUC_NORETURN void throw_runtime_error(const char *text) __asm__("_ZSt21__throw_runtime_errorPKc");

static void on_throw(FoSim *sim, void *user)
{
    (void)sim;
    throw_runtime_error(user);
}

static void on_done_throw(FoSim *sim, const FoSimDone *done, void *user)
{
    assert_int_equal(done->error, FO_SIM_OK);
    on_throw(sim, user);
}

static void on_event(FoSim *sim, void *user)
{
    (void)sim;
    ++*(guint *)user;
}

/* Proves that an exception which leaves a callback is an error of its run alone, at its time: what stands behind it
 * follows in the next run, and the simulator closes. */
static void test_exceptions(void **state)
{
    (void)state;
    for (int reference = 0; reference < 2; reference++) {
        const FoSimSpec spec = {.version = FO_SIM_VERSION, .system = "teach-4gpu", .reference = reference};
        const FoSimMessage message = {0, 1, 16, 0};
        guint calls = 0;
        FoSim *sim;
        assert_int_equal(fo_sim_open(&sim, &spec), FO_SIM_OK);
        assert_int_equal(fo_sim_schedule(sim, 1000, on_throw, "no such rank"), FO_SIM_OK);
        assert_int_equal(fo_sim_schedule(sim, 2000, on_event, &calls), FO_SIM_OK);
        assert_int_equal(fo_sim_send(sim, 3000, &message, on_done_throw, "no such tag"), FO_SIM_OK);
        assert_int_equal(fo_sim_run(sim, FO_SIM_FOREVER), FO_SIM_ERROR_CALLBACK);
        assert_non_null(strstr(fo_sim_error_text(sim), "a callback threw an exception: no such rank"));
        assert_int_equal(fo_sim_now_ps(sim), 1000);
        assert_int_equal(calls, 0);
        assert_int_equal(fo_sim_run(sim, FO_SIM_FOREVER), FO_SIM_ERROR_CALLBACK);
        assert_non_null(strstr(fo_sim_error_text(sim), "no such tag"));
        assert_int_equal(calls, 1);
        assert_int_equal(fo_sim_run(sim, FO_SIM_FOREVER), FO_SIM_OK);
        assert_int_equal(fo_sim_close(sim), FO_SIM_OK);
    }
    assert_string_equal(fo_sim_error_name(FO_SIM_ERROR_CALLBACK), "FO_SIM_ERROR_CALLBACK");
}

#define REFUSES(code, sim, text, call)                                                                                 \
    do {                                                                                                               \
        assert_int_equal((call), code);                                                                                \
        if (!strstr(fo_sim_error_text(sim), text))                                                                     \
            fail_msg("no '%s' in: %s", text, fo_sim_error_text(sim));                                                  \
    } while (0)

/* Proves that sizes which do not fit, alone or behind an offset, are named, and change nothing: 64 GiB is the most that
 * memory, a message or a collective has. */
static void test_sizes(void **state)
{
    (void)state;
    const guint64 most = 1ull << 36;
    const guint32 gpus[] = {0, 1, 2, 3};
    FoSim *sim = open_teach();
    FoSimMemory memory = 0, none = 7;
    guint8 data[16] = {0};
    assert_int_equal(fo_sim_memory(sim, 1, 4096, &memory), FO_SIM_OK);
    for (int i = 0; i < 3; i++) {
        const guint64 bytes = (const guint64[]){0, most + 1, G_MAXUINT64}[i];
        const FoSimMessage message = {0, 1, bytes, 0};
        const FoSimCollective coll = {.op = "all_reduce", .bytes = bytes};
        REFUSES(FO_SIM_ERROR_ARGUMENT, sim, "bytes", fo_sim_memory(sim, 0, bytes, &none));
        REFUSES(FO_SIM_ERROR_ARGUMENT, sim, "bytes", fo_sim_team(sim, gpus, 4, bytes, &none, NULL));
        REFUSES(FO_SIM_ERROR_ARGUMENT, sim, "bytes", fo_sim_send(sim, 0, &message, NULL, NULL));
        REFUSES(FO_SIM_ERROR_ARGUMENT, sim, "bytes", fo_sim_recv(sim, 0, &message, NULL, NULL));
        REFUSES(FO_SIM_ERROR_ARGUMENT, sim, "bytes", fo_sim_coll(sim, 0, &coll, NULL, NULL));
    }
    assert_int_equal(none, 0);
    const struct {
        guint64 offset, bytes;
    } behind[] = {{4096, 4}, {4080, 32}, {G_MAXUINT64 - 15, 32}, {16, G_MAXUINT64 - 15}, {0, G_MAXUINT64 - 3}};
    for (size_t i = 0; i < G_N_ELEMENTS(behind); i++) {
        const FoSimAccess access = {FO_SIM_LOAD, .memory = memory, .offset = behind[i].offset,
                                    .bytes = behind[i].bytes};
        REFUSES(FO_SIM_ERROR_ARGUMENT, sim, "4096", fo_sim_place(sim, 0, &access, NULL, NULL));
        REFUSES(FO_SIM_ERROR_ARGUMENT, sim, "4096", fo_sim_write(sim, memory, behind[i].offset, data, behind[i].bytes));
        REFUSES(FO_SIM_ERROR_ARGUMENT, sim, "4096", fo_sim_read(sim, memory, behind[i].offset, data, behind[i].bytes));
    }
    const FoSimCollective many = {.op = "all_reduce", .bytes = 1024, .gpus = gpus, .n = G_MAXUINT32};
    REFUSES(FO_SIM_ERROR_ARGUMENT, sim, "4294967295", fo_sim_coll(sim, 0, &many, NULL, NULL));
    REFUSES(FO_SIM_ERROR_ARGUMENT, sim, "4294967295", fo_sim_team(sim, gpus, G_MAXUINT32, 64, &none, NULL));
    REFUSES(FO_SIM_ERROR_TIME, sim, "18446744073709551615", fo_sim_schedule(sim, G_MAXUINT64, on_event, NULL));
    FoSimStatistics now;
    assert_int_equal(fo_sim_statistics(sim, &now, sizeof now), FO_SIM_OK);
    assert_int_equal(now.placed, 0);
    assert_int_equal(fo_sim_close(sim), FO_SIM_OK);
}

static void on_full(FoSim *sim, const FoSimDone *done, void *user)
{
    (void)sim;
    assert_int_equal(done->error, FO_SIM_ERROR_FULL);
    assert_non_null(strstr(done->text, "549755813888 bytes of scratch"));
    ++*(guint *)user;
}

/* Proves that a collective whose scratch the host cannot hold ends with that error, and not the process: Lamport's has
 * two turns of four places of 64 GiB, all of them written before it begins, 2 TiB on four GPUs. */
static void test_scratch(void **state)
{
    (void)state;
    FoSim *sim = open_teach();
    const FoSimCollective coll = {.op = "all_reduce", .algo = "lamport", .bytes = 1ull << 36};
    guint told = 0;
    assert_int_equal(fo_sim_coll(sim, 0, &coll, on_full, &told), FO_SIM_OK);
    fo_sim_run(sim, FO_SIM_FOREVER);
    assert_int_equal(told, 1);
    assert_int_equal(fo_sim_close(sim), FO_SIM_OK);
}

static gpointer on_thread(gpointer data)
{
    FoSim *sim = data, *own;
    const FoSimSpec spec = {.version = FO_SIM_VERSION, .system = "teach-4gpu"};
    const FoSimMessage message = {0, 1, 16, 0};
    assert_int_equal(fo_sim_run(sim, 5), FO_SIM_ERROR_THREAD);
    assert_int_equal(fo_sim_send(sim, 0, &message, NULL, NULL), FO_SIM_ERROR_THREAD);
    assert_int_equal(fo_sim_close(sim), FO_SIM_ERROR_THREAD);
    assert_non_null(strstr(fo_sim_error_text(sim), "the thread that opened the first"));
    assert_int_equal(fo_sim_open(&own, &spec), FO_SIM_ERROR_THREAD);
    assert_null(own);
    return NULL;
}

static gpointer on_next_thread(gpointer data)
{
    FoSim *own = open_teach();
    const FoSimMessage message = {0, 1, 1 << 16, 0};
    assert_int_equal(fo_sim_send(own, 0, &message, NULL, NULL), FO_SIM_OK);
    assert_int_equal(fo_sim_run(own, FO_SIM_FOREVER), FO_SIM_OK);
    assert_int_equal(fo_sim_close(own), FO_SIM_OK);
    return data;
}

/* Proves that a second thread is refused while simulators of a first one are open, and takes over when they are not. */
static void test_threads(void **state)
{
    (void)state;
    FoSim *sim = open_teach();
    g_thread_join(g_thread_new("second", on_thread, sim));
    assert_int_equal(fo_sim_run(sim, 5), FO_SIM_OK);
    assert_int_equal(fo_sim_close(sim), FO_SIM_OK);
    g_thread_join(g_thread_new("third", on_next_thread, NULL));
    on_next_thread(NULL);
}

static FoSimAccess draw_access(GRand *rand, FoSimMemory memories)
{
    static const guint64 sizes[] = {0, 3, 4, 8, 16, 60, 128, 512, 516, 4096, 1 << 20, G_MAXUINT64, 1ull << 63};
    FoSimAccess access = {.operation = (FoSimOperation)g_rand_int_range(rand, 0, FO_SIM_OPERATIONS + 1),
                          .gpu = (guint32)g_rand_int_range(rand, 0, 5),
                          .memory = (guint32)g_rand_int_range(rand, 0, (gint)memories + 2),
                          .to_memory = (guint32)g_rand_int_range(rand, 0, (gint)memories + 2),
                          .bytes = sizes[g_rand_int_range(rand, 0, G_N_ELEMENTS(sizes))],
                          .type = (FoSimType)g_rand_int_range(rand, 0, FO_SIM_TYPES + 1)};
    if (g_rand_boolean(rand))
        access.offset = sizes[g_rand_int_range(rand, 0, G_N_ELEMENTS(sizes))];
    if (g_rand_boolean(rand))
        access.ctas = (guint32)g_rand_int_range(rand, 0, 40);
    return access;
}

static void on_any(FoSim *sim, const FoSimDone *done, void *user)
{
    guint *calls = user;
    (void)sim;
    (void)done;
    ++*calls;
}

/* Proves that thousands of drawn calls, most of them wrong, end the program never: each placed thing is told of once,
 * and a simulator closes in the middle of its work. */
static void test_drawn(void **state)
{
    (void)state;
    for (guint32 seed = 0; seed < 12; seed++) {
        GRand *rand = g_rand_new_with_seed(seed);
        FoSim *sim = open_teach();
        FoSimMemory memories = 0, team;
        guint placed = 0, calls = 0;
        const uint32_t gpus[] = {0, 1, 2, 3};
        for (uint32_t g = 0; g < 3; g++)
            assert_int_equal(fo_sim_memory(sim, g, 8192, &memories), FO_SIM_OK);
        assert_int_equal(fo_sim_team(sim, gpus, 4, 8192, &team, NULL), FO_SIM_OK);
        for (int i = 0; i < 300; i++) {
            const guint64 at_ps = fo_sim_now_ps(sim) + (guint64)g_rand_int_range(rand, -5, 1000000);
            const FoSimAccess access = draw_access(rand, team);
            const FoSimMessage message = {(guint32)g_rand_int_range(rand, 0, 5), (guint32)g_rand_int_range(rand, 0, 5),
                                          access.bytes, (guint64)g_rand_int_range(rand, 0, 2)};
            placed += fo_sim_place(sim, at_ps, &access, on_any, &calls) == FO_SIM_OK;
            if (access.bytes < 1 << 20)
                placed += fo_sim_send(sim, at_ps, &message, on_any, &calls) == FO_SIM_OK;
            if (i % 20 == 0)
                assert_int_equal(fo_sim_run(sim, fo_sim_now_ps(sim) + 500000), FO_SIM_OK);
        }
        if (seed % 2)
            assert_int_equal(fo_sim_run(sim, FO_SIM_FOREVER), FO_SIM_OK);
        if (seed % 2)
            assert_int_equal(placed, calls);
        assert_true(placed > 10 && calls <= placed);
        assert_int_equal(fo_sim_close(sim), FO_SIM_OK);
        g_rand_free(rand);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open),    cmocka_unit_test(test_callbacks), cmocka_unit_test(test_exceptions),
        cmocka_unit_test(test_sizes),   cmocka_unit_test(test_threads),   cmocka_unit_test(test_drawn),
        cmocka_unit_test(test_scratch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
