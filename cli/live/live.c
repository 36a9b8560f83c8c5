/* See live.h. */
#include "cli/live/live.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/interrupt.h"
#include "cli/live/monitor/monitor.h"
#include "sim/host_clock.h"
#include "sim/report/stream.h"

/* For how long nobody minds that nothing is printed: then rows that are done are shown, and a run that is not on a
 * terminal first says what it does. The longest that it is silent from there on. */
#define LIVE_PATIENCE_S 5u
#define LIVE_PAUSE_MOST_S 300u

struct Live {
    const Options *options;
    Report *report;
    ReportStream *stream;
    ReportStream *aside; /* to standard error; NULL: rows go to standard output: somebody waits there, or it is CSV */
    Progress *progress;
    guint64 total, done;
    gboolean full; /* standard output took no more */
    gint64 begun_us;
    gboolean over; /* all is written: an interruption comes too late */
    void (*end)(void *user);
    void *end_user;
    void (*stop)(void *user);
    void *stop_user;
    pthread_mutex_t lock;
    pthread_t watcher;
    pthread_barrier_t ready; /* the watcher runs: a process that is forked while a thread begins keeps its locks */
    sigset_t signals, before;
};

/* Ends the process unless live_finish() was first. */
#define LIVE_END SIGUSR2 /* to the watcher alone: the run is over */

static void live_put(Live *live, GString *out)
{
    if (out->len && !live->full) {
        progress_wipe(live->progress);
        errno = 0;
        live->full = fwrite(out->str, 1, out->len, stdout) != out->len || fflush(stdout) != 0;
        if (live->full && options_is_left(live->options))
            live->full = FALSE; /* nobody reads on, and the files are wanted all the same */
    }
    g_string_free(out, TRUE);
}

static ExitCode live_write(Live *live, GError **error)
{
    if (live->end)
        live->end(live->end_user);
    /* The files come first: what reads standard output may have gone (a pipe to head). */
    ExitCode code = options_write_files(live->options, live->report, error);
    GString *out = g_string_new(NULL);
    report_stream_end(live->stream, out);
    live_put(live, out);
    if (live->full && code == EXIT_DONE) {
        g_set_error(error, CLI_ERROR, CLI_ERROR_FILE, "cannot write standard output");
        code = EXIT_USER;
    }
    return code;
}

/* Rows that are done, but not printed. A text opens with its answer, which only all rows can give; so they wait for it,
 * unless that takes long: then a terminal gets them at once, and the answer below them, while what goes into a file or
 * a pipe stays whole, the same whatever the host's speed, and standard error has them meanwhile. */
static void live_show(Live *live)
{
    const gboolean text = live->options->format == REPORT_TEXT;
    const gboolean late = host_clock_us() - live->begun_us >= LIVE_PATIENCE_S * G_USEC_PER_SEC;
    if (live->over || (text && !late))
        return;
    GString *out = g_string_new(NULL);
    report_stream_rows(live->aside ? live->aside : live->stream, out);
    if (!live->aside) {
        live_put(live, out);
        return;
    }
    progress_show(live->progress, out->str);
    g_string_free(out, TRUE);
}

static void live_mark(Live *live, const char *why)
{
    report_add_bool(live->report, "incomplete", TRUE);
    report_add_note(live->report, "incomplete: %s after %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " steps", why,
                    live->done, live->total);
}

/* For a signal; meanwhile a run that nobody sees at work says now and then, and ever less often, what it does. */
static int live_wait(Live *live, siginfo_t *info)
{
    guint passed_s = 0, pause_s = LIVE_PATIENCE_S;
    for (;;) {
        const struct timespec pause = {.tv_sec = pause_s};
        const int number = sigtimedwait(&live->signals, info, &pause);
        if (number < 0 && errno == EINTR) /* it was stopped (Ctrl-Z), and goes on */
            continue;
        if (number > 0 || errno != EAGAIN)
            return number;
        passed_s += pause_s;
        live_lock(live);
        live_unlock(live, 0);
        progress_say(live->progress, passed_s);
        pause_s = MIN(passed_s, LIVE_PAUSE_MOST_S);
    }
}

static void *live_watch(void *user)
{
    Live *live = user;
    siginfo_t info;
    pthread_barrier_wait(&live->ready);
    const int number = live_wait(live, &info);
    if (number <= 0 || number == LIVE_END)
        return NULL;
    pthread_sigmask(SIG_SETMASK, &live->before, NULL); /* a second one ends it at once */
    pthread_mutex_lock(&live->lock);
    if (live->over) {
        pthread_mutex_unlock(&live->lock);
        return NULL;
    }
    const gboolean by_page = info.si_code == SI_QUEUE && info.si_value.sival_int == MONITOR_STOPS;
    const char *name = by_page ? "stopped from its page" : interrupt_name(number);
    g_autoptr(GError) error = NULL;
    live_mark(live, name);
    live_write(live, &error);
    if (live->stop)
        live->stop(live->stop_user);
    progress_wipe(live->progress);
    fprintf(stderr, "fanout: %s after %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " steps; the report is incomplete\n",
            name, live->done, live->total);
    if (error)
        fprintf(stderr, "fanout: %s\n", error->message);
    fflush(NULL); /* what --stats has so far */
    _exit(EXIT_INTERRUPTED);
}

/* A page of a browser has no signals and no second thread: who stops it takes all of it away. */
#ifdef __EMSCRIPTEN__
static void live_watch_begin(Live *live) { (void)live_watch, (void)live; }
static void live_watch_end(Live *live) { (void)live; }
static gboolean live_is_watched(void) { return FALSE; }
#else
/* A terminal; or both streams go to one file or pipe (2>&1), which would have rows twice: those that standard error
 * shows, and those of the report. With FANOUT_QUIET standard error shows none, and the report stays whole. */
static gboolean live_is_watched(void)
{
    struct stat out, err;
    if (isatty(STDOUT_FILENO))
        return TRUE;
    return !g_getenv("FANOUT_QUIET") && fstat(STDOUT_FILENO, &out) == 0 && fstat(STDERR_FILENO, &err) == 0 &&
           out.st_dev == err.st_dev && out.st_ino == err.st_ino;
}

static void live_watch_begin(Live *live)
{
    sigemptyset(&live->signals);
    sigaddset(&live->signals, SIGINT);
    sigaddset(&live->signals, SIGTERM);
    sigaddset(&live->signals, LIVE_END);
    pthread_sigmask(SIG_BLOCK, &live->signals, &live->before);
    pthread_barrier_init(&live->ready, NULL, 2);
    if (pthread_create(&live->watcher, NULL, live_watch, live) != 0)
        g_error("no thread can be started");
    pthread_barrier_wait(&live->ready);
}

/* A signal that comes from here on comes too late to be one of this run. */
static void live_watch_end(Live *live)
{
    pthread_kill(live->watcher, LIVE_END);
    pthread_join(live->watcher, NULL);
    pthread_barrier_destroy(&live->ready);
    pthread_sigmask(SIG_SETMASK, &live->before, NULL);
}
#endif

void live_on_stop(Live *live, void (*stop)(void *user), void *user)
{
    live->stop = stop;
    live->stop_user = user;
}

void live_set_total(Live *live, guint64 total) { live->total = total; }

void live_lock(Live *live) { pthread_mutex_lock(&live->lock); }

/* For the page, by its thread. */
static GString *live_report(void *user)
{
    Live *live = user;
    live_lock(live);
    GString *json = report_format(live->report, REPORT_JSON);
    pthread_mutex_unlock(&live->lock);
    return json;
}

Live *live_new(const Options *options, Report *report, const Table *table, guint64 total, const guint *widths)
{
    Live *live = g_new0(Live, 1);
    options_keep_files(options);
    live->options = options;
    live->report = report;
    live->begun_us = host_clock_us();
    live->stream = report_stream_new(report, table, options->format, widths);
    if (options->format == REPORT_TEXT && !live_is_watched()) {
        live->aside = report_stream_new(report, table, REPORT_TEXT, widths);
        report_stream_bare(live->aside);
    }
    live->progress = progress_new(total);
    live->total = total;
    progress_set_monitor(live->progress, options->monitor);
    pthread_mutex_init(&live->lock, NULL);
    live_watch_begin(live);
    monitor_on_report(options->monitor, live_report, live);
    return live;
}

void live_on_end(Live *live, void (*end)(void *user), void *user)
{
    live->end = end;
    live->end_user = user;
}

void live_unlock(Live *live, guint64 steps)
{
    live->done += steps;
    monitor_done(live->options->monitor, live->done);
    live_show(live);
    pthread_mutex_unlock(&live->lock);
}

Progress *live_progress(Live *live) { return live->progress; }

static void live_free(Live *live)
{
    monitor_on_report(live->options->monitor, NULL, NULL);
    live_watch_end(live);
    progress_free(live->progress);
    report_stream_free(live->stream);
    report_stream_free(live->aside);
    pthread_mutex_destroy(&live->lock);
    g_free(live);
}

ExitCode live_finish(Live *live, GError **error)
{
    live_lock(live);
    ExitCode code = live_write(live, error);
    live->over = TRUE;
    pthread_mutex_unlock(&live->lock);
    live_free(live);
    return code;
}

static void live_drop(Live *live, gboolean keep)
{
    live_lock(live);
    if (live->done && keep) {
        g_autoptr(GError) error = NULL;
        live_mark(live, "an error");
        live_write(live, &error);
    }
    live->over = TRUE;
    pthread_mutex_unlock(&live->lock);
    live_free(live);
}

void live_abandon(Live *live) { live_drop(live, TRUE); }

void live_discard(Live *live) { live_drop(live, FALSE); }
