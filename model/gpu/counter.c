/* Counters of counted operations on logical endpoints, at their targets.
 *
 * What hardware it stands for: a target's L2, which adds the bytes of each counted write or reduction to a word that
 * its request names, behind the data. Modelled: the sum, when the data are written; no time beside theirs (assumed).
 * Left out: that several requests to one word wait for each other.
 * Source: PTX ISA 9.3, counted completion mechanism. */
#include <string.h>

#include "model/gpu/gpu.h"

void gpu_count(Fabric *fabric, guint16 gpu, const Txn *txn, SimTime visible_ps)
{
    GpuCounter counter;
    guint64 value;
    if (!(txn->op & TXN_COUNTED) || !txn->data || txn->kind == PACKET_READ || txn->kind == PACKET_MC_READ)
        return;
    memcpy(&counter, data_at(fabric->data, txn->data) + DATA_SLOT_BYTES / 2, sizeof counter);
    if (!counter.region) {
        const McBind *bind = mcobject_lookup(txn->object, gpu, counter.offset);
        if (!bind) /* the operation was refused where it was posted, or its memory went since */
            return;
        counter.region = bind->region;
        counter.offset = bind->region_offset + (counter.offset - bind->offset);
    }
    MemRegion *region = counter.region;
    pthread_mutex_t *lock = region->lock;
    if (G_UNLIKELY(lock != NULL))
        memory_lock(lock);
    if (region->host) {
        memcpy(&value, memory_bytes(region, counter.offset), sizeof value);
        value += txn->bytes;
        memcpy(memory_bytes(region, counter.offset), &value, sizeof value);
    }
    if (G_UNLIKELY(lock != NULL))
        pthread_mutex_unlock(lock);
    memory_written(fabric->memory, region->id, counter.offset, sizeof value, visible_ps);
}
