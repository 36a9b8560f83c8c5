/* Writes GOAL schedules. */
#include "traces/write.h"

gboolean write_goal(Trace *trace, const char *path, GError **error)
{
    (void)trace;
    g_set_error(error, TRACE_ERROR, TRACE_ERROR_WRITE, "%s: GOAL is not written yet", path);
    return FALSE;
}
