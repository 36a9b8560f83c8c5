/* Edit distance over short names: three rows of the classic table, with swaps of neighbours. */
#include "sim/param/nearest.h"

#include <string.h>

#define NEAREST_LEN_MAX 64

static guint nearest_distance(const char *a, const char *b)
{
    guint row[3][NEAREST_LEN_MAX + 1];
    gsize a_len = strlen(a), b_len = strlen(b);
    if (a_len > NEAREST_LEN_MAX || b_len > NEAREST_LEN_MAX)
        return G_MAXUINT;
    for (gsize j = 0; j <= b_len; j++)
        row[0][j] = (guint)j;
    for (gsize i = 1; i <= a_len; i++) {
        guint *now = row[i % 3], *last = row[(i - 1) % 3], *before = row[(i + 1) % 3];
        now[0] = (guint)i;
        for (gsize j = 1; j <= b_len; j++) {
            char x = g_ascii_tolower(a[i - 1]), y = g_ascii_tolower(b[j - 1]);
            guint best = MIN(last[j], now[j - 1]) + 1;
            best = MIN(best, last[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == g_ascii_tolower(b[j - 2]) && y == g_ascii_tolower(a[i - 2]))
                best = MIN(best, before[j - 2] + 1);
            now[j] = best;
        }
    }
    return row[a_len % 3][b_len];
}

/* The one name of which this is a part, as h100 is of dgx-h100, or begins with it; NULL: none is, or several. */
static const char *nearest_containing(const char *text, const char *const *names, gboolean begins)
{
    const char *found = NULL;

    for (; *names && strlen(text) > 2; names++) {
        const char *at = strstr(*names, text);
        if (!at || (begins && at != *names))
            continue;
        if (found)
            return NULL;
        found = *names;
    }
    return found;
}

const char *nearest_name(const char *text, const char *const *names)
{
    const char *best = NULL, *whole = nearest_containing(text, names, TRUE);
    if (whole)
        return whole; /* multimem.ld is fewer edits from multimem.st than from multimem.ld_reduce */
    /* One edit in a short word, about a third of the letters of a long one. */
    guint limit = MAX(1, (guint)strlen(text) / 3) + 1;
    const char *const *all = names;
    for (; *names; names++) {
        guint distance = nearest_distance(text, *names);
        if (distance < limit) {
            limit = distance;
            best = *names;
        }
    }
    return best ? best : nearest_containing(text, all, FALSE);
}

char *nearest_hint(const char *text, const char *const *names)
{
    const char *near = nearest_name(text, names);
    if (near)
        return g_strdup_printf("; did you mean '%s'?", near);
    char *list = g_strjoinv(", ", (char **)names);
    char *hint = g_strdup_printf("; known are %s", list);
    g_free(list);
    return hint;
}
