/* Reading an mscclpp plan: what its two files share. */
#ifndef TRACES_FORMAT_MSCCLPP_MSCCLPP_H
#define TRACES_FORMAT_MSCCLPP_MSCCLPP_H

#include <glib.h>

#include "traces/format/reader.h"
#include "traces/record/plan.h"

#define MSCCLPP_CHUNKS_MAX (1u << 20)

typedef struct {
    Reader *reader;
    Plan *plan;
    const char *path;
    guint32 gpu, block, op; /* where we are, for messages */
    const Json *block_json, *gpu_json;
    GError **error;
} PlanReader;

/* FALSE, and the error "FILE: gpu G, thread block B, operation O: text". */
gboolean mscclpp_fail(PlanReader *pr, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* A member that should be a whole number up to max; absent: `usual`. */
gboolean mscclpp_number(PlanReader *pr, const Json *object, const char *key, guint64 usual, guint64 max,
                        guint64 *value);
gboolean mscclpp_buffer(PlanReader *pr, const Json *value, PlanBuffer *buffer); /* "i", "o" or "s" */
/* Of a "channel_type" that is not "switch": "port" (of older plans "proxy"), else a memory channel. */
PlanChannelKind mscclpp_channel_kind(const char *name);
/* One operation of the thread block, or those of a pipeline, appended to ops. */
gboolean mscclpp_op(PlanReader *pr, const Json *json, GArray *ops);

#endif
