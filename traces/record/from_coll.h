/* Collectives run by the simulator as a trace, so that its own workloads feed other tools:
 *
 *     Trace *trace = record_coll_new("coll", 8);
 *     record_coll_add(trace, &spec, &result); // once for each collective, in order
 *     if (!record_coll_save(trace, "run.et", &error)) ...
 *     trace_free(trace);
 *
 * Every rank makes the same calls, each after the one before it. */
#ifndef TRACES_RECORD_FROM_COLL_H
#define TRACES_RECORD_FROM_COLL_H

#include "coll/coll.h"
#include "traces/record/record.h"

Trace *record_coll_new(const char *name, guint32 ranks);
/* result may be NULL: no duration is recorded. A send-receive is a send to the next rank and a
 * receive from the one before. */
void record_coll_add(Trace *trace, const CollSpec *spec, const CollResult *result);
/* In the format of the file's name (write_trace). Once; nothing is added afterwards. */
gboolean record_coll_save(Trace *trace, const char *path, GError **error);

#endif
