/* See points.h. */
#include "observe/series/points.h"

#include "observe/series/roles.h"

#define SUM(f) G_STRUCT_OFFSET(SeriesPoint, f)

typedef struct {
    guint64 before;      /* value at the last sample */
    const StatRow *stat; /* of the registry; NULL: of operations */
    const char *path;    /* of the unit */
    const void *unit;
    guint8 role; /* series_role() */
} Row;

struct SeriesPoints {
    Fabric *fabric;
    char *run;
    StatsFile *file;                        /* NULL: none */
    SimTime begin_ps;                       /* what points and lines are told by */
    SimTime asked_ps, interval_ps, last_ps; /* asked_ps: the interval that is wanted; 0: as fine as may be */
    guint every, have;                      /* samples that a point has, and that the last one has so far */
    GArray *points;
    GArray *rows;       /* Row of the registry: of a file all, of points those that they have */
    guint listed;       /* so much of the registry was looked at */
    GArray *operations; /* Row, in the order of the visit */
    guint at;           /* of this visit */
    SimTime now_ps;
    SimTime idle_to_ps; /* nothing happened between last_ps and this; not later: it did */
    guint64 requests;   /* of all GPUs so far, */
    gboolean quiet;     /* and whether all were answered, at the last look */
    SeriesPoint sample;
};

static Row *series_row(SeriesPoints *series)
{
    if (series->at == series->operations->len)
        g_array_set_size(series->operations, series->at + 1); /* zeros */
    return &g_array_index(series->operations, Row, series->at++);
}

/* What happened since the last sample, or stands now; a line of the file where there is something to say. */
static guint64 series_note(SeriesPoints *series, Row *row, const StatsLine *what, guint64 now)
{
    const guint64 value = what->type == STAT_COUNTER_T ? now - row->before : now;
    /* a peak when there is a new one; all else where it is not 0, so that what is missing is 0 */
    if (series->file && (now != row->before || (what->type == STAT_LEVEL_T && now != 0))) {
        StatsLine line = *what;
        line.run = series->run;
        line.from_ps = series->begin_ps + series->last_ps;
        line.to_ps = series->begin_ps + series->now_ps;
        line.value = value;
        stats_file_add(series->file, &line);
    }
    row->before = now;
    return value;
}

/* A row that nothing is made of is left out here, and not at each sample. */
static void series_list(const char *path, const StatRow *stat, const void *unit, void *user)
{
    SeriesPoints *series = user;
    const Row row = {.stat = stat, .path = path, .unit = unit, .role = series_role(path, stat)};
    if (row.role || series->file)
        g_array_append_val(series->rows, row);
}

static void series_visit(SeriesPoints *series)
{
    series->listed = stat_list(series->fabric->stats, series->listed, series_list, series);
    for (guint i = 0; i < series->rows->len; i++) {
        Row *row = &g_array_index(series->rows, Row, i);
        const StatRow *stat = row->stat;
        const guint64 now = stat_read(stat, row->unit);
        if (now == row->before && (stat->type == STAT_COUNTER_T || now == 0)) /* so it is with most */
            continue;
        const StatsLine line = {.where = row->path, .statistic = stat->name, .type = stat->type, .unit = stat->unit};
        series_role_add(row->role, &series->sample, series_note(series, row, &line, now));
    }
}

/* Answered requests of one target class, by kind. Rows stand in the order of the tables: one that comes up later, with
 * a new object, comes behind all others. */
static void series_operations(SeriesPoints *series, const OpTable *ops, const char *where, gboolean counts)
{
    for (int k = 0; k <= PACKET_MC_READ; k++) {
        const OpStats *stats = ops->kind[k];
        const char *kind = packet_kind_name((PacketKind)k);
        g_autofree char *requests = series->file ? g_strdup_printf("%s requests", kind) : NULL; /* names of its lines */
        g_autofree char *bytes = series->file ? g_strdup_printf("%s bytes", kind) : NULL;
        const StatsLine count_line = {.where = where, .statistic = requests, .unit = "requests"};
        const StatsLine bytes_line = {.where = where, .statistic = bytes, .unit = "B"};
        series_note(series, series_row(series), &count_line, stats ? stats->count : 0);
        const guint64 moved = series_note(series, series_row(series), &bytes_line, stats ? stats->bytes : 0);
        if (counts)
            series->sample.bytes += moved;
    }
}

static void series_all_operations(SeriesPoints *series)
{
    const Fabric *fabric = series->fabric;
    series_operations(series, &fabric->op_local, "own memory", FALSE);
    series_operations(series, &fabric->op_remote, "other GPUs", TRUE);
    for (guint i = 1; i < fabric->op_object->len; i++) {
        g_autofree char *where = series->file ? g_strdup_printf("multicast %u", i) : NULL;
        series_operations(series, g_ptr_array_index(fabric->op_object, i), where, TRUE);
    }
}

/* ---- points */

const gsize series_point_sums[] = {SUM(up_flits),   SUM(down_flits),    SUM(bytes),       SUM(credit_stalls),
                                   SUM(tag_stalls), SUM(buffer_stalls), SUM(round_stalls)};
const guint series_point_n_sums = G_N_ELEMENTS(series_point_sums);
static const gsize series_point_levels[] = {
    SUM(queued),         SUM(outstanding),         SUM(multicast_tags),  SUM(multicast_tags_most),
    SUM(reduction_tags), SUM(reduction_tags_most), SUM(reduction_bytes), SUM(reduction_bytes_most)};

void series_point_merge(SeriesPoint *into, const SeriesPoint *from)
{
    into->to_ps = from->to_ps;
    for (guint i = 0; i < series_point_n_sums; i++)
        G_STRUCT_MEMBER(guint64, into, series_point_sums[i]) += G_STRUCT_MEMBER(guint64, from, series_point_sums[i]);
    for (guint i = 0; i < G_N_ELEMENTS(series_point_levels); i++) {
        guint64 *level = &G_STRUCT_MEMBER(guint64, into, series_point_levels[i]);
        *level = MAX(*level, G_STRUCT_MEMBER(guint64, from, series_point_levels[i]));
    }
}

/* Downsampled by two: each pair of neighbours becomes one; those no longer than limit_ps. How many there are then. */
static guint points_halve(SeriesPoint *points, guint n, SimTime limit_ps)
{
    guint to = 0;
    for (guint i = 0; i < n; to++) {
        const SeriesPoint *next = i + 1 < n ? &points[i + 1] : NULL;
        const gboolean both = next && points[i].to_ps - points[i].from_ps <= limit_ps &&
                              next->to_ps - next->from_ps <= limit_ps;
        points[to] = points[i];
        if (both)
            series_point_merge(&points[to], next);
        i += both ? 2 : 1;
    }
    return to;
}

/* Stretches in which nothing happens stay what they are, unless there are too many of them. */
static void series_halve(SeriesPoints *series)
{
    SeriesPoint *points = (SeriesPoint *)(void *)series->points->data;
    guint n = points_halve(points, series->points->len, series->asked_ps ? SIMTIME_NEVER : series->interval_ps);
    if (n > SERIES_POINTS * 3 / 4)
        n = points_halve(points, n, SIMTIME_NEVER);
    g_array_set_size(series->points, n);
    if (series->asked_ps)
        series->every *= 2;
    else
        series->interval_ps *= 2;
}

static void series_add_point(SeriesPoints *series)
{
    const gboolean some_time = series->sample.to_ps > series->sample.from_ps;
    if (!some_time && series->points->len) { /* what the end of a run's last instant brought */
        series_point_merge(&g_array_index(series->points, SeriesPoint, series->points->len - 1), &series->sample);
        return;
    }
    if (series->have == 0 && series->points->len == SERIES_POINTS)
        series_halve(series);
    if (series->have == 0)
        g_array_append_val(series->points, series->sample);
    else
        series_point_merge(&g_array_index(series->points, SeriesPoint, series->points->len - 1), &series->sample);
    if (++series->have >= series->every)
        series->have = 0;
}

/* ---- samples */

static void points_take(SeriesPoints *series, SimTime at_ps, SimTime until_ps)
{
    Fabric *fabric = series->fabric;
    fabric_advance(fabric, until_ps);
    series->now_ps = at_ps;
    series->at = 0;
    series->sample = (SeriesPoint){.from_ps = series->begin_ps + series->last_ps, .to_ps = series->begin_ps + at_ps};
    series_visit(series);
    series_all_operations(series);
    series_add_point(series);
    series->last_ps = at_ps;
}

/* Nothing was on its way since the last look: then there is nothing to sample. */
static gboolean series_is_idle(SeriesPoints *series)
{
    guint64 requests = 0;
    gboolean quiet = TRUE;
    for (guint64 g = 0; g < series->fabric->spec.system.gpus; g++) {
        requests += series->fabric->gpu[g].requests;
        quiet &= series->fabric->gpu[g].txns->used == 0;
    }
    const gboolean idle = quiet && series->quiet && requests == series->requests;
    series->quiet = quiet;
    series->requests = requests;
    return idle && series->asked_ps == 0;
}

/* The time in which nothing happened is a point of its own. */
static void series_end_idle(SeriesPoints *series)
{
    if (series->idle_to_ps <= series->last_ps)
        return;
    series->sample = (SeriesPoint){.from_ps = series->begin_ps + series->last_ps,
                                   .to_ps = series->begin_ps + series->idle_to_ps};
    series_add_point(series);
    series->last_ps = series->idle_to_ps;
}

SimTime series_points_look(SeriesPoints *series, SimTime at_ps)
{
    if (series_is_idle(series)) {
        series->idle_to_ps = at_ps;
    } else {
        series_end_idle(series);
        points_take(series, at_ps, at_ps - 1);
    }
    return at_ps + series->interval_ps;
}

/* ---- life */

SeriesPoints *series_points_new(Fabric *fabric, SimTime interval_ps, SimTime begin_ps, StatsFile *file, const char *run)
{
    SeriesPoints *series = g_new0(SeriesPoints, 1);
    series->fabric = fabric;
    series->run = g_strdup(run);
    series->file = file;
    series->begin_ps = begin_ps;
    series->asked_ps = interval_ps;
    series->interval_ps = interval_ps ? interval_ps : SERIES_FIRST_PS;
    series->every = 1;
    series->points = g_array_new(FALSE, FALSE, sizeof(SeriesPoint));
    series->rows = g_array_new(FALSE, TRUE, sizeof(Row));
    series->operations = g_array_new(FALSE, TRUE, sizeof(Row));
    series->last_ps = sim_now_ps(fabric->sim);
    return series;
}

void series_points_end(SeriesPoints *series, SimTime at_ps)
{
    series_end_idle(series);
    points_take(series, at_ps, at_ps);
}

const GArray *series_points_of(const SeriesPoints *series) { return series->points; }

void series_points_free(SeriesPoints *series)
{
    if (!series)
        return;
    g_array_free(series->points, TRUE);
    g_array_free(series->rows, TRUE);
    g_array_free(series->operations, TRUE);
    g_free(series->run);
    g_free(series);
}
