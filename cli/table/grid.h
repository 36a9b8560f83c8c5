/* Rows of numbers as people write them: "2,4,8,...,72" and "1K,4K,...,64M". */
#ifndef CLI_TABLE_GRID_H
#define CLI_TABLE_GRID_H

#include "cli/options.h"

#define GRID_MAX 64

/* Numbers within bounds, or sizes in bytes, ascending; "..." goes on with the factor of the two numbers before it (2
 * behind a single one) as far as it stays below the number behind it. Caller frees; NULL: an error that names the
 * option, what is wrong and what would be right. */
GArray *grid_parse(const char *option, const char *text, gboolean sizes, guint64 min, guint64 max, GError **error);

#endif
