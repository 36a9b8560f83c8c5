#include "tests/model/model_test.h"

#include "model/memory/address_space.h"

#define GPUS 8u

typedef struct {
    Memory *memory;
    EndpointTable *table; /* cliques of four GPUs */
    McObject *team;       /* of GPUs 2 and 1, 1000 bytes */
    McObject *one;        /* of GPU 3 alone */
    MemRegion *region[GPUS];
} World;

static void world_open(World *world)
{
    world->memory = memory_new(NULL, FALSE);
    world->table = endpoint_table_new(4);
    world->team = mcobject_new(world->memory, 1, 2, 1000, GPUS);
    world->one = mcobject_new(world->memory, 2, 1, 500, GPUS);
    mcobject_add_member(world->team, 2);
    mcobject_add_member(world->team, 1);
    mcobject_add_member(world->one, 3);
    for (guint16 g = 0; g < GPUS; g++)
        world->region[g] = memory_region_new(world->memory, g, 5000, NULL);
    endpoint_reserve(world->table, 10, 3);
    assert_true(endpoint_set(world->table, 10, world->team, ENDPOINT_MULTICAST | ENDPOINT_READY));
    assert_true(endpoint_set(world->table, 11, world->one, ENDPOINT_COUNTED | ENDPOINT_READY));
}

static void world_close(World *world)
{
    endpoint_table_free(world->table);
    mcobject_free(world->team);
    mcobject_free(world->one);
    memory_free(world->memory);
}

/* Proves that a multicast endpoint leads to every member's own memory, in the order in which they were added. */
static void test_multicast(void **state)
{
    (void)state;
    World world;
    EndpointTarget target;
    world_open(&world);
    assert_true(mcobject_bind(world.team, 1, 0, world.region[1], 100, 1000));
    assert_true(mcobject_bind(world.team, 2, 0, world.region[2], 300, 1000));
    assert_int_equal(endpoint_resolve(world.table, 10, 40, 960, 0, &target), ENDPOINT_OK);
    assert_int_equal(target.members, 2);
    assert_int_equal(target.bytes, 960);
    assert_ptr_equal(target.object, world.team);
    assert_int_equal(target.flags & ENDPOINT_MULTICAST, ENDPOINT_MULTICAST);
    EndpointPart first = endpoint_part(&target, 0), second = endpoint_part(&target, 1);
    assert_int_equal(first.gpu, 2);
    assert_ptr_equal(first.region, world.region[2]);
    assert_int_equal(first.offset, 340);
    assert_int_equal(second.gpu, 1);
    assert_ptr_equal(second.region, world.region[1]);
    assert_int_equal(second.offset, 140);
    world_close(&world);
}

/* Proves that a unicast endpoint leads to its owner alone, and that a range over two binds comes piece by piece. */
static void test_unicast_pieces(void **state)
{
    (void)state;
    World world;
    EndpointTarget target;
    world_open(&world);
    assert_true(mcobject_bind(world.one, 3, 0, world.region[3], 1000, 200));
    assert_true(mcobject_bind(world.one, 3, 200, world.region[3], 0, 300));
    assert_int_equal(endpoint_resolve(world.table, 11, 150, 100, 2, &target), ENDPOINT_OK);
    assert_int_equal(target.bytes, 50);
    assert_int_equal(target.members, 1);
    assert_int_equal(target.flags & (ENDPOINT_MULTICAST | ENDPOINT_COUNTED), ENDPOINT_COUNTED);
    assert_int_equal(endpoint_part(&target, 0).offset, 1150);
    assert_int_equal(endpoint_resolve(world.table, 11, 200, 50, 2, &target), ENDPOINT_OK);
    assert_int_equal(target.bytes, 50);
    assert_int_equal(endpoint_part(&target, 0).offset, 0);
    world_close(&world);
}

/* Proves each reason for which an identifier leads nowhere, and that the target then stays as it was. */
static void test_errors(void **state)
{
    (void)state;
    World world;
    EndpointTarget target = {.id = 77};
    world_open(&world);
    assert_int_equal(endpoint_resolve(NULL, 10, 0, 1, 0, &target), ENDPOINT_NOT_RESERVED);
    assert_int_equal(endpoint_resolve(world.table, 9, 0, 1, 0, &target), ENDPOINT_NOT_RESERVED);
    assert_int_equal(endpoint_resolve(world.table, G_MAXUINT32, 0, 1, 0, &target), ENDPOINT_NOT_RESERVED);
    assert_int_equal(endpoint_resolve(world.table, 12, 0, 1, 0, &target), ENDPOINT_NOT_CREATED);
    assert_int_equal(endpoint_resolve(world.table, 10, 0, 1, 4, &target), ENDPOINT_OTHER_CLIQUE);
    assert_int_equal(endpoint_resolve(world.table, 10, 0, 1, 0, &target), ENDPOINT_NOT_BOUND);
    assert_true(mcobject_bind(world.team, 1, 0, world.region[1], 0, 1000));
    assert_true(mcobject_bind(world.team, 2, 0, world.region[2], 0, 500));
    assert_int_equal(endpoint_resolve(world.table, 10, 499, 2, 0, &target), ENDPOINT_NOT_BOUND);
    assert_int_equal(endpoint_resolve(world.table, 10, 1000, 1, 0, &target), ENDPOINT_OUT_OF_RANGE);
    assert_int_equal(endpoint_resolve(world.table, 10, 999, 2, 0, &target), ENDPOINT_OUT_OF_RANGE);
    assert_int_equal(endpoint_resolve(world.table, 10, 1, G_MAXUINT64, 0, &target), ENDPOINT_OUT_OF_RANGE);
    assert_int_equal(endpoint_resolve(world.table, 10, 0, 0, 0, &target), ENDPOINT_OUT_OF_RANGE);
    assert_true(endpoint_set(world.table, 10, world.team, ENDPOINT_MULTICAST));
    assert_int_equal(endpoint_resolve(world.table, 10, 0, 1, 0, &target), ENDPOINT_NOT_READY);
    assert_int_equal(target.id, 77);
    assert_false(endpoint_set(world.table, 9, world.team, ENDPOINT_READY));
    world_close(&world);
}

/* Proves that a team without all its devices is not ready, whatever its flags say. */
static void test_incomplete(void **state)
{
    (void)state;
    World world;
    EndpointTarget target;
    world_open(&world);
    McObject *half = mcobject_new(world.memory, 3, 2, 100, GPUS);
    mcobject_add_member(half, 0);
    assert_true(endpoint_set(world.table, 12, half, ENDPOINT_MULTICAST | ENDPOINT_READY));
    assert_int_equal(endpoint_resolve(world.table, 12, 0, 1, 0, &target), ENDPOINT_NOT_READY);
    mcobject_free(half);
    world_close(&world);
}

/* Proves that released and forgotten identifiers lead nowhere, and that others stay. */
static void test_release(void **state)
{
    (void)state;
    World world;
    EndpointTarget target;
    world_open(&world);
    assert_true(mcobject_bind(world.one, 3, 0, world.region[3], 0, 500));
    endpoint_forget(world.table, world.team);
    assert_int_equal(endpoint_resolve(world.table, 10, 0, 1, 0, &target), ENDPOINT_NOT_CREATED);
    assert_int_equal(endpoint_resolve(world.table, 11, 0, 1, 0, &target), ENDPOINT_OK);
    endpoint_release(world.table, 10, 2);
    assert_int_equal(endpoint_resolve(world.table, 11, 0, 1, 0, &target), ENDPOINT_NOT_RESERVED);
    assert_int_equal(endpoint_resolve(world.table, 12, 0, 1, 0, &target), ENDPOINT_NOT_CREATED);
    endpoint_release(world.table, 60000, 5000);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_multicast),  cmocka_unit_test(test_unicast_pieces), cmocka_unit_test(test_errors),
        cmocka_unit_test(test_incomplete), cmocka_unit_test(test_release),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
