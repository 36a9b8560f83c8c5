/* The wheel: the calendar that ordinary runs use.
 *
 * Near events lie in buckets of 64 ps, each a singly linked list; a bitmap of two levels finds the
 * next bucket that holds something. Inserting puts an event in front of its bucket's list, without
 * looking at the others; when the wheel gets to a bucket of several, its list is taken out, sorted by
 * (time, order), and is what is due. Most buckets of a run hold one event or two. Events later than
 * the wheel's span wait in a binary heap and move into the wheel as it turns.
 *
 * Invariants: every event in the wheel lies in the buckets [turn, turn + CALENDAR_BUCKETS), every
 * event in the heap later, and turn never passes the bucket of the earliest event. While anything is
 * due it is of the bucket `turn`, and what else comes into that bucket is due too.
 *
 * Internal to sim/. The hot half is inline and as free of unpredictable branches as can be;
 * calendar.c has the heap and the slow paths. */
#ifndef SIM_ENGINE_CALENDAR_H
#define SIM_ENGINE_CALENDAR_H

#include "sim/engine/event.h"
#include "sim/engine/prefetch.h"

#define CALENDAR_PS_SHIFT 6 /* 64 ps: finer than a flit, so that buckets stay short */
#define CALENDAR_BUCKETS_SHIFT 14
#define CALENDAR_BUCKETS (1u << CALENDAR_BUCKETS_SHIFT) /* 1.05 us: most of a fabric's delays */
#define CALENDAR_MASK (CALENDAR_BUCKETS - 1)
#define CALENDAR_WORDS (CALENDAR_BUCKETS / 64)
#define CALENDAR_SUMMARY (CALENDAR_WORDS / 64)
#define CALENDAR_FETCH_LINES 5u /* of what an event is about, its own the last one */

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
    uint64_t turn;       /* absolute number of the wheel's first bucket */
    Event *due;          /* the list that is in order; NULL: none */
    Event *due_last;     /* its last event, while there is one */
    uint64_t far_bucket; /* bucket of the heap's top, UINT64_MAX when empty */
    gsize far_n;         /* events in the heap */
    CalendarFar *far;
    gsize far_size;
    uint64_t summary[CALENDAR_SUMMARY];
    uint64_t words[CALENDAR_WORDS];
    Event *head[CALENDAR_BUCKETS];
} Calendar;

Calendar *calendar_new(void);
void calendar_free(Calendar *calendar);  /* the events stay their owners' */
void calendar_clear(Calendar *calendar); /* nothing is due any more, and no event is pending */

/* The slow halves of what follows. */
void calendar_insert_else(Calendar *calendar, Event *event); /* far, or into the bucket of `turn` */
void calendar_refill(Calendar *calendar);                    /* from the heap */
#define CALENDAR_EMPTY CALENDAR_BUCKETS
unsigned calendar_find_from_summary(const Calendar *calendar, unsigned word);
/* calendar_take() from a bucket of several events that gets due, from the heap. */
Event *calendar_take_first(Calendar *calendar, unsigned slot, SimTime limit_ps);
Event *calendar_take_far(Calendar *calendar, SimTime limit_ps);

static inline gboolean event_is_before(const Event *a, const Event *b)
{
    __extension__ typedef unsigned __int128 Wide; /* one comparison, no branch */
    return ((Wide)a->time_ps << 64 | a->order) < ((Wide)b->time_ps << 64 | b->order);
}

static inline void calendar_mark(Calendar *calendar, unsigned slot)
{
    uint64_t *word = &calendar->words[slot >> 6];

    if (G_UNLIKELY(*word == 0))
        calendar->summary[slot >> 12] |= (uint64_t)1 << ((slot >> 6) & 63);
    *word |= (uint64_t)1 << (slot & 63);
}

static inline void calendar_unmark(Calendar *calendar, unsigned slot)
{
    uint64_t *word = &calendar->words[slot >> 6];

    *word &= ~((uint64_t)1 << (slot & 63));
    if (G_UNLIKELY(*word == 0))
        calendar->summary[slot >> 12] &= ~((uint64_t)1 << ((slot >> 6) & 63));
}

static inline void calendar_insert_at(Calendar *calendar, Event *event, unsigned slot)
{
    event->place = CALENDAR_PLACE_WHEEL;
    event->next = calendar->head[slot];
    calendar->head[slot] = event;
    calendar_mark(calendar, slot);
}

/* event->time_ps and event->order are set; the event is idle. */
static inline void calendar_insert(Calendar *calendar, Event *event)
{
    uint64_t bucket = event->time_ps >> CALENDAR_PS_SHIFT;

    if (G_UNLIKELY(bucket - calendar->turn - 1 >= CALENDAR_BUCKETS - 1)) {
        calendar_insert_else(calendar, event);
        return;
    }
    calendar_insert_at(calendar, event, bucket & CALENDAR_MASK);
}

/* Nothing earlier than `bucket` is pending. */
static inline void calendar_turn_to(Calendar *calendar, uint64_t bucket)
{
    calendar->turn = bucket;
    if (G_UNLIKELY(calendar->far_bucket - bucket < CALENDAR_BUCKETS))
        calendar_refill(calendar);
}

static inline Event *calendar_take_due(Calendar *calendar, SimTime limit_ps)
{
    Event *event = calendar->due;

    if (G_UNLIKELY(event->time_ps > limit_ps))
        return NULL;
    calendar->due = event->next;
    event->place = CALENDAR_PLACE_IDLE;
    return event;
}

/* While an event fires, the next one that is near (in one word with `slot`) and what it is about come into the cache:
 * the first of its lines, where its owner keeps what it looks at first, up to the event's own. */
static inline void calendar_fetch_next(const Calendar *calendar, unsigned slot)
{
    uint64_t word = calendar->words[slot >> 6] >> (slot & 63);

    if (word != 0) {
        const Event *next = calendar->head[slot + (unsigned)__builtin_ctzll(word)];
        fetch_lines((const char *)next - 64 * (CALENDAR_FETCH_LINES - 1), CALENDAR_FETCH_LINES);
    }
}

/* Takes out the earliest event if it is due by limit_ps; else NULL. The wheel turns only when there is
 * one, so that anything after limit_ps can still be inserted. */
static inline Event *calendar_take(Calendar *calendar, SimTime limit_ps)
{
    if (calendar->due)
        return calendar_take_due(calendar, limit_ps);
    unsigned slot = calendar->turn & CALENDAR_MASK;
    uint64_t word = calendar->words[slot >> 6] >> (slot & 63);
    unsigned found = slot + (unsigned)__builtin_ctzll(word | (uint64_t)1 << 63);

    if (G_UNLIKELY(word == 0)) {
        found = calendar_find_from_summary(calendar, slot >> 6);
        if (found == CALENDAR_EMPTY)
            return calendar_take_far(calendar, limit_ps);
    }
    Event *event = calendar->head[found];
    if (event->next)
        return calendar_take_first(calendar, found, limit_ps);
    if (G_UNLIKELY(event->time_ps > limit_ps))
        return NULL;
    calendar->head[found] = NULL;
    calendar_unmark(calendar, found);
    event->place = CALENDAR_PLACE_IDLE;
    calendar_turn_to(calendar, event->time_ps >> CALENDAR_PS_SHIFT);
    calendar_fetch_next(calendar, found);
    return event;
}

/* When the earliest event is due, SIMTIME_NEVER when there is none. */
SimTime calendar_next_ps(Calendar *calendar);

/* Takes out any pending event. */
void calendar_remove(Calendar *calendar, Event *event);

G_END_DECLS

#endif
