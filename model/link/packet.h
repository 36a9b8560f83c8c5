/* Packets: what crosses a link.
 *
 * What hardware it stands for: NVLink transaction-layer packets of 16 B flits: a header flit, an
 * optional byte-enable flit, an extension flit for operations, data flits. 8 bytes here, carried by
 * value; what it is about (addresses, operation, time of issue) stands in the requester's Txn, or for
 * replicas and their answers in the switch's McRecord.
 * Sources: flit classes and packet sizes: HARDWARE.md 1.2 and the time per packet measured on H200
 * (2 flits for 16 B, 9 for 128 B, 3 for a 4 B store, 10 for a 128 B red). */
#ifndef MODEL_LINK_PACKET_H
#define MODEL_LINK_PACKET_H

#include <glib.h>
#include <string.h>

#define FLIT_BYTES 16u
#define LINE_BYTES 128u
#define SECTOR_BYTES 32u

typedef enum {
    /* requests: VC_CREQ */
    PACKET_READ,
    PACKET_WRITE,
    PACKET_RED,
    PACKET_ATOM,
    PACKET_MC_WRITE,     /* multimem.st: from the requester; then each replica */
    PACKET_MC_RED,       /* multimem.red, likewise */
    PACKET_MC_READ,      /* multimem.ld_reduce, likewise */
    /* responses: VC_RSP */
    PACKET_READ_RSP,
    PACKET_ATOM_RSP,
    PACKET_ACK,          /* one for up to ack_merge_max writes */
    PACKET_MC_ACK,       /* replica's acknowledgement, counted in the switch */
    PACKET_MC_OPERAND,   /* replica's data, summed in the switch */
    PACKET_MC_RSP,       /* the sum, to the requester */
    PACKET_MC_DONE,      /* the counted acknowledgement, to the requester */
    PACKET_KINDS
} PacketKind;

typedef enum { VC_CREQ, VC_RSP, VCS } Vc;

#define HOLD_NONE 0xfffu
#define PACKET_FLITS_BITS 5u

/* 8 bytes, since what costs most in a long run is packets leaving the processor's cache. Data in flight
 * is not here: the Txn (or McRecord) names its slot. */
typedef union Packet {
    struct {
        guint64 txn : 22;  /* requester's Txn; of replicas and their answers: the switch's McRecord */
        guint64 train : 1; /* two packets of one 256 B chunk, one behind the other (link.train_packets) */
        guint64 plain : 1; /* unicast requests: of memory in L2, and no bytes move: only the time matters */
        guint64 src : 9;   /* GPU that asked; of multicast requests: replica_pack() */
        guint64 dst : 10;  /* GPU that is asked; of multicast requests: the multicast ID */
        guint64 kind : 4;  /* PacketKind */
        guint64 flits : PACKET_FLITS_BITS;
        guint64 hold : 12; /* ingress port whose buffer it occupies, HOLD_NONE */
    };
    guint64 bits;          /* all of it */
} Packet;

G_STATIC_ASSERT(sizeof(Packet) == 8 && PACKET_KINDS <= 16);
#define PACKET_TXN_MAX ((1u << 22) - 1)
#define PACKET_MCID_MAX ((1u << 10) - 1)

/* What a field's 1 is in all of the bits; products with it are shifts. */
#define PACKET_ONE(field) ((Packet){.field = 1}.bits)

/* One that occupies no ingress buffer; every value fits its field. In one word: compilers write bit-fields one by one
 * into memory and read them back at once, for which a processor waits. */
static inline Packet packet_new(PacketKind kind, guint32 txn, guint32 train, guint32 src, guint32 dst, guint32 flits)
{
    return (Packet){.bits = txn * PACKET_ONE(txn) | train * PACKET_ONE(train) | src * PACKET_ONE(src) |
                            dst * PACKET_ONE(dst) | kind * PACKET_ONE(kind) | flits * PACKET_ONE(flits) |
                            HOLD_NONE * PACKET_ONE(hold)};
}

/* `src` and `dst`, for who has many of them: of fields of 9 and 10 bits compilers make 16-bit words, with constants
 * that processors take long to decode. */
static inline guint32 packet_src(Packet packet) { return (guint32)(packet.bits / PACKET_ONE(src)) & 0x1ffu; }
static inline guint32 packet_dst(Packet packet) { return (guint32)(packet.bits / PACKET_ONE(dst)) & 0x3ffu; }

/* `kind`, where much is done with it: of a field of 4 bits GCC keeps a byte on the stack, reads it as a word, and for
 * that a processor waits until all that it has stored before is in its cache. */
static inline guint32 packet_kind(Packet packet) { return (guint32)(packet.bits / PACKET_ONE(kind)) & 0xfu; }

static inline Vc packet_vc(const Packet *packet)
{
    return packet->kind >= PACKET_READ_RSP ? VC_RSP : VC_CREQ;
}
/* An answer to a replica, which the switch counts. */
static inline gboolean packet_is_counted(Packet packet)
{
    return packet.kind == PACKET_MC_ACK || packet.kind == PACKET_MC_OPERAND;
}
/* Where a unicast packet goes: `dst` of a request, `src` of an answer, without a branch. */
static inline guint32 packet_target(Packet packet, gboolean request)
{
    guint64 dst = packet_dst(packet), src = packet_src(packet), chosen = -(guint64)(request != 0);
    return (guint32)((dst & chosen) | (src & ~chosen));
}
const char *packet_kind_name(PacketKind kind);
static inline guint32 packet_count(Packet packet) { return 1u + packet.train; }
/* An acknowledgement of a single train, as two. */
static inline Packet packet_as_train(Packet packet)
{
    packet.train = 1;
    packet.flits = (packet.flits * 2u) & 0x1fu;
    return packet;
}
/* It occupies no ingress buffer. */
static inline Packet packet_unheld(Packet packet)
{
    return (Packet){.bits = packet.bits | HOLD_NONE * PACKET_ONE(hold)};
}
/* Counts it, or both of a train, which mostly nobody runs. */
#define PACKET_ADD(counter, packet)        \
    do {                                   \
        (counter)++;                       \
        if (G_UNLIKELY((packet).train))    \
            (counter)++;                   \
    } while (0)

/* Whether a member can answer a replica without looking at its record. */
typedef enum {
    REPLICA_BY_RECORD, /* bytes move, or a part is not bound, or members differ */
    REPLICA_FROM_L2,   /* timing-only, memory bound everywhere */
    REPLICA_FROM_HBM,  /* likewise, and its lines are in no member's L2 */
} ReplicaAnswer;

/* A multicast request needs no `src` (the switch knows it by the port): it and its replicas carry the size of the
 * answer to a replica and how to answer. */
static inline guint16 replica_pack(guint8 answer_flits, ReplicaAnswer answer)
{
    return (guint16)(answer_flits | (guint32)answer << 5);
}
static inline guint32 replica_answer_flits(Packet packet) { return packet_src(packet) & 0x1fu; }
static inline ReplicaAnswer replica_answer(Packet packet) { return (ReplicaAnswer)(packet_src(packet) >> 5); }

/* A FIFO of fixed-size entries in one array. It starts over at the array's head whenever it runs empty, so that a short
 * queue stays in the same few cache lines, and each lap goes round in little more than what the one before left: a lap
 * touches all that it goes round in. */
static inline guint32 ring_lap(guint32 count, guint32 capacity)
{
    guint32 enough = count + count / 4 + 16;
    return MIN(enough, capacity);
}

#define RING_DEFINE(Name, prefix, Type)                                                               \
    typedef struct {                                                                                  \
        Type *at;                                                                                     \
        guint32 head, count;                                                                          \
        guint32 capacity, size; /* of this lap, and of the array */                                   \
    } Name;                                                                                           \
    static G_GNUC_NO_INLINE G_GNUC_UNUSED void prefix##_grow(Name *ring)                              \
    {                                                                                                 \
        guint32 capacity = ring->capacity + ring->capacity / 2 + 16, last = ring->capacity - ring->head; \
        if (capacity > ring->size)                                                                    \
            ring->at = g_renew(Type, ring->at, ring->size = MAX(capacity, 2 * ring->size));           \
        if (ring->head) { /* these go on before those at the array's head */                          \
            memmove(&ring->at[capacity - last], &ring->at[ring->head], last * sizeof(Type));          \
            ring->head = capacity - last;                                                             \
        }                                                                                             \
        ring->capacity = capacity;                                                                    \
    }                                                                                                 \
    static inline Type *prefix##_nth(const Name *ring, guint32 n)                                     \
    {                                                                                                 \
        guint32 at = ring->head + n;                                                                  \
        return &ring->at[at - (at >= ring->capacity ? ring->capacity : 0)];                           \
    }                                                                                                 \
    /* Behind the last one; if there is none, the head is the array's. */                             \
    static inline Type *prefix##_behind(Name *ring)                                                   \
    {                                                                                                 \
        if (G_UNLIKELY(ring->count == ring->capacity))                                                \
            prefix##_grow(ring);                                                                      \
        return prefix##_nth(ring, ring->count);                                                       \
    }                                                                                                 \
    /* Where the next one goes; there is room. */                                                     \
    static inline Type *prefix##_tail(Name *ring)                                                     \
    {                                                                                                 \
        ring->head &= -(guint32)(ring->count != 0); /* no branch: nobody could predict it */          \
        return prefix##_behind(ring);                                                                 \
    }                                                                                                 \
    static inline Type *prefix##_push(Name *ring)                                                     \
    {                                                                                                 \
        Type *at = prefix##_tail(ring);                                                               \
        ring->count++;                                                                                \
        return at;                                                                                    \
    }                                                                                                 \
    /* Room behind the last one, *end is where it ends: for who writes several, and adds them to `count`. */ \
    static inline G_GNUC_UNUSED Type *prefix##_room(Name *ring, Type **end)                           \
    {                                                                                                 \
        Type *room = prefix##_tail(ring), *head = &ring->at[ring->head];                              \
        *end = room < head ? head : ring->at + ring->capacity;                                        \
        return room;                                                                                  \
    }                                                                                                 \
    static inline G_GNUC_UNUSED void prefix##_append(Name *ring, const Type *from, guint32 n)         \
    {                                                                                                 \
        while (G_UNLIKELY(ring->count + n > ring->capacity))                                          \
            prefix##_grow(ring);                                                                      \
        ring->head &= -(guint32)(ring->count != 0);                                                   \
        Type *at = prefix##_nth(ring, ring->count);                                                   \
        guint32 left = ring->capacity - (guint32)(at - ring->at), first = MIN(n, left);               \
        memcpy(at, from, first * sizeof(Type));                                                       \
        memcpy(ring->at, from + first, (n - first) * sizeof(Type));                                   \
        ring->count += n;                                                                             \
    }                                                                                                 \
    static inline Type *prefix##_peek(Name *ring) { return &ring->at[ring->head]; }                   \
    static inline void prefix##_drop(Name *ring)                                                      \
    {                                                                                                 \
        ring->count--;                                                                                \
        if (G_UNLIKELY(++ring->head == ring->capacity)) {                                             \
            ring->head = 0;                                                                           \
            ring->capacity = ring_lap(ring->count, ring->capacity);                                   \
        }                                                                                             \
    }                                                                                                 \
    static inline G_GNUC_UNUSED void prefix##_drop_many(Name *ring, guint32 n)                        \
    {                                                                                                 \
        guint32 at = ring->head + n;                                                                  \
        ring->head = at - (at >= ring->capacity ? ring->capacity : 0);                                \
        ring->count -= n;                                                                             \
    }                                                                                                 \
    static inline void prefix##_clear(Name *ring)                                                     \
    {                                                                                                 \
        g_free(ring->at);                                                                             \
        *ring = (Name){NULL, 0, 0, 0, 0};                                                             \
    }

RING_DEFINE(PacketRing, packet_ring, Packet)

#endif
