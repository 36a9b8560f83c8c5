/* The words that options and arguments may be, from the tables that read them. */
#include "cli/reference/internal.h"

#include <string.h>

#include "bench/bench.h"
#include "cli/options.h"
#include "cli/self/speed.h"
#include "explore/plot.h"
#include "model/presets/preset.h"
#include "observe/walk/walk.h"
#include "traces/format/write.h"
#include "device/launch_time.h"

typedef struct {
    const char *verb, *option; /* NULL: of every verb; its first argument */
    const char *const *names;
    gboolean list;
} ChoiceRow;

static const char *const types[] = {"float", "half",   "bfloat16", "double",   "int32", "uint32",
                                    "int64", "uint64", "fp8_e4m3", "fp8_e5m2", NULL};
static const char *const reductions[] = {"sum", "min", "max", "and", "or", "xor", NULL};
static const char *const clocks[] = {"host", "simulated", NULL};
static const char *const timings[] = {"eager", "graph", NULL};
static const char *const axes[] = {"x", "y", "xy", "none", NULL};

static const ChoiceRow rows[] = {
    {"coll", NULL, coll_op_names, FALSE},
    {"coll", "algo", coll_algo_names, TRUE},
    {"coll", "program", coll_library_names, FALSE},
    {"replay", "program", coll_library_names, FALSE},
    {"table", "ops", coll_op_names, TRUE},
    {"table", "program", coll_library_names, FALSE},
    {"table", "timing", timings, FALSE},
    {"table", "datatype", types, FALSE},
    {"advise", NULL, coll_op_names, FALSE},
    {"advise", "program", coll_library_names, FALSE},
    {"advise", "datatype", types, FALSE},
    {"coll", "proto", coll_proto_names, FALSE},
    {"coll", "datatype", types, FALSE},
    {"coll", "op", reductions, FALSE},
    {"replay", "algo", coll_algo_names, TRUE},
    {"walk", NULL, walk_ops, FALSE},
    {"convert", "to", write_formats, FALSE},
    {"plot", "kind", plot_kinds, FALSE},
    {"plot", "log", axes, FALSE},
    {"exec", "clock", clocks, FALSE},
    {NULL, "format", options_formats, FALSE},
    {NULL, "fidelity", options_fidelities, FALSE},
    {NULL, "calendar", options_calendars, FALSE},
    {NULL, "engine", options_engines, FALSE},
    {NULL, "data", options_data, FALSE},
};

static char **choices_tests(void)
{
    GStrvBuilder *names = g_strv_builder_new();
    for (const BenchTest *const *test = bench_tests; *test; test++)
        g_strv_builder_add(names, (*test)->name);
    g_strv_builder_add(names, "speed");
    for (const SpeedBench *bench = speed_benches; bench->name; bench++)
        g_strv_builder_add(names, bench->name);
    char **all = g_strv_builder_end(names);
    g_strv_builder_unref(names);
    return all;
}

/* "section.key=" of every parameter, or of section fault "key="; behind the "=" the names of a parameter that has
 * names. */
static char **choices_parameters(const char *begin, const char *only)
{
    GStrvBuilder *names = g_strv_builder_new();
    FabricSpec spec;
    ParamSet *params = param_set_new();
    memset(&spec, 0, sizeof spec);
    device_params(params, &spec);
    GArray *dump = param_dump(params);
    for (guint i = 0; i < dump->len; i++) {
        const ParamDumpRow *row = &g_array_index(dump, ParamDumpRow, i);
        if (only && strcmp(row->section, only) != 0)
            continue;
        g_autofree char *key = only ? g_strdup_printf("%s=", row->row->name)
                                    : g_strdup_printf("%s.%s=", row->section, row->row->name);
        static const char *const truths[] = {"true", "false", NULL};
        const char *const *values = row->row->type == PARAM_BOOL_T ? truths : row->row->enums;
        if (!g_str_has_prefix(begin, key)) {
            g_strv_builder_add(names, key);
            continue;
        }
        for (; values && *values; values++) {
            g_autofree char *whole = g_strconcat(key, *values, NULL);
            g_strv_builder_add(names, whole);
        }
    }
    param_dump_free(dump);
    param_set_free(params);
    char **all = g_strv_builder_end(names);
    g_strv_builder_unref(names);
    return all;
}

Choices choices_of(const Verb *verb, const GOptionEntry *option, const char *begin)
{
    const char *name = option ? option->long_name : NULL;
    const gboolean file = !option || option->arg == G_OPTION_ARG_FILENAME || option->arg == G_OPTION_ARG_FILENAME_ARRAY;
    if (g_strcmp0(name, "system") == 0)
        return (Choices){.names = preset_names(), .files = TRUE};
    if (!option && strcmp(verb->name, "systems") == 0)
        return (Choices){.names = preset_names(), .files = TRUE};
    if (g_strcmp0(name, "diff") == 0)
        return (Choices){.names = preset_names(), .files = TRUE};
    if (!option && strcmp(verb->name, "bench") == 0)
        return (Choices){.names = choices_tests()};
    if (g_strcmp0(name, "set") == 0)
        return (Choices){.names = choices_parameters(begin, NULL), .keys = !strchr(begin, '=')};
    if (g_strcmp0(name, "fault") == 0)
        return (Choices){.names = choices_parameters(begin, "fault"), .keys = TRUE};
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
        if ((!rows[i].verb || strcmp(rows[i].verb, verb->name) == 0) && g_strcmp0(rows[i].option, name) == 0)
            return (Choices){.names = g_strdupv((char **)rows[i].names), .list = rows[i].list};
    return (Choices){.files = file};
}
