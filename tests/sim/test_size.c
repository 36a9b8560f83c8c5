#include "tests/test.h"

#include "sim/param/size.h"

/* Proves that every way to write a size means what nccl-tests means by it: powers of two. */
static void test_good_sizes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        guint64 bytes;
    } cases[] = {
        {"0", 0},           {"7", 7},
        {"8K", 8192},       {"8k", 8192},
        {"1M", 1048576},    {"64M", 67108864},
        {"1G", 1073741824}, {"1.5K", 1536},
        {"2T", 1ull << 41}, {"64MiB", 1u << 26},
        {"64MB", 1u << 26}, {"512B", 512},
        {"0.5G", 1u << 29}, {"9223372036854775807", G_MAXINT64},
        {"0.015625K", 16},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        guint64 bytes = 1;
        GError *error = NULL;
        gboolean good = size_parse("-b", cases[i].text, &bytes, &error);
        if (!good || bytes != cases[i].bytes)
            fail_msg("%s: %s, %" G_GUINT64_FORMAT, cases[i].text, good ? "ok" : error->message, bytes);
    }
}

/* Proves that whatever is no size is refused with a line that quotes it and says what would be
 * right, and that the output stays untouched. */
static void test_bad_sizes(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "M",
        "-1",
        "+1",
        " 1",
        "1 ",
        "1X",
        "1KK",
        "1.",
        "1.M",
        ".5M",
        "0x10",
        "1e6",
        "1,5M",
        "0.1K",
        "1.5",
        "9223372036854775808",
        "18446744073709551616",
        "99999999999999999999999",
        "8388608T",
        "1KiBs",
        "1.0000001M",
    };
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
        guint64 bytes = 42;
        GError *error = NULL;
        if (size_parse("-b", bad[i], &bytes, &error))
            fail_msg("'%s' was taken as %" G_GUINT64_FORMAT, bad[i], bytes);
        assert_true(bytes == 42);
        assert_non_null(error);
        assert_true(g_str_has_prefix(error->message, "-b: '"));
        assert_non_null(strstr(error->message, bad[i]));
        assert_null(strchr(error->message, '\n'));
        g_error_free(error);
    }
}

/* Proves that what size_format writes is read back as the same number. */
static void test_round_trip(void **state)
{
    (void)state;
    static const guint64 cases[] = {0, 1, 1023, 1024, 1536, 1048576, 67108864, 1ull << 41, 3ull << 60};
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        char *text = size_format(cases[i]);
        guint64 bytes = 0;
        assert_true(size_parse("x", text, &bytes, NULL));
        assert_true(bytes == cases[i]);
        g_free(text);
    }
    char *text = size_format(67108864);
    assert_string_equal(text, "64M");
    g_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_sizes),
        cmocka_unit_test(test_bad_sizes),
        cmocka_unit_test(test_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
