#include "model/fabric/loss.h"
#include "model/link/down.h"

#include "model/fabric/fabric.h"
#include "model/switch/reduction.h"

typedef struct Loss {
    Event event;          /* the time of the first of these is over */
    TimedPacketRing ring; /* lost requests and answers, whose requesters wait */
    Fabric *fabric;
    Link *link;
    Switch *from, *to; /* its ends; NULL: a GPU */
    guint64 lost;
} Loss;

static void loss_on_event(Event *event, SimTime now_ps)
{
    Loss *loss = EVENT_OWNER(event, Loss, event);
    while (loss->ring.count && timed_packet_peek(&loss->ring)->at_ps <= now_ps) {
        const Packet packet = timed_packet_peek(&loss->ring)->packet;
        timed_packet_drop(&loss->ring);
        gpu_lose(&loss->fabric->gpu[packet.src], packet.txn, now_ps);
    }
    if (loss->ring.count)
        sim_at_key(loss->fabric->sim, event, timed_packet_peek(&loss->ring)->at_ps);
}

static void loss_of_request(Loss *loss, Packet packet, SimTime at_ps)
{
    const guint64 timeout_ps = loss->fabric->spec.fault.request_timeout_ps;
    if (timeout_ps == 0)
        return;
    *timed_packet_push(&loss->ring) = (TimedPacket){MAX(at_ps + timeout_ps, sim_now_ps(loss->fabric->sim)), packet};
    if (loss->ring.count == 1)
        sim_at_key(loss->fabric->sim, &loss->event, timed_packet_peek(&loss->ring)->at_ps);
}

/* The first fault that the link is down by pays. */
static void loss_charge(const Loss *loss, SimTime at_ps)
{
    const FaultPlan *plan = loss->fabric->plan;
    for (guint i = 0; i < plan->items->len; i++) {
        const FaultItem *item = fault_plan_item(plan, i);
        for (guint k = 0; fault_item_is_known(item, at_ps) && k < item->links->len; k++) {
            FaultLink *link = &g_array_index(item->links, FaultLink, k);
            if (link->link == loss->link) {
                link->lost++;
                return;
            }
        }
    }
}

/* A LinkLose. A multicast packet is a request on its way to the switch that replicates it, or a replica. */
static void loss_take(Link *link, Packet packet, SimTime at_ps)
{
    Loss *loss = link->lose_user;
    const gboolean climbs = loss->from && loss->to && !loss->from->spine;
    loss->lost += link->down == LINK_DEAD;
    loss_charge(loss, at_ps);
    if (packet_is_counted(packet))
        reduction_lose_answer(loss->to, packet, at_ps);
    else if (packet_is_multicast(packet) && loss->from && !climbs)
        reduction_lose(loss->from, packet.txn, at_ps);
    else
        loss_of_request(loss, packet, at_ps);
}

static char *loss_cause_text(void *unit)
{
    const Loss *loss = unit;
    return loss->lost ? g_strdup_printf("%s: %s down (fault.link_down, fault.switch_down), %" G_GUINT64_FORMAT
                                        " packets were lost",
                                        loss->link->path, loss->link->down ? "is" : "was", loss->lost)
                      : NULL;
}

static void loss_attach(Fabric *fabric, Loss *loss, Link *link, Switch *from, Switch *to)
{
    *loss = (Loss){.fabric = fabric, .link = link, .from = from, .to = to};
    event_init(&loss->event, loss_on_event);
    link_key_lost(link, &loss->event);
    link->lose = loss_take;
    link->lose_user = loss;
    sim_add_cause(fabric->sim, loss_cause_text, loss);
}

void loss_open(Fabric *fabric)
{
    Loss *loss = fabric->plan->loss = g_new0(Loss, fabric_n_links(fabric));
    for (guint32 g = 0; g < fabric->spec.system.gpus; g++)
        for (guint32 l = 0; l < fabric->links; l++) {
            const guint16 s = fabric->topology->leaf[(gsize)g * fabric->links + l];
            Switch *sw = s == TOPOLOGY_NONE ? NULL : &fabric->sw[s];
            loss_attach(fabric, loss++, &fabric->gpu[g].up[l], NULL, sw);
            loss_attach(fabric, loss++, &fabric->gpu[g].down[l], sw, NULL);
        }
    for (guint32 t = 0; t < fabric->n_trunks; t++) {
        const Trunk *trunk = &g_array_index(fabric->topology->trunks, Trunk, t);
        Switch *leaf = &fabric->sw[trunk->leaf], *spine = &fabric->sw[trunk->spine];
        loss_attach(fabric, loss++, &fabric->trunk[2 * t], leaf, spine);
        loss_attach(fabric, loss++, &fabric->trunk[2 * t + 1], spine, leaf);
    }
    guint32 key = fabric_n_links(fabric) * 8; /* behind those of links */
    for (guint32 s = 0; s < fabric->n_switches; key += fabric->sw[s++].record_max)
        fabric->sw[s].timeout_key = key;
}

void loss_close(Fabric *fabric)
{
    for (guint32 i = 0; fabric->plan->loss && i < fabric_n_links(fabric); i++)
        timed_packet_clear(&fabric->plan->loss[i].ring);
    g_free(fabric->plan->loss);
}
