/* Reading SimAI and ASTRA-sim text workloads: what its two files share. */
#ifndef TRACES_FORMAT_SIMAI_SIMAI_H
#define TRACES_FORMAT_SIMAI_SIMAI_H

#include "traces/format/reader.h"

typedef enum { PASS_FORWARD, PASS_INPUT, PASS_WEIGHT, PASSES } Pass;

typedef struct {
    guint64 compute_ns, bytes;
    RecordOp op; /* RECORD_COMPUTE: NONE */
    const char *suffix;
} Work;

typedef struct {
    guint32 line;
    guint32 name;
    Work work[PASSES];
    gboolean bad;
} Layer;

/* Which ranks the passes communicate with, by the word that a file begins with. */
typedef enum {
    DIMS_NONE,
    DIMS_ALL,
    DIMS_MODEL, /* those of a model (tensor) parallel group */
    DIMS_DATA   /* those that hold the same part of the model */
} Dims;

typedef struct {
    const char *name;
    Dims dims[PASSES];
    gboolean first_all;    /* the first layer's passes communicate with all ranks (DLRM) */
    gboolean weights_only; /* nothing but the weight gradients' communication happens */
    gboolean forward_only;
    gboolean data_inner; /* neighbours are of one data group, not of one model group */
} Policy;

typedef struct {
    Reader *reader;
    const Policy *policy;
    guint64 tp, ep, pp, vpp, ga, all, layers;
    GArray *layer; /* Layer */
    guint64 empty; /* communications of 0 bytes */
    guint32 last;  /* the compute stream's last record, plus 1 */
} SimAi;

int simai_probe(const char *head, gsize n);
/* The first line: policy, group sizes, number of ranks. */
gboolean simai_header(SimAi *simai, const char *line, GError **error);

#endif
