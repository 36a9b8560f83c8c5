/* See progress.h. */
#include "cli/live/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "cli/live/monitor/monitor.h"

struct Progress {
    guint64 total, done;
    gboolean terminal, quiet; /* quiet: without a terminal it is not to say anything */
    gboolean shown;           /* progress_show() has said why */
    GMutex lock;              /* of the words, which progress_say() reads */
    char *step, *more, *hint; /* what it said last */
    Monitor *monitor;
};

Progress *progress_new(guint64 total)
{
    Progress *progress = g_new0(Progress, 1);
    progress->total = total;
    progress->terminal = isatty(STDERR_FILENO);
    progress->quiet = g_getenv("FANOUT_QUIET") != NULL;
    g_mutex_init(&progress->lock);
    return progress;
}

static void progress_put(Progress *progress, char **word, char *text)
{
    g_mutex_lock(&progress->lock);
    g_free(*word);
    *word = text;
    g_mutex_unlock(&progress->lock);
}

/* Back to the start of the line, and over what stood there. */
static void progress_draw(const Progress *progress)
{
    if (!progress->terminal)
        return;
    fprintf(stderr, "\r\033[K%s%s%s%s%s", progress->step ? progress->step : "", progress->more ? "; " : "",
            progress->more ? progress->more : "", progress->hint ? "; " : "", progress->hint ? progress->hint : "");
    fflush(stderr);
}

void progress_set_monitor(Progress *progress, Monitor *monitor) { progress->monitor = monitor; }

void progress_set_hint(Progress *progress, const char *hint)
{
    progress_put(progress, &progress->hint, g_strdup(hint));
}

void progress_step(Progress *progress, const char *format, ...)
{
    progress->done++;
    va_list args;
    va_start(args, format);
    g_autofree char *what = g_strdup_vprintf(format, args);
    va_end(args);
    monitor_step(progress->monitor, progress->done, progress->total, what);
    char *step = progress->total ? g_strdup_printf("[%" G_GUINT64_FORMAT "/%" G_GUINT64_FORMAT "] %s", progress->done,
                                                   progress->total, what)
                                 : g_strdup_printf("[%" G_GUINT64_FORMAT "] %s", progress->done, what);
    progress_put(progress, &progress->more, NULL);
    progress_put(progress, &progress->step, step);
    progress_draw(progress);
}

void progress_note(Progress *progress, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *what = g_strdup_vprintf(format, args);
    va_end(args);
    monitor_note(progress->monitor, what);
    progress_put(progress, &progress->more, what);
    progress_draw(progress);
}

void progress_say(Progress *progress, guint seconds)
{
    if (progress->terminal || progress->quiet)
        return;
    g_mutex_lock(&progress->lock);
    fprintf(stderr, "fanout: after %u s: %s%s%s%s%s\n", seconds, progress->step ? progress->step : "",
            progress->more && progress->step ? "; " : "", progress->more ? progress->more : "",
            progress->hint ? "; " : "", progress->hint ? progress->hint : "");
    fflush(stderr);
    g_mutex_unlock(&progress->lock);
}

#ifdef __EMSCRIPTEN__ /* a page has standard error at the end, behind all of the report */
static const gboolean progress_is_seen = FALSE;
#else
static const gboolean progress_is_seen = TRUE;
#endif

void progress_show(Progress *progress, const char *rows)
{
    if (progress->quiet || !progress_is_seen || !*rows)
        return;
    progress_wipe(progress);
    if (!progress->shown)
        fputs("fanout: rows as they are done; the report follows on standard output, with its answer first\n", stderr);
    progress->shown = TRUE;
    fputs(rows, stderr);
    progress_draw(progress);
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
    g_free(progress->more);
    g_free(progress->hint);
    g_mutex_clear(&progress->lock);
    g_free(progress);
}
