/* In place of cli/reference/, for programs that parse options and are not the command. */
#include "cli/reference/reference.h"

gboolean reference_answer(const Verb *verb, const GOptionEntry *own, const GOptionEntry *common, int argc, char **argv)
{
    (void)verb, (void)own, (void)common, (void)argc, (void)argv;
    return FALSE;
}

char *reference_examples(const Verb *verb)
{
    (void)verb;
    return g_strdup("");
}
