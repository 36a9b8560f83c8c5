/* Communications of single ranks become communications of groups: the k-th collective of a group on
 * each of its ranks is one collective; the k-th send from a rank to a rank under a tag meets the
 * k-th receive. */
#ifndef TRACES_RECORD_MATCH_H
#define TRACES_RECORD_MATCH_H

#include <glib.h>

#include "traces/record/record.h"

#define MATCH_NONE G_MAXUINT32

typedef struct {
    guint32 first; /* into Match.members: records, by position in the group */
    guint32 n;     /* the group's ranks; 2 of a message: send, then receive */
    RecordOp op;   /* of a message RECORD_SEND */
    guint32 group; /* RECORD_NO_GROUP of a message without one */
    guint64 sequence;
    gboolean skipped; /* one of its records was: nothing is moved */
} MatchItem;

typedef struct {
    GArray *items;      /* MatchItem */
    GArray *members;    /* guint32 record indices */
    guint32 *of_record; /* item of each record; MATCH_NONE: a computation */
    guint64 edges;      /* communications across the edge of a selection, which are left out */
} Match;

/* Replicates first, where one rank was recorded. GError (TRACE_ERROR_MATCH), naming both places: a
 * rank's trace or call is missing; operations, sizes, types or roots differ; a send without
 * receive; ranks that would wait for each other for ever. lenient: the communication is skipped and
 * counted. Of a selected trace (select.h) communications that lie across its edge are left out, and
 * a note counts them. */
Match *match_new(Trace *trace, gboolean lenient, GError **error);
void match_free(Match *match);

#endif
