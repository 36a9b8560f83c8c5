/* Latin hypercube: n samples of a dimension, one in each of n equal parts of it, in an order drawn for the dimension.
 * */
#ifndef EXPLORE_LATIN_H
#define EXPLORE_LATIN_H

#include <glib.h>

/* n numbers from low to high (both included). The order and the place within each part come from the random stream
 * "sweep.latin.NAME" of `seed`, so that a dimension's numbers do not depend on which others there are. Free with
 * g_free. */
guint64 *latin_draw(guint64 seed, const char *name, guint64 n, guint64 low, guint64 high);

#endif
