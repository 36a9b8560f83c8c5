#include "model/memory/multicast_object.h"

McObject *mcobject_new(Memory *memory, guint32 id, guint32 n_gpus, guint64 bytes, guint16 gpus_max)
{
    McObject *object = g_new0(McObject, 1);
    *object = (McObject){.id = id,
                         .mcid = MC_MCID_NONE,
                         .n_gpus = n_gpus,
                         .bytes = bytes,
                         .members = g_array_new(FALSE, FALSE, sizeof(guint16)),
                         .binds = g_new0(GArray *, gpus_max),
                         .gpus_max = gpus_max,
                         .memory = memory};
    return object;
}

void mcobject_free(McObject *object)
{
    for (guint g = 0; g < object->gpus_max; g++) {
        for (guint i = 0; object->binds[g] && i < object->binds[g]->len; i++)
            memory_region_unref(object->memory, g_array_index(object->binds[g], McBind, i).region);
        if (object->binds[g])
            g_array_free(object->binds[g], TRUE);
    }
    g_free(object->binds);
    g_array_free(object->members, TRUE);
    g_free(object);
}

gboolean mcobject_has_member(const McObject *object, guint16 gpu)
{
    for (guint i = 0; i < object->members->len; i++)
        if (g_array_index(object->members, guint16, i) == gpu)
            return TRUE;
    return FALSE;
}

void mcobject_add_member(McObject *object, guint16 gpu)
{
    g_assert(gpu < object->gpus_max && !mcobject_has_member(object, gpu));
    g_assert(object->members->len < object->n_gpus);
    g_array_append_val(object->members, gpu);
}

gboolean mcobject_bind(McObject *object, guint16 gpu, guint64 offset, MemRegion *region, guint64 region_offset,
                       guint64 bytes)
{
    g_assert(gpu < object->gpus_max && bytes > 0 && offset + bytes <= object->bytes);
    g_assert(region_offset + bytes <= region->bytes);
    if (!object->binds[gpu])
        object->binds[gpu] = g_array_new(FALSE, FALSE, sizeof(McBind));
    GArray *binds = object->binds[gpu];
    guint at = 0;
    while (at < binds->len && g_array_index(binds, McBind, at).offset < offset)
        at++;
    if (at < binds->len && g_array_index(binds, McBind, at).offset < offset + bytes)
        return FALSE;
    if (at > 0) {
        const McBind *before = &g_array_index(binds, McBind, at - 1);
        if (before->offset + before->bytes > offset)
            return FALSE;
    }
    object->place_known = FALSE;
    McBind bind = {.offset = offset, .bytes = bytes, .region_offset = region_offset, .region = region};
    memory_region_ref(region);
    g_array_insert_val(binds, at, bind);
    return TRUE;
}

gboolean mcobject_unbind(McObject *object, guint16 gpu, guint64 offset, guint64 bytes)
{
    GArray *binds = gpu < object->gpus_max ? object->binds[gpu] : NULL;
    for (guint i = 0; binds && i < binds->len; i++) {
        McBind *bind = &g_array_index(binds, McBind, i);
        if (bind->offset == offset && bind->bytes == bytes) {
            object->place_known = FALSE;
            memory_region_unref(object->memory, bind->region);
            g_array_remove_index(binds, i);
            return TRUE;
        }
    }
    return FALSE;
}

const McBind *mcobject_lookup(const McObject *object, guint16 gpu, guint64 offset)
{
    GArray *binds = gpu < object->gpus_max ? object->binds[gpu] : NULL;
    if (!binds || (object->left && object->left[gpu]))
        return NULL;
    guint low = 0, high = binds->len;
    while (low < high) {
        guint mid = (low + high) / 2;
        const McBind *bind = &g_array_index(binds, McBind, mid);
        if (offset < bind->offset)
            high = mid;
        else if (offset >= bind->offset + bind->bytes)
            low = mid + 1;
        else
            return bind;
    }
    return NULL;
}

static MemoryPlace mcobject_member_answer(const McObject *object, guint16 gpu)
{
    const GArray *binds = object->binds[gpu];
    guint64 at = 0;
    guint cached = 0;
    for (guint i = 0; binds && i < binds->len; i++) {
        const McBind *bind = &g_array_index(binds, McBind, i);
        if (bind->offset != at || bind->region->in_time)
            return MEMORY_LOOK_UP;
        at += bind->bytes;
        cached += bind->region->cached != 0;
    }
    if (at != object->bytes || (cached && cached < binds->len))
        return MEMORY_LOOK_UP;
    return cached ? MEMORY_IN_L2 : MEMORY_IN_HBM;
}

MemoryPlace mcobject_look(McObject *object)
{
    object->place_known = TRUE;
    object->place_epoch = memory_epoch(object->memory);
    object->place = MEMORY_LOOK_UP;
    for (guint i = 0; !object->left && i < object->members->len; i++) {
        MemoryPlace one = mcobject_member_answer(object, g_array_index(object->members, guint16, i));
        if (one == MEMORY_LOOK_UP || (i > 0 && one != object->place)) {
            object->place = MEMORY_LOOK_UP;
            break;
        }
        object->place = one;
    }
    return object->place;
}
