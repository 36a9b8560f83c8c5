/* See command.h. */
#include "cli/command.h"

#include <string.h>

char *command_more(char *command, char *const *words, int n)
{
    static const char plain[] = G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "-_./,=:+@";
    GString *text = g_string_new(command);
    g_free(command);
    for (int i = 0; i < n; i++) {
        g_autofree char *quoted = g_shell_quote(words[i]);
        const gboolean is_plain = *words[i] && strspn(words[i], plain) == strlen(words[i]);
        g_string_append_printf(text, " %s", is_plain ? words[i] : quoted);
    }
    return g_string_free(text, FALSE);
}

char *command_text(const char *verb, char *const *words, int n)
{
    return command_more(g_strconcat("fanout ", verb, NULL), words, n);
}
