#include "model/switch/reduction.h"

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
        numeric_accumulate(&acc, (NumericType)txn->type, (NumericOp)txn->op, data_at(sw->fabric->data, slot[order[i]]),
                           txn->bytes);
    numeric_finish(&acc, (NumericType)txn->type, result, txn->bytes);
}

/* The data slot of the sum of a record's operands, whose slots are given back. 0: a member had no memory there. */
static guint32 reduction_finish_data(Switch *sw, guint32 index, const Txn *txn)
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

/* What the leaf knows goes into the table of the switch above: a fault, its part of the sum. */
static void reduction_report(Switch *sw, guint32 index)
{
    const McRecord *record = &sw->record[index];
    const McRequest *request = &sw->requests->request[index];
    McRequests *above = sw->port[record->port].far->requests;
    McRequest *to = &above->request[record->txn];
    to->state = MAX(to->state, request->state);
    if (!record->read || !request->operands)
        return;
    const Txn *txn = txn_at(&sw->fabric->txns[request->src], request->txn);
    const guint32 slot = reduction_finish_data(sw, index, txn);
    if (slot)
        mcrequests_add_operand(above, record->txn, record->spine_member, slot);
}

/* One answer goes up: a part of the sum, or of the count. */
static void reduction_respond_above(Switch *sw, guint32 index, SimTime now_ps)
{
    const McRecord *record = &sw->record[index];
    if (record->detailed)
        reduction_report(sw, index);
    const guint32 flits = record->read ? record->answer_flits : (guint32)sw->spec->replica_ack_flits;
    const Packet answer = packet_new(record->read ? PACKET_MC_OPERAND : PACKET_MC_ACK, record->txn, 0,
                                     record->spine_member, flits);
    link_push(sw->out[record->port], answer, record->read ? now_ps + sw->spec->reduction_ps : 0);
}

void reduction_end(Switch *sw, guint32 index, SimTime now_ps)
{
    if (sw->record[index].partial)
        reduction_respond_above(sw, index, now_ps);
    else
        reduction_respond(sw, index, now_ps);
    record_close(sw, index, now_ps);
}

/* ---- answers that do not come */

typedef struct {
    Event event;
    Switch *sw;
    guint32 record;
} TimeoutTimer;

static void timeout_on_event(Event *event, SimTime now_ps)
{
    TimeoutTimer *timer = EVENT_OWNER(event, TimeoutTimer, event);
    Switch *sw = timer->sw;
    *(sw->record[timer->record].read ? &sw->crumbstore_rto_err : &sw->crumbstore_mcto_err) += 1;
    sw->requests->request[timer->record].state = TXN_TIMEOUT;
    reduction_end(sw, timer->record, now_ps);
    g_free(timer);
}

/* All answers that can come have by from_ps: then the time begins to run. */
static void timeout_start(Switch *sw, guint32 index, SimTime from_ps)
{
    const FaultSpec *spec = &sw->fabric->spec.fault;
    guint64 timeout_ps = sw->record[index].read ? spec->reduction_timeout_ps : spec->multicast_timeout_ps;
    if (timeout_ps == 0)
        return;
    TimeoutTimer *timer = g_new0(TimeoutTimer, 1);
    timer->sw = sw;
    timer->record = index;
    event_init(&timer->event, timeout_on_event);
    sim_set_key(&timer->event, sw->timeout_key + index);
    sim_at_key(sw->sim, &timer->event, MAX(from_ps + timeout_ps, sim_now_ps(sw->sim)));
}

void reduction_lose(Switch *sw, guint32 index, SimTime at_ps)
{
    McRecord *record = &sw->record[index];
    g_assert(record->count != 0 && record->detailed);
    record->count--;
    sw->requests->request[index].missing++;
    record->last_ps = MAX(record->last_ps, at_ps);
    if (record->count == 0)
        timeout_start(sw, index, record->last_ps);
}

void reduction_lose_answer(Switch *sw, Packet answer, SimTime at_ps)
{
    guint32 *slot = &mcrequests_operands(sw->requests, answer.txn)[answer.dst];
    if (answer.kind == PACKET_MC_OPERAND && *slot) {
        data_give(sw->data, *slot);
        *slot = 0;
        sw->requests->request[answer.txn].operands--;
    }
    reduction_lose(sw, answer.txn, at_ps);
}

/* ---- answers that do */

gboolean reduction_count(Switch *sw, Packet packet, SimTime now_ps)
{
    guint32 index = packet.txn;
    McRecord *record = &sw->record[index];
    McRequest *request = &sw->requests->request[index];
    g_assert(record->count != 0); /* MCRSP_CNT_ERR, RBRSP_CNT_ERR in hardware */
    record->count--;
    if (record->read && record->detailed)
        mcrequests_note_answer(sw->requests, index, packet.dst, now_ps);
    PROBE_POINT(sw->fabric, PROBE_GATHER, sw, &packet, now_ps);
    if (sw->fabric->lossy)
        record->last_ps = MAX(record->last_ps, now_ps);
    if (record->count)
        return FALSE;
    if (record->detailed && request->missing) {
        timeout_start(sw, index, now_ps);
        return FALSE;
    }
    PROBE_POINT(sw->fabric, PROBE_RESULT, sw, &packet, now_ps);
    return TRUE;
}
