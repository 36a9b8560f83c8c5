/* The report's rows of launches, in the order in which they ended.
 *
 * Kernels of PTX are counted by device/kernel. Of a device program in C there are its times alone: no instructions,
 * and what it asks of memory is in the report's operations. */
#include "machine/engine/internal.h"
#include "machine/engine/launches.h"

#include <math.h>

typedef struct {
    const char *name; /* interned */
    guint16 gpu;
    guint32 client, stream, grid[3], block[3];
    SimTime start_ps, end_ps;
    const char *state;
    KernelStats *stats; /* NULL: a device program in C */
} Launch;

/* client 0: of any process */
static gboolean is_of(const Launch *row, guint32 client) { return client == 0 || row->client == client; }

static void launch_clear(gpointer data) { g_free(((Launch *)data)->stats); }

GArray *engine_launches_new(void)
{
    GArray *rows = g_array_new(FALSE, FALSE, sizeof(Launch));
    g_array_set_clear_func(rows, launch_clear);
    return rows;
}

void engine_launches_shape(const Work *work, guint32 grid[3], guint32 block[3])
{
    const gboolean ptx = work->request.op == ENGINE_LAUNCH_PTX;
    for (guint i = 0; i < 3; i++) {
        grid[i] = ptx ? work->ptx.grid[i] : i == 0 ? work->kernel.ctas : 1;
        block[i] = ptx ? work->ptx.block[i] : i == 0 ? work->kernel.threads : 1;
    }
}

static void add_row(GArray *rows, const Work *work, SimTime end_ps, const char *state, KernelStats *stats)
{
    Launch row = {.name = g_intern_string(work->kernel.name),
                  .gpu = work->context->gpu,
                  .client = work->request.client,
                  .stream = engine_stream_shown(work->engine, work->request.stream),
                  .start_ps = work->start_ps,
                  .end_ps = end_ps,
                  .state = state,
                  .stats = stats};
    engine_launches_shape(work, row.grid, row.block);
    g_array_append_val(rows, row);
}

void engine_launches_add(Work *work)
{
    const char *state = work->fault != FAULT_NONE ? "fault" : work->context->gone ? "killed" : "done";

    add_row(work->engine->launches, work, work->end_ps, state, g_steal_pointer(&work->counted));
}

/* Those that still run: what they have come to. */
static void add_running(const Engine *engine, GArray *rows)
{
    for (guint i = 0; i < engine->active->len; i++) {
        const Work *work = g_ptr_array_index(engine->active, i);
        if (work->request.op != ENGINE_LAUNCH_PTX && work->request.op != ENGINE_LAUNCH)
            continue;
        KernelStats *stats = work->launch ? g_new(KernelStats, 1) : NULL;
        if (stats)
            *stats = kernel_stats(work->launch);
        add_row(rows, work, sim_now_ps(engine->sim), work->context->gone ? "killed" : "running", stats);
    }
}

/* ---- tables */

static const Column launch_columns[] = {
    COLUMN_U64(launch, "launch", "", "in the order in which launches ended, from 1; those that still run come last"),
    COLUMN_TEXT(kernel, "kernel", "its name"),
    COLUMN_TEXT(called, "called", "the function that it called first by its address: what a kernel of many did"),
    COLUMN_U64(gpu, "gpu", "", "that ran it, as the system counts them"),
    COLUMN_U64(stream, "stream", "", "in which it was, in the order of their first use"),
    COLUMN_TEXT(state, "state", "done; fault: ended by one; running: it had not ended when the report was written"),
    COLUMN_TEXT(grid, "grid", "CTAs"),
    COLUMN_TEXT(block, "block", "threads of a CTA"),
    COLUMN_FIXED(start_us, "start", "us", 3, "when its turn came"),
    COLUMN_FIXED(time_us, "time", "us", 3, "from then to its end"),
    COLUMN_U64(instructions, "instr", "warps", "executed, of warps; null: of a device program in C, which has none"),
    COLUMN_FIXED(ipc, "ipc", "", 2, "instructions a cycle of an SM that had CTAs of it"),
    COLUMN_FIXED(occupancy_pct, "occup.", "%", 1,
                 "warps that lived on an SM that had CTAs of it, on average, of those that it has room for"),
    COLUMN_U64(own_bytes, "own", "B", "that lanes read and wrote: in the GPU's own memory"),
    COLUMN_U64(peer_bytes, "peers", "B", "the same in other GPUs' memory"),
    COLUMN_U64(multicast_bytes, "multicast", "B", "the same at multicast addresses, each counted once"),
    COLUMN_U64(host_bytes, "host", "B", "the same in the host's memory"),
    COLUMN_U64(l1_bytes, "L1", "B", "read from the SM's own cache, and in none of the others"),
    COLUMN_U64(multicast_loads, "ld_reduce", "", "multimem.ld_reduce of warps"),
    COLUMN_U64(multicast_stores, "mc st", "", "multimem.st of warps, bulk copies included"),
    COLUMN_U64(multicast_reds, "mc red", "", "multimem.red of warps, bulk reductions included"),
    COLUMN_END,
};

static const Column wait_columns[] = {
    COLUMN_U64(launch, "launch", "", "as in the table of launches"),
    COLUMN_TEXT(kernel, "kernel", "its name"),
    ENGINE_WAIT_COLUMNS,
    COLUMN_END,
};

void engine_launches_add_shape(Table *table, const guint32 n[3])
{
    g_autofree char *text = n[2] > 1   ? g_strdup_printf("%ux%ux%u", n[0], n[1], n[2])
                            : n[1] > 1 ? g_strdup_printf("%ux%u", n[0], n[1])
                                       : g_strdup_printf("%u", n[0]);
    table_text(table, text);
}

static guint64 lived_ps(const KernelStats *stats)
{
    guint64 sum = 0;
    for (guint w = 0; w < KERNEL_WAITS; w++)
        sum += stats->wait_ps[w];
    return sum;
}

static void add_share(Table *table, guint64 part, double whole)
{
    table_fixed(table, whole > 0 ? (double)part / whole : NAN);
}

static void add_launch(const Engine *engine, Table *table, guint number, const Launch *row)
{
    const SmSpec *sm = &engine->fabric->spec.sm;
    const KernelStats *s = row->stats;
    table_u64(table, number);
    table_text(table, row->name);
    table_text(table, row->stats ? row->stats->called : NULL);
    table_u64(table, row->gpu);
    table_u64(table, row->stream);
    table_text(table, row->state);
    engine_launches_add_shape(table, row->grid);
    engine_launches_add_shape(table, row->block);
    table_fixed(table, (double)row->start_ps / (double)PS_PER_US);
    table_fixed(table, (double)(row->end_ps - row->start_ps) / (double)PS_PER_US);
    if (!s) {
        for (guint i = 0; i < 3 + KERNEL_TARGETS + 3; i++)
            table_null(table);
        return;
    }
    table_u64(table, s->instructions);
    add_share(table, s->instructions * sm->clock_ps, (double)s->sm_ps);
    add_share(table, 100 * lived_ps(s), (double)s->sm_ps * (double)sm->warps_max);
    for (guint t = 0; t < KERNEL_TARGETS; t++)
        table_u64(table, s->bytes[t]);
    table_u64(table, s->mc_loads);
    table_u64(table, s->mc_stores);
    table_u64(table, s->mc_reds);
}

void engine_launches_add_waits(Table *table, guint number, const char *name, const KernelStats *stats)
{
    guint64 lived = lived_ps(stats);
    table_u64(table, number);
    table_text(table, name);
    table_fixed(table, (double)lived / (double)PS_PER_US);
    for (guint w = 0; w < KERNEL_WAITS; w++)
        add_share(table, 100 * stats->wait_ps[w], (double)lived);
    table_u64(table, stats->polls);
}

/* Their numbers are those of the job. */
static guint count_of(const GArray *launches, guint32 client)
{
    guint n = 0;

    for (guint i = 0; i < launches->len; i++)
        n += is_of(&g_array_index(launches, Launch, i), client);
    return n;
}

void engine_launches_report(Engine *engine, Report *report, guint32 client)
{
    GArray *launches = engine->launches;
    const guint ended = launches->len;
    add_running(engine, launches); /* for this report alone */
    const guint n = count_of(launches, client);
    const TableFlags flags = n > ENGINE_TEXT_ROWS_MAX ? TABLE_NO_TEXT | TABLE_FOLDED : 0;
    if (n == 0) {
        g_array_set_size(launches, ended);
        return;
    }
    Table *table = report_add_table(report, "launches", "Launches of kernels", launch_columns, flags);
    for (guint i = 0; i < launches->len; i++)
        if (is_of(&g_array_index(launches, Launch, i), client))
            add_launch(engine, table, i + 1, &g_array_index(launches, Launch, i));
    table = report_add_table(report, "launch_waits", "What the time of their warps went to", wait_columns, flags);
    for (guint i = 0; i < launches->len; i++) {
        const Launch *row = &g_array_index(launches, Launch, i);
        if (row->stats && is_of(row, client))
            engine_launches_add_waits(table, i + 1, row->name, row->stats);
    }
    if (flags)
        report_add_note(report, "%u launches of kernels: a row for each is in JSON and HTML", n);
    g_array_set_size(launches, ended);
}
