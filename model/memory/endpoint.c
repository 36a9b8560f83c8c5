#include "model/memory/endpoint.h"

typedef struct {
    gboolean reserved;
    guint32 flags;
    McObject *object;
} EndpointEntry;

struct EndpointTable {
    GArray *entries; /* EndpointEntry by identifier, as far as any was reserved */
    guint32 clique_gpus;
};

EndpointTable *endpoint_table_new(guint32 clique_gpus)
{
    EndpointTable *table = g_new0(EndpointTable, 1);

    table->entries = g_array_new(FALSE, TRUE, sizeof(EndpointEntry));
    table->clique_gpus = clique_gpus;
    return table;
}

void endpoint_table_free(EndpointTable *table)
{
    if (!table)
        return;
    g_array_free(table->entries, TRUE);
    g_free(table);
}

static EndpointEntry *endpoint_entry(const EndpointTable *table, guint32 id)
{
    if (!table || id >= table->entries->len)
        return NULL;
    EndpointEntry *entry = &g_array_index(table->entries, EndpointEntry, id);
    return entry->reserved ? entry : NULL;
}

void endpoint_reserve(EndpointTable *table, guint32 first, guint32 n)
{
    g_assert(first < ENDPOINT_IDS_MAX && n <= ENDPOINT_IDS_MAX - first);
    if (table->entries->len < first + n)
        g_array_set_size(table->entries, first + n);
    for (guint32 id = first; id < first + n; id++)
        g_array_index(table->entries, EndpointEntry, id) = (EndpointEntry){.reserved = TRUE};
}

void endpoint_release(EndpointTable *table, guint32 first, guint32 n)
{
    for (guint32 i = 0; i < n; i++) {
        EndpointEntry *entry = endpoint_entry(table, first + i);
        if (entry)
            *entry = (EndpointEntry){0};
    }
}

gboolean endpoint_set(EndpointTable *table, guint32 id, McObject *object, guint32 flags)
{
    EndpointEntry *entry = endpoint_entry(table, id);

    if (!entry)
        return FALSE;
    entry->object = object;
    entry->flags = flags;
    return TRUE;
}

void endpoint_forget(EndpointTable *table, const McObject *object)
{
    for (guint32 id = 0; table && id < table->entries->len; id++) {
        EndpointEntry *entry = &g_array_index(table->entries, EndpointEntry, id);
        if (entry->object == object)
            entry->object = NULL;
    }
}

guint32 endpoint_clique(const EndpointTable *table, guint16 gpu)
{
    return table->clique_gpus != 0 ? gpu / table->clique_gpus : 0;
}

/* How many bytes from there on every member has within one bind; 0: some member has none. */
static guint64 endpoint_run(const McObject *object, guint64 offset, guint64 bytes)
{
    for (guint i = 0; i < object->members->len && bytes > 0; i++) {
        const McBind *bind = mcobject_lookup(object, g_array_index(object->members, guint16, i), offset);
        bytes = bind ? MIN(bytes, bind->offset + bind->bytes - offset) : 0;
    }
    return bytes;
}

static gboolean endpoint_reaches(const EndpointTable *table, const McObject *object, guint16 gpu)
{
    for (guint i = 0; i < object->members->len; i++)
        if (endpoint_clique(table, g_array_index(object->members, guint16, i)) != endpoint_clique(table, gpu))
            return FALSE;
    return TRUE;
}

static EndpointStatus endpoint_check(const EndpointTable *table, const EndpointEntry *entry, guint64 offset,
                                     guint64 bytes, guint16 gpu)
{
    const McObject *object = entry->object;

    if (!object)
        return ENDPOINT_NOT_CREATED;
    if (!(entry->flags & ENDPOINT_READY) || object->members->len < object->n_gpus)
        return ENDPOINT_NOT_READY;
    if (!endpoint_reaches(table, object, gpu))
        return ENDPOINT_OTHER_CLIQUE;
    if (bytes == 0 || offset >= object->bytes || bytes > object->bytes - offset)
        return ENDPOINT_OUT_OF_RANGE;
    for (guint64 at = offset, run; at < offset + bytes; at += run) {
        run = endpoint_run(object, at, offset + bytes - at);
        if (run == 0)
            return ENDPOINT_NOT_BOUND;
    }
    return ENDPOINT_OK;
}

EndpointStatus endpoint_resolve(const EndpointTable *table, guint32 id, guint64 offset, guint64 bytes, guint16 gpu,
                                EndpointTarget *target)
{
    const EndpointEntry *entry = endpoint_entry(table, id);
    EndpointStatus status = entry ? endpoint_check(table, entry, offset, bytes, gpu) : ENDPOINT_NOT_RESERVED;

    if (status == ENDPOINT_OK)
        *target = (EndpointTarget){.id = id,
                                   .flags = entry->flags,
                                   .object = entry->object,
                                   .offset = offset,
                                   .bytes = endpoint_run(entry->object, offset, bytes),
                                   .members = entry->object->members->len};
    return status;
}

EndpointPart endpoint_part(const EndpointTarget *target, guint32 i)
{
    g_assert(i < target->members);
    guint16 gpu = g_array_index(target->object->members, guint16, i);
    const McBind *bind = mcobject_lookup(target->object, gpu, target->offset);
    g_assert(bind);
    return (EndpointPart){
        .gpu = gpu, .region = bind->region, .offset = bind->region_offset + (target->offset - bind->offset)};
}

const char *endpoint_status_text(EndpointStatus status)
{
    static const char *const text[] = {
        [ENDPOINT_OK] = "is fine",
        [ENDPOINT_NOT_RESERVED] = "was not reserved",
        [ENDPOINT_NOT_CREATED] = "was reserved, but neither created nor imported",
        [ENDPOINT_NOT_READY] = "is not ready: devices are missing, or cuLogicalEndpointQuery has not said so",
        [ENDPOINT_OTHER_CLIQUE] = "is of another clique than the GPU that uses it",
        [ENDPOINT_OUT_OF_RANGE] = "is shorter than the range",
        [ENDPOINT_NOT_BOUND] = "has no memory bound behind a part of the range",
    };

    return text[status];
}
