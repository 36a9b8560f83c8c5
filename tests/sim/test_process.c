/* Processes: their order, their waits, their stacks, and many of them. */
#include "tests/test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/engine/sim.h"

static Sim *new_sim(SimCalendar calendar) { return sim_new(&(SimSpec){.seed = 1, .calendar = calendar}, NULL); }

typedef struct {
    Sim *sim;
    SimProcess *peer;
    GString *trail;
    int id, ball;
    Event kick;
} Player;

static void note(Player *player, const char *what)
{
    g_string_append_printf(player->trail, "%d%s@%" G_GUINT64_FORMAT " ", player->id, what, sim_now_ps(player->sim));
}

static void block_twice(void *arg)
{
    Player *player = arg;
    for (int i = 0; i < 2; i++) {
        sim_block(player->sim, "the kick");
        note(player, "up");
    }
}

static void kick(Event *event, SimTime now_ps)
{
    Player *player = EVENT_OWNER(event, Player, kick);
    (void)now_ps;
    note(player, "kick");
    sim_wake(player->sim, player->peer);
}

/* Proves that a blocked process sleeps until an event wakes it, at the event's time. */
static void test_block_and_wake(void **state)
{
    (void)state;
    for (int calendar = 0; calendar < 2; calendar++) {
        Sim *sim = new_sim((SimCalendar)calendar);
        Player player = {.sim = sim, .trail = g_string_new(NULL)};
        player.peer = sim_spawn(sim, "p", block_twice, &player, 0);
        event_init(&player.kick, kick);
        sim_at(sim, &player.kick, 300, EVENT_PRIORITY_DEVICE);
        assert_int_equal(sim_run(sim, SIMTIME_NEVER), SIM_STUCK);
        assert_int_equal(sim_now_ps(sim), 300);
        sim_wake(sim, player.peer);
        assert_int_equal(sim_run(sim, SIMTIME_NEVER), SIM_IDLE);
        assert_string_equal(player.trail->str, "0kick@300 0up@300 0up@300 ");
        g_string_free(player.trail, TRUE);
        sim_free(sim);
    }
}

static void wait_then_block(void *arg)
{
    Player *player = arg;
    note(player, "waits");
    sim_wait_ps(player->sim, 1000);
    note(player, "waited");
    sim_block(player->sim, "nothing: the wake-up has come already");
    note(player, "up");
}

/* Proves that a wake-up before the block is kept for it, and does not cut a timed wait short. */
static void test_early_wake(void **state)
{
    (void)state;
    for (int calendar = 0; calendar < 2; calendar++) {
        Sim *sim = new_sim((SimCalendar)calendar);
        Player player = {.sim = sim, .trail = g_string_new(NULL)};
        player.peer = sim_spawn(sim, "p", wait_then_block, &player, 0);
        event_init(&player.kick, kick);
        sim_at(sim, &player.kick, 300, EVENT_PRIORITY_DEVICE);
        assert_int_equal(sim_run(sim, SIMTIME_NEVER), SIM_IDLE);
        assert_string_equal(player.trail->str, "0waits@0 0kick@300 0waited@1000 0up@1000 ");
        g_string_free(player.trail, TRUE);
        sim_free(sim);
    }
}

static void play(void *arg)
{
    Player *player = arg;
    for (int i = 0; i < 3; i++) {
        sim_block(player->sim, "the ball");
        note(player, "");
        if (player->id == 1 || i < 2) /* player 1 begins, so it is gone after the last round */
            sim_wake(player->sim, player->peer);
    }
}

static void spawn_child(void *arg)
{
    Player *player = arg;
    note(player, "spawns");
    sim_spawn(player->sim, "child", block_twice, player, 0);
    sim_spawn(player->sim, "second child", wait_then_block, player, 0);
    note(player, "spawned");
    sim_wait_ps(player->sim, 0);
    note(player, "later");
}

/* Proves that processes hand over to each other in the order in which they became ready, all at one
 * picosecond, and that a process may spawn others, which start after it waited. */
static void test_order_between_processes(void **state)
{
    (void)state;
    for (int calendar = 0; calendar < 2; calendar++) {
        Sim *sim = new_sim((SimCalendar)calendar);
        GString *trail = g_string_new(NULL);
        Player players[3] = {{.sim = sim, .trail = trail, .id = 0},
                             {.sim = sim, .trail = trail, .id = 1},
                             {.sim = sim, .trail = trail, .id = 2}};
        for (int i = 0; i < 2; i++)
            players[1 - i].peer = sim_spawn(sim, "player", play, &players[i], 0);
        sim_spawn(sim, "parent", spawn_child, &players[2], 0);
        sim_wake(sim, players[0].peer);
        sim_wake(sim, players[0].peer);
        assert_int_equal(sim_run(sim, SIMTIME_NEVER), SIM_STUCK);
        assert_string_equal(trail->str, "1@0 2spawns@0 2spawned@0 0@0 2waits@0 1@0 0@0 1@0 0@0 "
                                        "2later@0 2waited@1000 ");
        g_string_free(trail, TRUE);
        sim_free(sim);
    }
}

static void step(void *arg)
{
    Player *player = arg;
    for (int i = 0; i < 10; i++) {
        sim_wait_ps(player->sim, (SimTime)(player->id % 7 + 1) * 100);
        player->ball++;
    }
}

static glong resident_kib(void)
{
    glong pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file) {
        if (fscanf(file, "%*s %ld", &pages) != 1)
            pages = 0;
        fclose(file);
    }
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/* Proves that 10,000 processes with 64 KiB stacks live at once, at under 16 KiB of memory each. */
static void test_thousands(void **state)
{
    (void)state;
    enum { N = 10000 };
    Sim *sim = new_sim(SIM_CALENDAR_WHEEL);
    Player *players = g_new0(Player, N);
    glong before_kib = resident_kib();

    for (int i = 0; i < N; i++) {
        players[i] = (Player){.sim = sim, .id = i};
        sim_spawn(sim, "cta", step, &players[i], 64 * 1024);
    }
    assert_int_equal(sim_run(sim, 50), SIM_LIMIT);
    glong each_kib = (resident_kib() - before_kib) / N;
    print_message("10000 processes alive: %ld KiB resident, %ld KiB each\n", resident_kib(), each_kib);
    assert_int_equal(sim_run(sim, SIMTIME_NEVER), SIM_IDLE);
    for (int i = 0; i < N; i++)
        assert_int_equal(players[i].ball, 10);
    assert_int_equal(sim_now_ps(sim), 7000);
#ifndef __SANITIZE_ADDRESS__ /* its stacks are larger */
    assert_true(each_kib < 16);
#endif
    sim_free(sim);
    glong after_kib = resident_kib();
    print_message("after sim_free: %ld KiB resident\n", after_kib);
#ifndef __SANITIZE_ADDRESS__ /* which keeps freed memory for a while */
    assert_true(after_kib - before_kib < 60 * 1024);
#endif
    g_free(players);
}

static void touch(void *arg)
{
    Player *player = arg;
    volatile char room[20000];
    for (gsize i = 0; i < sizeof room; i++)
        room[i] = (char)(i | 1);
    sim_wait_ps(player->sim, 10);
    player->ball = room[player->id];
}

static void barely(void *arg)
{
    Player *player = arg;
    sim_wait_ps(player->sim, 10);
}

/* Proves that the depth of a stack is measured, and not inherited from the process before. */
static void test_stack_used(void **state)
{
    (void)state;
    Sim *sim = new_sim(SIM_CALENDAR_WHEEL);
    Player player = {.sim = sim};

    SimProcess *deep = sim_spawn(sim, "deep", touch, &player, 0);
    assert_int_equal(sim_process_stack_used(deep), 0);
    sim_run(sim, 5);
    assert_in_range(sim_process_stack_used(deep), 20000, 24000);
    sim_run(sim, SIMTIME_NEVER);
    SimProcess *shallow = sim_spawn(sim, "shallow", barely, &player, 0);
    sim_run(sim, sim_now_ps(sim) + 5);
    assert_in_range(sim_process_stack_used(shallow), 100, 6000);
    sim_free(sim);
}

static int dive(volatile int depth)
{
    volatile char room[1000];
    room[depth % 1000] = (char)depth;
    return depth > 100000 ? room[0] : dive(depth + 1) + room[depth % 1000];
}

static void overflow(void *arg)
{
    Player *player = arg;
    player->ball = dive(0);
}

/* Proves that a stack that overflows ends the program with a message which names the process. */
static void test_stack_overflow(void **state)
{
    (void)state;
    int ends[2];
    char text[400] = "";
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        dup2(ends[1], STDERR_FILENO);
        signal(SIGABRT, SIG_DFL);
        Sim *sim = new_sim(SIM_CALENDAR_WHEEL);
        Player player = {.sim = sim};
        sim_spawn(sim, "cta 17 of gpu 3", overflow, &player, 0);
        sim_run(sim, SIMTIME_NEVER);
        _exit(0);
    }
    close(ends[1]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(read(ends[0], text, sizeof text - 1) > 0);
    close(ends[0]);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_string_equal(text, "fanout: the stack of process 'cta 17 of gpu 3' overflowed: "
                              "it needs more stack_bytes\n");
}

/* Proves that a Sim may end with processes in every state, and that the next one starts clean. */
static void test_abandon(void **state)
{
    (void)state;
    for (int calendar = 0; calendar < 2; calendar++) {
        Sim *sim = new_sim((SimCalendar)calendar);
        GString *trail = g_string_new(NULL);
        Player player = {.sim = sim, .trail = trail};
        sim_spawn(sim, "blocked", block_twice, &player, 0);
        sim_spawn(sim, "timed", wait_then_block, &player, 0);
        SimProcess *woken = sim_spawn(sim, "woken", block_twice, &player, 0);
        assert_int_equal(sim_run(sim, 500), SIM_LIMIT);
        sim_wake(sim, woken);
        sim_spawn(sim, "never started", block_twice, &player, 0);
        sim_free(sim);

        sim = new_sim((SimCalendar)calendar);
        player.sim = sim;
        sim_spawn(sim, "timed", wait_then_block, &player, 0);
        assert_int_equal(sim_run(sim, SIMTIME_NEVER), SIM_STUCK);
        assert_string_equal(trail->str, "0waits@0 0waits@0 0waited@1000 ");
        sim_free(sim);
        g_string_free(trail, TRUE);
    }
}

static void stop_here(void *arg)
{
    Player *player = arg;
    sim_wait_ps(player->sim, 100);
    sim_stop(player->sim);
    note(player, "stops");
    sim_wait_ps(player->sim, 100);
    note(player, "ends");
}

/* Proves that sim_stop() ends the run after the slice, before the others of that instant, and that
 * all goes on with the next run. */
static void test_stop(void **state)
{
    (void)state;
    for (int calendar = 0; calendar < 2; calendar++) {
        Sim *sim = new_sim((SimCalendar)calendar);
        GString *trail = g_string_new(NULL);
        Player players[2] = {{.sim = sim, .trail = trail, .id = 0}, {.sim = sim, .trail = trail, .id = 1}};
        sim_spawn(sim, "a", stop_here, &players[0], 0);
        sim_spawn(sim, "b", stop_here, &players[1], 0);
        assert_int_equal(sim_run(sim, SIMTIME_NEVER), SIM_STOPPED);
        assert_string_equal(trail->str, "0stops@100 ");
        assert_int_equal(sim_run(sim, SIMTIME_NEVER), SIM_STOPPED);
        assert_int_equal(sim_run(sim, SIMTIME_NEVER), SIM_IDLE);
        assert_string_equal(trail->str, "0stops@100 1stops@100 0ends@200 1ends@200 ");
        g_string_free(trail, TRUE);
        sim_free(sim);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_block_and_wake),
        cmocka_unit_test(test_early_wake),
        cmocka_unit_test(test_order_between_processes),
        cmocka_unit_test(test_thousands),
        cmocka_unit_test(test_stack_used),
        cmocka_unit_test(test_stack_overflow),
        cmocka_unit_test(test_abandon),
        cmocka_unit_test(test_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
