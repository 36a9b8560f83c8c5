/* One JSON object with a list of events, one a line. Times are microseconds with six decimals, from
 * integers: a picosecond is never lost to a double. */
#include "sim/report/timeline.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <yajl/yajl_gen.h>

struct Timeline {
    FILE *file;
    char *path;
    GArray *group_of; /* guint32 by track */
    guint32 groups;
    GHashTable *named;   /* the first group of each name */
    GHashTable *tracks;  /* of timeline_find_track(), by group and name */
    GPtrArray *left_out; /* char * */
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
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", file);
    return timeline;
}

/* ---- one event: begin, members, end */

static void event_string(yajl_gen gen, const char *text)
{
    char *valid = g_utf8_make_valid(text, -1);
    yajl_gen_string(gen, (const unsigned char *)valid, strlen(valid));
    g_free(valid);
}

static void event_text(yajl_gen gen, const char *key, const char *text)
{
    event_string(gen, key);
    event_string(gen, text);
}

static void event_number(yajl_gen gen, const char *key, guint64 value)
{
    char text[32];
    g_snprintf(text, sizeof text, "%" G_GUINT64_FORMAT, value);
    event_string(gen, key);
    yajl_gen_number(gen, text, strlen(text));
}

static void event_time(yajl_gen gen, const char *key, SimTime time_ps)
{
    char text[40];
    g_snprintf(text, sizeof text, "%" G_GUINT64_FORMAT ".%06" G_GUINT64_FORMAT, time_ps / PS_PER_US,
               time_ps % PS_PER_US);
    event_string(gen, key);
    yajl_gen_number(gen, text, strlen(text));
}

static void event_time_of(Timeline *timeline, yajl_gen gen, const char *key, SimTime time_ps)
{
    timeline->last_ps = MAX(timeline->last_ps, time_ps);
    event_time(gen, key, time_ps);
}

static yajl_gen event_begin(const char *phase, const char *name, guint32 group, guint32 track)
{
    yajl_gen gen = yajl_gen_alloc(NULL);
    yajl_gen_map_open(gen);
    event_text(gen, "ph", phase);
    event_text(gen, "name", name);
    event_number(gen, "pid", group);
    event_number(gen, "tid", track);
    return gen;
}

static void event_end(Timeline *timeline, yajl_gen gen)
{
    const unsigned char *text;
    size_t len;
    yajl_gen_map_close(gen);
    yajl_gen_get_buf(gen, &text, &len);
    fputs(timeline->any ? ",\n" : "\n", timeline->file);
    fwrite(text, 1, len, timeline->file);
    timeline->bytes += len + 2;
    timeline->any = TRUE;
    yajl_gen_free(gen);
}

static void timeline_add_name(Timeline *timeline, const char *what, guint32 group, guint32 track, const char *name)
{
    yajl_gen gen = event_begin("M", what, group, track);
    event_string(gen, "args");
    yajl_gen_map_open(gen);
    event_text(gen, "name", name);
    yajl_gen_map_close(gen);
    event_end(timeline, gen);
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
    yajl_gen gen = event_begin("X", name, timeline_group_of(timeline, track), track);
    timeline->last_ps = MAX(timeline->last_ps, end_ps);
    event_time(gen, "ts", start_ps);
    event_time(gen, "dur", end_ps - start_ps);
    if (facts) {
        event_string(gen, "args");
        yajl_gen_map_open(gen);
        for (; *facts; facts += 2)
            event_text(gen, facts[0], facts[1]);
        yajl_gen_map_close(gen);
    }
    event_end(timeline, gen);
}

void timeline_add_slice(Timeline *timeline, guint32 track, const char *name, SimTime start_ps, SimTime end_ps)
{
    timeline_add_slice_with(timeline, track, name, start_ps, end_ps, NULL);
}

/* Viewers join the two ends by "id", and bind each to the slice that is open there on its track. */
static void timeline_add_end(Timeline *timeline, const char *phase, guint32 track, SimTime at_ps)
{
    yajl_gen gen = event_begin(phase, "follows", timeline_group_of(timeline, track), track);
    event_text(gen, "cat", "follows");
    event_number(gen, "id", timeline->arrows);
    event_time(gen, "ts", at_ps);
    if (*phase == 'f')
        event_text(gen, "bp", "e");
    event_end(timeline, gen);
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
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    yajl_gen gen = event_begin("C", name, group, 0);
    event_time_of(timeline, gen, "ts", at_ps);
    event_string(gen, "args");
    yajl_gen_map_open(gen);
    event_string(gen, "value");
    g_ascii_formatd(text, sizeof text, "%.6g", value);
    yajl_gen_number(gen, text, strlen(text));
    yajl_gen_map_close(gen);
    event_end(timeline, gen);
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
    yajl_gen gen = yajl_gen_alloc(NULL);
    const unsigned char *text;
    size_t len;
    event_string(gen, all);
    yajl_gen_get_buf(gen, &text, &len);
    fputs(",\"otherData\":{\"left out\":", timeline->file);
    fwrite(text, 1, len, timeline->file);
    fputc('}', timeline->file);
    yajl_gen_free(gen);
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
    g_free(timeline->path);
    g_free(timeline);
    return !bad;
}
