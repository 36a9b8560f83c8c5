#include "tests/model/model_test.h"

static const guint16 gpu[72] = {0, 1, 2, 3, 4, 5, 6, 7};

static McTableSpec nvswitch3(McOverflow overflow)
{
    return (McTableSpec){.entries = 128,
                         .extended_entries = 16,
                         .directives = 32,
                         .spray_groups = 16,
                         .round_directives = 3,
                         .rounds = 11,
                         .overflow = overflow};
}

/* Proves that 8 GPUs with 4 links fill a main entry exactly: 4 spray groups, 3 rounds, no extended entry. */
static void test_fits_exactly(void **state)
{
    (void)state;
    McTableSpec spec = nvswitch3(MC_OVERFLOW_EXTENDED);
    McTable table;
    mctable_init(&table, &spec);
    assert_int_equal(mctable_program(&table, 7, gpu, 8, 4), 4);
    const McEntry *entry = &table.entry[7];
    assert_true(entry->valid);
    assert_false(entry->extended);
    assert_int_equal(entry->rounds, 3);
    assert_int_equal(entry->n_members, 8);
    for (guint i = 0; i < 8; i++)
        assert_int_equal(entry->member[i], gpu[i]);
    mctable_clear(&table);
}

/* Proves that 8 GPUs with 5 links (40 directives) take one extended entry, or else drop to 4 links. */
static void test_overflow(void **state)
{
    (void)state;
    McTableSpec spec = nvswitch3(MC_OVERFLOW_EXTENDED);
    McTable table;
    mctable_init(&table, &spec);
    assert_int_equal(mctable_program(&table, 0, gpu, 8, 5), 5);
    assert_true(table.entry[0].extended);
    assert_int_equal(table.extended_used, 1);
    mctable_release(&table, 0);
    assert_int_equal(table.extended_used, 0);
    mctable_clear(&table);
    spec = nvswitch3(MC_OVERFLOW_DROP);
    mctable_init(&table, &spec);
    assert_int_equal(mctable_program(&table, 0, gpu, 8, 5), 4);
    assert_false(table.entry[0].extended);
    mctable_clear(&table);
}

/* Proves that extended entries run out after 16 teams; the 17th carries fewer links, not none. */
static void test_extended_run_out(void **state)
{
    (void)state;
    McTableSpec spec = nvswitch3(MC_OVERFLOW_EXTENDED);
    McTable table;
    mctable_init(&table, &spec);
    for (guint32 id = 0; id < 16; id++)
        assert_int_equal(mctable_program(&table, id, gpu, 8, 5), 5);
    assert_int_equal(mctable_program(&table, 16, gpu, 8, 5), 4);
    assert_int_equal(table.extended_used, 16);
    mctable_release(&table, 3); /* one comes free */
    assert_int_equal(mctable_program(&table, 3, gpu, 8, 5), 5);
    mctable_clear(&table);
}

/* Proves that teams which hardware could not serve are refused and leave the entry invalid: too many rounds,
 * more members than directives. */
static void test_refused(void **state)
{
    (void)state;
    McTableSpec spec = nvswitch3(MC_OVERFLOW_EXTENDED);
    McTable table;
    mctable_init(&table, &spec);
    assert_int_equal(mctable_program(&table, 0, gpu, 34, 1), 0); /* 12 rounds of 3 */
    assert_false(table.entry[0].valid);
    assert_int_equal(mctable_program(&table, 0, gpu, 33, 1), 1); /* 11 rounds; 33 ports: extended */
    assert_true(table.entry[0].extended);
    mctable_clear(&table);
    spec.overflow = MC_OVERFLOW_DROP;
    mctable_init(&table, &spec);
    assert_int_equal(mctable_program(&table, 0, gpu, 33, 1), 0); /* more members than directives */
    assert_false(table.entry[0].valid);
    mctable_clear(&table);
}

/* Proves that no more links carry a team than there are spray groups. */
static void test_spray_groups(void **state)
{
    (void)state;
    McTableSpec spec = nvswitch3(MC_OVERFLOW_DROP);
    spec.spray_groups = 2;
    McTable table;
    mctable_init(&table, &spec);
    assert_int_equal(mctable_program(&table, 0, gpu, 2, 9), 2);
    assert_int_equal(table.entry[0].spray_groups, 2);
    mctable_clear(&table);
}

/* Proves that a team too wide even for main and extended entry carries as many links as the two hold. */
static void test_widest(void **state)
{
    (void)state;
    McTableSpec spec = nvswitch3(MC_OVERFLOW_EXTENDED);
    McTable table;
    mctable_init(&table, &spec);
    assert_int_equal(mctable_program(&table, 0, gpu, 8, 9), 8);
    assert_true(table.entry[0].extended);
    mctable_clear(&table);
}

/* Proves that the fabric gives each team its own MCID, refuses the 129th, takes an ID back with its team, and
 * undoes the switches already programmed when one of them refuses. */
static void test_fabric_slots(void **state)
{
    (void)state;
    Bed bed;
    bed_open(&bed, "dgx-h100", NULL, NULL);
    gboolean used[128] = {FALSE};
    for (guint i = 0; i <= 128; i++) {
        McObject *object = fabric_mc_object(bed.fabric, 2, 4096);
        g_ptr_array_add(bed.objects, object);
        mcobject_add_member(object, 0);
        mcobject_add_member(object, 5);
        assert_int_equal(fabric_mc_attach(bed.fabric, object, NULL), i < 128);
        if (i == 128)
            break;
        assert_true(object->mcid < 128 && !used[object->mcid]);
        used[object->mcid] = TRUE;
    }
    McObject *last = g_ptr_array_index(bed.objects, 128), *first = g_ptr_array_index(bed.objects, 0);
    guint32 id = first->mcid;
    fabric_mc_detach(bed.fabric, first);
    assert_true(fabric_mc_attach(bed.fabric, last, NULL));
    assert_int_equal(last->mcid, id);
    bed_close(&bed);
}

static McObject *team_of(Bed *bed, guint32 n)
{
    McObject *object = fabric_mc_object(bed->fabric, n, 4096);
    g_ptr_array_add(bed->objects, object);
    for (guint16 g = 0; g < n; g++)
        mcobject_add_member(object, g);
    return object;
}

/* Proves that when one switch refuses a team, the switches already programmed for it are undone and its ID is
 * free again. */
static void test_fabric_undo(void **state)
{
    (void)state;
    Bed bed;
    const char *sets[] = {"system.links_per_switch=1,2", "multicast.directives=3", "multicast.extended_entries=1",
                          NULL};
    bed_open(&bed, "teach-4gpu", sets, NULL);
    McObject *three = team_of(&bed, 3), *four = team_of(&bed, 4);
    assert_true(fabric_mc_attach(bed.fabric, three, NULL)); /* takes the second switch's extended entry */
    assert_int_equal(bed.fabric->sw[1].table.extended_used, 1);
    assert_false(fabric_mc_attach(bed.fabric, four, NULL));
    assert_int_equal(bed.fabric->sw[0].table.extended_used, 0);
    assert_int_equal(bed.fabric->mcid_free->len, 7);
    guint valid = 0;
    for (guint id = 0; id < 8; id++)
        valid += bed.fabric->sw[0].table.entry[id].valid;
    assert_int_equal(valid, 1);
    fabric_mc_detach(bed.fabric, three);
    assert_true(fabric_mc_attach(bed.fabric, four, NULL));
    bed_close(&bed);
}

/* Proves that entries with the same members are of one team, also when another has been released meanwhile. */
static void test_teams(void **state)
{
    (void)state;
    McTableSpec spec = nvswitch3(MC_OVERFLOW_EXTENDED);
    McTable table;
    mctable_init(&table, &spec);
    mctable_program(&table, 0, gpu, 8, 4);
    mctable_program(&table, 1, gpu, 4, 4);
    mctable_program(&table, 2, gpu, 8, 4);
    mctable_program(&table, 3, gpu + 1, 4, 4);
    mctable_release(&table, 0);
    mctable_program(&table, 0, gpu + 1, 4, 4);
    static const guint32 team[] = {2, 1, 0, 2};
    for (guint i = 0; i < G_N_ELEMENTS(team); i++)
        assert_int_equal(table.entry[i].team, team[i]);
    mctable_clear(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fits_exactly),     cmocka_unit_test(test_overflow),
        cmocka_unit_test(test_extended_run_out), cmocka_unit_test(test_teams),
        cmocka_unit_test(test_refused),          cmocka_unit_test(test_spray_groups),
        cmocka_unit_test(test_fabric_slots),     cmocka_unit_test(test_fabric_undo),
        cmocka_unit_test(test_widest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
