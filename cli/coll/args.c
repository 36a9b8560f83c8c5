/* See coll_args.h. */
#include "cli/coll/args.h"

#include <string.h>

#include "cli/hints.h"
#include "sim/param/nearest.h"
#include "sim/param/size.h"

/* names: to guess from, NULL-terminated; right: all that can be said, or what is usual. */
static gboolean coll_bad(GError **error, const char *option, const char *text, const char *const *names,
                         const char *right)
{
    const char *meant = hints_value(option, text);
    const char *near = *text && !meant ? nearest_name(text, names) : NULL;
    if (meant) {
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "%s: '%s' is unknown; %s", option, text, meant);
        return FALSE;
    }
    g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "%s: '%s' is unknown; %s%s%s%s", option, text, right,
                near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    return FALSE;
}

static char *coll_names_of(CollOp op)
{
    GString *names = g_string_new(NULL);
    const CollAlgoList all = coll_algos_of(op);
    for (const CollAlgo *algo = all.algo; *algo != COLL_ALGOS; algo++)
        g_string_append_printf(names, "%s, ", coll_algo_name(*algo));
    g_string_append(names, "auto, best or unicast");
    return g_string_free(names, FALSE);
}

static gboolean coll_parse_algos(CollPlan *plan, const char *text, GError **error)
{
    g_auto(GStrv) words = g_strsplit(*text ? text : ",", ",", COLL_ALGOS_MAX);
    for (char **word = words; *word; word++) {
        if (!coll_algo_parse(g_strstrip(*word), &plan->algo[plan->algos])) {
            g_autofree char *names = coll_names_of(plan->spec.op);
            g_autofree char *right = g_strdup_printf("%s has %s", coll_op_name(plan->spec.op), names);
            return coll_bad(error, "-a", *word, coll_algo_names, right);
        }
        plan->algos++;
    }
    return TRUE;
}

/* A size; of a range or a list, how one is given. */
static gboolean coll_parse_size(const char *option, const char *text, guint64 *bytes, GError **error)
{
    GError *failure = NULL;

    if (size_parse(option, text, bytes, &failure))
        return TRUE;
    g_autofree char *meant = hints_size_range(text);
    if (meant)
        options_tell_more(failure, "; ", meant);
    g_propagate_error(error, failure);
    return FALSE;
}

static gboolean coll_parse_sizes(CollPlan *plan, const CollWords *words, GError **error)
{
    const char *least = plan->spec.op == COLL_BARRIER ? "0" : "1M";
    if (!coll_parse_size("-b", words->min ? words->min : least, &plan->min, error))
        return FALSE;
    plan->max = plan->min;
    if (words->max && !coll_parse_size("-e", words->max, &plan->max, error))
        return FALSE;
    if (!options_parse_u64("-f", words->factor ? words->factor : "2", 2, 1u << 20, &plan->factor, error))
        return FALSE;
    if (plan->max >= plan->min)
        return TRUE;
    g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                "-e: %" G_GUINT64_FORMAT " bytes are less than -b's %" G_GUINT64_FORMAT "; sizes go from -b up to -e",
                plan->max, plan->min);
    return FALSE;
}

static gboolean coll_parse_number(const char *option, gint value, gint least, guint32 *to, GError **error)
{
    if (value == COLL_NOT_GIVEN)
        return TRUE; /* what stands there is right */
    if (value < least) {
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "%s: %d is too small; %d or more is right", option, value,
                    least);
        return FALSE;
    }
    *to = (guint32)value;
    return TRUE;
}

/* What people write, for guesses; more is understood (numeric_type_parse). */
static const char *const coll_types[] = {"float", "half",   "bfloat16", "double",   "int32", "uint32",
                                         "int64", "uint64", "fp8_e4m3", "fp8_e5m2", "f32",   "f16",
                                         "bf16",  "f64",    "all",      NULL};
static const char *const coll_reductions[] = {"sum", "prod", "min", "max", "avg", "and", "or", "xor", NULL};

/* Of all types, those that the operation goes with. */
static gboolean coll_parse_types(CollPlan *plan, const char *text, GError **error)
{
    plan->type[0] = plan->spec.type;
    plan->types = 1;
    if (!text)
        return TRUE;
    if (strcmp(text, "all") != 0) {
        if (!numeric_type_parse(text, &plan->type[0]))
            return coll_bad(error, "-d", text, coll_types,
                            "float, half, bfloat16, double, int32, uint32, int64, uint64, fp8_e4m3, fp8_e5m2 or all is "
                            "right");
        plan->spec.type = plan->type[0];
        return TRUE;
    }
    plan->types = 0;
    for (guint i = 0; i < COLL_TYPES_MAX; i++) {
        NumericType *type = &plan->type[plan->types];
        if (numeric_type_parse(coll_types[i], type) &&
            (!coll_reduces(plan->spec.op) || numeric_allows(*type, plan->spec.reduce)))
            plan->types++;
    }
    plan->spec.type = plan->type[0];
    return TRUE;
}

/* Also of a word that would be right somewhere else: an algorithm, a test of fanout bench. */
static gboolean coll_bad_op(const char *name, GError **error)
{
    GError *failure = NULL;
    g_autofree char *meant = hints_not_a_verb(name);

    meant = meant ? meant : hints_argument("coll", name);
    coll_bad(&failure, "OP", name, coll_op_names,
             "all_reduce, all_gather, reduce_scatter, broadcast, all_to_all, sendrecv, reduce, gather, scatter or "
             "barrier is right");
    g_autofree char *bare = meant ? NULL : hints_op(name);
    const char *near = bare ? nearest_name(bare, coll_op_names) : NULL;
    if (near)
        meant = g_strdup_printf("did you mean '%s'?", near);
    if (meant)
        options_tell_more(failure, "; ", meant);
    g_propagate_error(error, failure);
    return FALSE;
}

gboolean coll_args_parse(CollPlan *plan, const char *op_name, const CollWords *words, GError **error)
{
    CollOp op;
    if (!coll_op_parse(op_name, &op))
        return coll_bad_op(op_name, error);
    plan->spec = coll_spec_default(op);
    if (op == COLL_BARRIER && (words->min || words->max)) {
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "-b, -e: a barrier has no size; leave them out");
        return FALSE;
    }
    if (words->reduce && strcmp(words->reduce, "avg") == 0)
        plan->spec.average = TRUE;
    else if (words->reduce && !numeric_op_parse(words->reduce, &plan->spec.reduce))
        return coll_bad(error, "-o", words->reduce, coll_reductions,
                        "sum, prod, min, max, avg, and, or or xor is right");
    if (!coll_parse_types(plan, words->type, error))
        return FALSE;
    if (words->proto && !coll_proto_parse(words->proto, &plan->spec.proto))
        return coll_bad(error, "-p", words->proto, coll_proto_names, "simple, ll, ll128 or auto is right");
    if (words->program && !coll_library_parse(words->program, &plan->spec.library))
        return coll_bad(error, "--program", words->program, coll_library_names,
                        "nccl, nccl-registered, nccl-sym, trtllm, vllm or sglang is right");
    if (words->nccl && !options_parse_nccl(words->nccl, &plan->spec.nccl, error))
        return FALSE;
    if (words->crossings < 1) {
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--crossings: at least 1");
        return FALSE;
    }
    plan->spec.crossings = (guint64)words->crossings;
    plan->compare = !words->no_compare;
    if (words->what_if && words->no_what_if) {
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--what-if and --no-what-if: give one of them");
        return FALSE;
    }
    plan->what_if = words->what_if ? COLL_WHAT_IF_ALWAYS : words->no_what_if ? COLL_WHAT_IF_NEVER : COLL_WHAT_IF_AUTO;
    return coll_parse_algos(plan, words->algos ? words->algos : "auto", error) &&
           coll_parse_sizes(plan, words, error) && coll_parse_number("-n", words->gpus, 1, &plan->gpus, error) &&
           coll_parse_number("--ctas", words->ctas, 1, &plan->spec.ctas, error) &&
           coll_parse_number("--threads", words->threads, 1, &plan->spec.threads, error) &&
           coll_parse_number("--root", words->root, 0, &plan->spec.root, error) &&
           coll_parse_number("-w", words->warmup, 0, &plan->spec.warmup, error) &&
           coll_parse_number("--iters", words->iterations, 1, &plan->spec.iterations, error);
}

static void coll_args_say(GString *text, const char *option, guint64 value, guint64 usual)
{
    if (value != usual)
        g_string_append_printf(text, "%s%s %" G_GUINT64_FORMAT, text->len ? " " : "", option, value);
}

char *coll_args_settings(const CollPlan *plan, const Options *options)
{
    GString *text = g_string_new(NULL);
    if (plan->spec.library != COLL_NCCL)
        g_string_append_printf(text, "--program %s", coll_library_names[plan->spec.library]);
    if (plan->spec.nccl) {
        g_autofree char *nccl = coll_nccl_format(plan->spec.nccl);
        g_string_append_printf(text, "%s--nccl %s", text->len ? " " : "", nccl);
    }
    coll_args_say(text, "--threads", plan->spec.threads, 0);
    coll_args_say(text, "--root", plan->spec.root, 0);
    coll_args_say(text, "--warmup", plan->spec.warmup, 0);
    coll_args_say(text, "--iters", plan->spec.iterations, 1);
    if (options->data != DATA_AUTO)
        g_string_append_printf(text, "%s--data %s", text->len ? " " : "", options->data == DATA_OFF ? "off" : "full");
    return g_string_free(text, FALSE);
}

void coll_args_clear(CollWords *words)
{
    char *strings[] = {words->min,    words->max,   words->factor, words->algos,   words->type,
                       words->reduce, words->proto, words->record, words->program, words->nccl};
    for (guint i = 0; i < G_N_ELEMENTS(strings); i++)
        g_free(strings[i]);
}
