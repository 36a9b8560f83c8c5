/* A TLM-2.0 port into a simulation, for a SystemC component of the user's own.
 *
 * The component reads and writes what is behind the port (the fabric) through a target socket, and
 * serves accesses that come from there through an initiator socket; both are loosely timed
 * (b_transport), 64 bits wide, and may stay unbound. On the other side of the port is plain C:
 * callbacks in events.
 *
 * Times meet exactly: the engine never runs ahead of a component's next activity, and at one
 * picosecond its own events come first. A component with a free-running clock is always due:
 * sim_run() then ends only at its limit. The component must not call other functions of this
 * engine.
 *
 * SystemC wants all components built before time first moves: make ports and components before the
 * first sim_run() of the program. They live as long as the program; a port serves one Sim after
 * another. */
#ifndef SIM_ENGINE_TLM_PORT_H
#define SIM_ENGINE_TLM_PORT_H

#include <glib.h>

G_BEGIN_DECLS

typedef struct Sim Sim;
typedef struct TlmPort TlmPort;

typedef enum { TLM_ACCESS_READ, TLM_ACCESS_WRITE } TlmAccessKind;

typedef struct TlmAccess TlmAccess;
struct TlmAccess {
    TlmAccessKind kind;
    guint64 address;
    guint8 *data; /* WRITE: what to write; READ: to be filled */
    guint32 bytes;
    /* Called in an event when the access is over. FALSE: refused, data means nothing. */
    void (*done)(TlmAccess *access, gboolean fine);
    void *user;
};

/* The component's accesses: called in an event (EVENT_PRIORITY_FABRIC) when one begins. The callee
 * calls access->done when it is over, at once or from any later event; data stays valid until
 * then. */
typedef void (*TlmPortServe)(void *user, TlmAccess *access);

/* name is the SystemC module's. Error: time has moved already. */
TlmPort *tlm_port_new(const char *name, GError **error);
/* From now on the port belongs to sim (NULL: to none; before sim_free()). */
void tlm_port_attach(TlmPort *port, Sim *sim, TlmPortServe serve, void *user);

/* An access to the component, from an event of the Sim: it begins now, and done is called when the
 * component has answered. access must live until then. Refused when no component is bound. */
void tlm_port_access(TlmPort *port, TlmAccess *access);

G_END_DECLS

#ifdef __cplusplus
#include <tlm>

/* What the component binds its own sockets to: dma.initiator.bind(tlm_port_target_socket(port)). */
tlm::tlm_base_target_socket_b<64> &tlm_port_target_socket(TlmPort *port);
tlm::tlm_base_initiator_socket_b<64> &tlm_port_initiator_socket(TlmPort *port);
#endif

#endif
