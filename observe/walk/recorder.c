#include <string.h>

#include "observe/walk/recorder_parts.h"

#define RECORDER_ALL_SWITCHES 8u

enum { GPU_OUT, GPU_QUEUE, GPU_L2, GPU_IN };
static const char *const gpu_slots[] = {"SM to port", "port queue", "L2", "to SM", NULL};
static const char *const channel_names[VCS] = {"CREQ0", "RSP0"};

/* A direction of a link. */
typedef struct Port {
    const Link *link;
    guint line, from, to;
    gboolean from_gpu, to_gpu;
    SimTime flight_ps;
    GArray *waiting[VCS];           /* Open: in the port's queue */
    GArray *serving;                /* Open: requests that arrived at the GPU, and are not answered yet */
    guint queue[VCS], credits[VCS]; /* gauges */
} Port;

/* ---- parts of the scene */

static void port_free(Port *port)
{
    if (!port)
        return;
    for (guint v = 0; v < VCS; v++)
        g_array_free(port->waiting[v], TRUE);
    g_array_free(port->serving, TRUE);
    g_free(port);
}

static guint recorder_gpu(Recorder *recorder, guint32 gpu)
{
    if (recorder->gpu_place[gpu] == RECORDER_NONE)
        recorder->gpu_place[gpu] = scene_add_place(recorder->scene, recorder->fabric->gpu[gpu].path, 0, gpu_slots);
    return recorder->gpu_place[gpu];
}

/* That the sender has, though it may not have looked at them yet. */
static gint64 port_credits(const Link *link, guint v, SimTime now_ps)
{
    gint64 credits = link->credits[v];
    for (guint32 i = 0; i < link->returning[v].count; i++) {
        const LinkReturn *credit = link_return_nth(&link->returning[v], i);
        credits += credit->at_ps <= now_ps ? credit->flits : 0;
    }
    return credits;
}

static void port_add_gauges(Recorder *recorder, Port *port)
{
    for (guint v = 0; v < VCS; v++) {
        guint64 all = port->to_gpu ? recorder->fabric->spec.link.credits_gpu_flits
                                   : recorder->fabric->spec.link.credits_switch_flits;
        gint64 now = port_credits(port->link, v, sim_now_ps(recorder->fabric->sim));
        g_autofree char *queue = g_strdup_printf("%s queue", channel_names[v]);
        g_autofree char *credits = g_strdup_printf("%s credits", channel_names[v]);
        port->queue[v] = scene_add_gauge(recorder->scene, port->link->path, queue, "packets", 0, 0);
        port->credits[v] = scene_add_gauge(recorder->scene, port->link->path, credits, "flits", all, (guint64)now);
    }
}

static Port *recorder_port(Recorder *recorder, const Link *link)
{
    Port **known = &recorder->port[fabric_link_number(recorder->fabric, link)];
    if (*known)
        return *known;
    gboolean up;
    const guint32 gpu = fabric_link_gpu(recorder->fabric, link, &up);
    Port *port = *known = g_new0(Port, 1);
    port->link = link;
    port->from_gpu = gpu != VAS_GPUS_MAX && up;
    port->to_gpu = gpu != VAS_GPUS_MAX && !up;
    port->from = port->from_gpu ? recorder_gpu(recorder, gpu) : recorder_hub(recorder, link->source_node)->place;
    port->to = port->to_gpu ? recorder_gpu(recorder, gpu)
                            : recorder_hub(recorder, ((const SwitchPort *)link->sink_node)->sw)->place;
    const FabricSpec *spec = &recorder->fabric->spec;
    port->flight_ps = gpu == VAS_GPUS_MAX ? link->delay_ps[VC_CREQ] - spec->sw.latency_ps : spec->link.flight_ps;
    port->line = scene_add_line(recorder->scene, link->path, port->from, port->to);
    port->serving = recorder_open_list();
    for (guint v = 0; v < VCS; v++)
        port->waiting[v] = recorder_open_list();
    port_add_gauges(recorder, port);
    return port;
}

/* ---- what is seen */

SimTime recorder_before_wire_ps(const Fabric *fabric, const Link *link, const Packet *packet)
{
    gboolean up;
    const guint32 gpu = fabric_link_gpu(fabric, link, &up);
    if (gpu == VAS_GPUS_MAX || !up)
        return 0;
    return packet_vc(packet) == VC_CREQ ? fabric->spec.gpu.out_ps : fabric->gpu[gpu].spec->l2_ps;
}

/* It is a replica from where the switch made it on. */
static gboolean port_carries_replica(const Port *port, const Packet *packet)
{
    const gboolean down = port->to_gpu || (!port->from_gpu && ((const Switch *)port->link->source_node)->spine);
    return down && packet_is_multicast(*packet);
}

/* An answer leaves the L2: so do the requests that it answers. */
static void recorder_note_answered(Recorder *recorder, Port *up, const Packet *packet, SimTime at_ps)
{
    /* the down link beside it, if it carried anything */
    Port *down = recorder->port[fabric_link_number(recorder->fabric, up->link) + recorder->fabric->links];
    while (down && down->serving->len) {
        const Open *open = &g_array_index(down->serving, Open, 0);
        if (open->at_ps > at_ps)
            return;
        scene_add_stay(recorder->scene, up->from, GPU_L2, open->kind, open->at_ps, at_ps);
        g_array_remove_index(down->serving, 0);
        if (packet->kind != PACKET_ACK)
            return;
    }
}

static void recorder_note_port(Recorder *recorder, const ProbeEvent *event, SimTime at_ps)
{
    const Packet *packet = event->packet;
    Port *port = recorder_port(recorder, event->link);
    const Vc v = packet_vc(packet);
    Open open = {at_ps, recorder_kind(recorder, packet, port_carries_replica(port, packet)), packet->src, packet->txn};
    g_array_append_val(port->waiting[v], open);
    scene_add_change(recorder->scene, port->queue[v], at_ps, 1);
    if (port->from_gpu && v == VC_RSP)
        recorder_note_answered(recorder, port, packet, at_ps);
}

static void recorder_note_wire(Recorder *recorder, const ProbeEvent *event, SimTime at_ps)
{
    const Packet *packet = event->packet;
    Port *port = recorder_port(recorder, event->link);
    const Vc v = packet_vc(packet);
    const guint kind = recorder_kind(recorder, packet, port_carries_replica(port, packet));
    const SimTime flight_ps = port->flight_ps;
    const SimTime before_ps = recorder_before_wire_ps(recorder->fabric, port->link, packet);
    const SimTime serial_ps = simfine_to_ps(port->link->free_at) - event->at_ps;
    const SimTime arrive_ps = at_ps + serial_ps + port->link->delay_ps[v];
    if (port->waiting[v]->len) {
        scene_add_stay(recorder->scene, port->from, port->from_gpu ? GPU_QUEUE : SWITCH_QUEUE, kind,
                       g_array_index(port->waiting[v], Open, 0).at_ps, at_ps);
        g_array_remove_index(port->waiting[v], 0);
        scene_add_change(recorder->scene, port->queue[v], at_ps, -1);
    }
    scene_add_change(recorder->scene, port->credits[v], at_ps, -(gint64)packet->flits);
    scene_add_stay(recorder->scene, port->from, v == VC_CREQ ? GPU_OUT : GPU_L2, kind, at_ps, at_ps + before_ps);
    scene_add_move(recorder->scene, port->line, kind, packet->flits, at_ps + before_ps, serial_ps, flight_ps);
    scene_add_stay(recorder->scene, port->to, port->to_gpu ? GPU_IN : SWITCH_PIPELINE, kind,
                   at_ps + before_ps + serial_ps + flight_ps, arrive_ps);
    if (port->to_gpu && v == VC_CREQ) {
        Open open = {arrive_ps, kind, packet->src, packet->txn};
        g_array_append_val(port->serving, open);
    }
    recorder->packets++;
}

void recorder_note(Recorder *recorder, const ProbeEvent *event)
{
    if (!recorder->begun || recorder->packets >= recorder->max_packets)
        return;
    const SimTime since_ps = event->at_ps - recorder->start_ps;
    switch (event->stage) {
    case PROBE_QUEUE: /* at_ps is when it may leave */
        recorder_note_port(recorder, event, sim_now_ps(recorder->fabric->sim) - recorder->start_ps);
        break;
    case PROBE_WIRE: recorder_note_wire(recorder, event, since_ps); break;
    case PROBE_CREDIT:
        scene_add_change(recorder->scene, recorder_port(recorder, event->link)->credits[packet_vc(event->packet)],
                         since_ps, event->packet->flits);
        break;
    case PROBE_HELD:
    case PROBE_ROUTE:
    case PROBE_TABLE:
    case PROBE_GATHER:
    case PROBE_FREE: recorder_note_hub(recorder, event, since_ps); break;
    default: break;
    }
}

void recorder_add_step(Recorder *recorder, SimTime at_ps, guint depth, const char *unit, const char *text,
                       const char *file)
{
    scene_add_step(recorder->scene, at_ps, depth, unit, text, file);
}

/* ---- life */

static void recorder_add_wires(Recorder *recorder)
{
    const Topology *topology = recorder->fabric->topology;
    for (guint32 g = 0; g < topology->gpus; g++)
        recorder_gpu(recorder, g);
    for (guint32 s = 0; s < recorder->fabric->n_switches; s++)
        recorder_hub(recorder, &recorder->fabric->sw[s]);
    for (guint32 g = 0; g < topology->gpus; g++)
        for (guint32 l = 0; l < topology->links; l++) {
            guint16 leaf = topology->leaf[(gsize)g * topology->links + l];
            gboolean new = leaf != TOPOLOGY_NONE;
            for (guint32 before = 0; before < l; before++)
                new &= topology->leaf[(gsize)g * topology->links + before] != leaf;
            if (new)
                scene_add_wire(recorder->scene, recorder_gpu(recorder, g),
                               recorder_hub(recorder, &recorder->fabric->sw[leaf])->place);
        }
    for (guint i = 0; i < topology->trunks->len; i++) {
        const Trunk *trunk = &g_array_index(topology->trunks, Trunk, i);
        scene_add_wire(recorder->scene, recorder_hub(recorder, &recorder->fabric->sw[trunk->leaf])->place,
                       recorder_hub(recorder, &recorder->fabric->sw[trunk->spine])->place);
    }
}

Recorder *recorder_new(const Fabric *fabric, const char *title, guint max_packets)
{
    Recorder *recorder = g_new0(Recorder, 1);
    const guint32 gpus = (guint32)fabric->spec.system.gpus;
    recorder->fabric = fabric;
    recorder->scene = scene_new(title);
    recorder->max_packets = max_packets;
    recorder->port = g_new0(Port *, fabric_n_links(fabric));
    recorder->hub = g_new0(Hub *, fabric->n_switches);
    recorder->gpu_place = g_new(guint, gpus);
    memset(recorder->gpu_place, 0xff, gpus * sizeof *recorder->gpu_place); /* RECORDER_NONE */
    memset(recorder->kind, 0xff, sizeof recorder->kind);
    if (gpus <= RECORDER_ALL_GPUS && fabric->n_switches <= RECORDER_ALL_SWITCHES)
        recorder_add_wires(recorder);
    return recorder;
}

/* Packets that wait at a port already, and credits that are on their way to it. */
static void recorder_take_stock(Recorder *recorder, const Link *link)
{
    if (!link_waits(link) && !link->returning[VC_CREQ].count && !link->returning[VC_RSP].count)
        return;
    Port *port = recorder_port(recorder, link);
    for (guint v = 0; v < VCS; v++) {
        for (guint32 i = 0; i < link->queue[v].count; i++) {
            const Packet *packet = packet_ring_nth(&link->queue[v], i);
            Open open = {0, recorder_kind(recorder, packet, port_carries_replica(port, packet)), packet->src,
                         packet->txn};
            g_array_append_val(port->waiting[v], open);
        }
        scene_add_change(recorder->scene, port->queue[v], 0, link->queue[v].count);
        for (guint32 i = 0; i < link->returning[v].count; i++) {
            const LinkReturn *credit = link_return_nth(&link->returning[v], i);
            if (credit->at_ps > recorder->start_ps)
                scene_add_change(recorder->scene, port->credits[v], credit->at_ps - recorder->start_ps, credit->flits);
        }
    }
}

void recorder_begin(Recorder *recorder, SimTime at_ps)
{
    const Fabric *fabric = recorder->fabric;
    recorder->begun = TRUE;
    recorder->start_ps = at_ps;
    for (guint32 n = 0; n < fabric_n_links(fabric); n++)
        recorder_take_stock(recorder, fabric_link_at(fabric, n));
}

Scene *recorder_finish(Recorder *recorder)
{
    Scene *scene = recorder->scene;
    const Fabric *fabric = recorder->fabric;
    GString *note = g_string_new("CREQ0 is the virtual channel of requests, RSP0 that of responses. A port spends "
                                 "credits as it decides; stages of constant latency that lie between that and the "
                                 "wire are drawn behind it. ");
    if (recorder->packets >= recorder->max_packets)
        g_string_append_printf(note, "Only the first %u packets on links are drawn. ", recorder->max_packets);
    if (fabric->spec.system.gpus > RECORDER_ALL_GPUS || fabric->n_switches > RECORDER_ALL_SWITCHES)
        g_string_append_printf(note, "Only what packets pass is drawn, of %" G_GUINT64_FORMAT " GPUs and %u switches. ",
                               fabric->spec.system.gpus, fabric->n_switches);
    scene_set_note(scene, g_strchomp(note->str));
    g_string_free(note, TRUE);
    for (guint32 n = 0; n < fabric_n_links(fabric); n++)
        port_free(recorder->port[n]);
    for (guint32 s = 0; s < fabric->n_switches; s++)
        recorder_hub_free(recorder->hub[s]);
    g_free(recorder->port);
    g_free(recorder->hub);
    g_free(recorder->gpu_place);
    g_free(recorder);
    return scene;
}
