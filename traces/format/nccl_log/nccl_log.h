/* What is kept of an NCCL log between reading its lines and making records of them. */
#ifndef TRACES_FORMAT_NCCL_LOG_NCCL_LOG_H
#define TRACES_FORMAT_NCCL_LOG_NCCL_LOG_H

#include <glib.h>

#include "traces/format/reader.h"

typedef struct {
    char *key;     /* "process comm-pointer" */
    char *process; /* host:pid and device */
    char *id;      /* commId; what ranks of one communicator share */
    gint64 rank;   /* in the communicator; -1: no INIT line */
    guint32 n;
} LogComm;

typedef struct {
    guint32 comm, line;
    RecordOp op;
    guint64 count, dtype, reduction, op_count;
    gint64 root;
    char *stream;
    guint64 nranks; /* 0: the line does not say */
} LogCall;

typedef struct {
    Reader *reader;
    GArray *comms; /* LogComm */
    GHashTable *comm_of;
    GArray *calls;       /* LogCall */
    GHashTable *rank_of; /* process -> rank of the job + 1 */
    guint32 world_comm;
} NcclLog;

/* Ranks from the communicators, then a record for each call. GError as reader_problem, and when the
 * number of ranks is not said. */
gboolean nccl_log_build(NcclLog *log, GError **error);

#endif
