#include "tests/test.h"

#include "sim/log.h"

static GString *printed;

static void keep(const char *text) { g_string_append(printed, text); }

/* Proves that a line carries time and category, and that levels are kept for each category alone. */
static void test_lines(void **state)
{
    (void)state;
    Log *log = log_new();
    GError *error = NULL;

    printed = g_string_new(NULL);
    GPrintFunc before = g_set_printerr_handler(keep);
    assert_true(log_parse(log, "link:debug,,cuda : error", &error));
    log_line(log, LOG_LINK, LOG_DEBUG, 12034, "flit %d", 3);
    log_line(log, LOG_LINK, LOG_SPEW, 12034, "unseen");
    log_line(log, LOG_CUDA, LOG_WARN, 0, "unseen");
    log_line(log, LOG_SWITCH, LOG_WARN, 0, "full");
    log_line(log, LOG_SWITCH, LOG_INFO, 0, "unseen");
    g_set_printerr_handler(before);
    assert_string_equal(printed->str, "fanout: 12.034 ns: link: flit 3\n"
                                      "fanout: 0.000 ns: switch: full\n");
    assert_true(log_on(log, LOG_LINK, LOG_DEBUG));
    assert_true(log_parse(log, "spew", &error));
    assert_true(log_on(log, LOG_CLI, LOG_SPEW));
    assert_true(log_parse(log, "all:error", &error));
    assert_false(log_on(log, LOG_LINK, LOG_WARN));
    g_string_free(printed, TRUE);
    log_free(log);
}

/* Proves that a wrong category or level is named with a guess, and changes nothing. */
static void test_bad_specs(void **state)
{
    (void)state;
    Log *log = log_new();
    GError *error = NULL;

    assert_false(log_parse(log, "gpu:debug,lnik:debug", &error));
    assert_string_equal(error->message, "log: unknown category 'lnik'; did you mean 'link'?");
    assert_false(log_on(log, LOG_GPU, LOG_DEBUG));
    g_clear_error(&error);
    assert_false(log_parse(log, "link:loud", &error));
    assert_non_null(strstr(error->message, "unknown level 'loud'; known are error, warn"));
    g_clear_error(&error);
    log_free(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_bad_specs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
