/* See result.h. */
#include "explore/result.h"

#include <string.h>
#include <sys/wait.h>
#include <yajl/yajl_parse.h>

/* Rows of a report's first table that become outputs one by one. */
#define RESULT_ROWS_MAX 16

static void result_clear_output(gpointer data)
{
    Output *output = data;
    g_free(output->name);
    g_free(output->text);
}

static GArray *result_outputs_new(void)
{
    GArray *outputs = g_array_new(FALSE, FALSE, sizeof(Output));
    g_array_set_clear_func(outputs, result_clear_output);
    return outputs;
}

/* A report as it is read: most of it is tables that no point's row has, and what is left out is never kept. */
typedef struct {
    GArray *facts, *cells; /* Output: of the report itself, and of its rows */
    guint depth;           /* objects and lists that are open: 1 in the report itself */
    gboolean in_rows;      /* within its member "rows" */
    gboolean is_list;      /* which is several */
    guint row;             /* of a list's elements so many have begun */
    GString *name;         /* of the member that comes, where it may be wanted; "" in a list */
} Reader;

/* Facts that are inputs, or the same for all points, are left out. */
static const char *const result_known[] = {"schema", "report", "version", "seed",   "fidelity",
                                           "system", "title",  "set",     "config", NULL};

static gboolean result_is_wanted(const Reader *reader)
{
    if (reader->name->len == 0)
        return FALSE;
    if (reader->depth == 1)
        return !g_strv_contains(result_known, reader->name->str);
    if (!reader->in_rows)
        return FALSE;
    return reader->is_list ? reader->depth == 3 && reader->row <= RESULT_ROWS_MAX : reader->depth == 2;
}

/* Whatever comes next in a list of rows is its next one. */
static void result_count_row(Reader *reader)
{
    reader->row += reader->in_rows && reader->is_list && reader->depth == 2;
}

/* NULL: nothing that a point's row has. */
static Output *result_add(Reader *reader, OutputType type)
{
    result_count_row(reader);
    if (!result_is_wanted(reader))
        return NULL;
    GArray *outputs = reader->depth == 1 ? reader->facts : reader->cells;
    const guint row = reader->depth == 3 ? reader->row : 1;
    const char *name = reader->name->str;
    const Output output = {.name = row > 1 ? g_strdup_printf("%s_%u", name, row) : g_strdup(name), .type = type};
    g_array_append_val(outputs, output);
    return &g_array_index(outputs, Output, outputs->len - 1);
}

/* ---- yajl's callbacks: 0 ends the reading, as of what is no object */

static int result_on_null(void *user)
{
    Reader *reader = user;
    result_add(reader, OUTPUT_NULL);
    return reader->depth > 0;
}

static int result_on_boolean(void *user, int value)
{
    Reader *reader = user;
    Output *output = result_add(reader, OUTPUT_INTEGER);
    if (output)
        output->integer = value;
    return reader->depth > 0;
}

static int result_on_number(void *user, const char *text, size_t length)
{
    Reader *reader = user;
    Output *output = result_add(reader, OUTPUT_INTEGER);
    if (!output)
        return reader->depth > 0;
    g_autofree char *number = g_strndup(text, length);
    if (strpbrk(number, ".eE")) {
        output->type = OUTPUT_REAL;
        output->real = g_ascii_strtod(number, NULL);
    } else {
        output->integer = (gint64)g_ascii_strtoull(number, NULL, 10); /* which takes a minus, too */
    }
    return 1;
}

static int result_on_string(void *user, const unsigned char *text, size_t length)
{
    Reader *reader = user;
    Output *output = result_add(reader, OUTPUT_TEXT);
    if (output)
        output->text = g_strndup((const char *)text, length);
    return reader->depth > 0;
}

static int result_on_object(void *user)
{
    Reader *reader = user;
    result_count_row(reader);
    if (reader->depth++ == 1)
        reader->is_list = FALSE;
    return 1;
}

static int result_on_key(void *user, const unsigned char *text, size_t length)
{
    Reader *reader = user;
    if (reader->depth > 1 && !reader->in_rows)
        return 1;
    g_string_truncate(reader->name, 0);
    g_string_append_len(reader->name, (const char *)text, (gssize)length);
    if (reader->depth == 1)
        reader->in_rows = strcmp(reader->name->str, "rows") == 0;
    return 1;
}

static int result_on_list(void *user)
{
    Reader *reader = user;
    result_count_row(reader);
    g_string_truncate(reader->name, 0);
    if (reader->depth == 1)
        reader->is_list = TRUE;
    return reader->depth++ > 0;
}

static int result_on_end(void *user)
{
    Reader *reader = user;
    reader->depth--;
    return 1;
}

static gboolean result_read(Result *result, const char *out, gsize bytes)
{
    static const yajl_callbacks callbacks = {.yajl_null = result_on_null,
                                             .yajl_boolean = result_on_boolean,
                                             .yajl_number = result_on_number,
                                             .yajl_string = result_on_string,
                                             .yajl_start_map = result_on_object,
                                             .yajl_map_key = result_on_key,
                                             .yajl_end_map = result_on_end,
                                             .yajl_start_array = result_on_list,
                                             .yajl_end_array = result_on_end};
    Reader reader = {.facts = result->outputs, .cells = result_outputs_new(), .name = g_string_new(NULL)};
    yajl_handle yajl = yajl_alloc(&callbacks, NULL, &reader);
    const gboolean good = yajl_parse(yajl, (const unsigned char *)out, bytes) == yajl_status_ok &&
                          yajl_complete_parse(yajl) == yajl_status_ok;
    yajl_free(yajl);
    g_string_free(reader.name, TRUE);
    if (good)
        g_array_append_vals(result->outputs, reader.cells->data, reader.cells->len);
    else
        g_array_set_size(result->outputs, 0);
    g_array_set_clear_func(reader.cells, good ? NULL : result_clear_output);
    g_array_unref(reader.cells);
    return good;
}

/* The lines of standard error as one text, without "fanout VERB: " before them. */
static char *result_error(const char *err, gsize bytes)
{
    enum { LONGEST = 4096 };
    g_autofree char *text = g_utf8_make_valid(err, (gssize)MIN(bytes, LONGEST));
    g_strchomp(text);
    const char *colon = g_str_has_prefix(text, "fanout ") ? strstr(text, ": ") : NULL;
    return *text ? g_strdup(colon ? colon + 2 : text) : NULL;
}

Result *result_new(int wait_status, const char *out, gsize out_bytes, const char *err, gsize err_bytes)
{
    Result *result = g_new0(Result, 1);
    int code = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1;
    result->outputs = result_outputs_new();
    result->error = result_error(err, err_bytes);
    result->status = code == 0 ? "done" : code == 2 ? "wrong" : code < 0 ? "died" : "failed";
    gboolean read = result_read(result, out, out_bytes);
    if (code == 0 && !read) {
        result->status = "failed";
        g_free(result->error);
        result->error = g_strdup("its report is no JSON");
    }
    if (!result->error && code != 0)
        result->error = code < 0 ? g_strdup_printf("ended by signal %d", WTERMSIG(wait_status))
                                 : g_strdup_printf("exit code %d", code);
    return result;
}

void result_free(Result *result)
{
    g_array_unref(result->outputs);
    g_free(result->error);
    g_free(result);
}

const char *result_unit(const char *name)
{
    static const struct {
        const char *end, *unit;
    } units[] = {{"GBps", "GB/s"}, {"MBps", "MB/s"},       {"ps", "ps"},      {"ns", "ns"},
                 {"us", "us"},     {"ms", "ms"},           {"s", "s"},        {"pct", "%"},
                 {"bytes", "B"},   {"packets", "packets"}, {"flits", "flits"}};
    g_autofree char *base = g_strdup(name);
    char *last = strrchr(base, '_');
    if (last && last[1] && strspn(last + 1, "0123456789") == strlen(last + 1)) /* "_2": the second row's */
        *last = 0;
    last = strrchr(base, '_');
    const char *end = last ? last + 1 : base;
    for (guint i = 0; i < G_N_ELEMENTS(units); i++)
        if (strcmp(end, units[i].end) == 0 && (last || strlen(end) > 2))
            return units[i].unit;
    return "";
}
