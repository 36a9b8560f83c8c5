/* Packets that will join a port at times known beforehand, in order of (time, order): a calendar of the port's own.
 *
 * 256 buckets of 2^shift ps each, and a bit for each that has some. A port has some dozens of entries within a flight
 * and a window, so that most buckets have one or none; the entries of a bucket stand in no order, and whoever takes the
 * first one looks for it among them. Buckets get wider when times lie further apart than all of them. */
#ifndef MODEL_INBOX_H
#define MODEL_INBOX_H

#include "model/packet.h"
#include "sim/simtime.h"

#define INBOX_BUCKETS 256u
#define INBOX_WORDS (INBOX_BUCKETS / 64)
typedef struct {
    SimTime at_ps;
    Packet packet;
    guint32 next;   /* in its bucket, or free; 0: none */
    guint32 order;  /* among those of the same time */
} InboxEntry;
typedef struct {
    InboxEntry *entry;  /* [0] is none */
    guint32 *head;      /* by bucket */
    guint64 turn;       /* (at_ps >> shift) of a bucket before which none has some; all from there on are in reach */
    SimTime first_ps;   /* of the earliest entry, */
    guint32 n, first;   /* how many there are, and which it is */
    guint32 free, size;
    guint32 shift;
    guint64 full[INBOX_WORDS]; /* bit for each bucket with entries */
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

static inline guint32 inbox_bucket(const Inbox *inbox, SimTime at_ps)
{
    return (guint32)(at_ps >> inbox->shift) % INBOX_BUCKETS;
}

/* Into its bucket, which is within reach. */
static inline void inbox_insert(Inbox *inbox, guint32 index)
{
    InboxEntry *entry = &inbox->entry[index];
    guint32 bucket = inbox_bucket(inbox, entry->at_ps);
    entry->next = inbox->head[bucket];
    inbox->head[bucket] = index;
    inbox->full[bucket / 64] |= (guint64)1 << bucket % 64;
}

/* *now_ps: nothing comes earlier; it is looked at where need be. TRUE: it is the first one now. */
static inline gboolean inbox_push(Inbox *inbox, Packet packet, SimTime at_ps, guint32 order, const SimTime *now_ps)
{
    if (G_UNLIKELY(inbox->free == 0))
        inbox_grow(inbox);
    if (G_UNLIKELY((at_ps >> inbox->shift) - inbox->turn >= INBOX_BUCKETS))
        inbox_reach(inbox, at_ps, *now_ps);
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

/* The earliest of a bucket's list. */
static inline guint32 inbox_least(const Inbox *inbox, guint32 index)
{
    for (guint32 next = inbox->entry[index].next; G_UNLIKELY(next); next = inbox->entry[next].next)
        index = inbox_is_before(&inbox->entry[next], &inbox->entry[index]) ? next : index;
    return index;
}

/* The first bucket with entries, from `bucket` on and round; there is one. */
static inline guint32 inbox_find(const Inbox *inbox, guint32 bucket)
{
    guint32 word = bucket / 64;
    guint64 full = inbox->full[word] >> bucket % 64 << bucket % 64;
    while (G_UNLIKELY(full == 0))
        full = inbox->full[word = (word + 1) % INBOX_WORDS];
    return word * 64 + (guint32)__builtin_ctzll(full);
}

static inline __attribute__((always_inline)) Packet inbox_pop(Inbox *inbox)
{
    guint32 index = inbox->first, *at;
    InboxEntry *entry = &inbox->entry[index];
    guint32 bucket = inbox_bucket(inbox, entry->at_ps), next = entry->next;
    for (at = &inbox->head[bucket]; G_UNLIKELY(*at != index); at = &inbox->entry[*at].next) {
    }
    *at = next;
    inbox->full[bucket / 64] &= ~((guint64)(inbox->head[bucket] == 0) << bucket % 64);
    entry->next = inbox->free;
    inbox->free = index;
    if (--inbox->n) {
        inbox->first = inbox_least(inbox, inbox->head[inbox_find(inbox, bucket)]);
        inbox->first_ps = inbox_first(inbox)->at_ps;
    }
    return entry->packet;
}

#endif
