/* Which points a sweep has and in which order they run. Combinations of [fixed], [grid] and [latin] are independent; a
 * [threshold] makes each of them a bisection, whose next point depends on the results before it. The same spec and the
 * same results give the same points, whoever computed them and when: that is what makes a sweep resumable. */
#ifndef EXPLORE_POINTS_H
#define EXPLORE_POINTS_H

#include "explore/spec.h"

typedef struct {
    guint64 id;          /* from 1; the same for the same spec */
    const char **values; /* one for each of spec_inputs(); borrowed strings; free the array with g_free */
} Point;

typedef enum {
    KNOWN_NOT,    /* no result yet */
    KNOWN_FAILED, /* a result without the metric */
    KNOWN,        /* *metric is set (where there is a [threshold]) */
} PointsKnown;
/* What is known of a point. */
typedef PointsKnown (*PointsLook)(guint64 id, double *metric, gpointer user);

typedef struct Points Points;
Points *points_new(const SweepSpec *spec, PointsLook look, gpointer user); /* spec must outlive it */
void points_free(Points *points);

/* The next point without a result that can start now. FALSE: none; there may be one when a running one is done. */
gboolean points_next(Points *points, Point *point);
/* A point that points_next() gave has its result now (lost FALSE), or has to be done again. */
void points_return(Points *points, guint64 id, gboolean lost);
gboolean points_is_finished(const Points *points);

/* Of a finished [threshold]: combination by combination. */
typedef struct {
    const char **values; /* as a point's, of the smallest value that keeps; free with g_free */
    gboolean found;      /* FALSE: the reference itself gave nothing */
    guint64 id;          /* the point of the smallest value, and that of the reference */
    guint64 reference_id;
} PointsThreshold;
guint64 points_combinations(const Points *points);
PointsThreshold points_threshold(const Points *points, guint64 combination);

#endif
