#include "tests/model/model_test.h"

typedef struct {
    Memory *memory;
    McObject *object;
    MemRegion *region;
} Team;

static void team_open(Team *team)
{
    team->memory = memory_new(NULL, FALSE);
    team->object = mcobject_new(team->memory, 1, 2, 1000, 4);
    team->region = memory_region_new(team->memory, 1, 5000, NULL);
}

static void team_close(Team *team)
{
    mcobject_free(team->object);
    memory_free(team->memory);
}

/* Proves that a team knows its members, in the order of addition, and nobody else. */
static void test_members(void **state)
{
    (void)state;
    Team team;
    team_open(&team);
    mcobject_add_member(team.object, 3);
    mcobject_add_member(team.object, 1);
    assert_true(mcobject_has_member(team.object, 3));
    assert_true(mcobject_has_member(team.object, 1));
    assert_false(mcobject_has_member(team.object, 0));
    assert_int_equal(g_array_index(team.object->members, guint16, 0), 3);
    assert_int_equal(team.object->mcid, MC_MCID_NONE);
    team_close(&team);
}

/* Proves that an offset leads to the bind that holds it, for each GPU on its own, and to none in gaps. */
static void test_lookup(void **state)
{
    (void)state;
    Team team;
    team_open(&team);
    static const guint64 offset[] = {600, 0, 300};
    for (guint i = 0; i < 3; i++)
        assert_true(mcobject_bind(team.object, 1, offset[i], team.region, 1000 * i, 200));
    for (guint64 at = 0; at < 1000; at++) {
        const McBind *bind = mcobject_lookup(team.object, 1, at);
        assert_int_equal(bind != NULL, at % 300 < 200 && at < 800);
        if (bind)
            assert_true(at - bind->offset < 200);
        assert_null(mcobject_lookup(team.object, 0, at));
    }
    assert_null(mcobject_lookup(team.object, 77, 0));
    team_close(&team);
}

/* Proves that binds of one GPU may touch but not overlap, in any order, and that a refusal changes nothing. */
static void test_overlap(void **state)
{
    (void)state;
    Team team;
    team_open(&team);
    assert_true(mcobject_bind(team.object, 1, 400, team.region, 0, 200));
    static const guint64 bad[][2] = {{400, 200}, {500, 10}, {399, 2}, {599, 1}, {300, 400}, {0, 1000}};
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++)
        assert_false(mcobject_bind(team.object, 1, bad[i][0], team.region, 0, bad[i][1]));
    assert_int_equal(team.region->refs, 2);
    assert_true(mcobject_bind(team.object, 1, 600, team.region, 0, 400));
    assert_true(mcobject_bind(team.object, 1, 0, team.region, 0, 400));
    assert_true(mcobject_bind(team.object, 2, 500, team.region, 0, 10)); /* another GPU */
    team_close(&team);
}

/* Proves that unbinding wants the exact range and gives the memory reference back, as does the object's end. */
static void test_unbind(void **state)
{
    (void)state;
    Team team;
    team_open(&team);
    assert_true(mcobject_bind(team.object, 1, 0, team.region, 0, 100));
    assert_true(mcobject_bind(team.object, 1, 100, team.region, 100, 100));
    assert_int_equal(team.region->refs, 3);
    assert_false(mcobject_unbind(team.object, 1, 0, 200));
    assert_false(mcobject_unbind(team.object, 1, 50, 50));
    assert_false(mcobject_unbind(team.object, 0, 0, 100));
    assert_true(mcobject_unbind(team.object, 1, 0, 100));
    assert_int_equal(team.region->refs, 2);
    assert_null(mcobject_lookup(team.object, 1, 0));
    assert_non_null(mcobject_lookup(team.object, 1, 100));
    mcobject_free(team.object);
    assert_int_equal(team.region->refs, 1);
    memory_free(team.memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members),
        cmocka_unit_test(test_lookup),
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_unbind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
