/* Reading PyTorch execution traces: what its two files share. */
#ifndef TRACES_FORMAT_CHAKRA_PYTORCH_H
#define TRACES_FORMAT_CHAKRA_PYTORCH_H

#include "traces/format/reader.h"

typedef struct {
    RecordSource where;
    RecordOp op;
    RecordDtype dtype;
    guint64 in_bytes, out_bytes;
    guint element_bytes; /* as the tensors say; 0: they do not */
    gboolean has_dtype;
    gint64 start, stride, size; /* of the group's ranks; -1: not said */
    gint64 rank;                /* positional: the root of rooted operations, else the own rank; -1 */
    guint32 pg_name;
    char *wrong; /* NULL: nothing. Freed by the reader */
} EtComm;

typedef struct {
    Reader *reader;
    GArray *comms;
    GHashTable *groups; /* pg_name -> GArray of ranks; empty: 0 .. size-1 */
    GHashTable *sizes;  /* pg_name -> size */
    gint64 own_rank;
    guint64 waits;
} Et;

/* "inputs": {"values": [..]} since 1.0.2, "inputs": [..] before. */
const Json *pytorch_values(const Json *node, const char *key);
/* Takes a record_param_comms node. */
gboolean pytorch_take(Et *et, const Json *node);
void pytorch_wrong(EtComm *comm, char *text); /* takes the text; the first one stays */

#endif
