#include "tests/test.h"

#include <glib/gstdio.h>
#include <unistd.h>
#include <json-glib/json-glib.h>

#include "sim/report/timeline.h"

/* Opens a timeline in a new directory, lets `fill` write, closes it, returns the text. */
static char *written(void (*fill)(Timeline *))
{
    char *dir = g_dir_make_tmp("fanout-XXXXXX", NULL), *text = NULL;
    char *path = g_build_filename(dir, "t.json", NULL);
    GError *error = NULL;
    Timeline *timeline = timeline_open(path, &error);
    assert_non_null(timeline);
    if (fill)
        fill(timeline);
    assert_true(timeline_close(timeline, &error));
    assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_unlink(path);
    g_rmdir(dir);
    g_free(path);
    g_free(dir);
    return text;
}

static JsonArray *events_of(JsonParser *parser, const char *text)
{
    GError *error = NULL;
    if (!json_parser_load_from_data(parser, text, -1, &error))
        fail_msg("%s in %s", error->message, text);
    JsonObject *top = json_node_get_object(json_parser_get_root(parser));
    return json_object_get_array_member(top, "traceEvents");
}

static void fill_one_of_each(Timeline *timeline)
{
    const char *const facts[] = {"bytes", "64M", "algo", "\"nvls\"", NULL};
    guint32 gpu = timeline_add_group(timeline, "gpu0");
    guint32 other = timeline_add_group(timeline, "gpu1\xff");
    guint32 track = timeline_add_track(timeline, other, "stream 1");
    timeline_add_slice_with(timeline, track, "all_reduce", 1000001, 3000004, facts);
    timeline_add_slice(timeline, track, "empty", 5, 5);
    timeline_add_counter(timeline, gpu, "busy", 12345678901234567ull, 87.5);
}

/* Proves that the file is JSON of the trace event format, with tracks in their groups, names and
 * facts. */
static void test_events(void **state)
{
    (void)state;
    char *text = written(fill_one_of_each);
    JsonParser *parser = json_parser_new();
    JsonArray *events = events_of(parser, text);
    assert_int_equal(json_array_get_length(events), 6);
    JsonObject *slice = json_array_get_object_element(events, 3);
    assert_string_equal(json_object_get_string_member(slice, "ph"), "X");
    assert_string_equal(json_object_get_string_member(slice, "name"), "all_reduce");
    assert_int_equal(json_object_get_int_member(slice, "pid"), 2);
    assert_int_equal(json_object_get_int_member(slice, "tid"), 1);
    JsonObject *args = json_object_get_object_member(slice, "args");
    assert_string_equal(json_object_get_string_member(args, "algo"), "\"nvls\"");
    JsonObject *counter = json_array_get_object_element(events, 5);
    assert_string_equal(json_object_get_string_member(counter, "ph"), "C");
    args = json_object_get_object_member(counter, "args");
    assert_true(json_object_get_double_member(args, "value") == 87.5);
    g_object_unref(parser);
    g_free(text);
}

/* Proves that times keep every picosecond, also beyond what a double could hold. */
static void test_times(void **state)
{
    (void)state;
    char *text = written(fill_one_of_each);
    assert_non_null(strstr(text, "\"ts\":1.000001,\"dur\":2.000003,"));
    assert_non_null(strstr(text, "\"ts\":0.000005,\"dur\":0.000000}"));
    assert_non_null(strstr(text, "\"ts\":12345678901.234567,"));
    g_free(text);
}

/* Proves that a timeline without events is still a file that viewers open. */
static void test_empty(void **state)
{
    (void)state;
    char *text = written(NULL);
    JsonParser *parser = json_parser_new();
    assert_int_equal(json_array_get_length(events_of(parser, text)), 0);
    g_object_unref(parser);
    g_free(text);
}

/* Proves that no timeline is as good as one: callers need not ask. */
static void test_none(void **state)
{
    (void)state;
    guint32 gpu = timeline_add_group(NULL, "gpu0");
    guint32 track = timeline_add_track(NULL, gpu, "stream");
    timeline_add_slice(NULL, track, "a", 0, 1);
    timeline_add_counter(NULL, gpu, "c", 0, 1);
}

/* Proves that a file which cannot be opened, and a disk that fills up, are errors naming the file.
 */
static void test_errors(void **state)
{
    (void)state;
    GError *error = NULL;
    assert_null(timeline_open("/no/such/place/t.json", &error));
    assert_non_null(strstr(error->message, "/no/such/place/t.json"));
    g_clear_error(&error);
    if (g_access("/dev/full", W_OK) != 0)
        skip();
    Timeline *timeline = timeline_open("/dev/full", &error);
    assert_non_null(timeline);
    fill_one_of_each(timeline);
    assert_false(timeline_close(timeline, &error));
    assert_non_null(strstr(error->message, "/dev/full"));
    g_clear_error(&error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events), cmocka_unit_test(test_times),  cmocka_unit_test(test_empty),
        cmocka_unit_test(test_none),   cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
