/* Packets that will join a port at times known beforehand, in order of (time, order): a calendar of the port's own.
 *
 * 64 buckets of 2^shift ps each, the entries of a bucket in a list kept in order; a bit for each bucket that has some.
 * A port has some dozens of entries within a flight and a window, so that a bucket has one or none, and a heap's way
 * through its levels is saved. Buckets get wider when times lie further apart than all of them. */
#ifndef MODEL_INBOX_H
#define MODEL_INBOX_H

#include "model/packet.h"
#include "sim/simtime.h"

#define INBOX_BUCKETS 64u
typedef struct {
    SimTime at_ps;
    Packet packet;
    guint32 next;   /* in its bucket, or free; 0: none */
    guint32 order;  /* among those of the same time */
} InboxEntry;
typedef struct {
    InboxEntry *entry;  /* [0] is none */
    guint32 *head;      /* by bucket */
    guint64 full;       /* bit for each bucket with entries */
    guint64 turn;       /* (at_ps >> shift) of a bucket before which none has some; 64 from there on are in reach */
    SimTime first_ps;   /* of the earliest entry, */
    guint32 n, first;   /* how many there are, and which it is */
    guint32 free, size;
    guint32 shift;
} Inbox;

void inbox_clear(Inbox *inbox);
void inbox_grow(Inbox *inbox);
/* Later buckets, and if need be wider ones, so that at_ps fits in; nothing will come before from_ps. */
void inbox_reach(Inbox *inbox, SimTime at_ps, SimTime from_ps);

static inline const InboxEntry *inbox_first(const Inbox *inbox) { return &inbox->entry[inbox->first]; }

static inline gboolean inbox_is_before(const InboxEntry *a, const InboxEntry *b)
{
    return (a->at_ps < b->at_ps) | ((a->at_ps == b->at_ps) & (a->order < b->order)); /* nobody could predict it */
}

/* Into its bucket, which is within reach. */
static inline void inbox_insert(Inbox *inbox, guint32 index)
{
    InboxEntry *entry = &inbox->entry[index];
    guint32 bucket = (guint32)(entry->at_ps >> inbox->shift) % INBOX_BUCKETS;
    guint32 *at = &inbox->head[bucket];
    while (*at && inbox_is_before(&inbox->entry[*at], entry))
        at = &inbox->entry[*at].next;
    entry->next = *at;
    *at = index;
    inbox->full |= (guint64)1 << bucket;
}

/* now_ps: nothing comes earlier. TRUE: it is the first one now. */
static inline gboolean inbox_push(Inbox *inbox, Packet packet, SimTime at_ps, guint32 order, SimTime now_ps)
{
    if (G_UNLIKELY(inbox->free == 0))
        inbox_grow(inbox);
    if (G_UNLIKELY((at_ps >> inbox->shift) - inbox->turn >= INBOX_BUCKETS))
        inbox_reach(inbox, at_ps, now_ps);
    guint32 index = inbox->free;
    InboxEntry *entry = &inbox->entry[index];
    inbox->free = entry->next;
    entry->at_ps = at_ps;
    entry->packet = packet;
    entry->order = order;
    inbox_insert(inbox, index);
    if (inbox->n++ && (at_ps > inbox->first_ps || !inbox_is_before(entry, inbox_first(inbox))))
        return FALSE;
    inbox->first = index;
    inbox->first_ps = at_ps;
    return TRUE;
}

static inline Packet inbox_pop(Inbox *inbox)
{
    InboxEntry *entry = &inbox->entry[inbox->first];
    Packet packet = entry->packet;
    guint32 bucket = (guint32)(entry->at_ps >> inbox->shift) % INBOX_BUCKETS, next = entry->next;
    inbox->head[bucket] = next;
    inbox->full &= ~((guint64)(next == 0) << bucket);
    entry->next = inbox->free;
    inbox->free = inbox->first;
    inbox->n--;
    if (inbox->n) {
        guint64 later = inbox->full >> bucket | inbox->full << (-bucket % INBOX_BUCKETS);
        inbox->first = inbox->head[(bucket + (guint32)__builtin_ctzll(later)) % INBOX_BUCKETS];
        inbox->first_ps = inbox_first(inbox)->at_ps;
    }
    return packet;
}

#endif
