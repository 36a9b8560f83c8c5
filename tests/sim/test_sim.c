/* The engine's promises about time and order. */
#include "tests/test.h"

#include <string.h>

#include "sim/engine/sim.h"

typedef struct {
    Event event;
    Sim *sim;
    int id;
} Mark;

static GString *trail; /* one for the program: CMocka runs tests one after another */

static void mark_fire(Event *event, SimTime now_ps)
{
    Mark *mark = EVENT_OWNER(event, Mark, event);
    g_string_append_printf(trail, "%d@%" G_GUINT64_FORMAT " ", mark->id, now_ps);
}

static Sim *new_sim(SimCalendar calendar)
{
    trail = g_string_new(NULL);
    return sim_new(&(SimSpec){.seed = 1, .calendar = calendar}, NULL);
}

static void done(Sim *sim)
{
    sim_free(sim);
    g_string_free(trail, TRUE);
}

static void order_of_equal_times(SimCalendar calendar)
{
    Sim *sim = new_sim(calendar);
    static const EventPriority priorities[] = {EVENT_PRIORITY_LAST, EVENT_PRIORITY_DEVICE, EVENT_PRIORITY_FABRIC,
                                               EVENT_PRIORITY_DEVICE};
    Mark marks[4];

    for (int i = 0; i < 4; i++) {
        marks[i] = (Mark){.sim = sim, .id = i};
        event_init(&marks[i].event, mark_fire);
        sim_at(sim, &marks[i].event, 1000, priorities[i]);
    }
    assert_int_equal(sim_run(sim, SIMTIME_NEVER), SIM_IDLE);
    assert_string_equal(trail->str, "2@1000 1@1000 3@1000 0@1000 ");
    assert_int_equal(sim_now_ps(sim), 1000);
    done(sim);
}

/* Proves that events of one picosecond fire in (priority, sequence) order on both calendars. */
static void test_order_of_equal_times(void **state)
{
    (void)state;
    order_of_equal_times(SIM_CALENDAR_WHEEL);
    order_of_equal_times(SIM_CALENDAR_SYSTEMC);
}

typedef struct {
    Sim *sim;
    int id;
} Walker;

static void walk(void *arg)
{
    Walker *walker = arg;
    for (int i = 0; i < 3; i++) {
        g_string_append_printf(trail, "p%d@%" G_GUINT64_FORMAT " ", walker->id, sim_now_ps(walker->sim));
        sim_wait_ps(walker->sim, 500);
    }
}

static void events_before_processes(SimCalendar calendar)
{
    Sim *sim = new_sim(calendar);
    Walker walkers[2] = {{sim, 0}, {sim, 1}};
    Mark mark = {.sim = sim, .id = 7};

    sim_spawn(sim, "first", walk, &walkers[0], 0);
    sim_spawn(sim, "second", walk, &walkers[1], 0);
    event_init(&mark.event, mark_fire);
    sim_at(sim, &mark.event, 500, EVENT_PRIORITY_LAST);
    assert_int_equal(sim_run(sim, SIMTIME_NEVER), SIM_IDLE);
    assert_string_equal(trail->str, "p0@0 p1@0 7@500 p0@500 p1@500 p0@1000 p1@1000 ");
    assert_int_equal(sim_now_ps(sim), 1500);
    done(sim);
}

/* Proves that at one picosecond all events come before the processes, which keep their order. */
static void test_events_before_processes(void **state)
{
    (void)state;
    events_before_processes(SIM_CALENDAR_WHEEL);
    events_before_processes(SIM_CALENDAR_SYSTEMC);
}

static void wait_forever(void *arg)
{
    Walker *walker = arg;
    sim_block(walker->sim, "a flag that nobody writes");
}

static void stuck(SimCalendar calendar)
{
    Sim *sim = new_sim(calendar);
    Walker walker = {sim, 0};

    sim_spawn(sim, "cta 3", wait_forever, &walker, 0);
    assert_int_equal(sim_run(sim, SIMTIME_NEVER), SIM_STUCK);
    char **lines = sim_waiters(sim);
    assert_string_equal(lines[0], "cta 3 waits for a flag that nobody writes");
    assert_null(lines[1]);
    g_strfreev(lines);
    char *text = sim_waiters_text(sim);
    assert_string_equal(text, "\n  cta 3 waits for a flag that nobody writes");
    g_free(text);
    for (int i = 0; i < 20; i++)
        sim_spawn(sim, "cta 4", wait_forever, &walker, 0);
    assert_int_equal(sim_run(sim, SIMTIME_NEVER), SIM_STUCK);
    text = sim_waiters_text(sim);
    assert_true(g_str_has_suffix(text, "\n  and 13 more"));
    g_free(text);
    done(sim);
}

/* Proves that a run in which a process waits for nothing that will come is reported as stuck. */
static void test_stuck(void **state)
{
    (void)state;
    stuck(SIM_CALENDAR_WHEEL);
    stuck(SIM_CALENDAR_SYSTEMC);
}

static void limit(SimCalendar calendar)
{
    Sim *sim = new_sim(calendar);
    Mark marks[3];
    static const SimTime times[] = {100, 200, 5000000000};

    for (int i = 0; i < 3; i++) {
        marks[i] = (Mark){.sim = sim, .id = i};
        event_init(&marks[i].event, mark_fire);
        sim_at(sim, &marks[i].event, times[i], EVENT_PRIORITY_FABRIC);
    }
    assert_int_equal(sim_run(sim, 200), SIM_LIMIT);
    assert_string_equal(trail->str, "0@100 1@200 ");
    assert_int_equal(sim_run(sim, 1000), SIM_LIMIT);
    assert_int_equal(sim_now_ps(sim), 1000);
    sim_at(sim, &marks[0].event, 1001, EVENT_PRIORITY_FABRIC);
    assert_int_equal(sim_run(sim, SIMTIME_NEVER), SIM_IDLE);
    assert_string_equal(trail->str, "0@100 1@200 0@1001 2@5000000000 ");
    assert_int_equal(sim_run(sim, SIMTIME_NEVER), SIM_IDLE);
    assert_int_equal(sim_now_ps(sim), 5000000000);
    done(sim);
}

/* Proves that a run may stop at a time, go on, and be added to before what was due later. */
static void test_limit(void **state)
{
    (void)state;
    limit(SIM_CALENDAR_WHEEL);
    limit(SIM_CALENDAR_SYSTEMC);
}

static void last_time(SimCalendar calendar)
{
    Sim *sim = new_sim(calendar);
    Mark early = {.sim = sim, .id = 1}, late = {.sim = sim, .id = 2};

    event_init(&early.event, mark_fire);
    event_init(&late.event, mark_fire);
    sim_at(sim, &early.event, SIMTIME_LAST_PS, EVENT_PRIORITY_FABRIC);
    sim_at(sim, &late.event, SIMTIME_LAST_PS + 1, EVENT_PRIORITY_FABRIC);
    assert_int_equal(sim_run(sim, SIMTIME_NEVER), SIM_STUCK);
    g_autofree char *expect = g_strdup_printf("1@%" G_GUINT64_FORMAT " ", SIMTIME_LAST_PS);
    assert_string_equal(trail->str, expect);
    g_auto(GStrv) lines = sim_waiters(sim);
    assert_non_null(strstr(lines[0], "140 s"));
    done(sim);
}

/* Proves that a run whose times no longer fit the servers' clocks ends, and says so, instead of going on with wrong
 * times. */
static void test_last_time(void **state)
{
    (void)state;
    last_time(SIM_CALENDAR_WHEEL);
    last_time(SIM_CALENDAR_SYSTEMC);
}

static void background(SimCalendar calendar)
{
    Sim *sim = new_sim(calendar);
    Mark behind = {.sim = sim, .id = 1}, first = {.sim = sim, .id = 2}, event = {.sim = sim, .id = 3};
    event_init(&behind.event, mark_fire);
    event_init(&first.event, mark_fire);
    event_init(&event.event, mark_fire);
    sim_set_key_first(&behind.event, 0);
    sim_set_key_first(&first.event, 1);
    sim_at(sim, &event.event, 500, EVENT_PRIORITY_FABRIC);
    sim_at_background(sim, sim, &behind.event, 900);
    sim_at_background(sim, sim, &first.event, 500);
    assert_int_equal(sim_run(sim, SIMTIME_NEVER), SIM_IDLE);
    assert_string_equal(trail->str, "2@500 3@500 ");
    assert_int_equal(sim_now_ps(sim), 500); /* and not 900: nothing goes on */
    sim_at(sim, &event.event, 1200, EVENT_PRIORITY_FABRIC);
    assert_int_equal(sim_run(sim, SIMTIME_NEVER), SIM_IDLE);
    assert_string_equal(trail->str, "2@500 3@500 1@900 3@1200 ");
    done(sim);
}

/* Proves that a background event fires before all else of its time, in whichever run gets there, and that no run goes
 * on for its sake alone, on both calendars. */
static void test_background(void **state)
{
    (void)state;
    background(SIM_CALENDAR_WHEEL);
    background(SIM_CALENDAR_SYSTEMC);
}

static SimTime look(void *user, SimTime at_ps)
{
    (void)user;
    g_string_append_printf(trail, "look@%" G_GUINT64_FORMAT " ", at_ps);
    return at_ps + 500;
}

static char *waits(void *unit)
{
    (void)unit;
    return g_strdup("a unit waits");
}

static void observer(SimCalendar calendar)
{
    Sim *sim = new_sim(calendar);
    Mark behind = {.sim = sim, .id = 1}, event = {.sim = sim, .id = 2};
    event_init(&behind.event, mark_fire);
    event_init(&event.event, mark_fire);
    sim_set_key_first(&behind.event, 0);
    sim_observe(sim, 500, look, NULL);
    sim_at(sim, &event.event, 1100, EVENT_PRIORITY_FABRIC);
    assert_int_equal(sim_run(sim, SIMTIME_NEVER), SIM_IDLE);
    assert_string_equal(trail->str, "look@500 look@1000 2@1100 ");
    assert_int_equal(sim_now_ps(sim), 1100);
    sim_at_background(sim, sim, &behind.event, 1500);
    sim_at(sim, &event.event, 1500, EVENT_PRIORITY_FABRIC);
    assert_int_equal(sim_run(sim, SIMTIME_NEVER), SIM_IDLE);
    assert_string_equal(trail->str, "look@500 look@1000 2@1100 look@1500 1@1500 2@1500 ");
    sim_add_waiter(sim, waits, NULL);
    sim_at_background(sim, sim, &behind.event, 2100);
    assert_int_equal(sim_run(sim, SIMTIME_NEVER), SIM_STUCK);
    assert_non_null(strstr(trail->str, " 2@1500 look@2000 1@2100 ")); /* and no further look: nothing can happen */
    g_string_truncate(trail, 0);
    sim_observe(sim, 0, NULL, NULL);
    sim_at(sim, &event.event, 9000, EVENT_PRIORITY_FABRIC);
    assert_int_equal(sim_run(sim, SIMTIME_NEVER), SIM_STUCK);
    assert_string_equal(trail->str, "2@9000 ");
    done(sim);
}

/* Proves that an observer looks before all else of its time, background events included, only while anything else is
 * due, also where a run is stuck, and no more once it is taken away, on both calendars. */
static void test_observer(void **state)
{
    (void)state;
    observer(SIM_CALENDAR_WHEEL);
    observer(SIM_CALENDAR_SYSTEMC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_of_equal_times),
        cmocka_unit_test(test_background),
        cmocka_unit_test(test_observer),
        cmocka_unit_test(test_events_before_processes),
        cmocka_unit_test(test_stuck),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_last_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
