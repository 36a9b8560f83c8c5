/* Large tables of which little is used: zeroes that take room of the host where they are touched alone. Other than
 * calloc()'s, they never come from a heap that has to be cleared. */
#ifndef MODEL_SHARED_SPARSE_H
#define MODEL_SHARED_SPARSE_H

#include <glib.h>

/* At least one byte; ends the program when the host has no address space. Free with sparse_free(), of the same size. */
gpointer sparse_new(gsize bytes);
void sparse_free(gpointer at, gsize bytes);

#endif
