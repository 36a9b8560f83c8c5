/* What a word on the command line may become. One candidate a line, with a tab and what it is where that is known; a
 * line ":files" says that a file's name is right, too, ":nospace" that more of the same word follows. The shells'
 * halves are fanout.bash and _fanout. */
#include "cli/reference/internal.h"

#include <stdio.h>
#include <string.h>

void reference_offer(const char *begin, const char *candidate, const char *text)
{
    if (g_str_has_prefix(candidate, begin))
        printf("%s%s%s\n", candidate, text ? "\t" : "", text ? text : "");
}

/* "--name", "--name=..." or "-n". */
static const GOptionEntry *complete_find_in(const GOptionEntry *entries, const char *word)
{
    const char *equals = strchr(word, '=');
    gsize length = equals ? (gsize)(equals - word) : strlen(word);
    for (const GOptionEntry *entry = entries; entry->long_name; entry++) {
        if (length > 2 && word[0] == '-' && word[1] == '-' && strlen(entry->long_name) == length - 2 &&
            strncmp(entry->long_name, word + 2, length - 2) == 0)
            return entry;
        if (length == 2 && word[0] == '-' && entry->short_name && word[1] == entry->short_name)
            return entry;
    }
    return NULL;
}

static const GOptionEntry *complete_find(const GOptionEntry *own, const GOptionEntry *common, const char *word)
{
    const GOptionEntry *entry = complete_find_in(own, word);
    return entry ? entry : complete_find_in(common, word);
}

static void complete_options(const GOptionEntry *entries, const char *begin)
{
    for (const GOptionEntry *entry = entries; entry->long_name; entry++) {
        g_autofree char *name = g_strconcat("--", entry->long_name, NULL);
        reference_offer(begin, name, entry->description);
    }
}

/* before: what stands in front of the value in the same word, as "--algo=". */
static void complete_value(const Verb *verb, const GOptionEntry *option, const char *before, const char *begin)
{
    Choices choices = choices_of(verb, option, begin);
    const char *comma = choices.list ? strrchr(begin, ',') : NULL;
    g_autofree char *whole = g_strdup_printf("%s%s", before, begin);
    for (char **name = choices.names; name && *name; name++) {
        g_autofree char *candidate = g_strdup_printf("%s%.*s%s", before, comma ? (int)(comma + 1 - begin) : 0, begin,
                                                     *name);
        reference_offer(whole, candidate, NULL);
    }
    if (choices.keys || choices.list)
        printf(":nospace\n");
    if (choices.files)
        printf(":files\n");
    g_strfreev(choices.names);
}

/* How many words before the last are arguments; -1: they belong to another program. */
static int complete_arguments(const GOptionEntry *own, const GOptionEntry *common, char **words, guint n)
{
    int arguments = 0;
    for (guint i = 0; i + 1 < n; i++) {
        if (strcmp(words[i], "--") == 0)
            return -1;
        const GOptionEntry *entry = *words[i] == '-' ? complete_find(own, common, words[i]) : NULL;
        if (entry && reference_takes_value(entry) && !strchr(words[i], '='))
            i++;
        else if (*words[i] != '-')
            arguments++;
    }
    return arguments;
}

void reference_complete(const Verb *verb, const GOptionEntry *own, const GOptionEntry *common, char **words)
{
    const guint n = g_strv_length(words);
    const char *last = words[n - 1], *equals = strchr(last, '=');
    const GOptionEntry *before = n > 1 && !strchr(words[n - 2], '=') ? complete_find(own, common, words[n - 2]) : NULL;
    const GOptionEntry *same = equals ? complete_find(own, common, last) : NULL;
    const int arguments = complete_arguments(own, common, words, n);
    if (arguments < 0) {
        printf(":files\n");
    } else if (before && reference_takes_value(before)) {
        complete_value(verb, before, "", last);
    } else if (same && reference_takes_value(same)) {
        g_autofree char *front = g_strndup(last, (gsize)(equals + 1 - last));
        complete_value(verb, same, front, equals + 1);
    } else if (*last == '-') {
        complete_options(own, last);
        complete_options(common, last);
    } else if (arguments == 0) {
        complete_value(verb, NULL, "", last);
    } else {
        printf(":files\n");
    }
}
