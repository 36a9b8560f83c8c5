/* The fabric's side of model/switch/component.h: packets and tables as a component sees them. */
#include <dlfcn.h>
#include <string.h>

#include "model/memory/numeric.h"
#include "model/switch/component.h"
#include "model/switch/record.h"
#include "sim/engine/foreign.h"

G_STATIC_ASSERT((int)FO_PACKET_MC_DONE == (int)PACKET_MC_DONE);
G_STATIC_ASSERT((int)FO_PACKET_READ_RSP == (int)PACKET_READ_RSP);
G_STATIC_ASSERT(sizeof((FoPacket *)NULL)->data == LINE_BYTES);
G_STATIC_ASSERT((int)FO_ENTRY_LATER == (int)SIM_ENTRY_LATER && (int)FO_ENTRY_CLOSED == (int)SIM_ENTRY_CLOSED);

/* A switch that is a component's: Switch.component. */
struct SwitchComponent {
    FoSwitch face; /* first: what the component has */
    Switch *sw;
    const FoComponent *table;
    void *self;
    unsigned *gpu, *link;
    GQueue *sent[VCS];    /* by port: tokens of what waits there */
    guint32 *number_free; /* of records that are not in use */
    guint32 n_free;
};

static SwitchComponent *component_of(const FoSwitch *face) { return (SwitchComponent *)(gpointer)face; }

/* ---- packets */

/* A member's operand leaves the shared table with its answer. */
static void component_take_operand(Switch *sw, Packet packet, FoPacket *to)
{
    McRequest *request = &sw->requests->request[packet.txn];
    guint32 *slot = &mcrequests_operands(sw->requests, packet.txn)[packet.dst];
    if (*slot == 0)
        return;
    to->bytes = request->bytes;
    memcpy(to->data, data_at(sw->data, *slot), request->bytes);
    data_give(sw->data, *slot);
    *slot = 0;
    request->operands--;
}

static void component_on_packet(void *node, Link *from, Packet packet, SimTime now_ps)
{
    Switch *sw = ((SwitchPort *)node)->sw;
    SwitchComponent *component = sw->component;
    FoPacket to = {.kind = packet.kind,
                   .flits = packet.flits,
                   .src = packet.src,
                   .dst = packet.dst,
                   .number = packet.txn,
                   .answer_flits = packet.answer_flits,
                   .hint = packet.place};
    (void)now_ps;
    if (packet.kind == PACKET_MC_OPERAND)
        component_take_operand(sw, packet, &to);
    component->table->accept(component->self, from->sink_port, &to);
}

static void component_send(const FoSwitch *face, unsigned port, const FoPacket *from, guint64 not_before_ps,
                           void *token)
{
    SwitchComponent *component = component_of(face);
    const SwitchPort *to = &component->sw->port[port];
    const gboolean replica = from->kind >= FO_PACKET_MC_WRITE && from->kind <= FO_PACKET_MC_READ;
    Packet packet = packet_new((PacketKind)from->kind, from->number, from->src, replica ? to->gpu : from->dst,
                               from->flits);
    g_assert(port < component->sw->ports && from->kind <= FO_PACKET_MC_DONE);
    packet.answer_flits = (guint8)from->answer_flits;
    packet.place = (guint8)from->hint;
    packet.link = to->link;
    g_queue_push_tail(&component->sent[packet_vc(&packet)][port], token);
    link_push(component->sw->out[port], packet, not_before_ps);
}

/* The first packet of a queue has left it. */
static void component_on_drained(void *node, Link *link, Vc vc)
{
    SwitchComponent *component = ((Switch *)node)->component;
    void *token = g_queue_pop_head(&component->sent[vc][link->source_port]);
    if (token && component->table->departed)
        component->table->departed(component->self, token);
}

static void component_release(const FoSwitch *face, unsigned port, unsigned channel, unsigned flits)
{
    Switch *sw = component_of(face)->sw;
    g_assert(port < sw->ports && channel < VCS);
    link_credit(sw->in[port], (Vc)channel, flits, sim_now_ps(sw->sim));
}

static guint64 component_now_ps(const FoSwitch *face) { return sim_now_ps(component_of(face)->sw->sim); }

static unsigned component_route(const FoSwitch *face, unsigned port, unsigned gpu)
{
    const Switch *sw = component_of(face)->sw;
    return switch_port_of(sw, gpu, sw->port[port].rail);
}

/* ---- requests of teams */

static unsigned component_team(const FoSwitch *face, unsigned port, const FoPacket *request, unsigned *members)
{
    const Switch *sw = component_of(face)->sw;
    const McEntry *entry = &sw->table.entry[request->dst];
    for (guint32 m = 0; entry->valid && m < entry->n_members; m++)
        members[m] = switch_port_of(sw, entry->member[m], sw->port[port].rail);
    return entry->valid ? entry->n_members : 0;
}

static unsigned component_open(const FoSwitch *face, const FoPacket *packet)
{
    SwitchComponent *component = component_of(face);
    Switch *sw = component->sw;
    const Txn *txn = txn_at(&sw->fabric->txns[packet->src], packet->number);
    if (component->n_free == 0)
        return 0;
    const guint32 number = component->number_free[--component->n_free];
    sw->record[number].read = packet->kind == FO_PACKET_MC_READ;
    sw->requests->request[number] = (McRequest){.offset = txn->offset,
                                                .object = txn->object,
                                                .data = txn->data,
                                                .txn = packet->number,
                                                .src = (guint16)packet->src,
                                                .bytes = txn->bytes,
                                                .answer_flits = (guint8)packet->answer_flits,
                                                .plain = txn_is_plain(txn)};
    return number;
}

static Txn *component_txn(const Switch *sw, unsigned number)
{
    const McRequest *request = &sw->requests->request[number];
    return txn_at(&sw->fabric->txns[request->src], request->txn);
}

static void component_sum(const FoSwitch *face, unsigned number, const guint8 *const *operand, unsigned n,
                          guint8 *result)
{
    const Txn *txn = component_txn(component_of(face)->sw, number);
    NumericAcc acc;
    numeric_clear(&acc, (NumericPrecision)txn->acc);
    for (unsigned i = 0; i < n; i++)
        numeric_accumulate(&acc, (NumericType)txn->type, (NumericOp)txn->op, operand[i], txn->bytes);
    numeric_finish(&acc, (NumericType)txn->type, result, txn->bytes);
}

static void component_close(const FoSwitch *face, unsigned number, const guint8 *sum)
{
    SwitchComponent *component = component_of(face);
    Switch *sw = component->sw;
    const McRequest *request = &sw->requests->request[number];
    Txn *txn = component_txn(sw, number);
    txn->state = MAX(txn->state, request->state);
    if (!sw->record[number].read && request->data) {
        data_give(sw->data, request->data);
        txn->data = 0;
    } else if (sum) {
        txn->data = data_take(sw->data);
        memcpy(data_at(sw->data, txn->data), sum, txn->bytes);
    }
    component->number_free[component->n_free++] = number;
}

/* ---- SystemC */

static FoEntry component_enter(const FoSwitch *face) { return (FoEntry)sim_enter(component_of(face)->sw->sim); }
static guint64 component_delay_ps(const FoSwitch *face) { return sim_foreign_delay_ps(component_of(face)->sw->sim); }

/* ---- life */

guint32 component_in_use(const Switch *sw) { return sw->component ? sw->record_max - 1 - sw->component->n_free : 0; }

gboolean component_load(const char *path, const FoComponent **component, GError **error)
{
    *component = NULL;
    if (!path || !*path || strcmp(path, "none") == 0)
        return TRUE;
    g_autofree char *plain = strchr(path, '/') ? g_strdup(path) : g_strconcat("./", path, NULL);
    void *library = dlopen(plain, RTLD_NOW | RTLD_LOCAL);
    const FoComponent *table = library ? dlsym(library, "fo_component") : NULL;
    if (!table)
        g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE, "[switch] component: %s",
                    library ? "it does not define fo_component (fanout/component.h)" : dlerror());
    else if (table->version != FO_COMPONENT_VERSION || !table->begin || !table->accept)
        g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE,
                    "[switch] component: '%s' was built for version %u of "
                    "fanout/component.h, and this fanout has version %u",
                    path, table->version, FO_COMPONENT_VERSION);
    else
        *component = table;
    return *component != NULL;
}

static void component_describe(SwitchComponent *component)
{
    Switch *sw = component->sw;
    component->gpu = g_new(unsigned, sw->ports);
    component->link = g_new(unsigned, sw->ports);
    for (guint32 p = 0; p < sw->ports; p++) {
        component->gpu[p] = sw->port[p].gpu;
        component->link[p] = sw->port[p].link;
    }
    component->face = (FoSwitch){.id = sw->id,
                                 .switches = sw->fabric->n_switches,
                                 .ports = sw->ports,
                                 .gpu = component->gpu,
                                 .link = component->link,
                                 .done_flits = (unsigned)sw->spec->done_flits,
                                 .now_ps = component_now_ps,
                                 .release = component_release,
                                 .send = component_send,
                                 .route = component_route,
                                 .team = component_team,
                                 .open = component_open,
                                 .sum = component_sum,
                                 .close = component_close,
                                 .enter = component_enter,
                                 .leave = sim_leave,
                                 .delay_ps = component_delay_ps};
}

gboolean component_attach(Switch *sw, const FoComponent *table, GError **error)
{
    SwitchComponent *component = sw->component = g_new0(SwitchComponent, 1);
    component->sw = sw;
    component->table = table;
    component->number_free = g_new(guint32, sw->record_max);
    for (guint32 number = sw->record_max; --number > 0;)
        component->number_free[component->n_free++] = number;
    for (guint v = 0; v < VCS; v++)
        component->sent[v] = g_new0(GQueue, sw->ports);
    component_describe(component);
    for (guint32 p = 0; p < sw->ports; p++) {
        sw->in[p]->sink = component_on_packet;
        sw->out[p]->drained = component_on_drained;
        for (guint v = 0; v < VCS; v++)
            link_set_low_water(sw->out[p], (Vc)v, G_MAXUINT32);
    }
    component->self = table->begin(&component->face);
    if (!component->self)
        g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE,
                    "[switch] component: %s cannot be %s: SystemC modules are made before the first simulation of a "
                    "process, for as many switches and ports as that one has",
                    table->name, sw->path);
    return component->self != NULL;
}

void component_detach(Switch *sw)
{
    SwitchComponent *component = sw->component;
    if (!component)
        return;
    if (component->self && component->table->end)
        component->table->end(component->self);
    for (guint v = 0; v < VCS; v++) {
        for (guint32 p = 0; p < sw->ports; p++)
            g_queue_clear(&component->sent[v][p]);
        g_free(component->sent[v]);
    }
    g_free(component->number_free);
    g_free(component->gpu);
    g_free(component->link);
    g_free(component);
    sw->component = NULL;
}
