/* The wheel: the calendar that ordinary runs use.
 *
 * Near events lie in buckets of 64 ps, each a singly linked list; a bitmap of two levels finds the
 * next bucket that holds something. Inserting puts an event in front of its bucket's list, without
 * looking at the others; a bucket is sorted by (time, order) once, when the wheel gets to it. Most
 * buckets of a run hold one event or two. Events later than the wheel's span wait in a binary heap
 * and move into the wheel as it turns.
 *
 * Invariants: every event in the wheel lies in the buckets [turn, turn + CALENDAR_BUCKETS), every
 * event in the heap later, and turn never passes the bucket of the earliest event. The list of the
 * bucket `sorted` is in order and `sorted_last` its end; what comes into it keeps that.
 *
 * Internal to sim/. The hot half is inline and as free of unpredictable branches as can be;
 * calendar.c has the heap and the slow paths. */
#ifndef SIM_CALENDAR_H
#define SIM_CALENDAR_H

#include "sim/event.h"

#define CALENDAR_PS_SHIFT 6 /* 64 ps: finer than a flit, so that buckets stay short */
#define CALENDAR_BUCKETS_SHIFT 14
#define CALENDAR_BUCKETS (1u << CALENDAR_BUCKETS_SHIFT) /* 1.05 us: most of a fabric's delays */
#define CALENDAR_MASK (CALENDAR_BUCKETS - 1)
#define CALENDAR_WORDS (CALENDAR_BUCKETS / 64)
#define CALENDAR_SUMMARY (CALENDAR_WORDS / 64)

/* Event.place */
#define CALENDAR_PLACE_IDLE 0u
#define CALENDAR_PLACE_WHEEL 1u
#define CALENDAR_PLACE_FAR 2u /* plus the index in the heap */

G_BEGIN_DECLS

typedef struct {
    SimTime time_ps;
    uint64_t order;
    Event *event;
} CalendarFar;

typedef struct {
    uint64_t turn;        /* absolute number of the wheel's first bucket */
    uint64_t sorted;      /* absolute number of the bucket whose list is in order */
    Event *sorted_last;   /* its last event, while it has any */
    uint64_t far_bucket;  /* bucket of the heap's top, UINT64_MAX when empty */
    gsize far_n;          /* events in the heap */
    CalendarFar *far;
    gsize far_size;
    uint64_t summary[CALENDAR_SUMMARY];
    uint64_t words[CALENDAR_WORDS];
    Event *head[CALENDAR_BUCKETS];
} Calendar;

Calendar *calendar_new(void);
void calendar_free(Calendar *calendar); /* the events stay their owners' */

/* The slow halves of what follows. */
void calendar_push_far(Calendar *calendar, Event *event);
void calendar_turn_to(Calendar *calendar, uint64_t bucket); /* and refill from the heap */
void calendar_insert_sorted(Calendar *calendar, Event *event);
Event *calendar_sort(Calendar *calendar, unsigned slot); /* its new head */
#define CALENDAR_EMPTY CALENDAR_BUCKETS
unsigned calendar_find_from_summary(const Calendar *calendar, unsigned word);
Event *calendar_first_far(Calendar *calendar, SimTime limit_ps);

static inline gboolean event_is_before(const Event *a, const Event *b)
{
    return a->time_ps < b->time_ps || (a->time_ps == b->time_ps && a->order < b->order);
}

/* event->time_ps and event->order are set; the event is idle. */
static inline void calendar_insert(Calendar *calendar, Event *event)
{
    uint64_t bucket = event->time_ps >> CALENDAR_PS_SHIFT;
    unsigned slot = bucket & CALENDAR_MASK;

    if (G_UNLIKELY(bucket - calendar->turn >= CALENDAR_BUCKETS)) {
        calendar_push_far(calendar, event);
        return;
    }
    event->place = CALENDAR_PLACE_WHEEL;
    if (G_UNLIKELY(bucket == calendar->sorted)) {
        calendar_insert_sorted(calendar, event);
        return;
    }
    event->next = calendar->head[slot];
    calendar->head[slot] = event;
    calendar->words[slot >> 6] |= (uint64_t)1 << (slot & 63);
    calendar->summary[slot >> 12] |= (uint64_t)1 << ((slot >> 6) & 63);
}

/* The earliest event if it is due by limit_ps, left where it is; else NULL. The wheel turns only
 * when there is one, so that anything after limit_ps can still be inserted. */
static inline Event *calendar_first(Calendar *calendar, SimTime limit_ps)
{
    unsigned slot = calendar->turn & CALENDAR_MASK;
    uint64_t word = calendar->words[slot >> 6] >> (slot & 63);
    unsigned found = slot + (unsigned)__builtin_ctzll(word | (uint64_t)1 << 63);

    if (G_UNLIKELY(word == 0)) {
        found = calendar_find_from_summary(calendar, slot >> 6);
        if (found == CALENDAR_EMPTY) {
            return calendar_first_far(calendar, limit_ps);
        }
    }
    Event *head = calendar->head[found];
    uint64_t bucket = head->time_ps >> CALENDAR_PS_SHIFT;
    if (bucket != calendar->sorted) {
        calendar->sorted = bucket;
        calendar->sorted_last = head;
        if (head->next != NULL) {
            head = calendar_sort(calendar, found);
        }
    }
    if (G_UNLIKELY(head->time_ps > limit_ps)) {
        return NULL;
    }
    calendar->turn = bucket;
    if (G_UNLIKELY(calendar->far_bucket - bucket < CALENDAR_BUCKETS)) {
        calendar_turn_to(calendar, bucket);
    }
    return head;
}

/* When the earliest event is due, SIMTIME_NEVER when there is none. */
SimTime calendar_next_ps(Calendar *calendar);

/* After the list of a slot has got `head`: clears its bit when that is NULL. */
static inline void calendar_note_head(Calendar *calendar, unsigned slot, const Event *head)
{
    uint64_t *word = &calendar->words[slot >> 6];

    *word &= ~((uint64_t)(head == NULL) << (slot & 63));
    if (G_UNLIKELY(*word == 0)) {
        calendar->summary[slot >> 12] &= ~((uint64_t)1 << ((slot >> 6) & 63));
    }
}

/* Takes out what calendar_first() has just returned. */
static inline void calendar_take_first(Calendar *calendar, Event *event)
{
    unsigned slot = calendar->turn & CALENDAR_MASK;

    calendar->head[slot] = event->next;
    event->place = CALENDAR_PLACE_IDLE;
    calendar_note_head(calendar, slot, event->next);
}

/* Takes out any pending event. */
void calendar_remove(Calendar *calendar, Event *event);

G_END_DECLS

#endif
