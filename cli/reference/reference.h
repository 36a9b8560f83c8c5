/* The command line as data: manual pages, shell completion, the reference and tests are made of the tables that the
 * command itself reads, so that none of them can say anything else.
 *
 *     fanout --list-reference              every verb and option, parameter and statistic as JSON
 *     fanout VERB --list-reference         one verb's
 *     fanout VERB --manual                 its manual page
 *     fanout --complete WORD...            what the last word may become, for a shell */
#ifndef CLI_REFERENCE_REFERENCE_H
#define CLI_REFERENCE_REFERENCE_H

#include "cli/verb/verb.h"

/* Between the words of REFERENCE_COMPLETE: no shell word has it. */
#define REFERENCE_BETWEEN "\037"
/* What a verb is asked when words are to be completed: this, and the words behind the verb's name. */
#define REFERENCE_COMPLETE "--complete="

/* Whether argv asks for one of the above, which no person types; then it is answered on standard output. Both tables
 * end with {NULL}. */
gboolean reference_answer(const Verb *verb, const GOptionEntry *own, const GOptionEntry *common, int argc, char **argv);
/* Examples as --help shows them; "" where a verb has none. Caller frees. */
char *reference_examples(const Verb *verb);
/* `fanout --manual`: the page of the command as a whole. verbs ends with NULL. */
void reference_manual_all(const Verb *const *verbs);
/* Every parameter and statistic as JSON, the parameters with the values of the default system; caller frees. NULL: that
 * system cannot be built. */
char *reference_model(GError **error);
/* One candidate for a shell, if it begins with `begin`. text: what it is, or NULL. */
void reference_offer(const char *begin, const char *candidate, const char *text);

#endif
