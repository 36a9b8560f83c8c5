#include "traces/format/names.h"

#include <string.h>

#define RANK_DIGITS_MAX 7

NameNumbers *names_numbers(const char *text)
{
    NameNumbers *numbers = g_new0(NameNumbers, 1);
    GString *pattern = g_string_new(NULL);
    numbers->value = g_array_new(FALSE, FALSE, sizeof(guint64));
    numbers->at = g_array_new(FALSE, FALSE, sizeof(guint));
    numbers->end = g_array_new(FALSE, FALSE, sizeof(guint));
    for (const char *c = text; *c != 0;) {
        if (!g_ascii_isdigit(*c)) {
            g_string_append_c(pattern, *c++);
            continue;
        }
        guint at = c - text, end = at + strspn(c, "0123456789");
        guint64 value = g_ascii_strtoull(c, NULL, 10);
        g_array_append_val(numbers->value, value);
        g_array_append_val(numbers->at, at);
        g_array_append_val(numbers->end, end);
        g_string_append_c(pattern, '#');
        c = text + end;
    }
    numbers->text = g_strdup(text);
    numbers->pattern = g_string_free(pattern, FALSE);
    return numbers;
}

void names_numbers_free(NameNumbers *numbers)
{
    if (numbers) {
        g_free(numbers->text);
        g_free(numbers->pattern);
        g_array_free(numbers->value, TRUE);
        g_array_free(numbers->at, TRUE);
        g_array_free(numbers->end, TRUE);
        g_free(numbers);
    }
}

/* The digits behind a word for ranks, or NULL. */
static const char *digits_after_word(const char *base)
{
    static const char *const words[] = {"rank", "worker"};
    for (guint w = 0; w < G_N_ELEMENTS(words); w++) {
        gsize n = strlen(words[w]);
        for (const char *at = base; *at != 0; at++) {
            if (g_ascii_strncasecmp(at, words[w], n) == 0) {
                const char *after = at + n + (at[n] == '-' || at[n] == '_');
                if (g_ascii_isdigit(*after))
                    return after;
            }
        }
    }
    return NULL;
}

NameRank names_rank(const char *path, gint64 *rank)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    const char *digits = digits_after_word(base);
    NameRank kind = digits ? NAME_RANK_WORD : NAME_RANK_NONE;
    for (const char *at = base; *at != 0 && !digits; at++) {
        gsize n = *at == '.' ? strspn(at + 1, "0123456789") : 0;
        if (n > 0 && n <= RANK_DIGITS_MAX && at[1 + n] == '.') {
            digits = at + 1;
            kind = NAME_RANK_DOT;
        }
    }
    gboolean known = digits && strspn(digits, "0123456789") <= RANK_DIGITS_MAX;
    *rank = known ? g_ascii_strtoll(digits, NULL, 10) : -1;
    return known ? kind : NAME_RANK_NONE;
}

char *names_common(const NameNumbers *const *all, guint n)
{
    const char *text = all[0]->text;
    GString *common = g_string_new(NULL);
    guint done = 0;
    for (guint f = 0; f < all[0]->value->len; f++) {
        gboolean differs = FALSE;
        for (guint i = 1; i < n && !differs; i++)
            differs = g_array_index(all[i]->value, guint64, f) != g_array_index(all[0]->value, guint64, f);
        if (differs) {
            guint at = g_array_index(all[0]->at, guint, f);
            g_string_append_len(common, text + done, at - done);
            g_string_append_c(common, '#');
            done = g_array_index(all[0]->end, guint, f);
        }
    }
    g_string_append(common, text + done);
    return g_string_free(common, FALSE);
}

int names_compare_values(const NameNumbers *a, const NameNumbers *b)
{
    guint n = MIN(a->value->len, b->value->len);
    for (guint f = 0; f < n; f++) {
        guint64 x = g_array_index(a->value, guint64, f), y = g_array_index(b->value, guint64, f);
        if (x != y)
            return x < y ? -1 : 1;
    }
    return 0;
}
