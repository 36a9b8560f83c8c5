#include "traces/format/words.h"

#include <string.h>

#include "traces/format/json.h"

gboolean words_time(const char *text, guint64 *ps)
{
    static const struct {
        const char *unit;
        int scale;
    } units[] = {{"ps", 0}, {"ns", 3}, {"us", 6}, {"ms", 9}, {"s", 12}};
    gsize n = strspn(text, "0123456789.");
    for (guint i = 0; i < G_N_ELEMENTS(units); i++) {
        if (n > 0 && strcmp(text + n, units[i].unit) == 0) {
            char *number = g_strndup(text, n);
            gint64 value;
            gboolean ok = json_decimal_text(number, units[i].scale, TRUE, &value);
            g_free(number);
            *ps = ok ? value : 0;
            return ok;
        }
    }
    return FALSE;
}

gboolean words_u64(const char *text, guint64 max, guint64 *value)
{
    return *text != 0 && text[strspn(text, "0123456789")] == 0 &&
           g_ascii_string_to_unsigned(text, 10, 0, max, value, NULL);
}

GPtrArray *words_split(const char *line)
{
    GPtrArray *words = g_ptr_array_new_with_free_func(g_free);
    GString *word = g_string_new(NULL);
    gboolean quoted = FALSE, any = FALSE;
    for (const char *at = line;; at++) {
        if (*at == 0 || (!quoted && (g_ascii_isspace(*at) || *at == '#'))) {
            if (any)
                g_ptr_array_add(words, g_strdup(word->str));
            g_string_truncate(word, 0);
            any = FALSE;
            if (*at == 0 || *at == '#')
                break;
        } else if (*at == '"') {
            quoted = !quoted;
            any = TRUE;
        } else if (quoted && *at == '\\' && at[1] != 0) {
            at++;
            g_string_append_c(word, *at == 'n' ? '\n' : *at == 't' ? '\t' : *at);
        } else {
            g_string_append_c(word, *at);
            any = TRUE;
        }
    }
    g_string_free(word, TRUE);
    if (quoted) {
        g_ptr_array_free(words, TRUE);
        return NULL;
    }
    return words;
}
