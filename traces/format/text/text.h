/* Reading the text format: what its two files share. */
#ifndef TRACES_FORMAT_TEXT_TEXT_H
#define TRACES_FORMAT_TEXT_TEXT_H

#include "traces/format/reader.h"

typedef struct {
    Reader *reader;
    GHashTable *nodes;  /* number -> record index + 1, of the current rank */
    GHashTable *groups; /* name -> group index + 1 */
    GArray *pending;    /* PendingDep of the current rank */
    gint64 rank;        /* -1: none yet */
    guint8 *seen;       /* ranks that had their section */
    guint sections;
} Text;

typedef struct {
    guint32 record;
    guint32 line;
    gint64 node;
} PendingDep;

typedef struct {
    Record record;
    guint64 bytes, out;
    gboolean has_bytes, has_out, group_known;
    char *after;
} TextLine;

/* Fills the line from its words; NULL, or the word that is wrong, with what would be right. */
const char *text_line_parse(Text *text, GPtrArray *words, TextLine *line, const char **right);
/* What is wrong with a line's sizes as a whole; NULL: nothing. */
const char *text_line_complete(Text *text, TextLine *line);
/* after=1,2 of the operation that is record `index`; FALSE: it is no list of numbers. */
gboolean text_line_deps(Text *text, TextLine *line, guint32 index);

#endif
