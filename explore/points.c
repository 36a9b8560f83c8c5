/* See points.h. */
#include "explore/points.h"

typedef enum { SERIES_READY, SERIES_RUNNING, SERIES_DONE } SeriesState;

/* The points of one combination. */
typedef struct {
    SeriesState state;
    guint32 step;      /* the point that is next, or running */
    guint32 low, high; /* positions among the threshold's values: low does not keep, high does */
    gboolean found;
    guint32 high_step; /* in which `high` was simulated */
    double reference;
} Series;

struct Points {
    const SweepSpec *spec;
    PointsLook look;
    gpointer user;
    Series *series;
    guint64 first; /* those below are done */
    guint inputs;
};

Points *points_new(const SweepSpec *spec, PointsLook look, gpointer user)
{
    Points *points = g_new0(Points, 1);
    GPtrArray *names = spec_inputs(spec);
    points->spec = spec;
    points->look = look;
    points->user = user;
    points->series = g_new0(Series, spec->combinations);
    points->inputs = names->len;
    g_ptr_array_unref(names);
    return points;
}

void points_free(Points *points)
{
    g_free(points->series);
    g_free(points);
}

static guint64 points_id(const Points *points, guint64 index, guint32 step)
{
    return index * points->spec->stride + step + 1;
}

/* Which of the threshold's values a step simulates: the reference, the smallest, then the middle. */
static guint32 points_choice(const Points *points, const Series *series)
{
    if (series->step == 0)
        return points->spec->threshold.reference;
    return series->step == 1 ? 0 : (series->low + series->high) / 2;
}

/* The samples change fastest, then the last axis of the grid. */
static const char **points_values(const Points *points, guint64 index, guint32 choice)
{
    const SweepSpec *spec = points->spec;
    const char **values = g_new0(const char *, points->inputs);
    guint64 sample = spec->samples ? index % spec->samples : 0;
    guint at = points->inputs;
    index /= MAX(spec->samples, 1);
    for (guint a = spec->axes->len; a-- > 0;) {
        const Axis *axis = spec->axes->pdata[a];
        guint64 which = axis->kind == AXIS_LATIN       ? sample
                        : axis->kind == AXIS_THRESHOLD ? choice
                                                       : index % axis->values->len;
        if (axis->kind == AXIS_GRID)
            index /= axis->values->len;
        for (guint n = g_strv_length(axis->names); n > 0; n--)
            values[--at] = axis->values->pdata[which];
    }
    return values;
}

static gboolean points_keeps(const SweepSpec *spec, double metric, double reference)
{
    double keep = spec->threshold.keep_ppm;
    return spec->threshold.higher ? metric * 1e6 >= reference * keep : metric * keep <= reference * 1e6;
}

/* A step's result is known: what the series does next. */
static void points_advance(const Points *points, Series *series, PointsKnown known, double metric)
{
    const SweepSpec *spec = points->spec;
    guint32 choice = points_choice(points, series);
    if (!spec->threshold.axis || (series->step == 0 && known == KNOWN_FAILED)) {
        series->state = SERIES_DONE;
        return;
    }
    if (series->step == 0) {
        series->reference = metric;
        series->found = TRUE;
        series->high = choice;
    } else if (known == KNOWN && points_keeps(spec, metric, series->reference)) {
        series->high = choice;
        series->high_step = series->step;
    } else {
        series->low = choice;
    }
    /* With the reference alone, or the smallest good enough, nothing is left between. */
    if (series->high == 0 || (series->step > 0 && series->high - series->low <= 1))
        series->state = SERIES_DONE;
    series->step++;
}

gboolean points_next(Points *points, Point *point)
{
    for (guint64 i = points->first; i < points->spec->combinations; i++) {
        Series *series = &points->series[i];
        double metric = 0;
        PointsKnown known = KNOWN;
        while (series->state == SERIES_READY &&
               (known = points->look(points_id(points, i, series->step), &metric, points->user)) != KNOWN_NOT)
            points_advance(points, series, known, metric);
        if (series->state == SERIES_READY) {
            series->state = SERIES_RUNNING;
            point->id = points_id(points, i, series->step);
            point->values = points_values(points, i, points_choice(points, series));
            return TRUE;
        }
        if (series->state == SERIES_DONE && i == points->first)
            points->first++;
    }
    return FALSE;
}

void points_return(Points *points, guint64 id, gboolean lost)
{
    guint64 index = (id - 1) / points->spec->stride;
    Series *series = &points->series[index];
    double metric = 0;
    g_assert(series->state == SERIES_RUNNING);
    series->state = SERIES_READY;
    if (lost)
        return;
    PointsKnown known = points->look(id, &metric, points->user);
    points_advance(points, series, known, metric);
}

gboolean points_is_finished(const Points *points)
{
    for (guint64 i = points->first; i < points->spec->combinations; i++)
        if (points->series[i].state != SERIES_DONE)
            return FALSE;
    return TRUE;
}

guint64 points_combinations(const Points *points) { return points->spec->combinations; }

PointsThreshold points_threshold(const Points *points, guint64 combination)
{
    const Series *series = &points->series[combination];
    return (PointsThreshold){points_values(points, combination, series->high), series->found,
                             points_id(points, combination, series->high_step), points_id(points, combination, 0)};
}
