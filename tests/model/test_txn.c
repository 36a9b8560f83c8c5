/* model/shared/txn: what requests keep while they are under way. */
#include "tests/test.h"

#include <string.h>

#include "model/shared/txn.h"

static guint32 take(TxnPool *pool, guint32 tag)
{
    return txn_take_multicast(pool, (TxnMulticast){.start_ps = tag, .tag = tag, .next = TXN_NONE});
}

/* Proves that brief multicasts are numbered in turn, that none is given out twice, and that all keep what they are
 * while the pool grows and others come and go, most of them in order. */
static void test_in_turn(void **state)
{
    (void)state;
    enum { WINDOW = 700, ALL = 5000 };
    TxnPool pool;
    guint32 live[WINDOW], n = 0, last = 0, turns = 0;
    txn_pool_init(&pool);
    for (guint32 i = 0; i < ALL; i++) {
        if (n == WINDOW) {
            guint32 k = i % 10 ? 0 : i * 7919u % WINDOW;
            txn_give_multicast(&pool, txn_multicast(&pool, live[k]));
            memmove(&live[k], &live[k + 1], (--n - k) * sizeof *live);
        }
        guint32 index = take(&pool, i);
        assert_true(txn_is_brief(index) && index <= PACKET_TXN_MAX);
        turns += index == last + 1;
        live[n++] = last = index;
        assert_int_equal(pool.used, n);
    }
    for (guint32 k = 1; k < n; k++) /* what is left has come in this order */
        assert_true(txn_multicast(&pool, live[k - 1])->tag < txn_multicast(&pool, live[k])->tag);
    assert_true(turns > ALL / 2);
    txn_pool_clear(&pool);
}

/* Proves that brief multicasts share what they are like, that few kinds are kept, and that others take their place once
 * nothing is under way. */
static void test_likes(void **state)
{
    (void)state;
    TxnPool pool;
    txn_pool_init(&pool);
    guint32 index = take(&pool, 1);
    for (guint32 round = 0; round < 2; round++)
        for (guint32 o = 0; o < TXN_LIKES; o++)
            assert_int_equal(txn_like(&pool, o % 2, &(TxnLike){NULL, o, 7}), o);
    assert_int_equal(txn_like(&pool, 0, &(TxnLike){NULL, TXN_LIKES, 7}), TXN_LIKES);
    assert_int_equal(txn_like(&pool, 0, &(TxnLike){NULL, 0, 7}), 0);
    txn_give_multicast(&pool, txn_multicast(&pool, index));
    assert_int_equal(txn_like(&pool, 0, &(TxnLike){NULL, TXN_LIKES, 7}), 0);
    take(&pool, 2);
    assert_int_equal(txn_like(&pool, 0, &(TxnLike){NULL, 0, 7}), 1);
    txn_pool_clear(&pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_in_turn), cmocka_unit_test(test_likes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
