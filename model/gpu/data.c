/* What requests do to a GPU's memory, where bytes are kept. */
#include <string.h>

#include "model/gpu/gpu.h"
#include "model/memory/numeric.h"

static guint32 gpu_element_words(const Txn *txn)
{
    guint32 bytes = numeric_type_bytes((NumericType)txn->type);
    return bytes > 4 ? bytes / 4 : 1;
}

static void gpu_touch_atomic(const Txn *txn, guint8 *memory, const guint8 *data)
{
    const guint8 op = txn->op & (guint8)~TXN_COUNTED;
    guint32 words = gpu_element_words(txn), bytes = words * 4;
    for (guint32 w = 0; w * 4 < txn->bytes; w += words) {
        if (!(txn->word_mask >> w % 32 & 1)) /* of more than a line: all words */
            continue;
        guint8 *at = memory + w * 4;
        const guint8 *with = data + w * 4;
        if (op == TXN_ATOM_EXCH)
            memcpy(at, with, bytes);
        else if (op != TXN_ATOM_CAS)
            numeric_apply((NumericType)txn->type, (NumericOp)op, at, with, bytes);
        else if (memcmp(at, with, bytes) == 0)
            memcpy(at, with + DATA_SLOT_BYTES / 2, bytes);
    }
}

/* Operations that another room gives: element after element. One below a word stands alone in its request, or those of
 * a vector fill the words that are touched. */
static void gpu_touch_call(const Fabric *fabric, const Txn *txn, guint8 *memory, const guint8 *data)
{
    guint32 bytes = fabric->atomic->bytes(txn->type);
    for (guint32 at = 0; at < txn->bytes; at += bytes)
        if (txn->word_mask >> at / 4 % 32 & 1)
            fabric->atomic->apply(txn->type, txn->acc, memory + at, data + at, data + DATA_SLOT_BYTES / 2 + at);
}

static void gpu_touch_write(const Txn *txn, guint8 *memory, const guint8 *data)
{
    if (txn->op != TXN_WRITE_BYTES) {
        memory_move_words(memory, data, txn->bytes, txn->word_mask);
        return;
    }
    for (guint32 b = 0; b < txn->bytes; b++)
        if (data[DATA_SLOT_BYTES / 2 + b])
            memory[b] = data[b];
}

static void gpu_touch_change(const Fabric *fabric, const Txn *txn, guint8 *memory, const guint8 *data)
{
    if (txn->kind == PACKET_WRITE || txn->kind == PACKET_MC_WRITE)
        gpu_touch_write(txn, memory, data);
    else if (txn->op == TXN_ATOM_CALL)
        gpu_touch_call(fabric, txn, memory, data);
    else
        gpu_touch_atomic(txn, memory, data);
}

void gpu_access_plain(Fabric *fabric, MemRegion *region, guint64 offset, guint32 bytes, const guint8 *data,
                      guint8 *answer, SimTime visible_ps)
{
    g_assert(offset + bytes <= region->bytes);
    if (answer) {
        memcpy(answer, memory_read(region, offset), bytes);
        return;
    }
    if (region->host && data)
        memcpy(memory_bytes(region, offset), data, bytes);
    memory_written(fabric->memory, region->id, offset, bytes, visible_ps);
}

void gpu_access(Fabric *fabric, MemRegion *region, guint64 offset, const Txn *txn, const guint8 *data, guint8 *answer,
                SimTime visible_ps)
{
    gboolean read = txn->kind == PACKET_READ || txn->kind == PACKET_MC_READ;
    if (read && !answer)
        return;
    if (txn_is_plain(txn)) {
        gpu_access_plain(fabric, region, offset, txn->bytes, data, answer, visible_ps);
        return;
    }
    g_assert(offset + txn->bytes <= region->bytes);
    pthread_mutex_t *lock = txn->kind == PACKET_RED || txn->kind == PACKET_ATOM || txn->kind == PACKET_MC_RED
                                ? region->lock
                                : NULL;
    if (G_UNLIKELY(lock != NULL))
        memory_lock(lock);
    if (answer && region->host)
        memcpy(answer, memory_read(region, offset), txn->bytes);
    if (region->host && data)
        gpu_touch_change(fabric, txn, memory_bytes(region, offset), data);
    if (G_UNLIKELY(lock != NULL))
        pthread_mutex_unlock(lock);
    memory_written(fabric->memory, region->id, offset, txn->bytes, visible_ps);
}
