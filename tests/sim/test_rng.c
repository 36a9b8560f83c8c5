#include "tests/test.h"

#include "sim/rng.h"

/* Proves that the generator is xoshiro256**: its first outputs from a known state (worked out by
 * hand from the published recurrence: with s = 1, 2, 3, 4 the first result is rotl(2 * 5, 7) * 9). */
static void test_known_numbers(void **state)
{
    (void)state;
    Rng rng = {{1, 2, 3, 4}};
    assert_int_equal(rng_next(&rng), 11520);
    assert_int_equal(rng_next(&rng), 0);
    assert_int_equal(rng_next(&rng), 1509978240);
    assert_int_equal(rng_next(&rng), 1215971899390074240);
}

/* Proves that a stream depends on seed and name only, and that different names give different
 * streams. */
static void test_streams_by_name(void **state)
{
    (void)state;
    Rng a, b, c, d;
    rng_init(&a, 7, "link.0");
    rng_init(&b, 7, "link.0");
    rng_init(&c, 7, "link.1");
    rng_init(&d, 8, "link.0");
    for (int i = 0; i < 100; i++) {
        guint64 next = rng_next(&a);
        assert_int_equal(next, rng_next(&b));
        assert_int_not_equal(next, rng_next(&c));
        assert_int_not_equal(next, rng_next(&d));
    }
}

/* Proves that draws below a bound stay below it and hit each value about equally often. */
static void test_below(void **state)
{
    (void)state;
    Rng rng;
    guint seen[10] = {0};
    rng_init(&rng, 1, "below");
    for (int i = 0; i < 100000; i++) {
        guint64 value = rng_below(&rng, 10);
        assert_true(value < 10);
        seen[value]++;
    }
    for (int i = 0; i < 10; i++)
        assert_in_range(seen[i], 9700, 10300); /* 10000 +- 3 standard deviations of 95 */
    assert_int_equal(rng_below(&rng, 1), 0);
    assert_true(rng_below(&rng, G_MAXUINT64) < G_MAXUINT64);
}

/* Proves that exponential gaps have the wanted mean, and e^-1 of them are longer than it. */
static void test_exponential(void **state)
{
    (void)state;
    Rng rng;
    guint64 sum = 0;
    guint longer = 0;
    rng_init(&rng, 1, "gaps");
    for (int i = 0; i < 100000; i++) {
        guint64 gap_ps = rng_exponential_ps(&rng, 1000000);
        sum += gap_ps;
        longer += gap_ps > 1000000;
    }
    assert_in_range(sum / 100000, 990000, 1010000);
    assert_in_range(longer, 36330, 37250);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_numbers),
        cmocka_unit_test(test_streams_by_name),
        cmocka_unit_test(test_below),
        cmocka_unit_test(test_exponential),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
