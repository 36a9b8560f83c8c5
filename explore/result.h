/* What a point gave: the numbers and words of the JSON report that its command wrote. */
#ifndef EXPLORE_RESULT_H
#define EXPLORE_RESULT_H

#include <glib.h>

typedef enum { OUTPUT_NULL, OUTPUT_INTEGER, OUTPUT_REAL, OUTPUT_TEXT } OutputType;

typedef struct {
    char *name; /* the report's key, which ends in its unit: "time_us"; of the second row of a table "time_us_2" */
    OutputType type;
    gint64 integer;
    double real;
    char *text;
} Output;

typedef struct {
    const char *status; /* "done", "failed" (wrong input), "wrong" (stuck, or not verified) or "died" (by a signal) */
    char *error;        /* what standard error said; NULL: nothing */
    GArray *outputs;    /* Output, in the report's order */
} Result;

/* Of a command that ended as waitpid() says. out: its report, err: its messages. */
Result *result_new(int wait_status, const char *out, gsize out_bytes, const char *err, gsize err_bytes);
void result_free(Result *result);

/* "GB/s" of "busbw_GBps", "" of a name without a unit. */
const char *result_unit(const char *name);

#endif
