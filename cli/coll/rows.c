/* See rows.h. */
#include "cli/coll/rows.h"

#include <string.h>

#include "cli/coll/compare.h"
#include "cli/coll/table.h"
#include "coll/coll.h"
#include "sim/param/size.h"

guint32 coll_rows_gpus(const CollRows *rows)
{
    return rows->plan->gpus ? rows->plan->gpus : (guint32)rows->system->spec.system.gpus;
}

static void coll_on_candidate(const char *algo, const char *proto, guint index, guint all, void *user)
{
    progress_note(live_progress(user), "%s %s, %u of %u", algo, proto, index, all);
}

static CollSpec coll_spec_of(const CollRows *rows, guint64 bytes, CollAlgo algo)
{
    return coll_plan_spec(rows->plan, rows->options, rows->type, bytes, algo);
}

/* What a simulation gave, and its counters. */
static void coll_take(CollRows *rows, Run *run, const UsageMark *mark, const CollSpec *spec, const CollResult *result,
                      gboolean some_fail)
{
    Usage usage[USAGE_DIRECTIONS];
    for (guint d = 0; d < USAGE_DIRECTIONS; d++)
        usage[d] = usage_of(run->fabric, mark, (UsageDirection)d, NULL, 0);
    coll_table_add(rows->table, spec, result, coll_rows_gpus(rows), usage);
    coll_answer_add(rows->answer, run->fabric, spec, result, usage, &rows->samples, some_fail);
    if (rows->alone)
        coll_answer_write(rows->answer, rows->report); /* before its row is printed */
    rows->extrapolated |= result->fidelity == COLL_FIDELITY_AUTO;
    rows->flows |= result->fidelity == COLL_FLOW;
    rows->few_turns |= result->few_turns;
    if (rows->record)
        record_coll_add(rows->record, spec, result);
    if (rows->alone) {
        usage_add_operations(run->fabric, rows->report);
        usage_add_links(run->fabric, mark, rows->report);
        usage_add_switches(run->fabric, rows->report);
        fault_add_table(run->fabric, rows->report);
    }
    coll_late_add(rows->late, run->fabric);
    if (run->fabric->n_faults) {
        const FabricFault *first = &g_array_index(run->fabric->faults, FabricFault, 0);
        rows->wrong++;
        report_add_note(rows->report,
                        "%s, %" G_GUINT64_FORMAT " bytes: %" G_GUINT64_FORMAT " requests ended with an error, at which "
                        "a program would end; the first, of gpu%u at %.3f us: %s",
                        coll_algo_name(result->algo), spec->bytes, run->fabric->n_faults, first->gpu,
                        (double)first->time_ps / PS_PER_US, fault_kind_text(first->kind));
    } else if (result->check == COLL_WRONG) {
        rows->wrong++;
        report_add_note(rows->report, "%s, %" G_GUINT64_FORMAT " bytes: %s", coll_algo_name(result->algo), spec->bytes,
                        result->wrong);
    }
}

/* What a search of that size found but for its winner. */
static void coll_note_search(const CollRows *rows, const CollGroup *group, const char *size)
{
    if (coll_group_left_out(group))
        report_add_note(rows->report, "best, %s: without multicast, since %s", size, coll_group_left_out(group));
    if (coll_group_dropped(group))
        report_add_note(rows->report, "best, %s, left out: %s", size, coll_group_dropped(group));
}

/* Candidates have no bytes that could be checked, their winner has: one whose result is wrong, or which then gets
 * stuck, is left out of another search. why: NULL, or why it ended. */
static gboolean coll_leave_winner(CollRows *rows, const CollSpec *spec, const CollResult *result, const char *size,
                                  const GError *why)
{
    const gboolean stuck = g_error_matches(why, COLL_ERROR, COLL_ERROR_STUCK);
    if (!coll_is_search(spec->algo) || (!stuck && (why || result->check != COLL_WRONG)) ||
        rows->left[result->algo] >> result->proto & 1) /* no other is left */
        return FALSE;
    rows->left[result->algo] |= (guint8)(1u << result->proto);
    live_lock(rows->live);
    report_add_note(rows->report, "best, %s, left out: %s %s %s%s", size, coll_algo_name(result->algo),
                    coll_proto_name(result->proto),
                    stuck ? "gets stuck" : "gives a wrong result: ", stuck ? "" : result->wrong);
    live_unlock(rows->live, 0);
    return TRUE;
}

/* Of the candidates of its search. */
static gboolean coll_some_fail(const CollRows *rows, const CollGroup *group)
{
    gboolean left = coll_group_dropped(group) != NULL;
    for (guint a = 0; a < COLL_ALGOS; a++)
        left |= rows->left[a] != 0;
    return left;
}

static void coll_prepare(CollRows *rows, CollGroup *group)
{
    coll_group_on_candidate(group, coll_on_candidate, rows->live);
    coll_group_watch(group, rows->samples.watched.watch);
    coll_group_share_anchors(group, rows->anchors);
    for (guint a = 0; a < COLL_ALGOS; a++)
        for (guint p = 0; p < COLL_PROTOS; p++)
            if (rows->left[a] >> p & 1)
                coll_group_leave(group, (CollAlgo)a, (CollProto)p);
}

/* What rows were checked on is as good as new: nothing ran on it. What its waveform is to show is traced anew. */
static gboolean coll_open_run(CollRows *rows, Run *run, guint64 data_bytes, GError **error)
{
    *run = rows->checked;
    rows->checked = (Run){0};
    if (run->fabric && !rows->options->vcd && run->fabric->keep_bytes == run_keeps(rows->options, data_bytes))
        return TRUE;
    run_close(run);
    return run_open(run, rows->system, rows->options, data_bytes, error);
}

/* `row`: what it gave becomes one; else it is the caller's alone. *again: it became none, and is to be run again. */
static ExitCode coll_simulate_once(CollRows *rows, const CollSpec *spec, gboolean row, CollResult *result,
                                   gboolean *again, GError **error)
{
    Run run;
    guint32 gpus = coll_rows_gpus(rows);
    gboolean flows = !row || coll_fidelity(gpus, spec) != COLL_PACKET;
    if (!coll_open_run(rows, &run, row ? coll_plan_data_bytes(spec, gpus) : G_MAXUINT64, error))
        return EXIT_USER;
    ExitCode code = EXIT_USER;
    GError *why = NULL;
    CollGroup *group = coll_group_new(run.fabric, NULL, gpus, &why);
    UsageMark *mark = usage_mark(run.fabric);
    g_autofree char *size = size_format(spec->bytes);
    g_autofree char *name = g_strdup_printf("%s %s %s", coll_op_name(spec->op), size, coll_algo_name(spec->algo));
    Recording *recording = recording_new(run.fabric, row && !flows ? &rows->samples.spec : &rows->samples.watched,
                                         name);
    Recording *ending = recording;
    if (group)
        coll_prepare(rows, group);
    const gboolean ran = group && coll_run(group, spec, result, &why);
    *again = row && group && coll_leave_winner(rows, spec, result, size, why);
    if (ran) {
        if (recording_end(g_steal_pointer(&ending), &why)) {
            live_lock(rows->live);
            if (row && !*again) {
                coll_take(rows, &run, mark, spec, result, coll_some_fail(rows, group));
                coll_auto_add(rows->taken, group, spec, result);
                coll_note_search(rows, group, size);
            }
            live_unlock(rows->live, *again ? 0 : 1);
            code = EXIT_DONE;
        }
        coll_group_free(group);
    } else if (g_error_matches(why, COLL_ERROR, COLL_ERROR_STUCK)) {
        code = *again ? EXIT_DONE : EXIT_WRONG; /* what still runs is left to run_close */
        if (*again)
            g_clear_error(&why);
    } else if (group) {
        coll_group_free(group);
    }
    if (why)
        g_propagate_error(error, why);
    usage_mark_free(mark);
    recording_cut(ending); /* of a run that got stuck */
    recording_end(ending, NULL);
    recording_free(recording);
    rows->lost |= !sim_trace_end(run.sim);
    run_close(&run);
    return code;
}

static ExitCode coll_simulate(CollRows *rows, const CollSpec *spec, gboolean row, CollResult *result, GError **error)
{
    gboolean again = TRUE;
    ExitCode code = EXIT_DONE;
    memset(rows->left, 0, sizeof rows->left);
    while (again && code == EXIT_DONE) {
        again = FALSE;
        code = coll_simulate_once(rows, spec, row, result, &again, error);
    }
    return code;
}

/* ---- how much faster */

static void coll_compare(CollRows *rows, guint64 bytes, const CollResult *base)
{
    live_lock(rows->live);
    coll_answer_compare(rows->plan, rows->last, bytes, base, rows->report);
    live_unlock(rows->live, 0);
}

gboolean coll_rows_compare(const CollRows *rows)
{
    return rows->plan->compare && rows->plan->algos > 1 && rows->plan->types == 1;
}

static ExitCode coll_compare_size(CollRows *rows, guint64 bytes, GError **error)
{
    for (guint a = 0; a < rows->plan->algos; a++)
        if (rows->plan->algo[a] == COLL_UNICAST && rows->plan->spec.proto == COLL_PROTO_AUTO) {
            coll_compare(rows, bytes, &rows->last[a]);
            return EXIT_DONE;
        }
    if (coll_compare_is_left_out(rows->plan, rows->options, coll_rows_gpus(rows), bytes, rows->live, rows->report))
        return EXIT_DONE;
    CollSpec spec = coll_spec_of(rows, bytes, COLL_UNICAST);
    CollResult base;
    GError *why = NULL;
    spec.proto = COLL_PROTO_AUTO;
    spec.check = FALSE;
    progress_set_hint(live_progress(rows->live), "the rows are done, --no-compare leaves this out");
    progress_step(live_progress(rows->live), "the fastest without multicast");
    ExitCode code = coll_simulate(rows, &spec, FALSE, &base, &why);
    if (code == EXIT_DONE)
        coll_compare(rows, bytes, &base);
    if (g_error_matches(why, COLL_ERROR, COLL_ERROR_SPEC)) { /* all of them need it: nothing to compare with */
        g_clear_error(&why);
        code = EXIT_DONE;
    }
    if (why)
        g_propagate_error(error, why);
    return code;
}

/* ---- what would help */

/* What a program reads is no later to be had than what it asked for: there only --what-if asks for more. */
static gboolean coll_may_ask(const CollRows *rows, const CollSpec *spec)
{
    const gboolean people = rows->options->format == REPORT_TEXT || rows->options->html;
    return rows->plan->what_if == COLL_WHAT_IF_ALWAYS ||
           (people && coll_link_crossings(coll_rows_gpus(rows), spec) <= WHAT_IF_CROSSINGS);
}

/* The row again, with what held it up doubled, as a sentence: what it gives, or why it cannot run. Caller frees. */
static char *coll_ask(CollRows *rows, const CollHeld *held, const CollSpec *spec, const char *words)
{
    const System *system = rows->system;
    const Options *options = rows->options;
    CollAnchors *anchors = g_steal_pointer(&rows->anchors); /* of this system, not of the other */
    g_auto(GStrv) sets = what_if_sets(held->what, system, options);
    Options twice = *options;
    System other;
    CollResult result;
    g_autoptr(GError) why = NULL;
    twice.sets = sets;
    twice.vcd = NULL;
    if (system_load(&other, NULL, &twice, &why)) {
        rows->system = &other;
        rows->options = &twice;
        progress_set_hint(live_progress(rows->live), "the rows are done, --no-what-if leaves this out");
        progress_note(live_progress(rows->live), "%s", words);
        coll_simulate(rows, spec, FALSE, &result, &why);
        rows->system = system;
        rows->options = options;
        system_clear(&other);
    }
    rows->anchors = anchors;
    return why ? g_strdup_printf("not tried: %s: %s", words, why->message)
               : what_if_answer(words, held->result.time_ps, result.time_ps);
}

static void coll_what_if(CollRows *rows)
{
    CollHeld held;
    if (rows->plan->what_if == COLL_WHAT_IF_NEVER || rows->wrong || !coll_answer_held(rows->answer, &held))
        return;
    CollSpec spec = coll_spec_of(rows, held.bytes, held.asked);
    spec.type = held.type;
    spec.check = FALSE;
    if (coll_is_search(held.asked)) { /* what it found, and not the search again */
        spec.algo = held.result.algo;
        spec.proto = coll_has_protocols(spec.op, spec.algo) ? held.result.proto : COLL_PROTO_AUTO;
    }
    g_autofree char *words = what_if_words(held.what, rows->system);
    g_autofree char *text = coll_may_ask(rows, &spec)
                                ? coll_ask(rows, &held, &spec, words)
                                : g_strdup_printf("not tried: %s (--what-if: that row once more)", words);
    live_lock(rows->live);
    report_add_answer(rows->report, "%s", text);
    live_unlock(rows->live, 0);
}

/* ---- all of them */

static void coll_add_answer(CollRows *rows)
{
    live_lock(rows->live);
    coll_answer_write(rows->answer, rows->report);
    live_unlock(rows->live, 0);
}

ExitCode coll_rows_run(CollRows *rows, guint64 last, GError **error)
{
    const CollPlan *plan = rows->plan;
    ExitCode code = EXIT_DONE;
    COLL_SIZES(plan, type, bytes)
    {
        rows->type = type;
        for (guint a = 0; a < plan->algos && code == EXIT_DONE; a++) {
            if (plan->skip[type][a])
                continue;
            CollSpec spec = coll_spec_of(rows, bytes, plan->algo[a]);
            g_autofree char *size = size_format(bytes);
            progress_step(live_progress(rows->live), "%s %s, %s", coll_op_name(spec.op), size,
                          coll_algo_name(spec.algo));
            code = coll_simulate(rows, &spec, TRUE, &rows->last[a], error);
        }
    }
    if (!rows->alone)
        coll_add_answer(rows);
    if (code == EXIT_DONE)
        coll_what_if(rows);
    if (code == EXIT_DONE && coll_rows_compare(rows))
        code = coll_compare_size(rows, last, error);
    return code == EXIT_DONE && rows->wrong ? EXIT_WRONG : code;
}
