/* See plan.h. */
#include "cli/coll/plan.h"

#include "cli/coll/views.h"

/* Where all bytes are wanted, so are packets. */
static CollFidelity plan_fidelity(const Options *options)
{
    if (options->fidelity == COLL_FIDELITY_AUTO && options->data == DATA_FULL)
        return COLL_PACKET;
    return options->fidelity;
}

CollSpec coll_plan_spec(const CollPlan *plan, const Options *options, guint type, guint64 bytes, CollAlgo algo)
{
    CollSpec spec = plan->spec;
    spec.type = plan->type[type];
    spec.bytes = bytes;
    spec.algo = algo;
    spec.fidelity = plan_fidelity(options);
    /* One protocol for several algorithms is that of those that have it; where none has, it is refused. */
    gboolean any = FALSE;
    for (guint a = 0; a < plan->algos; a++)
        any |= coll_has_protocols(spec.op, plan->algo[a]);
    if (any && !coll_has_protocols(spec.op, algo))
        spec.proto = COLL_PROTO_AUTO;
    return spec;
}

/* What is left out is so for all sizes of the type. */
static void plan_skip(CollPlan *plan, guint type, guint a, const GError *why)
{
    char *text = g_strdup_printf("%s%s%s with %s: %s", plan->skipped ? plan->skipped : "", plan->skipped ? "; " : "",
                                 coll_algo_name(plan->algo[a]), numeric_type_name(plan->type[type]), why->message);
    plan->skip[type][a] = TRUE;
    g_free(plan->skipped);
    plan->skipped = text;
}

static gboolean plan_check_row(CollPlan *plan, CollGroup *group, const Options *options, guint type, guint64 bytes,
                               guint a, GError **error)
{
    const CollSpec spec = coll_plan_spec(plan, options, type, bytes, plan->algo[a]);
    g_autoptr(GError) why = NULL;
    if (plan->skip[type][a])
        return TRUE;
    if (!coll_check(group, &spec, &why)) {
        if (plan->types == 1) {
            g_propagate_error(error, g_steal_pointer(&why));
            return FALSE;
        }
        plan_skip(plan, type, a, why);
        return TRUE;
    }
    return coll_views_check(options, &spec, coll_group_ranks(group), error);
}

guint64 coll_plan_data_bytes(const CollSpec *spec, guint32 gpus)
{
    return coll_fidelity(gpus, spec) == COLL_PACKET ? spec->bytes * 2 * gpus : G_MAXUINT64;
}

gboolean coll_plan_check(CollPlan *plan, const System *system, const Options *options, guint32 gpus, guint *n,
                         guint64 *last, Run *run, GError **error)
{
    const CollSpec first = coll_plan_spec(plan, options, 0, plan->min, plan->algo[0]);
    Options none = *options;
    *n = 0;
    none.vcd = NULL;
    if (!run_open(run, system, &none, coll_plan_data_bytes(&first, gpus), error))
        return FALSE;
    CollGroup *group = coll_group_new(run->fabric, NULL, gpus, error);
    gboolean good = group != NULL;
    COLL_SIZES(plan, type, bytes)
    {
        *last = bytes;
        for (guint a = 0; good && a < plan->algos; a++) {
            good = plan_check_row(plan, group, options, type, bytes, a, error);
            *n += good && !plan->skip[type][a];
        }
    }
    if (good && *n == 0) {
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "-d all: no type can run: %s", plan->skipped);
        good = FALSE;
    }
    if (group)
        coll_group_free(group);
    else if (plan->gpus > 0) /* nccl-tests' -n */
        options_tell_more(*error, "; ", "-n is the number of GPUs, --iters N that of iterations");
    return good;
}
