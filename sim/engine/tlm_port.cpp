/* The SystemC side of the port: sockets, and one thread for each access that is under way to the
 * component. Accesses from the component run on the component's own thread. */
#define SC_INCLUDE_DYNAMIC_PROCESSES
#include <systemc>

#include <tlm>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <vector>

#include <gio/gio.h>

#include "sim/engine/tlm_port.h"

#include "sim/engine/foreign.h"
#include "sim/engine/kernel.h"
#include "sim/engine/sim.h"

using namespace sc_core;

/* An access by the component, from b_transport to its return. */
struct Incoming {
    TlmAccess access; /* first: tlm callbacks get a pointer to it */
    Event begin;      /* the Sim's event in which it is served */
    TlmPort *port;
    sc_event over;
    bool finished;
    bool fine;
};

/* An access to the component: a SystemC thread that serves one after another. */
struct Outgoing {
    Event end;
    TlmPort *port;
    TlmAccess *access;
    Sim *sim;
    sc_event go;
    bool fine;
};

struct TlmPort : sc_module {
    tlm_utils::simple_target_socket_optional<TlmPort, 64> target;
    tlm_utils::simple_initiator_socket_optional<TlmPort, 64> initiator;
    Sim *sim = nullptr;
    TlmPortServe serve = nullptr;
    void *user = nullptr;
    std::vector<Incoming *> incoming_free;
    std::vector<Outgoing *> outgoing_free;

    explicit TlmPort(sc_module_name name) : sc_module(name), target("target"), initiator("initiator")
    {
        target.register_b_transport(this, &TlmPort::transport);
    }
    void transport(tlm::tlm_generic_payload &payload, sc_time &delay);
    void carry(Outgoing *outgoing);
};

/* Waits until the engine is done with this instant. */
static bool enter(Sim *sim)
{
    for (;;) {
        switch (sim != nullptr ? sim_enter(sim) : SIM_ENTRY_CLOSED) {
        case SIM_ENTRY_OPEN: return true;
        case SIM_ENTRY_CLOSED: return false;
        case SIM_ENTRY_LATER: wait(SC_ZERO_TIME);
        }
    }
}

/* ---- the component's accesses ---- */

static void incoming_begin(Event *event, SimTime)
{
    Incoming *incoming = EVENT_OWNER(event, Incoming, begin);
    incoming->port->serve(incoming->port->user, &incoming->access);
}

static void incoming_done(TlmAccess *access, gboolean fine)
{
    Incoming *incoming = reinterpret_cast<Incoming *>(access);

    g_assert(!incoming->finished);
    incoming->finished = true;
    incoming->fine = fine;
    incoming->over.notify(sc_time::from_value(sim_foreign_delay_ps(incoming->port->sim)));
}

/* What this port cannot carry; TLM_OK_RESPONSE: nothing. */
static tlm::tlm_response_status refusal(tlm::tlm_generic_payload &payload)
{
    if (!payload.is_read() && !payload.is_write())
        return tlm::TLM_COMMAND_ERROR_RESPONSE;
    if (payload.get_byte_enable_ptr() != nullptr)
        return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
    if (payload.get_streaming_width() < payload.get_data_length())
        return tlm::TLM_BURST_ERROR_RESPONSE;
    return tlm::TLM_OK_RESPONSE;
}

void TlmPort::transport(tlm::tlm_generic_payload &payload, sc_time &delay)
{
    payload.set_response_status(refusal(payload));
    if (!payload.is_response_ok())
        return;
    wait(delay); /* the component may be ahead of time by this much; we take it at its word */
    delay = SC_ZERO_TIME;
    if (!enter(sim)) {
        payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
        return;
    }
    Incoming *incoming;
    if (incoming_free.empty()) {
        incoming = new Incoming;
    } else {
        incoming = incoming_free.back();
        incoming_free.pop_back();
    }
    incoming->access = TlmAccess{payload.is_read() ? TLM_ACCESS_READ : TLM_ACCESS_WRITE,
                                 payload.get_address(),
                                 payload.get_data_ptr(),
                                 payload.get_data_length(),
                                 incoming_done,
                                 nullptr};
    incoming->port = this;
    incoming->finished = false;
    event_init(&incoming->begin, incoming_begin);
    sim_after(sim, &incoming->begin, 0, EVENT_PRIORITY_FABRIC);
    sim_leave();
    while (!incoming->finished)
        wait(incoming->over);
    payload.set_response_status(incoming->fine ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
    incoming_free.push_back(incoming);
}

/* ---- accesses to the component ---- */

static void outgoing_end(Event *event, SimTime)
{
    Outgoing *outgoing = EVENT_OWNER(event, Outgoing, end);
    TlmAccess *access = outgoing->access;
    bool fine = outgoing->fine;

    outgoing->port->outgoing_free.push_back(outgoing);
    access->done(access, fine);
}

void TlmPort::carry(Outgoing *outgoing)
{
    for (;;) {
        wait(outgoing->go);
        TlmAccess *access = outgoing->access;
        tlm::tlm_generic_payload payload;
        sc_time delay = SC_ZERO_TIME;
        payload.set_command(access->kind == TLM_ACCESS_READ ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND);
        payload.set_address(access->address);
        payload.set_data_ptr(access->data);
        payload.set_data_length(access->bytes);
        payload.set_streaming_width(access->bytes);
        if (initiator.size() > 0)
            initiator->b_transport(payload, delay);
        wait(delay);
        outgoing->fine = payload.is_response_ok();
        if (sim == outgoing->sim && enter(sim)) {
            event_init(&outgoing->end, outgoing_end);
            sim_after(sim, &outgoing->end, 0, EVENT_PRIORITY_FABRIC);
            sim_leave();
        } else {
            outgoing_free.push_back(outgoing); /* the Sim is gone, and who asked with it */
        }
    }
}

void tlm_port_access(TlmPort *port, TlmAccess *access)
{
    Outgoing *outgoing;

    if (port->outgoing_free.empty()) {
        outgoing = new Outgoing;
        outgoing->port = port;
        sc_spawn([port, outgoing] { port->carry(outgoing); }, sc_gen_unique_name("fanout_tlm"));
    } else {
        outgoing = port->outgoing_free.back();
        port->outgoing_free.pop_back();
    }
    outgoing->access = access;
    outgoing->sim = port->sim;
    outgoing->go.notify(sc_time::from_value(sim_foreign_delay_ps(port->sim)));
}

/* ---- life ---- */

TlmPort *tlm_port_new(const char *name, GError **error)
{
    kernel_init();
    try {
        return new TlmPort(name);
    } catch (const std::exception &problem) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED, "TLM port '%s': %s", name, problem.what());
        return nullptr;
    }
}

void tlm_port_attach(TlmPort *port, Sim *sim, TlmPortServe serve, void *user)
{
    port->sim = sim;
    port->serve = serve;
    port->user = user;
}

tlm::tlm_base_target_socket_b<64> &tlm_port_target_socket(TlmPort *port) { return port->target; }

tlm::tlm_base_initiator_socket_b<64> &tlm_port_initiator_socket(TlmPort *port) { return port->initiator; }
