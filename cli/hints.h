/* What people type who come from another program, or mean something else, and what is right here. */
#ifndef CLI_HINTS_H
#define CLI_HINTS_H

#include <glib.h>

/* Of an option that a verb does not have ("-g", "--nranks"): what to write instead, to be freed; NULL: nothing is
 * known. */
char *hints_option(const char *verb, const char *option);
/* A size with a B is taken in a way which some do not mean: that is told on standard error, once. */
void hints_sizes(const char *verb, int argc, char **argv);
/* The same of -n of coll, with a number that is usual for iterations, which nccl-tests calls so, and is none of
 * GPUs. */
void hints_iterations(guint gpus);
/* Of words of a command that begins with an option: the same words, with the options behind the verb, to be freed.
 * is_verb: whether a word is one. NULL: no word is. */
char *hints_verb_first(int argc, char **argv, gboolean (*is_verb)(const char *word));

#endif
