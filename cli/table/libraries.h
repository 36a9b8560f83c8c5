/* Where the libraries lie that programs are given in place of NVIDIA's. */
#ifndef CLI_TABLE_LIBRARIES_H
#define CLI_TABLE_LIBRARIES_H

#include <glib.h>

/* The folder of libcuda.so.1: beside the program in a build tree, else where it was installed; FANOUT_LIBDIR comes
 * first. Caller frees. NULL: CLI_ERROR_FILE, saying where it was looked for. */
char *libraries_dir(GError **error);
/* A file beside them; in a build tree some have a folder of their own. Caller frees. NULL: it is not there. */
char *libraries_beside(const char *libraries, const char *name);

#endif
