/* model/fastpath/arrival_queue: packets in order of time, whatever the order in which they were put in. */
#include "tests/test.h"

#include "model/fastpath/arrival_queue.h"
#include "sim/rng.h"

/* Proves that arrivals come out in order of time, those of one instant by their order, while others are put in. */
static void test_order(void **state)
{
    (void)state;
    enum { ALL = 20000 };
    ArrivalQueue queue = {NULL, 0, 0};
    Rng rng;
    guint32 pushed = 0, dropped = 0;
    SimTime now_ps = 0;
    guint64 order = 0;
    rng_init(&rng, 1, "arrivals");
    while (dropped < ALL) {
        if (pushed < ALL && (queue.count == 0 || rng_below(&rng, 100) < 55)) {
            SimTime at_ps = now_ps + 1 + rng_below(&rng, 300);
            arrival_queue_push(&queue, (Arrival){at_ps, rng_below(&rng, 8) << 32 | pushed, {.txn = pushed}});
            pushed++;
            continue;
        }
        const Arrival *first = arrival_queue_first(&queue);
        assert_true(first->at_ps > now_ps || (first->at_ps == now_ps && first->order > order));
        assert_int_equal(first->packet.txn, (guint32)first->order); /* what was put in with it */
        now_ps = first->at_ps;
        order = first->order;
        arrival_queue_drop(&queue);
        dropped++;
    }
    assert_int_equal(queue.count, 0);
    arrival_queue_clear(&queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
