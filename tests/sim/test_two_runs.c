/* Several Sims in one process, threads other than the main one, and SystemC kept quiet. */
#include "tests/test.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/engine/sim.h"

typedef struct {
    Event event;
    Sim *sim;
    GString *log;
    SimTime step_ps;
    int left;
} Ticker;

static void tick(Event *event, SimTime now_ps)
{
    Ticker *ticker = EVENT_OWNER(event, Ticker, event);
    g_string_append_printf(ticker->log, "t%" G_GUINT64_FORMAT " ", now_ps);
    if (--ticker->left > 0)
        sim_after(ticker->sim, event, ticker->step_ps, EVENT_PRIORITY_FABRIC);
}

static void count(void *arg)
{
    Ticker *ticker = arg;
    for (int i = 0; i < 4; i++) {
        g_string_append_printf(ticker->log, "p%" G_GUINT64_FORMAT " ", sim_now_ps(ticker->sim));
        sim_wait_ps(ticker->sim, 70);
    }
}

static void ticker_start(Ticker *ticker, SimCalendar calendar, SimTime step_ps)
{
    *ticker = (Ticker){.step_ps = step_ps, .left = 5, .log = g_string_new(NULL)};
    ticker->sim = sim_new(&(SimSpec){.seed = 1, .calendar = calendar}, NULL);
    event_init(&ticker->event, tick);
    sim_after(ticker->sim, &ticker->event, step_ps, EVENT_PRIORITY_FABRIC);
    sim_spawn(ticker->sim, "count", count, ticker, 0);
}

static void ticker_end(Ticker *ticker)
{
    sim_free(ticker->sim);
    g_string_free(ticker->log, TRUE);
}

#define EXPECTED "p0 t50 p70 t100 p140 t150 t200 p210 t250 "

/* Proves that one Sim after another starts at time 0 and logs the same, on either calendar. */
static void test_one_after_another(void **state)
{
    (void)state;
    for (int run = 0; run < 20; run++) {
        Ticker ticker;
        ticker_start(&ticker, (SimCalendar)(run % 2), 50);
        assert_int_equal(sim_now_ps(ticker.sim), 0);
        assert_int_equal(sim_run(ticker.sim, SIMTIME_NEVER), SIM_IDLE);
        assert_string_equal(ticker.log->str, EXPECTED);
        assert_int_equal(sim_now_ps(ticker.sim), 280);
        assert_int_equal(sim_events_fired(ticker.sim), 9);
        ticker_end(&ticker);
    }
}

/* Proves that Sims may also exist side by side and run by turns, each with its own clock. */
static void test_by_turns(void **state)
{
    (void)state;
    Ticker tickers[4];

    for (int i = 0; i < 4; i++)
        ticker_start(&tickers[i], (SimCalendar)(i % 2), 50);
    for (SimTime until_ps = 0; until_ps <= 400; until_ps += 40)
        for (int i = 0; i < 4; i++)
            sim_run(tickers[i].sim, MAX(until_ps, sim_now_ps(tickers[i].sim)));
    for (int i = 0; i < 4; i++) {
        assert_string_equal(tickers[i].log->str, EXPECTED);
        ticker_end(&tickers[i]);
    }
}

static gpointer run_there(gpointer data)
{
    Ticker *ticker = data;
    ticker_start(ticker, SIM_CALENDAR_WHEEL, 50);
    sim_run(ticker->sim, SIMTIME_NEVER);
    return NULL;
}

/* Proves that a Sim may run on a thread of its own, after others ran on the main thread. */
static void test_on_a_thread(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        Ticker ticker;
        g_thread_join(g_thread_new("engine", run_there, &ticker));
        assert_string_equal(ticker.log->str, EXPECTED);
        ticker_end(&ticker);
    }
}

/* Proves that SystemC says nothing on stdout or stderr: no banner, no notes. */
static void test_silence(void **state)
{
    (void)state;
    int ends[2];
    char text[200];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        execl("/proc/self/exe", "test_two_runs", "quietly", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    int status;
    assert_int_equal(read(ends[0], text, sizeof text), 0);
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static int run_quietly(void)
{
    Ticker ticker;
    for (int i = 0; i < 2; i++) {
        ticker_start(&ticker, (SimCalendar)i, 50);
        sim_run(ticker.sim, 100);
        sim_stop(ticker.sim);
        sim_run(ticker.sim, SIMTIME_NEVER);
        sim_run(ticker.sim, SIMTIME_NEVER);
        ticker_end(&ticker);
    }
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_after_another),
        cmocka_unit_test(test_by_turns),
        cmocka_unit_test(test_on_a_thread),
        cmocka_unit_test(test_silence),
    };
    (void)argv;
    return argc > 1 ? run_quietly() : cmocka_run_group_tests(tests, NULL, NULL);
}
