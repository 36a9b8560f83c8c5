/* Results of rows in a file that grows with each of them, so that a run that was ended goes on where it was.
 *
 *     fanout validate journal 1 SETTINGS
 *     KEY <tab> value SIMULATED EXTRAPOLATED CHECK
 *     KEY <tab> skip REASON
 *
 * KEY is a hash of what the row says and where it stands. A line that was cut off is not there. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "validate/validate.h"
#include "sim/param/whole.h"

#define JOURNAL_HEAD "fanout validate journal 1 "

struct ValidateJournal {
    FILE *file;
    char *path;
};

static char *journal_key(const ValidateRow *row)
{
    char number[G_ASCII_DTOSTR_BUF_SIZE];
    g_autoptr(GString) text = g_string_new(NULL);
    g_string_append_printf(text, "%s:%u %s %s", row->file, row->line, row->name,
                           g_ascii_dtostr(number, sizeof number, row->measured));
    if (row->nccl) { /* a cell of a table says it nowhere else */
        g_autofree char *version = coll_nccl_format(row->nccl);
        g_string_append_printf(text, " nccl %s", version);
    }
    return g_compute_checksum_for_string(G_CHECKSUM_SHA256, text->str, -1);
}

static void journal_take(ValidateRow *row, const char *text)
{
    if (g_str_has_prefix(text, "skip ")) {
        row->skipped = g_strdup(text + 5);
        row->known = TRUE;
    } else if (g_str_has_prefix(text, "value ")) {
        char *rest;
        row->simulated = g_ascii_strtod(text + 6, &rest);
        row->extrapolated = g_ascii_strtoull(rest, &rest, 10) != 0;
        row->check_pct = g_ascii_strtod(rest, NULL);
        row->error_pct = (row->simulated - row->measured) / row->measured * 100;
        row->known = !isnan(row->simulated);
    }
}

static void journal_read(GPtrArray *rows, char **lines)
{
    GHashTable *result = g_hash_table_new(g_str_hash, g_str_equal);
    for (char **line = lines; *line && line[1]; line++) { /* what stands behind the last newline was cut off */
        char *tab = strchr(*line, '\t');
        if (!tab)
            continue;
        *tab = '\0';
        g_hash_table_insert(result, *line, tab + 1);
    }
    for (guint i = 0; i < rows->len; i++) {
        ValidateRow *row = g_ptr_array_index(rows, i);
        g_autofree char *key = journal_key(row);
        const char *text = row->skipped ? NULL : g_hash_table_lookup(result, key);
        if (text)
            journal_take(row, text);
    }
    g_hash_table_destroy(result);
}

ValidateJournal *validate_journal_open(GPtrArray *rows, const char *path, const char *settings, GError **error)
{
    g_autofree char *text = NULL, *head = g_strconcat(JOURNAL_HEAD, settings, NULL);
    gsize length = 0;
    if (g_file_test(path, G_FILE_TEST_EXISTS) && !whole_read(path, &text, &length, error))
        return NULL;
    g_auto(GStrv) lines = g_strsplit(text ? text : "", "\n", 0);
    if (length && (!lines[0] || !lines[1] || strcmp(lines[0], head) != 0)) {
        gboolean ours = g_str_has_prefix(text, JOURNAL_HEAD);
        g_set_error(error, VALIDATE_ERROR, VALIDATE_ERROR_FILE, "%s:1: %s; another file, or none there, is right", path,
                    ours ? "the rows in it were simulated with other settings" : "this is no journal of validate");
        return NULL;
    }
    FILE *file = fopen(path, "a");
    if (!file) {
        g_set_error(error, VALIDATE_ERROR, VALIDATE_ERROR_FILE, "%s: %s", path, g_strerror(errno));
        return NULL;
    }
    if (length)
        journal_read(rows, lines + 1);
    if (!length)
        fprintf(file, "%s\n", head);
    else if (text[length - 1] != '\n')
        fputc('\n', file); /* ends what was cut off; it has no key of a row */
    fflush(file);
    ValidateJournal *journal = g_new0(ValidateJournal, 1);
    journal->file = file;
    journal->path = g_strdup(path);
    return journal;
}

void validate_journal_add(ValidateJournal *journal, const ValidateRow *row)
{
    char value[G_ASCII_DTOSTR_BUF_SIZE], check[G_ASCII_DTOSTR_BUF_SIZE];
    g_autofree char *key = journal_key(row);
    if (row->skipped)
        fprintf(journal->file, "%s\tskip %s\n", key, row->skipped);
    else
        fprintf(journal->file, "%s\tvalue %s %d %s\n", key, g_ascii_dtostr(value, sizeof value, row->simulated),
                row->extrapolated, g_ascii_dtostr(check, sizeof check, row->check_pct));
    fflush(journal->file);
}

gboolean validate_journal_close(ValidateJournal *journal, GError **error)
{
    if (!journal)
        return TRUE;
    gboolean failed = ferror(journal->file) != 0;
    failed = fclose(journal->file) != 0 || failed;
    if (failed)
        g_set_error(error, VALIDATE_ERROR, VALIDATE_ERROR_FILE, "%s: cannot be written", journal->path);
    g_free(journal->path);
    g_free(journal);
    return !failed;
}
