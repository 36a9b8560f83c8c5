#include "tests/test.h"

#include "sim/param/param.h"

typedef struct {
    guint64 latency_ps, rate_MBps, buffer_bytes, vcs;
    gboolean replay;
    int arbiter;
    char *label;
    ParamList links;
} Spec;

static const char *const arbiters[] = {"round-robin", "oldest", NULL};

static const ParamRow rows[] = {
    PARAM_U64(Spec, latency_ps, "ps", 0, 1000000000, "flight time"),
    PARAM_U64(Spec, rate_MBps, "MB/s", 1, 1000000, "flits of one direction"),
    PARAM_U64(Spec, buffer_bytes, "B", 0, 1 << 30, "of one port"),
    PARAM_U64(Spec, vcs, "", 1, 8, "virtual channels"),
    PARAM_BOOL(Spec, replay, "replay after bit errors"),
    PARAM_ENUM(Spec, arbiter, arbiters, "who goes first"),
    PARAM_STRING(Spec, label, "for people"),
    PARAM_LIST(Spec, links, "links", 1, 18, "to each switch"),
    PARAM_END,
};

typedef struct {
    Spec spec;
    ParamSet *set;
    GError *error;
} Fixture;

static void fixture_init(Fixture *f)
{
    memset(f, 0, sizeof *f);
    f->set = param_set_new();
    param_add(f->set, "link", rows, &f->spec);
}

static void fixture_clear(Fixture *f)
{
    param_set_free(f->set);
    g_clear_error(&f->error);
}

static const char *const whole_preset = "# A preset.\n"
                                        "[link]\n"
                                        "# source: a datasheet, table 3\n"
                                        "latency_ps = 125 ns\n"
                                        "rate_MBps = 26.562 GB/s  # calibrated: h200 run 7\n"
                                        "# assumed, as for the older part;\n"
                                        "# measured by nobody\n"
                                        "buffer_bytes = 128K\r\n"
                                        "vcs=2 # assumed\n"
                                        "replay = yes # assumed\n"
                                        "arbiter = oldest # assumed\n"
                                        "label = two words; one more # source: us\n"
                                        "links = 4, 5,5,4 # source: shown by the driver\n";

/* Proves that every type and unit is read, and that the dump shows value and origin of each row in
 * order. */
static void test_whole_preset(void **state)
{
    (void)state;
    Fixture f;
    fixture_init(&f);

    assert_true(param_load_text(f.set, "p.ini", whole_preset, TRUE, &f.error));
    assert_true(param_check_complete(f.set, "p.ini", &f.error));
    assert_int_equal(f.spec.latency_ps, 125000);
    assert_int_equal(f.spec.buffer_bytes, 131072);
    GArray *dump = param_dump(f.set);
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < dump->len; i++) {
        ParamDumpRow *row = &g_array_index(dump, ParamDumpRow, i);
        g_string_append_printf(text, "%s.%s=%s (%s)\n", row->section, row->row->name, row->value, row->origin);
    }
    assert_string_equal(text->str, "link.latency_ps=125000 (source: a datasheet, table 3)\n"
                                   "link.rate_MBps=26562 (calibrated: h200 run 7)\n"
                                   "link.buffer_bytes=131072 (assumed, as for the older part;)\n"
                                   "link.vcs=2 (assumed)\n"
                                   "link.replay=true (assumed)\n"
                                   "link.arbiter=oldest (assumed)\n"
                                   "link.label=two words; one more (source: us)\n"
                                   "link.links=4,5,5,4 (source: shown by the driver)\n");
    g_string_free(text, TRUE);
    param_dump_free(dump);
    fixture_clear(&f);
}

/* Each faulty text with the whole message it must give. */
static const struct {
    const char *text, *message;
} faults[] = {
    {"[link]\nlatency_ps = 1\nvcz = 2\n", "f.ini:3: unknown key 'vcz' in [link]; did you mean 'vcs'?"},
    {"[lnk]\n", "f.ini:1: unknown group [lnk]; did you mean 'link'?"},
    {"[link]\nvcs = 9\n", "f.ini:2: [link] vcs: '9' is out of bounds: 1 to 8"},
    {"[link]\nvcs = two\n", "f.ini:2: [link] vcs: 'two' is not a number from 1 to 8"},
    {"[link]\nvcs = -1\n", "f.ini:2: [link] vcs: '-1' is not a number from 1 to 8"},
    {"[link]\nvcs = 2 ns\n", "f.ini:2: [link] vcs: '2 ns' has a unit, but this is a plain number"},
    {"[link]\nvcs =\n", "f.ini:2: [link] vcs: the value is missing"},
    {"[link]\nvcs = 1\n\nvcs = 2\n", "f.ini:4: [link] vcs stands twice, first in line 2"},
    {"[link]\nvcs = 99999999999999999999999\n",
     "f.ini:2: [link] vcs: '99999999999999999999999' is not a number from 1 to 8"},
    {"[link]\nlatency_ps = 0.0001 ns\n", "f.ini:2: [link] latency_ps: '0.0001 ns' is not a whole number of ps"},
    {"[link]\nlatency_ps = 3 MB/s\n",
     "f.ini:2: [link] latency_ps: the unit of '3 MB/s' does not fit; write ps, ns, us, ms, s"},
    {"[link]\nlatency_ps = 2 s\n", "f.ini:2: [link] latency_ps: '2 s' is out of bounds: 0 to 1000000000 ps"},
    {"[link]\nreplay = maybe\n", "f.ini:2: [link] replay: 'maybe' is neither true nor false"},
    {"[link]\narbiter = newest\n", "f.ini:2: [link] arbiter: 'newest' is none of round-robin, oldest"},
    {"[link]\nlinks = 4,,4\n", "f.ini:2: [link] links: '' is not a number from 1 to 18"},
    {"vcs = 1\n", "f.ini:1: 'vcs = 1' stands before the first [group]; write the group that it is of above it, as "
                  "[system]"},
    {"[link]\nvcs 1\n", "f.ini:2: 'vcs 1' is no 'key = value'"},
    {"[link\n", "f.ini:1: '[link' is no group; write [name]"},
    {"[link]\nvcs = \xff\n", "f.ini: not UTF-8 text"},
};

/* Proves that each kind of fault is refused with file, line, group, key and what would be right. */
static void test_faults(void **state)
{
    (void)state;
    for (gsize i = 0; i < G_N_ELEMENTS(faults); i++) {
        Fixture f;
        fixture_init(&f);
        assert_false(param_load_text(f.set, "f.ini", faults[i].text, FALSE, &f.error));
        assert_string_equal(f.error->message, faults[i].message);
        fixture_clear(&f);
    }
}

/* Proves that a preset may not leave out where a number comes from, nor a number itself. */
static void test_presets_are_strict(void **state)
{
    (void)state;
    Fixture f;
    fixture_init(&f);

    assert_false(param_load_text(f.set, "p.ini", "[link]\n# just words\nvcs = 2\n", TRUE, &f.error));
    assert_string_equal(f.error->message, "p.ini:3: [link] vcs does not say where its value comes from; add a comment "
                                          "'# source: ...', '# calibrated: ...' or '# assumed ...'");
    g_clear_error(&f.error);
    assert_false(param_load_text(f.set, "p.ini", "[link]\n# assumed\n\nvcs = 2\n", TRUE, &f.error));
    g_clear_error(&f.error);
    char *lacking = g_strndup(whole_preset, (gsize)(strstr(whole_preset, "label") - whole_preset));
    assert_true(param_load_text(f.set, "p.ini", lacking, TRUE, &f.error));
    assert_false(param_check_complete(f.set, "p.ini", &f.error));
    assert_string_equal(f.error->message, "p.ini: no value for [link] label, [link] links");
    g_free(lacking);
    fixture_clear(&f);
}

/* Proves that --set wins over a preset, shows in the dump, and refuses what it does not know. */
static void test_set_text(void **state)
{
    (void)state;
    Fixture f;
    fixture_init(&f);

    assert_true(param_load_text(f.set, "p.ini", whole_preset, TRUE, &f.error));
    assert_true(param_set_text(f.set, "link.label=x", &f.error));
    assert_true(param_set_text(f.set, "link.label=y # z", &f.error));
    assert_string_equal(f.spec.label, "y # z");
    assert_true(param_set_text(f.set, " link.vcs = 3", &f.error));
    assert_int_equal(f.spec.vcs, 3);
    GArray *dump = param_dump(f.set);
    assert_string_equal(g_array_index(dump, ParamDumpRow, 3).origin, "--set");
    param_dump_free(dump);
    static const char *const bad[][2] = {
        {"link.vcs", "--set link.vcs: write section.key=value"},
        {"vcs=2", "--set vcs=2: write section.key=value"},
        {"link.vc=2", "--set link.vc=2: unknown key 'vc' in [link]; did you mean 'vcs'?"},
        {"linc.vcs=2", "--set linc.vcs=2: unknown group [linc]; did you mean 'link'?"},
        {"link.vcs=0", "--set link.vcs=0: '0' is out of bounds: 1 to 8"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
        assert_false(param_set_text(f.set, bad[i][0], &f.error));
        assert_string_equal(f.error->message, bad[i][1]);
        g_clear_error(&f.error);
    }
    assert_int_equal(f.spec.vcs, 3);
    fixture_clear(&f);
}

/* Proves that a key which is no row can be allowed and read, and is refused otherwise. */
static void test_peek(void **state)
{
    (void)state;
    Fixture f;
    const char *text = "[system]\ntitle = A title # comment\n[link]\nvcs = 1\n";
    fixture_init(&f);

    assert_false(param_load_text(f.set, "p.ini", text, FALSE, &f.error));
    g_clear_error(&f.error);
    param_allow(f.set, "system", "title");
    assert_true(param_load_text(f.set, "p.ini", text, FALSE, &f.error));
    char *title = param_peek(text, "system", "title", NULL);
    assert_string_equal(title, "A title");
    assert_null(param_peek(text, "link", "title", NULL));
    assert_false(param_load_file(f.set, "/nonexistent/x.ini", &f.error));
    assert_non_null(strstr(f.error->message, "/nonexistent/x.ini"));
    g_free(title);
    fixture_clear(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_preset), cmocka_unit_test(test_faults), cmocka_unit_test(test_presets_are_strict),
        cmocka_unit_test(test_set_text),     cmocka_unit_test(test_peek),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
