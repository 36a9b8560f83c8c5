/* See reference.h. */
#include "cli/reference/internal.h"

#include <stdio.h>
#include <string.h>

gboolean reference_answer(const Verb *verb, const GOptionEntry *own, const GOptionEntry *common, int argc, char **argv)
{
    if (argc != 2)
        return FALSE;
    if (strcmp(argv[1], "--list-reference") == 0) {
        reference_list(verb, own, common);
    } else if (strcmp(argv[1], "--manual") == 0) {
        reference_manual(verb, own, common);
    } else if (g_str_has_prefix(argv[1], REFERENCE_COMPLETE)) {
        g_auto(GStrv) words = g_strsplit(argv[1] + strlen(REFERENCE_COMPLETE), REFERENCE_BETWEEN, -1);
        if (*words)
            reference_complete(verb, own, common, words);
    } else {
        return FALSE;
    }
    return TRUE;
}

char *reference_examples(const Verb *verb)
{
    GString *text = g_string_new(NULL);
    const About *about = about_find(verb->name);
    for (const AboutExample *example = about ? about->examples : NULL; example && example->line; example++)
        g_string_append_printf(text, "%s  fanout %s\n      %s\n", text->len ? "" : "Examples:\n", example->line,
                               example->text);
    return g_string_free(text, FALSE);
}
