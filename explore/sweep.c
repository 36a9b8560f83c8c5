/* See sweep.h. */
#include "explore/sweep.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "explore/points.h"
#include "explore/worker.h"

/* A point whose process somebody else ends (the kernel without memory, a person) is tried again, up to here. */
#define SWEEP_TRIES 3

typedef struct {
    Worker worker;
    Point point;
    char *command; /* as a person would type it */
    guint tries;
} Slot;

typedef struct {
    const SweepSpec *spec;
    Store *store;
    const SweepRun *run;
    Points *points;
    Slot *slots;
    sigset_t signals, before;
} Sweep;

/* ---- points */

static char **sweep_argv(const Sweep *sweep, const Point *point, char **command)
{
    g_autoptr(GPtrArray) names = spec_inputs(sweep->spec);
    char **argv = workload_command(sweep->spec->workload, sweep->run->program, sweep->spec->folder,
                                   (const char *const *)names->pdata, point->values, names->len);
    GString *typed = g_string_new("fanout");
    for (char **word = argv + 1; *word; word++) {
        gboolean plain = strspn(*word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=./,:+@%") ==
                         strlen(*word) && **word;
        g_autofree char *quoted = plain ? g_strdup(*word) : g_shell_quote(*word);
        g_string_append_printf(typed, " %s", quoted);
    }
    *command = g_string_free(typed, FALSE);
    guint n = g_strv_length(argv);
    argv = g_renew(char *, argv, n + 3);
    argv[n] = g_strdup("--format");
    argv[n + 1] = g_strdup("json");
    argv[n + 2] = NULL;
    return argv;
}

static gboolean sweep_start_slot(Sweep *sweep, Slot *slot, GError **error)
{
    g_free(slot->command);
    g_auto(GStrv) argv = sweep_argv(sweep, &slot->point, &slot->command);
    return worker_start(&slot->worker, argv, error);
}

static gboolean sweep_fill(Sweep *sweep, GError **error)
{
    for (guint i = 0; i < sweep->run->jobs; i++) {
        Slot *slot = &sweep->slots[i];
        if (slot->worker.pid)
            continue;
        if (!points_next(sweep->points, &slot->point))
            return TRUE;
        slot->tries = 1;
        if (!sweep_start_slot(sweep, slot, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean sweep_was_ended(int status)
{
    int by = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return by == SIGKILL || by == SIGTERM || by == SIGINT || by == SIGHUP;
}

static gboolean sweep_check_metric(const Sweep *sweep, GError **error)
{
    g_autofree char *hint = NULL;
    if (store_has_metric(sweep->store, &hint))
        return TRUE;
    g_set_error(error, SPEC_ERROR, SPEC_ERROR_VALUE, "%s:%d: [threshold] metric: '%s' is no output of '%s'%s",
                sweep->spec->path, sweep->spec->threshold.metric_line, sweep->spec->threshold.metric,
                sweep->spec->workload->verb, hint);
    return FALSE;
}

static void sweep_tell(const Sweep *sweep)
{
    guint64 bad, done = store_count(sweep->store, &bad);
    if (sweep->run->progress)
        sweep->run->progress(done, sweep->spec->combinations * sweep->spec->stride, bad, sweep->run->user);
}

/* A worker has ended: its row. */
static gboolean sweep_take(Sweep *sweep, Slot *slot, int status, GError **error)
{
    Result *result = worker_finish(&slot->worker, status);
    gboolean good;
    if (sweep_was_ended(status) && slot->tries < SWEEP_TRIES) {
        slot->tries++;
        good = sweep_start_slot(sweep, slot, error);
    } else {
        good = store_put(sweep->store, &slot->point, result, slot->command, error);
        if (good) {
            points_return(sweep->points, slot->point.id, FALSE);
            g_clear_pointer(&slot->point.values, g_free);
            sweep_tell(sweep);
            good = sweep_check_metric(sweep, error);
        }
    }
    result_free(result);
    return good;
}

static gboolean sweep_reap(Sweep *sweep, GError **error)
{
    for (guint i = 0; i < sweep->run->jobs; i++) {
        Slot *slot = &sweep->slots[i];
        int status;
        if (slot->worker.pid && waitpid(slot->worker.pid, &status, WNOHANG) == slot->worker.pid &&
            !sweep_take(sweep, slot, status, error))
            return FALSE;
    }
    return TRUE;
}

/* ---- signals */

static void sweep_block(Sweep *sweep)
{
    sigemptyset(&sweep->signals);
    sigaddset(&sweep->signals, SIGCHLD);
    sigaddset(&sweep->signals, SIGINT);
    sigaddset(&sweep->signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &sweep->signals, &sweep->before);
}

static void sweep_unblock(Sweep *sweep)
{
    const struct timespec now = {0, 0};
    sigset_t late;
    sigemptyset(&late);
    sigaddset(&late, SIGINT);
    sigaddset(&late, SIGTERM);
    while (sigtimedwait(&late, NULL, &now) > 0)
        ;
    sigprocmask(SIG_SETMASK, &sweep->before, NULL);
}

/* Until a worker ends. FALSE: the sweep is to end. */
static gboolean sweep_wait(const Sweep *sweep)
{
    const struct timespec second = {1, 0}; /* in case two workers' signals came as one */
    int signal = sigtimedwait(&sweep->signals, NULL, &second);
    return signal != SIGINT && signal != SIGTERM;
}

/* ---- all of it */

static SweepEnd sweep_loop(Sweep *sweep, GError **error)
{
    if (!sweep_check_metric(sweep, error))
        return SWEEP_ERROR;
    sweep_tell(sweep);
    for (;;) {
        if (!sweep_fill(sweep, error))
            return SWEEP_ERROR;
        if (points_is_finished(sweep->points))
            return store_finish(sweep->store, sweep->points, error) ? SWEEP_COMPLETE : SWEEP_ERROR;
        if (!sweep_wait(sweep))
            return SWEEP_INTERRUPTED;
        if (!sweep_reap(sweep, error))
            return SWEEP_ERROR;
    }
}

SweepEnd sweep_run(const SweepSpec *spec, Store *store, const SweepRun *run, GError **error)
{
    Sweep sweep = {.spec = spec, .store = store, .run = run, .points = points_new(spec, store_look, store)};
    sweep.slots = g_new0(Slot, run->jobs);
    sweep_block(&sweep);
    SweepEnd end = sweep_loop(&sweep, error);
    for (guint i = 0; i < run->jobs; i++) {
        worker_kill(&sweep.slots[i].worker);
        g_free(sweep.slots[i].point.values);
        g_free(sweep.slots[i].command);
    }
    sweep_unblock(&sweep);
    g_free(sweep.slots);
    points_free(sweep.points);
    return end;
}
