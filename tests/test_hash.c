#include "tests/model_test.h"

#include "model/hash.h"

/* Proves that all bytes of one 256 B chunk travel on one link, and that the choice is a pure function. */
static void test_chunk(void **state)
{
    (void)state;
    g_autofree Hash *hash = g_new0(Hash, 1), *twin = g_new0(Hash, 1);
    hash_init(hash, 18, 15, 1);
    hash_init(twin, 18, 15, 1);
    for (guint64 chunk = 0; chunk < 4096; chunk++) {
        guint32 link = hash_link(hash, chunk * 256, 5);
        assert_true(link < 18);
        assert_int_equal(hash_link(hash, chunk * 256 + 255, 5), link);
        assert_int_equal(hash_link(twin, chunk * 256 + 128, 5), link);
    }
}

/* Proves that chunks which differ only in the mask's bits travel on distinct links, as far as there are any. */
static void test_block(void **state)
{
    (void)state;
    static const guint32 links[] = {2, 12, 18, 36};
    g_autofree Hash *hash = g_new0(Hash, 1);
    for (guint i = 0; i < G_N_ELEMENTS(links); i++) {
        hash_init(hash, links[i], 15, 1);
        for (guint64 block = 0; block < 500; block++) {
            guint64 seen = 0;
            for (guint64 c = 0; c < 16; c++)
                seen |= 1ull << hash_link(hash, (block * 16 + c) * 256, 9);
            assert_int_equal(__builtin_popcountll(seen), MIN(16, links[i]));
        }
    }
}

/* Proves that a long sweep loads all links alike: none is more than 3 % off its share over 64 K chunks. */
static void test_even(void **state)
{
    (void)state;
    static const guint32 links[] = {2, 3, 17, 18};
    g_autofree Hash *hash = g_new0(Hash, 1);
    for (guint i = 0; i < G_N_ELEMENTS(links); i++) {
        guint32 load[64] = {0};
        hash_init(hash, links[i], 15, 1);
        for (guint64 c = 0; c < 65536; c++)
            load[hash_link(hash, c * 256, 1)]++;
        for (guint32 l = 0; l < links[i]; l++)
            if (ABS((double)load[l] * links[i] / 65536 - 1) > 0.03)
                fail_msg("link %u of %u carries %u of 65536 chunks", l, links[i], load[l]);
    }
}

/* Proves that reader and owner take part: two pairs agree on a chunk's link about as often as chance says. */
static void test_salt(void **state)
{
    (void)state;
    g_autofree Hash *hash = g_new0(Hash, 1);
    hash_init(hash, 18, 15, 1);
    guint32 same = 0;
    for (guint64 c = 0; c < 18000; c++)
        same += hash_link(hash, c * 256, 111) == hash_link(hash, c * 256, 222);
    assert_in_range(same, 700, 1300);
}

/* Proves that all GPUs send a multicast address by the same link, so that copies and operands meet. */
static void test_multicast_agrees(void **state)
{
    (void)state;
    Bed bed;
    bed_open(&bed, "dgx-h100", NULL, NULL);
    MemRegion *region[8];
    McObject *object = bed_team(&bed, 8, 1 << 20, region);
    guint32 load[18] = {0};
    for (guint64 at = 0; at < 1 << 20; at += 128) {
        GpuRequest request = {.kind = PACKET_MC_WRITE, .object = object, .offset = at, .bytes = 128};
        guint32 link = gpu_link_of(&bed.fabric->gpu[0], &request);
        load[link]++;
        for (guint16 g = 1; g < 8; g++)
            assert_int_equal(gpu_link_of(&bed.fabric->gpu[g], &request), link);
    }
    for (guint l = 0; l < 18; l++)
        assert_in_range(load[l], 8192 / 18 * 8 / 10, 8192 / 18 * 12 / 10);
    bed_close(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chunk), cmocka_unit_test(test_block), cmocka_unit_test(test_even),
        cmocka_unit_test(test_salt),  cmocka_unit_test(test_multicast_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
