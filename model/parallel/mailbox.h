/* What crosses between GPUs and switches when they run as domains of their own (sim/engine/domain.h): packets on
 * links one way, credits the other.
 *
 * Domain 0 has the GPUs: the sending ends of up links, the far ends of down links. Each switch is a domain, with the
 * other ends of its links: switches never meet but through GPUs. A letter written in one window is delivered as the
 * next one begins: each side fills one outbox while the other one empties the one before. A link that decides late
 * (link_settle) stands in a list and decides at the end of each window; credits freed in
 * a window go in a book (LinkCredits), of which the other side hears by one letter. Ports of the GPUs that only answer
 * replicas then are shared out by switch (gpu_settle_replicas_apart); where that switch is through with the window
 * itself, it needs no letters of theirs. */
#ifndef MODEL_PARALLEL_MAILBOX_H
#define MODEL_PARALLEL_MAILBOX_H

#include "model/link/link.h"
#include "model/shared/txn.h"

struct Fabric;
struct Switch;

/* 16 bytes, since each goes from one processor's cache to another's. */
typedef struct {
    gint32 later_ps;    /* than the first one of its box */
    guint32 port;       /* of the link at its switch */
    union {
        Packet packet;
        struct {
            guint32 flits; /* 0: what stands in that book */
            guint16 vc, book;
        } credit;
    };
} Letter;
G_STATIC_ASSERT(sizeof(Letter) == 16);
typedef struct {
    Letter *at;
    guint32 n, size;
    SimTime first_ps;   /* of the first one */
} LetterBox;

/* Replicas on one link that their member answers without a look at anything else: they go into the lane of the
 * answering port all at once, before the window's letters. So none is behind a letter of its channel. */
typedef struct {
    LinkReady *at;
    guint32 n, size;
    gboolean closed;    /* there is such a letter: what else comes in this window goes by letters, too */
} ReplicaBox;

/* Links that have packets to decide on, and no event. A decision of one may be a push to another, so that more may come
 * in while the list is gone through. */
typedef struct {
    GPtrArray *link;
    GPtrArray *rest;         /* those that cannot be done apart */
    guint at, kept;          /* at a window's end: gone through so far, and of these stay; else all that were there */
    SimTime next_ps;         /* when the first of these goes on */
} LateList;

/* What one side has written in a window: a cache line, for the other side reads it while this one writes the next. */
typedef struct {
    LetterBox packets, credits;
    ReplicaBox *replicas;    /* of a switch, by port; */
    GArray *ports;           /* guint32: those that have some, or are closed */
    GArray *slots;           /* guint32: of the data pool, given back */
} __attribute__((aligned(64))) Outbox;

typedef struct {
    Link *link;
    LinkCredits *book;
    Vc vc;
} OpenBook;

/* One side of what goes on between the GPUs and a switch. */
typedef struct LinkDomain {
    Outbox out[2];           /* by the window's parity, */
    Outbox *writing;         /* this window's */
    Sim *sim;
    guint32 window;
    SimTime first_ps;        /* the earliest letter of this window takes effect */
    LateList late;           /* of this side's links */
    GArray *open;            /* OpenBook: of credits freed in this window, */
    gboolean is_closed;      /* and their letters are written, for those freed so far */
} LinkDomain;

enum { EXCHANGE_GPUS, EXCHANGE_SWITCH, EXCHANGE_SIDES };
typedef struct {
    LinkDomain side[EXCHANGE_SIDES];
    DataPool *data[EXCHANGE_SIDES];
    Link **link[EXCHANGE_SIDES]; /* by port: those that this side sends on */
    guint32 ports;
    struct Switch *sw;
    struct GpuShare *share;  /* by GPU: of their ports to this switch */
    _Atomic guint32 closed;  /* windows that the switch is through with */
} ExchangePair;

typedef struct Exchange {
    struct Fabric *fabric;
    gboolean is_shared;  /* ports of the GPUs are in this window's end */
    guint32 n;
    ExchangePair pair[]; /* by switch */
} Exchange;

/* GPUs and switches of a fabric that is about to be built become domains. GError: why they cannot. */
gboolean exchange_split(struct Fabric *fabric, GError **error);
/* Once it is built: whether its faults allow for it. */
gboolean exchange_check(const struct Fabric *fabric, GError **error);
void exchange_free(Exchange *exchange); /* after the last run */
/* The clock of a switch, and its links. */
static inline Sim *exchange_sim(const Exchange *exchange, guint32 sw)
{
    return exchange->pair[sw].side[EXCHANGE_SWITCH].sim;
}
void exchange_take(Exchange *exchange, struct Switch *sw, guint32 port, Link *up, Link *down);
/* Data slots on their way from the switches to the GPUs. */
guint32 exchange_slots(const Exchange *exchange);

/* link.c: what leaves a domain. */
void letter_box_grow(LetterBox *box);
static inline Letter *letter_box_add(LetterBox *box, guint32 port, SimTime at_ps)
{
    if (G_UNLIKELY(box->n == box->size))
        letter_box_grow(box);
    if (box->n == 0)
        box->first_ps = at_ps;
    Letter *letter = &box->at[box->n++];
    letter->later_ps = (gint32)(at_ps - box->first_ps); /* a window and what delays differ by: under 2 ms */
    letter->port = port;
    return letter;
}
/* Something that is no letter takes effect in the other domain. */
static inline void exchange_note(LinkDomain *domain, SimTime at_ps) { domain->first_ps = MIN(domain->first_ps, at_ps); }
static inline void exchange_packet(LinkDomain *domain, const Link *link, Packet packet, SimTime at_ps)
{
    letter_box_add(&domain->writing->packets, link->switch_port, at_ps)->packet = packet;
    exchange_note(domain, at_ps);
}
/* A packet leaves for the other domain: by letter, or in a box of replicas. */
void exchange_leave(const Link *link, Vc vc, Packet packet, SimTime at_ps);
/* The first of a port's box, or of its letters, in this window. */
void replica_box_open(LinkDomain *domain, guint32 port, SimTime at_ps);
void replica_box_grow(ReplicaBox *box);
/* Where replicas of the link go in this window; NULL: by letters. */
static inline ReplicaBox *exchange_replicas(const Link *link)
{
    ReplicaBox *box = &link->domain->writing->replicas[link->switch_port];
    return G_LIKELY(!box->closed) ? box : NULL;
}
static inline void exchange_replica(ReplicaBox *box, const Link *link, Packet packet, SimTime at_ps)
{
    if (G_UNLIKELY(box->n == 0))
        replica_box_open(link->domain, link->switch_port, at_ps);
    if (G_UNLIKELY(box->n == box->size))
        replica_box_grow(box);
    box->at[box->n++] = (LinkReady){at_ps, packet_unheld(packet)}; /* not LINK_IN_TIME */
}
void exchange_credit_first(Link *link, Vc vc, guint32 flits, guint64 batch); /* of a batch that has none */
void exchange_credit(LinkDomain *domain, const Link *link, Vc vc, guint32 flits, guint book, SimTime at_ps);
void exchange_list_late(LinkDomain *domain, Link *link);

/* window.c */
extern const struct SimExchange exchange_calls;

#endif
