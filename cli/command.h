/* A command line as a shell takes it, for pages that say how they are made again. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <glib.h>

/* "fanout VERB WORD...": n words, of which those that mean something to a shell are quoted. Free with g_free(). */
char *command_text(const char *verb, char *const *words, int n);
/* The same with more words behind it; `command` is freed. */
char *command_more(char *command, char *const *words, int n);

#endif
