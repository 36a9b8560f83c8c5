/* An execution plan: a program of puts, reductions and switch operations for each rank, as mscclpp
 * runs them. */
#ifndef TRACES_PLAN_H
#define TRACES_PLAN_H

#include <glib.h>

#include "traces/record.h"

void plan_free(Plan *plan); /* NULL: nothing */

#endif
