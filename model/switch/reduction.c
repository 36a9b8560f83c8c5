/* The reduction unit: answers of replicas are counted at the requester's egress port, operands summed.
 *
 * What hardware it stands for: REDUCTIONTSTATE and MULTICASTTSTATE tags, RBCTRLSTORE/MCRSPCTRLSTORE
 * counting at the egress, the reduction buffer and its ALU.
 * Modelled: one answer a member is counted; the last one releases one response; the order of operands
 * and the precision of the sum are knobs. Left out: the ALU as a bottleneck (its published rate takes
 * operands as fast as a link brings them), time-outs.
 * Sources: HARDWARE.md 2.3 (response counting), 7 (ALU note). */
#include <stdlib.h>

#include "model/fabric/fabric.h"
#include "model/memory/numeric.h"
#include "model/switch/switch.h"

static int reduction_compare(const void *a, const void *b)
{
    return (int)*(const guint16 *)a - (int)*(const guint16 *)b;
}

static void reduction_sum(Switch *sw, guint32 index, const Txn *txn, guint8 *result)
{
    const McDetail *detail = &sw->detail[index];
    const guint32 *slot = &sw->operand[(gsize)index * sw->gpus];
    guint16 *gpu = &sw->operand_gpu[(gsize)index * sw->gpus];
    if (sw->spec->reduction_order == REDUCE_ORDER_RANK)
        qsort(gpu, detail->got, sizeof *gpu, reduction_compare);
    NumericAcc acc;
    numeric_clear(&acc, (NumericPrecision)txn->acc);
    for (guint32 i = 0; i < detail->got; i++)
        numeric_accumulate(&acc, (NumericType)txn->type, (NumericOp)txn->op,
                           data_at(sw->fabric->data, slot[gpu[i]]), txn->bytes);
    numeric_finish(&acc, (NumericType)txn->type, result, txn->bytes);
}

/* The data slot of the sum, the operands' slots being given back. 0: a member had no memory there. */
static guint32 reduction_finish_data(Switch *sw, guint32 index, const Txn *txn)
{
    const McRecord *record = &sw->record[index];
    const McDetail *detail = &sw->detail[index];
    guint32 *slot = &sw->operand[(gsize)index * sw->gpus], result = 0;
    if (detail->operands == record->members) {
        result = data_take(sw->data);
        reduction_sum(sw, index, txn, data_at(sw->data, result));
    }
    for (guint32 i = 0; i < detail->got; i++) {
        guint32 *of = &slot[sw->operand_gpu[(gsize)index * sw->gpus + i]];
        if (*of)
            data_give(sw->data, *of);
        *of = 0;
    }
    return result;
}

void reduction_operand(Switch *sw, guint32 index, guint16 gpu, guint32 slot)
{
    sw->operand[(gsize)index * sw->gpus + gpu] = slot;
    sw->detail[index].operands++;
}

/* What a record of few says: a fault of a replica, and the sum's data. */
static G_GNUC_NO_INLINE void reduction_respond_detailed(Switch *sw, guint32 index, Txn *txn)
{
    const McDetail *detail = &sw->detail[index];
    if (detail->state > txn->state)
        txn->state = detail->state & 3u;
    if (sw->record[index].read) {
        if (detail->operands)
            txn->data = reduction_finish_data(sw, index, txn);
    } else if (detail->data) {
        data_give(sw->data, detail->data);
        txn->data = 0;
    }
}

static void reduction_respond(Switch *sw, guint32 index, SimTime now_ps)
{
    McRecord *record = &sw->record[index];
    SwitchPort *port = &sw->port[record->port];
    guint32 src = port->gpu, txn = record->txn, train = record->train;
    TxnPool *txns = &sw->fabric->gpu[src].txns;
    Link *out = sw->out[record->port];
    if (record->detailed) /* the Txn is not looked at without need: it is far away */
        reduction_respond_detailed(sw, index, txn_at(txns, txn));
    if (!record->read) {
        Packet request = packet_new(PACKET_MC_WRITE, txn, train, 0, 0, 0);
        Packet done = packet_new(PACKET_MC_DONE, 0, 0, src, src, (guint32)sw->spec->done_flits);
        ack_add(&port->done, done, out, request, txn_next(txns, txn), sw->spec->done_merge_max,
                sw->spec->done_timer_ps, now_ps);
        return;
    }
    link_push(out, packet_new(PACKET_MC_RSP, txn, train, src, src, record->answer_flits),
              now_ps + sw->spec->reduction_ps);
}

void reduction_end(Switch *sw, guint32 index, SimTime now_ps)
{
    reduction_respond(sw, index, now_ps);
    switch_finish(sw, index, now_ps);
}

static void reduction_on_end(Event *event, SimTime now_ps)
{
    McEnd *end = EVENT_OWNER(event, McEnd, arrive);
    Switch *sw = end->sw;
    end->next_free = sw->end_free;
    sw->end_free = end;
    reduction_end(sw, end->record, now_ps);
}

static McEnd *reduction_ends_new(Switch *sw)
{
    McEnd *end = g_new0(McEnd, MC_ENDS);
    g_ptr_array_add(sw->ends, end);
    for (guint i = 0; i < MC_ENDS; i++) {
        end[i].sw = sw;
        end[i].next_free = i + 1 < MC_ENDS ? &end[i + 1] : NULL;
        event_init(&end[i].arrive, reduction_on_end);
    }
    return end;
}

/* Of a record's last answer that is known ahead. */
static SimTime reduction_last_ps(const Switch *sw, guint32 index)
{
    SimTime now_ps = sim_now_ps(sw->sim);
    gint64 later = (gint64)(sw->record[index].last - RECORD_LAST(now_ps, 0)) >> 16;
    return (SimTime)((gint64)now_ps + later);
}

/* And its place among what happens at that instant. */
static guint32 reduction_last_key(const Switch *sw, guint32 index)
{
    return (guint32)sw->in[sw->record[index].last & 0xffffu]->vc[VC_RSP].arrive.order;
}

void reduction_end_later(Switch *sw, guint32 index)
{
    McEnd *end = sw->end_free ? sw->end_free : reduction_ends_new(sw);
    sw->end_free = end->next_free;
    end->record = index;
    sim_set_key(&end->arrive, reduction_last_key(sw, index));
    sim_at_key(sw->sim, &end->arrive, reduction_last_ps(sw, index));
}

/* An answer that arrives now, and of which none was known ahead that comes later. */
static gboolean reduction_is_last(const Switch *sw, guint32 index, SimTime now_ps)
{
    SimTime last_ps = reduction_last_ps(sw, index);
    return last_ps < now_ps ||
           (last_ps == now_ps && reduction_last_key(sw, index) < (guint32)sim_order(sw->sim, now_ps));
}

void reduction_gather(Switch *sw, Packet packet, SimTime now_ps)
{
    guint32 index = packet.txn;
    McRecord *record = &sw->record[index];
    McDetail *detail = &sw->detail[index];
    g_assert(record->count != 0); /* MCRSP_CNT_ERR, RBRSP_CNT_ERR in hardware */
    record->count--;
    if (record->read && record->detailed)
        sw->operand_gpu[(gsize)index * sw->gpus + detail->got++] = packet.dst;
    PROBE_POINT(sw->fabric, PROBE_GATHER, sw->path, &packet, now_ps);
    if (record->count)
        return;
    if (G_UNLIKELY(record->detailed && detail->missing)) {
        fault_wait(sw, index);
        return;
    }
    PROBE_POINT(sw->fabric, PROBE_RESULT, sw->path, &packet, now_ps);
    if (reduction_is_last(sw, index, now_ps))
        reduction_end(sw, index, now_ps);
    else
        reduction_end_later(sw, index); /* one that is known ahead comes after it */
}
