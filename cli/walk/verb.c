/* fanout walk: one packet's path through the fabric, step by step, with times and the file that models each
 * stage. docs/packet-walk.md follows the same path in the source. */
#include <stdio.h>
#include <string.h>

#include "bench/traffic.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/live/samples.h"
#include "cli/system.h"
#include "cli/walk/timeline.h"
#include "model/fabric/waves.h"
#include "observe/walk/walk.h"

static const Column columns[] = {
    COLUMN_FIXED(time_ns, "time", "ns", 1, "since the instruction was issued"),
    COLUMN_U64(depth, "depth", "", "1: a replica or its answer"),
    COLUMN_TEXT(unit, "where", "which part of the fabric"),
    COLUMN_TEXT(text, "what", "happens there"),
    COLUMN_TEXT(file, "file", "that models it"),
    COLUMN_TEXT(waits_for, "waits for", "what it waits for here; empty: it does not wait"),
    COLUMN_FIXED(wait_ns, "waits", "ns", 1, "how long; 0: it does not wait"),
    COLUMN_END,
};

static const Column wait_columns[] = {
    COLUMN_TEXT(waits_for, "waits for", "what packets of the operation waited for"),
    COLUMN_U64(times, "times", "", "how often"),
    COLUMN_FIXED(total_ns, "total", "ns", 1, "replicas wait side by side: more than the operation lost by it"),
    COLUMN_FIXED(max_ns, "max", "ns", 1, "the longest"),
    COLUMN_END,
};

#define WALK_WARM_UP_PS (2 * PS_PER_US) /* two round trips: queues are as long as they get at loads below 1 */

#define WALK_ALL G_MININT /* -n was not given */

#define WALK_PACKETS 2000 /* on links, that its page draws */

#define WALK_COLUMNS 100 /* of a terminal that stands beside an editor */
#define WALK_TEXT_AT 47  /* columns of time, place and file */

/* Words from column `at` on; the lines that follow the first begin there, too. The cursor stands at `at`. */
static void walk_print_wrapped(const char *text, int at)
{
    g_auto(GStrv) words = g_strsplit(text, " ", -1);
    int used = at;
    for (guint i = 0; words[i]; i++) {
        int width = (int)g_utf8_strlen(words[i], -1);
        if (i && used + 1 + width > WALK_COLUMNS) {
            printf("\n%*s", at, "");
            used = at;
        } else if (i) {
            printf(" ");
            used++;
        }
        printf("%s", words[i]);
        used += width;
    }
    printf("\n");
}

static void walk_print_steps(const GArray *steps)
{
    printf("\n%7s  %-17s %-19s %s\n", "time ns", "where", "file in model/", "what happens");
    for (guint i = 0; i < steps->len; i++) {
        const WalkStep *step = &g_array_index(steps, WalkStep, i);
        const char *file = g_str_has_prefix(step->file, "model/") ? step->file + strlen("model/") : step->file;
        int indent = (int)step->depth * 2;
        printf("%7.1f  %-17s %-19s %*s", (double)step->at_ps / 1000, step->unit, file, indent, "");
        walk_print_wrapped(step->text, WALK_TEXT_AT + indent);
    }
}

/* What kept it from its right end: who waits, and which GPUs answered nothing. */
static char *walk_reason(Fabric *fabric)
{
    g_autofree char *waiters = sim_waiters_text(fabric->sim);
    GString *text = g_string_new(NULL);
    for (guint64 g = 0; g < fabric->spec.system.gpus; g++)
        if (fabric->gpu[g].dropped)
            g_string_append_printf(text, "%sgpu%" G_GUINT64_FORMAT, text->len ? ", " : "", g);
    if (text->len)
        g_string_append(text, " answered nothing (fault.gpu_silent)");
    if (*waiters)
        g_string_append_printf(text, "%swho waits:%s", text->len ? "; " : "", waiters);
    if (text->len == 0)
        g_string_append(text, "wrong bytes were left, or something is left in the fabric");
    return g_string_free(text, FALSE);
}

static ExitCode walk_write_files(const Options *options, Report *report, const GArray *steps, const char *op,
                                 GError **error)
{
    ExitCode code = options_write_files(options, report, error);
    if (options->perfetto && !walk_timeline_save(steps, op, options->perfetto, code == EXIT_DONE ? error : NULL))
        code = EXIT_USER;
    return code;
}

/* What a verb's own options ask for. */
typedef struct {
    WalkOp op;
    gint gpus;
    guint32 load_per_mille; /* of other traffic; 0: none */
    Samples *samples;       /* NULL: no statistics in time */
    Report *report;         /* what is told of the walk goes there; NULL: nothing is told */
    const gint *stop;       /* a signal's number, when one came: the walk ends early */
} WalkAsk;

typedef struct {
    GArray *steps;   /* WalkStep */
    char *wrong;     /* what kept it from its right end, or NULL */
    gint stopped;    /* by this signal, before its end; 0: it was not */
    SimTime idle_ps; /* what it takes without other traffic; 0: there is none */
    gboolean lost;   /* its waveform could not be written, which has been said */
} WalkOutcome;

static SimTime walk_took_ps(const GArray *steps)
{
    return steps->len ? g_array_index(steps, WalkStep, steps->len - 1).at_ps : 0;
}

static void walk_add_waits(Report *report, const GArray *steps)
{
    Table *table = report_add_table(report, "waits", "", wait_columns, 0);
    for (guint reason = WALK_WAIT_NONE + 1; reason < WALK_REASONS; reason++) {
        guint64 times = 0;
        SimTime total_ps = 0, max_ps = 0;
        for (guint i = 0; i < steps->len; i++) {
            const WalkStep *step = &g_array_index(steps, WalkStep, i);
            if (step->reason != (WalkReason)reason)
                continue;
            times++;
            total_ps += step->wait_ps;
            max_ps = MAX(max_ps, step->wait_ps);
        }
        table_text(table, walk_reasons[reason]);
        table_u64(table, times);
        table_fixed(table, (double)total_ps / 1000);
        table_fixed(table, (double)max_ps / 1000);
    }
}

static Report *walk_begin_report(const Options *options, const System *system, const WalkAsk *ask, const char *title)
{
    g_autofree char *more = ask->load_per_mille ? g_strdup_printf("background=%u.%03u", ask->load_per_mille / 1000,
                                                                  ask->load_per_mille % 1000)
                                                : NULL;
    Report *report = report_new("walk", title);
    system_describe(system, report);
    options_describe(options, report);
    system_describe_run(system, options, more, report);
    report_add_text(report, "op", walk_ops[ask->op]);
    return report;
}

/* scene: it is the report's from then on; NULL: none. */
static void walk_fill_report(Report *report, const WalkAsk *ask, const WalkOutcome *outcome, gboolean right,
                             Scene *scene)
{
    const GArray *steps = outcome->steps;
    if (!outcome->stopped)
        report_add_bool(report, "verified", right);
    if (scene)
        report_add_scene(report, scene);
    if (right && !outcome->stopped)
        report_add_answer(report, "%s takes %.1f ns, in %u steps", walk_ops[ask->op],
                          (double)walk_took_ps(steps) / 1000, steps->len);
    Table *table = report_add_table(report, "steps", "", columns, 0);
    for (guint i = 0; i < steps->len; i++) {
        const WalkStep *step = &g_array_index(steps, WalkStep, i);
        table_fixed(table, (double)step->at_ps / 1000);
        table_u64(table, step->depth);
        table_text(table, step->unit);
        table_text(table, step->text);
        table_text(table, step->file);
        table_text(table, walk_reasons[step->reason]);
        table_fixed(table, (double)step->wait_ps / 1000);
    }
    if (ask->load_per_mille)
        walk_add_waits(report, steps);
}

static void walk_print_all(const System *system, const WalkAsk *ask, const WalkOutcome *outcome, const char *title)
{
    const double took_ns = (double)walk_took_ps(outcome->steps) / 1000, idle_ns = (double)outcome->idle_ps / 1000;
    g_autofree char *head = g_strdup_printf("%s on %s (%s)", title, system->name, system->spec.system.title);
    walk_print_wrapped(head, 0);
    if (outcome->steps->len) {
        g_autofree char *picture = walk_picture(outcome->steps);
        walk_print_wrapped(picture, 0);
    }
    if (ask->load_per_mille) {
        g_autofree char *load = g_strdup_printf(
            "meanwhile every GPU stores to the others, at %.1f %% of its links' rate", ask->load_per_mille / 10.0);
        walk_print_wrapped(load, 0);
    }
    if (outcome->steps->len)
        walk_print_steps(outcome->steps);
    if (outcome->stopped)
        printf("# incomplete: %s after %u steps\n", interrupt_name(outcome->stopped), outcome->steps->len);
    else if (outcome->wrong)
        return;
    else if (ask->load_per_mille)
        printf("%s took %.1f ns; %.1f ns on an idle fabric\n", walk_ops[ask->op], took_ns, idle_ns);
    else
        printf("%s took %.1f ns\n", walk_ops[ask->op], took_ns);
}

static ExitCode walk_report(const Options *options, const System *system, const WalkAsk *ask,
                            const WalkOutcome *outcome, const char *title, GError **error)
{
    Report *report = ask->report;
    ExitCode code = EXIT_DONE;
    if (outcome->stopped) {
        report_add_bool(report, "incomplete", TRUE);
        report_add_note(report, "incomplete: %s after %u steps", interrupt_name(outcome->stopped), outcome->steps->len);
    }
    ExitCode files = walk_write_files(options, report, outcome->steps, walk_ops[ask->op], error);
    if (options->format == REPORT_TEXT)
        walk_print_all(system, ask, outcome, title);
    else
        code = options_print(options, report, files == EXIT_DONE ? error : NULL);
    code = code == EXIT_DONE ? files : code;
    if (outcome->stopped) {
        fprintf(stderr, "fanout: %s after %u steps; the report is incomplete\n", interrupt_name(outcome->stopped),
                outcome->steps->len);
        code = EXIT_INTERRUPTED;
    } else if (code == EXIT_DONE && outcome->wrong) {
        g_set_error(error, CLI_ERROR, CLI_ERROR_STUCK, "%s did not come to its right end: %s", walk_ops[ask->op],
                    outcome->wrong);
        code = EXIT_WRONG;
    }
    return code;
}

static void walk_on_end(void *traffic) { traffic_stop(traffic); }

static Traffic *walk_add_traffic(Fabric *fabric, guint32 load_per_mille, WalkBackground *background)
{
    const TrafficSpec spec = {.packets = G_MAXUINT64, .load_per_mille = load_per_mille, .bytes = LINE_BYTES};
    Traffic *traffic = traffic_new(fabric, &spec);
    *background = (WalkBackground){WALK_WARM_UP_PS, walk_on_end, traffic};
    return traffic;
}

/* Other traffic on all links of a large system is more than a page can draw. */
static Recorder *walk_make_recorder(const Options *options, const WalkAsk *ask, const Fabric *fabric)
{
    if (!options->html || (ask->load_per_mille && fabric->spec.system.gpus > RECORDER_ALL_GPUS))
        return NULL;
    g_autofree char *title = g_strdup_printf("%s, packet by packet", walk_ops[ask->op]);
    return recorder_new(fabric, title, WALK_PACKETS);
}

/* One walk in a simulation of its own; FALSE: it could not be made. */
static gboolean walk_once(const Options *options, const System *system, const WalkAsk *ask, const char *vcd,
                          WalkOutcome *outcome, GError **error)
{
    SimSpec spec = {
        .seed = options->seed, .calendar = options->calendar, .engine = SIM_ENGINE_REFERENCE, .vcd_path = vcd};
    Sim *sim = sim_new(&spec, error);
    Fabric *fabric = sim ? fabric_new(sim, &system->spec, TRUE, error) : NULL;
    gboolean done = FALSE;
    if (fabric) {
        gboolean right = FALSE;
        WalkBackground background;
        Traffic *traffic = NULL;
        fabric_trace(fabric);
        guint32 n = ask->gpus != WALK_ALL ? (guint32)ask->gpus : (guint32)system->spec.system.gpus;
        if (ask->load_per_mille && system->spec.system.gpus > 1)
            traffic = walk_add_traffic(fabric, ask->load_per_mille, &background);
        Recorder *recorder = walk_make_recorder(options, ask, fabric);
        RecordingSpec record = ask->samples ? ask->samples->spec : (RecordingSpec){0};
        record.shown = TRUE;
        Recording *recording = recording_new(fabric, &record, walk_ops[ask->op]);
        const WalkWith with = {traffic ? &background : NULL, recorder, recording, ask->stop};
        outcome->steps = walk_record(fabric, ask->op, n, &with, &right, error);
        done = outcome->steps != NULL;
        outcome->stopped = done && !right ? g_atomic_int_get(ask->stop) : 0;
        Scene *scene = recorder ? recorder_finish(recorder) : NULL;
        if (done && ask->report)
            walk_fill_report(ask->report, ask, outcome, right, g_steal_pointer(&scene));
        scene_free(scene);
        done = recording_end(recording, done ? error : NULL) && done;
        recording_free(recording);
        if (done && !right && !outcome->stopped)
            outcome->wrong = walk_reason(fabric);
        if (traffic)
            traffic_free(traffic);
        outcome->lost = !sim_trace_end(sim); /* while what it shows is there */
        fabric_free(fabric);
    }
    if (sim)
        sim_free(sim);
    return done;
}

static void walk_outcome_clear(WalkOutcome *outcome)
{
    if (outcome->steps)
        walk_free(outcome->steps);
    g_free(outcome->wrong);
}

static ExitCode walk_one(const Options *options, const WalkAsk *ask, GError **error)
{
    System system;
    if (!system_load(&system, NULL, options, error))
        return EXIT_USER;
    ExitCode code = EXIT_USER;
    WalkOutcome idle = {0}, outcome = {0};
    WalkAsk alone = *ask, all = *ask;
    alone.stop = all.stop = interrupt_look();
    alone.load_per_mille = 0;
    g_autofree char *title = g_strdup_printf("%s: %s", walk_ops[ask->op], walk_meanings[ask->op]);
    Samples samples;
    all.report = walk_begin_report(options, &system, ask, title);
    all.samples = &samples;
    if (samples_open(&samples, options, all.report, error)) {
        samples.spec.where = options->html && !ask->load_per_mille;
        samples.where_tables.report = all.report;
        if ((!ask->load_per_mille || walk_once(options, &system, &alone, NULL, &idle, error)) &&
            walk_once(options, &system, &all, options->vcd, &outcome, error)) {
            outcome.idle_ps = idle.steps ? walk_took_ps(idle.steps) : 0;
            if (options->html && ask->load_per_mille)
                report_add_page_note(all.report, "Where the time of the other traffic went is not told; the table of "
                                                 "waits is that of the operation.");
            code = walk_report(options, &system, &all, &outcome, title, error);
            if (outcome.lost && code == EXIT_DONE)
                code = EXIT_USER;
        }
        code = samples_close(&samples, code, error);
    }
    report_free(all.report);
    walk_outcome_clear(&idle);
    walk_outcome_clear(&outcome);
    system_clear(&system);
    return code;
}

/* load: negative if it was not given. */
static gboolean walk_check(WalkAsk *ask, double load, GError **error)
{
    if (ask->gpus < 1 && ask->gpus != WALK_ALL) {
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--gpus: %d is no number of GPUs; 1 or more is right",
                    ask->gpus);
        return FALSE;
    }
    if (ask->gpus != WALK_ALL && !g_str_has_prefix(walk_ops[ask->op], "multimem.") && ask->op != WALK_FABRIC_PULLRED) {
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                    "--gpus: %s goes from GPU 0 to GPU 1 and has no team; multimem operations have one",
                    walk_ops[ask->op]);
        return FALSE;
    }
    if (load != -1 && !(load >= 0.001 && load <= 1)) {
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--background: %g is no load; from 0.001 to 1 is right", load);
        return FALSE;
    }
    ask->load_per_mille = load == -1 ? 0 : (guint32)(load * 1000 + 0.5);
    return TRUE;
}

static ExitCode walk_run_verb(int argc, char **argv, GError **error)
{
    WalkAsk ask = {.gpus = WALK_ALL};
    double load = -1;
    const GOptionEntry own[] = {
        {"gpus", 'n', 0, G_OPTION_ARG_INT, &ask.gpus, "members of the multicast team (default: all)", "N"},
        {"background", 0, 0, G_OPTION_ARG_DOUBLE, &load,
         "load the links with other stores, up to 1: 0.8 is 80 % of their rate", "LOAD"},
        {NULL, 0, 0, 0, NULL, NULL, NULL},
    };
    Options options;
    ExitCode code;
    int op = 0;
    if (!options_parse(&options, &verb_walk, own, &argc, &argv, &code, error))
        return code;
    code = EXIT_USER;
    if (options_check_args(&verb_walk, argc, argv, 1, 1, error) &&
        options_parse_name("walk", argv[1], walk_ops, &op, error)) {
        ask.op = (WalkOp)op;
        code = walk_check(&ask, load, error) ? walk_one(&options, &ask, error) : EXIT_USER;
    }
    options_clear(&options);
    return code;
}

const Verb verb_walk = {
    .name = "walk",
    .usage = "OP",
    .text = "follow one packet: store, load, atomic, multimem.st, multimem.red, multimem.ld_reduce, "
            "fabric.put, fabric.pullred",
    .flags = VERB_WAVEFORM | VERB_TIMELINE | VERB_STATS,
    .run = walk_run_verb,
};
