#include "tests/test.h"

#include "sim/param/nearest.h"

static const char *const verbs[] = {"systems", "coll", "bench", "validate", "replay", NULL};

/* Proves that each kind of single slip (missing, extra, wrong, swapped letter, case) finds its
 * name. */
static void test_one_slip(void **state)
{
    (void)state;
    assert_string_equal(nearest_name("sytems", verbs), "systems");
    assert_string_equal(nearest_name("colll", verbs), "coll");
    assert_string_equal(nearest_name("bunch", verbs), "bench");
    assert_string_equal(nearest_name("relpay", verbs), "replay");
    assert_string_equal(nearest_name("VALIDATE", verbs), "validate");
}

/* Proves that a word which is like none of the names gets no guess, but the whole list. */
static void test_nothing_near(void **state)
{
    (void)state;
    assert_null(nearest_name("xyzzy", verbs));
    assert_null(nearest_name("", verbs));
    char *hint = nearest_hint("xyzzy", verbs);
    assert_string_equal(hint, "; known are systems, coll, bench, validate, replay");
    g_free(hint);
    hint = nearest_hint("rpelay", verbs);
    assert_string_equal(hint, "; did you mean 'replay'?");
    g_free(hint);
}

/* Proves that a word longer than any table of distances is refused, not read past its end. */
static void test_long_word(void **state)
{
    (void)state;
    char *word = g_strnfill(100000, 'a');
    assert_null(nearest_name(word, verbs));
    g_free(word);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_slip),
        cmocka_unit_test(test_nothing_near),
        cmocka_unit_test(test_long_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
