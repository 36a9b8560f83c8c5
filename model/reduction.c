/* The reduction unit: answers of replicas are counted at the requester's egress port, operands summed.
 *
 * What hardware it stands for: REDUCTIONTSTATE and MULTICASTTSTATE tags, RBCTRLSTORE/MCRSPCTRLSTORE
 * counting at the egress, the reduction buffer and its ALU.
 * Modelled: one answer a member is counted; the last one releases one response; the order of operands
 * and the precision of the sum are knobs. Left out: the ALU as a bottleneck (its published rate takes
 * operands as fast as a link brings them), time-outs.
 * Sources: HARDWARE.md 2.3 (response counting), 7 (ALU note). */
#include <string.h>

#include "model/fabric.h"
#include "model/numeric.h"
#include "model/switch.h"

static void reduction_sum(Switch *sw, guint32 index, const Txn *txn, guint8 *result)
{
    const McRecord *record = &sw->record[index];
    guint32 *slot = &sw->operand[(gsize)index * sw->gpus];
    guint16 *gpu = &sw->operand_gpu[(gsize)index * sw->gpus];
    if (sw->spec->reduction_order == REDUCE_ORDER_RANK) { /* by GPU number: insertion sort, n <= 72 */
        for (guint32 i = 1; i < record->got; i++) {
            guint32 s = slot[i];
            guint16 g = gpu[i];
            guint32 at = i;
            for (; at > 0 && gpu[at - 1] > g; at--) {
                slot[at] = slot[at - 1];
                gpu[at] = gpu[at - 1];
            }
            slot[at] = s;
            gpu[at] = g;
        }
    }
    NumericAcc acc;
    numeric_clear(&acc, (NumericPrecision)txn->acc);
    for (guint32 i = 0; i < record->got; i++)
        numeric_accumulate(&acc, (NumericType)txn->type, (NumericOp)txn->op,
                           data_at(&sw->fabric->data, slot[i]), txn->bytes);
    numeric_finish(&acc, (NumericType)txn->type, result, txn->bytes);
}

static void reduction_respond(Switch *sw, guint32 index, SimTime now_ps)
{
    McRecord *record = &sw->record[index];
    Fabric *fabric = sw->fabric;
    Txn *txn = txn_at(&fabric->gpu[record->src].txns, record->txn);
    Link *out = sw->out[record->port];
    txn->state = MAX(txn->state, record->state);
    if (record->kind != PACKET_MC_READ) {
        if (record->data)
            data_give(&fabric->data, record->data);
        ack_add(&sw->port[record->port].done, record->txn, &txn->next, sw->spec->done_merge_max,
                sw->spec->done_timer_ps);
        return;
    }
    Packet packet = {.txn = record->txn, .src = record->src, .dst = record->src, .kind = PACKET_MC_RSP,
                     .flits = (guint8)(1 + (txn->bytes + FLIT_BYTES - 1) / FLIT_BYTES),
                     .hold = HOLD_NONE};
    guint32 *operand = &sw->operand[(gsize)index * sw->gpus];
    gboolean whole = TRUE; /* FALSE: timing-only, or a member without memory bound here */
    for (guint32 i = 0; i < record->got; i++)
        whole = whole && operand[i];
    if (whole) {
        packet.data = data_take(&fabric->data);
        reduction_sum(sw, index, txn, data_at(&fabric->data, packet.data));
    }
    for (guint32 i = 0; i < record->got; i++)
        if (operand[i])
            data_give(&fabric->data, operand[i]);
    link_push(out, packet, sw->spec->reduction_ps ? now_ps + sw->spec->reduction_ps : 0);
}

void reduction_gather(Switch *sw, Packet packet, SimTime now_ps)
{
    guint32 index = packet.txn;
    McRecord *record = &sw->record[index];
    g_assert(record->got < record->expected); /* MCRSP_CNT_ERR, RBRSP_CNT_ERR in hardware */
    if (packet.kind == PACKET_MC_OPERAND) {
        sw->operand[(gsize)index * sw->gpus + record->got] = packet.data;
        sw->operand_gpu[(gsize)index * sw->gpus + record->got] = packet.dst;
    }
    if (++record->got < record->expected)
        return;
    reduction_respond(sw, index, now_ps);
    switch_finish(sw, index, now_ps);
}
