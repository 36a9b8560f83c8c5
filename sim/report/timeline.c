/* One JSON object with a list of events, one a line. Times are microseconds with six decimals, from
 * integers: a picosecond is never lost to a double. */
#include "sim/report/timeline.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <yajl/yajl_gen.h>

#include "sim/report/parts.h"

struct Timeline {
    FILE *file;
    char *path;
    GArray *group_of; /* guint32 by track */
    guint32 groups;
    GHashTable *named;   /* the first group of each name */
    GHashTable *tracks;  /* of timeline_find_track(), by group and name */
    GPtrArray *left_out; /* char * */
    GString *line;       /* of the event at hand */
    guint64 bytes;
    SimTime last_ps; /* of all that was added */
    guint64 arrows;
    gboolean any;
};

Timeline *timeline_open(const char *path, GError **error)
{
    FILE *file = fopen(path, "w");
    if (!file) {
        int why = errno;
        g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(why), "cannot write '%s': %s", path, g_strerror(why));
        return NULL;
    }
    Timeline *timeline = g_new0(Timeline, 1);
    timeline->file = file;
    timeline->path = g_strdup(path);
    timeline->group_of = g_array_new(FALSE, FALSE, sizeof(guint32));
    timeline->named = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    timeline->tracks = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    timeline->left_out = g_ptr_array_new_with_free_func(g_free);
    timeline->line = g_string_new(NULL);
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", file);
    return timeline;
}

/* ---- one event: begin, members, end. A large file is some millions of them, so that they are put together here;
 * yajl writes the strings in which something is to be escaped. */

static void event_quote(GString *line, const char *plain)
{
    g_string_append_c(line, '"');
    g_string_append(line, plain);
    g_string_append_c(line, '"');
}

static void event_string(GString *line, const char *text)
{
    if (markup_is_plain(text, "\"\\")) {
        event_quote(line, text);
        return;
    }
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    yajl_gen gen = yajl_gen_alloc(NULL);
    const unsigned char *escaped;
    size_t length;
    yajl_gen_string(gen, (const unsigned char *)valid, strlen(valid));
    yajl_gen_get_buf(gen, &escaped, &length);
    g_string_append_len(line, (const char *)escaped, (gssize)length);
    yajl_gen_free(gen);
}

static void event_key(GString *line, const char *key)
{
    if (line->str[line->len - 1] != '{')
        g_string_append_c(line, ',');
    event_quote(line, key);
    g_string_append_c(line, ':');
}

static void event_open(GString *line, const char *key)
{
    event_key(line, key);
    g_string_append_c(line, '{');
}

static void event_text(GString *line, const char *key, const char *text)
{
    event_key(line, key);
    event_string(line, text);
}

/* With at least so many digits. */
static void event_digits(GString *line, guint64 value, guint digits)
{
    char text[24];
    guint at = sizeof text;
    for (; value || at + digits > sizeof text; value /= 10)
        text[--at] = (char)('0' + value % 10);
    g_string_append_len(line, text + at, (gssize)(sizeof text - at));
}

static void event_number(GString *line, const char *key, guint64 value)
{
    event_key(line, key);
    event_digits(line, value, 1);
}

static void event_time(GString *line, const char *key, SimTime time_ps)
{
    event_number(line, key, time_ps / PS_PER_US);
    g_string_append_c(line, '.');
    event_digits(line, time_ps % PS_PER_US, 6);
}

static void event_value(GString *line, const char *key, double value)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    event_key(line, key);
    if (value >= 1 && value < 1e6 && value == (double)(guint32)value) /* the same, sooner */
        event_digits(line, (guint32)value, 1);
    else
        g_string_append(line, g_ascii_formatd(text, sizeof text, "%.6g", value));
}

static GString *event_begin(Timeline *timeline, const char *phase, const char *name, guint32 group, guint32 track)
{
    g_string_assign(timeline->line, timeline->any ? ",\n{" : "\n{");
    event_text(timeline->line, "ph", phase);
    event_text(timeline->line, "name", name);
    event_number(timeline->line, "pid", group);
    event_number(timeline->line, "tid", track);
    return timeline->line;
}

static void event_end(Timeline *timeline)
{
    const GString *line = timeline->line;
    g_string_append_c(timeline->line, '}');
    fwrite(line->str, 1, line->len, timeline->file);
    timeline->bytes += line->len + !timeline->any;
    timeline->any = TRUE;
}

static void timeline_add_name(Timeline *timeline, const char *what, guint32 group, guint32 track, const char *name)
{
    GString *line = event_begin(timeline, "M", what, group, track);
    event_open(line, "args");
    event_text(line, "name", name);
    g_string_append_c(line, '}');
    event_end(timeline);
}

/* ---- groups, tracks and what is on them. Numbers begin with 1; 0 is "none" to viewers. */

guint32 timeline_add_group(Timeline *timeline, const char *name)
{
    if (!timeline)
        return 0;
    timeline_add_name(timeline, "process_name", ++timeline->groups, 0, name);
    if (!g_hash_table_contains(timeline->named, name))
        g_hash_table_insert(timeline->named, g_strdup(name), GUINT_TO_POINTER(timeline->groups));
    return timeline->groups;
}

guint32 timeline_find_group(Timeline *timeline, const char *name)
{
    if (!timeline)
        return 0;
    guint32 group = GPOINTER_TO_UINT(g_hash_table_lookup(timeline->named, name));
    return group ? group : timeline_add_group(timeline, name);
}

guint32 timeline_add_track(Timeline *timeline, guint32 group, const char *name)
{
    if (!timeline)
        return 0;
    g_assert(group >= 1 && group <= timeline->groups);
    g_array_append_val(timeline->group_of, group);
    timeline_add_name(timeline, "thread_name", group, timeline->group_of->len, name);
    return timeline->group_of->len;
}

guint32 timeline_find_track(Timeline *timeline, guint32 group, const char *name)
{
    if (!timeline)
        return 0;
    g_autofree char *key = g_strdup_printf("%u %s", group, name);
    guint32 track = GPOINTER_TO_UINT(g_hash_table_lookup(timeline->tracks, key));
    if (track == 0) {
        track = timeline_add_track(timeline, group, name);
        g_hash_table_insert(timeline->tracks, g_steal_pointer(&key), GUINT_TO_POINTER(track));
    }
    return track;
}

static guint32 timeline_group_of(const Timeline *timeline, guint32 track)
{
    g_assert(track >= 1 && track <= timeline->group_of->len);
    return g_array_index(timeline->group_of, guint32, track - 1);
}

void timeline_add_slice_with(Timeline *timeline, guint32 track, const char *name, SimTime start_ps, SimTime end_ps,
                             const char *const *facts)
{
    if (!timeline)
        return;
    g_assert(end_ps >= start_ps);
    GString *line = event_begin(timeline, "X", name, timeline_group_of(timeline, track), track);
    timeline->last_ps = MAX(timeline->last_ps, end_ps);
    event_time(line, "ts", start_ps);
    event_time(line, "dur", end_ps - start_ps);
    if (facts) {
        event_open(line, "args");
        for (; *facts; facts += 2)
            event_text(line, facts[0], facts[1]);
        g_string_append_c(line, '}');
    }
    event_end(timeline);
}

void timeline_add_slice(Timeline *timeline, guint32 track, const char *name, SimTime start_ps, SimTime end_ps)
{
    timeline_add_slice_with(timeline, track, name, start_ps, end_ps, NULL);
}

/* Viewers join the two ends by "id", and bind each to the slice that is open there on its track. */
static void timeline_add_end(Timeline *timeline, const char *phase, guint32 track, SimTime at_ps)
{
    GString *line = event_begin(timeline, phase, "follows", timeline_group_of(timeline, track), track);
    event_text(line, "cat", "follows");
    event_number(line, "id", timeline->arrows);
    event_time(line, "ts", at_ps);
    if (*phase == 'f')
        event_text(line, "bp", "e");
    event_end(timeline);
}

void timeline_add_arrow(Timeline *timeline, guint32 from_track, SimTime from_ps, guint32 to_track, SimTime to_ps)
{
    if (!timeline)
        return;
    g_assert(to_ps >= from_ps);
    timeline->arrows++;
    timeline_add_end(timeline, "s", from_track, from_ps);
    timeline_add_end(timeline, "f", to_track, to_ps);
}

void timeline_add_counter(Timeline *timeline, guint32 group, const char *name, SimTime at_ps, double value)
{
    if (!timeline)
        return;
    g_assert(group >= 1 && group <= timeline->groups);
    GString *line = event_begin(timeline, "C", name, group, 0);
    timeline->last_ps = MAX(timeline->last_ps, at_ps);
    event_time(line, "ts", at_ps);
    event_open(line, "args");
    event_value(line, "value", value);
    g_string_append_c(line, '}');
    event_end(timeline);
}

/* ---- what is left out, and the end */

gboolean timeline_has_room(const Timeline *timeline) { return timeline && timeline->bytes < TIMELINE_BYTES_MOST; }

void timeline_leave_out(Timeline *timeline, const char *format, ...)
{
    if (!timeline)
        return;
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    if (!g_ptr_array_find_with_equal_func(timeline->left_out, text, g_str_equal, NULL))
        g_ptr_array_add(timeline->left_out, g_steal_pointer(&text));
}

char *timeline_left_out(const Timeline *timeline)
{
    if (!timeline || timeline->left_out->len == 0)
        return NULL;
    GString *all = g_string_new(NULL);
    for (guint i = 0; i < timeline->left_out->len; i++)
        g_string_append_printf(all, "%s%s", i ? "; " : "", (const char *)timeline->left_out->pdata[i]);
    return g_string_free(all, FALSE);
}

static void timeline_write_left_out(Timeline *timeline)
{
    g_autofree char *all = timeline_left_out(timeline);
    if (all) {
        const guint32 group = timeline_add_group(timeline, "left out of this file");
        const guint32 track = timeline_add_track(timeline, group, "what");
        for (guint i = 0; i < timeline->left_out->len; i++)
            timeline_add_slice(timeline, track, timeline->left_out->pdata[i], 0, timeline->last_ps);
    }
    fputs("\n]", timeline->file);
    if (!all)
        return;
    g_string_assign(timeline->line, ",\"otherData\":{");
    event_text(timeline->line, "left out", all);
    g_string_append_c(timeline->line, '}');
    fwrite(timeline->line->str, 1, timeline->line->len, timeline->file);
}

gboolean timeline_close(Timeline *timeline, GError **error)
{
    timeline_write_left_out(timeline);
    fputs("}\n", timeline->file);
    gboolean bad = ferror(timeline->file) != 0;
    bad |= fclose(timeline->file) != 0;
    if (bad)
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_IO, "'%s' could not be written completely", timeline->path);
    g_array_free(timeline->group_of, TRUE);
    g_hash_table_destroy(timeline->named);
    g_hash_table_destroy(timeline->tracks);
    g_ptr_array_free(timeline->left_out, TRUE);
    g_string_free(timeline->line, TRUE);
    g_free(timeline->path);
    g_free(timeline);
    return !bad;
}
