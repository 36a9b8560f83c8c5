/* Buckets of a histogram (stat.h), for those who draw it. */
#ifndef SIM_HIST_H
#define SIM_HIST_H

#include "sim/stat.h"

guint64 hist_bucket_first(guint bucket); /* the least value of a bucket; of HIST_BUCKETS: behind the last */

#endif
