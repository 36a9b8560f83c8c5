/* See sweep.h. */
#include "explore/sweep.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "explore/points.h"
#include "explore/worker.h"

/* A point whose process something else ends (the kernel without memory, a person), or that is lost with its rank, is
 * tried again, up to here. */
#define SWEEP_TRIES 3

/* Where one point at a time runs: a process of this one, or another rank. */
typedef struct {
    Worker worker;
    HubLink *link; /* NULL: here */
    gboolean is_busy;
    Point point;
    char *command; /* as a person would type it */
} Slot;

typedef struct {
    const SweepSpec *spec;
    Store *store;
    const SweepRun *run;
    Points *points;
    GPtrArray *slots;  /* Slot: those here first */
    GHashTable *tries; /* of points that did not get to an end; gint64: guint */
    GArray *fds;       /* struct pollfd */
    int signal_fd;
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
                             strlen(*word) &&
                         **word;
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

/* ---- slots */

static void sweep_add_slot(Sweep *sweep, HubLink *link)
{
    Slot *slot = g_new0(Slot, 1);
    slot->link = link;
    if (link)
        link->user = slot;
    g_ptr_array_add(sweep->slots, slot);
}

static void sweep_free_slot(gpointer data)
{
    Slot *slot = data;
    if (slot->is_busy)
        worker_kill(&slot->worker);
    else
        worker_end(&slot->worker);
    g_free(slot->point.values);
    g_free(slot->command);
    g_free(slot);
}

static void sweep_empty_slot(Slot *slot)
{
    slot->is_busy = FALSE;
    g_clear_pointer(&slot->point.values, g_free);
}

/* A rank that does not take its point is found to be lost when links are looked at next. */
static gboolean sweep_start_slot(Sweep *sweep, Slot *slot, GError **error)
{
    g_free(slot->command);
    g_auto(GStrv) argv = sweep_argv(sweep, &slot->point, &slot->command);
    slot->is_busy = TRUE;
    if (!slot->link)
        return worker_start(&slot->worker, argv, sweep->run->main, error);
    hub_send_point(slot->link, argv + 1);
    return TRUE;
}

static gboolean sweep_fill(Sweep *sweep, GError **error)
{
    for (guint i = 0; i < sweep->slots->len; i++) {
        Slot *slot = sweep->slots->pdata[i];
        if (slot->is_busy)
            continue;
        if (!points_next(sweep->points, &slot->point))
            return TRUE;
        if (!sweep_start_slot(sweep, slot, error))
            return FALSE;
    }
    return TRUE;
}

/* Whether a point that did not get to its end is worth another try. */
static gboolean sweep_try_again(Sweep *sweep, guint64 id)
{
    guint tries = GPOINTER_TO_UINT(g_hash_table_lookup(sweep->tries, &id)) + 1;
    g_hash_table_insert(sweep->tries, g_memdup2(&id, sizeof id), GUINT_TO_POINTER(tries));
    return tries < SWEEP_TRIES;
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

/* A point's row; the slot is free then. */
static gboolean sweep_store(Sweep *sweep, Slot *slot, const Result *result, GError **error)
{
    if (!store_put(sweep->store, &slot->point, result, slot->command, error))
        return FALSE;
    points_return(sweep->points, slot->point.id, FALSE);
    sweep_empty_slot(slot);
    sweep_tell(sweep);
    return sweep_check_metric(sweep, error);
}

/* A point has ended: its row, or another try. */
static gboolean sweep_take(Sweep *sweep, Slot *slot, int status, Result *result, GError **error)
{
    gboolean again = sweep_was_ended(status) && sweep_try_again(sweep, slot->point.id);
    gboolean good = again ? sweep_start_slot(sweep, slot, error) : sweep_store(sweep, slot, result, error);
    result_free(result);
    return good;
}

/* Points of processes of this one that have ended. */
static gboolean sweep_reap(Sweep *sweep, GError **error)
{
    for (guint i = 0; i < sweep->slots->len; i++) {
        Slot *slot = sweep->slots->pdata[i];
        int status;
        if (slot->is_busy && !slot->link && worker_has_ended(&slot->worker, &status) &&
            !sweep_take(sweep, slot, status, worker_finish(&slot->worker, status), error))
            return FALSE;
    }
    return TRUE;
}

/* ---- other ranks */

/* What a lost rank was doing is done again, by whichever is free first. A point that loses every rank it meets ends as
 * one that died. */
static gboolean sweep_lose(Sweep *sweep, HubLink *link, GError **error)
{
    Slot *slot = link->user;
    gboolean good = TRUE;
    if (slot && slot->is_busy && sweep_try_again(sweep, slot->point.id)) {
        points_return(sweep->points, slot->point.id, TRUE);
    } else if (slot && slot->is_busy) {
        Result *result = result_new(SIGKILL, "", 0, "its rank was lost, and that of every other try", 45);
        good = sweep_store(sweep, slot, result, error);
        result_free(result);
    }
    if (slot)
        g_ptr_array_remove(sweep->slots, slot);
    hub_drop(sweep->run->hub, link);
    return good;
}

static gboolean sweep_take_answer(Sweep *sweep, HubLink *link, GError **error)
{
    Slot *slot = link->user;
    const char *out, *err;
    gsize n_out, n_err;
    int status;
    Result *result = NULL;
    if (slot && slot->is_busy && hub_answer(link, &status, &out, &n_out, &err, &n_err))
        result = result_new(status, out, n_out, err, n_err);
    g_clear_pointer(&link->answer, g_byte_array_unref);
    link->is_lost |= !result;
    return !result || sweep_take(sweep, slot, status, result, error);
}

static gboolean sweep_serve(Sweep *sweep, GError **error)
{
    if (!sweep->run->hub)
        return TRUE;
    hub_serve(sweep->run->hub);
    GPtrArray *links = hub_links(sweep->run->hub);
    for (guint i = links->len; i-- > 0;) {
        HubLink *link = links->pdata[i];
        if (link->is_one_of_us && !link->user)
            sweep_add_slot(sweep, link);
        if (link->answer && !sweep_take_answer(sweep, link, error))
            return FALSE;
        if (link->is_lost && !sweep_lose(sweep, link, error))
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

/* Until a point or a process ends or a rank says something. FALSE: the sweep is to end. */
static gboolean sweep_wait(Sweep *sweep)
{
    struct pollfd one = {sweep->signal_fd, POLLIN, 0};
    struct signalfd_siginfo what;
    g_array_set_size(sweep->fds, 0);
    g_array_append_val(sweep->fds, one);
    if (sweep->run->hub)
        hub_poll(sweep->run->hub, sweep->fds);
    for (guint i = 0; i < sweep->slots->len; i++) {
        const Slot *slot = sweep->slots->pdata[i];
        struct pollfd point = {slot->worker.points, POLLIN, 0};
        if (slot->is_busy && slot->worker.points)
            g_array_append_val(sweep->fds, point);
    }
    poll((struct pollfd *)(gpointer)sweep->fds->data, sweep->fds->len, 1000);
    while (read(sweep->signal_fd, &what, sizeof what) == (gssize)sizeof what)
        if (what.ssi_signo != SIGCHLD)
            return FALSE;
    return TRUE;
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
        if (!sweep_reap(sweep, error) || !sweep_serve(sweep, error))
            return SWEEP_ERROR;
    }
}

SweepEnd sweep_run(const SweepSpec *spec, Store *store, const SweepRun *run, GError **error)
{
    Sweep sweep = {.spec = spec, .store = store, .run = run, .points = points_new(spec, store_look, store)};
    sweep.slots = g_ptr_array_new_with_free_func(sweep_free_slot);
    sweep.tries = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    sweep.fds = g_array_new(FALSE, FALSE, sizeof(struct pollfd));
    for (guint i = 0; i < run->jobs; i++)
        sweep_add_slot(&sweep, NULL);
    sweep_block(&sweep);
    sweep.signal_fd = signalfd(-1, &sweep.signals, SFD_CLOEXEC | SFD_NONBLOCK);
    SweepEnd end = sweep_loop(&sweep, error);
    g_ptr_array_unref(sweep.slots);
    g_hash_table_unref(sweep.tries);
    g_array_unref(sweep.fds);
    close(sweep.signal_fd);
    sweep_unblock(&sweep);
    points_free(sweep.points);
    return end;
}
