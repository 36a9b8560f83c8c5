/* The wheel alone, against a sorted list. */
#include "tests/test.h"

#include "sim/engine/calendar.h"
#include "sim/rng.h"

static void never_fired(Event *event, SimTime now_ps)
{
    (void)event;
    (void)now_ps;
    fail();
}

static void insert(Calendar *calendar, Event *event, SimTime time_ps, uint64_t order)
{
    event_init(event, never_fired);
    event->time_ps = time_ps;
    event->order = order;
    calendar_insert(calendar, event);
}

static Event *take(Calendar *calendar) { return calendar_take(calendar, SIMTIME_NEVER); }

/* Proves the order inside one bucket of 64 ps, whatever the order of insertion. */
static void test_one_bucket(void **state)
{
    (void)state;
    Calendar *calendar = calendar_new();
    Event events[6];
    static const SimTime times[] = {63, 0, 63, 5, 5, 1};
    static const int expected[] = {1, 5, 3, 4, 0, 2};

    for (int i = 0; i < 6; i++)
        insert(calendar, &events[i], times[i], (uint64_t)i);
    for (int i = 0; i < 6; i++) {
        assert_ptr_equal(take(calendar), &events[expected[i]]);
        assert_false(event_is_pending(&events[expected[i]]));
    }
    assert_null(take(calendar));
    calendar_free(calendar);
}

/* Proves that a limit holds events back without moving the wheel, so that earlier ones still go
 * in. */
static void test_limit(void **state)
{
    (void)state;
    Calendar *calendar = calendar_new();
    Event far, near, nearest;

    insert(calendar, &far, 10 * PS_PER_MS, 0);
    assert_null(calendar_take(calendar, 10 * PS_PER_MS - 1));
    assert_int_equal(calendar_next_ps(calendar), 10 * PS_PER_MS);
    insert(calendar, &near, 5000, 1);
    assert_null(calendar_take(calendar, 4999));
    insert(calendar, &nearest, 100, 2);
    assert_ptr_equal(take(calendar), &nearest);
    assert_ptr_equal(take(calendar), &near);
    assert_ptr_equal(take(calendar), &far);
    assert_int_equal(calendar_next_ps(calendar), SIMTIME_NEVER);
    calendar_free(calendar);
}

typedef struct {
    Event event;
    gboolean in;
} Entry;

#define ENTRIES 400

static Entry *earliest(Entry *entries)
{
    Entry *best = NULL;
    for (int i = 0; i < ENTRIES; i++)
        if (entries[i].in && (!best || event_is_before(&entries[i].event, &best->event)))
            best = &entries[i];
    return best;
}

/* Proves, over 20 random histories of inserts, takes and cancels, near and far beyond the wheel's
 * span, that the wheel always gives what a search through everything gives. */
static void test_against_search(void **state)
{
    (void)state;
    static Entry entries[ENTRIES];
    static const SimTime spans[] = {1, 64, 700, 100000, 2000000, 50000000};

    for (guint64 seed = 0; seed < 20; seed++) {
        Calendar *calendar = calendar_new();
        Rng rng;
        SimTime now_ps = 0;
        rng_init(&rng, seed, "calendar");
        memset(entries, 0, sizeof entries);
        for (uint64_t step = 0; step < 5000; step++) {
            Entry *entry = &entries[rng_below(&rng, ENTRIES)];
            guint64 deed = rng_below(&rng, 5);
            if (deed < 3 && !entry->in) {
                SimTime span_ps = spans[rng_below(&rng, G_N_ELEMENTS(spans))];
                uint64_t order = rng_below(&rng, 4) << 62 | step;
                insert(calendar, &entry->event, now_ps + rng_below(&rng, span_ps), order);
                entry->in = TRUE;
            } else if (deed == 3 && entry->in) {
                calendar_remove(calendar, &entry->event);
                entry->in = FALSE;
            } else {
                Entry *expected = earliest(entries);
                SimTime next_ps = calendar_next_ps(calendar);
                Event *event = take(calendar);
                assert_ptr_equal(event, expected ? &expected->event : NULL);
                if (event) {
                    assert_int_equal(next_ps, event->time_ps);
                    now_ps = event->time_ps;
                    expected->in = FALSE;
                }
            }
        }
        calendar_free(calendar);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_bucket),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_against_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
