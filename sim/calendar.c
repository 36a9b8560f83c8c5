/* The wheel's slow paths: the heap of far events, refilling, and inserting before others. */
#include "sim/calendar.h"

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

void calendar_insert_sorted(Event **head, Event *event)
{
    Event *before = (*head)->prev;

    while (before != *head && event_is_before(event, before)) {
        before = before->prev;
    }
    if (before == *head && event_is_before(event, before)) {
        event->next = *head;
        event->prev = (*head)->prev;
        (*head)->prev = event;
        *head = event;
        return;
    }
    event->prev = before;
    event->next = before->next;
    if (before->next != NULL) {
        before->next->prev = event;
    } else {
        (*head)->prev = event;
    }
    before->next = event;
}

/* The first marked slot in a word after `word`, going round: the wheel is not empty. */
unsigned calendar_find_from_summary(const Calendar *calendar, unsigned word)
{
    unsigned next = (word + 1) & (CALENDAR_WORDS - 1);
    unsigned index = next >> 6;
    uint64_t left = calendar->summary[index] & (UINT64_MAX << (next & 63));

    for (unsigned i = 0; left == 0; i++) {
        g_assert(i <= CALENDAR_SUMMARY);
        index = (index + 1) % CALENDAR_SUMMARY;
        left = calendar->summary[index];
    }
    unsigned found = index * 64 + (unsigned)__builtin_ctzll(left);
    return found * 64 + (unsigned)__builtin_ctzll(calendar->words[found]);
}

SimTime calendar_next_ps(const Calendar *calendar)
{
    unsigned slot = calendar->turn & CALENDAR_MASK;

    if (calendar->near_n == 0) {
        return calendar->far_n > 0 ? calendar->far[0].time_ps : SIMTIME_NEVER;
    }
    uint64_t word = calendar->words[slot >> 6] >> (slot & 63);
    unsigned found = word != 0 ? slot + (unsigned)__builtin_ctzll(word)
                               : calendar_find_from_summary(calendar, slot >> 6);
    return calendar->head[found]->time_ps;
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
        if (child >= calendar->far_n) {
            break;
        }
        if (child + 1 < calendar->far_n &&
            far_is_before(&calendar->far[child + 1], &calendar->far[child])) {
            child++;
        }
        if (!far_is_before(&calendar->far[child], &entry)) {
            break;
        }
        far_put(calendar, at, calendar->far[child]);
        at = child;
    }
    far_put(calendar, at, entry);
}

static void far_note_top(Calendar *calendar)
{
    calendar->far_bucket =
        calendar->far_n > 0 ? calendar->far[0].time_ps >> CALENDAR_PS_SHIFT : UINT64_MAX;
}

void calendar_push_far(Calendar *calendar, Event *event)
{
    if (calendar->far_n == calendar->far_size) {
        calendar->far_size = MAX(64, 2 * calendar->far_size);
        calendar->far = g_renew(CalendarFar, calendar->far, calendar->far_size);
    }
    g_assert(calendar->far_n < UINT32_MAX - CALENDAR_PLACE_FAR);
    far_sift_up(calendar, calendar->far_n++,
                (CalendarFar){event->time_ps, event->order, event});
    far_note_top(calendar);
}

void calendar_remove_far(Calendar *calendar, Event *event)
{
    gsize at = event->place - CALENDAR_PLACE_FAR;
    g_assert(event->place >= CALENDAR_PLACE_FAR && at < calendar->far_n);
    g_assert(calendar->far[at].event == event);

    CalendarFar last = calendar->far[--calendar->far_n];
    event->place = CALENDAR_PLACE_IDLE;
    if (last.event != event) {
        if (at > 0 && far_is_before(&last, &calendar->far[(at - 1) / 2])) {
            far_sift_up(calendar, at, last);
        } else {
            far_sift_down(calendar, at, last);
        }
    }
    far_note_top(calendar);
}

/* Nothing earlier than `bucket` is pending: the wheel may start there. */
void calendar_turn_to(Calendar *calendar, uint64_t bucket)
{
    g_assert(bucket >= calendar->turn);
    calendar->turn = bucket;
    while (calendar->far_n > 0 && calendar->far_bucket - bucket < CALENDAR_BUCKETS) {
        Event *event = calendar->far[0].event;
        calendar_remove_far(calendar, event);
        calendar_insert(calendar, event);
    }
}
