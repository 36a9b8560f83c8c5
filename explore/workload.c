/* See workload.h. */
#include "explore/workload.h"

#include <string.h>

#include "bench/bench.h"
#include "coll/coll.h"
#include "explore/lines.h"
#include "sim/param/nearest.h"

static const char *const fidelities[] = {"packet", "flow", "auto", NULL};
static const char *const engines[] = {"fast", "reference", NULL};
static const char *const data_modes[] = {"auto", "full", "off", NULL};

static const WorkloadKey common_keys[] = {
    {"system", "--system", VALUE_PATH, NULL, "a name from 'fanout systems', or an INI file"},
    {"seed", "--seed", VALUE_NUMBER, NULL, "of all random streams"},
    {"fidelity", "--fidelity", VALUE_NAME, fidelities, "packet, flow or auto"},
    {"engine", "--engine", VALUE_NAME, engines, "fast or reference"},
    {"data", "--data", VALUE_NAME, data_modes, "auto, full or off"},
    {"max_memory", "--max-memory", VALUE_SIZE, NULL, "simulated memory that data = auto keeps"},
    {"config", "--config", VALUE_PATH, NULL, "an INI file that changes parameters"},
    {NULL, NULL, VALUE_TEXT, NULL, NULL},
};
static const WorkloadKey coll_keys[] = {
    {"op", NULL, VALUE_NAME, coll_op_names, "which collective"},
    {"algo", "--algo", VALUE_NAME, coll_algo_names, "which algorithm"},
    {"program", "--program", VALUE_NAME, coll_library_names, "whose choice algo = auto is"},
    {"bytes", "--bytes", VALUE_SIZE, NULL, "size"},
    {"gpus", "--gpus", VALUE_NUMBER, NULL, "ranks"},
    {"ctas", "--ctas", VALUE_NUMBER, NULL, "CTAs of a rank"},
    {"threads", "--threads", VALUE_NUMBER, NULL, "threads of a CTA"},
    {"proto", "--proto", VALUE_NAME, coll_proto_names, "protocol of ring and tree"},
    {"datatype", "--datatype", VALUE_TEXT, NULL, "element type"},
    {"redop", "--op", VALUE_TEXT, NULL, "what sums: sum, min, max ..."},
    {"root", "--root", VALUE_NUMBER, NULL, "root rank of broadcast"},
    {"warmup", "--warmup", VALUE_NUMBER, NULL, "runs before the counted ones"},
    {"iters", "--iters", VALUE_NUMBER, NULL, "runs to take the mean of"},
    {"crossings", "--crossings", VALUE_NUMBER, NULL, "with fidelity auto: beyond so many, flows"},
    {NULL, NULL, VALUE_TEXT, NULL, NULL},
};
static const WorkloadKey bench_keys[] = {
    {"test", NULL, VALUE_TEXT, NULL, "which micro-benchmark"},
    {"variant", "--variant", VALUE_TEXT, NULL, "of the test"},
    {"gpus", "--gpus", VALUE_TEXT, NULL, "who acts on whose memory (0>1), or how many"},
    {"ctas", "--ctas", VALUE_NUMBER, NULL, "CTAs of the kernel"},
    {"threads", "--threads", VALUE_NUMBER, NULL, "threads of a CTA"},
    {"bytes", "--bytes", VALUE_SIZE, NULL, "size of the test"},
    {"crossings", "--crossings", VALUE_NUMBER, NULL, "beyond so many: three smaller sizes"},
    {NULL, NULL, VALUE_TEXT, NULL, NULL},
};
static const WorkloadKey replay_keys[] = {
    {"trace", NULL, VALUE_PATH, NULL, "the trace's file"},
    {"algo", "--algo", VALUE_TEXT, NULL, "algorithm, or all_reduce=nvls,broadcast=ring in double quotes"},
    {"program", "--program", VALUE_NAME, coll_library_names, "whose choice auto is"},
    {"place", "--place", VALUE_TEXT, NULL, "GPUs of the ranks, same or fold"},
    {"compute_scale", "--compute-scale", VALUE_TEXT, NULL, "computations last X times as recorded"},
    {"limit", "--limit", VALUE_NUMBER, NULL, "first operations of each rank"},
    {"world", "--world", VALUE_NUMBER, NULL, "ranks, where one file is all there is"},
    {"no_compare", "--no-compare", VALUE_FLAG, NULL, "do not replay with the best with and without multicast"},
    {NULL, NULL, VALUE_TEXT, NULL, NULL},
};

static const Workload workloads[] = {
    {"coll", coll_keys},
    {"bench", bench_keys},
    {"replay", replay_keys},
};

const Workload *workload_find(const char *verb, GError **error)
{
    const char *names[G_N_ELEMENTS(workloads) + 1] = {NULL};
    for (guint i = 0; i < G_N_ELEMENTS(workloads); i++) {
        if (strcmp(workloads[i].verb, verb) == 0)
            return &workloads[i];
        names[i] = workloads[i].verb;
    }
    g_autofree char *hint = nearest_hint(verb, names);
    g_set_error(error, SPEC_ERROR, SPEC_ERROR_VALUE, "'%s' is no verb that can be swept%s", verb, hint);
    return NULL;
}

static const WorkloadKey *workload_find_key(const WorkloadKey *keys, const char *name)
{
    for (; keys->name; keys++)
        if (strcmp(keys->name, name) == 0)
            return keys;
    return NULL;
}

const WorkloadKey *workload_key(const Workload *workload, const char *name)
{
    const WorkloadKey *key = workload_find_key(workload->keys, name);
    return key ? key : workload_find_key(common_keys, name);
}

const char **workload_names(const Workload *workload)
{
    GPtrArray *names = g_ptr_array_new();
    for (const WorkloadKey *key = workload->keys; key->name; key++)
        g_ptr_array_add(names, (gpointer)key->name);
    for (const WorkloadKey *key = common_keys; key->name; key++)
        g_ptr_array_add(names, (gpointer)key->name);
    g_ptr_array_add(names, NULL);
    return (const char **)g_ptr_array_free(names, FALSE);
}

static gboolean workload_check_test(const char *text, char **wrong)
{
    if (bench_find(text))
        return TRUE;
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (const BenchTest *const *test = bench_tests; *test; test++)
        g_ptr_array_add(names, (gpointer)(*test)->name);
    g_ptr_array_add(names, NULL);
    const char *near = nearest_name(text, (const char *const *)names->pdata);
    *wrong = g_strdup_printf("no test '%s'%s%s%s 'fanout bench' lists them", text, near ? "; did you mean '" : ";",
                             near ? near : "", near ? "'?" : "");
    return FALSE;
}

ValueType workload_type(const WorkloadKey *key)
{
    ValueType type = {.kind = key->kind, .names = key->names, .max = G_MAXINT32};
    if (strcmp(key->name, "test") == 0)
        type.check = workload_check_test;
    if (strcmp(key->name, "seed") == 0)
        type.max = G_MAXINT64; /* what a database's whole numbers hold */
    return type;
}

char *workload_path(const char *folder, const char *value)
{
    if (g_path_is_absolute(value) || !strpbrk(value, "/."))
        return g_strdup(value);
    return strcmp(folder, ".") == 0 ? g_strdup(value) : g_build_filename(folder, value, NULL);
}

static void workload_add_word(GPtrArray *words, const WorkloadKey *key, const char *folder, const char *value)
{
    if (key->kind == VALUE_FLAG) {
        if (strcmp(value, "true") == 0)
            g_ptr_array_add(words, g_strdup(key->option));
        return;
    }
    if (key->option)
        g_ptr_array_add(words, g_strdup(key->option));
    g_ptr_array_add(words, key->kind == VALUE_PATH ? workload_path(folder, value) : g_strdup(value));
}

char **workload_command(const Workload *workload, const char *program, const char *folder, const char *const *names,
                        const char *const *values, guint n)
{
    GPtrArray *words = g_ptr_array_new();
    const WorkloadKey *first = workload->keys;
    g_ptr_array_add(words, g_strdup(program));
    g_ptr_array_add(words, g_strdup(workload->verb));
    for (guint i = 0; i < n; i++)
        if (strcmp(names[i], first->name) == 0)
            workload_add_word(words, first, folder, values[i]);
    for (guint i = 0; i < n; i++) {
        const WorkloadKey *key = workload_key(workload, names[i]);
        if (key && key != first)
            workload_add_word(words, key, folder, values[i]);
    }
    for (guint i = 0; i < n; i++) {
        if (workload_key(workload, names[i]))
            continue;
        g_ptr_array_add(words, g_strdup("--set"));
        g_ptr_array_add(words, g_strdup_printf("%s=%s", names[i], values[i]));
    }
    g_ptr_array_add(words, NULL);
    return (char **)g_ptr_array_free(words, FALSE);
}
