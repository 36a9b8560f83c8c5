/* Topologies: what a description of switches and trunks means, and which wirings are refused in which words. */
#include "tests/model/model_test.h"

#include "model/fabric/expression.h"
#include "coll/coll.h"

/* The error of a system with these changes; to be freed. NULL: it can be built. */
static char *topology_error(const char *system, const char *const *sets)
{
    Bed bed;
    GError *error = NULL;
    bed_spec(&bed, system, sets);
    Topology *topology = topology_new(&bed.spec, &error);
    char *text = error ? g_strdup(error->message) : NULL;
    assert_true((!topology) == (error != NULL));
    if (topology)
        topology_free(topology);
    g_clear_error(&error);
    param_set_free(bed.set);
    return text;
}

static void assert_refused(const char *wire, const char *words)
{
    g_autofree char *set = g_strconcat("topology.wire=", wire, NULL);
    g_autofree char *text = topology_error("teach-4gpu", (const char *const[]){"topology.kind=rules", set, NULL});
    if (!text || !strstr(text, words))
        fail_msg("'%s' should be refused with '%s', but: %s", wire, words, text ? text : "it is built");
}

/* Proves that impossible wirings are refused by the names of their parts. */
static void test_checker(void **state)
{
    (void)state;
    assert_refused("none", "no '->'");
    assert_refused("", "no rule wires a GPU");
    assert_refused("gpu*.link* -> leaf0.port3", "leaf0.port3 is wired twice: to gpu0.link0 and to gpu0.link1");
    assert_refused("gpu*.link* -> leaf0.port*; gpu1.link0 -> leaf1.port*",
                   "gpu1.link0 is wired twice: to leaf0 and to leaf1");
    assert_refused("gpu*.link* -> leaf{gpu}.port*",
                   "gpu1.link0 is unreachable from gpu0.link0: no spine has trunks to both leaf0 and leaf1");
    assert_refused("gpu*.link* -> leaf{gpu}.port*; leaf[0-2].trunk0 -> spine0.port*", "leaf3");
    assert_refused("gpu*.link* -> leaf{gpu}.port*; leaf*.trunk[0-1] -> leaf0.port*", "between a leaf and a spine");
    assert_refused("gpu*.link* -> spine0.port*", "GPUs are wired to leaf switches");
    assert_refused("gpu*.link* -> leaf1.port*", "nothing is wired to leaf0");
    assert_refused("gpu9.link0 -> leaf1.port*",
                   "there is no gpu9.link0: [system] has gpu0 to gpu3 with link0 to link1");
    assert_refused("gpu[0-2].link* -> leaf0.port*; gpu3.link0 -> leaf0.port*; gpu3.link1 -> leaf1.port*; "
                   "leaf*.trunk0 -> spine0.port*",
                   "leaf0 is unequal: gpu3 has link0 there but link1 at leaf1");
    assert_refused("gpu*.link* -> leaf{gpu/0}.port*", "a division by zero");
    assert_refused("gpu*.link* -> leaf{spine}.port*", "not to the left of the arrow");
    assert_refused("gpu*.link* -> leaf{gpu-2}.port*", "is -2 for gpu0.link0; 0 to 4095 can be");
    assert_refused("gpu*.link[1-0] -> leaf0.port*", "is no set of numbers");
    assert_refused("gpu* -> leaf0.port*", "is no left side");
    assert_refused("gpu*.link* -> leaf[0-1].port*", "one number or {expression}");
    g_autofree char *ports = topology_error("teach-4gpu", (const char *const[]){"topology.switch_ports=3", NULL});
    assert_string_equal(ports, "[topology] switch_ports: switch0 has 4 links (of system.gpus) wired to it and 3 ports");
    g_autofree char *spines =
        topology_error("dgx-h100", (const char *const[]){"topology.kind=two_level", "topology.spines=1,1", NULL});
    assert_non_null(strstr(spines, "2 numbers; give one for each of the 4 numbers"));
    g_autofree char *alone =
        topology_error("dgx-h100", (const char *const[]){"topology.kind=two_level", "topology.leaf_gpus=4", NULL});
    assert_non_null(strstr(alone, "gpu4.link0 is unreachable from gpu0.link0"));
}

/* Proves that the rules' expressions mean what they say, and that bad ones are refused. */
static void test_expression(void **state)
{
    (void)state;
    const Variable variables[] = {{"gpu", 13}, {"link", 5}, {NULL, 0}};
    static const struct {
        const char *text;
        gint64 value; /* -1: refused */
    } cases[] = {{"gpu/8", 1},        {"gpu % 8 * 2 + link", 15},
                 {"(gpu+link)%4", 2}, {"7", 7},
                 {"gpu-link-1", 7},   {"", -1},
                 {"gpu gpu", -1},     {"(1", -1},
                 {"1/0", -1},         {"9999999999", -1},
                 {"leaf", -1},        {"2147483647*2147483647", -1}};
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        gint64 value;
        const char *wrong;
        gboolean good = expression_value(cases[i].text, strlen(cases[i].text), variables, &value, &wrong);
        assert_int_equal(good, cases[i].value >= 0);
        assert_true(good ? value == cases[i].value : wrong != NULL);
    }
    for (guint depth = 63; depth <= 65; depth++) { /* 64 parentheses may be open at once */
        GString *nested = g_string_new("7");
        for (guint i = 0; i < depth; i++) {
            g_string_prepend_c(nested, '(');
            g_string_append_c(nested, ')');
        }
        gint64 value;
        const char *wrong = NULL;
        assert_int_equal(expression_value(nested->str, nested->len, variables, &value, &wrong), depth <= 64);
        assert_true(depth > 64 ? strstr(wrong, "too many parentheses") != NULL : value == 7);
        g_string_free(nested, TRUE);
    }
}

/* Proves that two levels are wired as the keys say: sets of leaf switches, spines for each place, trunks a pair. */
static void test_two_level(void **state)
{
    (void)state;
    Bed bed;
    bed_spec(&bed, "dgx-h100",
             (const char *const[]){"system.gpus=32", "topology.kind=two_level", "topology.spines=10,8,8,10",
                                   "topology.trunks=2", NULL});
    Topology *topology = topology_new(&bed.spec, NULL);
    assert_non_null(topology);
    assert_int_equal(topology->leaves, 16);
    assert_int_equal(topology->spines, 36);
    assert_int_equal(topology->trunks->len, 4 * 72); /* each DGX H100 has 72 links up */
    assert_int_equal(topology->leaf[9 * 18 + 4], 5); /* the second of four links sets of the second DGX */
    g_autofree char *name = topology_switch_name(topology, 17);
    assert_string_equal(name, "spine1");
    topology_free(topology);
    param_set_free(bed.set);
}

static void count_visit(const char *path, const StatRow *row, const void *value, void *user)
{
    if (row->type != STAT_HIST_T)
        g_string_append_printf(user, "%s.%s %" G_GUINT64_FORMAT "\n", path, row->name, *(const guint64 *)value);
}

/* Time and every statistic of an all-reduce in the switches. */
static char *topology_run(const char *const *sets, CollAlgo algo)
{
    Bed bed;
    CollResult result;
    GError *error = NULL;
    GString *text = g_string_new("");
    bed_open(&bed, "dgx-h100", sets, NULL);
    CollSpec spec = coll_spec_default(COLL_ALL_REDUCE);
    spec.algo = algo;
    spec.bytes = 1 << 18;
    CollGroup *group = coll_group_new(bed.fabric, NULL, 8, &error);
    if (!group || !coll_run(group, &spec, &result, &error))
        fail_msg("%s", error->message);
    g_string_append_printf(text, "time %" G_GUINT64_FORMAT "\n", result.time_ps);
    stat_visit(bed.fabric->stats, count_visit, text);
    coll_group_free(group);
    bed_close(&bed);
    return g_string_free(text, FALSE);
}

/* Proves that a system whose wiring is written as rules is the same to the last statistic as the built-in one. */
static void test_rules_are_rails(void **state)
{
    (void)state;
    static const char *const rules[] = {
        "topology.kind=rules",
        "topology.wire=gpu*.link[0-3] -> leaf0.port*; gpu*.link[4-8] -> leaf1.port{gpu*5+link-4}; "
        "gpu*.link[9-13] -> leaf2.port*; gpu*.link[14-17] -> leaf{link/14+2}.port*",
        NULL};
    static const CollAlgo algos[] = {COLL_NVLS, COLL_RING};
    for (gsize i = 0; i < G_N_ELEMENTS(algos); i++) {
        g_autofree char *built_in = topology_run(NULL, algos[i]), *written = topology_run(rules, algos[i]);
        g_auto(GStrv) parts = g_strsplit(written, "leaf", -1);
        g_autofree char *renamed = g_strjoinv("switch", parts); /* rails call their leaves switches */
        assert_string_equal(renamed, built_in);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_checker), cmocka_unit_test(test_expression),
                                       cmocka_unit_test(test_two_level), cmocka_unit_test(test_rules_are_rails)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
