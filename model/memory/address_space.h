/* Virtual address spaces: what a device address leads to.
 *
 * What hardware it stands for: the GPUs' page tables (GMMU) of one context group, which map an address
 * to memory of some GPU, to host memory, or to a multicast object's window.
 * Modelled: mappings, access rights for each GPU. Left out: page sizes, TLB misses, page faults as
 * anything but a report. */
#ifndef MODEL_MEMORY_ADDRESS_SPACE_H
#define MODEL_MEMORY_ADDRESS_SPACE_H

#include <glib.h>

#include "model/memory/endpoint.h"
#include "model/memory/memory.h"
#include "model/memory/multicast_object.h"

#define VAS_GPUS_MAX 1152 /* sixteen groups of 72 */
typedef enum { VAS_ACCESS_NONE = 0, VAS_ACCESS_READ = 1, VAS_ACCESS_READWRITE = 3 } VasAccess;

typedef struct VasMapping {
    guint64 va;
    guint64 bytes;
    MemRegion *region; /* unicast: holds a reference; NULL for multicast */
    McObject *object;  /* multicast: not owned; the owner unmaps before freeing it */
    guint64 offset;    /* of va in the region or object */
    guint8 access[];   /* VasAccess by GPU */
} VasMapping;

typedef struct Vas Vas;

/* For that many GPUs, up to VAS_GPUS_MAX. */
Vas *vas_new(Memory *memory, guint32 gpus);
void vas_free(Vas *vas);
/* The range must be unmapped; starts without access rights (as cuMemMap). Exactly one of region, object. */
VasMapping *vas_map(Vas *vas, guint64 va, guint64 bytes, MemRegion *region, McObject *object, guint64 offset);
gboolean vas_unmap(Vas *vas, guint64 va, guint64 bytes); /* whole mappings; FALSE: cuts one or leaves a gap */
guint vas_unmapped(const Vas *vas); /* how often: while it stays the same, a mapping that was found is there */
gboolean vas_any(const Vas *vas, guint64 va, guint64 bytes); /* something is mapped in that range */
/* The mapping that holds va, or NULL. The fast path of every access: remembers the last hit. */
VasMapping *vas_find(Vas *vas, guint64 va);
/* The bytes that a program is about to poll at va, which lies in `mapping` (NULL: in none), and where they lie. NULL:
 * there are none: with *region as it was, no memory is there; else, it keeps no bytes. */
guint8 *vas_poll(Vas *vas, const VasMapping *mapping, guint64 va, MemRegion **region, guint64 *offset);
void vas_set_access(VasMapping *mapping, guint16 gpu, VasAccess access); /* gpu: one of the space's */
/* A free range of the given size for tools that do not choose their own addresses. */
guint64 vas_choose(Vas *vas, guint64 bytes, guint64 alignment);
/* The logical endpoints of the same program; NULL: it has reserved none. */
EndpointTable *vas_endpoints(const Vas *vas);
/* The same, made at the first call; clique_gpus as in endpoint_table_new(). */
EndpointTable *vas_endpoints_make(Vas *vas, guint32 clique_gpus);

#endif
