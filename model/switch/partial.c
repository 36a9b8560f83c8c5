/* Leaf switches under a spine: partial counts and sums.
 *
 * What hardware it stands for: in-network reduction over two levels of switches. No such product documents it; what is
 * assumed is the same unit at each level: a replica that a spine sends to a leaf takes a tag there, as a request does,
 * the leaf replicates it to its members and gathers their answers, and one answer goes up, which the spine counts, or
 * sums, as one of its own members'. A partial sum is in the type of the data, as an operand is.
 * Sources: the unit HARDWARE.md 2.3; its use over two levels is assumed. */
#include "model/switch/switch.h"

McRequest partial_request(const Switch *sw, const McRecord *record)
{
    const Switch *above = sw->port[record->port].far;
    McRequest request = above->requests->request[record->txn];
    request.got = request.operands = 0;
    request.state = TXN_OK;
    return request;
}

/* What the leaf knows goes into the table of the switch above: a fault, its part of the sum. */
static void partial_report(Switch *sw, guint32 index)
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
        mcrequests_add_operand(above, record->txn, record->seat, slot);
}

void partial_respond(Switch *sw, guint32 index, SimTime now_ps)
{
    const McRecord *record = &sw->record[index];
    if (record->detailed)
        partial_report(sw, index);
    const Packet answer = packet_new(record->read ? PACKET_MC_OPERAND : PACKET_MC_ACK, record->txn, 0, record->seat,
                                     record->read ? record->answer_flits : (guint32)sw->spec->replica_ack_flits);
    link_push(sw->out[record->port], answer, record->read ? now_ps + sw->spec->reduction_ps : 0);
}
