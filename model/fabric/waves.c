/* See waves.h. */
#include "model/fabric/waves.h"

#include "model/switch/switch.h"
#include "sim/engine/trace.h"

#define TAG_BITS 16
#define QUEUE_BITS 16
#define CREDIT_BITS 16

static void waves_u32(Sim *sim, const char *path, const char *name, const guint32 *value, int bits)
{
    g_autofree char *whole = g_strdup_printf("%s.%s", path, name);
    sim_trace_u32(sim, whole, value, bits);
}

static void waves_link(Sim *sim, const Link *link)
{
    g_autofree char *state = g_strdup_printf("%s.state", link->path);
    waves_u32(sim, link->path, "request_queue_packets", &link->queue[VC_CREQ].count, QUEUE_BITS);
    waves_u32(sim, link->path, "answer_queue_packets", &link->queue[VC_RSP].count, QUEUE_BITS);
    waves_u32(sim, link->path, "request_credits_flits", (const guint32 *)&link->credits[VC_CREQ], CREDIT_BITS);
    waves_u32(sim, link->path, "answer_credits_flits", (const guint32 *)&link->credits[VC_RSP], CREDIT_BITS);
    sim_trace_u8(sim, state, &link->down, 2);
}

static void waves_port(Sim *sim, const char *path, const SwitchPort *port)
{
    g_autofree char *bytes = g_strdup_printf("%s.reduction_free_bytes", path);
    waves_u32(sim, path, "multicast_tags_free", &port->multicast_tags, TAG_BITS);
    waves_u32(sim, path, "reduction_tags_free", &port->reduction_tags, TAG_BITS);
    waves_u32(sim, path, "waiting_requests", &port->wait.count, QUEUE_BITS);
    sim_trace_u64(sim, bytes, &port->reduction_bytes, 32);
}

void fabric_trace(Fabric *fabric)
{
    for (guint32 n = 0; n < fabric_n_links(fabric); n++)
        waves_link(fabric->sim, fabric_link_at(fabric, n));
    for (guint32 s = 0; s < fabric->n_switches; s++) {
        const Switch *sw = &fabric->sw[s];
        for (guint32 p = 0; p < sw->ports; p++) {
            g_autofree char *path = g_strdup_printf("%s.port%u", sw->path, p);
            waves_port(fabric->sim, path, &sw->port[p]);
        }
    }
    stat_trace(fabric->stats, fabric->sim);
}
