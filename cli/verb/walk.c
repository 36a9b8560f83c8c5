/* fanout walk: one packet's path through the fabric, step by step, with times and the file that models each
 * stage. docs/packet-walk.md follows the same path in the source. */
#include <stdio.h>
#include <string.h>

#include "cli/options.h"
#include "cli/system.h"
#include "model/walk/walk.h"
#include "sim/report/timeline.h"

static const Column columns[] = {
    COLUMN_FIXED(time_ns, "time", "ns", 1, "since the instruction was issued"),
    COLUMN_U64(depth, "depth", "", "1: a replica or its answer"),
    COLUMN_TEXT(unit, "where", "which part of the fabric"),
    COLUMN_TEXT(text, "what", "happens there"),
    COLUMN_TEXT(file, "file", "that models it"),
    COLUMN_END,
};

#define WALK_ALL G_MININT /* -n was not given */

#define WALK_COLUMNS 100 /* of a terminal that stands beside an editor */
#define WALK_TEXT_AT 47   /* columns of time, place and file */

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

static void walk_print(const GArray *steps, const char *op, gboolean right)
{
    const WalkStep *last = &g_array_index(steps, WalkStep, steps->len - 1);
    g_autofree char *picture = walk_picture(steps);
    walk_print_wrapped(picture, 0);
    printf("\n%7s  %-17s %-19s %s\n", "time ns", "where", "file in model/", "what happens");
    for (guint i = 0; i < steps->len; i++) {
        const WalkStep *step = &g_array_index(steps, WalkStep, i);
        const char *file = g_str_has_prefix(step->file, "model/") ? step->file + strlen("model/") : step->file;
        int indent = (int)step->depth * 2;
        printf("%7.1f  %-17s %-19s %*s", (double)step->at_ps / 1000, step->unit, file, indent, "");
        walk_print_wrapped(step->text, WALK_TEXT_AT + indent);
    }
    if (right)
        printf("%s took %.1f ns\n", op, (double)last->at_ps / 1000);
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

/* The first time after a step's at which anything happens: as long as it is shown. */
static SimTime walk_next_ps(const GArray *steps, SimTime at_ps)
{
    SimTime next_ps = SIMTIME_NEVER;
    for (guint i = 0; i < steps->len; i++) {
        SimTime time_ps = g_array_index(steps, WalkStep, i).at_ps;
        if (time_ps > at_ps)
            next_ps = MIN(next_ps, time_ps);
    }
    return next_ps == SIMTIME_NEVER ? at_ps : next_ps;
}

/* A track for each part of the fabric, a slice for each step there. */
static gboolean walk_save_timeline(const GArray *steps, const char *op, const char *path, GError **error)
{
    Timeline *timeline = timeline_open(path, error);
    if (!timeline)
        return FALSE;
    guint32 group = timeline_add_group(timeline, op);
    g_autoptr(GHashTable) tracks = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < steps->len; i++) {
        const WalkStep *step = &g_array_index(steps, WalkStep, i);
        if (!g_hash_table_contains(tracks, step->unit))
            g_hash_table_insert(tracks, (gpointer)step->unit,
                                GUINT_TO_POINTER(timeline_add_track(timeline, group, step->unit)));
        const char *const facts[] = {"modelled in", step->file, NULL};
        timeline_add_slice_with(timeline, GPOINTER_TO_UINT(g_hash_table_lookup(tracks, step->unit)), step->text,
                                step->at_ps, walk_next_ps(steps, step->at_ps), facts);
    }
    return timeline_close(timeline, error);
}

static ExitCode walk_write_files(const Options *options, const Report *report, const GArray *steps, const char *op,
                                 GError **error)
{
    ExitCode code = options_write_files(options, report, error);
    if (options->perfetto &&
        !walk_save_timeline(steps, op, options->perfetto, code == EXIT_DONE ? error : NULL))
        code = EXIT_USER;
    return code;
}

/* `wrong`: what kept it from its right end, or NULL. */
static ExitCode walk_report(const Options *options, const System *system, WalkOp op, const GArray *steps,
                            const char *wrong, GError **error)
{
    g_autofree char *title = g_strdup_printf("%s: %s", walk_ops[op], walk_meanings[op]);
    Report *report = report_new("walk", title);
    ExitCode code = EXIT_DONE;
    system_describe(system, report);
    options_describe(options, report);
    system_describe_run(system, options, NULL, report);
    report_add_text(report, "op", walk_ops[op]);
    report_add_bool(report, "verified", wrong == NULL);
    Table *table = report_add_table(report, "steps", "", columns, 0);
    for (guint i = 0; i < steps->len; i++) {
        const WalkStep *step = &g_array_index(steps, WalkStep, i);
        table_fixed(table, (double)step->at_ps / 1000);
        table_u64(table, step->depth);
        table_text(table, step->unit);
        table_text(table, step->text);
        table_text(table, step->file);
    }
    if (options->format == REPORT_TEXT) {
        g_autofree char *head = g_strdup_printf("%s on %s (%s)", title, system->name, system->spec.system.title);
        walk_print_wrapped(head, 0);
        walk_print(steps, walk_ops[op], wrong == NULL);
    } else {
        code = report_save(report, options->format, "-", error) ? EXIT_DONE : EXIT_USER;
    }
    ExitCode files = walk_write_files(options, report, steps, walk_ops[op], code == EXIT_DONE ? error : NULL);
    code = code == EXIT_DONE ? files : code;
    report_free(report);
    if (code == EXIT_DONE && wrong) {
        g_set_error(error, CLI_ERROR, CLI_ERROR_STUCK, "%s did not come to its right end: %s", walk_ops[op], wrong);
        code = EXIT_WRONG;
    }
    return code;
}

static ExitCode walk_one(const Options *options, WalkOp op, gint gpus, GError **error)
{
    System system;
    if (!system_load(&system, NULL, options, error))
        return EXIT_USER;
    ExitCode code = EXIT_USER;
    SimSpec spec = {.seed = options->seed, .calendar = options->calendar,
                    .engine = SIM_ENGINE_REFERENCE, .vcd_path = options->vcd};
    Sim *sim = sim_new(&spec, error);
    Fabric *fabric = sim ? fabric_new(sim, &system.spec, TRUE, error) : NULL;
    if (fabric) {
        gboolean right = FALSE;
        stat_trace(fabric->stats, sim);
        guint32 n = gpus != WALK_ALL ? (guint32)gpus : (guint32)system.spec.system.gpus;
        GArray *steps = walk_run(fabric, op, n, &right, error);
        if (steps) {
            g_autofree char *wrong = right ? NULL : walk_reason(fabric);
            code = walk_report(options, &system, op, steps, wrong, error);
            walk_free(steps);
        }
        fabric_free(fabric);
    }
    if (sim && !sim_trace_end(sim))
        code = EXIT_USER;
    if (sim)
        sim_free(sim);
    system_clear(&system);
    return code;
}

static ExitCode walk_run_verb(int argc, char **argv, GError **error)
{
    gint gpus = WALK_ALL;
    const GOptionEntry own[] = {
        {"gpus", 'n', 0, G_OPTION_ARG_INT, &gpus, "members of the multicast team (default: all)", "N"},
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
        if (gpus < 1 && gpus != WALK_ALL)
            g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--gpus: %d is no number of GPUs; 1 or more is right", gpus);
        else
            code = walk_one(&options, (WalkOp)op, gpus, error);
    }
    options_clear(&options);
    return code;
}

const Verb verb_walk = {
    .name = "walk",
    .usage = "OP",
    .text = "follow one packet: store, load, atomic, multimem.st, multimem.red, multimem.ld_reduce",
    .flags = VERB_WAVEFORM | VERB_TIMELINE,
    .run = walk_run_verb,
};
