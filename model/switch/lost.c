/* What a switch does where packets are lost, as only faults in time make it happen (Fabric.lossy): a packet without a
 * route, a request whose team has lost its entry, an answer that will not come. */
#include "model/switch/switch.h"

/* A packet gets no further: routes have changed while it was on its way. */
void switch_lose(Switch *sw, guint32 p, Packet packet, SimTime now_ps)
{
    Link *from = sw->in[p];
    g_assert(sw->fabric->lossy); /* or there is a route to every GPU */
    link_credit(from, packet_vc(&packet), packet.flits, now_ps);
    from->lose(from, packet, now_ps);
}

/* INVALID_MCRID_ERR: the team has lost its entry while the request was on its way. */
void switch_refuse(Switch *sw, guint32 p, Packet packet, SimTime now_ps)
{
    sw->invalid_mcid++;
    if (!sw->port[p].far || sw->spine) /* and not a replica */
        txn_at(&sw->fabric->txns[packet.src], packet.txn)->state = TXN_NO_ENTRY;
    switch_lose(sw, p, packet, now_ps);
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
