/* fanout replay: what an application's trace does on a simulated system, with multicast and
 * without. */
#include <math.h>
#include <string.h>

#include "cli/live/monitor/monitor.h"
#include "cli/options.h"
#include "cli/live/samples.h"
#include "cli/replay/answer.h"
#include "cli/replay/args.h"
#include "cli/replay/live.h"
#include "cli/replay/place.h"
#include "cli/replay/views.h"
#include "cli/system.h"
#include "cli/replay/trace_args.h"
#include "sim/report/file.h"
#include "traces/format/json.h"
#include "traces/replay/episode.h"
#include "traces/replay/report.h"
#include "sim/report/file.h"
#include "traces/format/write.h"
#include "traces/replay/timeline.h"

typedef struct {
    TraceArgs traces;
    char *algos, *program, *scale, *compare, *record;
    char **place;
    gboolean no_memo, no_compare, where;
} ReplayWords;

typedef struct {
    const Options *options;
    const System *system;
    const ReplayWords *words;
    GPtrArray *traces; /* Trace */
    ReplayJob *jobs;
    guint n;
    ReplaySpec spec;
    ReplayCompare compare; /* wanted */
    Samples samples;
    ReplayLive *live;
    ReplayWave wave;                       /* path NULL: it is not wanted */
    ReplayResult *result, *with, *without; /* with: result itself, or its own */
    char *compared;                        /* what to tell of the comparison */
} ReplayVerb;

static gboolean replay_parse(ReplayVerb *verb, GError **error)
{
    const ReplayWords *words = verb->words;
    ReplaySpec *spec = &verb->spec;
    *spec = (ReplaySpec){.fabric = &verb->system->spec, .memo = !words->no_memo, .compute_ppm = 1000000};
    spec->sim =
        (SimSpec){.seed = verb->options->seed, .calendar = verb->options->calendar, .engine = verb->options->engine};
    for (int o = 0; o < COLL_OPS; o++)
        spec->algo[o] = COLL_AUTO;
    gint64 ppm;
    if (verb->options->fidelity == COLL_FIDELITY_AUTO)
        return replay_args_bad(error, "--fidelity", "auto", "packet or flow: a replay is simulated as one thing");
    if (words->program && !coll_library_parse(words->program, &spec->library))
        return replay_args_bad(error, "--program", words->program,
                               "nccl, nccl-registered, nccl-sym, trtllm, vllm or sglang");
    spec->flow = verb->options->fidelity == COLL_FLOW;
    Options alone = *verb->options;
    if (!samples_check(verb->options, spec->flow, error) || (words->where && !samples_check_where(&alone, error)))
        return FALSE;
    if (spec->flow && verb->options->vcd)
        return replay_views_refuse_wave(error);
    if (words->scale && (!json_decimal_text(words->scale, 6, FALSE, &ppm) || ppm < 0 || ppm > (gint64)1000000000000))
        return replay_args_bad(error, "--compute-scale", words->scale, "a number from 0 to 1000000, like 0.5");
    if (words->scale)
        spec->compute_ppm = (guint64)ppm;
    verb->compare = words->no_compare ? REPLAY_COMPARE_NOT : REPLAY_COMPARE_AUTO;
    if (words->compare && !replay_args_compare(&verb->compare, words->compare, error))
        return FALSE;
    return !words->algos || replay_args_algos(spec, words->algos, error);
}

/* ---- running */

static ReplayResult *replay_once(ReplayVerb *verb, const ReplaySpec *spec, const char *what, GError **error)
{
    ReplaySpec own = *spec;
    replay_live_begin(verb->live, &own, what);
    own.record = own.record ? own.record : &verb->samples.watched;
    if (own.record->tracks || own.record->points)
        own.memo = FALSE; /* else equal communications would have statistics but once */
    if (own.wave)
        own.memo = FALSE;
    return replay_run(&own, verb->jobs, verb->n, error);
}

/* What is fastest for each communication, where that is asked for. */
static gboolean replay_choose_all(ReplayVerb *verb, const ReplaySpec *spec, GError **error)
{
    gboolean wanted = FALSE;
    for (int o = 0; o < COLL_OPS; o++)
        wanted |= spec->algo[o] == COLL_BEST;
    if (!wanted)
        return TRUE;
    ReplaySpec own = *spec;
    replay_live_begin(verb->live, &own, "choosing algorithms");
    own.record = &verb->samples.watched;
    return replay_choose(&own, verb->jobs, verb->n, error);
}

/* The best with multicast and the best without, whatever was asked for; FALSE without error: there
 * is nothing to compare. */
static gboolean replay_compare(ReplayVerb *verb, GError **error)
{
    if (verb->compare == REPLAY_COMPARE_NOT)
        return TRUE;
    const ReplayCompare how = replay_compare_how(&verb->spec, verb->jobs, verb->n, verb->result, verb->compare,
                                                 &verb->compared);
    if (how == REPLAY_COMPARE_NOT)
        return TRUE;
    ReplaySpec spec = verb->spec;
    gboolean best = TRUE;
    spec.flow = how == REPLAY_COMPARE_FLOWS;
    for (int o = 0; o < COLL_OPS; o++) {
        best &= spec.algo[o] == COLL_BEST && spec.flow == verb->spec.flow;
        spec.algo[o] = COLL_BEST;
    }
    if (spec.flow != verb->spec.flow) { /* nothing that is known is of these */
        replay_memo_free(verb->spec.known);
        verb->spec.known = spec.known = verb->spec.memo ? replay_memo_new() : NULL;
    }
    if (!replay_choose_all(verb, &spec, error))
        return FALSE;
    verb->with = best ? verb->result : replay_once(verb, &spec, "the best with multicast", error);
    spec.unicast = TRUE;
    verb->without = verb->with ? replay_once(verb, &spec, "the best without multicast", error) : NULL;
    return verb->without != NULL;
}

/* What tells its rows from another run's. */
static void replay_describe_run(const ReplayVerb *verb, Report *report)
{
    const ReplayWords *words = verb->words;
    GString *more = g_string_new(NULL);
    if (words->algos)
        g_string_append_printf(more, "-a %s", words->algos);
    if (words->program)
        g_string_append_printf(more, "%s--program %s", more->len ? " " : "", words->program);
    for (char **place = words->place; place && *place; place++)
        g_string_append_printf(more, "%s--place %s", more->len ? " " : "", *place);
    if (words->scale)
        g_string_append_printf(more, "%s--compute-scale %s", more->len ? " " : "", words->scale);
    system_describe_run(verb->system, verb->options, more->str, report);
    g_string_free(more, TRUE);
}

/* With its facts. */
static Report *replay_new_report(const ReplayVerb *verb)
{
    const Trace *first = verb->traces->pdata[0];
    g_autofree char *title = g_strdup_printf("%s%s on %s", first->name, verb->n > 1 ? " and others" : "",
                                             verb->system->name);
    Report *report = report_new("replay", title);
    options_describe(verb->options, report);
    system_describe(verb->system, report);
    replay_describe_run(verb, report);
    return report;
}

/* The replay itself, of a run that ends while others are compared with it. */
static void replay_add_result(Report *report, void *user)
{
    const ReplayVerb *verb = user;
    const ReplayPair none = {NULL, NULL};
    replay_report_add(report, &verb->spec, verb->jobs, verb->n, verb->result, &none);
}

/* --record: the trace again, with simulated times. */
static gboolean replay_check_record(const ReplayVerb *verb, GError **error)
{
    const char *path = verb->words->record;
    if (!path)
        return TRUE;
    if (verb->n != 1) {
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--record: %u jobs; a file is of one", verb->n);
        return FALSE;
    }
    if (write_is_text(path, NULL) || g_str_has_suffix(path, ".et") || g_str_has_suffix(path, ".json"))
        return file_check("--record", path, error) && write_possible(verb->jobs[0].trace, error);
    g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                "--record: %s should end in .et (Chakra), .json (PyTorch's profiler) or .trace", path);
    return FALSE;
}

static ExitCode replay_record(ReplayVerb *verb, GError **error)
{
    if (!verb->words->record)
        return EXIT_DONE;
    replay_timeline_keep(&verb->jobs[0], &verb->result->job[0]);
    return write_trace(verb->jobs[0].trace, verb->words->record, NULL, error) ? EXIT_DONE : EXIT_USER;
}

static ExitCode replay_write(ReplayVerb *verb, Options *options, GError **error)
{
    Report *report = replay_new_report(verb);
    ReplayPair pair = {verb->with, verb->without};
    replay_answer_add(report, verb->system->name,
                      verb->words->algos ? verb->words->algos : coll_library_names[verb->spec.library], verb->jobs,
                      verb->result, verb->without != NULL, verb->words->no_compare ? "--no-compare" : NULL);
    replay_report_add(report, &verb->spec, verb->jobs, verb->n, verb->result, &pair);
    if (verb->compared)
        report_add_note(report, "%s", verb->compared);
    replay_timeline_add(report, verb->jobs, verb->result);
    if (!replay_views_add(verb->result, &verb->spec, options, report, error)) {
        report_free(report);
        return EXIT_USER;
    }
    /* The files come first: what reads standard output may have gone (a pipe to head). */
    replay_timeline_write(verb->samples.timeline, verb->jobs, verb->result);
    ExitCode page = replay_record(verb, error);
    if (page == EXIT_DONE)
        page = options_write_files(options, report, error);
    ExitCode code = options_print(options, report, page == EXIT_DONE ? error : NULL);
    report_free(report);
    if (code == EXIT_DONE && page == EXIT_DONE && verb->result->usage.errors)
        return EXIT_WRONG; /* the report says of what */
    return code == EXIT_DONE ? page : code;
}

static void replay_run_all(ReplayVerb *verb, const Options *options, GError **error)
{
    verb->spec.choices = replay_choices_new();
    verb->spec.known = verb->spec.memo ? replay_memo_new() : NULL;
    if (replay_choose_all(verb, &verb->spec, error)) {
        ReplaySpec sampled = verb->spec;
        sampled.record = sampled.flow ? &verb->samples.watched : &verb->samples.spec;
        sampled.figures = options->html && !sampled.flow;
        sampled.where = verb->words->where;
        verb->wave.path = options->vcd;
        sampled.wave = options->vcd ? &verb->wave : NULL;
        if (sampled.where || sampled.wave)
            sampled.sim.engine = SIM_ENGINE_REFERENCE; /* the comparison needs no observer */
        verb->result = replay_once(verb, &sampled, REPLAY_MAIN, error);
    }
    if (verb->result) {
        replay_live_done(verb->live, replay_add_result, verb);
        g_autofree char *hint = g_strdup_printf("the traces took %.2f us; --no-compare leaves out what follows",
                                                (double)verb->result->total_ps / PS_PER_US);
        progress_set_hint(live_progress(replay_live_of(verb->live)), hint);
        replay_compare(verb, error);
    }
}

static ExitCode replay_all(ReplayVerb *verb, Options *options, GError **error)
{
    verb->n = verb->traces->len;
    verb->jobs = g_new0(ReplayJob, verb->n);
    if (!replay_parse(verb, error) || !replay_place(verb->jobs, verb->traces, verb->system, verb->words->place, error))
        return EXIT_USER;
    for (guint j = 0; j < verb->n; j++) {
        verb->jobs[j].trace = verb->traces->pdata[j];
        verb->jobs[j].match = match_new(verb->traces->pdata[j], verb->words->traces.lenient, error);
        if (!verb->jobs[j].match)
            return EXIT_USER;
    }
    if (!replay_check_record(verb, error) || !samples_open(&verb->samples, options, NULL, error))
        return EXIT_USER;
    GError *why = NULL;
    ExitCode code;
    guint64 communications = 0;
    for (guint j = 0; j < verb->n; j++)
        communications += verb->jobs[j].match->items->len;
    Report *partial = replay_new_report(verb);
    verb->live = replay_live_new(options, partial, communications);
    if (samples_open_timeline(&verb->samples, options, TRUE, replay_live_of(verb->live), &why))
        replay_run_all(verb, options, &why);
    replay_live_free(verb->live);
    report_free(partial);
    if (why) {
        code = g_error_matches(why, COLL_ERROR, COLL_ERROR_STUCK) ? EXIT_WRONG : EXIT_USER;
        g_propagate_error(error, why);
        return samples_close(&verb->samples, code, error);
    }
    code = samples_close(&verb->samples, replay_write(verb, options, error), error);
    return replay_views_end_wave(&verb->wave, code, error);
}

static void replay_clear(ReplayVerb *verb)
{
    for (guint j = 0; j < verb->n; j++) {
        match_free(verb->jobs[j].match);
        g_free(verb->jobs[j].gpu);
    }
    g_free(verb->jobs);
    if (verb->with != verb->result)
        replay_result_free(verb->with);
    replay_result_free(verb->result);
    replay_result_free(verb->without);
    g_free(verb->compared);
    replay_choices_free(verb->spec.choices);
    replay_memo_free(verb->spec.known);
    if (verb->traces)
        g_ptr_array_free(verb->traces, TRUE);
}

static ExitCode replay_run_verb(int argc, char **argv, GError **error)
{
    ReplayWords words = {.traces = TRACE_ARGS_INIT};
    const GOptionEntry own[] = {
        {"algo", 'a', 0, G_OPTION_ARG_STRING, &words.algos,
         "auto, best, nvls, ring, ...; or all_reduce=nvls,broadcast=ring", "ALGO"},
        {"program", 0, 0, G_OPTION_ARG_STRING, &words.program,
         "whose choice auto is: nccl (through its buffers), nccl-registered, nccl-sym, trtllm, vllm, sglang (nccl)",
         "PROGRAM"},
        {"place", 0, 0, G_OPTION_ARG_STRING_ARRAY, &words.place,
         "GPUs of the k-th job's ranks (0-3,8), same (every job from GPU 0), or fold (several "
         "ranks a GPU)",
         "WHERE"},
        {"compute-scale", 0, 0, G_OPTION_ARG_STRING, &words.scale, "computations last X times as recorded (1)", "X"},
        {"to", 0, 0, G_OPTION_ARG_STRING, &words.traces.to, "recorded TIME to end at", "TIME"},
        {"compare", 0, 0, G_OPTION_ARG_STRING, &words.compare,
         "replay again with what is best with multicast and without: packet, flow, off, or auto (packet or flow, never "
         "longer than the replay)",
         "HOW"},
        {"no-compare", 0, 0, G_OPTION_ARG_NONE, &words.no_compare, "as --compare off", NULL},
        {"record", 0, 0, G_OPTION_ARG_FILENAME, &words.record,
         "write the trace again with simulated starts and durations, a file for each rank (.et, .json) or one (.trace)",
         "FILE"},
        {"where", 0, 0, G_OPTION_ARG_NONE, &words.where, SAMPLES_WHERE_TEXT, NULL},
        {"no-memo", 0, 0, G_OPTION_ARG_NONE, &words.no_memo, "simulate equal communications each time", NULL},
        TRACE_ARGS_ENTRIES(words.traces),
        {NULL, 0, 0, 0, NULL, NULL, NULL}};
    Options options;
    ExitCode code;
    System system;
    if (options_parse(&options, &verb_replay, own, &argc, &argv, &code, error)) {
        code = EXIT_USER;
        ReplayVerb verb = {.options = &options, .system = &system, .words = &words};
        if (options_check_args(&verb_replay, argc, argv, 1, 1000000, error) &&
            system_load(&system, NULL, &options, error)) {
            verb.traces = trace_args_read(&words.traces, words.traces.to, (const char *const *)argv + 1,
                                          (guint)argc - 1, error);
            if (verb.traces && monitor_open(&options, error))
                code = replay_all(&verb, &options, error);
            replay_clear(&verb);
            system_clear(&system);
        }
        monitor_close(&options);
        options_clear(&options);
    }
    trace_args_clear(&words.traces);
    g_free(words.algos);
    g_free(words.program);
    g_free(words.scale);
    g_free(words.compare);
    g_free(words.record);
    g_strfreev(words.place);
    return code;
}

const Verb verb_replay = {
    .name = "replay",
    .usage = "TRACE...",
    .text = "replay traces of applications: PyTorch, Chakra, NCCL, Nsight Systems, mscclpp, GOAL, SimAI",
    .flags = VERB_TIMELINE | VERB_WAVEFORM | VERB_FLOWS | VERB_STATS | VERB_MONITOR,
    .run = replay_run_verb,
};
