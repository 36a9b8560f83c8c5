/* See series.h. */
#include "observe/series/series.h"

#include "observe/series/roles.h"

#define SUM(f) G_STRUCT_OFFSET(SeriesPoint, f)

typedef struct {
    guint64 before; /* value at the last sample */
    guint8 role;    /* series_role() */
    guint8 known;
} Row;

struct Series {
    Fabric *fabric;
    SeriesSpec spec;
    char *run;
    SimTime interval_ps, first_ps, last_ps;
    guint every, have;    /* samples that a point has, and that the last one has so far */
    GArray *points;
    GArray *rows;         /* Row, in the order of the visit: of the registry, then of operations */
    guint at;             /* of this visit */
    SimTime now_ps;
    SimTime idle_to_ps;   /* nothing happened between last_ps and this; not later: it did */
    guint64 requests;     /* of all GPUs so far, */
    gboolean quiet;       /* and whether all were answered, at the last look */
    SeriesPoint sample;
    SimTime sample_ps, look_ps, tracks_ps; /* when the next ones are; SIMTIME_NEVER: none */
    Watch *watch;
    Tracks *tracks;
};

static Row *series_row(Series *series)
{
    if (series->at == series->rows->len)
        g_array_set_size(series->rows, series->at + 1); /* zeros */
    return &g_array_index(series->rows, Row, series->at++);
}

/* What happened since the last sample, or stands now; a line of the file where there is something to say. */
static guint64 series_note(Series *series, Row *row, const StatsLine *what, guint64 now)
{
    const guint64 value = what->type == STAT_COUNTER_T ? now - row->before : now;
    /* a peak when there is a new one; all else where it is not 0, so that what is missing is 0 */
    if (series->spec.file && (now != row->before || (what->type == STAT_LEVEL_T && now != 0))) {
        StatsLine line = *what;
        line.run = series->run;
        line.from_ps = series->spec.begin_ps + series->last_ps;
        line.to_ps = series->spec.begin_ps + series->now_ps;
        line.value = value;
        stats_file_add(series->spec.file, &line);
    }
    row->before = now;
    return value;
}

static void series_visit(const char *path, const StatRow *stat, const void *value, void *user)
{
    Series *series = user;
    if (stat->type == STAT_HIST_T)
        return;
    Row *row = series_row(series);
    if (!row->known) {
        row->role = series_role(path, stat);
        row->known = TRUE;
    }
    if (!row->role && !series->spec.file)
        return;
    const StatsLine line = {.where = path, .statistic = stat->name, .type = stat->type, .unit = stat->unit};
    const guint64 what = series_note(series, row, &line, *(const guint64 *)value);
    series_role_add(row->role, &series->sample, what);
}

/* Answered requests of one target class, by kind. Rows stand in the order of the tables: one that comes up later, with
 * a new object, comes behind all others. */
static void series_operations(Series *series, const OpTable *ops, const char *where, gboolean counts)
{
    for (int k = 0; k <= PACKET_MC_READ; k++) {
        const OpStats *stats = ops->kind[k];
        g_autofree char *requests = g_strdup_printf("%s requests", packet_kind_name((PacketKind)k));
        g_autofree char *bytes = g_strdup_printf("%s bytes", packet_kind_name((PacketKind)k));
        const StatsLine count_line = {.where = where, .statistic = requests, .unit = "requests"};
        const StatsLine bytes_line = {.where = where, .statistic = bytes, .unit = "B"};
        series_note(series, series_row(series), &count_line, stats ? stats->count : 0);
        const guint64 moved = series_note(series, series_row(series), &bytes_line, stats ? stats->bytes : 0);
        if (counts)
            series->sample.bytes += moved;
    }
}

static void series_all_operations(Series *series)
{
    const Fabric *fabric = series->fabric;
    series_operations(series, &fabric->op_local, "own memory", FALSE);
    series_operations(series, &fabric->op_remote, "other GPUs", TRUE);
    for (guint i = 1; i < fabric->op_object->len; i++) {
        g_autofree char *where = g_strdup_printf("multicast %u", i);
        series_operations(series, g_ptr_array_index(fabric->op_object, i), where, TRUE);
    }
}

/* ---- points */

const gsize series_point_sums[] = {SUM(up_flits),      SUM(down_flits), SUM(bytes),        SUM(credit_stalls),
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

/* Two and two neighbours become one; those no longer than limit_ps. How many there are then. */
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
static void series_halve(Series *series)
{
    SeriesPoint *points = (SeriesPoint *)(void *)series->points->data;
    guint n = points_halve(points, series->points->len, series->spec.interval_ps ? SIMTIME_NEVER : series->interval_ps);
    if (n > SERIES_POINTS * 3 / 4)
        n = points_halve(points, n, SIMTIME_NEVER);
    g_array_set_size(series->points, n);
    if (series->spec.interval_ps)
        series->every *= 2;
    else
        series->interval_ps *= 2;
}

static void series_add_point(Series *series)
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

/* Ports that make decisions late make all those up to until_ps now. */
static void series_advance(const Series *series, SimTime until_ps)
{
    for (guint32 l = 0; l < fabric_n_links(series->fabric); l++)
        link_advance(fabric_link_at(series->fabric, l), until_ps);
}

static void series_take(Series *series, SimTime at_ps, SimTime until_ps)
{
    Fabric *fabric = series->fabric;
    series_advance(series, until_ps);
    series->now_ps = at_ps;
    series->at = 0;
    series->sample = (SeriesPoint){.from_ps = series->spec.begin_ps + series->last_ps,
                                   .to_ps = series->spec.begin_ps + at_ps};
    stat_visit(fabric->stats, series_visit, series);
    series_all_operations(series);
    series_add_point(series);
    series->last_ps = at_ps;
}

/* Nothing was on its way since the last look: then there is nothing to sample. */
static gboolean series_is_idle(Series *series)
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
    return idle && series->spec.interval_ps == 0;
}

/* The time in which nothing happened is a point of its own. */
static void series_end_idle(Series *series)
{
    if (series->idle_to_ps <= series->last_ps)
        return;
    series->sample = (SeriesPoint){.from_ps = series->spec.begin_ps + series->last_ps,
                                   .to_ps = series->spec.begin_ps + series->idle_to_ps};
    series_add_point(series);
    series->last_ps = series->idle_to_ps;
}

static SimTime series_next_ps(const Series *series)
{
    return MIN(MIN(series->sample_ps, series->look_ps), series->tracks_ps);
}

static SimTime series_observe(void *user, SimTime at_ps)
{
    Series *series = user;
    if (series->sample_ps <= at_ps) {
        if (series_is_idle(series)) {
            series->idle_to_ps = at_ps;
        } else {
            series_end_idle(series);
            series_take(series, at_ps, at_ps - 1);
        }
        series->sample_ps = at_ps + series->interval_ps;
    }
    if (series->look_ps <= at_ps)
        series->look_ps = watch_look(series->watch, at_ps);
    if (series->tracks_ps <= at_ps) {
        series_advance(series, at_ps - 1);
        series->tracks_ps = tracks_look(series->tracks, at_ps);
    }
    return series_next_ps(series);
}

Series *series_new(Fabric *fabric, const SeriesSpec *spec, const char *run)
{
    if (!spec)
        return NULL;
    Series *series = g_new0(Series, 1);
    series->fabric = fabric;
    series->spec = *spec;
    series->run = g_strdup(run);
    for (char *c = series->run; *c; c++)
        if (*c == '"' || *c == ',' || *c == '\\' || (guchar)*c < ' ')
            *c = ' ';
    series->interval_ps = spec->interval_ps ? spec->interval_ps : SERIES_FIRST_PS;
    series->every = 1;
    series->points = g_array_new(FALSE, FALSE, sizeof(SeriesPoint));
    series->rows = g_array_new(FALSE, TRUE, sizeof(Row));
    series->first_ps = series->last_ps = sim_now_ps(fabric->sim);
    series->sample_ps = spec->watch_only ? SIMTIME_NEVER : series->last_ps + series->interval_ps;
    series->look_ps = series->tracks_ps = SIMTIME_NEVER;
    if (spec->tracks) {
        series->tracks = tracks_new(fabric, spec->begin_ps, spec->shares);
        series->tracks_ps = tracks_first_ps(series->tracks);
    }
    if (spec->watch) {
        series->watch = watch_new(spec->watch, fabric, run, spec->begin_ps);
        series->look_ps = series->last_ps + WATCH_LEAST_PS;
    }
    sim_observe(fabric->sim, series_next_ps(series), series_observe, series);
    return series;
}

void series_end(Series *series)
{
    if (!series)
        return;
    const SimTime now_ps = sim_now_ps(series->fabric->sim);
    if (!series->spec.watch_only) {
        series_end_idle(series);
        series_take(series, now_ps, now_ps);
    }
    g_clear_pointer(&series->watch, watch_free);
    if (series->tracks) {
        series_advance(series, now_ps);
        tracks_end(series->tracks, now_ps);
    }
    sim_observe(series->fabric->sim, 0, NULL, NULL);
    if (series->spec.done)
        series->spec.done(series->spec.user, series);
}

void series_free(Series *series)
{
    if (!series)
        return;
    tracks_free(series->tracks);
    g_array_free(series->points, TRUE);
    g_array_free(series->rows, TRUE);
    g_free(series->run);
    g_free(series);
}

const GArray *series_points(const Series *series) { return series->points; }
const char *series_run(const Series *series) { return series->run; }

void series_forget(Series *series, const void *cause)
{
    if (series)
        tracks_forget(series->tracks, cause);
}

Tracks *series_take_tracks(Series *series) { return g_steal_pointer(&series->tracks); }
const Tracks *series_tracks(const Series *series) { return series->tracks; }

Fabric *series_fabric(const Series *series) { return series->fabric; }
SimTime series_passed_ps(const Series *series) { return series->last_ps - series->first_ps; }
