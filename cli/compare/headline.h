/* What two reports say together, in sentences: whether b is slower than a and by how much, what changed in where the
 * time went, and with which settings. */
#ifndef CLI_COMPARE_HEADLINE_H
#define CLI_COMPARE_HEADLINE_H

#include "explore/compare.h"
#include "sim/report/report.h"

void headline_add(Report *report, const Comparison *comparison, const char *path_a, const char *path_b);

/* How near to the answer a difference is: 0 and up, HEADLINE_REST for what is listed on request. */
#define HEADLINE_REST 4
int headline_class(const Difference *one);

#endif
