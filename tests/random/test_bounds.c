/* Every parameter of a system at both its bounds, alone and two at a time, on every preset: collectives and random
 * device programs run and verify, or the value is refused by its name.
 *
 *     FANOUT_BOUNDS=50       programs with each value on every preset, and as many pairs as values; usually each value
 *                            is tried with one program on one preset, and a sample of pairs
 *     FANOUT_BOUNDS_SEED=1   what is drawn
 *     FANOUT_BOUNDS_PART=3/8 the third eighth of that */
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "coll/coll.h"
#include "model/presets/preset.h"
#include "sim/rng.h"
#include "tests/random/program.h"
#include "device/launch_time.h"

#define SECONDS 60u
#define PAIRS 150u /* of the sample */

/* A value of a parameter: "link.vcs=2". */
typedef struct {
    char *set, *key, *section; /* "vcs", "[link]" */
} Bound;

typedef struct {
    const char *system;
    const Bound *bound[2]; /* [1] NULL: alone */
    guint64 seed;
    guint programs;
    gboolean all; /* collectives: all, or one of them */
} Case;

static guint64 variable(const char *name, guint64 usual)
{
    const char *text = g_getenv(name);
    return text ? g_ascii_strtoull(text, NULL, 10) : usual;
}

static void bound_add(GArray *bounds, const char *section, const char *key, char *value)
{
    Bound bound = {g_strdup_printf("%s.%s=%s", section, key, value), g_strdup(key), g_strdup_printf("[%s]", section)};
    g_array_append_val(bounds, bound);
    g_free(value);
}

/* Of all parameters; of those that name parts, one part. */
static GArray *bounds_new(const char *system)
{
    GArray *bounds = g_array_new(FALSE, FALSE, sizeof(Bound));
    ParamSet *set = param_set_new();
    FabricSpec spec = {0};
    device_params(set, &spec);
    assert_true(preset_load(set, system, NULL));
    GArray *rows = param_dump(set);
    for (guint i = 0; i < rows->len; i++) {
        const ParamDumpRow *dump = &g_array_index(rows, ParamDumpRow, i);
        const ParamRow *row = dump->row;
        switch (row->type) {
        case PARAM_U64_T:
        case PARAM_LIST_T:
            bound_add(bounds, dump->section, row->name, g_strdup_printf("%" G_GUINT64_FORMAT, row->min));
            bound_add(bounds, dump->section, row->name, g_strdup_printf("%" G_GUINT64_FORMAT, row->max));
            break;
        case PARAM_BOOL_T:
            bound_add(bounds, dump->section, row->name, g_strdup("false"));
            bound_add(bounds, dump->section, row->name, g_strdup("true"));
            break;
        case PARAM_ENUM_T:
            for (guint e = 0; row->enums[e]; e++)
                bound_add(bounds, dump->section, row->name, g_strdup(row->enums[e]));
            break;
        case PARAM_STRING_T: break;
        }
    }
    bound_add(bounds, "fault", "link_down", g_strdup("gpu0.link0"));
    bound_add(bounds, "fault", "link_degraded", g_strdup("gpu1.link1"));
    bound_add(bounds, "fault", "switch_down", g_strdup("switch0"));
    param_dump_free(rows);
    param_set_free(set);
    return bounds;
}

static void bounds_free(GArray *bounds)
{
    for (guint i = 0; i < bounds->len; i++) {
        g_free(g_array_index(bounds, Bound, i).set);
        g_free(g_array_index(bounds, Bound, i).key);
        g_free(g_array_index(bounds, Bound, i).section);
    }
    g_array_free(bounds, TRUE);
}

/* ---- one case */

static const struct {
    CollOp op;
    CollAlgo algo;
    guint64 bytes;
} case_colls[] = {
    {COLL_ALL_REDUCE, COLL_NVLS, 16384},         {COLL_ALL_REDUCE, COLL_RING, 16384},
    {COLL_ALL_TO_ALL, COLL_DIRECT, 16384},       {COLL_ALL_GATHER, COLL_PUSH, 8192},
    {COLL_ALL_REDUCE, COLL_TREE, 4096},          {COLL_REDUCE_SCATTER, COLL_PULL, 8192},
    {COLL_ALL_REDUCE, COLL_NVLS_BUFFERED, 8192},
};

static ProgramEnd case_coll(const Case *one, guint number, char **text)
{
    const SimSpec sim_spec = {.seed = one->seed};
    CollSpec spec = coll_spec_default(case_colls[number].op);
    FabricSpec fabric_spec = {0};
    CollResult result;
    g_autoptr(GError) error = NULL;
    ParamSet *set = param_set_new();
    spec.algo = case_colls[number].algo;
    spec.bytes = case_colls[number].bytes;
    spec.ctas = 2;
    device_params(set, &fabric_spec);
    gboolean good = preset_load(set, one->system, &error);
    for (guint i = 0; i < 2 && good && one->bound[i]; i++)
        good = param_set_text(set, one->bound[i]->set, &error);
    Sim *sim = good ? sim_new(&sim_spec, &error) : NULL;
    Fabric *fabric = sim ? fabric_new(sim, &fabric_spec, TRUE, &error) : NULL;
    guint32 ranks = (guint32)MIN(fabric_spec.system.gpus, 4);
    CollGroup *group = fabric ? coll_group_new(fabric, NULL, ranks, &error) : NULL;
    if (!group || !coll_check(group, &spec, &error)) {
        *text = g_strdup(error->message);
        return PROGRAM_REFUSED;
    }
    if (!coll_run(group, &spec, &result, &error)) {
        *text = g_strdup_printf("%s %s: %s", coll_op_name(spec.op), coll_algo_name(spec.algo), error->message);
        return g_error_matches(error, COLL_ERROR, COLL_ERROR_SYSTEM) ? PROGRAM_REFUSED : PROGRAM_STUCK;
    }
    if (result.check == COLL_VERIFIED && fabric_is_quiet(fabric) && fabric->n_faults == 0)
        return PROGRAM_GOOD;
    *text = g_strdup_printf("%s %s: %s", coll_op_name(spec.op), coll_algo_name(spec.algo),
                            result.check == COLL_VERIFIED ? "something is left in flight" : result.wrong);
    return PROGRAM_WRONG;
}

static ProgramEnd case_run(const void *what, guint64 *end_ps, char **text)
{
    const Case *one = what;
    guint only = (guint)(one->seed % G_N_ELEMENTS(case_colls));
    for (guint c = 0; c < G_N_ELEMENTS(case_colls); c++) {
        ProgramEnd end = one->all || c == only ? case_coll(one, c, text) : PROGRAM_GOOD;
        if (end > PROGRAM_REFUSED || (end == PROGRAM_REFUSED && strstr(*text, one->bound[0]->key)))
            return end;
        g_clear_pointer(text, g_free);
    }
    for (guint p = 0; p < one->programs; p++) {
        Program *program = program_draw(one->seed + p, one->system);
        for (guint i = 0; i < 2 && one->bound[i]; i++)
            g_ptr_array_add(program->sets, g_strdup(one->bound[i]->set));
        ProgramEnd end = program_run(program, end_ps, text);
        if (end > PROGRAM_REFUSED) {
            char *where = program_text(program), *said = *text;
            *text = g_strdup_printf("%s; %.300s", said, where);
            g_free(where);
            g_free(said);
        }
        program_free(program);
        if (end != PROGRAM_GOOD)
            return end;
    }
    return PROGRAM_GOOD;
}

static gboolean bound_named(const Bound *bound, const char *text)
{
    return bound && (strstr(text, bound->key) || strstr(text, bound->section));
}

static guint failures, cases, refusals;

/* A refusal names one of the parameters. */
static void case_check(const Case *one)
{
    g_autofree char *text = NULL;
    guint64 end_ps;
    ProgramEnd end = program_apart(case_run, one, SECONDS + 2 * one->programs, &end_ps, &text);
    gboolean named = bound_named(one->bound[0], text) || bound_named(one->bound[1], text);
    cases++;
    refusals += end == PROGRAM_REFUSED;
    if (end == PROGRAM_GOOD || (end == PROGRAM_REFUSED && named))
        return;
    failures++;
    print_error("%s %s %s: %s%s\n", one->system, one->bound[0]->set, one->bound[1] ? one->bound[1]->set : "",
                end == PROGRAM_REFUSED ? "no name in: " : "", text);
}

/* Which cases of all are this run's. */
static gboolean part_has(guint number)
{
    const char *part = g_getenv("FANOUT_BOUNDS_PART");
    guint k, n;
    return !part || sscanf(part, "%u/%u", &k, &n) != 2 || number % n == k - 1;
}

/* Proves that no value within its bounds, alone, makes a run abort, get stuck or come out wrong. */
static void test_alone(void **state)
{
    char **systems = preset_names();
    guint n_systems = g_strv_length(systems), programs = (guint)variable("FANOUT_BOUNDS", 0), number = 0;
    guint64 seed = variable("FANOUT_BOUNDS_SEED", 1);
    GArray *bounds = bounds_new(systems[0]);
    (void)state;
    failures = 0;
    for (guint b = 0; b < bounds->len; b++)
        for (guint s = 0; s < n_systems; s++, number++) {
            Case one = {systems[s],
                        {&g_array_index(bounds, Bound, b)},
                        seed * 1000003 + number * 100,
                        MAX(programs, 1),
                        programs > 0};
            if (part_has(number) && (programs || s == (b + seed) % n_systems))
                case_check(&one);
        }
    bounds_free(bounds);
    g_strfreev(systems);
    assert_int_equal(failures, 0);
}

/* Proves the same of values of two parameters at a time. */
static void test_pairs(void **state)
{
    char **systems = preset_names();
    guint n_systems = g_strv_length(systems), programs = (guint)variable("FANOUT_BOUNDS", 0);
    GArray *bounds = bounds_new(systems[0]);
    Rng rng;
    (void)state;
    failures = 0;
    rng_init(&rng, variable("FANOUT_BOUNDS_SEED", 1), "pairs of bounds");
    for (guint i = 0; i < (programs ? bounds->len * n_systems : PAIRS); i++) {
        Case one = {systems[rng_below(&rng, n_systems)],
                    {&g_array_index(bounds, Bound, rng_below(&rng, bounds->len)),
                     &g_array_index(bounds, Bound, rng_below(&rng, bounds->len))},
                    rng_below(&rng, 1000000),
                    programs ? (programs + 9) / 10 : 1,
                    FALSE};
        if (part_has(i))
            case_check(&one);
    }
    print_message("%u cases, %u refused by name\n", cases, refusals);
    bounds_free(bounds);
    g_strfreev(systems);
    assert_int_equal(failures, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_alone), cmocka_unit_test(test_pairs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
