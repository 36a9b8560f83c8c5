#include "tests/test.h"

#include <glib/gstdio.h>
#include <unistd.h>

#include "sim/engine/sim.h"

typedef struct {
    Event event;
    Sim *sim;
    guint64 credits, busy;
    int left;
} Unit;

static void fire(Event *event, SimTime now_ps)
{
    Unit *unit = EVENT_OWNER(event, Unit, event);
    (void)now_ps;
    unit->credits += 3;
    unit->busy ^= 1;
    if (--unit->left > 0)
        sim_after(unit->sim, event, 1000, EVENT_PRIORITY_FABRIC);
}

static char *run_traced(SimCalendar calendar, const char *path)
{
    char *text = NULL;
    Sim *sim = sim_new(&(SimSpec){.seed = 1, .calendar = calendar, .vcd_path = path}, NULL);
    Unit unit = {.sim = sim, .left = 3};

    sim_trace_u64(sim, "gpu0.link3.credits", &unit.credits, 8);
    sim_trace_u64(sim, "busy", &unit.busy, 1);
    event_init(&unit.event, fire);
    sim_at(sim, &unit.event, 500, EVENT_PRIORITY_FABRIC);
    assert_int_equal(sim_run(sim, 1600), SIM_LIMIT);
    assert_int_equal(sim_run(sim, SIMTIME_NEVER), SIM_IDLE);
    sim_free(sim);
    assert_true(g_file_get_contents(path, &text, NULL, NULL));
    return text;
}

/* Proves that every change is in the file at its time, from the first to the last instant, and
 * that a later Sim and the other calendar write the same bytes: no date, no time left over from
 * before. */
static void test_changes(void **state)
{
    (void)state;
    char *path = g_strdup_printf("test_vcd.%d.vcd", (int)getpid());
    char *raw = g_strdup_printf("%s.raw.vcd", path);
    char *save = g_strdup_printf("test_vcd.%d.gtkw", (int)getpid()), *text = NULL;
    char *first = run_traced(SIM_CALENDAR_WHEEL, path);
    char *second = run_traced(SIM_CALENDAR_WHEEL, path);
    char *reference = run_traced(SIM_CALENDAR_SYSTEMC, path);

    assert_non_null(strstr(first, "$timescale\n     1 ps\n$end"));
    assert_non_null(strstr(first, "$scope module link3 $end"));
    assert_non_null(strstr(first, "credits [7:0]"));
    assert_non_null(strstr(first, "#500\nb11 aaaaa\n1aaaab\n\n#1500\nb110 aaaaa\n0aaaab\n\n"
                                  "#2500\nb1001 aaaaa\n1aaaab\n"));
    assert_string_equal(first, second);
    assert_string_equal(first, reference);
    assert_false(g_file_test(raw, G_FILE_TEST_EXISTS));
    assert_true(g_file_get_contents(save, &text, NULL, NULL)); /* GTKWave's, with what changed */
    assert_non_null(strstr(text, "@200\n-gpu0.link3\n@24\nSystemC.gpu0.link3.credits[7:0]\n"));
    g_free(text);
    g_remove(save);
    g_free(save);
    g_remove(path);
    g_free(first);
    g_free(second);
    g_free(reference);
    g_free(raw);
    g_free(path);
}

/* Proves that a path that cannot be written is an error that names it. */
static void test_bad_path(void **state)
{
    (void)state;
    GError *error = NULL;
    assert_null(sim_new(&(SimSpec){.vcd_path = "/nonexistent/x.vcd"}, &error));
    assert_non_null(strstr(error->message, "cannot write waveform '/nonexistent/x.vcd'"));
    g_error_free(error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_bad_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
