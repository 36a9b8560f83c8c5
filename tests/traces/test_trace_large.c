/* Large worlds: what grows must not grow with the square of the ranks. */
#include "tests/traces/trace_test.h"

#include <sys/resource.h>

#include "traces/record/match.h"
#include "traces/record/replicate.h"

#define SECONDS_MAX 10.0 /* of one core: linear work takes a tenth of a second, quadratic minutes */

static double seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6;
}

/* NULL and *message where it is refused. */
static Trace *read_text(const char *text, char **message)
{
    GError *error = NULL;
    double before = seconds();
    Trace *trace = trace_test_read("l.trace", text, strlen(text), FALSE, &error);
    assert_true(seconds() - before < SECONDS_MAX);
    *message = !trace ? g_strdup(error->message) : NULL;
    g_clear_error(&error);
    return trace;
}

/* Proves that a group of 250,000 ranks is read at once, in order or not, and that a rank named twice
 * is found wherever it stands. */
static void test_one_group(void **state)
{
    (void)state;
    static const struct {
        const char *ranks;
        gboolean good;
    } cases[] = {{"0-249999", TRUE},    {"249999,0-249998", TRUE},  {"125000-249999,0-124999", TRUE},
                 {"0-249999,0", FALSE}, {"0-249999,249999", FALSE}, {"7,0-249999", FALSE},
                 {"0-250000", FALSE}};
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        char *message, *text = g_strdup_printf("fanout-trace 1\nworld 250000\ngroup g %s\nrank *\n1 "
                                               "broadcast group=g bytes=16 root=249999\n",
                                               cases[i].ranks);
        Trace *trace = read_text(text, &message);
        assert_true((trace != NULL) == cases[i].good);
        if (trace) {
            const RecordGroup *group = trace_group_at(trace, trace_record(trace, 0)->group);
            assert_int_equal(group->n, 250000);
            for (guint32 place = 0; place < group->n; place += 12345)
                assert_int_equal(record_group_place(group, group->ranks[place]), place);
            assert_int_equal(record_group_place(group, 250000), RECORD_NO_PLACE);
        } else {
            assert_non_null(strstr(message, "each below 250000 and named once"));
        }
        trace_free(trace);
        g_free(message);
        g_free(text);
    }
}

/* Proves that 8 kB of text cannot ask for more members than a job may have, and that as many groups
 * as fit are read at once. */
static void test_many_groups(void **state)
{
    (void)state;
    for (guint n = 120; n <= 400; n += 280) {
        GString *text = g_string_new("fanout-trace 1\nworld 250000\n");
        for (guint i = 0; i < n; i++)
            g_string_append_printf(text, "group g%u 0-249999\n", i);
        g_string_append(text, "rank 0\n1 compute 1us\n");
        char *message;
        Trace *trace = read_text(text->str, &message);
        assert_true((trace != NULL) == (n == 120));
        assert_true(trace || strstr(message, ":136: the groups have over 33554432 members in all"));
        trace_free(trace);
        g_free(message);
        g_string_free(text, TRUE);
    }
}

/* Proves that many ranks of one large group are read, and their missing fellows named, at once. */
static void test_many_ranks(void **state)
{
    (void)state;
    GString *text = g_string_new("fanout-trace 1\nworld 250000\ngroup g 249999,0-249998\n");
    for (guint i = 0; i < 50000; i++)
        g_string_append_printf(text, "rank %u\n1 all_reduce group=g bytes=16\n", i * 2);
    char *message;
    Trace *trace = read_text(text->str, &message);
    assert_non_null(trace);
    GError *error = NULL;
    double before = seconds();
    assert_null(match_new(trace, FALSE, &error));
    assert_true(seconds() - before < SECONDS_MAX);
    assert_non_null(strstr(error->message, "rank 249999 takes no part in the 1. collective"));
    g_clear_error(&error);
    trace_free(trace);
    g_string_free(text, TRUE);
}

/* Proves that one recorded rank becomes a million with groups that tile them in both ways, at once.
 */
static void test_replicate(void **state)
{
    (void)state;
    char *message;
    Trace *trace = read_text("fanout-trace 1\nworld 1000000\ngroup tp 0-7\n"
                             "group half 0-499999\nrank *\n1 all_reduce group=tp bytes=16\n"
                             "2 all_reduce group=half bytes=16\n",
                             &message);
    assert_non_null(trace);
    double before = seconds();
    assert_true(trace_replicate(trace, NULL));
    assert_true(seconds() - before < SECONDS_MAX);
    assert_int_equal(trace->records->len, 2000000);
    const RecordGroup *group = trace_group_at(trace, trace_record(trace, 2 * 17)->group);
    assert_true(group->n == 8 && group->ranks[0] == 16 && group->ranks[7] == 23);
    group = trace_group_at(trace, trace_record(trace, 2 * 999999 + 1)->group);
    assert_true(group->n == 500000 && group->ranks[0] == 500000);
    trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_group),
        cmocka_unit_test(test_many_groups),
        cmocka_unit_test(test_many_ranks),
        cmocka_unit_test(test_replicate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
