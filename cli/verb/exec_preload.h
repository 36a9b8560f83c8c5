/* What `fanout exec` puts into the environment of its program, so that it finds our libraries. */
#ifndef CLI_VERB_EXEC_PRELOAD_H
#define CLI_VERB_EXEC_PRELOAD_H

#include <glib.h>

/* In front of what the variable has, if anything. */
void exec_prepend(const char *name, const char *value, const char *between);
void exec_compilers(const char *libraries);
/* The small libraries of every process: the report of those that leave by _exit, waits for simulated time, and where
 * they are wanted hosts of trays and simulated clocks. */
void exec_preloads(const char *libraries, gboolean clock, gboolean trays);

#endif
