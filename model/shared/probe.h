/* Probe points: places where a stage shows an observer the packet that it handles. `fanout walk` is one.
 *
 * Probes observe, they never act. Each point names the source file it stands in, so that what is printed
 * from them cannot drift away from the code. Without an observer a point costs one predicted branch. */
#ifndef MODEL_SHARED_PROBE_H
#define MODEL_SHARED_PROBE_H

#include "model/shared/packet.h"
#include "sim/engine/simtime.h"

typedef enum {
    PROBE_COALESCE, /* an SM made a packet out of a warp's lanes */
    PROBE_REQUEST,  /* the requester opened a transaction */
    PROBE_QUEUE,    /* joins the queue of a port; at_ps: from when on it may leave */
    PROBE_WIRE,     /* serialization begins */
    PROBE_INGRESS,  /* through a switch's pipeline, at its crossbar */
    PROBE_ROUTE,    /* unicast: on to the port of one GPU */
    PROBE_TABLE,    /* multicast: replicated to the ports of its entry */
    PROBE_SERVE,    /* a target's L2 has it */
    PROBE_GATHER,   /* a replica's answer, at the requester's port */
    PROBE_RESULT,   /* the last one came: one answer goes to the requester */
    PROBE_ANSWER,   /* back at the requester: the transaction ends */
    /* what is seen of a packet that waits, and of what it gives back */
    PROBE_HELD,   /* it must wait at a switch's ingress, for a tag, for room for operands, or for a replication */
    PROBE_CREDIT, /* at_ps, ahead, is when a port gets credits back, packet's flits of its channel; no more is set */
    PROBE_FREE,   /* a switch freed a multicast request's tag and buffer: packet's src and txn; all else is not set */
    PROBE_STAGES
} ProbeStage;

/* What an observer is shown. It is valid during the call. */
typedef struct {
    ProbeStage stage;
    const char *file; /* of the point: its path, as the compiler was given it */
    const char *path; /* of the unit in which it stands: "gpu0.link3.up" */
    union {
        const struct Link *link; /* PROBE_QUEUE, PROBE_WIRE, PROBE_CREDIT */
        const struct Switch *sw; /* PROBE_INGRESS to PROBE_RESULT but PROBE_SERVE, PROBE_HELD, PROBE_FREE */
        const struct Gpu *gpu;   /* PROBE_REQUEST, PROBE_SERVE, PROBE_ANSWER */
        const struct Sm *sm;     /* PROBE_COALESCE */
        const void *unit;
    };
    const Packet *packet;
    SimTime at_ps; /* may lie before now, since ports may make decisions after their time (model/fastpath/port.h) */
} ProbeEvent;
typedef void (*Probe)(void *user, const ProbeEvent *event);

#define PROBE_EVENT(stage_, path_, unit_, packet_, time_ps)                                                            \
    (&(const ProbeEvent){                                                                                              \
        .stage = stage_, .file = __FILE__, .path = path_, .unit = unit_, .packet = packet_, .at_ps = time_ps})
#define PROBE_POINT(fabric, stage, of, packet, at_ps)                                                                  \
    do {                                                                                                               \
        if (G_UNLIKELY((fabric)->probe))                                                                               \
            (fabric)->probe((fabric)->probe_user, PROBE_EVENT(stage, (of)->path, of, packet, at_ps));                  \
    } while (0)

#endif
