/* Logical endpoints: what an identifier, as a kernel or a copy engine names it, leads to.
 *
 * What hardware it stands for: the table in which a GPU that issues a fabric operation looks up an endpoint's number:
 * memory of one GPU (unicast), or of every GPU of a team (multicast), without an address of that memory being mapped
 * in the issuing program's space.
 * Modelled: numbers of one program (a Vas has one table), team, binds, cliques. An endpoint's memory is a McObject in
 * both cases: a unicast one has a team of its owner alone, and no entry in the switches. Left out: how many entries
 * hardware has (unknown; the driver's front end has a limit), time of a look-up.
 * Source: the documentation of CUDA 13.5, logical endpoints; what it does not say is in docs/cuda.md. */
#ifndef MODEL_MEMORY_ENDPOINT_H
#define MODEL_MEMORY_ENDPOINT_H

#include <glib.h>

#include "model/memory/multicast_object.h"

#define ENDPOINT_IDS_MAX 65536u /* identifiers are below; assumed: 16 bits, as many as a table of a GPU may well have */

typedef enum {
    ENDPOINT_OK,
    ENDPOINT_NOT_RESERVED, /* the program has not reserved the identifier */
    ENDPOINT_NOT_CREATED,  /* it has, but no endpoint was created or imported for it */
    ENDPOINT_NOT_READY,    /* devices are missing in its team, or it was not queried yet */
    ENDPOINT_OTHER_CLIQUE, /* the issuing GPU is in another clique than the endpoint's GPUs */
    ENDPOINT_OUT_OF_RANGE, /* not within the endpoint's bytes */
    ENDPOINT_NOT_BOUND,    /* a GPU of the endpoint has no memory bound behind a part of the range */
} EndpointStatus;

typedef enum {
    ENDPOINT_MULTICAST = 1 << 0, /* else unicast */
    ENDPOINT_COUNTED = 1 << 1,   /* was created for counted operations */
    ENDPOINT_READY = 1 << 2,     /* complete, and asked for: may be used */
} EndpointFlags;

typedef struct EndpointTable EndpointTable;

/* What a range of an endpoint is. Members are the endpoint's GPUs: one if it is unicast. */
typedef struct {
    guint32 id;
    guint32 flags;    /* EndpointFlags */
    McObject *object; /* the team and its binds; not owned, valid until the program destroys the endpoint */
    guint64 offset;   /* in it */
    guint64 bytes;    /* from there on, at most what was asked for: within one bind of every member */
    guint32 members;
} EndpointTarget;

/* A member's memory behind a target: target.bytes from `offset` on. */
typedef struct {
    guint16 gpu;       /* whose copy it is: the member */
    MemRegion *region; /* its memory, mostly of that GPU; host memory may be bound, too (region->gpu) */
    guint64 offset;
} EndpointPart;

/* GPUs g with equal g / clique_gpus are one clique; 0: all are. */
EndpointTable *endpoint_table_new(guint32 clique_gpus);
void endpoint_table_free(EndpointTable *table); /* NULL is fine; objects are not touched */

/* Identifiers first to first + n - 1, which must be within the table. */
void endpoint_reserve(EndpointTable *table, guint32 first, guint32 n);
void endpoint_release(EndpointTable *table, guint32 first, guint32 n); /* whatever they led to */
/* From now on a reserved identifier leads there; FALSE: it is not reserved. object NULL: to nothing any more. */
gboolean endpoint_set(EndpointTable *table, guint32 id, McObject *object, guint32 flags);
/* Identifiers that lead to this object lead to nothing any more. */
void endpoint_forget(EndpointTable *table, const McObject *object);

/* What an operation of `gpu` on bytes > 0 at `offset` of that endpoint is for. table NULL: nothing is reserved.
 * A range that lies over several binds is fine: the target has its first bytes, and the caller asks again for the
 * rest, of which it then knows that it is bound, too. On an error *target is left as it was. */
EndpointStatus endpoint_resolve(const EndpointTable *table, guint32 id, guint64 offset, guint64 bytes, guint16 gpu,
                                EndpointTarget *target);
/* The part of member i (below target->members, in the order in which they were added). */
EndpointPart endpoint_part(const EndpointTarget *target, guint32 i);

/* For messages: "endpoint 7 is not bound at ...". */
const char *endpoint_status_text(EndpointStatus status); /* "was not reserved" */
guint32 endpoint_clique(const EndpointTable *table, guint16 gpu);

#endif
