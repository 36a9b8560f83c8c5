/* Running rows: one worker process for each run of a program, a few at a time.
 *
 * A worker writes one line for each of its rows to a pipe and ends; the parent reads them in whatever order
 * they come and puts them where they belong, so that the result does not depend on the order. */
#include "validate/collective.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Rows that one run of a program gives. */
typedef struct {
    char *key;
    GArray *row; /* guint: indices */
} ValidateUnit;

typedef struct {
    pid_t pid;
    int fd;
    GString *text;
    ValidateUnit *unit;
} ValidateWorker;

/* ---- which rows belong together */

static gboolean validate_is_collective(const ValidateRow *row)
{
    return row->schema == VALIDATE_PUBLISHED || g_str_has_prefix(row->test, "nccl_");
}

static char *validate_key(const ValidateRow *row)
{
    if (validate_is_collective(row))
        return validate_collective_key(row);
    gboolean flows = strcmp(row->test, "contention") == 0;
    gboolean loaded = g_str_has_prefix(row->test, "loaded_latency_");
    return g_strdup_printf("%s|%s|%s|%u|%u|%" G_GUINT64_FORMAT, loaded ? "loaded" : row->test, row->variant,
                           flows || loaded ? "" : row->gpus, flows ? 0 : row->ctas, row->threads, row->bytes);
}

static void validate_unit_free(gpointer data)
{
    ValidateUnit *unit = data;
    g_free(unit->key);
    g_array_free(unit->row, TRUE);
    g_free(unit);
}

/* In the order of the files, so that rows can be shown as they are done. */
static GPtrArray *validate_units(const GPtrArray *rows)
{
    GPtrArray *units = g_ptr_array_new_with_free_func(validate_unit_free);
    GHashTable *by_key = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < rows->len; i++) {
        const ValidateRow *row = g_ptr_array_index(rows, i);
        if (row->skipped && !row->known)
            continue;
        char *key = validate_key(row);
        ValidateUnit *unit = g_hash_table_lookup(by_key, key);
        if (!unit) {
            unit = g_new0(ValidateUnit, 1);
            unit->key = key;
            unit->row = g_array_new(FALSE, FALSE, sizeof(guint));
            g_hash_table_insert(by_key, unit->key, unit);
            g_ptr_array_add(units, unit);
        } else {
            g_free(key);
        }
        g_array_append_val(unit->row, i);
    }
    g_hash_table_destroy(by_key);
    return units;
}

/* Takes away what a journal has whole; of the others the rows that it has are run again with the rest. */
static void validate_drop_known(GPtrArray *rows, GPtrArray *units)
{
    for (guint u = units->len; u-- > 0;) {
        const ValidateUnit *unit = g_ptr_array_index(units, u);
        guint known = 0;
        for (guint i = 0; i < unit->row->len; i++)
            known += ((ValidateRow *)g_ptr_array_index(rows, g_array_index(unit->row, guint, i)))->known;
        for (guint i = 0; known < unit->row->len && i < unit->row->len; i++) {
            ValidateRow *row = g_ptr_array_index(rows, g_array_index(unit->row, guint, i));
            if (row->known)
                g_clear_pointer(&row->skipped, g_free);
            row->known = FALSE;
            row->simulated = row->error_pct = NAN;
        }
        if (known == unit->row->len)
            g_ptr_array_remove_index(units, u);
    }
}

/* ---- in the worker */

static void worker_skip(FILE *out, guint index, const char *reason)
{
    g_autofree char *line = g_strdelimit(g_strdup(reason), "\n", ' ');
    fprintf(out, "%u skip %s\n", index, line);
    fflush(out); /* a row that is done is told at once */
}

static void worker_value(FILE *out, guint index, double value, gboolean extrapolated, double check_pct)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE], check[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_dtostr(text, sizeof text, value);
    g_ascii_dtostr(check, sizeof check, check_pct);
    fprintf(out, "%u value %s %d %s\n", index, text, extrapolated, check);
    fflush(out);
}

static void worker_bench(const ValidateSetup *setup, const FabricSpec *spec, const GPtrArray *rows,
                         const ValidateUnit *unit, FILE *out)
{
    const ValidateRow *first = g_ptr_array_index(rows, g_array_index(unit->row, guint, 0));
    const RecordingSpec record = {.watch = setup->watch};
    BenchSetup bench = {.spec = spec,
                        .seed = setup->seed,
                        .calendar = setup->calendar,
                        .engine = setup->engine,
                        .record = &record,
                        .crossings_max = setup->crossings_max,
                        .fidelity = setup->fidelity};
    BenchRequest request = {first->test, first->variant, first->gpus, first->ctas, first->threads, first->bytes};
    GError *error = NULL;
    GArray *got = bench_run(&bench, &request, &error);
    for (guint i = 0; i < unit->row->len; i++) {
        guint index = g_array_index(unit->row, guint, i);
        const ValidateRow *row = g_ptr_array_index(rows, index);
        const BenchRow *found = NULL;
        for (guint r = 0; got && r < got->len && !found; r++) {
            const BenchRow *at = &g_array_index(got, BenchRow, r);
            if (strcmp(at->test, row->test) == 0 && strcmp(at->gpus, row->gpus) == 0 &&
                strcmp(at->unit, row->unit) == 0)
                found = at;
        }
        if (found)
            worker_value(out, index, bench_row_value(found), found->extrapolated, found->check_pct);
        else
            worker_skip(out, index, error ? error->message : "the test gives no such row");
    }
    g_clear_error(&error);
}

static int worker_compare_bytes(gconstpointer a, gconstpointer b, gpointer user)
{
    const GPtrArray *rows = user;
    guint i = *(const guint *)a, j = *(const guint *)b;
    const ValidateRow *x = g_ptr_array_index(rows, i), *y = g_ptr_array_index(rows, j);
    return x->bytes != y->bytes ? (x->bytes > y->bytes) - (x->bytes < y->bytes) : (i > j) - (i < j);
}

/* Small rows first: larger ones are counted and extrapolated by them. */
static void worker_collectives(const ValidateSetup *setup, const FabricSpec *spec, GPtrArray *rows,
                               const ValidateUnit *unit, FILE *out)
{
    ValidateMemo *memo = validate_memo_new();
    g_array_sort_with_data(unit->row, worker_compare_bytes, rows);
    for (guint i = 0; i < unit->row->len; i++) {
        guint index = g_array_index(unit->row, guint, i);
        ValidateRow *row = g_ptr_array_index(rows, index);
        GError *error = NULL;
        if (validate_collective(setup, spec, memo, row, &error))
            worker_value(out, index, row->simulated, row->extrapolated, row->check_pct);
        else
            worker_skip(out, index, error->message);
        g_clear_error(&error);
    }
    validate_memo_free(memo);
}

static void worker_run(const ValidateSetup *setup, GPtrArray *rows, const ValidateUnit *unit, FILE *out)
{
    const ValidateRow *row = g_ptr_array_index(rows, g_array_index(unit->row, guint, 0));
    FabricSpec spec;
    memset(&spec, 0, sizeof spec);
    GError *error = NULL;
    ParamSet *params = setup->system(row->preset ? row->preset : setup->measured_preset, &spec, setup->user, &error);
    if (!params)
        for (guint i = 0; i < unit->row->len; i++)
            worker_skip(out, g_array_index(unit->row, guint, i), error->message);
    else if (validate_is_collective(row))
        worker_collectives(setup, &spec, rows, unit, out);
    else
        worker_bench(setup, &spec, rows, unit, out);
}

/* ---- in the parent */

static gboolean pool_start(const ValidateSetup *setup, GPtrArray *rows, ValidateUnit *unit, ValidateWorker *worker,
                           guint job, GError **error)
{
    int fds[2];
    pid_t parent = getpid();
    fflush(stdout);
    fflush(stderr);
    if (pipe(fds) != 0 || (worker->pid = fork()) < 0) {
        g_set_error(error, VALIDATE_ERROR, VALIDATE_ERROR_RUN, "cannot start a worker: %s", g_strerror(errno));
        return FALSE;
    }
    if (worker->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* nothing is left running when the command is interrupted */
        if (getppid() != parent)          /* it was, before that was heard */
            _exit(1);
        close(fds[0]);
        FILE *out = fdopen(fds[1], "w");
        ValidateSetup own = *setup;
        own.watch = setup->watch ? &setup->watch[job] : NULL;
        worker_run(&own, rows, unit, out);
        fclose(out);
        _exit(0);
    }
    close(fds[1]);
    worker->fd = fds[0];
    worker->text = g_string_new(NULL);
    worker->unit = unit;
    return TRUE;
}

static void pool_take_line(GPtrArray *rows, const char *line)
{
    char *rest;
    guint64 index = g_ascii_strtoull(line, &rest, 10);
    g_assert(index < rows->len);
    ValidateRow *row = g_ptr_array_index(rows, index);
    if (g_str_has_prefix(rest, " skip ")) {
        row->skipped = g_strdup(rest + 6);
        return;
    }
    g_assert(g_str_has_prefix(rest, " value "));
    row->simulated = g_ascii_strtod(rest + 7, &rest);
    row->extrapolated = g_ascii_strtoull(rest, &rest, 10) != 0;
    row->check_pct = g_ascii_strtod(rest, NULL);
    row->error_pct = (row->simulated - row->measured) / row->measured * 100;
}

/* The whole lines of what has come. Returns how many. */
static guint pool_take_lines(GPtrArray *rows, GString *text)
{
    guint taken = 0;
    for (char *end = strchr(text->str, '\n'); end; end = strchr(text->str, '\n')) {
        *end = '\0';
        pool_take_line(rows, text->str);
        g_string_erase(text, 0, end - text->str + 1);
        taken++;
    }
    return taken;
}

static gboolean pool_end(GPtrArray *rows, ValidateWorker *worker, GError **error)
{
    int status;
    close(worker->fd);
    waitpid(worker->pid, &status, 0);
    gboolean good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!good) {
        const ValidateRow *row = g_ptr_array_index(rows, g_array_index(worker->unit->row, guint, 0));
        g_set_error(error, VALIDATE_ERROR, VALIDATE_ERROR_RUN, "%s:%u: the worker ended with %s %d", row->file,
                    row->line, WIFSIGNALED(status) ? "signal" : "code",
                    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    }
    g_string_free(worker->text, TRUE);
    worker->pid = 0;
    return good;
}

/* Waits for output; FALSE: a worker failed. */
static gboolean pool_turn(GPtrArray *rows, ValidateWorker *workers, guint jobs, guint *done, GError **error)
{
    struct pollfd polls[64];
    for (guint w = 0; w < jobs; w++)
        polls[w] = (struct pollfd){.fd = workers[w].pid ? workers[w].fd : -1, .events = POLLIN};
    if (poll(polls, jobs, -1) < 0)
        return errno == EINTR;
    for (guint w = 0; w < jobs; w++) {
        if (!polls[w].revents)
            continue;
        char text[4096];
        ssize_t got = read(workers[w].fd, text, sizeof text);
        if (got > 0) {
            g_string_append_len(workers[w].text, text, got);
            *done += pool_take_lines(rows, workers[w].text);
        } else {
            if (!pool_end(rows, &workers[w], error))
                return FALSE;
        }
    }
    return TRUE;
}

static gboolean validate_is_done(const ValidateRow *row) { return row->skipped || !isnan(row->simulated); }

gboolean validate_run(const ValidateSetup *setup, GPtrArray *rows, GError **error)
{
    guint jobs = CLAMP(setup->jobs, 1, 64), next = 0, running = 0, done = 0, all = 0, first = 0;
    ValidateWorker *workers = g_new0(ValidateWorker, jobs);
    GPtrArray *units = validate_units(rows);
    gboolean good = TRUE;
    validate_drop_known(rows, units);
    for (guint u = 0; u < units->len; u++)
        all += ((ValidateUnit *)g_ptr_array_index(units, u))->row->len;
    do {
        for (guint w = 0; good && w < jobs && next < units->len; w++)
            if (!workers[w].pid)
                good = pool_start(setup, rows, g_ptr_array_index(units, next++), &workers[w], w, error);
        if (units->len) /* else there is no worker to hear of: all rows are skipped or known */
            good = good && pool_turn(rows, workers, jobs, &done, error);
        while (first < rows->len && validate_is_done(g_ptr_array_index(rows, first)))
            first++;
        if (good && setup->progress)
            setup->progress(done, all, first, setup->user);
        running = 0;
        for (guint w = 0; w < jobs; w++)
            running += workers[w].pid > 0;
    } while (good && (running || next < units->len));
    for (guint w = 0; w < jobs; w++) {
        if (workers[w].pid > 0) { /* only after a failure */
            GError *other = NULL;
            pool_end(rows, &workers[w], &other);
            g_clear_error(&other);
        }
    }
    g_ptr_array_free(units, TRUE);
    g_free(workers);
    return good;
}
