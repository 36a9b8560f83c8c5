#include "tests/model/model_test.h"
#include "device/launch_time.h"

#include <glib/gstdio.h>

/* Proves that the presets are listed by name, in order, with every promised system among them. */
static void test_names(void **state)
{
    (void)state;
    static const char *const promised[] = {"dgx-a100", "dgx-h100", "dgx-h200",   "gb200-nvl72", "gb300-nvl72",
                                           "hgx-b200", "hgx-b300", "teach-4gpu", "vr200-nvl72"};
    g_auto(GStrv) names = preset_names();
    for (gsize i = 0; i < G_N_ELEMENTS(promised); i++)
        assert_true(g_strv_contains((const char *const *)names, promised[i]));
    for (guint i = 1; names[i]; i++)
        assert_true(strcmp(names[i - 1], names[i]) < 0);
}

/* Proves that every value of every preset says where it comes from, and that the fabric it describes is built and
 * takes a team of all its GPUs on all links where it has multicast, and none where it has not. */
static void test_every_preset_builds(void **state)
{
    (void)state;
    g_auto(GStrv) names = preset_names();
    for (guint i = 0; names[i]; i++) {
        Bed bed;
        bed_open(&bed, names[i], NULL, NULL);
        GArray *rows = param_dump(bed.set);
        for (guint r = 0; r < rows->len; r++) {
            const ParamDumpRow *row = &g_array_index(rows, ParamDumpRow, r);
            if (strcmp(row->section, "fault") == 0)
                continue;
            if (!g_str_has_prefix(row->origin, "source: ") && !g_str_has_prefix(row->origin, "calibrated: ") &&
                !g_str_has_prefix(row->origin, "assumed"))
                fail_msg("%s [%s] %s: origin '%s'", names[i], row->section, row->row->name, row->origin);
        }
        param_dump_free(rows);
        guint32 gpus = (guint32)bed.spec.system.gpus;
        McObject *object = fabric_mc_object(bed.fabric, gpus, 4096);
        g_ptr_array_add(bed.objects, object);
        for (guint32 g = 0; g < gpus; g++)
            mcobject_add_member(object, (guint16)g);
        gboolean attached = fabric_mc_attach(bed.fabric, object, NULL);
        assert_int_equal(attached, strcmp(names[i], "dgx-a100") != 0);
        if (attached && bed.fabric->mc_route[object->mcid].n != bed.fabric->links)
            fail_msg("%s: %u of %u links carry a full team", names[i], bed.fabric->mc_route[object->mcid].n,
                     bed.fabric->links);
        bed_close(&bed);
    }
}

/* Proves the shape of each system: GPUs, switches, links of a GPU as published. */
static void test_shapes(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        guint32 gpus, switches, links;
    } shape[] = {{"dgx-a100", 8, 6, 12},      {"dgx-h100", 8, 4, 18},  {"dgx-h200", 8, 4, 18},
                 {"hgx-b200", 8, 2, 18},      {"hgx-b300", 8, 2, 18},  {"gb200-nvl72", 72, 18, 18},
                 {"gb300-nvl72", 72, 18, 18}, {"teach-4gpu", 4, 2, 2}, {"vr200-nvl72", 72, 18, 18}};
    for (gsize i = 0; i < G_N_ELEMENTS(shape); i++) {
        Bed bed;
        bed_open(&bed, shape[i].name, NULL, NULL);
        assert_true(bed.spec.system.gpus == shape[i].gpus);
        assert_int_equal(bed.fabric->n_switches, shape[i].switches);
        assert_int_equal(bed.fabric->links, shape[i].links);
        bed_close(&bed);
    }
}

/* Proves that an unknown system is refused with the nearest name, and a missing file with its own. */
static void test_unknown(void **state)
{
    (void)state;
    GError *error = NULL;
    assert_null(preset_text("dgx-h10", &error));
    assert_non_null(strstr(error->message, "dgx-h100"));
    assert_non_null(strstr(error->message, "teach-4gpu"));
    g_clear_error(&error);
    ParamSet *set = param_set_new();
    FabricSpec spec = {0};
    device_params(set, &spec);
    assert_false(preset_load(set, "./no-such-system.ini", &error));
    assert_non_null(strstr(error->message, "no-such-system.ini"));
    g_clear_error(&error);
    param_set_free(set);
}

/* Proves that a preset's text saved as a file and given by its path is the same system, and that a file
 * without one of the keys is refused, naming it. */
static void test_own_file(void **state)
{
    (void)state;
    g_autofree char *dir = g_dir_make_tmp("fanout-preset-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(dir, "own.ini", NULL);
    g_autofree char *text = preset_text("teach-4gpu", NULL);
    assert_true(g_file_set_contents(path, text, -1, NULL));
    Bed bed;
    bed_open(&bed, path, NULL, NULL);
    assert_true(bed.spec.link.rate_MBps == 16000);
    bed_close(&bed);
    char *cut = strstr(text, "\nflight_ps = ") + 1;
    memmove(cut, strchr(cut, '\n'), strlen(strchr(cut, '\n')) + 1);
    assert_true(g_file_set_contents(path, text, -1, NULL));
    ParamSet *set = param_set_new();
    FabricSpec spec = {0};
    GError *error = NULL;
    device_params(set, &spec);
    assert_false(preset_load(set, path, &error));
    assert_non_null(strstr(error->message, "flight_ps"));
    g_clear_error(&error);
    param_set_free(set);
    g_remove(path);
    g_rmdir(dir);
}

/* The origin that the set tells for section.key; caller frees. */
static char *origin_of(const ParamSet *set, const char *section, const char *key)
{
    GArray *rows = param_dump(set);
    char *origin = NULL;
    for (guint i = 0; i < rows->len && !origin; i++) {
        const ParamDumpRow *row = &g_array_index(rows, ParamDumpRow, i);
        if (strcmp(row->section, section) == 0 && strcmp(row->row->name, key) == 0)
            origin = g_strdup(row->origin);
    }
    param_dump_free(rows);
    return origin;
}

static char *own_file(const char *dir, const char *name, const char *text)
{
    char *path = g_build_filename(dir, name, NULL);
    assert_true(g_file_set_contents(path, text, -1, NULL));
    return path;
}

/* Proves that a preset says only what differs from the one it inherits from, that this keeps its own origins, and that
 * what differs tells its own and not that it was changed. */
static void test_presets_inherit(void **state)
{
    (void)state;
    Bed bed;
    guint64 rate_MBps = 0, hbm_MBps = 0;
    g_autofree char *text = preset_text("hgx-b300", NULL);
    assert_null(strstr(text, "rate_MBps"));
    assert_non_null(strstr(text, "inherits = hgx-b200\n"));
    bed_open(&bed, "hgx-b300", NULL, NULL);
    GArray *rows = param_dump(bed.set);
    for (guint r = 0; r < rows->len; r++) {
        const ParamDumpRow *row = &g_array_index(rows, ParamDumpRow, r);
        if (strcmp(row->section, "link") == 0 && strcmp(row->row->name, "rate_MBps") == 0) {
            rate_MBps = g_ascii_strtoull(row->value, NULL, 10);
            assert_string_equal(row->origin,
                                "assumed: 50 GB/s nominal, at the share that was calibrated for H200 (23.55 of 25)");
        }
        if (strcmp(row->section, "gpu") == 0 && strcmp(row->row->name, "hbm_MBps") == 0) {
            hbm_MBps = g_ascii_strtoull(row->value, NULL, 10);
            assert_string_equal(row->origin, "source: B300 data sheet, 8 TB/s");
        }
    }
    param_dump_free(rows);
    assert_int_equal(rate_MBps, 47100);
    assert_int_equal(hbm_MBps, 8000000);
    bed_close(&bed);
}

/* Proves that a file which inherits, over two files, states only what differs, that its values tell what they changed,
 * and that all others keep the origin that they had. */
static void test_inherits(void **state)
{
    (void)state;
    g_autofree char *dir = g_dir_make_tmp("fanout-preset-XXXXXX", NULL);
    g_autofree char *base = own_file(dir, "base.ini", "[system]\ninherits = teach-4gpu\n[link]\nflight_ps = 200 ns\n");
    g_autofree char *own = own_file(dir, "own.ini",
                                    "[system]\ninherits = base.ini\n"
                                    "[link]\n# source: a drawing\nrate_MBps = 32000\n"
                                    "# assumed: as before\nreplay_ps = 300000\n");
    Bed bed;
    bed_open(&bed, own, NULL, NULL);
    assert_true(bed.spec.link.rate_MBps == 32000);
    assert_true(bed.spec.link.flight_ps == 200000);
    assert_true(bed.spec.system.gpus == 4);
    g_autofree char *rate = origin_of(bed.set, "link", "rate_MBps"), *flight = origin_of(bed.set, "link", "flight_ps"),
                    *same = origin_of(bed.set, "link", "replay_ps"), *far = origin_of(bed.set, "system", "gpus");
    g_autofree char *want_rate = g_strdup_printf("changed in %s:5, %s has 16000; source: a drawing", own, base);
    g_autofree char *want_flight = g_strdup_printf("changed in %s:4, teach-4gpu has 100000", base);
    assert_string_equal(rate, want_rate);
    assert_string_equal(flight, want_flight);
    assert_string_equal(same, "assumed: as before");
    assert_string_equal(far, "assumed: a round number for teaching");
    bed_close(&bed);
    g_remove(own);
    g_remove(base);
    g_rmdir(dir);
}

/* Proves that parents that are unknown, missing, empty or go round in a circle are refused by name and line, and that a
 * file without parents that lacks keys is told in a short line what would help. */
static void test_bad_parents(void **state)
{
    (void)state;
    static const struct {
        const char *text, *wrong;
    } bad[] = {
        {"[system]\ninherits = dgx-h10\n", "a.ini:2: [system] inherits: no system 'dgx-h10' (did you mean dgx-h100?)"},
        {"[system]\n\ninherits = gone.ini\n", "a.ini:3: [system] inherits: "},
        {"[system]\ninherits =\n", "a.ini:2: [system] inherits: names no system"},
        {"[system]\ninherits = a.ini\n", "this goes round in a circle: "},
        {"[system]\ninherits = b.ini\n", "b.ini -> "},
        {"[system]\ngpus = 4\n", "a.ini: no value for [system] title, [system] links_per_switch, "}};
    g_autofree char *dir = g_dir_make_tmp("fanout-preset-XXXXXX", NULL);
    g_autofree char *b = own_file(dir, "b.ini", "[system]\ninherits = ./a.ini\n");
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autofree char *a = own_file(dir, "a.ini", bad[i].text);
        ParamSet *set = param_set_new();
        FabricSpec spec = {0};
        GError *error = NULL;
        device_params(set, &spec);
        assert_false(preset_load(set, a, &error));
        assert_non_null(strstr(error->message, bad[i].wrong));
        assert_true(strlen(error->message) < 400);
        g_clear_error(&error);
        param_set_free(set);
        g_remove(a);
    }
    g_remove(b);
    g_rmdir(dir);
}

/* Proves that specs which no fabric can be built from are refused with section and key. */
static void test_impossible(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"system.links_per_switch=64,64,1", "links_per_switch"},
        {"gpu.engine_packet_bytes=100", "engine_packet_bytes"},
        {"switch.reduction_buffer_bytes=1024 system.gpus=9", "reduction_buffer_bytes"}};
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
        Bed bed;
        g_auto(GStrv) sets = g_strsplit(bad[i][0], " ", -1);
        GError *error = NULL;
        bed_spec(&bed, "teach-4gpu", (const char *const *)sets);
        bed.sim = sim_new(&(SimSpec){.seed = 1}, NULL);
        assert_null(fabric_new(bed.sim, &bed.spec, TRUE, &error));
        assert_non_null(strstr(error->message, bad[i][1]));
        g_clear_error(&error);
        sim_free(bed.sim);
        param_set_free(bed.set);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),      cmocka_unit_test(test_every_preset_builds),
        cmocka_unit_test(test_shapes),     cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_own_file),   cmocka_unit_test(test_presets_inherit),
        cmocka_unit_test(test_inherits),   cmocka_unit_test(test_bad_parents),
        cmocka_unit_test(test_impossible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
