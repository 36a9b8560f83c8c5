/* Who waits for whom: which process's launch is the last to start of those that belong together (groups.c), and by how
 * much. Of a job of several processes alone: in one process that is the program's own order.
 *
 * A launch starts when its turn in its stream has come and it was asked for; what it waits for then, in barriers and
 * polls, is another's coming. */
#include "machine/engine/internal.h"

/* One process, over all groups that it was part of. */
typedef struct {
    guint32 client, rank;
    guint64 groups, last;     /* how many it was in; of how many it was the last */
    guint64 late_ps, most_ps; /* by how much it came after the one before it, where it was the last */
    guint64 waited_ps;        /* from its own start to the last one's, all together */
} Row;

void engine_arrivals_note(GArray *arrivals, const Work *work)
{
    EngineArrival arrival = {work->request.client, work->request.order.rank, work->start_ps};

    if (arrival.client != 0)
        g_array_append_val(arrivals, arrival);
}

static Row *row_of(GArray *rows, const EngineArrival *arrival)
{
    for (guint i = 0; i < rows->len; i++) {
        Row *row = &g_array_index(rows, Row, i);
        if (row->client == arrival->client) {
            row->rank = arrival->rank;
            return row;
        }
    }
    Row row = {.client = arrival->client, .rank = arrival->rank};
    g_array_append_val(rows, row);
    return &g_array_index(rows, Row, rows->len - 1);
}

/* The first of each process counts: the others of one with several GPUs are its own affair. */
static gboolean is_first_of_its_own(const GArray *arrivals, guint at)
{
    for (guint i = 0; i < at; i++)
        if (g_array_index(arrivals, EngineArrival, i).client == g_array_index(arrivals, EngineArrival, at).client)
            return FALSE;
    return TRUE;
}

void engine_arrivals_add(Engine *engine, const GArray *arrivals)
{
    const EngineArrival *last = NULL;
    SimTime last_ps = 0, before_ps = 0;
    guint processes = 0;

    for (guint i = 0; i < arrivals->len; i++) {
        const EngineArrival *a = &g_array_index(arrivals, EngineArrival, i);
        if (!is_first_of_its_own(arrivals, i))
            continue;
        processes++;
        if (!last || a->start_ps >= last_ps) {
            before_ps = last_ps;
            last_ps = a->start_ps;
            last = a;
        } else {
            before_ps = MAX(before_ps, a->start_ps);
        }
    }
    if (processes < 2)
        return;
    for (guint i = 0; i < arrivals->len; i++) {
        const EngineArrival *a = &g_array_index(arrivals, EngineArrival, i);
        if (!is_first_of_its_own(arrivals, i))
            continue;
        Row *row = row_of(engine->arrivals, a);
        row->groups++;
        row->waited_ps += last_ps - a->start_ps;
        if (a != last || last_ps == before_ps)
            continue;
        row->last++;
        row->late_ps += last_ps - before_ps;
        row->most_ps = MAX(row->most_ps, last_ps - before_ps);
    }
}

GArray *engine_arrivals_new(void) { return g_array_new(FALSE, FALSE, sizeof(Row)); }

static gint compare_rows(gconstpointer a, gconstpointer b)
{
    const Row *x = a, *y = b;

    return x->rank != y->rank ? (x->rank < y->rank ? -1 : 1) : (x->client > y->client) - (x->client < y->client);
}

static const Column columns[] = {
    COLUMN_U64(rank, "rank", "", "of the process, as in the table of processes"),
    COLUMN_U64(groups, "groups", "", "of launches that belong together, which it was part of with other processes"),
    COLUMN_U64(last, "last", "", "in how many of them it alone was the last to start"),
    COLUMN_FIXED(late_us, "late", "us", 3, "then: after the one before it, on average"),
    COLUMN_FIXED(late_most_us, "most", "us", 3, "the same, at most"),
    COLUMN_FIXED(waited_us, "waited", "us", 3, "from its own starts to the last one's, all together"),
    COLUMN_END,
};

static gboolean has_any(const GArray *rows, guint32 client)
{
    for (guint i = 0; i < rows->len; i++)
        if (client == 0 || g_array_index(rows, Row, i).client == client)
            return TRUE;
    return FALSE;
}

/* In words, of the process that was last most often. */
static void say_last(const GArray *rows, Report *report)
{
    const Row *worst = NULL;

    for (guint i = 0; i < rows->len; i++) {
        const Row *row = &g_array_index(rows, Row, i);
        if (row->last > 0 && row->rank != G_MAXUINT32 && (!worst || row->last > worst->last))
            worst = row;
    }
    if (worst)
        report_add_note(report,
                        "rank %u was last into %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                        " kernels that belong together, by %.3f us on average and %.3f at most",
                        worst->rank, worst->last, worst->groups,
                        (double)worst->late_ps / (double)worst->last / (double)PS_PER_US,
                        (double)worst->most_ps / (double)PS_PER_US);
}

void engine_arrivals_report(Engine *engine, Report *report, guint32 client)
{
    const GArray *rows = engine->arrivals;

    if (!has_any(rows, client))
        return;
    g_array_sort(engine->arrivals, compare_rows);
    if (client == 0)
        say_last(rows, report);
    Table *table = report_add_table(report, "arrivals", "Who was last into kernels that belong together", columns, 0);
    for (guint i = 0; i < rows->len; i++) {
        const Row *row = &g_array_index(rows, Row, i);
        if (client != 0 && row->client != client)
            continue;
        if (row->rank == G_MAXUINT32)
            table_null(table);
        else
            table_u64(table, row->rank);
        table_u64(table, row->groups);
        table_u64(table, row->last);
        table_fixed(table, row->last > 0 ? (double)row->late_ps / (double)row->last / (double)PS_PER_US : 0);
        table_fixed(table, (double)row->most_ps / (double)PS_PER_US);
        table_fixed(table, (double)row->waited_ps / (double)PS_PER_US);
    }
}
