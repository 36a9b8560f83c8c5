/* What work cost, for the report: one row for each kind of copy, fill and kernel. And statistics in time. */
#include "machine/engine/internal.h"

#include "observe/series/tables.h"

static const char *copy_name(Engine *engine, const Work *work)
{
    const EngineRequest *r = &work->request;
    const VasMapping *to = NULL, *from = NULL;
    Vas *vas = engine_vas(engine, r->client);

    if (r->op == ENGINE_COPY && r->width != ENGINE_ENDPOINT_NONE)
        return r->width == ENGINE_ENDPOINT_SOURCE ? "memcpy from endpoint" : "memcpy to endpoint";
    if (!(r->access & ENGINE_HOST_DESTINATION))
        to = vas_find(vas, r->address);
    if (!(r->access & ENGINE_HOST_SOURCE))
        from = vas_find(vas, r->source);
    if (to && to->object)
        return r->op == ENGINE_FILL ? "memset multicast" : "memcpy multicast";
    if (r->op == ENGINE_FILL)
        return "memset";
    gboolean to_host = !to || to->region->gpu == MEMORY_HOST;
    gboolean from_host = !from || !from->region || from->region->gpu == MEMORY_HOST;
    if (to_host)
        return from_host ? "memcpy HtoH" : "memcpy DtoH";
    if (from_host)
        return "memcpy HtoD";
    return to->region->gpu == from->region->gpu ? "memcpy DtoD" : "memcpy peer";
}

static WorkStats *stats_of(GPtrArray *rows, const char *name)
{
    for (guint i = 0; i < rows->len; i++) {
        WorkStats *stats = g_ptr_array_index(rows, i);
        if (g_str_equal(stats->name, name))
            return stats;
    }
    WorkStats *stats = g_new0(WorkStats, 1);
    stats->name = g_strdup(name);
    hist_init(&stats->latency_ps);
    g_ptr_array_add(rows, stats);
    return stats;
}

static GPtrArray *rows_of_client(Engine *engine, guint32 client, gboolean make)
{
    GPtrArray *rows = g_hash_table_lookup(engine->client_stats, GUINT_TO_POINTER(client));

    if (!rows && make) {
        rows = g_ptr_array_new();
        g_hash_table_insert(engine->client_stats, GUINT_TO_POINTER(client), rows);
    }
    return rows;
}

static void stats_note(WorkStats *stats, const Work *work, guint64 rows)
{
    if (stats->count++ == 0)
        stats->first_ps = work->start_ps;
    stats->bytes += rows * work->request.bytes;
    stats->faults += work->fault != FAULT_NONE;
    stats->last_ps = MAX(stats->last_ps, work->end_ps);
    stats->busy_ps += work->end_ps - work->start_ps;
    hist_add(&stats->latency_ps, work->end_ps - work->start_ps);
}

void engine_stats_add(Engine *engine, Work *work)
{
    const EngineRequest *r = &work->request;
    const char *name;
    guint64 rows = r->pitch != 0 && r->height != 0 ? r->height : 1;

    switch (r->op) {
    case ENGINE_COPY:
    case ENGINE_COPY_2D:
    case ENGINE_FILL: name = copy_name(engine, work); break;
    case ENGINE_LAUNCH:
    case ENGINE_LAUNCH_PTX:
        name = work->kernel.name;
        rows = 0;
        engine_groups_leave(work);
        engine_launches_add(work);
        break;
    default: return;
    }
    engine_timeline_add(engine, work, name);
    stats_note(stats_of(engine->stats, name), work, rows);
    if (r->client != 0)
        stats_note(stats_of(rows_of_client(engine, r->client, TRUE), name), work, rows);
}

static const Column work_columns[] = {
    COLUMN_TEXT(work, "work", "kind of copy or fill, or a kernel's name"),
    COLUMN_U64(count, "count", "", "how many ended"),
    COLUMN_U64(bytes, "bytes", "B", "that they moved; of kernels see operations"),
    COLUMN_U64(faults, "faults", "", "how many failed"),
    COLUMN_FIXED(min_ns, "min", "ns", 1, "shortest, start to end"),
    COLUMN_FIXED(p50_ns, "p50", "ns", 1, "median"),
    COLUMN_FIXED(p99_ns, "p99", "ns", 1, "99th percentile"),
    COLUMN_FIXED(max_ns, "max", "ns", 1, "longest"),
    COLUMN_FIXED(throughput_GBps, "rate", "GB/s", 3, "bytes over the time that they took, one after another"),
    COLUMN_END,
};

static double ns(guint64 ps) { return (double)ps / 1000.0; }

static void add_work(const GPtrArray *rows, Report *report)
{
    Table *table = report_add_table(report, "work", "Work of streams", work_columns, 0);

    for (guint i = 0; rows && i < rows->len; i++) {
        const WorkStats *s = g_ptr_array_index(rows, i);
        table_text(table, s->name);
        table_u64(table, s->count);
        table_u64(table, s->bytes);
        table_u64(table, s->faults);
        table_fixed(table, ns(s->latency_ps.min));
        table_fixed(table, ns(hist_percentile(&s->latency_ps, 500)));
        table_fixed(table, ns(hist_percentile(&s->latency_ps, 990)));
        table_fixed(table, ns(s->latency_ps.max));
        if (s->bytes == 0 || s->busy_ps == 0)
            table_null(table);
        else
            table_fixed(table, (double)s->bytes * 1000.0 / (double)s->busy_ps);
    }
}

void engine_stats_report(Engine *engine, Report *report)
{
    engine_groups_settle(engine);
    report_add_fixed(report, "simulated_us", (double)sim_now_ps(engine->sim) / (double)PS_PER_US, 3, "us");
    report_add_answer(report, "the program %s %.2f us of simulated time%s", engine->stuck ? "is stuck after" : "takes",
                      (double)sim_now_ps(engine->sim) / (double)PS_PER_US,
                      engine->n_faults ? "; accesses of its kernels were wrong (device_faults)" : "");
    report_add_bool(report, "stuck", engine->stuck);
    report_add_u64(report, "unfinished_work", (guint64)engine->running, "");
    if (engine->forced > 0) { /* the report depends on the host then, and says so */
        report_add_u64(report, "time_forced", engine->forced, "");
        report_add_note(report,
                        "time_forced: so often simulated time went on while a thread of the program ran, since "
                        "cuda.quiet_ms of the host had passed, or the job was told to end: what the report says "
                        "depends on the host");
    }
    if (engine->skipped_ps > 0) {
        report_add_fixed(report, "slept_us", (double)engine->skipped_ps / (double)PS_PER_US, 3, "us");
        report_add_note(report, "slept_us: so much more time passed for the program while it slept and nothing was due "
                                "on the machine; simulated_us and all times of this report are without it");
    }
    report_add_u64(report, "device_faults", engine->n_faults, "");
    if (engine->trace && engine->n_traced == 0)
        report_add_note(report, "--ptx-trace %s: no launch that has ended had such a warp", engine->spec.ptx_trace);
    add_work(engine->stats, report);
    engine_launches_report(engine, report, 0);
    engine_groups_report(engine, report);
    engine_arrivals_report(engine, report, 0);
    engine_objects_report(engine, report);
    usage_add_operations(engine->fabric, report);
    usage_add_links(engine->fabric, engine->mark, report);
    usage_add_switches(engine->fabric, report);
    g_autoptr(GArray) costs = fault_costs(engine->fabric);
    fault_costs_report(costs, report);
    fault_costs_note_late(costs, sim_now_ps(engine->fabric->sim), report);
    engine_faults_report(engine, report);
}

void engine_stats_report_client(Engine *engine, Report *report, guint32 client)
{
    engine_groups_settle(engine);
    report_add_fixed(report, "simulated_us", (double)sim_now_ps(engine->sim) / (double)PS_PER_US, 3, "us");
    add_work(rows_of_client(engine, client, FALSE), report);
    engine_launches_report(engine, report, client);
    engine_arrivals_report(engine, report, client);
}

/* ---- statistics in time */

gboolean engine_series_begin(Engine *engine)
{
    const EngineSpec *spec = &engine->spec;
    const gboolean page = spec->page && !spec->flow;
    RecordingSpec record = {.watch = spec->watch,
                            .points = spec->stats_path || page,
                            .tracks = spec->timeline && !spec->flow,
                            .shares = TRUE,
                            .where = spec->where && !spec->flow};

    if (spec->stats_path) {
        record.interval_ps = spec->stats_interval_ps;
        record.file = engine->stats_file = stats_file_open(spec->stats_path, &engine->start_error);
        if (!engine->stats_file)
            return FALSE;
    }
    engine->recording = recording_new(engine->fabric, &record, "exec");
    return TRUE;
}

/* What the page shows of the whole run. */
static void add_figures(Engine *engine, Report *report)
{
    const Recording *recording = engine->recording;

    if (engine->spec.page && recording && recording_run(recording).points) {
        const RecordedRun run = recording_run(recording);
        SeriesTables tables = {.report = report};
        series_tables_add(&tables, &run);
    }
    if (recording && recording_where(recording)) {
        LatencyTables tables = {.report = report};
        latency_breakdown_tables_add(&tables, recording_where(recording), "exec");
    } else if (engine->spec.page) {
        report_add_page_note(report, "%s", engine->spec.flow ? SERIES_NO_FLOWS : SERIES_ASK_WHERE);
    }
}

gboolean engine_series_end(Engine *engine, Report *report)
{
    g_autoptr(GError) error = NULL;

    recording_end(engine->recording, NULL);
    add_figures(engine, report);
    if (engine->recording && engine->spec.timeline)
        engine->tracks = recording_take_tracks(engine->recording);
    g_clear_pointer(&engine->recording, recording_free);
    if (stats_file_close(g_steal_pointer(&engine->stats_file), &error))
        return TRUE;
    log_line(engine->spec.log, LOG_CUDA, LOG_ERROR, 0, "--stats: %s", error->message);
    return FALSE;
}
