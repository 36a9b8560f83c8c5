/* Buffers of collectives: memory on every rank, mapped for all, and a multicast window over it. */
#include "coll/algo/primitives.h"

static void coll_map(CollGroup *group, FoAddress va, guint64 bytes, MemRegion *region, McObject *object)
{
    VasMapping *mapping = vas_map(group->vas, va, bytes, region, object, 0);
    for (guint32 r = 0; r < group->n; r++)
        vas_set_access(mapping, group->gpu[r], VAS_ACCESS_READWRITE);
}

static gboolean coll_window(CollGroup *group, CollBuffer *buffer, GError **error)
{
    Fabric *fabric = group->fabric;
    McObject *object = fabric_mc_object(fabric, group->n, buffer->bytes);
    for (guint32 r = 0; r < group->n; r++) {
        mcobject_add_member(object, group->gpu[r]);
        gboolean bound = mcobject_bind(object, group->gpu[r], 0, buffer->region[r], 0, buffer->bytes);
        g_assert(bound);
    }
    g_autoptr(GError) full = NULL;
    if (!fabric_mc_attach(fabric, object, &full)) {
        g_set_error(error, COLL_ERROR, COLL_ERROR_SYSTEM,
                    "the switches' multicast tables have no room for a team of %u GPUs: %s", group->n, full->message);
        g_ptr_array_index(fabric->objects, object->id) = NULL;
        mcobject_free(object);
        return FALSE;
    }
    buffer->object = object;
    buffer->mc_va = vas_choose(group->vas, buffer->bytes, 2u << 20);
    coll_map(group, buffer->mc_va, buffer->bytes, NULL, object);
    return TRUE;
}

static guint64 coll_l2_bytes(const CollGroup *group) { return l2_held_bytes(group->fabric->spec.gpu.l2_bytes); }

gboolean coll_buffer_new(CollGroup *group, CollBuffer *buffer, guint64 bytes, gboolean control, gboolean window,
                         GError **error)
{
    Memory *memory = group->fabric->memory;
    buffer->bytes = MAX((bytes + 255) / 256 * 256, 256);
    buffer->region = g_new0(MemRegion *, group->n);
    buffer->va = g_new0(FoAddress, group->n);
    for (guint32 r = 0; r < group->n; r++) {
        buffer->region[r] = control ? memory_control_region_new(memory, group->gpu[r], buffer->bytes, error)
                                    : memory_region_new(memory, group->gpu[r], buffer->bytes, error);
        if (!buffer->region[r])
            return FALSE;
        memory_set_cached(memory, buffer->region[r], buffer->bytes <= coll_l2_bytes(group));
        buffer->va[r] = vas_choose(group->vas, buffer->bytes, 2u << 20);
        coll_map(group, buffer->va[r], buffer->bytes, buffer->region[r], NULL);
    }
    return !window || coll_window(group, buffer, error);
}

/* Calls follow each other, and each sweeps over both of a rank's buffers and as much of the slots again as it moves
 * through them: other slots in each call, since all of them together are far more. Of a sweep over four fifths of an L2
 * half misses (docs/measurements/l2_capacity.csv, `copy`). */
gboolean coll_is_cached(const CollGroup *group, const CollSpec *spec, const CollRow *row)
{
    guint64 bytes = spec->as_bytes ? spec->as_bytes : spec->bytes;
    guint64 in = coll_bytes_in(spec->op, bytes, group->n), out = coll_bytes_out(spec->op, bytes, group->n);
    guint64 slots = row->connections || row->buffered ? MAX(in, out) : 0;
    return in + out + slots <= coll_l2_bytes(group);
}

guint64 coll_slots_bytes(const CollRow *row, guint32 ctas, CollProto proto)
{
    return (guint64)ctas * row->connections * PRIM_STEPS * prim_step_bytes(proto);
}

/* A slot is read soon after it was written, and written again when all others of its rank have been: between, what goes
 * through them in as much of the call, or in all of it, sweeps over the user's buffers, too. If all that does not stay
 * in the L2, a slot has been written back to HBM by then. */
gboolean coll_slots_are_written_back(const CollGroup *group, const CollSpec *spec, guint64 slots)
{
    guint64 bytes = spec->as_bytes ? spec->as_bytes : spec->bytes;
    guint64 in = coll_bytes_in(spec->op, bytes, group->n), out = coll_bytes_out(spec->op, bytes, group->n);
    guint64 through = MAX(MAX(in, out), 1);
    guint64 users = through > slots ? (guint64)((__uint128_t)(in + out) * slots / through) : in + out;
    return slots + users > coll_l2_bytes(group);
}

void coll_buffers_set_cached(const Coll *coll)
{
    Memory *memory = coll->fabric->memory;
    gboolean cached = coll_is_cached(coll->group, &coll->spec, coll_row(coll->spec.op, coll->algo));
    for (guint32 r = 0; r < coll->n; r++) {
        memory_set_cached(memory, coll->in.region[r], cached);
        memory_set_cached(memory, coll->out.region[r], cached);
    }
}

void coll_buffer_free(CollGroup *group, CollBuffer *buffer)
{
    if (buffer->object) {
        vas_unmap(group->vas, buffer->mc_va, buffer->bytes);
        fabric_mc_detach(group->fabric, buffer->object);
        g_ptr_array_index(group->fabric->objects, buffer->object->id) = NULL;
        mcobject_free(buffer->object);
    }
    for (guint32 r = 0; buffer->region && r < group->n && buffer->region[r]; r++) {
        if (buffer->va[r])
            vas_unmap(group->vas, buffer->va[r], buffer->bytes);
        memory_region_unref(group->fabric->memory, buffer->region[r]);
    }
    g_free(buffer->region);
    g_free(buffer->va);
    *buffer = (CollBuffer){0};
}
