/* Which libraries the program, and all that it starts, finds under a name: Fanout's in place of NVIDIA's, and those
 * that the user names. Told to libfanout_find.so, which answers the run-time linker. */
#ifndef CLI_EXEC_FOUND_H
#define CLI_EXEC_FOUND_H

#include <glib.h>

/* users: words NAME=PATH of --library, or NULL; they come before Fanout's own. Sets the environment. GError: a word is
 * no such pair, or what it names cannot be put in place. */
gboolean exec_found(const char *libraries, char **users, GError **error);

#endif
