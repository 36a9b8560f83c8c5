/* See run_report.h. */
#include "machine/run_report.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sim/report/file.h"

/* ---- what processes say of themselves */

static void call_clear(gpointer data) { g_free(((RunCall *)data)->name); }

static void diagnostic_clear(gpointer data)
{
    g_free(((RunDiagnostic *)data)->call);
    g_free(((RunDiagnostic *)data)->text);
}

RunPart *run_part_new(const char *program, const char *why, guint64 gpus)
{
    RunPart *part = g_new0(RunPart, 1);

    *part = (RunPart){g_strdup(program),
                      g_strdup(why),
                      gpus,
                      0,
                      g_array_new(FALSE, FALSE, sizeof(RunCall)),
                      g_array_new(FALSE, FALSE, sizeof(RunDiagnostic))};
    g_array_set_clear_func(part->calls, call_clear);
    g_array_set_clear_func(part->diagnostics, diagnostic_clear);
    return part;
}

void run_part_free(RunPart *part)
{
    if (!part)
        return;
    g_array_unref(part->calls);
    g_array_unref(part->diagnostics);
    g_free(part->program);
    g_free(part->why);
    g_free(part);
}

/* Where a name stands, or would. */
static gboolean call_find(const RunPart *part, const char *name, guint *at)
{
    guint low = 0, high = part->calls->len;

    while (low < high) {
        guint mid = (low + high) / 2;
        int order = strcmp(g_array_index(part->calls, RunCall, mid).name, name);
        if (order == 0) {
            *at = mid;
            return TRUE;
        }
        if (order < 0)
            low = mid + 1;
        else
            high = mid;
    }
    *at = low;
    return FALSE;
}

void run_part_add_call(RunPart *part, const char *name, guint64 count, guint64 errors)
{
    guint at;

    if (call_find(part, name, &at)) {
        g_array_index(part->calls, RunCall, at).count += count;
        g_array_index(part->calls, RunCall, at).errors += errors;
        return;
    }
    RunCall call = {g_strdup(name), count, errors};
    g_array_insert_val(part->calls, at, call);
}

void run_part_add_diagnostic(RunPart *part, const char *call, const char *text, int device, guint64 handle,
                             guint64 address)
{
    RunDiagnostic d = {g_strdup(call), g_strdup(text), device, handle, address};

    g_array_append_val(part->diagnostics, d);
}

void run_part_join(RunPart *all, const RunPart *part)
{
    all->n_diagnostics += part->n_diagnostics;
    all->gpus = MAX(all->gpus, part->gpus);
    for (guint i = 0; i < part->calls->len; i++) {
        const RunCall *c = &g_array_index(part->calls, RunCall, i);
        run_part_add_call(all, c->name, c->count, c->errors);
    }
    for (guint i = 0; i < part->diagnostics->len; i++) {
        const RunDiagnostic *d = &g_array_index(part->diagnostics, RunDiagnostic, i);
        run_part_add_diagnostic(all, d->call, d->text, d->device, d->handle, d->address);
    }
}

#define PART_TYPE "(sstta(stt)a(ssitt))"

GBytes *run_part_pack(const RunPart *part)
{
    GVariantBuilder calls, diagnostics;

    g_variant_builder_init(&calls, G_VARIANT_TYPE("a(stt)"));
    g_variant_builder_init(&diagnostics, G_VARIANT_TYPE("a(ssitt)"));
    for (guint i = 0; i < part->calls->len; i++) {
        const RunCall *c = &g_array_index(part->calls, RunCall, i);
        g_variant_builder_add(&calls, "(stt)", c->name, c->count, c->errors);
    }
    for (guint i = 0; i < part->diagnostics->len; i++) {
        const RunDiagnostic *d = &g_array_index(part->diagnostics, RunDiagnostic, i);
        g_autofree char *text = g_utf8_make_valid(d->text, -1);
        g_variant_builder_add(&diagnostics, "(ssitt)", d->call, text, d->device, d->handle, d->address);
    }
    g_autoptr(GVariant) all = g_variant_ref_sink(
        g_variant_new(PART_TYPE, part->program, part->why, part->gpus, part->n_diagnostics, &calls, &diagnostics));
    return g_variant_get_data_as_bytes(all);
}

RunPart *run_part_unpack(const void *bytes, gsize n)
{
    /* Aligned anew, and whatever is wrong in it reads as empty. */
    g_autoptr(GBytes) copy = g_bytes_new(bytes, n);
    g_autoptr(GVariant) raw = g_variant_ref_sink(g_variant_new_from_bytes(G_VARIANT_TYPE(PART_TYPE), copy, FALSE));
    g_autoptr(GVariant) all = g_variant_get_normal_form(raw);
    g_autoptr(GVariantIter) calls = NULL, diagnostics = NULL;
    const char *program, *why, *name, *text;
    guint64 gpus, n_diagnostics, count, errors, handle, address;
    gint32 device;

    if (n == 0)
        return NULL;
    g_variant_get(all, "(&s&stta(stt)a(ssitt))", &program, &why, &gpus, &n_diagnostics, &calls, &diagnostics);
    RunPart *part = run_part_new(program, why, gpus);
    part->n_diagnostics = n_diagnostics;
    while (g_variant_iter_next(calls, "(&stt)", &name, &count, &errors))
        run_part_add_call(part, name, count, errors);
    while (g_variant_iter_next(diagnostics, "(&s&sitt)", &name, &text, &device, &handle, &address))
        run_part_add_diagnostic(part, name, text, device, handle, address);
    return part;
}

/* ---- tables */

static const Column call_columns[] = {
    COLUMN_TEXT(call, "call", "function of the driver API"),
    COLUMN_U64(count, "count", "", "how often it was called"),
    COLUMN_U64(errors, "errors", "", "how often it answered an error"),
    COLUMN_END,
};

static const Column diagnostic_columns[] = {
    COLUMN_TEXT(diagnostic, "diagnostic", "what CUDA leaves undefined, or a use of a dead object"),
    COLUMN_TEXT(call, "call", "that met it"),
    COLUMN_U64(device, "device", "", "its ordinal"),
    COLUMN_TEXT(handle, "handle", "that it is about"),
    COLUMN_TEXT(address, "address", "that it is about"),
    COLUMN_END,
};

static const Column rank_columns[] = {
    COLUMN_U64(rank, "rank", "", "as its launcher numbers it, else the lowest GPU that it used"),
    COLUMN_TEXT(program, "program", "its short name"),
    COLUMN_TEXT(ended_by, "ended by", "how it left: exit, _exit, a signal, or killed"),
    COLUMN_U64(gpus, "GPUs", "", "that it saw"),
    COLUMN_U64(requests, "requests", "", "for streams, events and work, that it sent to the owner of the machine"),
    COLUMN_U64(diagnostics, "diagnostics", "", "of its calls"),
    COLUMN_END,
};

static void add_calls(const RunPart *part, Report *report)
{
    Table *table = report_add_table(report, "calls", "Calls of the driver API", call_columns, 0);

    for (guint i = 0; i < part->calls->len; i++) {
        const RunCall *call = &g_array_index(part->calls, RunCall, i);
        table_text(table, call->name);
        table_u64(table, call->count);
        table_u64(table, call->errors);
    }
}

static void add_diagnostics(const RunPart *part, Report *report)
{
    report_add_u64(report, "diagnostics_count", part->n_diagnostics, "");
    if (part->diagnostics->len == 0)
        return;
    Table *table = report_add_table(report, "diagnostics", "Diagnostics", diagnostic_columns, 0);
    for (guint i = 0; i < part->diagnostics->len; i++) {
        const RunDiagnostic *d = &g_array_index(part->diagnostics, RunDiagnostic, i);
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

static void add_ranks(const GArray *ranks, Report *report)
{
    Table *table = report_add_table(report, "ranks", "Processes of the job", rank_columns, 0);

    for (guint i = 0; i < ranks->len; i++) {
        const RunRank *rank = &g_array_index(ranks, RunRank, i);
        if (rank->rank >= 0)
            table_u64(table, (guint64)rank->rank);
        else
            table_null(table);
        table_text(table, rank->program);
        table_text(table, rank->why);
        if (rank->part)
            table_u64(table, rank->part->gpus);
        else
            table_null(table);
        table_u64(table, rank->calls);
        if (rank->part)
            table_u64(table, rank->part->n_diagnostics);
        else
            table_null(table);
    }
}

/* As other reports of one system have it: cli/system.c. */
static void add_run(const RunReport *run, Report *report)
{
    const char *sets = g_getenv("FANOUT_SET"), *config = g_getenv("FANOUT_CONFIG"), *seed = g_getenv("FANOUT_SEED");
    g_autofree char *changed = g_strdelimit(g_strdup(sets ? sets : ""), "\n", ' ');
    g_autofree char *settings = g_strdup_printf("%s%s%s%s", config ? "--config " : "", config ? config : "",
                                                config && *changed ? " " : "", changed);
    report_add_run(report, "system", run->system);
    report_add_run(report, "settings", settings);
    report_add_run(report, "seed", seed ? seed : "1");
}

/* waveform: FALSE: there is one, and it could not be written. */
static Report *build(const RunReport *run, gboolean *waveform)
{
    const RunPart *part = run->part;
    g_autofree char *title = g_strdup_printf("%s on %s", part->program, run->system);
    Report *report = report_new("exec", title);
    EngineRequest request = {
        .op = ENGINE_REPORT, .argument = (guint64)(guintptr)report, .object = run->rank ? run->rank->client : 0};
    EngineReply reply = {0};

    if (g_getenv("FANOUT_COMMAND"))
        report_set_command(report, g_getenv("FANOUT_COMMAND"));
    report_add_text(report, "system", run->system);
    report_add_u64(report, "driver_version", run->driver_version, "");
    report_add_u64(report, "gpus", part->gpus, "");
    if (run->rank && run->rank->rank >= 0)
        report_add_u64(report, "rank", (guint64)run->rank->rank, "");
    if (run->ranks)
        report_add_u64(report, "processes", run->ranks->len, "");
    report_add_text(report, "ended_by", part->why);
    if (g_str_has_prefix(part->why, "SIG")) {
        report_add_bool(report, "incomplete", TRUE);
        report_add_note(report, "incomplete: the program was ended by %s", part->why);
    }
    add_run(run, report);
    *waveform = engine_call(run->engine, &request, &reply) == ENGINE_OK && reply.value != 0;
    if (run->ranks)
        add_ranks(run->ranks, report);
    add_calls(part, report);
    add_diagnostics(part, report);
    return report;
}

/* ---- files */

/* Of several reports of a run the first has the file's plain name. */
static char *own_path(const char *path, gint number)
{
    return number > 0 ? g_strdup_printf("%s.%d", path, (int)getpid()) : g_strdup(path);
}

static gboolean write_file(const Report *report, const char *path, ReportFormat format, gint number)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *own = own_path(path, number);
    gboolean device = g_str_has_prefix(path, "/dev/"); /* of which there is one for all processes */

    GString *text = report_format(report, format);
    gboolean good = device ? file_append(path, text->str, text->len, &error)
                           : file_write(own, text->str, text->len, &error);
    g_string_free(text, TRUE);
    if (!good)
        fprintf(stderr, "fanout: the report is lost: %s\n", error->message);
    return good;
}

static gboolean write_timeline(Engine *engine, const char *path, gint number)
{
    g_autofree char *own = own_path(path, number);
    EngineRequest request = {.op = ENGINE_TIMELINE, .argument = (guint64)(guintptr)own};
    EngineReply reply = {0};

    engine_call(engine, &request, &reply);
    if (!reply.value)
        fprintf(stderr, "fanout: the timeline is lost: '%s' cannot be written\n", own);
    return reply.value != 0;
}

static ReportFormat wanted_format(void)
{
    const char *name = g_getenv("FANOUT_FORMAT");

    for (guint i = 0; name && report_formats[i]; i++)
        if (g_str_equal(report_formats[i], name))
            return (ReportFormat)i;
    return REPORT_TEXT;
}

gboolean run_report_wanted(void)
{
    return g_getenv("FANOUT_REPORT") || g_getenv("FANOUT_HTML") || g_getenv("FANOUT_PERFETTO");
}

/* rank3.json; where several processes have that rank, one after another, rank3.2.json and so on. */
static char *rank_path(const char *folder, const GArray *ranks, guint at)
{
    const RunRank *rank = &g_array_index(ranks, RunRank, at);
    const char *format = report_formats[wanted_format()];
    guint before = 0;

    for (guint i = 0; i < at; i++)
        before += g_array_index(ranks, RunRank, i).rank == rank->rank;
    g_autofree char *name = rank->rank >= 0 ? g_strdup_printf("rank%d", rank->rank) : g_strdup("process");
    g_autofree char *more = before > 0 ? g_strdup_printf(".%u", before + 1) : g_strdup("");
    g_autofree char *file = g_strdup_printf("%s%s.%s", name, more, g_str_equal(format, "text") ? "txt" : format);
    return g_build_filename(folder, file, NULL);
}

gboolean run_report_write_ranks(const RunReport *job)
{
    const char *folder = g_getenv("FANOUT_REPORT_RANKS");
    gboolean good = TRUE, waveform;

    for (guint i = 0; folder && job->ranks && i < job->ranks->len; i++) {
        const RunRank *rank = &g_array_index(job->ranks, RunRank, i);
        RunPart *none = rank->part ? NULL : run_part_new(rank->program, rank->why, 0);
        RunReport one = *job;
        one.part = rank->part ? rank->part : none;
        one.ranks = NULL;
        one.rank = rank;
        g_autofree char *path = rank_path(folder, job->ranks, i);
        Report *report = build(&one, &waveform);
        good = write_file(report, path, wanted_format(), 0) && good;
        report_free(report);
        run_part_free(none);
    }
    return good;
}

gboolean run_report_write(const RunReport *run)
{
    const char *path = g_getenv("FANOUT_REPORT"), *html = g_getenv("FANOUT_HTML"),
               *timeline = g_getenv("FANOUT_PERFETTO");
    gboolean waveform;
    Report *report = build(run, &waveform);
    gboolean good = !path || write_file(report, path, wanted_format(), run->number);

    if (html)
        good = write_file(report, html, REPORT_HTML, run->number) && good;
    if (timeline)
        good = write_timeline(run->engine, timeline, run->number) && good;
    report_free(report);
    return good && waveform;
}
