#include "model/memory/address_space.h"

struct Vas {
    Memory *memory;
    GPtrArray *mappings; /* VasMapping sorted by va */
    guint unmapped;      /* how often something was */
    guint last, gpus;    /* index of the last hit; how many GPUs there are */
    guint64 next_va;
    EndpointTable *endpoints; /* NULL: none reserved */
};

#define VAS_FIRST 0x700000000000ull

Vas *vas_new(Memory *memory, guint32 gpus)
{
    Vas *vas = g_new0(Vas, 1);
    vas->memory = memory;
    vas->gpus = gpus;
    vas->mappings = g_ptr_array_new();
    vas->next_va = VAS_FIRST;
    return vas;
}

static void vas_mapping_free(Vas *vas, VasMapping *mapping)
{
    if (mapping->region)
        memory_region_unref(vas->memory, mapping->region);
    g_free(mapping);
}

void vas_free(Vas *vas)
{
    for (guint i = 0; i < vas->mappings->len; i++)
        vas_mapping_free(vas, g_ptr_array_index(vas->mappings, i));
    g_ptr_array_free(vas->mappings, TRUE);
    endpoint_table_free(vas->endpoints);
    g_free(vas);
}

/* The first mapping that ends above va. */
static guint vas_lower(const Vas *vas, guint64 va)
{
    guint low = 0, high = vas->mappings->len;
    while (low < high) {
        guint mid = (low + high) / 2;
        const VasMapping *mapping = g_ptr_array_index(vas->mappings, mid);
        if (mapping->va + mapping->bytes <= va)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

VasMapping *vas_map(Vas *vas, guint64 va, guint64 bytes, MemRegion *region, McObject *object, guint64 offset)
{
    g_assert(bytes > 0 && va + bytes > va && (!region) != (!object));
    guint at = vas_lower(vas, va);
    if (at < vas->mappings->len) {
        const VasMapping *next = g_ptr_array_index(vas->mappings, at);
        g_assert(next->va >= va + bytes);
    }
    VasMapping *mapping = g_malloc0(sizeof *mapping + vas->gpus);
    mapping->va = va;
    mapping->bytes = bytes;
    mapping->region = region;
    mapping->object = object;
    mapping->offset = offset;
    if (region)
        memory_region_ref(region);
    g_ptr_array_insert(vas->mappings, (gint)at, mapping);
    return mapping;
}

gboolean vas_unmap(Vas *vas, guint64 va, guint64 bytes)
{
    guint first = vas_lower(vas, va), end = first;
    guint64 at = va;
    while (at < va + bytes) {
        const VasMapping *mapping = end < vas->mappings->len ? g_ptr_array_index(vas->mappings, end) : NULL;
        if (!mapping || mapping->va != at || mapping->va + mapping->bytes > va + bytes)
            return FALSE;
        at += mapping->bytes;
        end++;
    }
    for (guint i = first; i < end; i++)
        vas_mapping_free(vas, g_ptr_array_index(vas->mappings, i));
    g_ptr_array_remove_range(vas->mappings, first, end - first);
    vas->last = 0;
    vas->unmapped++;
    return TRUE;
}

guint vas_unmapped(const Vas *vas) { return vas->unmapped; }

gboolean vas_any(const Vas *vas, guint64 va, guint64 bytes)
{
    guint at = vas_lower(vas, va);

    return at < vas->mappings->len && ((const VasMapping *)g_ptr_array_index(vas->mappings, at))->va < va + bytes;
}

VasMapping *vas_find(Vas *vas, guint64 va)
{
    if (vas->last < vas->mappings->len) {
        VasMapping *mapping = g_ptr_array_index(vas->mappings, vas->last);
        if (va - mapping->va < mapping->bytes)
            return mapping;
    }
    guint at = vas_lower(vas, va);
    if (at == vas->mappings->len)
        return NULL;
    VasMapping *mapping = g_ptr_array_index(vas->mappings, at);
    if (va < mapping->va)
        return NULL;
    vas->last = at;
    return mapping;
}

guint8 *vas_poll(Vas *vas, const VasMapping *mapping, guint64 va, MemRegion **region, guint64 *offset)
{
    if (!mapping || !mapping->region)
        return NULL;
    *region = mapping->region;
    *offset = mapping->offset + (va - mapping->va);
    if (!mapping->region->host)
        return NULL;
    memory_poll(vas->memory, *region);
    return memory_bytes(*region, *offset);
}

void vas_set_access(VasMapping *mapping, guint16 gpu, VasAccess access) { mapping->access[gpu] = (guint8)access; }

guint64 vas_choose(Vas *vas, guint64 bytes, guint64 alignment)
{
    guint64 va = (vas->next_va + alignment - 1) / alignment * alignment;
    for (;;) {
        guint at = vas_lower(vas, va);
        const VasMapping *next = at < vas->mappings->len ? g_ptr_array_index(vas->mappings, at) : NULL;
        if (!next || next->va >= va + bytes)
            break;
        va = (next->va + next->bytes + alignment - 1) / alignment * alignment;
    }
    vas->next_va = va + bytes;
    return va;
}

EndpointTable *vas_endpoints(const Vas *vas) { return vas->endpoints; }

EndpointTable *vas_endpoints_make(Vas *vas, guint32 clique_gpus)
{
    if (!vas->endpoints)
        vas->endpoints = endpoint_table_new(clique_gpus);
    return vas->endpoints;
}
