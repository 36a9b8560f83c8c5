/* The proof that running ahead changes nothing: random programs give the same log on both
 * calendars. */
#include "tests/test.h"

#include <glib/gstdio.h>

#include "sim/engine/sim.h"
#include "sim/rng.h"

#define UNITS 24
#define WALKERS 6
#define FIRINGS 1500

typedef struct Program Program;

typedef struct {
    Event event;
    Program *program;
    int id;
} Unit;

typedef struct {
    Program *program;
    SimProcess *process; /* NULL after its end */
    int id;
} Walker;

struct Program {
    Sim *sim;
    Rng rng; /* drawn from in firing order: any difference in order spreads at once */
    GString *log;
    int left;
    Unit units[UNITS];
    Walker walkers[WALKERS];
};

/* Same instant, same bucket, a flit, near, beyond the wheel, far beyond. */
static SimTime draw_delay_ps(Program *program)
{
    static const SimTime bounds[] = {1, 1, 4, 100, 3000, 400000, 3000000, 100000000};
    return rng_below(&program->rng, bounds[rng_below(&program->rng, G_N_ELEMENTS(bounds))]);
}

static void schedule(Program *program, Unit *unit)
{
    sim_after(program->sim, &unit->event, draw_delay_ps(program), (EventPriority)rng_below(&program->rng, 4));
}

static void note(Program *program, char kind, int id)
{
    g_string_append_printf(program->log, "%c%d@%" G_GUINT64_FORMAT "\n", kind, id, sim_now_ps(program->sim));
}

/* One random deed: schedule, cancel, wake, or ask for a stop. */
static void act(Program *program)
{
    Unit *unit = &program->units[rng_below(&program->rng, UNITS)];
    Walker *walker = &program->walkers[rng_below(&program->rng, WALKERS)];

    switch (rng_below(&program->rng, 8)) {
    case 0: sim_cancel(program->sim, &unit->event); break;
    case 1:
    case 2:
        if (walker->process)
            sim_wake(program->sim, walker->process);
        break;
    case 3:
        if (rng_below(&program->rng, 20) == 0)
            sim_stop(program->sim);
        break;
    default:
        if (!event_is_pending(&unit->event) && program->left > 0) {
            program->left--;
            schedule(program, unit);
        }
    }
}

static void fire(Event *event, SimTime now_ps)
{
    Unit *unit = EVENT_OWNER(event, Unit, event);

    assert_int_equal(now_ps, sim_now_ps(unit->program->sim));
    note(unit->program, 'e', unit->id);
    for (guint64 n = rng_below(&unit->program->rng, 7); n > 0; n--)
        act(unit->program);
}

static void walk(void *arg)
{
    Walker *walker = arg;
    Program *program = walker->program;

    while (program->left > 0 && rng_below(&program->rng, 40) != 0) {
        act(program);
        if (rng_below(&program->rng, 3) == 0) {
            note(program, 'b', walker->id);
            sim_block(program->sim, "a wake-up");
        } else {
            note(program, 'w', walker->id);
            sim_wait_ps(program->sim, draw_delay_ps(program));
        }
    }
    note(program, 'x', walker->id);
    walker->process = NULL;
}

static GString *run_program(guint64 seed, SimCalendar calendar, const char *vcd_path)
{
    Program *program = g_new0(Program, 1);
    SimStatus status = SIM_LIMIT;
    SimSpec spec = {.seed = seed, .calendar = calendar, .vcd_path = vcd_path};

    program->sim = sim_new(&spec, NULL);
    program->log = g_string_new(NULL);
    program->left = FIRINGS;
    rng_init(&program->rng, seed, "program");
    for (int i = 0; i < WALKERS; i++) {
        Walker *walker = &program->walkers[i];
        *walker = (Walker){.program = program, .id = i};
        walker->process = sim_spawn(program->sim, "walker", walk, walker, 0);
    }
    for (int i = 0; i < UNITS; i++) {
        event_init(&program->units[i].event, fire);
        program->units[i].program = program;
        program->units[i].id = i;
        schedule(program, &program->units[i]);
    }
    for (int runs = 0; runs < 400 && (status == SIM_LIMIT || status == SIM_STOPPED); runs++) {
        SimTime until_ps = sim_now_ps(program->sim) + draw_delay_ps(program);
        status = sim_run(program->sim, runs % 2 == 0 ? until_ps : until_ps + 100000000);
        g_string_append_printf(program->log, "status %d, ", (int)status);
        note(program, 's', (int)sim_events_fired(program->sim));
        act(program);
    }
    char **waiters = sim_waiters(program->sim);
    g_string_append_printf(program->log, "%u wait\n", g_strv_length(waiters));
    g_strfreev(waiters);
    GString *log = program->log;
    sim_free(program->sim);
    g_free(program);
    return log;
}

/* Proves that 200 random programs of events, cancels, processes, wake-ups, stops and split runs
 * log the same, line by line, on the wheel and as plain SystemC notifications. */
static void test_same_log(void **state)
{
    (void)state;
    gsize bytes = 0;
    for (guint64 seed = 1; seed <= 200; seed++) {
        GString *wheel = run_program(seed, SIM_CALENDAR_WHEEL, NULL);
        GString *reference = run_program(seed, SIM_CALENDAR_SYSTEMC, NULL);
        assert_string_equal(wheel->str, reference->str);
        bytes += wheel->len;
        g_string_free(wheel, TRUE);
        g_string_free(reference, TRUE);
    }
    print_message("%zu bytes of log compared\n", bytes);
    assert_true(bytes > 200 * 8192); /* the programs did not just end at once */
}

/* Proves that the wheel run in lockstep with SystemC, as an open waveform demands, logs the same
 * too. */
static void test_same_log_in_lockstep(void **state)
{
    (void)state;
    char *path = g_build_filename(g_get_tmp_dir(), "fanout-test-calendars.vcd", NULL);
    for (guint64 seed = 1; seed <= 10; seed++) {
        GString *wheel = run_program(seed, SIM_CALENDAR_WHEEL, NULL);
        GString *lockstep = run_program(seed, SIM_CALENDAR_WHEEL, path);
        assert_string_equal(wheel->str, lockstep->str);
        g_string_free(wheel, TRUE);
        g_string_free(lockstep, TRUE);
    }
    g_autofree char *save = g_build_filename(g_get_tmp_dir(), "fanout-test-calendars.gtkw", NULL);
    g_remove(save);
    g_remove(path);
    g_free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_log),
        cmocka_unit_test(test_same_log_in_lockstep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
