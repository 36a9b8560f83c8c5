/* Packets: what crosses a link.
 *
 * What hardware it stands for: NVLink transaction-layer packets of 16 B flits: a header flit, an optional byte-enable
 * flit, an extension flit for operations, data flits. What a packet is about (addresses, operation, time of issue) is
 * not in it: it stands in its requester's table of transactions (txn.h), or for replicas and their answers in the
 * switch's table of multicast requests (multicast_request.h), under the number that the packet carries.
 * Sources: flit classes and packet sizes: docs/hardware.md, "Packets", and the time per packet measured on H200
 * (2 flits for 16 B, 9 for 128 B, 3 for a 4 B store, 10 for a 128 B red). */
#ifndef MODEL_SHARED_PACKET_H
#define MODEL_SHARED_PACKET_H

#include <glib.h>

#include "model/memory/memory.h"
#include "sim/ring.h"

#define FLIT_BYTES 16u
#define LINE_BYTES 128u
#define SECTOR_BYTES 32u

typedef enum {
    /* requests: VC_CREQ */
    PACKET_READ,
    PACKET_WRITE,
    PACKET_RED,
    PACKET_ATOM,
    PACKET_MC_WRITE, /* multimem.st: from the requester; then each replica */
    PACKET_MC_RED,   /* multimem.red: the same */
    PACKET_MC_READ,  /* multimem.ld_reduce: the same */
    /* responses: VC_RSP */
    PACKET_READ_RSP,
    PACKET_ATOM_RSP,
    PACKET_ACK,        /* one for up to ack_merge_max writes */
    PACKET_MC_ACK,     /* replica's acknowledgement, counted in the switch */
    PACKET_MC_OPERAND, /* replica's data, summed in the switch */
    PACKET_MC_RSP,     /* the sum, to the requester */
    PACKET_MC_DONE,    /* the counted acknowledgement, to the requester */
    PACKET_KINDS
} PacketKind;

/* Virtual channels: requests and responses never hold each other up. */
typedef enum { VC_CREQ, VC_RSP, VCS } Vc;

#define HELD_INPUT_NONE 0xffffu
#define HELD_INPUT_SHARED 0xfffeu /* the fast engine's: the members of a multicast queue hold the buffer together */
#define PACKET_MCID_MAX 1023u
#define PACKET_TXN_MAX ((1u << 22) - 1) /* transactions of one GPU, or multicast requests of one switch, at a time */

typedef struct Packet {
    guint32 txn;        /* number of the transaction at its requester; of replicas and their answers: number of the
                           * multicast request at the switch */
    guint16 src;        /* the requester, a GPU */
    guint16 dst;        /* the target, a GPU; of multicast requests on their way to the switch: the multicast ID */
    guint16 held_input; /* port whose ingress buffer it occupies in the switch that it passes, or HELD_INPUT_* */
    guint8 kind;        /* PacketKind */
    guint8 flits;
    guint8 answer_flits; /* of multicast requests and replicas: of each member's answer */
    guint8 place;        /* of requests: MemoryPlace, what the target needs to know to serve it */
    guint8 in_time;      /* the fast engine's: it must be served just when it is due */
    guint8 link;         /* of GPUs, by which it came to its first switch, and by which it reaches its GPU */
} Packet;

static inline Packet packet_new(PacketKind kind, guint32 txn, guint32 src, guint32 dst, guint32 flits)
{
    return (Packet){.txn = txn,
                    .src = (guint16)src,
                    .dst = (guint16)dst,
                    .held_input = HELD_INPUT_NONE,
                    .kind = (guint8)kind,
                    .flits = (guint8)flits,
                    .place = MEMORY_LOOK_UP};
}
static inline Vc packet_vc(const Packet *packet) { return packet->kind >= PACKET_READ_RSP ? VC_RSP : VC_CREQ; }
/* A multicast request or one of its replicas. */
static inline gboolean packet_is_multicast(Packet packet)
{
    return packet.kind >= PACKET_MC_WRITE && packet.kind <= PACKET_MC_READ;
}
/* An answer to a replica, which the switch counts. */
static inline gboolean packet_is_counted(Packet packet)
{
    return packet.kind == PACKET_MC_ACK || packet.kind == PACKET_MC_OPERAND;
}
/* The GPU that a unicast packet goes to. */
static inline guint32 packet_target(Packet packet) { return packet_vc(&packet) == VC_CREQ ? packet.dst : packet.src; }
const char *packet_kind_name(PacketKind kind);

RING_DEFINE(PacketRing, packet_ring, Packet)

/* A packet and the time that it is about. */
typedef struct {
    SimTime at_ps;
    Packet packet;
} TimedPacket;
RING_DEFINE(TimedPacketRing, timed_packet, TimedPacket)

#endif
