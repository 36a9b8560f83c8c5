/* See advise_args.h. */
#include "cli/advise/args.h"

#include "cli/table/grid.h"
#include "sim/param/size.h"

G_STATIC_ASSERT(GRID_MAX <= ADVISE_SIZES_MAX);

/* A multiple of which gives each rank whole accesses. */
static guint64 advise_unit(const AdvisePlan *plan)
{
    const CollOp op = plan->spec.op;
    const gboolean sliced = op == COLL_ALL_GATHER || op == COLL_REDUCE_SCATTER || op == COLL_ALL_TO_ALL;
    return sliced ? 16 * plan->gpus : 16;
}

/* --sizes: those that are named, none left out. */
static gboolean advise_list(AdvisePlan *plan, const AdviseWords *words, GError **error)
{
    const guint64 unit = advise_unit(plan);
    if (words->min || words->max || words->factor) {
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--sizes names every size; -b, -e and -f are right without it");
        return FALSE;
    }
    g_autoptr(GArray) sizes = grid_parse("--sizes", words->sizes, TRUE, unit, COLL_BYTES_MAX, error);
    for (guint i = 0; sizes && i < sizes->len; i++) {
        const guint64 bytes = g_array_index(sizes, guint64, i) / unit * unit;
        if (i > 0 && bytes == plan->size[i - 1]) {
            g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                        "--sizes: two of them are %" G_GUINT64_FORMAT " bytes once each rank has whole accesses of 16 "
                        "bytes; multiples of %" G_GUINT64_FORMAT " are right",
                        bytes, unit);
            return FALSE;
        }
        plan->size[plan->sizes++] = bytes;
    }
    return sizes != NULL;
}

static gboolean advise_sizes(AdvisePlan *plan, const AdviseWords *words, GError **error)
{
    guint64 min, max, factor;
    const guint64 unit = advise_unit(plan);
    if (words->sizes)
        return advise_list(plan, words, error);
    if (!size_parse("-b", words->min ? words->min : "1K", &min, error) ||
        !size_parse("-e",
                    words->max   ? words->max
                    : words->min ? words->min
                                 : "64M",
                    &max, error) ||
        !options_parse_u64("-f", words->factor ? words->factor : "4", 2, 1u << 20, &factor, error))
        return FALSE;
    if (max < min || max > COLL_BYTES_MAX) {
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                    "-e: %" G_GUINT64_FORMAT " bytes; sizes go from -b up to -e, 64G at "
                    "most",
                    max);
        return FALSE;
    }
    for (guint64 bytes = min; bytes && bytes <= max && plan->sizes < ADVISE_SIZES_MAX; bytes *= factor)
        if (bytes / unit)
            plan->size[plan->sizes++] = bytes / unit * unit; /* whole accesses of each rank */
    if (plan->sizes)
        return TRUE;
    g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                "-b, -e: no size gives each rank 16 bytes; %" G_GUINT64_FORMAT " or more is right", unit);
    return FALSE;
}

gboolean advise_args_parse(AdvisePlan *plan, const char *op_name, const AdviseWords *words, const Options *options,
                           const FabricSpec *spec, GError **error)
{
    static const char *const types[] = {"half", "bfloat16", "float", "double", "int32", "fp8_e4m3", "fp8_e5m2", NULL};
    int op, library = COLL_NCCL, type = 0;
    guint64 gpus = spec->system.gpus;
    if (!options_parse_name("OP", op_name, coll_op_names, &op, error) ||
        (words->program && !options_parse_name("--program", words->program, coll_library_names, &library, error)) ||
        (words->type && !options_parse_name("-d", words->type, types, &type, error)))
        return FALSE;
    if (op == COLL_BARRIER || words->crossings < 1 || (words->gpus != 0 && words->gpus < 2)) {
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                    op == COLL_BARRIER     ? "OP: a barrier has no sizes; fanout coll barrier -a best compares its ways"
                    : words->crossings < 1 ? "--crossings: at least 1"
                                           : "-n: a collective has two GPUs or more");
        return FALSE;
    }
    plan->spec = coll_spec_default((CollOp)op);
    plan->spec.check = FALSE;
    plan->spec.algo = words->unicast ? COLL_UNICAST : COLL_BEST;
    plan->spec.unicast = words->unicast;
    plan->spec.library = (CollLibrary)library;
    plan->spec.crossings = (guint64)words->crossings;
    plan->spec.fidelity = options->fidelity;
    plan->gpus = words->gpus ? (guint32)words->gpus : (guint32)gpus;
    return numeric_type_parse(types[type], &plan->spec.type) && advise_sizes(plan, words, error);
}

void advise_args_clear(AdviseWords *words)
{
    char *strings[] = {words->min, words->max, words->factor, words->sizes, words->program, words->type};
    for (guint i = 0; i < G_N_ELEMENTS(strings); i++)
        g_free(strings[i]);
}
