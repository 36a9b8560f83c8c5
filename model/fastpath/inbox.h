/* Packets that will join a port at times known beforehand, in order of (time, order): a calendar of the port's own.
 *
 * Eight spans of 2^shift ps, each an array: whoever pushes adds to its end, and looks at nothing else. The span of the
 * earliest entry is in order, the earliest one last; it is put in order when the spans before it have become empty,
 * once. Spans get longer when times lie further apart than all of them. What many ports push by turns are the ends of
 * few arrays, and a port reads its own from one end to the other: nothing of it needs to stay in a processor's cache.
 * All entries, and the time when they are pushed, lie within 4 ms, as what flies does (LinkSlot). */
#ifndef MODEL_FASTPATH_INBOX_H
#define MODEL_FASTPATH_INBOX_H

#include "model/link/packet.h"
#include "sim/engine/prefetch.h"
#include "sim/engine/simtime.h"

#define INBOX_SPANS 8u
#define INBOX_FETCH_LINES 8u
typedef struct {
    Packet packet;
    guint64 key; /* the low half of the ps, and then the order among those of the same time */
} InboxEntry;
typedef struct { /* one cache line */
    InboxEntry *entry;      /* of span s (modulo INBOX_SPANS): `size`, from s * size on */
    SimTime first_ps;       /* of the earliest entry; SIMTIME_NEVER: there is none */
    guint64 turn;           /* number (at_ps >> shift) of a span before which there is none; eight are in reach */
    guint32 size, shift;
    guint32 n[INBOX_SPANS]; /* entries, by span */
} Inbox;

void inbox_init(Inbox *inbox);
void inbox_clear(Inbox *inbox);
/* The slow halves of what follows: more room in each span; later spans, and if need be longer ones, so that at_ps fits
 * in, where nothing will come before from_ps; an entry before all others or among those in order; and the first span
 * being empty, the next one. */
void inbox_grow(Inbox *inbox);
void inbox_reach(Inbox *inbox, SimTime at_ps, SimTime from_ps);
gboolean inbox_push_first(Inbox *inbox, InboxEntry entry, SimTime at_ps);
void inbox_go_on(Inbox *inbox);

static inline gboolean inbox_has_any(const Inbox *inbox) { return inbox->first_ps != SIMTIME_NEVER; }

static inline guint32 inbox_slot(const Inbox *inbox, SimTime at_ps)
{
    return (guint32)(at_ps >> inbox->shift) % INBOX_SPANS;
}

/* The earliest one; there is one. */
static inline const InboxEntry *inbox_first(const Inbox *inbox)
{
    guint32 slot = inbox_slot(inbox, inbox->first_ps);
    return &inbox->entry[slot * inbox->size + inbox->n[slot] - 1];
}

/* Of an entry not before from_ps. */
static inline SimTime inbox_entry_ps(const InboxEntry *entry, SimTime from_ps)
{
    return from_ps + (guint32)((guint32)(entry->key >> 32) - (guint32)from_ps);
}

/* The span behind that of the first one is put in order soon: it, or most of it. */
static inline void inbox_fetch(const Inbox *inbox)
{
    fetch_lines(&inbox->entry[(inbox_slot(inbox, inbox->first_ps) + 1) % INBOX_SPANS * inbox->size], INBOX_FETCH_LINES);
}

/* Behind the others of its span, which is in reach. */
static inline void inbox_add(Inbox *inbox, InboxEntry entry, guint32 slot)
{
    if (G_UNLIKELY(inbox->n[slot] == inbox->size))
        inbox_grow(inbox);
    inbox->entry[slot * inbox->size + inbox->n[slot]++] = entry;
}

/* Nothing comes earlier than from_ps. TRUE: it is the first one now. */
static inline gboolean inbox_push(Inbox *inbox, Packet packet, SimTime at_ps, guint32 order, SimTime from_ps)
{
    InboxEntry entry = {packet, at_ps << 32 | order};
    if (G_UNLIKELY((at_ps >> inbox->shift) - inbox->turn >= INBOX_SPANS))
        inbox_reach(inbox, at_ps, from_ps);
    if (G_UNLIKELY(at_ps >> inbox->shift <= inbox->first_ps >> inbox->shift))
        return inbox_push_first(inbox, entry, at_ps);
    inbox_add(inbox, entry, inbox_slot(inbox, at_ps));
    return FALSE;
}

static inline __attribute__((always_inline)) Packet inbox_pop(Inbox *inbox)
{
    guint32 slot = inbox_slot(inbox, inbox->first_ps), left = --inbox->n[slot];
    const InboxEntry *entry = &inbox->entry[slot * inbox->size + left];
    Packet packet = entry->packet;
    if (left)
        inbox->first_ps = inbox_entry_ps(entry - 1, inbox->first_ps);
    else
        inbox_go_on(inbox);
    return packet;
}

#endif
