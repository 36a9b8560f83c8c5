#include "tests/model/model_test.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Watcher Watcher;
struct Watcher {
    MemWatch watch;
    Memory *memory;
    MemRegion *region;
    guint32 times;
    SimTime at_ps;
    gboolean again;   /* arm again from inside `fire` */
    Watcher *silence; /* unwatch this one from inside `fire` */
    gboolean write;   /* write the same line from inside `fire` */
    GString *order;
    char name;
};

static void watcher_fire(MemWatch *watch, SimTime now_ps)
{
    Watcher *watcher = EVENT_OWNER(watch, Watcher, watch);
    watcher->times++;
    watcher->at_ps = now_ps;
    if (watcher->order)
        g_string_append_c(watcher->order, watcher->name);
    if (watcher->again)
        memory_watch(watcher->memory, watch, watcher->region, 64, 4, watcher_fire);
    if (watcher->silence)
        memory_unwatch(watcher->memory, &watcher->silence->watch);
    if (watcher->write)
        memory_written(watcher->memory, watcher->region->id, 0, 128, now_ps + 5);
}

static void setup(Watcher *watcher, guint n, Memory **memory, MemRegion **region, GString *order)
{
    *memory = memory_new(NULL, TRUE);
    *region = memory_region_new(*memory, 0, 4096, NULL);
    assert_non_null(*region);
    for (guint i = 0; i < n; i++)
        watcher[i] = (Watcher){.memory = *memory, .region = *region, .order = order, .name = (char)('a' + i)};
}

/* Reads all lines of a part of a region; how many of them were not in the L2. */
static guint sweep(MemRegion *region, guint64 offset, guint64 bytes)
{
    guint missed = 0;
    for (guint64 at = offset; at < offset + bytes; at += 128)
        missed += memory_misses(region, at, 128, FALSE);
    return missed;
}

/* Proves that an L2 of 1.25 MiB holds the 1 MiB that was touched last: a sweep over less hits the second time, one over
 * more misses again and again, an access that spans two lines finds both, a copy brings lines, and other GPUs have
 * their own. */
static void test_l2_lines(void **state)
{
    (void)state;
    const guint64 l2 = 1 << 20;
    Memory *memory = memory_new(NULL, FALSE);
    MemRegion *big = memory_region_new(memory, 2, 4 * l2, NULL), *other = memory_region_new(memory, 0, 4 * l2, NULL);
    memory_keep_l2(memory, big, l2 / 4 * 5);
    memory_keep_l2(memory, other, l2 / 4 * 5);
    assert_int_equal(sweep(big, 0, l2 / 2), l2 / 2 / 128);
    assert_int_equal(sweep(big, 0, l2 / 2), 0);
    assert_int_equal(sweep(big, l2, l2 / 4), l2 / 4 / 128);
    assert_int_equal(sweep(big, 0, l2 / 2), 0);
    sweep(other, 0, 4 * l2);
    assert_int_equal(sweep(big, 0, l2 / 2), 0);
    assert_int_equal(sweep(big, 0, 2 * l2), (2 * l2 - l2 / 2) / 128); /* the quarter is the oldest: it goes before */
    for (int i = 0; i < 3; i++)
        assert_int_equal(sweep(big, 0, 2 * l2), 2 * l2 / 128);
    assert_true(memory_misses(big, 3 * l2 + 120, 16, FALSE));
    assert_false(memory_misses(big, 3 * l2, 128, FALSE));
    assert_false(memory_misses(big, 3 * l2 + 128, 128, FALSE));
    assert_true(memory_misses(big, 3 * l2 + 256, 4, FALSE));
    l2_lines_bring(big->l2, 3 * l2 + 8192 + 64, l2 / 2);
    assert_int_equal(sweep(big, 3 * l2 + 8192, l2 / 2 + 128), 0);
    memory_free(memory);
}

/* Proves that nothing misses while all memory of a GPU fits into its L2, and that a region that fits by itself and was
 * never touched is there when memory beside it makes the L2 too small. */
static void test_l2_fits(void **state)
{
    (void)state;
    const guint64 l2 = 1 << 20;
    Memory *memory = memory_new(NULL, FALSE);
    MemRegion *first = memory_region_new(memory, 1, l2 / 2, NULL), *second = memory_region_new(memory, 1, l2 / 2, NULL);
    memory_keep_l2(memory, first, l2 / 4 * 5);
    memory_keep_l2(memory, second, l2 / 4 * 5);
    assert_int_equal(sweep(first, 0, l2 / 2) + sweep(second, 0, l2 / 2), 0);
    MemRegion *third = memory_region_new(memory, 1, 2 * l2, NULL);
    memory_keep_l2(memory, third, l2 / 4 * 5);
    assert_int_equal(sweep(first, 0, l2 / 2), 0);
    assert_int_equal(sweep(third, 0, 2 * l2), 2 * l2 / 128);
    assert_int_equal(sweep(first, 0, l2 / 2), l2 / 2 / 128);
    memory_region_unref(memory, third);
    assert_int_equal(sweep(first, 0, l2 / 2) + sweep(second, 0, l2 / 2), 0);
    MemRegion *host = memory_region_new(memory, MEMORY_HOST, 4 * l2, NULL);
    memory_keep_l2(memory, host, l2 / 4 * 5);
    assert_null(host->l2);
    memory_free(memory);
}

/* Proves that a region keeps what is written, starts as zeros, and lives exactly as long as its references. */
static void test_region(void **state)
{
    (void)state;
    Memory *memory = memory_new(NULL, TRUE);
    MemRegion *region = memory_region_new(memory, 3, 1 << 20, NULL);
    assert_int_equal(region->gpu, 3);
    assert_int_equal(region->host[12345], 0);
    region->host[12345] = 7;
    guint32 id = region->id;
    memory_region_ref(region);
    memory_region_unref(memory, region);
    assert_ptr_equal(memory_region(memory, id), region);
    assert_int_equal(region->host[12345], 7);
    memory_region_unref(memory, region);
    assert_null(memory_region(memory, id));
    assert_null(memory_region(memory, 999));
    MemRegion *next = memory_region_new(memory, 0, 64, NULL);
    assert_int_not_equal(next->id, id); /* ids are never used twice */
    memory_free(memory);
}

/* Proves that a timing-only memory has no bytes, save for control regions. */
static void test_timing_only(void **state)
{
    (void)state;
    Memory *memory = memory_new(NULL, FALSE);
    MemRegion *plain = memory_region_new(memory, 0, 1ull << 40, NULL);
    assert_null(plain->host);
    MemRegion *flags = memory_control_region_new(memory, 0, 4096, NULL);
    assert_non_null(flags->host);
    memory_free(memory);
}

/* Proves that a region made around another's file shows the same bytes and survives the first one's end. */
static void test_shared_file(void **state)
{
    (void)state;
    Memory *memory = memory_new(NULL, TRUE);
    int fd = memfd_create("file", 0);
    assert_int_equal(ftruncate(fd, 8192), 0);
    MemRegion *one = memory_region_from_fd(memory, 0, 0, 8192, fd, 0, NULL);
    MemRegion *two = memory_region_from_fd(memory, 1, 0, 8192, fd, 0, NULL);
    close(fd);
    assert_non_null(one);
    assert_non_null(two);
    one->host[8191] = 42;
    memory_region_unref(memory, one);
    assert_int_equal(two->host[8191], 42);
    GError *error = NULL;
    assert_null(memory_region_from_fd(memory, 1, 0, 8192, -1, 0, &error));
    assert_non_null(error);
    g_error_free(error);
    memory_free(memory);
}

/* Proves that a region with a pattern reads as the pattern repeated, across its ends too, and keeps every other byte of
 * it once one is written. */
static void test_pattern(void **state)
{
    (void)state;
    guint8 pattern[1000 + MEMORY_READ_MAX];
    for (guint i = 0; i < sizeof pattern; i++)
        pattern[i] = (guint8)(i % 1000 * 7);
    Memory *memory = memory_new(NULL, TRUE);
    MemRegion *region = memory_region_new(memory, 0, 10100, NULL);
    memory_region_repeat(region, pattern, 1000);
    for (guint at = 0; at < 10100; at += 100)
        for (guint i = 0; i < 100; i++)
            assert_int_equal(memory_read(region, at)[i], pattern[(at + i) % 1000]);
    *memory_bytes(region, 5001) = 99;
    for (guint at = 0; at < 10100; at++)
        assert_int_equal(*memory_read(region, at), at == 5001 ? 99 : pattern[at % 1000]);
    memory_free(memory);
}

/* Proves that bytes in fixed lines are their own answer as long as a region has them unchanged, that an answer under
 * way keeps them when the region changes, and that fixed lines are none of the pool's slots. */
static void test_fixed(void **state)
{
    (void)state;
    DataPool *pool = data_pools_new(2);
    assert_int_equal(data_take(pool), 2); /* slots have two lines each, and number 0 is none */
    const guint32 slot = data_take(pool);
    assert_int_equal(slot, 4);
    assert_int_equal(data_used(pool, 2), 2);
    assert_int_equal(data_fixed(pool, data_at(pool, slot)), 0);

    guint8 *pattern = data_take_fixed(pool, 384 + MEMORY_READ_MAX);
    memset(pattern, 7, 384 + MEMORY_READ_MAX);
    assert_ptr_not_equal(data_take_fixed(pool, 1), NULL);
    assert_null(data_take_fixed(pool, (gsize)4 << 30)); /* the lines above are left */
    Memory *memory = memory_new(NULL, TRUE);
    MemRegion *region = memory_region_new(memory, 0, 4096, NULL);
    memory_region_repeat(region, pattern, 384);
    const guint32 answer = data_fixed(pool, memory_read(region, 384 + 256));
    assert_int_equal(answer, DATA_FIXED + 2);                       /* its third line */
    assert_int_equal(data_fixed(pool, memory_read(region, 64)), 0); /* no line begins there */
    *memory_bytes(region, 384 + 256) = 9;
    assert_int_equal(*memory_read(region, 384 + 256), 9);
    assert_int_equal(*data_at(pool, answer), 7);
    assert_int_equal(data_fixed(pool, memory_read(region, 384 + 256)), 0); /* now it is the region's own */
    data_give(pool, answer);
    assert_int_equal(data_used(pool, 2), 2);

    data_give_fixed(pool);
    data_give_fixed(pool);
    assert_ptr_equal(data_take_fixed(pool, 1), pattern); /* the last has given it back */
    memory_free(memory);
    data_pools_free(pool, 2);
}

static guint polled;
static void on_polled(void *user, MemRegion *region)
{
    assert_ptr_equal(user, region);
    polled++;
}

/* Proves that the addresses in one arena of a GPU do not depend on what another has been given before. */
static void test_arena(void **state)
{
    (void)state;
    const guint64 page = 2u << 20;
    Memory *memory = memory_new(NULL, FALSE);

    assert_int_equal(memory_region_from_fd(memory, 3, 2, page, -1, 0, NULL)->address, 2 * MEMORY_ARENA_ADDRESS);
    assert_int_equal(memory_region_new(memory, 3, 5 * page, NULL)->address, 0);
    assert_int_equal(memory_region_from_fd(memory, 3, 2, page, -1, 0, NULL)->address, 2 * MEMORY_ARENA_ADDRESS + page);
    assert_int_equal(memory_region_new(memory, 3, page, NULL)->address, 5 * page);
    assert_int_equal(memory_region_from_fd(memory, 3, 2, 4096, -1, 0, NULL)->address,
                     2 * MEMORY_ARENA_ADDRESS + MEMORY_SMALL_ADDRESS);
    memory_free(memory);
}

/* Proves that zeros are zeros, also where a part of a page stays, in private memory and in a file; and that clearing
 * what was never written takes none of the host's memory. */
static void test_zero(void **state)
{
    (void)state;
    Memory *memory = memory_new(NULL, TRUE);
    const guint64 bytes = 1u << 20;
    int fd = memfd_create("zero", MFD_CLOEXEC);
    assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
    MemRegion *both[2] = {memory_region_new(memory, 0, bytes, NULL),
                          memory_region_from_fd(memory, 0, 0, bytes, fd, 0, NULL)};
    for (guint r = 0; r < 2; r++) {
        guint8 *host = memory_bytes(both[r], 0);
        memset(host, 1, 50000);
        memory_region_zero(both[r], 100, 40000);
        for (guint32 i = 0; i < 50000; i++)
            assert_int_equal(host[i], i < 100 || i >= 40100);
        memory_region_zero(both[r], 7, 3);
        assert_true(host[6] == 1 && host[7] == 0 && host[9] == 0 && host[10] == 1);
    }
    memory_region_zero(both[1], 0, bytes);
    struct stat held;
    assert_int_equal(fstat(fd, &held), 0);
    assert_int_equal(held.st_blocks, 0);
    for (guint r = 0; r < 2; r++)
        memory_region_unref(memory, both[r]);
    close(fd);
    memory_free(memory);
}

/* Proves that a region changes in time from its first poll on, which is told once; control regions always do. */
static void test_polled(void **state)
{
    (void)state;
    Memory *memory = memory_new(NULL, TRUE);
    MemRegion *region = memory_region_new(memory, 0, 4096, NULL);
    memory_on_polled(memory, on_polled, region);
    assert_false(region->in_time);
    guint32 epoch = memory_epoch(memory);
    memory_poll(memory, region);
    memory_poll(memory, region);
    assert_true(region->in_time);
    assert_int_equal(polled, 1);
    assert_int_not_equal(memory_epoch(memory), epoch); /* requesters ask again */
    assert_true(memory_control_region_new(memory, 0, 4096, NULL)->in_time);
    memory_free(memory);
}

/* Proves that memory the host cannot give is an error that says how much, not a crash. */
static void test_too_much(void **state)
{
    (void)state;
    Memory *memory = memory_new(NULL, TRUE);
    GError *error = NULL;
    assert_null(memory_region_new(memory, 5, 1ull << 62, &error));
    assert_non_null(strstr(error->message, "4611686018427387904"));
    assert_non_null(strstr(error->message, "GPU 5"));
    g_error_free(error);
    memory_free(memory);
}

/* Proves that a watch fires once for a write that touches a byte of it, with that write's time, and not for
 * its neighbours. */
static void test_watch(void **state)
{
    (void)state;
    Watcher w[1];
    Memory *memory;
    MemRegion *region;
    setup(w, 1, &memory, &region, NULL);
    MemRegion *other = memory_region_new(memory, 0, 4096, NULL);
    memory_watch(memory, &w->watch, region, 64, 4, watcher_fire);
    memory_written(memory, region->id, 60, 4, 1);
    memory_written(memory, region->id, 68, 60, 2);
    memory_written(memory, other->id, 64, 4, 3);
    assert_int_equal(w->times, 0);
    memory_written(memory, region->id, 0, 65, 4);
    assert_int_equal(w->times, 1);
    assert_true(w->at_ps == 4);
    memory_written(memory, region->id, 64, 4, 5);
    assert_int_equal(w->times, 1);
    assert_int_equal(memory_watches(memory), 0);
    memory_free(memory);
}

/* Proves that a write across many lines fires the watches of each of them. */
static void test_watch_long_write(void **state)
{
    (void)state;
    Watcher w[3];
    Memory *memory;
    MemRegion *region;
    setup(w, 3, &memory, &region, NULL);
    for (guint i = 0; i < 3; i++)
        memory_watch(memory, &w[i].watch, region, 120 + i * 128, 8, watcher_fire);
    memory_written(memory, region->id, 127, 258, 9); /* last byte 384: all but nothing of the third's start */
    assert_int_equal(w[0].times + w[1].times + w[2].times, 3);
    memory_free(memory);
}

/* Proves that several pollers of one flag, all of which wait on after a write, each see it exactly once. */
static void test_watch_again(void **state)
{
    (void)state;
    Watcher w[3];
    Memory *memory;
    MemRegion *region;
    GString *order = g_string_new(NULL);
    setup(w, 3, &memory, &region, order);
    for (guint i = 0; i < 3; i++) {
        w[i].again = TRUE;
        memory_watch(memory, &w[i].watch, region, 64, 4, watcher_fire);
    }
    memory_written(memory, region->id, 64, 4, 1);
    assert_string_equal(order->str, "abc");
    memory_written(memory, region->id, 64, 4, 2);
    assert_string_equal(order->str, "abcabc");
    assert_int_equal(memory_watches(memory), 3);
    memory_free(memory);
    g_string_free(order, TRUE);
}

/* Proves that a watch taken back while its write is being told is not fired, and one not due stays. */
static void test_unwatch_inside(void **state)
{
    (void)state;
    Watcher w[3];
    Memory *memory;
    MemRegion *region;
    setup(w, 3, &memory, &region, NULL);
    w[0].silence = &w[1];
    for (guint i = 0; i < 3; i++)
        memory_watch(memory, &w[i].watch, region, 64, 4, watcher_fire);
    memory_written(memory, region->id, 64, 4, 1);
    assert_int_equal(w[0].times, 1);
    assert_int_equal(w[1].times, 0);
    assert_int_equal(w[2].times, 1);
    assert_false(w[1].watch.armed);
    memory_unwatch(memory, &w[1].watch); /* no-op */
    memory_free(memory);
}

/* Proves that a write from inside `fire` reaches watches armed meanwhile, after those already due. */
static void test_write_inside(void **state)
{
    (void)state;
    Watcher w[2];
    Memory *memory;
    MemRegion *region;
    GString *order = g_string_new(NULL);
    setup(w, 2, &memory, &region, order);
    w[0].write = TRUE;
    w[1].again = TRUE;
    memory_watch(memory, &w[1].watch, region, 64, 4, watcher_fire);
    memory_watch(memory, &w[0].watch, region, 64, 4, watcher_fire);
    memory_written(memory, region->id, 64, 4, 10);
    assert_string_equal(order->str, "bab");
    assert_true(w[1].at_ps == 15);
    memory_free(memory);
    g_string_free(order, TRUE);
}

/* Proves that memory which is freed forgets who watches it: a write that was on its way there wakes nobody, and
 * another region's watch stays. */
static void test_watch_freed(void **state)
{
    (void)state;
    Watcher w[2];
    Memory *memory;
    MemRegion *region;
    setup(w, 2, &memory, &region, NULL);
    MemRegion *freed = memory_region_new(memory, 0, 1 << 20, NULL);
    guint32 id = freed->id;
    memory_watch(memory, &w[0].watch, freed, 900 * 1024, 4, watcher_fire);
    memory_watch(memory, &w[1].watch, region, 64, 4, watcher_fire);
    memory_region_unref(memory, freed);
    assert_int_equal(memory_watches(memory), 1);
    memory_written(memory, id, 900 * 1024, 4, 1);
    memory_unwatch(memory, &w[0].watch);
    memory_poke(memory, 2);
    assert_int_equal(w[0].times, 0);
    assert_int_equal(w[1].times, 1);
    assert_int_equal(memory_watches(memory), 0);
    memory_free(memory);
}

static gboolean watcher_wants(const MemWatch *watch, const guint8 *bytes)
{
    (void)watch;
    return *bytes >= 3;
}

/* Proves that a watch which is alone on its line sleeps through writes whose bytes it does not want, and only then:
 * it hears of the first that it wants, and, beside another watch, of every one. */
static void test_watch_wants(void **state)
{
    (void)state;
    Watcher w[2];
    Memory *memory;
    MemRegion *region;
    setup(w, 2, &memory, &region, NULL);
    memory_watch(memory, &w[0].watch, region, 64, 4, watcher_fire);
    w[0].watch.wants = watcher_wants;
    for (guint8 value = 1; value <= 3; value++) {
        *memory_bytes(region, 64) = value;
        memory_written(memory, region->id, 64, 4, 10 * value);
    }
    assert_int_equal(w[0].times, 1);
    assert_true(w[0].at_ps == 30);
    *memory_bytes(region, 64) = 0;
    memory_watch(memory, &w[0].watch, region, 64, 4, watcher_fire);
    w[0].watch.wants = watcher_wants;
    memory_watch(memory, &w[1].watch, region, 96, 4, watcher_fire);
    memory_written(memory, region->id, 64, 4, 40);
    assert_int_equal(w[0].times, 2);
    assert_int_equal(w[1].times, 0);
    memory_unwatch(memory, &w[1].watch);
    memory_free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_l2_lines),
        cmocka_unit_test(test_l2_fits),
        cmocka_unit_test(test_region),
        cmocka_unit_test(test_timing_only),
        cmocka_unit_test(test_shared_file),
        cmocka_unit_test(test_too_much),
        cmocka_unit_test(test_pattern),
        cmocka_unit_test(test_fixed),
        cmocka_unit_test(test_arena),
        cmocka_unit_test(test_zero),
        cmocka_unit_test(test_polled),
        cmocka_unit_test(test_watch),
        cmocka_unit_test(test_watch_long_write),
        cmocka_unit_test(test_watch_again),
        cmocka_unit_test(test_unwatch_inside),
        cmocka_unit_test(test_write_inside),
        cmocka_unit_test(test_watch_freed),
        cmocka_unit_test(test_watch_wants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
