#include "tests/test.h"

#include "cli/options.h"

static const Verb verb_try = {
    .name = "try", .usage = "THING", .text = "tries things", .flags = VERB_WAVEFORM | VERB_TIMELINE | VERB_FLOWS};

/* Parses a command line written with blanks; returns what is left of it, to be freed with
 * g_strfreev. */
static gboolean parse(const char *line, Options *options, gint *gpus, char ***left, GError **error)
{
    const GOptionEntry own[] = {
        {"gpus", 'n', 0, G_OPTION_ARG_INT, gpus, "how many GPUs", "N"},
        {NULL, 0, 0, 0, NULL, NULL, NULL},
    };
    char **words = g_strsplit(line, " ", -1);
    char **argv = g_memdup2(words, (g_strv_length(words) + 1) * sizeof *words);
    int argc = (int)g_strv_length(words);
    ExitCode code;
    gboolean good = options_parse(options, &verb_try, own, &argc, &argv, &code, error);
    assert_true(good || code == EXIT_USER);
    GStrvBuilder *builder = g_strv_builder_new();
    for (int i = 0; i < argc; i++)
        g_strv_builder_add(builder, argv[i]);
    if (left)
        *left = g_strv_builder_end(builder);
    g_strv_builder_unref(builder);
    g_free(argv);
    g_strfreev(words);
    return good;
}

/* Proves that an empty command line gives the documented defaults. */
static void test_defaults(void **state)
{
    (void)state;
    Options options;
    gint gpus = 0;
    assert_true(parse("try", &options, &gpus, NULL, NULL));
    assert_null(options.system);
    assert_null(options.sets);
    assert_true(options.seed == 1);
    assert_int_equal(options.fidelity, COLL_PACKET);
    assert_int_equal(options.calendar, SIM_CALENDAR_WHEEL);
    assert_int_equal(options.data, DATA_AUTO);
    assert_int_equal(options.format, REPORT_TEXT);
    assert_true(options.max_memory == 4ull << 30);
    options_clear(&options);
}

/* Proves that every option reaches its field, own ones too, in any place, and arguments are left
 * over. */
static void test_all_given(void **state)
{
    (void)state;
    Options options;
    gint gpus = 0;
    char **left = NULL;
    GError *error = NULL;
    assert_true(parse("try -s dgx-h100 one --set a.b=1 --set c.d=x=y -n 4 --config f.ini --seed 7 "
                      "--fidelity flow --calendar systemc --data off --max-memory 1M "
                      "--format json --html h --perfetto p --vcd v --log link:debug two",
                      &options, &gpus, &left, &error));
    assert_int_equal(gpus, 4);
    assert_string_equal(options.system, "dgx-h100");
    assert_string_equal(options.sets[0], "a.b=1");
    assert_string_equal(options.sets[1], "c.d=x=y");
    assert_null(options.sets[2]);
    assert_string_equal(options.config, "f.ini");
    assert_true(options.seed == 7);
    assert_int_equal(options.fidelity, COLL_FLOW);
    assert_int_equal(options.calendar, SIM_CALENDAR_SYSTEMC);
    assert_int_equal(options.data, DATA_OFF);
    assert_true(options.max_memory == 1048576);
    assert_int_equal(options.format, REPORT_JSON);
    assert_string_equal(options.html, "h");
    assert_string_equal(options.perfetto, "p");
    assert_string_equal(options.vcd, "v");
    assert_string_equal(options.log, "link:debug");
    assert_string_equal(left[1], "one");
    assert_string_equal(left[2], "two");
    assert_null(left[3]);
    g_strfreev(left);
    options_clear(&options);
}

/* Proves that each wrong command line is refused with one line that says what is wrong and what is
 * right. */
static void test_bad_lines(void **state)
{
    (void)state;
    static const struct {
        const char *line, *says;
    } bad[] = {
        {"try --sytem x", "did you mean --system?"},
        {"try --gpu 4", "did you mean --gpus?"},
        {"try -n four", "four"},
        {"try --seed -1", "'-1' is not a whole number from 0"},
        {"try --seed 1x", "--seed: '1x'"},
        {"try --seed 18446744073709551616", "to 18446744073709551615"},
        {"try --fidelity flwo", "--fidelity: 'flwo' is unknown; did you mean 'flow'?"},
        {"try --calendar x", "known are wheel, systemc"},
        {"try --data maybe", "known are auto, full, off"},
        {"try --data yes", "every byte is kept by --data full"},
        {"try --format html", "known are text, json, csv"},
        {"try --max-memory lots", "--max-memory: 'lots' is not a size"},
        {"try --set", "Missing argument"},
        {"try --set link", "'link' is not section.key=value"},
        {"try --set link.vcs", "'link.vcs' is not"},
        {"try --set link.vcs=", "'link.vcs=' is not"},
        {"try --set .vcs=1", "'.vcs=1' is not"},
        {"try --set link.=1", "'link.=1' is not"},
        {"try --set link=1.5", "'link=1.5' is not"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
        Options options;
        gint gpus = 0;
        GError *error = NULL;
        if (parse(bad[i].line, &options, &gpus, NULL, &error))
            fail_msg("'%s' was taken", bad[i].line);
        assert_non_null(error);
        if (!strstr(error->message, bad[i].says) || strchr(error->message, '\n'))
            fail_msg("'%s' says: %s", bad[i].line, error->message);
        g_error_free(error);
    }
}

/* Proves that a file which a verb cannot write, and a fidelity that it does not have, are refused, not ignored. */
static void test_unable(void **state)
{
    (void)state;
    static const Verb plain = {.name = "plain", .usage = "", .text = ""};
    const GOptionEntry own[] = {{NULL, 0, 0, 0, NULL, NULL, NULL}};
    static const char *const lines[] = {"--vcd", "--perfetto", "--fidelity"};
    for (gsize i = 0; i < G_N_ELEMENTS(lines); i++) {
        char *words[] = {(char *)"plain", (char *)lines[i], (char *)"flow", NULL};
        char **argv = words;
        int argc = 3;
        Options options;
        ExitCode code;
        GError *error = NULL;
        assert_false(options_parse(&options, &plain, own, &argc, &argv, &code, &error));
        assert_int_equal(code, EXIT_USER);
        assert_true(g_str_has_prefix(error->message, lines[i]));
        g_error_free(error);
    }
}

/* Proves that what follows "--" is left alone, dashes and all: fanout exec hands it to a program.
 */
static void test_double_dash(void **state)
{
    (void)state;
    Options options;
    gint gpus = 0;
    char **left = NULL;
    assert_true(parse("try -n 2 -- ./prog -n 3 --seed x", &options, &gpus, &left, NULL));
    assert_int_equal(gpus, 2);
    assert_string_equal(left[1], "./prog");
    assert_string_equal(left[2], "-n");
    assert_string_equal(left[5], "x");
    assert_null(left[6]);
    g_strfreev(left);
    options_clear(&options);
    assert_true(parse("try -- -n", &options, &gpus, &left, NULL));
    assert_string_equal(left[1], "-n");
    assert_null(left[2]);
    g_strfreev(left);
    options_clear(&options);
}

/* Proves that too few and too many arguments are refused with the verb's usage. */
static void test_arguments(void **state)
{
    (void)state;
    char *argv[] = {(char *)"try", (char *)"a", (char *)"b", NULL};
    GError *error = NULL;
    assert_true(options_check_args(&verb_try, 2, argv, 1, 1, &error));
    assert_false(options_check_args(&verb_try, 1, argv, 1, 1, &error));
    assert_non_null(strstr(error->message, "usage: fanout try THING"));
    g_clear_error(&error);
    assert_false(options_check_args(&verb_try, 3, argv, 1, 1, &error));
    assert_non_null(strstr(error->message, "'b' is too much"));
    g_clear_error(&error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),    cmocka_unit_test(test_all_given), cmocka_unit_test(test_bad_lines),
        cmocka_unit_test(test_double_dash), cmocka_unit_test(test_arguments), cmocka_unit_test(test_unable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
