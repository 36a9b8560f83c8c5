#include "model/switch/record.h"

/* A free record: the one that was given back last, since it is in the processor's cache. */
static guint32 record_take(Switch *sw)
{
    guint32 index = sw->record_free;
    if (index)
        sw->record_free = sw->record[index].txn;
    else
        index = ++sw->record_top;
    g_assert(index < sw->record_max); /* there is one for each tag */
    sw->records_used++;
    return index;
}

/* What a leaf knows of a replica of the spine above. */
static McRequest record_of_above(const Switch *sw, const McRecord *record)
{
    const Switch *above = sw->port[record->port].far;
    McRequest request = above->requests->request[record->txn];
    request.got = request.operands = 0;
    request.state = TXN_OK;
    return request;
}

/* Fills the entry of the shared table, in which members find what they need to know of the request. */
static void record_describe(Switch *sw, guint32 index)
{
    const McRecord *record = &sw->record[index];
    McRequest *request = &sw->requests->request[index];
    if (record->partial) {
        *request = record_of_above(sw, record);
    } else {
        const Txn *txn = txn_at(&sw->fabric->txns[record->src], record->txn);
        *request = (McRequest){.offset = txn->offset,
                               .object = txn->object,
                               .data = txn->data,
                               .txn = record->txn,
                               .src = record->src,
                               .bytes = txn->bytes,
                               .answer_flits = record->answer_flits,
                               .plain = txn_is_plain(txn)};
    }
    request->missing = 0;
}

/* The members stand in the request, and not in what goes to them; its place in the ingress buffer is free. */
static void record_take_set(Switch *sw, guint32 p, Packet *packet)
{
    const guint32 flits = (guint32)sw->table.spec->set_flits;
    packet->flits = (guint8)(packet->flits - flits);
    link_credit(sw->in[p], VC_CREQ, flits, sim_now_ps(sw->sim));
}

Packet record_open(Switch *sw, guint32 p, Packet packet, const McEntry *entry)
{
    guint32 index = record_take(sw);
    gboolean look_up = packet.place == MEMORY_LOOK_UP;
    gboolean detailed = look_up || sw->fabric->lossy || sw->fabric->keep_bytes;
    gboolean read = packet.kind == PACKET_MC_READ;
    sw->record[index] = (McRecord){.txn = packet.txn,
                                   .members = (guint16)entry->n_members,
                                   .count = (guint16)entry->n_members,
                                   .port = (guint16)p,
                                   .answer_flits = packet.answer_flits,
                                   .read = read,
                                   .detailed = detailed,
                                   .by_event = look_up && read,
                                   .link = packet.link,
                                   .src = packet.src,
                                   .partial = sw->port[p].far && !sw->spine,
                                   .spine_member = entry->member[0]};
    if (detailed || packet.place == MEMORY_IN_HBM) /* how late a read is depends on its line */
        record_describe(sw, index);
    packet.txn = index;
    packet.held_input = HELD_INPUT_NONE;
    if (sw->table.spec->set_flits && !sw->spine) /* below a spine the leaves need it */
        record_take_set(sw, p, &packet);
    return packet;
}

void record_close(Switch *sw, guint32 index, SimTime now_ps)
{
    McRecord *record = &sw->record[index];
    SwitchPort *port = &sw->port[record->port];
    if (record->read) {
        port->reduction_tags++;
        port->reduction_bytes += record_buffer_bytes(sw, record->members);
    } else {
        port->multicast_tags++;
    }
    sw->reduced++;
    PROBE_POINT(sw->fabric, PROBE_FREE, sw, (&(Packet){.txn = index, .src = record->src}), now_ps);
    record->members = 0;
    record->txn = sw->record_free;
    sw->record_free = index;
    sw->records_used--;
    if (port->wait.count && port->busy_until_ps <= now_ps)
        sw->go_on(port, now_ps);
}
