/* See report.h. */
#include "api/cuda/context/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "api/cuda/memory/shared_file.h"
#include "sim/report/file.h"

/* The descriptor that this process inherited may be closed, and another file there: launchers of ranks (Open MPI's)
 * close all. It is then opened anew by way of `fanout exec`, which has it as long as the program runs. */
static ReportStatus *status_map(void)
{
    const char *text = g_getenv("FANOUT_STATUS_FD");
    guint64 wanted[2], identity[2], bytes;
    int fd, pid, opened = -1;

    if (text == NULL ||
        sscanf(text, "%d,%d,%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT, &fd, &pid, &wanted[0], &wanted[1]) != 4)
        return NULL;
    if (!identity_of_fd(fd, identity, &bytes) || identity[0] != wanted[0] || identity[1] != wanted[1])
        fd = opened = shared_file_open(pid, fd, wanted);
    void *at = MAP_FAILED;
    if (shared_file_is_sealed(fd) && identity_of_fd(fd, identity, &bytes) && bytes == sizeof(ReportStatus))
        at = mmap(NULL, sizeof(ReportStatus), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (opened >= 0)
        close(opened);
    return at == MAP_FAILED ? NULL : at;
}

void cuda_report_wrong(void)
{
    ReportStatus *status = status_map();
    if (status != NULL)
        g_atomic_int_set(&status->wrong, 1);
}

const gint *cuda_report_interrupts(void)
{
    const ReportStatus *status = status_map();
    return status != NULL ? &status->interrupts : NULL;
}

WatchPage *cuda_report_watch(void)
{
    const char *wanted = g_getenv("FANOUT_MONITOR");
    ReportStatus *status = wanted != NULL && *wanted != '\0' ? status_map() : NULL;
    const gint page = status != NULL ? g_atomic_int_add(&status->pages, 1) : 0;
    return status != NULL && page >= 0 && page < REPORT_STATUS_PAGES ? &status->page[page] : NULL;
}

static const Column call_columns[] = {
    COLUMN_TEXT(call, "call", "function of the driver API"),
    COLUMN_U64(count, "count", "", "how often it was called"),
    COLUMN_U64(errors, "errors", "", "how often it answered an error"),
    COLUMN_END,
};

static gint compare_names(gconstpointer a, gconstpointer b)
{
    return g_strcmp0(*(const char *const *)a, *(const char *const *)b);
}

static void add_calls(const Cuda *cuda, Report *report)
{
    guint n;
    g_autofree gpointer *names = g_hash_table_get_keys_as_array(cuda->calls, &n);
    Table *table = report_add_table(report, "calls", "Calls of the driver API", call_columns, 0);

    qsort(names, n, sizeof *names, compare_names);
    for (guint i = 0; i < n; i++) {
        const CallCount *count = g_hash_table_lookup(cuda->calls, names[i]);
        table_text(table, names[i]);
        table_u64(table, count->calls);
        table_u64(table, count->errors);
    }
}

static const Column diagnostic_columns[] = {
    COLUMN_TEXT(diagnostic, "diagnostic", "what CUDA leaves undefined, or a use of a dead object"),
    COLUMN_TEXT(call, "call", "that met it"),
    COLUMN_U64(device, "device", "", "its ordinal"),
    COLUMN_TEXT(handle, "handle", "that it is about"),
    COLUMN_TEXT(address, "address", "that it is about"),
    COLUMN_END,
};

static void add_diagnostics(const Cuda *cuda, Report *report)
{
    report_add_u64(report, "diagnostics_count", cuda->n_diagnostics, "");
    if (cuda->diagnostics->len == 0)
        return;
    Table *table = report_add_table(report, "diagnostics", "Diagnostics", diagnostic_columns, 0);
    for (guint i = 0; i < cuda->diagnostics->len; i++) {
        const Diagnostic *d = &g_array_index(cuda->diagnostics, Diagnostic, i);
        table_text(table, d->text);
        table_text(table, d->call);
        if (d->device >= 0)
            table_u64(table, (guint64)d->device);
        else
            table_null(table);
        engine_table_hex(table, d->handle);
        engine_table_hex(table, d->address);
    }
}

/* As other reports of one system have it: cli/system.c. */
static void add_run(const Cuda *cuda, Report *report)
{
    const char *sets = g_getenv("FANOUT_SET"), *config = g_getenv("FANOUT_CONFIG"), *seed = g_getenv("FANOUT_SEED");
    g_autofree char *changed = g_strdelimit(g_strdup(sets != NULL ? sets : ""), "\n", ' ');
    g_autofree char *settings = g_strdup_printf("%s%s%s%s", config != NULL ? "--config " : "",
                                                config != NULL ? config : "",
                                                config != NULL && *changed ? " " : "", changed);
    report_add_run(report, "system", cuda->system);
    report_add_run(report, "settings", settings);
    report_add_run(report, "seed", seed != NULL ? seed : "1");
}

/* waveform: FALSE: there is one, and it could not be written. */
static Report *build(Cuda *cuda, const char *why, gboolean *waveform)
{
    g_autofree char *title =
        g_strdup_printf("%s on %s", program_invocation_short_name, cuda->system);
    Report *report = report_new("exec", title);
    EngineRequest request = {.op = ENGINE_REPORT, .argument = (guint64)(guintptr)report};
    EngineReply reply = {0};

    if (g_getenv("FANOUT_COMMAND") != NULL)
        report_set_command(report, g_getenv("FANOUT_COMMAND"));
    report_add_text(report, "system", cuda->system);
    report_add_u64(report, "driver_version", cuda->spec.driver_version, "");
    report_add_u64(report, "gpus", cuda->n_devices, "");
    report_add_text(report, "ended_by", why);
    if (g_str_has_prefix(why, "SIG")) {
        report_add_bool(report, "incomplete", TRUE);
        report_add_note(report, "incomplete: the program was ended by %s", why);
    }
    add_run(cuda, report);
    *waveform = engine_call(cuda->engine, &request, &reply) == ENGINE_OK && reply.value != 0;
    add_calls(cuda, report);
    add_diagnostics(cuda, report);
    return report;
}

/* Of several processes of a program the first to end has the file's plain name. */
static char *own_path(const char *path, gint n)
{
    return n > 0 ? g_strdup_printf("%s.%d", path, (int)getpid()) : g_strdup(path);
}

static gboolean write_file(const Report *report, const char *path, ReportFormat format, gint n)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *own = own_path(path, n);
    gboolean device = g_str_has_prefix(path, "/dev/"); /* of which there is one for all processes */

    GString *text = report_format(report, format);
    gboolean good = device ? file_append(path, text->str, text->len, &error)
                           : file_write(own, text->str, text->len, &error);
    g_string_free(text, TRUE);
    if (!good)
        fprintf(stderr, "fanout: the report is lost: %s\n", error->message);
    return good;
}

static gboolean write_timeline(Cuda *cuda, const char *path, gint n)
{
    g_autofree char *own = own_path(path, n);
    EngineRequest request = {.op = ENGINE_TIMELINE, .argument = (guint64)(guintptr)own};
    EngineReply reply = {0};

    engine_call(cuda->engine, &request, &reply);
    if (!reply.value)
        fprintf(stderr, "fanout: the timeline is lost: '%s' cannot be written\n", own);
    return reply.value != 0;
}

static ReportFormat wanted_format(void)
{
    const char *name = g_getenv("FANOUT_FORMAT");

    for (guint i = 0; name != NULL && report_formats[i] != NULL; i++)
        if (g_str_equal(report_formats[i], name))
            return (ReportFormat)i;
    return REPORT_TEXT;
}

gboolean cuda_report_write(Cuda *cuda, const char *why)
{
    const char *path = g_getenv("FANOUT_REPORT"), *html = g_getenv("FANOUT_HTML"),
               *timeline = g_getenv("FANOUT_PERFETTO");
    ReportStatus *status = status_map();

    if (cuda == NULL || !g_atomic_int_get(&cuda->ready))
        return TRUE;
    pthread_mutex_lock(&cuda->report_lock);
    gboolean first = !cuda->reported;
    cuda->reported = TRUE;
    pthread_mutex_unlock(&cuda->report_lock);
    if (!first)
        return FALSE;
    if (status != NULL && engine_is_stuck(cuda->engine))
        g_atomic_int_set(&status->stuck, 1);
    if (path == NULL && html == NULL && timeline == NULL)
        return TRUE;
    gint n = status != NULL ? g_atomic_int_add(&status->reports, 1) : 0;
    gboolean waveform;
    Report *report = build(cuda, why, &waveform);
    gboolean good = path == NULL || write_file(report, path, wanted_format(), n);
    if (html != NULL)
        good = write_file(report, html, REPORT_HTML, n) && good;
    if (timeline != NULL)
        good = write_timeline(cuda, timeline, n) && good;
    if (!(good && waveform) && status != NULL)
        g_atomic_int_set(&status->unwritten, 1);
    report_free(report);
    return TRUE;
}
