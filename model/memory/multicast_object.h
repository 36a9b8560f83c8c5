/* Multicast objects as the fabric knows them: a team of GPUs, one address window, and for each member
 * the memory bound behind each part of the window.
 *
 * What hardware it stands for: the fabric-linear (FLA) window that Fabric Manager hands out for a team,
 * its multicast ID (MCID) in every switch, and each member GPU's own fabric mapping behind it.
 * Modelled: members, disjoint binds a member, the MCID. Left out: page sizes, the in-band messages.
 * Source: open-gpu-kernel-modules mem_multicast_fabric.c (attach, bind, team rules). */
#ifndef MODEL_MEMORY_MULTICAST_OBJECT_H
#define MODEL_MEMORY_MULTICAST_OBJECT_H

#include <glib.h>

#include "model/memory/memory.h"

#define MC_MCID_NONE 0xffffffffu

typedef struct {
    guint64 offset; /* in the object */
    guint64 bytes;
    guint64 region_offset;
    MemRegion *region; /* holds a reference */
} McBind;

typedef struct McObject {
    guint32 id;
    guint32 mcid;   /* MC_MCID_NONE until the fabric gave one */
    guint32 n_gpus; /* team size asked for */
    guint64 bytes;
    guint64 address;    /* of its first byte, among objects: what the link hash sees */
    GArray *members;    /* guint16 GPU numbers, in order of addition */
    GArray **binds;     /* by GPU number: McBind sorted by offset, or NULL */
    guint16 gpus_max;   /* length of binds */
    const guint8 *left; /* by GPU: its memory is gone for now; NULL: none ever goes. Not owned */
    Memory *memory;
    guint32 place_epoch; /* of the memory when mcobject_place looked */
    gboolean place_known;
    MemoryPlace place; /* what it found */
} McObject;

McObject *mcobject_new(Memory *memory, guint32 id, guint32 n_gpus, guint64 bytes, guint16 gpus_max);
void mcobject_free(McObject *object); /* drops the binds' references */
gboolean mcobject_has_member(const McObject *object, guint16 gpu);
void mcobject_add_member(McObject *object, guint16 gpu); /* not yet a member, team not full */
/* FALSE: overlaps a bind of the same GPU (nothing changed). Takes a reference on the region. */
gboolean mcobject_bind(McObject *object, guint16 gpu, guint64 offset, MemRegion *region, guint64 region_offset,
                       guint64 bytes);
gboolean mcobject_unbind(McObject *object, guint16 gpu, guint64 offset, guint64 bytes); /* exact match */
/* The bind of a member behind an offset of the object; NULL: unbound. */
const McBind *mcobject_lookup(const McObject *object, guint16 gpu, guint64 offset);

/* Not MEMORY_LOOK_UP: no member ever leaves, every member has memory bound behind the whole object, no program polls
 * any of it, and all of it is in L2 or none: then a member's answer does not depend on where in the object a request
 * goes. */
MemoryPlace mcobject_look(McObject *object);
static inline MemoryPlace mcobject_place(McObject *object)
{
    if (G_LIKELY(object->place_known && object->place_epoch == memory_epoch(object->memory)))
        return object->place;
    return mcobject_look(object);
}

#endif
