/* The wheel's slow paths: sorting a bucket, the heap of far events, refilling, cancelling. */
#include "sim/engine/calendar.h"

Calendar *calendar_new(void)
{
    Calendar *calendar = g_new0(Calendar, 1);
    calendar->far_bucket = UINT64_MAX;
    return calendar;
}

void calendar_free(Calendar *calendar)
{
    g_free(calendar->far);
    g_free(calendar);
}

static void clear_list(Event *event)
{
    for (; event; event = event->next)
        event->place = CALENDAR_PLACE_IDLE;
}

void calendar_clear(Calendar *calendar)
{
    clear_list(calendar->due);
    for (unsigned slot = 0; slot < CALENDAR_BUCKETS; slot++)
        clear_list(calendar->head[slot]);
    for (gsize i = 0; i < calendar->far_n; i++)
        calendar->far[i].event->place = CALENDAR_PLACE_IDLE;
    *calendar = (Calendar){.far = calendar->far, .far_size = calendar->far_size, .far_bucket = UINT64_MAX};
}

/* ---- the lists ---- */

#define SORT_STEPS_MAX 100

/* Into the list that is in order: mostly at its end, since what is scheduled later for the same time
 * comes later. */
static void insert_due(Calendar *calendar, Event *event)
{
    Event **link = &calendar->due;

    if (!event_is_before(event, calendar->due_last))
        link = &calendar->due_last->next;
    while (*link && !event_is_before(event, *link))
        link = &(*link)->next;
    event->place = CALENDAR_PLACE_WHEEL;
    event->next = *link;
    *link = event;
    if (!event->next)
        calendar->due_last = event;
}

static void push_far(Calendar *calendar, Event *event);

void calendar_insert_else(Calendar *calendar, Event *event)
{
    uint64_t bucket = event->time_ps >> CALENDAR_PS_SHIFT;

    if (bucket != calendar->turn)
        push_far(calendar, event);
    else if (calendar->due)
        insert_due(calendar, event);
    else
        calendar_insert_at(calendar, event, bucket & CALENDAR_MASK);
}

static Event *list_merge(Event *a, Event *b)
{
    Event *head, **end = &head;

    while (a && b) {
        Event **less = event_is_before(a, b) ? &a : &b;
        *end = *less;
        end = &(*less)->next;
        *less = *end;
    }
    *end = a ? a : b;
    return head;
}

/* Runs of 1, 2, 4, ... events wait in `run` until there is a second one as long. */
static Event *list_sort(Event *list)
{
    Event *run[32] = {NULL};

    while (list) {
        Event *carry = list;
        unsigned i = 0;
        list = list->next;
        carry->next = NULL;
        for (; run[i] != NULL; i++) {
            carry = list_merge(run[i], carry);
            run[i] = NULL;
        }
        run[i] = carry;
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(run); i++)
        list = list_merge(run[i], list);
    return list;
}

/* Lists are short, and the wrong way round as far as times are equal: each event goes in front of
 * those before it, or nearly. A long list is sorted the other way. */
static void sort_due(Calendar *calendar, Event *list)
{
    Event *sorted = NULL, *last = list;
    unsigned steps = 0;

    for (Event *event = last, *next; event != NULL; event = next) {
        Event **link = &sorted;
        next = event->next;
        while (*link && event_is_before(*link, event)) {
            link = &(*link)->next;
            steps++;
        }
        event->next = *link;
        *link = event;
        if (!event->next)
            last = event;
        if (G_UNLIKELY(steps > SORT_STEPS_MAX)) {
            last->next = next;
            sorted = list_sort(sorted);
            for (last = sorted; last->next != NULL; last = last->next) {
            }
            break;
        }
    }
    calendar->due = sorted;
    calendar->due_last = last;
}

Event *calendar_take_first(Calendar *calendar, unsigned slot, SimTime limit_ps)
{
    sort_due(calendar, calendar->head[slot]);
    if (calendar->due->time_ps > limit_ps) {
        calendar->head[slot] = calendar->due;
        calendar->due = NULL;
        return NULL;
    }
    calendar->head[slot] = NULL;
    calendar_unmark(calendar, slot);
    calendar_turn_to(calendar, calendar->due->time_ps >> CALENDAR_PS_SHIFT);
    return calendar_take_due(calendar, limit_ps);
}

/* The first marked slot in a word after `word`, going round. */
unsigned calendar_find_from_summary(const Calendar *calendar, unsigned word)
{
    unsigned next = (word + 1) & (CALENDAR_WORDS - 1);
    unsigned index = next >> 6;
    uint64_t left = calendar->summary[index] & (UINT64_MAX << (next & 63));

    for (unsigned i = 0; left == 0; i++) {
        if (i > CALENDAR_SUMMARY)
            return CALENDAR_EMPTY;
        index = (index + 1) % CALENDAR_SUMMARY;
        left = calendar->summary[index];
    }
    unsigned found = index * 64 + (unsigned)__builtin_ctzll(left);
    return found * 64 + (unsigned)__builtin_ctzll(calendar->words[found]);
}

/* Nothing is in the wheel: it may turn to what the heap has. */
Event *calendar_take_far(Calendar *calendar, SimTime limit_ps)
{
    if (calendar->far_n == 0 || calendar->far[0].time_ps > limit_ps)
        return NULL;
    calendar_turn_to(calendar, calendar->far_bucket);
    return calendar_take(calendar, limit_ps);
}

SimTime calendar_next_ps(Calendar *calendar)
{
    if (calendar->due)
        return calendar->due->time_ps;
    unsigned slot = calendar->turn & CALENDAR_MASK;
    uint64_t word = calendar->words[slot >> 6] >> (slot & 63);
    unsigned found = word != 0 ? slot + (unsigned)__builtin_ctzll(word)
                               : calendar_find_from_summary(calendar, slot >> 6);

    if (found == CALENDAR_EMPTY)
        return calendar->far_n > 0 ? calendar->far[0].time_ps : SIMTIME_NEVER;
    SimTime next_ps = SIMTIME_NEVER;
    for (Event *event = calendar->head[found]; event != NULL; event = event->next)
        next_ps = MIN(next_ps, event->time_ps);
    return next_ps;
}

/* ---- the heap ---- */

static gboolean far_is_before(const CalendarFar *a, const CalendarFar *b)
{
    return a->time_ps < b->time_ps || (a->time_ps == b->time_ps && a->order < b->order);
}

static void far_put(Calendar *calendar, gsize at, CalendarFar entry)
{
    calendar->far[at] = entry;
    entry.event->place = CALENDAR_PLACE_FAR + (uint32_t)at;
}

static void far_sift_up(Calendar *calendar, gsize at, CalendarFar entry)
{
    while (at > 0 && far_is_before(&entry, &calendar->far[(at - 1) / 2])) {
        far_put(calendar, at, calendar->far[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    far_put(calendar, at, entry);
}

static void far_sift_down(Calendar *calendar, gsize at, CalendarFar entry)
{
    for (;;) {
        gsize child = 2 * at + 1;
        if (child >= calendar->far_n)
            break;
        if (child + 1 < calendar->far_n && far_is_before(&calendar->far[child + 1], &calendar->far[child]))
            child++;
        if (!far_is_before(&calendar->far[child], &entry))
            break;
        far_put(calendar, at, calendar->far[child]);
        at = child;
    }
    far_put(calendar, at, entry);
}

static void far_note_top(Calendar *calendar)
{
    calendar->far_bucket = calendar->far_n > 0 ? calendar->far[0].time_ps >> CALENDAR_PS_SHIFT : UINT64_MAX;
}

static void push_far(Calendar *calendar, Event *event)
{
    if (calendar->far_n == calendar->far_size) {
        calendar->far_size = MAX(64, 2 * calendar->far_size);
        calendar->far = g_renew(CalendarFar, calendar->far, calendar->far_size);
    }
    g_assert(calendar->far_n < UINT32_MAX - CALENDAR_PLACE_FAR);
    far_sift_up(calendar, calendar->far_n++, (CalendarFar){event->time_ps, event->order, event});
    far_note_top(calendar);
}

static void remove_far(Calendar *calendar, Event *event)
{
    gsize at = event->place - CALENDAR_PLACE_FAR;
    g_assert(event->place >= CALENDAR_PLACE_FAR && at < calendar->far_n);
    g_assert(calendar->far[at].event == event);

    CalendarFar last = calendar->far[--calendar->far_n];
    event->place = CALENDAR_PLACE_IDLE;
    if (last.event != event) {
        if (at > 0 && far_is_before(&last, &calendar->far[(at - 1) / 2]))
            far_sift_up(calendar, at, last);
        else
            far_sift_down(calendar, at, last);
    }
    far_note_top(calendar);
}

void calendar_refill(Calendar *calendar)
{
    while (calendar->far_n > 0 && calendar->far_bucket - calendar->turn < CALENDAR_BUCKETS) {
        Event *event = calendar->far[0].event;
        remove_far(calendar, event);
        calendar_insert(calendar, event);
    }
}

void calendar_remove(Calendar *calendar, Event *event)
{
    if (event->place != CALENDAR_PLACE_WHEEL) {
        remove_far(calendar, event);
        return;
    }
    uint64_t bucket = event->time_ps >> CALENDAR_PS_SHIFT;
    unsigned slot = bucket & CALENDAR_MASK;
    gboolean due = bucket == calendar->turn && calendar->due;
    Event **link = due ? &calendar->due : &calendar->head[slot], *before = NULL;
    for (; *link != event; link = &before->next)
        before = *link;
    *link = event->next;
    event->place = CALENDAR_PLACE_IDLE;
    if (due && !event->next)
        calendar->due_last = before;
    else if (!due && !calendar->head[slot])
        calendar_unmark(calendar, slot);
}
