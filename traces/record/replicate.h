/* The trace of some ranks as the trace of all ranks. */
#ifndef TRACES_RECORD_REPLICATE_H
#define TRACES_RECORD_REPLICATE_H

#include <glib.h>

#include "traces/record/record.h"

/* Where trace->replicate says that not all ranks were recorded: gives each of the others a copy of a
 * recorded one's operations, each in its own group of the same kind. A group of evenly spaced ranks (0-3; 0,4,8)
 * stands for the groups that tile the job the same way; roots keep their place in the group, and
 * peers of messages their distance. Notes what it did. Otherwise, or the second time, nothing.
 * GError: a group that tiles nothing; over 2^24 operations. */
gboolean trace_replicate(Trace *trace, GError **error);

#endif
