/* A switch of one's own in the place of the built-in one: the boundary between the fabric and a switch, as functions.
 *
 *     [switch]
 *     component = ./mine.so        a shared object that defines fo_component; or none
 *
 * Every switch of the system is then the component's. Links stay the fabric's: a packet that has crossed the wire (and
 * the fixed latency of a switch) is given to the component, with the room that it takes in the buffer of its port; the
 * component gives that room back when it likes, and the sender has its credits a flight later. What the component sends
 * joins the queue of the port that it names. So it decides where packets go, when, in which order, how much waits
 * where, and how multicast requests are replicated, counted and summed; the model's own tags, buffers, arbiters of
 * ingress and replication orders have no part in it.
 *
 * A component may be plain C, which acts in the calls below; or a SystemC module, whose processes act at times of their
 * own: examples/tlm_switch.cpp has sockets for it, TLM-2.0, loosely timed. Runs use the reference engine and one core,
 * and the same run gives the same bytes again; under `--calendar systemc` processes that are due at one picosecond may
 * take their turns in another order, which is SystemC's, and then it is another run.
 *
 * This header needs no other one of Fanout and is installed as fanout/component.h. */
#ifndef FANOUT_COMPONENT_H
#define FANOUT_COMPONENT_H

#include <stdint.h>

#define FO_COMPONENT_VERSION 1u

typedef enum {
    /* requests: channel 0 */
    FO_PACKET_READ,
    FO_PACKET_WRITE,
    FO_PACKET_RED,
    FO_PACKET_ATOM,
    FO_PACKET_MC_WRITE, /* multimem.st: of the requester; then each replica */
    FO_PACKET_MC_RED,   /* multimem.red: the same */
    FO_PACKET_MC_READ,  /* multimem.ld_reduce: the same */
    /* answers: channel 1 */
    FO_PACKET_READ_RSP,
    FO_PACKET_ATOM_RSP,
    FO_PACKET_ACK,
    FO_PACKET_MC_ACK,     /* of a replica, to the switch */
    FO_PACKET_MC_OPERAND, /* the same, with a member's data */
    FO_PACKET_MC_RSP,     /* of the switch, to the requester: the sum */
    FO_PACKET_MC_DONE     /* of the switch, to the requester: all members have answered */
} FoPacketKind;

/* What is for one GPU passes unchanged: requests to dst, answers to src. */
typedef struct {
    uint32_t kind;         /* FoPacketKind */
    uint32_t flits;        /* of 16 B, which it takes on the wire and in buffers */
    uint32_t src;          /* the requester, a GPU */
    uint32_t dst;          /* the GPU that it is for; of a team's request: the team; of a replica's answer: member */
    uint32_t number;       /* of the request at its requester; of replicas and their answers: what open() gave */
    uint32_t answer_flits; /* of a request of a team: of each operand, and of the sum */
    uint32_t hint;         /* the fabric's; a replica has that of its request */
    uint32_t bytes;        /* of data, in FO_PACKET_MC_OPERAND; 0: none, as in runs without bytes */
    uint8_t data[128];
} FoPacket;

static inline unsigned fo_channel(const FoPacket *packet) { return packet->kind >= FO_PACKET_READ_RSP; }

typedef enum {
    FO_ENTRY_OPEN,  /* enter() was let in */
    FO_ENTRY_LATER, /* the fabric's part of this instant is not over: try again a delta cycle later */
    FO_ENTRY_CLOSED /* this run is over */
} FoEntry;

/* A switch as the fabric offers it to a component. It belongs to the fabric and is valid from begin() to end(). */
typedef struct FoSwitch FoSwitch;
struct FoSwitch {
    unsigned id, switches; /* which one this is, and of how many */
    unsigned ports;
    const unsigned *gpu;  /* by port: the GPU behind it, */
    const unsigned *link; /* and by which of that GPU's links; packets stay on theirs */
    unsigned done_flits;  /* what the built-in switch takes for FO_PACKET_MC_DONE */

    uint64_t (*now_ps)(const FoSwitch *sw);
    /* Room of so many flits in the buffer of a port and channel is free. */
    void (*release)(const FoSwitch *sw, unsigned port, unsigned channel, unsigned flits);
    /* A packet joins the queue of a port, and goes on the wire at not_before_ps at the earliest (0: at once). When it
     * does, departed() is called with the token, unless that is NULL. A queue takes any number. */
    void (*send)(const FoSwitch *sw, unsigned port, const FoPacket *packet, uint64_t not_before_ps, void *token);
    /* The port for what came in at `port` and is for a GPU. */
    unsigned (*route)(const FoSwitch *sw, unsigned port, unsigned gpu);

    /* Requests of teams. The ports of the members of the team that a request which came in at `port` is for, in
     * *members (as many as `ports` fit); how many. A replica to each of them has the request's kind, flits and hint,
     * and for its number what open() gave, by which members know it; 0: none is left until one is closed. */
    unsigned (*team)(const FoSwitch *sw, unsigned port, const FoPacket *request, unsigned *members);
    unsigned (*open)(const FoSwitch *sw, const FoPacket *request);
    /* The sum of operands' data, in the order given, by the type, operation and precision that the request has. */
    void (*sum)(const FoSwitch *sw, unsigned number, const uint8_t *const *operand, unsigned n, uint8_t *result);
    /* All members have answered, and the number is free. `sum` (NULL: there is none) goes to the requester with the
     * FO_PACKET_MC_RSP, or FO_PACKET_MC_DONE, that is sent next and has the request's own src and number. */
    void (*close)(const FoSwitch *sw, unsigned number, const uint8_t *sum);

    /* For SystemC processes. One that calls any of the functions above does so between enter() and leave(), and without
     * a wait in between. A call of the component's that notifies a process does so with a delay of delay_ps(). */
    FoEntry (*enter)(const FoSwitch *sw);
    void (*leave)(void);
    uint64_t (*delay_ps)(const FoSwitch *sw);
};

/* What a component defines. Each function but `name`'s text gets what begin() returned. */
typedef struct {
    unsigned version; /* FO_COMPONENT_VERSION */
    const char *name;
    /* A simulation begins. Several may have, of which one runs. SystemC modules can be made only before the first one
     * of a process runs; they live as long as the process, and a later simulation of the same system uses them again.
     * NULL: it cannot. */
    void *(*begin)(const FoSwitch *sw);
    /* A packet has come in at a port; it is valid during the call. */
    void (*accept)(void *self, unsigned port, const FoPacket *packet);
    void (*departed)(void *self, void *token); /* or NULL */
    void (*end)(void *self);                   /* or NULL */
} FoComponent;

#ifdef __cplusplus
extern "C" {
#endif
extern const FoComponent fo_component; /* what a shared object defines */
#ifdef __cplusplus
}
#endif

#endif
