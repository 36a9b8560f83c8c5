/* Tables of docs/measurements/ that tests compare with; a test fails where its table is missing. */
#ifndef TESTS_MEASURED_H
#define TESTS_MEASURED_H

#include "tests/test.h"

/* Its lines; g_strfreev() frees them. */
static inline char **measured_lines(const char *file)
{
    const char *top = g_getenv("TOP_SRCDIR");
    g_autofree char *path = g_build_filename(top ? top : ".", "docs", "measurements", file, NULL), *text = NULL;
    if (!g_file_get_contents(path, &text, NULL, NULL))
        fail_msg("no %s", path);
    return g_strsplit(text, "\n", -1);
}

/* Of each line but the first: "copy,17" -> its last cell. */
static inline GHashTable *measured_table(const char *file)
{
    g_auto(GStrv) lines = measured_lines(file);
    GHashTable *table = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    for (guint i = 1; lines[i]; i++) {
        const char *comma = strrchr(lines[i], ',');
        if (comma)
            g_hash_table_insert(table, g_strndup(lines[i], (gsize)(comma - lines[i])), g_strdup(comma + 1));
    }
    return table;
}

#endif
