/* Which lines of a GPU's memory stand in its L2, where it is not the program that says so (memory_set_cached()).
 *
 * Hardware it stands for: the L2 of a GPU holds the lines of its own memory that were touched last, by whom ever. It
 * has two halves: a line stands in the half of its memory, and in the other one, too, if an SM there asked for it. So
 * sweeps over lines that one SM each uses begin to miss at half of the L2 and miss all of them at the whole of it.
 * Here a sweep misses all or nothing, and the L2 holds the four fifths of it at which half of a sweep misses
 * (l2_held_bytes()).
 * Modelled: blocks of 4 KiB by age; when the lines that are there are more than it holds, the oldest block goes.
 * Stores and copies bring lines as loads do. While all memory of a GPU fits, all lines are there. A line that nothing
 * has touched yet is there if its region fits.
 * Left out: sets and ways, lines that SMs of both halves use (half of the L2 then), persisting accesses, what multicast
 * brings: its lines are taken to be there.
 * Source: docs/measurements/l2_capacity.csv, H100 with 50 MiB: sweeps of parts that CTAs have for themselves find all
 * up to 24 MiB, 82 % of 32, 63 % of 40, 43 % of 44 and nothing from 48 MiB on; copies, of which both sides count, 85,
 * 51, 28 and 8 % of 32, 40, 44 and 48; sweeps of what all CTAs read find all of 24 MiB and nothing of 28. */
#ifndef MODEL_MEMORY_L2_LINES_H
#define MODEL_MEMORY_L2_LINES_H

#include <glib.h>

struct L2Block;

typedef struct {
    guint64 bytes;     /* what it holds */
    guint64 allocated; /* of the regions that have L2Lines */
    guint64 held;      /* bytes of lines that are there, of those that were touched */
    struct L2Block *newest, *oldest;
} L2;

typedef struct L2Lines L2Lines;

/* What an L2 that says so many bytes of itself holds of lines that one SM each uses: the one rule of what stays. */
guint64 l2_held_bytes(guint64 l2_bytes);
/* Sets what the L2 of a chip that says so many bytes of itself holds. */
void l2_set_bytes(L2 *l2, guint64 l2_bytes);
/* Of a region of so many bytes; l2 outlives it. */
L2Lines *l2_lines_new(L2 *l2, guint64 bytes);
void l2_lines_free(L2Lines *lines); /* NULL is fine */
/* An access to a span within one or two lines: TRUE, one of them was not there; now they are. */
gboolean l2_lines_miss(L2Lines *lines, guint64 offset, guint32 bytes);
/* A copy has read or written a span of any size. */
void l2_lines_bring(L2Lines *lines, guint64 offset, guint64 bytes);

#endif
