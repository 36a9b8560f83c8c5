#include "tests/test.h"

#include <glib/gstdio.h>
#include <json-glib/json-glib.h>
#include <math.h>

#include "sim/report/figures.h"
#include "sim/report/report.h"

static const Column coll_columns[] = {
    COLUMN_U64(bytes, "size", "B", "bytes a rank contributes"),
    COLUMN_TEXT(algo, "algo", "which algorithm"),
    COLUMN_FIXED(busbw_GBps, "busbw", "GB/s", 2, "what the busiest link must carry"),
    COLUMN_BOOL(verified, "verified", "whether the data came out right"),
    COLUMN_END,
};
static const Column total_columns[] = {
    COLUMN_U64(rows, "rows", "", "how many"),
    COLUMN_END,
};

static Report *example_report(void)
{
    Report *report = report_new("coll", "all_reduce");
    report_add_text(report, "system", "dgx-h100");
    report_add_u64(report, "gpus", 8, "");
    report_add_fixed(report, "ratio", 1.4567, 2, "x");
    report_add_text(report, "trace", NULL);
    report_add_bool(report, "stuck", FALSE);
    Table *table = report_add_table(report, "rows", "out of place", coll_columns, 0);
    table_u64(table, 1048576);
    table_text(table, "nvls");
    table_fixed(table, 312.456);
    table_bool(table, TRUE);
    table_u64(table, 67108864);
    table_text(table, "ri,\"ng\"");
    table_fixed(table, NAN);
    table_null(table);
    Table *total = report_add_table(report, "total", "", total_columns, TABLE_ONE_ROW);
    table_u64(total, 2);
    report_add_note(report, "seed %d", 1);
    return report;
}

static char *example_text(ReportFormat format)
{
    Report *report = example_report();
    GString *out = report_format(report, format);
    report_free(report);
    return g_string_free(out, FALSE);
}

/* Proves the text format, byte for byte: aligned columns, units below heads, "-" for what is
 * unknown. */
static void test_text(void **state)
{
    (void)state;
    char *text = example_text(REPORT_TEXT);
    char *body = strchr(text, '\n'); /* the first line has the version */
    assert_non_null(body);
    assert_string_equal(body, "\n"
                              "#   system  dgx-h100\n"
                              "#   gpus    8\n"
                              "#   ratio   1.46 x\n"
                              "#   trace   -\n"
                              "#   stuck   no\n"
                              "#\n"
                              "# out of place\n"
                              "#     size  algo      busbw  verified\n"
                              "#      (B)           (GB/s)\n"
                              "   1048576  nvls     312.46       yes\n"
                              "  67108864  ri,\"ng\"       -         -\n"
                              "#\n"
                              "# rows\n"
                              "     2\n"
                              "#\n"
                              "# seed 1\n");
    g_free(text);
}

/* Proves that CSV is the first table alone, quoted as RFC 4180 says, with nothing for the unknown.
 */
static void test_csv(void **state)
{
    (void)state;
    char *text = example_text(REPORT_CSV);
    assert_string_equal(text, "bytes,algo,busbw_GBps,verified\n"
                              "1048576,nvls,312.46,true\n"
                              "67108864,\"ri,\"\"ng\"\"\",,\n");
    g_free(text);
}

/* Proves with an independent parser that JSON is one object of the promised shape, with null for
 * what is unknown and numbers of the column's decimals. */
static void test_json(void **state)
{
    (void)state;
    char *text = example_text(REPORT_JSON);
    JsonParser *parser = json_parser_new();
    GError *error = NULL;
    assert_true(json_parser_load_from_data(parser, text, -1, &error));
    JsonObject *top = json_node_get_object(json_parser_get_root(parser));
    assert_string_equal(json_object_get_string_member(top, "schema"), "fanout/1");
    assert_string_equal(json_object_get_string_member(top, "report"), "coll");
    assert_int_equal(json_object_get_int_member(top, "gpus"), 8);
    assert_true(json_object_get_null_member(top, "trace"));
    JsonArray *rows = json_object_get_array_member(top, "rows");
    assert_int_equal(json_array_get_length(rows), 2);
    JsonObject *row = json_array_get_object_element(rows, 0);
    assert_int_equal(json_object_get_int_member(row, "bytes"), 1048576);
    assert_true(json_object_get_double_member(row, "busbw_GBps") == 312.46);
    assert_true(json_object_get_boolean_member(row, "verified"));
    row = json_array_get_object_element(rows, 1);
    assert_string_equal(json_object_get_string_member(row, "algo"), "ri,\"ng\"");
    assert_true(json_object_get_null_member(row, "busbw_GBps"));
    assert_true(json_object_get_null_member(row, "verified"));
    JsonObject *total = json_object_get_object_member(top, "total");
    assert_int_equal(json_object_get_int_member(total, "rows"), 2);
    JsonArray *notes = json_object_get_array_member(top, "notes");
    assert_string_equal(json_array_get_string_element(notes, 0), "seed 1");
    assert_non_null(strstr(text, "\"busbw_GBps\": 312.46,"));
    g_object_unref(parser);
    g_free(text);
}

/* Proves that text from outside cannot break out of the HTML page, and that a wrong result stands
 * out. */
static void test_html(void **state)
{
    (void)state;
    Report *report = report_new("coll", "<script>&");
    Table *table = report_add_table(report, "rows", "a<b", coll_columns, 0);
    table_u64(table, 1);
    table_text(table, "</table>");
    table_fixed(table, 1);
    table_bool(table, FALSE);
    GString *out = report_format(report, REPORT_HTML);
    assert_null(strstr(out->str, "<script>"));
    assert_non_null(strstr(out->str, "&lt;script&gt;&amp;"));
    assert_non_null(strstr(out->str, "&lt;/table&gt;"));
    assert_non_null(strstr(out->str, "a&lt;b"));
    assert_non_null(strstr(out->str, "<td class=\"no\">NO</td>"));
    g_string_free(out, TRUE);
    report_free(report);
}

static const Column curve_columns[] = {
    COLUMN_U64(bytes, "size", "B", "x"),
    COLUMN_TEXT(algo, "algo", "series"),
    COLUMN_FIXED(busbw_GBps, "busbw", "GB/s", 2, "y"),
    COLUMN_END,
};

static char *chart_of(const double *values, guint n, ChartFlags flags)
{
    Report *report = report_new("coll", "x");
    Table *table = report_add_table(report, "rows", "", curve_columns, 0);
    for (guint i = 0; i < n; i++) {
        table_u64(table, 1024u << (2 * (i / 2)));
        table_text(table, i % 2 ? "a<b" : "nvls");
        table_fixed(table, values[i]);
    }
    report_add_chart(report, table, "t&t", "bytes", "busbw_GBps", "algo", flags);
    GString *out = report_format(report, REPORT_HTML);
    report_free(report);
    return g_string_free(out, FALSE);
}

static guint count_of(const char *text, const char *what)
{
    guint n = 0;
    for (; (text = strstr(text, what)); text += strlen(what))
        n++;
    return n;
}

/* Proves that a chart has one point for each row with a value, one line for each series, in two pieces where the other
 * one alone has a value in between, ticks that read as sizes, and that nothing from outside breaks out of it. */
static void test_chart(void **state)
{
    (void)state;
    const double values[] = {10, 5, 100, NAN, 400, 50};
    char *html = chart_of(values, 6, CHART_LINES | CHART_LOG_X);
    assert_int_equal(count_of(html, "<circle"), 5);
    assert_int_equal(count_of(html, "<polyline"), 3);
    assert_non_null(strstr(html, ">16K</text>"));
    assert_non_null(strstr(html, ">400</text>"));
    assert_non_null(strstr(html, "a&lt;b 1024, 5.00</title>"));
    assert_non_null(strstr(html, "<figcaption>t&amp;t</figcaption>"));
    assert_null(strstr(html, "nan"));
    /* The largest value stands at the top, the smallest size at the left edge. */
    assert_non_null(strstr(html, "<circle cx=\"630.0\" cy=\"34.0\""));
    assert_non_null(strstr(html, "<circle cx=\"70.0\""));
    g_free(html);
}

/* Proves that large ticks are short: thousands, and millions beyond a thousand of these. */
static void test_chart_large(void **state)
{
    (void)state;
    const double values[] = {1000, 1500000, 8000, 2000000};
    char *html = chart_of(values, 4, 0);
    assert_non_null(strstr(html, ">500k</text>"));
    assert_non_null(strstr(html, "M</text>"));
    assert_null(strstr(html, "e+"));
    g_free(html);
}

/* Proves that charts without points, with one point, or with values that have no logarithm are
 * drawn without nonsense. */
static void test_chart_corners(void **state)
{
    (void)state;
    const double none[] = {NAN, NAN}, one[] = {7}, zero[] = {0, -3, 8, 0};
    const struct {
        const double *values;
        guint n, points;
        ChartFlags flags;
    } cases[] = {
        {none, 0, 0, CHART_LINES}, {none, 2, 0, CHART_LOG_X | CHART_LOG_Y},
        {one, 1, 1, CHART_LOG_X},  {one, 1, 1, CHART_DIAGONAL | CHART_LOG_X | CHART_LOG_Y},
        {zero, 4, 1, CHART_LOG_Y}, {zero, 4, 4, 0},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        char *html = chart_of(cases[i].values, cases[i].n, cases[i].flags);
        assert_int_equal(count_of(html, "<circle"), cases[i].points);
        assert_null(strstr(html, "nan"));
        assert_null(strstr(html, "inf"));
        g_free(html);
    }
}

static const Column histogram_columns[] = {
    COLUMN_FIXED(from_ns, "latency", "ns", 0, "from"),
    COLUMN_FIXED(to_ns, "below", "ns", 0, "to"),
    COLUMN_U64(count, "requests", "", "so many"),
    COLUMN_END,
};

/* Proves that a histogram tells an even spread as one: buckets of 1000, 2000 and 4000 ns with 100, 200 and 400 requests
 * have one in 10 ns throughout, so that every bar of 100 ns has 10 of them and all are as high; the axis says so. */
static void test_histogram(void **state)
{
    (void)state;
    Report *report = report_new("coll", "x");
    Table *table = report_add_table(report, "latencies", "", histogram_columns, 0);
    for (guint i = 0; i < 3; i++) {
        table_fixed(table, 1000 << i);
        table_fixed(table, 2000 << i);
        table_u64(table, 100 << i);
    }
    report_add_chart_split(report, table, "latencies", NULL, "from_ns", "count", NULL, CHART_BARS | CHART_LOG_X);
    GString *out = report_format(report, REPORT_HTML);
    assert_int_equal(count_of(out->str, "<rect x=\""), 70);
    assert_int_equal(count_of(out->str, "height=\"300.0\" class=\"f0\""), 70);
    assert_int_equal(count_of(out->str, " ns: 10</title>"), 70);
    assert_non_null(strstr(out->str, ">requests in every 100 ns</text>"));
    g_string_free(out, TRUE);
    report_free(report);
}

/* Proves that bars are not so narrow that each would have a part of a request: two in a bucket of 100 ns are one bar of
 * that width, whose axis says 2. */
static void test_histogram_few(void **state)
{
    (void)state;
    Report *report = report_new("walk", "x");
    Table *table = report_add_table(report, "latencies", "", histogram_columns, 0);
    table_fixed(table, 1000);
    table_fixed(table, 1100);
    table_u64(table, 2);
    report_add_chart_split(report, table, "latencies", NULL, "from_ns", "count", NULL, CHART_BARS | CHART_LOG_X);
    GString *out = report_format(report, REPORT_HTML);
    assert_int_equal(count_of(out->str, "<rect x=\""), 1);
    assert_non_null(strstr(out->str, "1000 to 1100 ns: 2</title>"));
    assert_non_null(strstr(out->str, ">requests in every 100 ns</text>"));
    g_string_free(out, TRUE);
    report_free(report);
}

/* Proves that a report opens with its answer: in text below its first line, in JSON as a list, in a page before any
 * table; and that a line of one point is no chart, while axes are named in words, with the key behind them. */
static void test_answer(void **state)
{
    (void)state;
    Report *report = report_new("coll", "x");
    Table *table = report_add_table(report, "rows", "", curve_columns, 0);
    report_add_text(report, "system", "s");
    report_add_answer(report, "a<b is %d times as fast", 2);
    report_add_chart(report, table, "curve", "bytes", "busbw_GBps", "algo", CHART_LINES | CHART_LOG_X);
    for (guint rows = 1; rows < 3; rows++) {
        table_u64(table, 1024u * rows);
        table_text(table, "ring");
        table_fixed(table, 10 * rows);
        GString *html = report_format(report, REPORT_HTML);
        assert_int_equal(count_of(html->str, "<figure"), rows - 1);
        const char *answer = strstr(html->str, "<p>a&lt;b is 2 times as fast</p>");
        assert_true(answer && answer < strstr(html->str, "<table>"));
        assert_true(rows == 1 || strstr(html->str, ">bus bandwidth (GB/s) <tspan class=\"key\">busbw_GBps</tspan>"));
        g_string_free(html, TRUE);
    }
    GString *text = report_format(report, REPORT_TEXT), *json = report_format(report, REPORT_JSON);
    assert_non_null(strstr(text->str, "x\n# > a<b is 2 times as fast\n#   system"));
    assert_non_null(strstr(json->str, "\"answer\": [\n  \"a<b is 2 times as fast\"\n ]"));
    g_string_free(text, TRUE);
    g_string_free(json, TRUE);
    report_free(report);
}

/* Proves that numbers are written without surprises: no minus zero, halves and big values as printf
 * has them, the largest integer exactly. */
static void test_numbers(void **state)
{
    (void)state;
    Report *report = report_new("x", "");
    Table *table = report_add_table(report, "rows", "", coll_columns, 0);
    static const double values[] = {-0.001, -0.0, 0.125, 1e15, -1.005};
    for (gsize i = 0; i < G_N_ELEMENTS(values); i++) {
        table_u64(table, G_MAXUINT64);
        table_text(table, NULL);
        table_fixed(table, values[i]);
        table_bool(table, TRUE);
    }
    GString *out = report_format(report, REPORT_CSV);
    assert_string_equal(out->str, "bytes,algo,busbw_GBps,verified\n"
                                  "18446744073709551615,,0.00,true\n"
                                  "18446744073709551615,,0.00,true\n"
                                  "18446744073709551615,,0.12,true\n"
                                  "18446744073709551615,,1000000000000000.00,true\n"
                                  "18446744073709551615,,-1.00,true\n");
    g_string_free(out, TRUE);
    report_free(report);
}

/* Proves that bytes which are no UTF-8 (a file's name) still give valid JSON. */
static void test_invalid_utf8(void **state)
{
    (void)state;
    Report *report = report_new("x", "\xff");
    report_add_text(report, "file", "a\xff\"\n");
    report_add_note(report, "%s", "\xfe");
    for (int format = REPORT_TEXT; report_formats[format]; format++) {
        GString *out = report_format(report, (ReportFormat)format);
        assert_true(g_utf8_validate(out->str, (gssize)out->len, NULL));
        g_string_free(out, TRUE);
    }
    report_free(report);
}

/* Proves that saving writes the file, and that a file that cannot be written is an error naming it.
 */
static void test_save(void **state)
{
    (void)state;
    char *dir = g_dir_make_tmp("fanout-XXXXXX", NULL);
    char *path = g_build_filename(dir, "a.csv", NULL);
    Report *report = example_report();
    GError *error = NULL;
    assert_true(report_save(report, REPORT_CSV, path, &error));
    char *text = NULL, *expected = example_text(REPORT_CSV);
    assert_true(g_file_get_contents(path, &text, NULL, NULL));
    assert_string_equal(text, expected);
    char *absent = g_build_filename(dir, "absent", "a.csv", NULL);
    assert_false(report_save(report, REPORT_CSV, absent, &error));
    assert_non_null(strstr(error->message, "absent"));
    g_error_free(error);
    g_unlink(path);
    g_rmdir(dir);
    g_free(absent);
    g_free(text);
    g_free(expected);
    g_free(path);
    g_free(dir);
    report_free(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),          cmocka_unit_test(test_csv),       cmocka_unit_test(test_json),
        cmocka_unit_test(test_html),          cmocka_unit_test(test_numbers),   cmocka_unit_test(test_invalid_utf8),
        cmocka_unit_test(test_save),          cmocka_unit_test(test_chart),     cmocka_unit_test(test_chart_large),
        cmocka_unit_test(test_chart_corners), cmocka_unit_test(test_histogram), cmocka_unit_test(test_histogram_few),
        cmocka_unit_test(test_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
