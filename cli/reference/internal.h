/* What the files of this room share. */
#ifndef CLI_REFERENCE_INTERNAL_H
#define CLI_REFERENCE_INTERNAL_H

#include "cli/reference/about.h"
#include "cli/reference/reference.h"

void reference_list(const Verb *verb, const GOptionEntry *own, const GOptionEntry *common);
void reference_manual(const Verb *verb, const GOptionEntry *own, const GOptionEntry *common);
/* words: those behind the verb's name, split; the last one is to be completed. */
void reference_complete(const Verb *verb, const GOptionEntry *own, const GOptionEntry *common, char **words);

static inline gboolean reference_takes_value(const GOptionEntry *entry) { return entry->arg != G_OPTION_ARG_NONE; }

/* What an option or an argument may be. list: several, with commas between them. */
typedef struct {
    char **names;               /* NULL-terminated; NULL: not known */
    gboolean list, keys, files; /* keys: names end with "=" and have a value behind; files: or a file's name */
} Choices;
/* option: NULL for the verb's first argument. begin: what is there of it. Free the names with g_strfreev. */
Choices choices_of(const Verb *verb, const GOptionEntry *option, const char *begin);

#endif
