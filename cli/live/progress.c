/* See progress.h. */
#include "cli/live/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "cli/live/monitor/monitor.h"

struct Progress {
    guint64 total, done;
    gboolean terminal;
    char *step; /* what it said last */
    Monitor *monitor;
};

Progress *progress_new(guint64 total)
{
    Progress *progress = g_new0(Progress, 1);
    progress->total = total;
    progress->terminal = isatty(STDERR_FILENO);
    return progress;
}

/* Back to the start of the line, and over what stood there. */
static void progress_draw(const Progress *progress, const char *more)
{
    fprintf(stderr, "\r\033[K%s%s%s", progress->step ? progress->step : "", *more ? "; " : "", more);
    fflush(stderr);
}

void progress_set_monitor(Progress *progress, Monitor *monitor) { progress->monitor = monitor; }

void progress_step(Progress *progress, const char *format, ...)
{
    progress->done++;
    if (!progress->terminal && !progress->monitor)
        return;
    va_list args;
    va_start(args, format);
    g_autofree char *what = g_strdup_vprintf(format, args);
    va_end(args);
    monitor_step(progress->monitor, progress->done, progress->total, what);
    if (!progress->terminal)
        return;
    g_free(progress->step);
    if (progress->total)
        progress->step = g_strdup_printf("[%" G_GUINT64_FORMAT "/%" G_GUINT64_FORMAT "] %s", progress->done,
                                         progress->total, what);
    else
        progress->step = g_strdup_printf("[%" G_GUINT64_FORMAT "] %s", progress->done, what);
    progress_draw(progress, "");
}

void progress_note(Progress *progress, const char *format, ...)
{
    if (!progress->terminal && !progress->monitor)
        return;
    va_list args;
    va_start(args, format);
    g_autofree char *what = g_strdup_vprintf(format, args);
    va_end(args);
    monitor_note(progress->monitor, what);
    if (progress->terminal)
        progress_draw(progress, what);
}

void progress_wipe(Progress *progress)
{
    if (!progress->terminal)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
}

void progress_free(Progress *progress)
{
    if (!progress)
        return;
    progress_wipe(progress);
    g_free(progress->step);
    g_free(progress);
}
