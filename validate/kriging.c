/* See kriging.h. */
#include "validate/kriging.h"

#include <math.h>

/* In place: the lower half of `a` becomes L of a = L Lt. */
static void kriging_factor(double *a, guint n)
{
    for (guint j = 0; j < n; j++) {
        for (guint k = 0; k < j; k++)
            for (guint i = j; i < n; i++)
                a[i * n + j] -= a[i * n + k] * a[j * n + k];
        double root = sqrt(a[j * n + j]);
        for (guint i = j; i < n; i++)
            a[i * n + j] /= root;
    }
}

/* In place: x becomes the solution of L y = x. */
static void kriging_forward(const double *lower, guint n, double *x)
{
    for (guint i = 0; i < n; i++) {
        for (guint k = 0; k < i; k++)
            x[i] -= lower[i * n + k] * x[k];
        x[i] /= lower[i * n + i];
    }
}

KrigingEstimate kriging_estimate(guint n, const double *value, const double *correlation, const double *with, double sd,
                                 double noise_sd)
{
    const double variance = sd * sd;
    g_autofree double *lower = g_new(double, (gsize)n *n + 1), *y = g_new(double, n + 1), *k = g_new(double, n + 1);
    for (guint i = 0; i < n; i++) {
        for (guint j = 0; j < n; j++)
            lower[i * n + j] = variance * correlation[i * n + j] + (i == j ? noise_sd * noise_sd : 0);
        y[i] = value[i];
        k[i] = variance * with[i];
    }
    kriging_factor(lower, n);
    kriging_forward(lower, n, y);
    kriging_forward(lower, n, k);
    KrigingEstimate estimate = {0, variance};
    for (guint i = 0; i < n; i++) {
        estimate.mean += k[i] * y[i];
        estimate.sd -= k[i] * k[i];
    }
    estimate.sd = sqrt(fmax(estimate.sd, 0));
    return estimate;
}
