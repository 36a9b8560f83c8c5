/* Launches that belong together, and what the fabric did while they ran.
 *
 * A collective is a kernel that runs on several GPUs at once. So launches of one kernel with one shape that run at the
 * same time on different GPUs are a group: a launch joins the oldest group of its kind of which a launch still runs and
 * which has none of its GPU. Groups of the same GPUs that moved the same bytes, to within 2 %, are one row of the
 * report: a benchmark's repetitions of one size, whose loops that poll read now more and now less. How busy links were
 * is counted from the first launch's start to the last one's end, over all traffic of that time.
 *
 * The counters are read by events of their own at the end of the instant, since launches start and end in the midst of
 * other work. Runs of flows have no packets to count. */
#include "machine/engine/internal.h"
#include "machine/engine/launches.h"

#include <math.h>

#define SAME_BYTES 50u /* one part in so many may differ */

typedef struct {
    double mean_pct[USAGE_DIRECTIONS], most_pct[USAGE_DIRECTIONS], switch_pct;
} Busy;

struct EngineGroup {
    Engine *engine;
    Event begins, ends; /* look at the links */
    const char *name;   /* interned */
    guint32 grid[3], block[3];
    GArray *gpus;     /* guint16, in the order in which they came */
    guint running;    /* launches of it */
    gboolean counted; /* they are kernels of PTX: `sum` is there */
    SimTime start_ps, end_ps;
    GArray *arrivals; /* EngineArrival */
    UsageMark *mark;  /* of the first one's start */
    KernelStats sum;  /* of those that have ended */
};

/* Groups that are alike. */
typedef struct {
    const char *name, *called; /* interned */
    guint32 grid[3], block[3];
    guint gpus;
    gboolean counted;
    guint64 times;
    SimTime start_ps;               /* of the first */
    SimTime sum_ps, min_ps, max_ps; /* how long they took */
    Busy busy;                      /* sums, each weighted by its time */
    KernelStats stats;              /* of the first; wait_ps and polls: of all */
} Row;

static void group_free(gpointer data)
{
    EngineGroup *group = data;
    g_array_unref(group->gpus);
    g_array_unref(group->arrivals);
    usage_mark_free(group->mark);
    g_free(group);
}

void engine_groups_init(EngineGroups *groups)
{
    groups->open = g_ptr_array_new_with_free_func(group_free);
    groups->rows = g_ptr_array_new_with_free_func(g_free);
    groups->by_key = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_ptr_array_unref);
}

/* ---- a group ends */

static gint compare_gpus(gconstpointer a, gconstpointer b)
{
    return (gint) * (const guint16 *)a - (gint) * (const guint16 *)b;
}

/* What groups of one row have in common beside their bytes. */
static char *group_key(EngineGroup *group)
{
    GString *key = g_string_new(group->name);
    g_array_sort(group->gpus, compare_gpus);
    for (guint i = 0; i < 3; i++)
        g_string_append_printf(key, "/%u,%u", group->grid[i], group->block[i]);
    for (guint i = 0; i < group->gpus->len; i++)
        g_string_append_printf(key, "@%u", g_array_index(group->gpus, guint16, i));
    g_string_append_printf(key, " %s", group->sum.called ? group->sum.called : "");
    return g_string_free(key, FALSE);
}

static gboolean is_same(guint64 a, guint64 b) { return MAX(a, b) - MIN(a, b) <= MAX(a, b) / SAME_BYTES; }

/* Bytes of the own memory count where there are no others. */
static gboolean moved_the_same(const guint64 *a, const guint64 *b)
{
    const guint64 away = a[KERNEL_PEER] + a[KERNEL_MULTICAST] + b[KERNEL_PEER] + b[KERNEL_MULTICAST];
    return is_same(a[KERNEL_PEER], b[KERNEL_PEER]) && is_same(a[KERNEL_MULTICAST], b[KERNEL_MULTICAST]) &&
           (away > 0 || is_same(a[KERNEL_OWN], b[KERNEL_OWN]));
}

static Row *row_of(EngineGroup *group)
{
    EngineGroups *groups = &group->engine->groups;
    g_autofree char *key = group_key(group);
    GPtrArray *alike = g_hash_table_lookup(groups->by_key, key);

    if (!alike) {
        alike = g_ptr_array_new();
        g_hash_table_insert(groups->by_key, g_steal_pointer(&key), alike);
    }
    for (guint i = 0; i < alike->len; i++)
        if (moved_the_same(((const Row *)alike->pdata[i])->stats.bytes, group->sum.bytes))
            return alike->pdata[i];
    Row *row = g_new0(Row, 1);
    *row = (Row){.name = group->name,
                 .called = group->sum.called,
                 .gpus = group->gpus->len,
                 .counted = group->counted,
                 .start_ps = group->start_ps,
                 .min_ps = SIMTIME_NEVER,
                 .stats = group->sum};
    memcpy(row->grid, group->grid, sizeof row->grid);
    memcpy(row->block, group->block, sizeof row->block);
    memset(row->stats.wait_ps, 0, sizeof row->stats.wait_ps);
    row->stats.polls = 0;
    g_ptr_array_add(alike, row);
    g_ptr_array_add(groups->rows, row);
    return row;
}

static void add_busy(const EngineGroup *group, Row *row, double took_ps)
{
    const Fabric *fabric = group->engine->fabric;
    const guint16 *gpus = (const guint16 *)(const void *)group->gpus->data;

    for (int d = 0; d < USAGE_DIRECTIONS; d++) {
        const Usage usage = usage_of(fabric, group->mark, (UsageDirection)d, gpus, group->gpus->len);
        row->busy.mean_pct[d] += usage.mean_pct * took_ps;
        row->busy.most_pct[d] += usage.max_pct * took_ps;
    }
    row->busy.switch_pct += usage_of_switch(fabric, group->mark) * took_ps;
}

static void group_end(EngineGroup *group)
{
    const SimTime took_ps = group->end_ps - group->start_ps;
    Row *row = row_of(group);

    row->times++;
    row->sum_ps += took_ps;
    row->min_ps = MIN(row->min_ps, took_ps);
    row->max_ps = MAX(row->max_ps, took_ps);
    for (guint w = 0; w < KERNEL_WAITS; w++)
        row->stats.wait_ps[w] += group->sum.wait_ps[w];
    row->stats.polls += group->sum.polls;
    if (group->mark) {
        usage_settle(group->engine->fabric);
        add_busy(group, row, (double)took_ps);
    }
    engine_arrivals_add(group->engine, group->arrivals);
    g_ptr_array_remove(group->engine->groups.open, group);
}

static void on_end(Event *event, SimTime now_ps)
{
    (void)now_ps;
    group_end(EVENT_OWNER(event, EngineGroup, ends));
}

/* ---- launches come and go */

static void on_begin(Event *event, SimTime now_ps)
{
    EngineGroup *group = EVENT_OWNER(event, EngineGroup, begins);
    (void)now_ps;
    usage_settle(group->engine->fabric);
    group->mark = usage_mark(group->engine->fabric);
}

static gboolean takes(const EngineGroup *group, const Work *work, const char *name)
{
    guint32 grid[3], block[3];

    engine_launches_shape(work, grid, block);
    if (group->running == 0 || group->name != name || memcmp(grid, group->grid, sizeof grid) != 0 ||
        memcmp(block, group->block, sizeof block) != 0)
        return FALSE;
    for (guint i = 0; i < group->gpus->len; i++)
        if (g_array_index(group->gpus, guint16, i) == work->context->gpu)
            return FALSE;
    return TRUE;
}

static EngineGroup *group_new(Work *work, const char *name)
{
    Engine *engine = work->engine;
    EngineGroup *group = g_new0(EngineGroup, 1);

    group->engine = engine;
    group->name = name;
    group->gpus = g_array_new(FALSE, FALSE, sizeof(guint16));
    group->arrivals = g_array_new(FALSE, FALSE, sizeof(EngineArrival));
    group->start_ps = work->start_ps;
    group->counted = work->request.op == ENGINE_LAUNCH_PTX;
    engine_launches_shape(work, group->grid, group->block);
    event_init(&group->begins, on_begin);
    event_init(&group->ends, on_end);
    if (!engine->spec.flow)
        sim_at(engine->sim, &group->begins, sim_now_ps(engine->sim), EVENT_PRIORITY_LAST);
    g_ptr_array_add(engine->groups.open, group);
    return group;
}

void engine_groups_join(Work *work)
{
    const GPtrArray *open = work->engine->groups.open;
    const char *name = g_intern_string(work->kernel.name);

    for (guint i = 0; i < open->len && !work->group; i++)
        if (takes(open->pdata[i], work, name))
            work->group = open->pdata[i];
    if (!work->group)
        work->group = group_new(work, name);
    g_array_append_val(work->group->gpus, work->context->gpu);
    engine_arrivals_note(work->group->arrivals, work);
    work->group->running++;
}

void engine_groups_leave(Work *work)
{
    EngineGroup *group = work->group;
    const KernelStats *s = work->counted;

    if (!group)
        return;
    work->group = NULL;
    group->end_ps = work->end_ps;
    group->running--;
    if (s) {
        group->sum.called = s->called;
        group->sum.instructions += s->instructions;
        group->sum.polls += s->polls;
        group->sum.mc_loads += s->mc_loads;
        group->sum.mc_stores += s->mc_stores;
        group->sum.mc_reds += s->mc_reds;
        for (guint t = 0; t < KERNEL_TARGETS; t++)
            group->sum.bytes[t] += s->bytes[t];
        for (guint w = 0; w < KERNEL_WAITS; w++)
            group->sum.wait_ps[w] += s->wait_ps[w];
    }
    if (group->running == 0)
        sim_at(group->engine->sim, &group->ends, sim_now_ps(group->engine->sim), EVENT_PRIORITY_LAST);
}

/* ---- tables */

static const Column group_columns[] = {
    COLUMN_U64(group, "group", "", "launches of one kernel that ran at the same time on different GPUs, from 1"),
    COLUMN_TEXT(kernel, "kernel", "its name"),
    COLUMN_TEXT(called, "called", "the function that it called first by its address: what a kernel of many did"),
    COLUMN_U64(gpus, "gpus", "", "on which it ran"),
    COLUMN_TEXT(grid, "grid", "CTAs of each launch"),
    COLUMN_TEXT(block, "block", "threads of a CTA"),
    COLUMN_U64(times, "times", "", "groups of the same GPUs that moved the same bytes, to within 2 %"),
    COLUMN_FIXED(start_us, "start", "us", 3, "of the first launch"),
    COLUMN_FIXED(time_us, "time", "us", 3, "from the first start to the last end of a group, on average"),
    COLUMN_FIXED(time_min_us, "least", "us", 3, "the same of the shortest group"),
    COLUMN_FIXED(time_max_us, "most", "us", 3, "the same of the longest group"),
    COLUMN_U64(peer_bytes, "peers", "B", "that lanes of all GPUs read and wrote in others' memory, the first time"),
    COLUMN_U64(multicast_bytes, "multicast", "B", "the same at multicast addresses, each counted once"),
    COLUMN_U64(multicast_loads, "ld_reduce", "", "multimem.ld_reduce of warps, the first time"),
    COLUMN_U64(multicast_stores, "mc st", "", "multimem.st of warps, bulk copies included"),
    COLUMN_U64(multicast_reds, "mc red", "", "multimem.red of warps, bulk reductions included"),
    COLUMN_FIXED(up_pct, "up", "%", 1, "share of the time in which a link from these GPUs to a switch carried flits"),
    COLUMN_FIXED(up_most_pct, "most", "%", 1, "of the one that carried most"),
    COLUMN_FIXED(down_pct, "down", "%", 1, "the same of a link from a switch to these GPUs"),
    COLUMN_FIXED(down_most_pct, "most", "%", 1, "of the one that carried most"),
    COLUMN_FIXED(switch_pct, "switch", "%", 1, "the ports of the switch that was busiest, in or out, on average"),
    COLUMN_END,
};

static const Column wait_columns[] = {
    COLUMN_U64(group, "group", "", "as in the table of groups"),
    COLUMN_TEXT(kernel, "kernel", "its name"),
    ENGINE_WAIT_COLUMNS,
    COLUMN_END,
};

static void add_group(Table *table, guint number, const Row *row)
{
    const double times = (double)row->times, sum_ps = (double)row->sum_ps;
    const gboolean busy = row->sum_ps > 0;

    table_u64(table, number);
    table_text(table, row->name);
    table_text(table, row->called);
    table_u64(table, row->gpus);
    engine_launches_add_shape(table, row->grid);
    engine_launches_add_shape(table, row->block);
    table_u64(table, row->times);
    table_fixed(table, (double)row->start_ps / (double)PS_PER_US);
    table_fixed(table, sum_ps / times / (double)PS_PER_US);
    table_fixed(table, (double)row->min_ps / (double)PS_PER_US);
    table_fixed(table, (double)row->max_ps / (double)PS_PER_US);
    const guint64 numbers[] = {row->stats.bytes[KERNEL_PEER], row->stats.bytes[KERNEL_MULTICAST], row->stats.mc_loads,
                               row->stats.mc_stores, row->stats.mc_reds};
    for (guint i = 0; i < G_N_ELEMENTS(numbers); i++)
        if (row->counted)
            table_u64(table, numbers[i]);
        else
            table_null(table);
    for (int d = 0; d < USAGE_DIRECTIONS; d++) {
        table_fixed(table, busy ? row->busy.mean_pct[d] / sum_ps : NAN);
        table_fixed(table, busy ? row->busy.most_pct[d] / sum_ps : NAN);
    }
    table_fixed(table, busy ? row->busy.switch_pct / sum_ps : NAN);
}

void engine_groups_settle(Engine *engine)
{
    const GPtrArray *open = engine->groups.open;

    for (guint i = open->len; i-- > 0;) {
        EngineGroup *group = open->pdata[i];
        if (group->running == 0) {
            sim_cancel(engine->sim, &group->ends);
            group_end(group);
        }
    }
}

void engine_groups_report(Engine *engine, Report *report)
{
    const GPtrArray *rows = engine->groups.rows;
    const TableFlags flags = rows->len > ENGINE_TEXT_ROWS_MAX ? TABLE_NO_TEXT : 0;
    if (rows->len == 0)
        return;
    Table *table = report_add_table(report, "launch_groups", "Kernels, each on all GPUs that ran it at once",
                                    group_columns, flags);
    for (guint i = 0; i < rows->len; i++)
        add_group(table, i + 1, rows->pdata[i]);
    table = report_add_table(report, "group_waits", "What the time of their warps went to", wait_columns, flags);
    for (guint i = 0; i < rows->len; i++) {
        const Row *row = rows->pdata[i];
        if (row->counted)
            engine_launches_add_waits(table, i + 1, row->name, &row->stats);
    }
}
