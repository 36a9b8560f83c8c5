#include "tests/model/model_test.h"

#include <stdio.h>

#include "model/memory/address_hash.h"

static guint hash_distinct(const Hash *hash, guint64 first, guint n)
{
    guint64 seen = 0;
    for (guint c = 0; c < n; c++)
        seen |= 1ull << hash_link(hash, (first + c) * 256, 0);
    return (guint)__builtin_popcountll(seen);
}

/* Proves that the first 64 chunks of a measured buffer travel on the links that were counted. */
static void test_first_chunks(void **state)
{
    (void)state;
    static const guint8 link[64] = {
        0,  1,  8,  9,  16, 17, 0,  1,  17, 16, 3,  2,  9,  8,  13, 12, 10, 11, 14, 15, 0,  1,
        10, 11, 5,  4,  7,  6,  13, 12, 3,  2,  15, 14, 1,  0,  5,  4,  9,  8,  2,  3,  10, 11,
        10, 11, 12, 13, 7,  6,  15, 14, 17, 16, 1,  0,  16, 17, 2,  3,  2,  3,  6,  7,
    };
    g_autofree Hash *hash = g_new0(Hash, 1);
    hash_init(hash, 18);
    for (guint64 chunk = 0; chunk < 64; chunk++)
        for (guint64 byte = 0; byte < 256; byte += 85)
            assert_int_equal(hash_link(hash, chunk * 256 + byte, 0), link[chunk]);
}

/* Proves that all measured chunks agree: those of pages all over 8 GiB, of five requesters and four owners. */
static void test_measured(void **state)
{
    (void)state;
    const char *top = g_getenv("TOP_SRCDIR");
    g_autofree char *path = g_build_filename(top ? top : ".", "docs/measurements/h200_link_of_chunk.csv", NULL);
    g_autofree char *text = NULL;
    assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    g_autofree Hash *hash = g_new0(Hash, 1);
    hash_init(hash, 18);
    guint writes = 0;
    for (guint i = 1; line[i] && *line[i]; i++) {
        guint gpu, peer, link;
        guint64 offset;
        if (sscanf(line[i], "write,%u,%u,%" G_GUINT64_FORMAT ",%u,", &gpu, &peer, &offset, &link) != 4)
            continue; /* of reads the link at the owner was counted */
        writes++;
        if (hash_link(hash, offset, 0) != link)
            fail_msg("%s: line %u: measured link %u, the hash says %u", path, i + 1, link, hash_link(hash, offset, 0));
    }
    assert_int_equal(writes, 10739);
}

/* Proves the measured numbers of distinct links in aligned windows, and the measured largest loads of one link
 * that footprint_bw shows (its 32 of 512, 122 of 2048 and 243 of 4096 are within 1 %). */
static void test_windows(void **state)
{
    (void)state;
    g_autofree Hash *hash = g_new0(Hash, 1);
    hash_init(hash, 18);
    static const guint low[] = {2, 4, 6, 10, 14, 16}, high[] = {2, 4, 8, 14, 18, 18};
    for (guint k = 0; k < G_N_ELEMENTS(low); k++)
        for (guint64 first = 0; first < 1 << 16; first += 2u << k) {
            guint distinct = hash_distinct(hash, first, 2u << k);
            assert_true(distinct == low[k] || distinct == high[k]);
        }
    static const guint32 most[] = {1, 1, 1, 2, 2, 3, 5, 9, 17, 31, 61, 120, 241};
    for (guint k = 0; k < G_N_ELEMENTS(most); k++) {
        guint32 load[18] = {0}, top = 0;
        for (guint64 c = 0; c < 1u << k; c++) {
            guint32 link = hash_link(hash, c * 256, 0);
            load[link]++;
            top = MAX(top, load[link]);
        }
        assert_int_equal(top, most[k]);
    }
}

/* Proves that a long sweep loads all links alike whatever their number: none is more than 1.5 % off its share over
 * 64 MiB, and that the two chunks of a pair never share a link. */
static void test_even(void **state)
{
    (void)state;
    static const guint32 links[] = {1, 2, 3, 4, 5, 6, 8, 9, 12, 17, 18, 32, 36, 64};
    g_autofree Hash *hash = g_new0(Hash, 1);
    for (guint i = 0; i < G_N_ELEMENTS(links); i++) {
        guint32 load[64] = {0}, chunks = 1u << 18;
        hash_init(hash, links[i]);
        for (guint64 c = 0; c < chunks; c++) {
            guint32 link = hash_link(hash, c * 256, 0);
            assert_true(link < links[i]);
            load[link]++;
            if (links[i] > 1 && c % 2)
                assert_int_not_equal(link, hash_link(hash, (c - 1) * 256, 0));
        }
        for (guint32 l = 0; l < links[i]; l++)
            if (ABS((double)load[l] * links[i] / chunks - 1) > 0.015)
                fail_msg("link %u of %u carries %u of %u chunks", l, links[i], load[l], chunks);
    }
}

/* Proves that GPUs number their links differently: of one address all choices are distinct while links last, each
 * is a permutation of the links, and a turn of 0 changes nothing. */
static void test_turns(void **state)
{
    (void)state;
    static const guint32 links[] = {2, 12, 17, 18};
    g_autofree Hash *hash = g_new0(Hash, 1);
    for (guint i = 0; i < G_N_ELEMENTS(links); i++) {
        hash_init(hash, links[i]);
        guint64 turns = 0, all = (1ull << links[i]) - 1;
        for (guint32 g = 0; g < links[i]; g++) {
            guint8 turn = hash_gpu_turn(hash, g);
            turns |= 1ull << hash_link(hash, 4096, turn);
            guint64 seen = 0;
            for (guint64 c = 0; c < 4096; c++)
                seen |= 1ull << hash_link(hash, c * 256, turn);
            assert_int_equal(seen, all);
        }
        assert_int_equal(turns, all);
        assert_int_equal(hash_gpu_turn(hash, 0), 0);
    }
}

/* Proves that two readers of one line use two ports of its owner, and that a reader's link does not depend on whose
 * memory it reads. */
static void test_two_readers(void **state)
{
    (void)state;
    Bed bed;
    bed_open(&bed, "dgx-h200", NULL, NULL);
    MemRegion *region[2] = {bed_region(&bed, 0, 4 << 20), bed_region(&bed, 3, 4 << 20)};
    for (guint64 at = 0; at < 4 << 20; at += 4096) {
        GpuRequest request = {.kind = PACKET_READ, .region = region[0], .offset = at, .bytes = 128};
        GpuRequest other = {.kind = PACKET_READ, .region = region[1], .offset = at, .bytes = 128};
        guint32 link = gpu_link_of(&bed.fabric->gpu[1], &request);
        assert_int_not_equal(gpu_link_of(&bed.fabric->gpu[2], &request), link);
        assert_int_equal(gpu_link_of(&bed.fabric->gpu[1], &other), link);
    }
    bed_close(&bed);
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
        assert_in_range(load[l], 8192 / 18 * 9 / 10, 8192 / 18 * 11 / 10);
    bed_close(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_chunks),
        cmocka_unit_test(test_measured),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_even),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_two_readers),
        cmocka_unit_test(test_multicast_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
