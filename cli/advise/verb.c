/* fanout advise: which algorithm, protocol and CTAs are best by size, where that changes, and what a program's own
 * choice costs against it.
 *
 * Times are those of `fanout coll`: from the launch to the end of the last rank, without a host. */
#include <math.h>

#include "cli/advise/args.h"
#include "cli/advise/settings.h"
#include "cli/advise/simulate.h"
#include "cli/advise/sure.h"
#include "cli/live/live.h"
#include "cli/live/monitor/monitor.h"
#include "cli/options.h"
#include "cli/run.h"
#include "cli/system.h"
#include "sim/param/size.h"

#define ADVISE_CROSSINGS 4000000
#define ADVISE_SLACK_PCT 2u  /* fewer CTAs are better while they take no longer than that */
#define ADVISE_MORE_MAX 4u   /* times the algorithm's own number of CTAs */
#define ADVISE_NEAR_PCT 125u /* a crossover is known when its sizes are so near */

static const Column row_columns[] = {
    COLUMN_U64(bytes, "size", "B", "total size, as nccl-tests counts it"),
    COLUMN_TEXT(algo, "algo", "the fastest"),
    COLUMN_TEXT(proto, "proto", "its protocol"),
    COLUMN_U64(ctas, "ctas", "", "as few as take at most 2 % longer than the best number"),
    COLUMN_FIXED(time_us, "time", "us", 2, "from the launch to the end of the last rank"),
    COLUMN_FIXED(busbw_GBps, "busbw", "GB/s", 2, "with nccl-tests' factor of the operation"),
    COLUMN_TEXT(program_algo, "program's", "that the program takes by itself"),
    COLUMN_TEXT(program_proto, "proto", "its protocol"),
    COLUMN_U64(program_ctas, "ctas", "", "of it"),
    COLUMN_FIXED(program_us, "time", "us", 2, "of it"),
    COLUMN_FIXED(loss_pct, "loss", "%", 1, "how much longer that takes than the best"),
    COLUMN_FIXED(corrected_loss_pct, "corrected", "%", 1,
                 "the same, the errors of measured neighbours taken out of both"),
    COLUMN_FIXED(uncertainty_pct, "+-", "%", 1, "of corrected: nine of ten like this are not further off"),
    COLUMN_TEXT(fidelity, "fidelity", "of the best: packet, flow, or auto: flows with rates of packets"),
    COLUMN_END,
};
static const Column crossover_columns[] = {
    COLUMN_TEXT(below_algo, "below", "the best for smaller sizes"),
    COLUMN_TEXT(below_proto, "proto", "its protocol"),
    COLUMN_TEXT(above_algo, "above", "the best for larger sizes"),
    COLUMN_TEXT(above_proto, "proto", "its protocol"),
    COLUMN_U64(last_below_bytes, "last below", "B", "largest size tried at which the first is faster"),
    COLUMN_U64(first_above_bytes, "first above", "B", "smallest size tried at which the second is faster"),
    COLUMN_END,
};

typedef struct {
    const System *system;
    const Options *options;
    AdvisePlan plan;
    CollResult best[ADVISE_SIZES_MAX];
    gboolean used[COLL_ALGOS];
    double loss_pct;      /* the largest, */
    guint64 loss_bytes;   /* and where */
    gboolean loss_unsure; /* it is smaller than its uncertainty, or that is not known */
    ValidateErrors *errors;
    Report *report;
    Table *table, *crossovers;
    Live *live;
} Advise;

/* ---- one simulation */

static ExitCode advise_one(const Advise *advise, const CollSpec *spec, CollResult *result, GError **error)
{
    const AdviseRun with = {advise->system, advise->options, advise->plan.gpus, advise->live};
    return advise_simulate(&with, spec, result, error);
}

/* Pinned to what another run took. */
static ExitCode advise_again(const Advise *advise, guint64 bytes, const CollResult *as, guint32 ctas,
                             CollResult *result, GError **error)
{
    CollSpec spec = advise->plan.spec;
    spec.bytes = bytes;
    spec.algo = as->algo;
    spec.proto = as->proto;
    spec.ctas = ctas;
    return advise_one(advise, &spec, result, error);
}

/* ---- CTAs: more while that helps, then as few as do not hurt */

static ExitCode advise_ctas(const Advise *advise, guint64 bytes, CollResult *best, GError **error)
{
    const guint32 own = best->ctas;
    guint64 limit_ps;
    CollResult other;
    GError *why = NULL;
    for (guint32 ctas = own * 2; ctas <= own * ADVISE_MORE_MAX; ctas *= 2) {
        ExitCode code = advise_again(advise, bytes, best, ctas, &other, &why);
        if (g_error_matches(why, COLL_ERROR, COLL_ERROR_SPEC)) {
            g_clear_error(&why); /* more than can be resident */
            break;
        }
        if (code != EXIT_DONE) {
            g_propagate_error(error, why);
            return code;
        }
        if (other.time_ps * (100 + ADVISE_SLACK_PCT) >= best->time_ps * 100)
            break;
        *best = other;
    }
    limit_ps = best->time_ps * (100 + ADVISE_SLACK_PCT) / 100;
    for (guint32 ctas = best->ctas / 2; ctas >= 1; ctas /= 2) {
        ExitCode code = advise_again(advise, bytes, best, ctas, &other, &why);
        if (g_error_matches(why, COLL_ERROR, COLL_ERROR_SPEC)) {
            g_clear_error(&why); /* fewer than the algorithm needs */
            return EXIT_DONE;
        }
        if (code != EXIT_DONE) {
            g_propagate_error(error, why);
            return code;
        }
        if (other.time_ps > limit_ps)
            return EXIT_DONE;
        *best = other;
    }
    return EXIT_DONE;
}

/* ---- a size */

static void advise_add(Advise *advise, guint64 bytes, const CollResult *best, const CollResult *own)
{
    Table *table = advise->table;
    table_u64(table, bytes);
    table_text(table, coll_algo_name(best->algo));
    table_text(table, coll_proto_name(best->proto));
    table_u64(table, best->ctas);
    table_fixed(table, (double)best->time_ps / 1e6);
    table_fixed(table, (double)best->busbw_MBps / 1e3);
    table_text(table, coll_algo_name(own->algo));
    table_text(table, coll_proto_name(own->proto));
    table_u64(table, own->ctas);
    table_fixed(table, (double)own->time_ps / 1e6);
    const double loss_pct = ((double)own->time_ps / (double)best->time_ps - 1) * 100;
    const gboolean largest = loss_pct > advise->loss_pct;
    if (largest) {
        advise->loss_pct = loss_pct;
        advise->loss_bytes = bytes;
    }
    table_fixed(table, loss_pct);
    const AdviseSure sure = advise_sure(advise->errors, advise->system, &advise->plan, bytes, best, own);
    table_fixed(table, sure.loss_pct);
    table_fixed(table, sure.half_width_pct);
    if (largest)
        advise->loss_unsure = !(sure.loss_pct > sure.half_width_pct);
    table_text(table, coll_fidelity_name(best->fidelity));
    advise->used[best->algo] = TRUE;
}

static ExitCode advise_size(Advise *advise, guint i, GError **error)
{
    CollResult *best = &advise->best[i], own;
    CollSpec spec = advise->plan.spec;
    g_autofree char *size = size_format(advise->plan.size[i]);
    spec.bytes = advise->plan.size[i];
    progress_step(live_progress(advise->live), "%s %s", coll_op_name(spec.op), size);
    ExitCode code = advise_one(advise, &spec, best, error);
    if (code == EXIT_DONE && best->algo != COLL_P2P)
        code = advise_ctas(advise, spec.bytes, best, error);
    spec.algo = COLL_AUTO;
    spec.unicast = FALSE; /* what the program takes is its own */
    if (code == EXIT_DONE)
        code = advise_one(advise, &spec, &own, error);
    if (code != EXIT_DONE)
        return code;
    if (own.time_ps < best->time_ps && !advise->plan.spec.unicast) /* it has CTAs of its own that no candidate had */
        *best = own;
    live_lock(advise->live);
    advise_add(advise, spec.bytes, best, &own);
    live_unlock(advise->live, 1);
    return EXIT_DONE;
}

/* ---- where it changes */

static gboolean advise_same(const CollResult *a, const CollResult *b)
{
    return a->algo == b->algo && a->proto == b->proto;
}

static guint64 advise_middle(const Advise *advise, guint64 low, guint64 high)
{
    guint64 unit = 16 * advise->plan.gpus;
    return (guint64)sqrt((double)low * (double)high) / unit * unit;
}

static ExitCode advise_crossover(Advise *advise, guint i, GError **error)
{
    const CollResult *below = &advise->best[i], *above = &advise->best[i + 1];
    guint64 low = advise->plan.size[i], high = advise->plan.size[i + 1];
    while (high * 100 > low * ADVISE_NEAR_PCT) {
        guint64 middle = advise_middle(advise, low, high);
        CollResult first, second;
        if (middle <= low || middle >= high)
            break;
        g_autofree char *size = size_format(middle);
        progress_note(live_progress(advise->live), "crossover: %s", size);
        ExitCode code = advise_again(advise, middle, below, below->ctas, &first, error);
        if (code == EXIT_DONE)
            code = advise_again(advise, middle, above, above->ctas, &second, error);
        if (code != EXIT_DONE)
            return code;
        if (first.time_ps <= second.time_ps)
            low = middle;
        else
            high = middle;
    }
    live_lock(advise->live);
    table_text(advise->crossovers, coll_algo_name(below->algo));
    table_text(advise->crossovers, coll_proto_name(below->proto));
    table_text(advise->crossovers, coll_algo_name(above->algo));
    table_text(advise->crossovers, coll_proto_name(above->proto));
    table_u64(advise->crossovers, low);
    table_u64(advise->crossovers, high);
    live_unlock(advise->live, 0);
    return EXIT_DONE;
}

/* Spans of sizes that one algorithm is best for, and where the program's own choice costs most. */
static void advise_add_answer(const Advise *advise)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0, first = 0; i < advise->plan.sizes; i++) {
        const CollResult *best = &advise->best[i];
        if (i + 1 < advise->plan.sizes && advise_same(best, &advise->best[i + 1]))
            continue;
        g_autofree char *from = size_format(advise->plan.size[first]), *to = size_format(advise->plan.size[i]);
        g_string_append_printf(text, "%s%s %s at %s%s%s", text->len ? ", " : "", coll_algo_name(best->algo),
                               coll_proto_name(best->proto), from, i > first ? " to " : "", i > first ? to : "");
        first = i + 1;
    }
    report_add_answer(advise->report, "fastest: %s", text->str);
    if (advise->loss_pct > 0) {
        g_autofree char *size = size_format(advise->loss_bytes);
        report_add_answer(advise->report, "what %s takes by itself is up to %.1f %% slower, at %s%s",
                          coll_library_names[advise->plan.spec.library], advise->loss_pct, size,
                          advise->loss_unsure ? ", by the model alone: measured rows near it do not make that sure"
                                              : ", more than the doubt that measured rows near it leave");
    } else {
        report_add_answer(advise->report, "what %s takes by itself is as fast at every size",
                          coll_library_names[advise->plan.spec.library]);
    }
}

static void advise_notes(const Advise *advise)
{
    for (guint family = 0; family < COLL_FAMILIES; family++)
        for (guint a = 0; a < COLL_ALGOS; a++)
            if (advise->used[a] && coll_algo_family((CollAlgo)a) == (CollFamily)family)
                report_add_note(advise->report, "%s: %s", coll_algo_name((CollAlgo)a), coll_algo_how((CollAlgo)a));
    report_add_note(advise->report,
                    "corrected: without the errors that measured rows like these let expect of both times "
                    "(docs/planning.md); -: one of them has no neighbour");
    report_add_note(advise->report, "the program is %s (--program); times are without a host's launch",
                    coll_library_names[advise->plan.spec.library]);
}

static ExitCode advise_all(Advise *advise, GError **error)
{
    ExitCode code = EXIT_DONE;
    for (guint i = 0; i < advise->plan.sizes && code == EXIT_DONE; i++)
        code = advise_size(advise, i, error);
    for (guint i = 0; i + 1 < advise->plan.sizes && code == EXIT_DONE; i++)
        if (!advise_same(&advise->best[i], &advise->best[i + 1]))
            code = advise_crossover(advise, i, error);
    return code;
}

/* What can be refused is, before anything runs. */
static gboolean advise_check(const Advise *advise, GError **error)
{
    Run run;
    if (!run_open(&run, advise->system, advise->options, G_MAXUINT64, error))
        return FALSE;
    CollGroup *group = coll_group_new(run.fabric, NULL, advise->plan.gpus, error);
    gboolean good = group != NULL;
    for (guint i = 0; good && i < advise->plan.sizes; i++) {
        CollSpec spec = advise->plan.spec;
        spec.algo = COLL_AUTO;
        spec.bytes = advise->plan.size[i];
        good = coll_check(group, &spec, error);
    }
    if (group)
        coll_group_free(group);
    run_close(&run);
    return good;
}

static ExitCode advise_report(Advise *advise, GError **error)
{
    static const guint width[] = {10, 13, 6, 4, 9, 7, 13, 6, 4, 9, 6, 9, 6, 6};
    g_autofree char *title = g_strdup_printf("%s of %u GPUs on %s", coll_op_name(advise->plan.spec.op),
                                             advise->plan.gpus, advise->system->name);
    if (!advise_check(advise, error) || !(advise->errors = validate_errors_new(NULL, error)))
        return EXIT_USER;
    Report *report = advise->report = report_new("advise", title);
    options_describe(advise->options, report);
    system_describe(advise->system, report);
    report_add_text(report, "program", coll_library_names[advise->plan.spec.library]);
    report_add_text(report, "type", numeric_type_name(advise->plan.spec.type));
    system_describe_run(advise->system, advise->options, NULL, report);
    advise->table = report_add_table(report, "rows", "", row_columns, 0);
    advise->crossovers = report_add_table(report, "crossovers", "where the best changes", crossover_columns, 0);
    report_add_chart(report, advise->table, "bus bandwidth of the best", "bytes", "busbw_GBps", "algo",
                     CHART_LINES | CHART_LOG_X);
    advise->live = live_new(advise->options, report, advise->table, advise->plan.sizes, width);
    ExitCode code = advise_all(advise, error);
    if (code == EXIT_DONE) {
        live_lock(advise->live);
        advise_add_answer(advise);
        advise_notes(advise);
        live_unlock(advise->live, 0);
        code = live_finish(advise->live, error);
    } else {
        live_abandon(advise->live);
    }
    report_free(report);
    validate_errors_free(advise->errors);
    return code;
}

static ExitCode advise_begin(Advise *advise, GError **error)
{
    if (!advise->options->settings)
        return advise_report(advise, error);
    const AdviseRun with = {advise->system, advise->options, advise->plan.gpus, NULL};
    return advise_check(advise, error) ? advise_settings(&with, &advise->plan, error) : EXIT_USER;
}

static ExitCode advise_run_verb(int argc, char **argv, GError **error)
{
    AdviseWords words = {.crossings = ADVISE_CROSSINGS};
    const GOptionEntry own[] = {
        {"gpus", 'n', 0, G_OPTION_ARG_INT, &words.gpus, "ranks: GPUs 0 to N-1 (all)", "N"},
        {"minbytes", 'b', 0, G_OPTION_ARG_STRING, &words.min, "first size (1K)", "SIZE"},
        {"maxbytes", 'e', 0, G_OPTION_ARG_STRING, &words.max, "last size (64M; with -b alone, the first)", "SIZE"},
        {"stepfactor", 'f', 0, G_OPTION_ARG_STRING, &words.factor, "from size to size (4)", "F"},
        {"sizes", 0, 0, G_OPTION_ARG_STRING, &words.sizes, "these instead; '...' goes on (1K,8K,...,32M)", "SIZE,..."},
        {"datatype", 'd', 0, G_OPTION_ARG_STRING, &words.type, "element type (half)", "DTYPE"},
        {"program", 0, 0, G_OPTION_ARG_STRING, &words.program,
         "whose own choice is compared: nccl, nccl-registered, nccl-sym, trtllm, vllm, sglang (nccl)", "PROGRAM"},
        {"unicast", 0, 0, G_OPTION_ARG_NONE, &words.unicast, "only what needs no multicast", NULL},
        {"crossings", 0, 0, G_OPTION_ARG_INT64, &words.crossings,
         "with --fidelity auto: beyond so many link crossings rows are flows (4000000)", "N"},
        {NULL, 0, 0, 0, NULL, NULL, NULL}};
    Options options;
    ExitCode code;
    if (options_parse(&options, &verb_advise, own, &argc, &argv, &code, error)) {
        System system;
        Advise advise = {.system = &system, .options = &options};
        code = EXIT_USER;
        if (options_check_args(&verb_advise, argc, argv, 1, 1, error) && system_load(&system, NULL, &options, error)) {
            if (advise_args_parse(&advise.plan, argv[1], &words, &options, &system.spec, error) &&
                monitor_open(&options, error))
                code = advise_begin(&advise, error);
            system_clear(&system);
        }
        monitor_close(&options);
        options_clear(&options);
    }
    advise_args_clear(&words);
    return code;
}

const Verb verb_advise = {
    .name = "advise",
    .usage = "OP",
    .text = "the best algorithm, protocol and CTAs by size, and what a program's own choice costs",
    .flags = VERB_FLOWS | VERB_FIDELITY | VERB_MONITOR | VERB_SETTINGS,
    .no_views = "each of its rows is several simulations; coll runs a single one and writes them",
    .run = advise_run_verb,
};
