#include "traces/format/write.h"

#include <string.h>

const char *const write_formats[] = {"text", "chakra", "goal", "goal-binary", NULL};

static const char *format_of(const char *path)
{
    return g_str_has_suffix(path, ".et")                                        ? "chakra"
           : g_str_has_suffix(path, ".goal")                                    ? "goal"
           : g_str_has_suffix(path, ".bin")                                     ? "goal-binary"
           : g_str_has_suffix(path, ".trace") || g_str_has_suffix(path, ".txt") ? "text"
                                                                                : NULL;
}

gboolean write_possible(const Trace *trace, GError **error)
{
    if (trace->plan) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_WRITE,
                    "%s: an execution plan is a device program; no other format has operations for "
                    "it: replay the plan itself",
                    trace->name);
    }
    return !trace->plan;
}

gboolean write_is_text(const char *path, const char *format)
{
    format = format ? format : format_of(path);
    return format && strcmp(format, "text") == 0;
}

guint32 write_files(const Trace *trace, const char *path, const char *format)
{
    format = format ? format : format_of(path);
    return format && strcmp(format, "chakra") == 0 ? trace->world : 1;
}

gboolean write_trace(Trace *trace, const char *path, const char *format, GError **error)
{
    format = format ? format : format_of(path);
    if (!format) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_WRITE,
                    "%s: the name should end in .trace (text), .et (Chakra), .goal or .bin (GOAL, binary)", path);
        return FALSE;
    }
    if (!write_possible(trace, error))
        return FALSE;
    if (strcmp(format, "chakra") == 0) {
        char *prefix = g_strndup(path, strlen(path) - (g_str_has_suffix(path, ".et") ? 3 : 0));
        gboolean ok = write_chakra(trace, prefix, error);
        g_free(prefix);
        return ok;
    }
    gboolean binary = strcmp(format, "goal-binary") == 0;
    return binary || strcmp(format, "goal") == 0 ? write_goal(trace, path, binary, error)
                                                 : write_text(trace, path, error);
}
