/* What is kept of NCCL logs between reading their lines and making records of them. The logs of one
 * job are read into one NcclLog, as a communicator's ranks may have written one log or many. */
#ifndef TRACES_FORMAT_NCCL_LOG_NCCL_LOG_H
#define TRACES_FORMAT_NCCL_LOG_NCCL_LOG_H

#include <glib.h>

#include "traces/format/reader.h"

#define NCCL_LOG_TORN "a line that the file ends in is left out"

/* One rank's communicator: a pointer in a process. */
typedef struct {
    char *host;       /* as the log names it */
    char *process;    /* "host:pid" */
    gint64 device;    /* by its Init line, else by the first call's "[dev]"; -1 */
    char *id;         /* commId; what ranks of one communicator share. NULL: no Init line */
    gint64 rank;      /* in the communicator; -1: no Init line */
    guint32 n;        /* its ranks; 0: no Init line */
    guint32 nranks;   /* the most that a call's [nranks=] says; 0: none does */
    gint64 global;    /* the rank of the job that a call says (globalrank); -1 */
    gint64 job_rank;  /* -1: not known. Set by nccl_log_ranks */
    gboolean grouped; /* the next two are set */
    guint32 group;
    char *wrong; /* why it has no group; NULL: it has */
    guint calls;
    /* Of a communicator that was split off another one and has no commId of its own: */
    guint32 parent;          /* index + 1; 0: it was not */
    guint64 color, count;    /* count: which of the parent's splits it is, as the line says; G_MAXUINT64: it does not */
    guint nth, nth_of_color; /* which it is in its process: of the parent's, of the parent's with that color */
    guint splits;            /* of a parent: how many were split off */
    char *own_id;            /* while ids are made */
} LogComm;

typedef struct {
    guint32 comm;
    RecordSource where;
    RecordOp op;
    guint64 count, dtype, reduction, op_count;
    guint64 duration_ps; /* as recorded; 0: not */
    gint64 root;
    char *stream;
} LogCall;

typedef struct {
    Reader *reader;      /* of the file being read */
    GArray *comms;       /* LogComm */
    GHashTable *comm_of; /* "host:pid pointer" -> index + 1, of the last Init line of that pointer */
    GArray *calls;       /* LogCall */
    gboolean torn;       /* a file ended inside a line, which was left out */
    GHashTable *colors;  /* "parent color" -> how many were split off; NULL: none yet */
} NcclLog;

/* Ids of communicators that were split off others. */
void nccl_log_split_ids(NcclLog *log);
/* Sets the job's number of ranks, and which rank each communicator's process is. GError: not said. */
gboolean nccl_log_ranks(NcclLog *log, GError **error);
/* The job's ranks of a communicator as a group; a text that says what is wrong, owned by the
 * communicator, or NULL. */
const char *nccl_log_group(NcclLog *log, LogComm *comm, guint32 *group);
/* torn.c: of a log that was cut off, the calls that not all ranks made. */
void nccl_log_drop_torn(NcclLog *log);
/* Ranks from the communicators, then a record for each call. GError as reader_problem, and when the
 * number of ranks is not said. */
gboolean nccl_log_build(NcclLog *log, GError **error);

#endif
