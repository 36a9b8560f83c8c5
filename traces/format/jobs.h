/* Trace files become jobs.
 *
 * Files of one job: those joined by commas; the NCCL logs of a folder, and those that share a
 * communicator; and of formats with a file a rank those whose names differ in numbers alone
 * (files.h), as long as their ranks differ. The rank is what the file says (Kineto: distributedInfo);
 * else what its name says ("rank3", "worker3", "x.3.et"); else its place in the order of the
 * numbers. Where a rank comes more than once, a number splits the files (a step, a run); else the
 * k-th file of each rank is of the k-th job. Files that say themselves which ranks of a job they are
 * may have any names. */
#ifndef TRACES_FORMAT_JOBS_H
#define TRACES_FORMAT_JOBS_H

#include "traces/format/files.h"

typedef struct {
    char *name;
    GPtrArray *files; /* const TraceFile *, by rank */
    char *note;       /* what was assumed; NULL: nothing */
} TraceJob;

/* TraceJob *, in the order of their first files; the files' ranks are set. Free with
 * g_ptr_array_free, before the files. */
GPtrArray *jobs_group(GPtrArray *files);

#endif
