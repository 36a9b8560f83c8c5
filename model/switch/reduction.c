/* The reduction unit: answers of replicas are counted at the requester's egress port, operands summed.
 *
 * What hardware it stands for: REDUCTIONTSTATE and MULTICASTTSTATE tags, RBCTRLSTORE/MCRSPCTRLSTORE
 * counting at the egress, the reduction buffer and its ALU.
 * Modelled: one answer a member is counted; the last one releases one response; the order of operands
 * and the precision of the sum are knobs. Left out: the ALU as a bottleneck (its published rate takes
 * operands as fast as a link brings them), time-outs.
 * Sources: HARDWARE.md 2.3 (response counting), 7 (ALU note). */
#include "model/switch/switch.h"

#include <stdlib.h>

#include "model/memory/numeric.h"

static int reduction_compare(const void *a, const void *b)
{
    return (int)*(const guint16 *)a - (int)*(const guint16 *)b;
}

/* Sums the operands in the order that is asked for. */
static void reduction_sum(Switch *sw, guint32 index, const Txn *txn, guint8 *result)
{
    const McRequest *request = &sw->requests->request[index];
    const guint32 *slot = mcrequests_operands(sw->requests, index);
    guint16 *order = mcrequests_order(sw->requests, index);
    if (sw->spec->reduction_order == REDUCE_ORDER_RANK)
        qsort(order, request->got, sizeof *order, reduction_compare);
    NumericAcc acc;
    numeric_clear(&acc, (NumericPrecision)txn->acc);
    for (guint32 i = 0; i < request->got; i++)
        numeric_accumulate(&acc, (NumericType)txn->type, (NumericOp)txn->op,
                           data_at(sw->fabric->data, slot[order[i]]), txn->bytes);
    numeric_finish(&acc, (NumericType)txn->type, result, txn->bytes);
}

guint32 reduction_finish_data(Switch *sw, guint32 index, const Txn *txn)
{
    const McRequest *request = &sw->requests->request[index];
    guint32 *slot = mcrequests_operands(sw->requests, index), result = 0;
    const guint16 *order = mcrequests_order(sw->requests, index);
    if (request->operands == sw->record[index].members) {
        result = data_take(sw->data);
        reduction_sum(sw, index, txn, data_at(sw->data, result));
    }
    for (guint32 i = 0; i < request->got; i++) {
        guint32 *of = &slot[order[i]];
        if (*of)
            data_give(sw->data, *of);
        *of = 0;
    }
    return result;
}

/* What the shared entry says of the request: a fault of a replica, and the sum's data. */
static void reduction_close_request(Switch *sw, guint32 index, Txn *txn)
{
    const McRequest *request = &sw->requests->request[index];
    if (request->state > txn->state)
        txn->state = request->state;
    if (sw->record[index].read) {
        if (request->operands)
            txn->data = reduction_finish_data(sw, index, txn);
    } else if (request->data) {
        data_give(sw->data, request->data);
        txn->data = 0;
    }
}

static void reduction_respond(Switch *sw, guint32 index, SimTime now_ps)
{
    McRecord *record = &sw->record[index];
    SwitchPort *port = &sw->port[record->port];
    guint32 src = record->src, txn = record->txn;
    TxnPool *txns = &sw->fabric->txns[src];
    Link *out = sw->out[record->port];
    Packet answer = packet_new(record->read ? PACKET_MC_RSP : PACKET_MC_DONE, record->read ? txn : 0, src, src,
                               record->read ? record->answer_flits : (guint32)sw->spec->done_flits);
    answer.link = record->link;
    if (record->detailed)
        reduction_close_request(sw, index, txn_at(txns, txn));
    if (record->read)
        link_push(out, answer, now_ps + sw->spec->reduction_ps);
    else /* behind a trunk are many requesters, whose acknowledgements are not merged */
        ack_add(&port->done, out, answer, txn, txn_next(txns, txn), port->far ? 1 : sw->spec->done_merge_max,
                sw->spec->done_timer_ps, now_ps);
}

void reduction_end(Switch *sw, guint32 index, SimTime now_ps)
{
    if (sw->record[index].partial)
        partial_respond(sw, index, now_ps);
    else
        reduction_respond(sw, index, now_ps);
    switch_finish(sw, index, now_ps);
}

gboolean reduction_count(Switch *sw, Packet packet, SimTime now_ps)
{
    guint32 index = packet.txn;
    McRecord *record = &sw->record[index];
    McRequest *request = &sw->requests->request[index];
    g_assert(record->count != 0); /* MCRSP_CNT_ERR, RBRSP_CNT_ERR in hardware */
    record->count--;
    if (record->read && record->detailed)
        mcrequests_note_answer(sw->requests, index, packet.dst, now_ps);
    PROBE_POINT(sw->fabric, PROBE_GATHER, sw->path, &packet, now_ps);
    if (sw->fabric->lossy)
        record->last_ps = MAX(record->last_ps, now_ps);
    if (record->count)
        return FALSE;
    if (record->detailed && request->missing) {
        timeout_start(sw, index, now_ps);
        return FALSE;
    }
    PROBE_POINT(sw->fabric, PROBE_RESULT, sw->path, &packet, now_ps);
    return TRUE;
}
