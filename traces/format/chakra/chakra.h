/* What the two forms of Chakra traces share: a node, its numbers, and how nodes become records.
 *
 * A communication is a COMM_COLL node with comm_type and comm_size, or a COMM_SEND or COMM_RECV
 * node; a COMM_COLL without both is the host's side of one in traces converted from PyTorch, and
 * counts as a computation. comm_size is what one rank puts in. Nodes are ordered by their
 * dependencies alone. */
#ifndef TRACES_FORMAT_CHAKRA_CHAKRA_H
#define TRACES_FORMAT_CHAKRA_CHAKRA_H

#include <glib.h>

#include "traces/format/reader.h"

typedef enum {
    CHAKRA_METADATA = 1,
    CHAKRA_COMPUTE = 4,
    CHAKRA_SEND = 5,
    CHAKRA_RECV = 6,
    CHAKRA_COLLECTIVE = 7,
    CHAKRA_TYPES = 11
} ChakraType;

/* Attributes that are replayed. The second column's are ours: what the schema has no name for. */
typedef enum {
    CHAKRA_IS_CPU_OP,
    CHAKRA_COMM_TYPE,
    CHAKRA_COMM_SIZE,
    CHAKRA_COMM_SRC,
    CHAKRA_COMM_DST,
    CHAKRA_COMM_TAG,
    CHAKRA_NUM_OPS,
    CHAKRA_ROOT,
    CHAKRA_OUT_BYTES,
    CHAKRA_DTYPE,
    CHAKRA_REDUCTION,
    CHAKRA_STREAM,
    CHAKRA_GAP_PS,
    CHAKRA_DURATION_PS,
    CHAKRA_START_PS,
    CHAKRA_STEP,
    CHAKRA_IS_GAP,
    CHAKRA_ATTRIBUTES
} ChakraAttribute;

extern const char *const chakra_attribute_names[CHAKRA_ATTRIBUTES];
int chakra_attribute_by_name(const char *name); /* -1: none of these */

typedef struct {
    RecordSource where;         /* node is the id */
    const char *name, *pg_name; /* pg_name NULL: none */
    guint64 type;
    GArray *deps; /* guint64 ids */
    guint64 duration_us, start_us;
    gboolean has[CHAKRA_ATTRIBUTES];
    gint64 value[CHAKRA_ATTRIBUTES];
    gboolean partial_dims; /* involved_dim leaves out a dimension */
    char *bad_text;        /* what it is and should be; freed by chakra_add */
} ChakraNode;

typedef struct {
    Reader *reader;
    guint32 rank;
    GHashTable *ids;    /* id -> record index + 1 */
    GArray *deps;       /* pairs of record and id, looked up at the end */
    GHashTable *groups; /* pg_name -> group index + 1 */
    GHashTable *gaps;   /* id of a node that stands for a gap, in files written here -> GArray of its deps */
    guint64 host_nodes, unknown_times;
} Chakra;

/* The rank comes from the file's name (0 when it has none); groups from --groups. */
gboolean chakra_init(Chakra *chakra, Reader *reader, GError **error);
/* {"name": [ranks], ...} or [{"pg_name": .., "ranks": [..]}, ...] */
gboolean chakra_groups(Chakra *chakra, const Json *groups, const char *where, GError **error);
gboolean chakra_add(Chakra *chakra, ChakraNode *node, GError **error);
gboolean chakra_finish(Chakra *chakra, GError **error); /* looks up dependencies, says what was assumed */
void chakra_clear(Chakra *chakra);

/* Chakra's CollectiveCommType; -1: it has none. */
int chakra_comm_type(RecordOp op);

#endif
