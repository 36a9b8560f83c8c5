/* The trace files that arguments name, before they are put together to jobs (jobs.h). */
#ifndef TRACES_FORMAT_FILES_H
#define TRACES_FORMAT_FILES_H

#include <glib.h>

#include "traces/format/names.h"
#include "traces/format/reader.h"

typedef struct {
    char *path;
    const TraceFormat *format;
    char *set;            /* files of one set may be of one job; those of different sets never are */
    NameNumbers *numbers; /* of the name, or of the whole path where only folders differ */
    guint folder;         /* which argument that is a folder it comes from, from 1; 0: named itself */
    gboolean joined;      /* by commas, logs of one communicator or folder: the whole set is one job */
    gboolean apart;       /* other logs of its folder are of other jobs */
    gboolean sibling;     /* not named: it lies beside one that is */
    NameRank name_kind;
    gint64 name_rank;  /* -1: the name does not say */
    InputKept *kept;   /* of a pipe: what came from it; NULL: a file, which can be opened again */
    TraceIdentity own; /* what the file itself says */
    gint64 rank;       /* of the job; -1: not known before reading. Set by jobs_group */
} TraceFile;

/* Its bytes from the beginning. GError: TRACE_ERROR_OPEN. */
Input *files_open(const TraceFile *file, InputProgress progress, void *user, GError **error);
/* TraceFile *, in the order of the arguments. Free with g_ptr_array_free. */
GPtrArray *files_collect(const char *const *paths, guint n, const TraceReadSpec *spec, GError **error);

#endif
