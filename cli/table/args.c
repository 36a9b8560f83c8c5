/* See table_args.h. */
#include "cli/table/args.h"

#include <string.h>

#include "cli/table/grid.h"

#define DEFAULT_SIZES "1K,8K,...,32M"
#define DEFAULT_OPS "all_reduce,all_gather,reduce_scatter,all_to_all"

static const char *const timings[] = {"eager", "graph", NULL};
static const char *const neighbours[] = {"on", "off", NULL};
static const char *const types[] = {"half", "bfloat16", "float", "fp8_e4m3", "fp8_e5m2", NULL};

static gboolean table_parse_ops(TablePlan *plan, const char *text, GError **error)
{
    g_auto(GStrv) words = g_strsplit(*text ? text : ",", ",", -1);
    for (char **word = words; *word; word++) {
        int op;
        g_strstrip(*word);
        if (strcmp(*word, "alltoall") == 0) /* as planners call it */
            op = COLL_ALL_TO_ALL;
        else if (!options_parse_name("--ops", *word, coll_op_names, &op, error))
            return FALSE;
        gboolean there = op == COLL_BARRIER;
        for (guint i = 0; i < plan->ops; i++)
            there |= plan->op[i] == (CollOp)op;
        if (there) {
            g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--ops: %s",
                        op == COLL_BARRIER ? "a barrier has no size; leave it out" : "each operation once");
            return FALSE;
        }
        plan->op[plan->ops++] = (CollOp)op;
    }
    return TRUE;
}

/* What a framework has no kernel for it gives to NCCL: a table of that is NCCL's. */
static gboolean table_check_program(const TablePlan *plan, GError **error)
{
    const char *program = coll_library_names[plan->library];
    if (!coll_library_is_framework(plan->library))
        return TRUE;
    if (plan->ops != 1 || plan->op[0] != COLL_ALL_REDUCE) {
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                    "--program: %s has kernels of its own for all_reduce alone; other "
                    "operations are --program nccl",
                    program);
        return FALSE;
    }
    if (plan->graph)
        return TRUE;
    g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                "--timing: kernels of %s are launched in CUDA graphs; graph is right", program);
    return FALSE;
}

static char *table_default_gpus(guint64 gpus)
{
    return gpus > 4 ? g_strdup_printf("2,4,...,%" G_GUINT64_FORMAT, gpus)
                    : g_strdup_printf(gpus > 2 ? "2,%" G_GUINT64_FORMAT : "%" G_GUINT64_FORMAT, gpus);
}

static gboolean table_parse(TablePlan *plan, const TableWords *words, const FabricSpec *spec, GError **error)
{
    int value = COLL_NCCL;
    if (words->program && !options_parse_name("--program", words->program, coll_library_names, &value, error))
        return FALSE;
    plan->library = (CollLibrary)value;
    if (words->nccl && !options_parse_nccl(words->nccl, &plan->nccl, error))
        return FALSE;
    gboolean framework = coll_library_is_framework(plan->library);
    value = framework;
    if (words->timing && !options_parse_name("--timing", words->timing, timings, &value, error))
        return FALSE;
    plan->graph = value == 1;
    value = 0;
    if (words->neighbours && !options_parse_name("--neighbours", words->neighbours, neighbours, &value, error))
        return FALSE;
    plan->alone = value == 1;
    plan->measured = words->measured != NULL;
    const char *type = words->type ? words->type : "half";
    if (!options_parse_name("-d", type, types, &value, error) || !numeric_type_parse(type, &plan->type))
        return FALSE;
    const char *ops = words->ops ? words->ops : framework ? "all_reduce" : DEFAULT_OPS;
    g_autofree char *all = table_default_gpus(spec->system.gpus);
    return table_parse_ops(plan, ops, error) && table_check_program(plan, error) &&
           (plan->gpus = grid_parse("--gpus", words->gpus ? words->gpus : all, FALSE, 2, spec->system.gpus, error)) &&
           (plan->sizes = grid_parse("--sizes", words->sizes ? words->sizes : DEFAULT_SIZES, TRUE,
                                     numeric_type_bytes(plan->type), COLL_BYTES_MAX, error));
}

gboolean table_args_parse(TablePlan *plan, const TableWords *words, const FabricSpec *spec, GError **error)
{
    if (table_parse(plan, words, spec, error))
        return TRUE;
    table_args_clear(plan);
    return FALSE;
}

void table_args_clear(TablePlan *plan)
{
    g_clear_pointer(&plan->gpus, g_array_unref);
    g_clear_pointer(&plan->sizes, g_array_unref);
}

void table_words_clear(TableWords *words)
{
    char *strings[] = {words->ops,    words->gpus,   words->sizes, words->program,    words->timing,  words->type,
                       words->errors, words->resume, words->nccl,  words->neighbours, words->measured};
    for (guint i = 0; i < G_N_ELEMENTS(strings); i++)
        g_free(strings[i]);
}
