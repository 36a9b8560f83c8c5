/* See progress.h. */
#include "cli/progress.h"

#include <stdio.h>
#include <unistd.h>

struct Progress {
    guint64 total, done;
    gboolean terminal;
};

Progress *progress_new(guint64 total)
{
    Progress *progress = g_new0(Progress, 1);
    progress->total = total;
    progress->terminal = isatty(STDERR_FILENO);
    return progress;
}

void progress_step(Progress *progress, const char *format, ...)
{
    progress->done++;
    if (!progress->terminal)
        return;
    va_list args;
    va_start(args, format);
    char *what = g_strdup_vprintf(format, args);
    va_end(args);
    /* back to the start of the line, and wipe what stood there */
    if (progress->total)
        fprintf(stderr, "\r\033[K[%" G_GUINT64_FORMAT "/%" G_GUINT64_FORMAT "] %s", progress->done,
                progress->total, what);
    else
        fprintf(stderr, "\r\033[K[%" G_GUINT64_FORMAT "] %s", progress->done, what);
    fflush(stderr);
    g_free(what);
}

void progress_free(Progress *progress)
{
    if (progress && progress->terminal) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    g_free(progress);
}
