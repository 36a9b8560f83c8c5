/* fanout fabric: looks at, and changes, the machine of a job that runs (machine/wire/control.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "machine/spec.h"
#include "machine/wire/control.h"
#include "cli/options.h"
#include "sim/param/param.h"

typedef struct {
    const char *job;   /* --job; NULL: not given */
    const char *lasts; /* --for; NULL: not given */
    guint64 lasts_ps;
    char **words; /* behind the action */
    int n_words;
} FabricArgs;

typedef struct {
    const char *name;
    int least, most; /* words behind it */
    const char *usage;
    gboolean (*ask)(const FabricArgs *args, WireControl *asked, GError **error); /* the request that it is */
} FabricAction;

/* ---- what each asks for */

static gboolean ask_status(const FabricArgs *args, WireControl *asked, GError **error)
{
    (void)args, (void)error;
    asked->what = WIRE_CONTROL_STATUS;
    return TRUE;
}

static gboolean ask_start(const FabricArgs *args, WireControl *asked, GError **error)
{
    (void)args, (void)error;
    asked->what = WIRE_CONTROL_MANAGER;
    asked->value = CUDA_FM_OK;
    return TRUE;
}

static gboolean ask_stop(const FabricArgs *args, WireControl *asked, GError **error)
{
    const char *how = args->n_words > 0 ? args->words[0] : "stopped";

    asked->what = WIRE_CONTROL_MANAGER;
    asked->value = strcmp(how, "absent") == 0   ? CUDA_FM_ABSENT
                   : strcmp(how, "broken") == 0 ? CUDA_FM_BROKEN
                                                : CUDA_FM_STOPPED;
    if (asked->value != CUDA_FM_STOPPED || strcmp(how, "stopped") == 0)
        return TRUE;
    g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "stop: '%s' is none of stopped, absent, broken", how);
    return FALSE;
}

static gboolean ask_restart(const FabricArgs *args, WireControl *asked, GError **error)
{
    (void)args, (void)error;
    asked->what = WIRE_CONTROL_RESTART;
    return TRUE;
}

static gboolean copy_word(char *to, gsize size, const char *word, GError **error)
{
    if (g_strlcpy(to, word, size) < size)
        return TRUE;
    g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "degrade: '%s' is longer than the name of any part", word);
    return FALSE;
}

static gboolean ask_degrade(const FabricArgs *args, WireControl *asked, GError **error)
{
    asked->what = WIRE_CONTROL_DEGRADE;
    asked->value = args->lasts_ps;
    return copy_word(asked->key, sizeof asked->key, args->words[0], error) &&
           copy_word(asked->part, sizeof asked->part, args->words[1], error);
}

static gboolean ask_gpu_reset(const FabricArgs *args, WireControl *asked, GError **error)
{
    const char *text = args->words[0];

    asked->what = WIRE_CONTROL_GPU_RESET;
    if (g_str_has_prefix(text, "gpu"))
        text += strlen("gpu");
    if (g_ascii_string_to_unsigned(text, 10, 0, G_MAXUINT32, &asked->value, NULL))
        return TRUE;
    g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "gpu-reset: '%s' is no GPU; write its number, as 3 or gpu3",
                args->words[0]);
    return FALSE;
}

static const FabricAction actions[] = {
    {"status", 0, 0, "status", ask_status},
    {"stop", 0, 1, "stop [stopped|absent|broken]", ask_stop},
    {"start", 0, 0, "start", ask_start},
    {"restart", 0, 0, "restart", ask_restart},
    {"degrade", 2, 2, "degrade FAULT PART, as degrade link_degraded gpu0.link3:50", ask_degrade},
    {"gpu-reset", 1, 1, "gpu-reset GPU", ask_gpu_reset},
};

/* ---- which machine */

/* --job: a name, or the number of the process that owns it. */
static gboolean is_named(const char *name, const char *job)
{
    g_auto(GStrv) parts = g_strsplit(name, "-", 3); /* fanout-PID-SECRET */

    return strcmp(name, job) == 0 || (g_strv_length(parts) == 3 && strcmp(parts[1], job) == 0);
}

static char *find_job(const FabricArgs *args, const GPtrArray *owners, GError **error)
{
    const char *inside = g_getenv(WIRE_ENV);
    guint last = owners->len - 1;

    if (!args->job && inside && *inside)
        return g_strdup(inside);
    for (guint i = 0; args->job && i < owners->len; i++)
        if (is_named(owners->pdata[i], args->job))
            return g_strdup(owners->pdata[i]);
    if (!args->job && owners->len == 1)
        return g_strdup(owners->pdata[last]);
    if (args->job)
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                    "--job: no machine of this user is called '%s'; 'fanout fabric status' lists those that run",
                    args->job);
    else if (owners->len == 0)
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                    "no machine of this user runs: start a job with 'fanout exec -- PROGRAM' (one with --separate has "
                    "none that can be reached)");
    else
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                    "%u machines of this user run: name one by --job, as --job %s; 'fanout fabric status' lists them",
                    owners->len, (const char *)owners->pdata[0]);
    return NULL;
}

/* ---- what is printed */

static const Column columns[] = {
    COLUMN_TEXT(job, "job", "the machine, as --job names it"),
    COLUMN_U64(gpus, "GPUs", "", "of its system"),
    COLUMN_U64(processes, "processes", "", "that use the driver now"),
    COLUMN_TEXT(manager, "manager", "the fabric manager: running, stopped, absent, broken"),
    COLUMN_U64(restarts, "restarts", "", "how often the manager has lost what it knew"),
    COLUMN_U64(gpus_behind, "behind", "", "GPUs that were not reset since its latest restart"),
    COLUMN_U64(time_ps, "time", "ps", "simulated time"),
    COLUMN_END,
};

static const char *manager_name(const WireControlled *answer)
{
    static const char *const managers[] = {"running", "absent", "broken", "restarted", "stopped"};

    return answer->manager < G_N_ELEMENTS(managers) ? managers[answer->manager] : "?";
}

/* What was done, and what programs see of the fabric now. */
static void add_answer(Report *report, const char *name, const WireControl *asked, const WireControlled *answer)
{
    g_autofree char *behind = answer->behind ? g_strdup_printf("; %u of its GPUs were not reset since the manager "
                                                               "restarted, so that they cannot join a team",
                                                               answer->behind)
                                             : g_strdup("");

    if (asked->what == WIRE_CONTROL_GPU_RESET)
        report_add_answer(report, "GPU %" G_GUINT64_FORMAT " was reset; contexts that have ended: %u", asked->value,
                          answer->contexts);
    else if (asked->what == WIRE_CONTROL_DEGRADE)
        report_add_answer(report, "%s of %s has the fault %s", asked->part, name, asked->key);
    report_add_answer(report, "the fabric manager of %s is %s%s", name, manager_name(answer), behind);
}

static void add_row(Table *table, const char *name, const WireControlled *answer)
{
    table_text(table, name);
    table_u64(table, answer->gpus);
    table_u64(table, answer->processes);
    table_text(table, manager_name(answer));
    table_u64(table, answer->manager_era);
    table_u64(table, answer->behind);
    table_u64(table, answer->now_ps);
}

static gboolean ask_one(const char *name, const FabricAction *action, const FabricArgs *args, Report *report,
                        Table *table, GError **error)
{
    WireControl asked = {0};
    WireControlled answer = {0};

    if (!action->ask(args, &asked, error) || !control_ask(name, &asked, &answer, NULL, error))
        return FALSE;
    add_row(table, name, &answer);
    add_answer(report, name, &asked, &answer);
    return TRUE;
}

static ExitCode act(const Options *options, const FabricAction *action, const FabricArgs *args, GError **error)
{
    g_autoptr(GPtrArray) owners = control_owners();
    Report *report = report_new("fabric", "the fabric of a running job");
    Table *table = report_add_table(report, "jobs", "", columns, 0);
    const char *inside = g_getenv(WIRE_ENV);
    ExitCode code = EXIT_USER;
    gboolean good = TRUE;

    if (action->ask == ask_status && !args->job && !(inside && *inside)) {
        for (guint i = 0; i < owners->len; i++) /* one that ends meanwhile is no row */
            ask_one(owners->pdata[i], action, args, report, table, NULL);
        if (table_rows(table) == 0)
            report_add_answer(report, "no job of this user runs: 'fanout exec -- PROGRAM' starts one");
    } else {
        g_autofree char *name = find_job(args, owners, error);
        good = name && ask_one(name, action, args, report, table, error);
    }
    if (good)
        code = options_write(options, report, error);
    report_free(report);
    return code;
}

/* ---- the command line */

static gboolean read_lasts(FabricArgs *args, const FabricAction *action, GError **error)
{
    static const ParamRow row = {.name = "for", .type = PARAM_U64_T, .unit = "ps", .min = 1, .max = SIMTIME_LAST_PS};
    g_autofree char *normal = NULL, *wrong = NULL;

    if (!args->lasts)
        return TRUE;
    if (action->ask != ask_degrade)
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--for: only degrade lasts for a time");
    else if (!param_row_parse(&row, args->lasts, &args->lasts_ps, &normal, &wrong))
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                    "--for: '%s' is no time in whole picoseconds; write a number and ps, ns, us, ms or s, as 50us",
                    args->lasts);
    else
        return TRUE;
    return FALSE;
}

static const FabricAction *find_action(int argc, char **argv, GError **error)
{
    for (guint i = 0; argc > 1 && i < G_N_ELEMENTS(actions); i++) {
        const FabricAction *action = &actions[i];
        if (strcmp(action->name, argv[1]) != 0)
            continue;
        if (argc - 2 >= action->least && argc - 2 <= action->most)
            return action;
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "%s: write it as fanout fabric %s", action->name, action->usage);
        return NULL;
    }
    g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "'%s' is none of status, stop, start, restart, degrade, gpu-reset",
                argc > 1 ? argv[1] : "");
    return NULL;
}

static ExitCode fabric_run_verb(int argc, char **argv, GError **error)
{
    g_autofree char *job = NULL, *lasts = NULL;
    const GOptionEntry own[] = {
        {"job", 0, 0, G_OPTION_ARG_STRING, &job,
         "the machine, by its name or the process of its fanout exec; unless the command runs in the job, or one runs",
         "NAME"},
        {"for", 0, 0, G_OPTION_ARG_STRING, &lasts, "degrade: it is whole again after that simulated time", "TIME"},
        {NULL, 0, 0, 0, NULL, NULL, NULL}};
    Options options;
    ExitCode code;

    if (!options_parse(&options, &verb_fabric, own, &argc, &argv, &code, error))
        return code;
    code = EXIT_USER;
    const FabricAction *action = find_action(argc, argv, error);
    FabricArgs args = {.job = job, .lasts = lasts, .words = argv + 2, .n_words = argc - 2};
    if (action && read_lasts(&args, action, error))
        code = act(&options, action, &args, error);
    options_clear(&options);
    return code;
}

const Verb verb_fabric = {
    .name = "fabric",
    .usage = "status|stop|start|restart|degrade|gpu-reset",
    .text = "look at the fabric of a job that runs, and break or mend it",
    .no_views = "it simulates nothing",
    .run = fabric_run_verb,
};
