/* The wheel: the calendar that ordinary runs use.
 *
 * Near events lie in buckets of 64 ps, each a doubly linked list kept in (time, order); a bitmap of
 * two levels finds the next bucket that holds something. Events later than the wheel's span wait
 * in a binary heap and move into the wheel as it turns. Appending, taking the first and cancelling
 * in a bucket are O(1); only an event that must go before others of its 64 ps walks back from the
 * bucket's end.
 *
 * Invariant: every event in the wheel lies in the buckets [turn, turn + CALENDAR_BUCKETS), every
 * event in the heap later, and turn never passes the bucket of the earliest event.
 *
 * Internal to sim/. The hot half is inline; calendar.c has the heap and the slow paths. */
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
    uint64_t turn;  /* absolute number of the wheel's first bucket */
    gsize near_n;   /* events in the wheel */
    gsize far_n;    /* events in the heap */
    uint64_t far_bucket; /* bucket of the heap's top, UINT64_MAX when empty */
    CalendarFar *far;
    gsize far_size;
    uint64_t summary[CALENDAR_SUMMARY];
    uint64_t words[CALENDAR_WORDS];
    Event *head[CALENDAR_BUCKETS]; /* head->prev is the bucket's tail; tail->next is NULL */
} Calendar;

Calendar *calendar_new(void);
void calendar_free(Calendar *calendar); /* the events stay their owners' */

/* The slow halves of what follows. */
void calendar_push_far(Calendar *calendar, Event *event);
void calendar_remove_far(Calendar *calendar, Event *event);
void calendar_turn_to(Calendar *calendar, uint64_t bucket); /* and refill from the heap */
void calendar_insert_sorted(Event **head, Event *event);
unsigned calendar_find_from_summary(const Calendar *calendar, unsigned word);

static inline void calendar_mark(Calendar *calendar, unsigned slot)
{
    calendar->words[slot >> 6] |= (uint64_t)1 << (slot & 63);
    calendar->summary[slot >> 12] |= (uint64_t)1 << ((slot >> 6) & 63);
}

static inline void calendar_unmark(Calendar *calendar, unsigned slot)
{
    if ((calendar->words[slot >> 6] &= ~((uint64_t)1 << (slot & 63))) == 0) {
        calendar->summary[slot >> 12] &= ~((uint64_t)1 << ((slot >> 6) & 63));
    }
}

static inline gboolean event_is_before(const Event *a, const Event *b)
{
    return a->time_ps < b->time_ps || (a->time_ps == b->time_ps && a->order < b->order);
}

/* event->time_ps and event->order are set; the event is idle. */
static inline void calendar_insert(Calendar *calendar, Event *event)
{
    uint64_t bucket = event->time_ps >> CALENDAR_PS_SHIFT;

    if (G_UNLIKELY(bucket - calendar->turn >= CALENDAR_BUCKETS)) {
        calendar_push_far(calendar, event);
        return;
    }
    unsigned slot = bucket & CALENDAR_MASK;
    Event *head = calendar->head[slot];
    event->place = CALENDAR_PLACE_WHEEL;
    calendar->near_n++;
    if (head == NULL) {
        event->next = NULL;
        event->prev = event;
        calendar->head[slot] = event;
        calendar_mark(calendar, slot);
    } else if (!event_is_before(event, head->prev)) {
        event->next = NULL;
        event->prev = head->prev;
        head->prev->next = event;
        head->prev = event;
    } else {
        calendar_insert_sorted(&calendar->head[slot], event);
    }
}

/* The earliest event if it is due by limit_ps, left where it is; else NULL. The wheel turns only
 * when there is one, so that anything after limit_ps can still be inserted. */
static inline Event *calendar_first(Calendar *calendar, SimTime limit_ps)
{
    unsigned slot = calendar->turn & CALENDAR_MASK;
    Event *head = calendar->head[slot];

    if (G_LIKELY(head != NULL)) {
        return head->time_ps <= limit_ps ? head : NULL;
    }
    if (G_UNLIKELY(calendar->near_n == 0)) {
        if (calendar->far_n == 0 || calendar->far[0].time_ps > limit_ps) {
            return NULL;
        }
        calendar_turn_to(calendar, calendar->far_bucket);
        return calendar->head[calendar->turn & CALENDAR_MASK];
    }
    uint64_t word = calendar->words[slot >> 6] >> (slot & 63);
    unsigned found = word != 0 ? slot + (unsigned)__builtin_ctzll(word)
                               : calendar_find_from_summary(calendar, slot >> 6);
    head = calendar->head[found];
    if (G_UNLIKELY(head->time_ps > limit_ps)) {
        return NULL;
    }
    uint64_t bucket = head->time_ps >> CALENDAR_PS_SHIFT;
    calendar->turn = bucket;
    if (G_UNLIKELY(calendar->far_bucket - bucket < CALENDAR_BUCKETS)) {
        calendar_turn_to(calendar, bucket);
    }
    return head;
}

/* When the earliest event is due, SIMTIME_NEVER when there is none. */
SimTime calendar_next_ps(const Calendar *calendar);

/* Takes out what calendar_first() has just returned. */
static inline void calendar_take_first(Calendar *calendar, Event *event)
{
    unsigned slot = calendar->turn & CALENDAR_MASK;
    Event *next = event->next;

    calendar->head[slot] = next;
    calendar->near_n--;
    event->place = CALENDAR_PLACE_IDLE;
    if (next == NULL) {
        calendar_unmark(calendar, slot);
    } else {
        next->prev = event->prev;
    }
}

/* Takes out any pending event. */
static inline void calendar_remove(Calendar *calendar, Event *event)
{
    if (event->place != CALENDAR_PLACE_WHEEL) {
        calendar_remove_far(calendar, event);
        return;
    }
    unsigned slot = (event->time_ps >> CALENDAR_PS_SHIFT) & CALENDAR_MASK;
    Event *head = calendar->head[slot];
    calendar->near_n--;
    event->place = CALENDAR_PLACE_IDLE;
    if (head == event) {
        calendar->head[slot] = event->next;
        if (event->next == NULL) {
            calendar_unmark(calendar, slot);
        } else {
            event->next->prev = event->prev;
        }
        return;
    }
    event->prev->next = event->next;
    if (event->next != NULL) {
        event->next->prev = event->prev;
    } else {
        head->prev = event->prev;
    }
}

G_END_DECLS

#endif
