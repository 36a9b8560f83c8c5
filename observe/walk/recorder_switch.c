/* A recorder's switches: packets that are held, answers that are gathered, tags and operand buffers in use; and the
 * kinds of packets. See recorder.h. */
#include "observe/walk/internal.h"
#include "observe/walk/recorder_parts.h"

static const char *const switch_slots[] = {"pipeline", "held", "port queue", "gathering", NULL};

GArray *recorder_open_list(void) { return g_array_new(FALSE, FALSE, sizeof(Open)); }

void recorder_hub_free(Hub *hub)
{
    if (!hub)
        return;
    g_array_free(hub->held, TRUE);
    g_array_free(hub->gathered, TRUE);
    g_free(hub);
}

Hub *recorder_hub(Recorder *recorder, const Switch *sw)
{
    if (recorder->hub[sw->id])
        return recorder->hub[sw->id];
    Hub *hub = recorder->hub[sw->id] = g_new0(Hub, 1);
    hub->sw = sw;
    hub->place = scene_add_place(recorder->scene, sw->path, sw->spine ? 2 : 1, switch_slots);
    hub->held = recorder_open_list();
    hub->gathered = recorder_open_list();
    hub->tags = hub->buffer = hub->answers = RECORDER_NONE;
    return hub;
}

guint recorder_kind(Recorder *recorder, const Packet *packet, gboolean replica)
{
    static const char *const sign[PACKET_KINDS] = {
        [PACKET_READ] = "R",          [PACKET_WRITE] = "W",   [PACKET_RED] = "+",     [PACKET_ATOM] = "A",
        [PACKET_MC_WRITE] = "W",      [PACKET_MC_RED] = "+",  [PACKET_MC_READ] = "R", [PACKET_READ_RSP] = "D",
        [PACKET_ATOM_RSP] = "D",      [PACKET_ACK] = "a",     [PACKET_MC_ACK] = "a",  [PACKET_MC_OPERAND] = "o",
        [PACKET_MC_RSP] = "\xce\xa3", [PACKET_MC_DONE] = "n",
    };
    guint *kind = &recorder->kind[packet->kind][replica];
    if (*kind == RECORDER_NONE) {
        gboolean gathered = packet->kind == PACKET_MC_RSP || packet->kind == PACKET_MC_DONE;
        guint role = replica ? 1 : packet_vc(packet) == VC_CREQ ? 0 : gathered ? 3 : 2;
        g_autofree char *lower = g_utf8_strdown(sign[packet->kind], -1);
        g_autofree char *name = g_strconcat(replica ? "replica of the " : "", walk_cargo(packet), NULL);
        *kind = scene_add_kind(recorder->scene, replica ? lower : sign[packet->kind], name, role);
    }
    return *kind;
}

static void hub_set(Recorder *recorder, guint *gauge, const Hub *hub, const char *name, const char *unit, guint64 most,
                    gint64 *now, gint64 value, SimTime at_ps)
{
    if (*gauge == RECORDER_NONE && value == 0)
        return;
    if (*gauge == RECORDER_NONE)
        *gauge = scene_add_gauge(recorder->scene, hub->sw->path, name, unit, most, 0);
    if (value != *now)
        scene_add_change(recorder->scene, *gauge, at_ps, value - *now);
    *now = value;
}

/* Tags and operand buffers of all its ports together. */
static void hub_look(Recorder *recorder, Hub *hub, SimTime at_ps)
{
    const SwitchSpec *spec = hub->sw->spec;
    guint64 tags = 0, bytes = 0;
    for (guint32 p = 0; p < hub->sw->ports; p++) {
        const SwitchPort *port = &hub->sw->port[p];
        tags += spec->multicast_tags - port->multicast_tags + spec->reduction_tags - port->reduction_tags;
        bytes += spec->reduction_buffer_bytes - port->reduction_bytes;
    }
    hub_set(recorder, &hub->tags, hub, "tags in use", "tags", 0, &hub->tags_now, (gint64)tags, at_ps);
    hub_set(recorder, &hub->buffer, hub, "operand buffer in use", "B", 0, &hub->buffer_now, (gint64)bytes, at_ps);
}

static void hub_close(Recorder *recorder, Hub *hub, GArray *list, guint slot, const Packet *packet, gboolean all,
                      SimTime at_ps)
{
    for (guint i = 0; i < list->len;) {
        const Open *open = &g_array_index(list, Open, i);
        if (open->txn != packet->txn || (!all && open->src != packet->src)) {
            i++;
            continue;
        }
        scene_add_stay(recorder->scene, hub->place, slot, open->kind, open->at_ps, at_ps);
        if (all)
            scene_add_change(recorder->scene, hub->answers, at_ps, -1);
        g_array_remove_index(list, i);
    }
}

void recorder_note_hub(Recorder *recorder, const ProbeEvent *event, SimTime at_ps)
{
    const Packet *packet = event->packet;
    Hub *hub = recorder_hub(recorder, event->sw);
    Open open = {at_ps, 0, packet->src, packet->txn};
    switch (event->stage) {
    case PROBE_HELD:
        open.kind = recorder_kind(recorder, packet, FALSE);
        g_array_append_val(hub->held, open);
        break;
    case PROBE_GATHER:
        open.kind = recorder_kind(recorder, packet, FALSE);
        g_array_append_val(hub->gathered, open);
        if (hub->answers == RECORDER_NONE)
            hub->answers = scene_add_gauge(recorder->scene, hub->sw->path, "answers gathered", "packets", 0, 0);
        scene_add_change(recorder->scene, hub->answers, at_ps, 1);
        break;
    case PROBE_FREE:
        hub_close(recorder, hub, hub->gathered, SWITCH_GATHER, packet, TRUE, at_ps);
        hub_look(recorder, hub, at_ps);
        break;
    default: /* it goes on */
        hub_close(recorder, hub, hub->held, SWITCH_HELD, packet, FALSE, at_ps);
        hub_look(recorder, hub, at_ps);
    }
}
