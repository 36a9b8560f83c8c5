/* Numbers in file names: which files are of one set, and which rank each is of. */
#ifndef TRACES_FORMAT_NAMES_H
#define TRACES_FORMAT_NAMES_H

#include <glib.h>

typedef struct {
    char *text;
    char *pattern; /* the text with each number as '#': "worker#_step_#.json" */
    GArray *value; /* guint64 of each number; those of over 19 digits saturate */
    GArray *at;    /* guint: its first digit in the text */
    GArray *end;   /* guint: behind its last digit */
} NameNumbers;

NameNumbers *names_numbers(const char *text);
void names_numbers_free(NameNumbers *numbers);

typedef enum {
    NAME_RANK_NONE,
    NAME_RANK_DOT, /* "x.3.et": by its place alone */
    NAME_RANK_WORD /* "rank3", "rank-3", "rank_3", "worker3" */
} NameRank;
/* The rank that a file's name (the last part of the path) says; -1 with NAME_RANK_NONE. */
NameRank names_rank(const char *path, gint64 *rank);

/* The text of the first with '#' for each number in which they differ; all have one pattern. Caller
 * frees. */
char *names_common(const NameNumbers *const *all, guint n);
/* By the values of the numbers, the first that differs deciding. */
int names_compare_values(const NameNumbers *a, const NameNumbers *b);

#endif
