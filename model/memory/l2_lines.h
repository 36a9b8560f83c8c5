/* Which lines of a GPU's memory stand in its L2, where it is not the program that says so (memory_set_cached()).
 *
 * Hardware it stands for: the L2 of a GPU holds the lines of its own memory that were touched last, by whom ever.
 * Modelled: age in bytes brought in. A line is there until `l2_bytes` of others came after the last access to its
 * 4 KiB; stores and copies bring lines as loads do. While all memory of a GPU fits into its L2, all lines are there. A
 * line that nothing has touched yet is there if its region fits.
 * Left out: sets and ways, the two halves of the L2 and their copies of lines, persisting accesses, what multicast
 * brings: its lines are taken to be there. */
#ifndef MODEL_MEMORY_L2_LINES_H
#define MODEL_MEMORY_L2_LINES_H

#include <glib.h>

typedef struct {
    guint64 bytes;      /* L2 capacity */
    guint64 allocated;  /* of the regions that have L2Lines */
    guint64 brought;    /* bytes that misses have brought in so far */
} L2;

typedef struct L2Lines L2Lines;

/* Of a region of so many bytes; l2 outlives it. */
L2Lines *l2_lines_new(L2 *l2, guint64 bytes);
void l2_lines_free(L2Lines *lines); /* NULL is fine */
/* An access to a span within one or two lines: TRUE, one of them was not there; now they are. */
gboolean l2_lines_miss(L2Lines *lines, guint64 offset, guint32 bytes);
/* A copy has read or written a span of any size. */
void l2_lines_bring(L2Lines *lines, guint64 offset, guint64 bytes);

#endif
