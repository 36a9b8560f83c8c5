/* See grid.h. */
#include "cli/table/grid.h"

#include <string.h>

#include "sim/param/size.h"

static gboolean grid_number(const char *option, const char *word, gboolean sizes, guint64 min, guint64 max,
                            guint64 *value, GError **error)
{
    if (!sizes)
        return options_parse_u64(option, word, min, max, value, error);
    GError *failure = NULL;
    if (!size_parse(option, word, value, &failure)) {
        options_tell_more(failure, "; ", "several are written as 1K,4K,...,64M");
        g_propagate_error(error, failure);
        return FALSE;
    }
    if (*value >= min && *value <= max)
        return TRUE;
    g_autofree char *least = size_format(min), *most = size_format(max);
    g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "%s: '%s' is out of bounds; %s to %s is right", option, word, least,
                most);
    return FALSE;
}

static gboolean grid_bad(const char *option, const char *what, gboolean sizes, GError **error)
{
    g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "%s: %s; %s is right", option, what,
                sizes ? "ascending sizes, as 1K,4K,...,64M," : "ascending numbers, as 2,4,8,...,72,");
    return FALSE;
}

/* Up to `end`, which is not among them. */
static gboolean grid_go_on(const char *option, GArray *grid, guint64 end, gboolean sizes, GError **error)
{
    guint n = grid->len;
    guint64 last = g_array_index(grid, guint64, n - 1), factor = 2;
    if (n > 1) {
        guint64 before = g_array_index(grid, guint64, n - 2);
        factor = last / before;
        if (last % before)
            return grid_bad(option, "the two numbers before '...' have no whole factor", sizes, error);
    }
    for (guint64 next = last * factor; next < end && grid->len < GRID_MAX; next *= factor)
        g_array_append_val(grid, next);
    return TRUE;
}

static gboolean grid_words(const char *option, char **words, gboolean sizes, guint64 min, guint64 max, GArray *grid,
                           GError **error)
{
    gboolean open = FALSE; /* the word before was "..." */
    for (char **word = words; *word; word++) {
        guint64 value;
        if (strcmp(g_strstrip(*word), "...") == 0) {
            if (!grid->len || open || !word[1])
                return grid_bad(option, "'...' stands between two numbers", sizes, error);
            open = TRUE;
            continue;
        }
        if (!grid_number(option, *word, sizes, min, max, &value, error))
            return FALSE;
        if (grid->len && value <= g_array_index(grid, guint64, grid->len - 1))
            return grid_bad(option, "the numbers do not ascend", sizes, error);
        if (open && !grid_go_on(option, grid, value, sizes, error))
            return FALSE;
        open = FALSE;
        g_array_append_val(grid, value);
        if (grid->len > GRID_MAX)
            return grid_bad(option, "more than " G_STRINGIFY(GRID_MAX) " numbers", sizes, error);
    }
    return TRUE;
}

GArray *grid_parse(const char *option, const char *text, gboolean sizes, guint64 min, guint64 max, GError **error)
{
    GArray *grid = g_array_new(FALSE, FALSE, sizeof(guint64));
    g_auto(GStrv) words = g_strsplit(*text ? text : ",", ",", -1);
    if (grid_words(option, words, sizes, min, max, grid, error))
        return grid;
    g_array_free(grid, TRUE);
    return NULL;
}
