/* What people type who come from another program, or mean something else, and what is right here. */
#ifndef CLI_HINTS_H
#define CLI_HINTS_H

#include <glib.h>

/* Of an option that a verb does not have ("-g", "--nranks"): what to write instead, to be freed; NULL: nothing is
 * known. */
char *hints_option(const char *verb, const char *option);
/* Of a word that is no verb ("all_reduce", "nvls", "-v"): the command that may be meant, to be freed; NULL: nothing is
 * known. */
char *hints_not_a_verb(const char *word);
/* Of an argument that a verb has no room for ("ring", "1M", "dgx-h100"): how it is written, to be freed; NULL: nothing
 * is known. */
char *hints_argument(const char *verb, const char *word);
/* Of words of which one is a short option and its value without a space ("-n=8", "-n8"): "-n 8", to be freed; NULL:
 * none is. */
char *hints_glued(int argc, char **argv);
/* A collective's name without what other libraries put around it ("AllReduce" of ncclAllReduce, "all_gather" of
 * all_gather_into_tensor), to be freed; NULL: there is nothing around it. */
char *hints_op(const char *name);
/* A key without its section ("multicast_tags=4", "tags"): the parameters that have it in their name, to be freed; NULL:
 * none has. */
char *hints_parameter(const char *text);
/* A value of an option that is a word of another option, or of another program ("packet" of --engine, "all" of -a):
 * what to write instead; NULL: nothing is known. */
const char *hints_value(const char *option, const char *value);
/* What is no whole number, though its option takes one ("gpu3", "4,8", "all"): what to write, to be freed. */
char *hints_number(const char *verb, const char *option, const char *value);
/* A value of --set that is no assignment: what to write, to be freed; NULL: nothing is known. */
char *hints_set(const char *text);
/* A value of --config that is one: the sentence that refuses it, to be freed; NULL: it may be a file. */
char *hints_config(const char *text);
/* A size that is a range or a list ("1M-16M", "1M,2M"): how sizes are given, to be freed; NULL: it is neither. */
char *hints_size_range(const char *text);
/* A size with a B is taken in a way which some do not mean: that is told on standard error, once. */
void hints_sizes(const char *verb, int argc, char **argv);
/* The same of -n of coll, with a number that is usual for iterations, which nccl-tests calls so, and is none of
 * GPUs. */
void hints_iterations(guint gpus);
/* Of words of a command that begins with an option: the same words, with the options behind the verb, to be freed.
 * is_verb: whether a word is one. NULL: no word is. */
char *hints_verb_first(int argc, char **argv, gboolean (*is_verb)(const char *word));

#endif
