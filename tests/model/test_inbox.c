#include "tests/model/model_test.h"

#include "model/fastpath/inbox.h"
#include "sim/rng.h"

typedef struct {
    SimTime at_ps;
    guint32 order, number;
} Due;

static gint due_compare(gconstpointer a, gconstpointer b)
{
    const Due *x = a, *y = b;
    if (x->at_ps != y->at_ps)
        return x->at_ps < y->at_ps ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Pushes up to `most` entries within reach_ps of the last one taken and takes some, against a sorted array. */
static void run_against_sorting(guint64 seed, SimTime reach_ps, guint32 most)
{
    Inbox inbox;
    g_autoptr(GArray) sorted = g_array_new(FALSE, FALSE, sizeof(Due));
    SimTime now_ps = 0;
    Rng rng;
    rng_init(&rng, seed, "inbox");
    inbox_init(&inbox);
    for (guint32 number = 1; number < 4000; number++) {
        /* two at one instant have different orders, as two links have */
        Due due = {now_ps + rng_below(&rng, reach_ps), number * 7919 % 4001, number};
        gboolean first = sorted->len == 0 || due_compare(&due, &g_array_index(sorted, Due, 0)) < 0;
        assert_int_equal(inbox_push(&inbox, (Packet){.txn = number}, due.at_ps, due.order, now_ps), first);
        g_array_append_val(sorted, due);
        g_array_sort(sorted, due_compare);
        while (sorted->len > most || (sorted->len && rng_below(&rng, 2))) {
            Due want = g_array_index(sorted, Due, 0);
            assert_true(inbox.first_ps == want.at_ps);
            assert_int_equal((guint32)inbox_first(&inbox)->key, want.order);
            assert_int_equal(inbox_pop(&inbox).txn, want.number);
            assert_int_equal(inbox_has_any(&inbox), sorted->len > 1);
            g_array_remove_index(sorted, 0);
            now_ps = want.at_ps;
        }
    }
    inbox_clear(&inbox);
}

/* Proves that entries come out by time and order, whether they lie in one span, in all, or further apart. */
static void test_order(void **state)
{
    (void)state;
    static const SimTime reach_ps[] = {1, 3, 4096, 200000, 262144, 3000000, 2000000000};
    for (guint i = 0; i < G_N_ELEMENTS(reach_ps); i++)
        for (guint64 seed = 1; seed <= 5; seed++)
            run_against_sorting(seed, reach_ps[i], seed < 3 ? 3 : 100);
}

/* Proves that an inbox which has emptied takes earlier times than those it had, and far later ones. */
static void test_empty(void **state)
{
    (void)state;
    Inbox inbox;
    inbox_init(&inbox);
    static const SimTime at_ps[] = {1000000, 500000, 500001, 9000000000, 12};
    for (guint i = 0; i < G_N_ELEMENTS(at_ps); i++) {
        assert_true(inbox_push(&inbox, (Packet){.txn = i}, at_ps[i], 0, at_ps[i]));
        assert_int_equal(inbox_pop(&inbox).txn, i);
        assert_false(inbox_has_any(&inbox));
    }
    inbox_clear(&inbox);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order), cmocka_unit_test(test_empty)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
