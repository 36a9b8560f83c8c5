/* What is kept of a PyTorch profiler (Kineto) trace between reading it and making records of it.
 *
 * Only GPU work, the launches and annotations that explain collectives, and profiler steps are
 * kept, in small structs, so that memory stays far below the file's size. */
#ifndef TRACES_FORMAT_KINETO_KINETO_H
#define TRACES_FORMAT_KINETO_KINETO_H

#include <glib.h>

#include "traces/format/reader.h"

/* What is known of one communication; from a kernel's args, a record_param_comms, or an nccl:
 * annotation. */
typedef struct {
    gboolean has_op, has_size;
    RecordOp op;
    RecordReduction reduction;
    RecordDtype dtype;
    guint element_bytes;
    guint64 in_elements, out_elements;
    gint64 group_size;         /* -1: not said */
    guint32 pg_name, pg_ranks; /* names; 0: not said */
    gint64 start, stride;      /* of the global ranks; -1: not said */
    gint64 peer;               /* the other rank or the root, as a place in the group; -1 */
    gint64 peer_job;           /* the other rank, as one of the job; -1 */
    gint64 external, correlation;
    guint32 name;              /* of the kernel */
    guint32 unknown;           /* what it is called, where that says no operation that is known; 0 */
    gboolean coalesced, taken; /* of an annotation: around a call with several tensors; a kernel has
                                  its sizes */
    gboolean by_launch;        /* from the operator that launched it: */
    guint32 said;              /* a word among its inputs, a group if one is called so; 0: none */
    gboolean further;          /* of a kernel: another one has the sizes of its coalesced call */
    RecordSource where;
    char *bad; /* what is wrong with it; NULL: nothing. Freed with the Kineto */
    const char *reason;
} KinetoComm;

typedef struct {
    gint64 start_ns, end_ns;
    guint32 stream;
    gint32 comm; /* index into comms; -1: a computation */
    guint32 name, line;
    guint64 byte;
} KinetoKernel;

typedef struct {
    gint64 start_ns, end_ns;
    gint64 thread;
    guint32 info; /* of an annotation: index into annotated; of an operator: into params; of a step: its number */
} KinetoSpan;

typedef struct {
    gint64 correlation, time_ns, thread;
    gint64 external; /* the operator's; -1: not said */
} KinetoLaunch;

typedef struct {
    Reader *reader;
    GArray *kernels;                /* KinetoKernel */
    GArray *comms;                  /* KinetoComm */
    GArray *params;                 /* KinetoComm of record_param_comms */
    GHashTable *param_of;           /* external id -> index into params + 1 */
    GArray *param_spans;            /* KinetoSpan: when they ran */
    GArray *annotated;              /* KinetoComm of nccl: annotations */
    GArray *annotations;            /* KinetoSpan */
    GArray *launches;               /* KinetoLaunch */
    GArray *host_steps, *gpu_steps; /* KinetoSpan */
    GHashTable *groups;             /* pg_name -> GArray of ranks (empty: all) */
    gint64 rank, world;             /* -1: not said */
    gint64 device;                  /* the first one seen; -1 */
} Kineto;

#define KINETO_NS_MAX ((gint64)1 << 62)

/* comm.c */
void kineto_comm_init(KinetoComm *comm);
/* The members that record_param_comms and, since 2024, NCCL kernels have. */
void kineto_comm_args(Kineto *kineto, KinetoComm *comm, const Json *args);
void kineto_comm_annotation(Kineto *kineto, KinetoComm *comm, const char *name, const Json *args);
/* launch_op.c: of an operator that launches a communicating kernel of its own. FALSE: it is none, or has no sizes. */
gboolean kineto_launch_op(Kineto *kineto, KinetoComm *comm, const char *name, const Json *args);
/* Elements of a tensor's dims, [8, 1024]: 8192. FALSE: they are no dims. */
gboolean kineto_comm_elements(const Json *dims, guint64 *elements);
/* Operation and reduction, as far as a kernel's name says them. */
void kineto_comm_kernel_name(KinetoComm *comm, const char *name);
/* Does the name of a kernel say that it communicates? */
gboolean kineto_comm_is_kernel(const char *name);
char *kineto_comm_bare_name(const char *name);

/* info.c: distributedInfo. */
gboolean kineto_wanted(void *user, const char *key);
gboolean kineto_member(void *user, const Json *info, GError **error);
void kineto_identify(Input *input, TraceIdentity *identity);

/* collect.c: fills the record of a communication; launches are sorted. GError as reader_problem. */
gboolean kineto_add_comm(Kineto *kineto, Record *record, gint32 index, GError **error);
int kineto_launch_compare(const void *a, const void *b);

/* Adds the records. GError as reader_problem, and when ranks or groups do not fit. */
gboolean kineto_build(Kineto *kineto, GError **error);

#endif
