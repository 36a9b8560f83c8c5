#include "tests/model/model_test.h"

#define MIB ((guint64)1 << 20)

typedef struct {
    Memory *memory;
    Vas *vas;
    MemRegion *region;
} Space;

static void space_open(Space *space)
{
    space->memory = memory_new(NULL, FALSE);
    space->vas = vas_new(space->memory, VAS_GPUS_MAX);
    space->region = memory_region_new(space->memory, 2, 64 * MIB, NULL);
}

static void space_close(Space *space)
{
    vas_free(space->vas);
    memory_free(space->memory);
}

/* Proves that every address of a mapping, and none beside it, leads to it, in any order of mapping. */
static void test_find(void **state)
{
    (void)state;
    Space space;
    space_open(&space);
    static const guint at[] = {5, 1, 9, 3, 7};
    for (guint i = 0; i < G_N_ELEMENTS(at); i++)
        vas_map(space.vas, at[i] * MIB, MIB, space.region, NULL, at[i] * MIB);
    for (guint m = 0; m <= 10; m++)
        for (guint part = 0; part < 3; part++) {
            guint64 va = m * MIB + (part == 0 ? 0 : part == 1 ? MIB / 2 : MIB - 1);
            VasMapping *mapping = vas_find(space.vas, va);
            if (m % 2 == 0) {
                assert_null(mapping);
            } else {
                assert_true(mapping->va == m * MIB);
                assert_true(mapping->offset == m * MIB);
            }
        }
    space_close(&space);
}

/* Proves that unmapping takes whole mappings only, changes nothing when it is refused, and gives the memory
 * reference back. */
static void test_unmap(void **state)
{
    (void)state;
    Space space;
    space_open(&space);
    vas_map(space.vas, 4 * MIB, MIB, space.region, NULL, 0);
    vas_map(space.vas, 5 * MIB, MIB, space.region, NULL, MIB);
    vas_map(space.vas, 8 * MIB, MIB, space.region, NULL, 2 * MIB);
    assert_int_equal(space.region->refs, 4);
    assert_false(vas_unmap(space.vas, 4 * MIB, MIB / 2));
    assert_false(vas_unmap(space.vas, 4 * MIB + MIB / 2, MIB));
    assert_false(vas_unmap(space.vas, 5 * MIB, 4 * MIB)); /* a gap */
    assert_false(vas_unmap(space.vas, 20 * MIB, MIB));
    assert_non_null(vas_find(space.vas, 4 * MIB));
    assert_true(vas_unmap(space.vas, 4 * MIB, 2 * MIB)); /* two at once */
    assert_null(vas_find(space.vas, 4 * MIB));
    assert_null(vas_find(space.vas, 5 * MIB));
    assert_non_null(vas_find(space.vas, 8 * MIB));
    assert_int_equal(space.region->refs, 2);
    space_close(&space);
}

/* Proves that a mapping starts without rights, and that rights are each GPU's own. */
static void test_access(void **state)
{
    (void)state;
    Space space;
    space_open(&space);
    VasMapping *mapping = vas_map(space.vas, MIB, MIB, space.region, NULL, 0);
    for (guint g = 0; g < VAS_GPUS_MAX; g++)
        assert_int_equal(mapping->access[g], VAS_ACCESS_NONE);
    vas_set_access(mapping, 1, VAS_ACCESS_READ);
    vas_set_access(mapping, 2, VAS_ACCESS_READWRITE);
    assert_int_equal(mapping->access[0], VAS_ACCESS_NONE);
    assert_int_equal(mapping->access[1], VAS_ACCESS_READ);
    assert_int_equal(mapping->access[2], VAS_ACCESS_READWRITE);
    space_close(&space);
}

/* Proves that chosen ranges are aligned, do not overlap what is mapped, and fit. */
static void test_choose(void **state)
{
    (void)state;
    Space space;
    space_open(&space);
    guint64 first = vas_choose(space.vas, 3 * MIB, 2 * MIB);
    assert_true(first % (2 * MIB) == 0);
    vas_map(space.vas, first, 3 * MIB, space.region, NULL, 0);
    vas_map(space.vas, first + 4 * MIB, 2 * MIB, space.region, NULL, 0); /* in the way */
    guint64 second = vas_choose(space.vas, 4 * MIB, 2 * MIB);
    assert_true(second % (2 * MIB) == 0);
    assert_true(second >= first + 6 * MIB);
    vas_map(space.vas, second, 4 * MIB, space.region, NULL, 0);
    space_close(&space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_unmap),
        cmocka_unit_test(test_access),
        cmocka_unit_test(test_choose),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
