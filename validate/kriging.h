/* Kriging (Gaussian process regression) with a known mean of 0: what a value is expected to be where it was not
 * measured, from values that were measured elsewhere, and how sure that is.
 *
 * All values have the same prior variance; two of them vary together as `correlation` says, which is 1 on the diagonal.
 * What is measured has noise of its own. The estimate is the conditional mean of the joint normal distribution; far
 * from every value it is 0, with the prior variance.
 * source: Rasmussen, Williams, Gaussian Processes for Machine Learning, 2006, algorithm 2.1. */
#ifndef VALIDATE_KRIGING_H
#define VALIDATE_KRIGING_H

#include <glib.h>

typedef struct {
    double mean, sd; /* of the value itself, without the noise of measuring it */
} KrigingEstimate;

/* value: `n` of them. correlation: n x n, symmetric, row by row. with: of each value with the one that is wanted.
 * sd: the prior's; noise_sd: above 0, so that there always is a solution. n may be 0. */
KrigingEstimate kriging_estimate(guint n, const double *value, const double *correlation, const double *with, double sd,
                                 double noise_sd);

#endif
