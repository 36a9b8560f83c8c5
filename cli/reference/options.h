/* The command line as data: what man pages, shell completion, the reference and tests are made of, so that none of
 * them can say other than the tables that the command itself reads. */
#ifndef CLI_REFERENCE_OPTIONS_H
#define CLI_REFERENCE_OPTIONS_H

#include "cli/verb/verb.h"

/* Prints one JSON object for a verb (the hidden option --list-options): its name, usage and text, which of --html,
 * --perfetto, --vcd and --format it has and why not the others, and every option that its help lists, own ones first.
 * Both tables end with {NULL}. */
void reference_print_options(const Verb *verb, const GOptionEntry *own, const GOptionEntry *common);

#endif
