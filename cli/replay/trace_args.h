/* What the verbs that read traces share: their options, and jobs read by them. */
#ifndef CLI_REPLAY_TRACE_ARGS_H
#define CLI_REPLAY_TRACE_ARGS_H

#include <glib.h>

#include "traces/format/reader.h"
#include "traces/record/select.h"

#define TRACE_ARGS_NONE G_MININT /* of a number that was not given */
#define TRACE_ARGS_INIT                                                                                                \
    {                                                                                                                  \
        .world = TRACE_ARGS_NONE, .limit = TRACE_ARGS_NONE                                                             \
    }

typedef struct {
    gboolean lenient;
    char *groups, *plan_bytes, *ranks;
    char **from; /* a format or a time; may be given twice */
    char *to;    /* a time, or of convert a format */
    gint world, limit;
} TraceArgs;

/* The options above, for a verb's own table. */
#define TRACE_ARGS_ENTRIES(a)                                                                                          \
    {"from",    0,                                                                                                     \
     0,         G_OPTION_ARG_STRING_ARRAY,                                                                             \
     &(a).from, "FORMAT of the traces instead of detecting it, or TIME (3ms) to start at",                             \
     "WHAT"},                                                                                                          \
        {"ranks", 0, 0, G_OPTION_ARG_STRING, &(a).ranks, "these ranks only (0-3,8)", "LIST"},                          \
        {"limit", 0, 0, G_OPTION_ARG_INT, &(a).limit, "the first N operations of each rank", "N"},                     \
        {"lenient", 0, 0, G_OPTION_ARG_NONE, &(a).lenient, "skip and count what is wrong", NULL},                      \
        {"world", 0, 0, G_OPTION_ARG_INT, &(a).world, "ranks of the job where the files do not say", "N"},             \
        {"groups", 0, 0, G_OPTION_ARG_FILENAME, &(a).groups, "groups of Chakra files: {\"0\": [0, 1]}", "FILE"},       \
    {                                                                                                                  \
        "plan-bytes", 0, 0, G_OPTION_ARG_STRING, &(a).plan_bytes, "message of an execution plan (1M)", "SIZE"          \
    }

/* Reads the traces and selects from them. until: --to as a time, or NULL. Free with
 * g_ptr_array_free. */
GPtrArray *trace_args_read(const TraceArgs *args, const char *until, const char *const *paths, guint n, GError **error);
void trace_args_clear(TraceArgs *args);

#endif
