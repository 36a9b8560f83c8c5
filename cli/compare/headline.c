/* See headline.h. The time is that of the reports' rows, or their fact where they have one for the whole (a replay, a
 * program). The cause is what changed most in the table of where the time went, as far as both have it; else what the
 * switches counted. */
#include "cli/compare/headline.h"

#include <math.h>
#include <string.h>

#include "explore/side.h"

#define HEADLINE_MUCH 0.05 /* of a count that is a cause */

/* Times that are the answer of a report, the first that differs; a bandwidth says it where there is none. */
static const struct {
    const char *key;
    gboolean is_time;
} measures[] = {{"total_us", TRUE}, {"simulated_us", TRUE}, {"time_us", TRUE}, {"value", FALSE}, {"busbw_GBps", FALSE}};

static gboolean headline_is_of(const Difference *one, const char *table)
{
    const gsize n = strlen(table);
    return strncmp(one->where, table, n) == 0 && (one->where[n] == 0 || one->where[n] == '[');
}

int headline_class(const Difference *one)
{
    static const char *const near[] = {"switches", "switch_levels", "links",   "steps",
                                       "jobs",     "groups",        "overall", "multicast_saves"};
    if (*one->where == 0)
        return 0;
    if (headline_is_of(one, "rows"))
        return 1;
    if (headline_is_of(one, "where"))
        return g_strcmp0(one->key, "time_us") == 0 ? 2 : HEADLINE_REST;
    for (guint i = 0; i < G_N_ELEMENTS(near); i++)
        if (headline_is_of(one, near[i]))
            return 3;
    return HEADLINE_REST;
}

/* ---- where the time went */

typedef struct {
    char *what;
    double us[2];
} Part;

static void part_clear(gpointer part) { g_free(((Part *)part)->what); }

/* Of one report into parts; returns the sum, which is its time. */
static double headline_take(GArray *parts, const char *path, guint side)
{
    g_autoptr(JsonParser) parser = json_parser_new();
    JsonNode *root = side_parse(parser, path, NULL) ? json_parser_get_root(parser) : NULL;
    JsonNode *where = root && JSON_NODE_HOLDS_OBJECT(root) ? json_object_get_member(json_node_get_object(root), "where")
                                                           : NULL;
    double sum = 0;
    if (!where || !JSON_NODE_HOLDS_ARRAY(where))
        return 0;
    for (guint r = 0; r < json_array_get_length(json_node_get_array(where)); r++) {
        JsonNode *row = json_array_get_element(json_node_get_array(where), r);
        JsonObject *object = JSON_NODE_HOLDS_OBJECT(row) ? json_node_get_object(row) : NULL;
        const char *what = object ? json_object_get_string_member_with_default(object, "what", NULL) : NULL;
        if (!what)
            continue;
        const double us = json_object_get_double_member_with_default(object, "time_us", 0);
        guint at = 0;
        while (at < parts->len && strcmp(g_array_index(parts, Part, at).what, what) != 0)
            at++;
        if (at == parts->len) {
            Part part = {.what = g_strdup(what)};
            g_array_append_val(parts, part);
        }
        g_array_index(parts, Part, at).us[side] += us;
        sum += us;
    }
    return sum;
}

static int part_compare(gconstpointer a, gconstpointer b)
{
    const Part *x = a, *y = b;
    const double dx = fabs(x->us[1] - x->us[0]), dy = fabs(y->us[1] - y->us[0]);
    return (dx < dy) - (dx > dy);
}

/* "reduction buffer went from 8 to 18 % of the time (2.21 to 8.49 us), ..."; caller frees. NULL: a report has none. */
static char *headline_cause(const char *path_a, const char *path_b, gboolean slower)
{
    g_autoptr(GArray) parts = g_array_new(FALSE, TRUE, sizeof(Part));
    g_array_set_clear_func(parts, part_clear);
    const double a_us = headline_take(parts, path_a, 0), b_us = headline_take(parts, path_b, 1);
    if (a_us <= 0 || b_us <= 0)
        return NULL;
    g_array_sort(parts, part_compare);
    GString *text = g_string_new(NULL);
    for (guint i = 0, n = 0; i < parts->len && n < 3; i++) {
        const Part *part = &g_array_index(parts, Part, i);
        const double change = part->us[1] - part->us[0];
        if ((change > 0) != slower || fabs(change) < 0.02 * MAX(a_us, b_us))
            continue;
        g_string_append_printf(text, "%s%.*s %sfrom %.0f to %.0f %% of the time (%.2f to %.2f us)", n ? ", " : "",
                               (int)strcspn(part->what, ":"), part->what, n ? "" : "went ", 100 * part->us[0] / a_us,
                               100 * part->us[1] / b_us, part->us[0], part->us[1]);
        n++;
    }
    const gboolean any = text->len > 0;
    return g_string_free(text, !any);
}

/* Sums of what the switches counted, of differences alone: "tag_stalls 0 to 46185"; caller frees, NULL: none. */
static char *headline_counts(const Comparison *comparison, gboolean slower)
{
    static const char *const keys[] = {"tag_stalls", "buffer_stalls", "round_stalls"};
    static const char *const words[] = {"waits for tags", "waits for the reduction buffer", "waits for rounds"};
    GString *text = g_string_new(NULL);
    for (guint k = 0; k < G_N_ELEMENTS(keys); k++) {
        double a = 0, b = 0;
        for (guint i = 0; i < comparison->differences->len; i++) {
            const Difference *one = &g_array_index(comparison->differences, Difference, i);
            if (!headline_is_of(one, "switches") || strcmp(one->key, keys[k]) != 0 || !one->a || !one->b)
                continue;
            a += g_ascii_strtod(one->a, NULL);
            b += g_ascii_strtod(one->b, NULL);
        }
        if ((b > a) == slower && fabs(b - a) > HEADLINE_MUCH * MAX(a, b)) /* less waiting makes nothing slower */
            g_string_append_printf(text, "%s%s went from %.0f to %.0f", text->len ? ", " : "", words[k], a, b);
    }
    const gboolean any = text->len > 0;
    return g_string_free(text, !any);
}

/* ---- the headline */

typedef struct {
    const Difference *most; /* the row that differs most */
    guint slower, faster;
} Found;

static Found headline_find(const Comparison *comparison, const char *key, gboolean is_time)
{
    Found found = {0};
    for (guint i = 0; i < comparison->differences->len; i++) {
        const Difference *one = &g_array_index(comparison->differences, Difference, i);
        if ((*one->where && !headline_is_of(one, "rows")) || strcmp(one->key, key) != 0 || isnan(one->change_pct))
            continue;
        if ((one->change > 0) == is_time)
            found.slower++;
        else
            found.faster++;
        if (!found.most || fabs(one->change_pct) > fabs(found.most->change_pct))
            found.most = one;
    }
    return found;
}

static const char *headline_unit(const char *key)
{
    return g_str_has_suffix(key, "_us") ? " us" : g_str_has_suffix(key, "_GBps") ? " GB/s" : "";
}

static void headline_write(Report *report, const Found *found, gboolean is_time, const char *cause)
{
    const Difference *most = found->most;
    const char *word = is_time ? (most->change > 0 ? "slower" : "faster") : (most->change > 0 ? "more" : "less");
    g_autoptr(GString) text = g_string_new(NULL);
    g_string_append_printf(text, "b is %.0f %% %s: %s to %s%s", fabs(most->change_pct), word, most->a, most->b,
                           headline_unit(most->key));
    if (found->slower + found->faster > 1)
        g_string_append_printf(text, " at %s, where it differs most; %s in %u and %s in %u rows", most->where,
                               is_time ? "slower" : "less", found->slower, is_time ? "faster" : "more", found->faster);
    if (cause)
        g_string_append_printf(text, ", since %s", cause);
    report_add_answer(report, "%s", text->str);
}

/* What the two were asked for, where that differs. */
static void headline_add_settings(Report *report, const Comparison *comparison)
{
    static const char *const keys[] = {"system", "set", "config", "seed", "fidelity"};
    for (guint i = 0; i < comparison->differences->len; i++) {
        const Difference *one = &g_array_index(comparison->differences, Difference, i);
        for (guint k = 0; *one->where == 0 && k < G_N_ELEMENTS(keys); k++)
            if (strcmp(one->key, keys[k]) == 0)
                report_add_answer(report, "they ran with another %s: %s in a, %s in b", one->key,
                                  one->a ? one->a : "none", one->b ? one->b : "none");
    }
}

void headline_add(Report *report, const Comparison *comparison, const char *path_a, const char *path_b)
{
    gboolean any = FALSE;
    for (guint m = 0; m < G_N_ELEMENTS(measures) && !any; m++) {
        const Found found = headline_find(comparison, measures[m].key, measures[m].is_time);
        if (!found.most)
            continue;
        const gboolean slower = (found.most->change > 0) == measures[m].is_time;
        g_autofree char *cause = headline_cause(path_a, path_b, slower);
        if (!cause)
            cause = headline_counts(comparison, slower);
        headline_write(report, &found, measures[m].is_time, cause);
        any = TRUE;
    }
    if (!any)
        report_add_answer(report, comparison->differences->len ? "no time and no bandwidth that both have differs"
                                                               : "nothing differs");
    headline_add_settings(report, comparison);
}
