/* See sum.h. */
#include "observe/series/sum.h"

struct SeriesSum {
    guint points;
    SimTime interval_ps, end_ps; /* end_ps: of the last that was added */
    GArray *cells;               /* SeriesPoint, one after the other from 0; from_ps and to_ps are not set */
    GArray *counts;              /* guint64, as sum_count() goes through a fabric; empty before the first */
    Hist *latency[2][PACKET_MC_READ + 1];
};

SeriesSum *series_sum_new(guint points)
{
    SeriesSum *sum = g_new0(SeriesSum, 1);
    sum->points = points;
    sum->interval_ps = SERIES_FIRST_PS;
    sum->cells = g_array_new(FALSE, TRUE, sizeof(SeriesPoint));
    sum->counts = g_array_new(FALSE, TRUE, sizeof(guint64));
    return sum;
}

void series_sum_free(SeriesSum *sum)
{
    if (!sum)
        return;
    for (guint m = 0; m < 2; m++)
        for (guint k = 0; k <= PACKET_MC_READ; k++)
            g_free(sum->latency[m][k]);
    g_array_unref(sum->cells); /* series_sum_points() may have one more */
    g_array_free(sum->counts, TRUE);
    g_free(sum);
}

/* ---- points */

static SeriesPoint *sum_cell(SeriesSum *sum, guint64 at)
{
    if (at >= sum->cells->len)
        g_array_set_size(sum->cells, (guint)at + 1); /* zeros */
    return &g_array_index(sum->cells, SeriesPoint, at);
}

/* Downsampled by two: each pair of neighbours becomes one, until there are few enough up to that time. */
static void sum_stretch(SeriesSum *sum, SimTime to_ps)
{
    while (to_ps > sum->points * sum->interval_ps) {
        SeriesPoint *cell = (SeriesPoint *)(void *)sum->cells->data;
        const guint n = sum->cells->len;
        for (guint i = 0; i < n; i += 2) {
            SeriesPoint both = cell[i];
            if (i + 1 < n)
                series_point_merge(&both, &cell[i + 1]);
            cell[i / 2] = both;
        }
        g_array_set_size(sum->cells, (n + 1) / 2);
        sum->interval_ps *= 2;
    }
}

/* The part of a point between two times, whole numbers that add up to all of it. */
static SeriesPoint point_part(const SeriesPoint *point, SimTime from_ps, SimTime to_ps)
{
    const SimTime long_ps = MAX(point->to_ps - point->from_ps, 1);
    SeriesPoint part = *point;
    for (guint c = 0; c < series_point_n_sums; c++) {
        const guint64 all = G_STRUCT_MEMBER(guint64, point, series_point_sums[c]);
        const guint64 before = (guint64)((__uint128_t)all * (from_ps - point->from_ps) / long_ps);
        const guint64 behind = (guint64)((__uint128_t)all * (to_ps - point->from_ps) / long_ps);
        G_STRUCT_MEMBER(guint64, &part, series_point_sums[c]) = point->to_ps == point->from_ps ? all : behind - before;
    }
    return part;
}

static void sum_add_point(SeriesSum *sum, const SeriesPoint *point, SimTime at_ps)
{
    SeriesPoint moved = *point;
    moved.from_ps += at_ps;
    moved.to_ps += at_ps;
    sum_stretch(sum, MAX(moved.to_ps, 1));
    sum->end_ps = MAX(sum->end_ps, moved.to_ps);
    SimTime from_ps = moved.from_ps;
    do {
        const guint64 at = MIN(from_ps / sum->interval_ps, sum->points - 1);
        const SimTime to_ps = MIN(moved.to_ps, (at + 1) * sum->interval_ps);
        const SeriesPoint part = point_part(&moved, from_ps, to_ps);
        series_point_merge(sum_cell(sum, at), &part);
        from_ps = to_ps;
    } while (from_ps < moved.to_ps);
}

GArray *series_sum_points(const SeriesSum *sum, SimTime passed_ps)
{
    SeriesSum *copy = series_sum_new(sum->points);
    copy->interval_ps = sum->interval_ps;
    g_array_append_vals(copy->cells, sum->cells->data, sum->cells->len);
    sum_stretch(copy, passed_ps);
    if (passed_ps)
        sum_cell(copy, (passed_ps - 1) / copy->interval_ps);
    for (guint i = 0; i < copy->cells->len; i++) {
        SeriesPoint *point = &g_array_index(copy->cells, SeriesPoint, i);
        point->from_ps = i * copy->interval_ps;
        point->to_ps = (i + 1) * copy->interval_ps;
        if (passed_ps > point->from_ps)
            point->to_ps = MIN(point->to_ps, passed_ps);
    }
    GArray *points = g_array_ref(copy->cells);
    series_sum_free(copy);
    return points;
}

/* ---- counters */

typedef struct {
    SeriesSum *sum;
    guint at;
    gboolean put; /* from the sum into a fabric; else the other way, added up */
} Counting;

static void sum_count(Counting *counting, guint64 now, guint64 *member)
{
    GArray *counts = counting->sum->counts;
    if (counting->at == counts->len)
        g_array_set_size(counts, counting->at + 1);
    guint64 *count = &g_array_index(counts, guint64, counting->at++);
    if (counting->put)
        *member = *count;
    else
        *count += now;
}

/* What pages say of links, GPUs and switches. */
static void sum_count_all(Counting *counting, Fabric *fabric)
{
    for (guint32 n = 0; n < fabric_n_links(fabric); n++) {
        Link *link = fabric_link_at(fabric, n);
        sum_count(counting, link_packets_total(link), &link->count[0].packets);
        sum_count(counting, link_flits_total(link), &link->count[0].flits);
    }
    for (guint64 g = 0; g < fabric->spec.system.gpus; g++) {
        sum_count(counting, fabric->gpu[g].requests, &fabric->gpu[g].requests);
        sum_count(counting, fabric->gpu[g].served, &fabric->gpu[g].served);
    }
    for (guint32 s = 0; s < fabric->n_switches; s++) {
        Switch *sw = &fabric->sw[s];
        sum_count(counting, sw->multicast_requests, &sw->multicast_requests);
        sum_count(counting, sw->replicated, &sw->replicated);
        sum_count(counting, sw->reduced, &sw->reduced);
        for (guint32 p = 0; p < sw->ports; p++)
            sum_count(counting, sw->port[p].stalls_tag, &sw->port[p].stalls_tag);
    }
}

void series_sum_put(SeriesSum *sum, Fabric *fabric)
{
    Counting counting = {.sum = sum, .put = TRUE};
    sum_count_all(&counting, fabric);
}

/* ---- latencies */

static void sum_latency(SeriesSum *sum, gboolean multicast, guint kind, const Hist *latency)
{
    Hist **into = &sum->latency[multicast][kind];
    if (!*into)
        *into = g_new0(Hist, 1);
    hist_merge(*into, latency);
}

static void sum_operations(SeriesSum *sum, gboolean multicast, const OpTable *ops)
{
    for (guint k = 0; k <= PACKET_MC_READ; k++)
        if (ops->kind[k] && ops->kind[k]->count)
            sum_latency(sum, multicast, k, &ops->kind[k]->latency_ps);
}

const Hist *series_sum_latency(const SeriesSum *sum, gboolean multicast, PacketKind kind)
{
    return sum->latency[multicast][kind];
}

/* ---- all of it */

void series_sum_take(SeriesSum *sum, const RecordedRun *run)
{
    const GArray *points = run->points;
    Fabric *fabric = run->fabric;
    const SimTime begin_ps = points->len ? g_array_index(points, SeriesPoint, 0).from_ps : 0;
    Counting counting = {.sum = sum};
    for (guint i = 0; i < points->len; i++) {
        SeriesPoint point = g_array_index(points, SeriesPoint, i);
        point.from_ps -= begin_ps;
        point.to_ps -= begin_ps;
        sum_add_point(sum, &point, 0);
    }
    sum_count_all(&counting, fabric);
    sum_operations(sum, FALSE, &fabric->op_remote);
    for (guint i = 1; i < fabric->op_object->len; i++)
        sum_operations(sum, TRUE, g_ptr_array_index(fabric->op_object, i));
}

void series_sum_add(SeriesSum *into, const SeriesSum *from, SimTime at_ps)
{
    for (guint i = 0; i < from->cells->len; i++) {
        SeriesPoint point = g_array_index(from->cells, SeriesPoint, i);
        point.from_ps = i * from->interval_ps;
        point.to_ps = MIN((i + 1) * from->interval_ps, from->end_ps);
        sum_add_point(into, &point, at_ps);
    }
    if (into->counts->len < from->counts->len)
        g_array_set_size(into->counts, from->counts->len);
    for (guint i = 0; i < from->counts->len; i++)
        g_array_index(into->counts, guint64, i) += g_array_index(from->counts, guint64, i);
    for (guint m = 0; m < 2; m++)
        for (guint k = 0; k <= PACKET_MC_READ; k++)
            if (from->latency[m][k])
                sum_latency(into, m != 0, k, from->latency[m][k]);
}
