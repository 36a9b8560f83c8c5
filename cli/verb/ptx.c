/* fanout ptx: what a PTX file or a fatbinary has, and what of it runs.
 *
 * Every function is read to its end, as a launch would: one that needs what Fanout does not have is listed with the
 * first such instruction, its line and the reason; the others run. */
#include <stdlib.h>
#include <string.h>

#include "ptx/read/fatbin.h"
#include "ptx/run/warp.h"
#include "cli/options.h"
#include "sim/param/whole.h"
#include "sim/report/report.h"

static const Column kernel_columns[] = {
    COLUMN_TEXT(name, "name", "of a kernel, or of a function that is called"),
    COLUMN_TEXT(kind, "kind", "entry: a kernel; func: called by one"),
    COLUMN_TEXT(parameters, "parameters", "types and bytes, in order"),
    COLUMN_U64(registers, "registers", "", "32-bit registers of a thread that are alive at once"),
    COLUMN_U64(shared_bytes, "shared", "B", "static shared memory of a CTA"),
    COLUMN_U64(local_bytes, "local", "B", "local memory of a thread, with what it calls"),
    COLUMN_U64(threads_max, "threads", "", "most in a CTA, where the file says so"),
    COLUMN_U64(instructions, "instructions", "", "in its text"),
    COLUMN_TEXT(unsupported, "what does not run", "file:line:column and the reason; nothing: it runs"),
    COLUMN_END,
};

static const Column family_columns[] = {
    COLUMN_TEXT(family, "family", "instructions of one kind"),
    COLUMN_U64(instructions, "instructions", "", "in the text of all functions that run"),
    COLUMN_U64(functions, "functions", "", "that use it"),
    COLUMN_END,
};

typedef struct {
    guint64 instructions, functions;
} Family;

static char *parameters_text(const PtxFunction *function)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < function->params->len; i++) {
        const PtxParam *param = &g_array_index(function->params, PtxParam, i);
        g_string_append_printf(text, "%s%s", i ? ", " : "", ptx_types[param->type].name);
        if (param->bytes != ptx_types[param->type].memory)
            g_string_append_printf(text, "[%u]", param->bytes / MAX(ptx_types[param->type].memory, 1u));
    }
    return g_string_free(text, FALSE);
}

static void count_families(const PtxCode *code, GHashTable *families)
{
    GHashTableIter iter;
    gpointer key, value;
    g_hash_table_iter_init(&iter, code->families);
    while (g_hash_table_iter_next(&iter, &key, &value)) {
        Family *family = g_hash_table_lookup(families, key);
        if (!family) {
            family = g_new0(Family, 1);
            g_hash_table_insert(families, g_strdup(key), family);
        }
        family->instructions += GPOINTER_TO_UINT(value);
        family->functions++;
    }
}

/* TRUE: it runs. */
static gboolean add_function(Table *table, PtxFunction *function, GHashTable *families)
{
    PtxUsage usage;
    GError *error = NULL;
    g_autofree char *parameters = parameters_text(function);
    guint64 threads = 1;
    for (guint i = 0; i < 3; i++)
        threads *= MAX(function->reqntid[0] ? function->reqntid[i] : function->maxntid[i], 1u);
    gboolean runs = ptx_function_usage(function, &usage, &error);
    table_text(table, function->symbol->name);
    table_text(table, function->entry ? "entry" : "func");
    table_text(table, parameters);
    if (runs) {
        table_u64(table, usage.registers);
        table_u64(table, usage.shared_bytes);
        table_u64(table, usage.local_bytes);
    } else {
        for (guint i = 0; i < 3; i++)
            table_null(table);
    }
    if (function->reqntid[0] || function->maxntid[0])
        table_u64(table, threads);
    else
        table_null(table);
    if (function->code)
        table_u64(table, function->code->statements);
    else
        table_null(table);
    table_text(table, error ? error->message : NULL);
    if (function->code)
        count_families(function->code, families);
    g_clear_error(&error);
    return runs;
}

static gint compare_names(gconstpointer a, gconstpointer b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void add_families(Report *report, GHashTable *families)
{
    Table *table = report_add_table(report, "families", "instructions by family", family_columns, 0);
    guint n = 0;
    gpointer *names = g_hash_table_get_keys_as_array(families, &n);
    qsort(names, n, sizeof *names, compare_names);
    for (guint i = 0; i < n; i++) {
        const Family *family = g_hash_table_lookup(families, names[i]);
        table_text(table, names[i]);
        table_u64(table, family->instructions);
        table_u64(table, family->functions);
    }
    g_free(names);
}

/* Reasons stand in the rows of those that do not run. */
static void add_answer(Report *report, guint64 runs, guint64 all, const char *first)
{
    if (all == 0)
        report_add_answer(report, "no function in it has a body: there is nothing to run");
    else if (runs == all)
        report_add_answer(report, all == 1 ? "its function runs" : "all its %" G_GUINT64_FORMAT " functions run", all);
    else
        report_add_answer(report,
                          "%" G_GUINT64_FORMAT " of its %" G_GUINT64_FORMAT " functions run; %s%s cannot be "
                          "launched, for what the last column says",
                          runs, all, first, all - runs > 1 ? " and others" : "");
}

static Report *report_module(const PtxModule *module, const char *file)
{
    const PtxUnit *unit = module->units->pdata[0];
    g_autofree char *version = g_strdup_printf("%u.%u", unit->version / 10, unit->version % 10);
    g_autofree char *target = g_strdup_printf("sm_%u%s", unit->sm, unit->exact ? "a" : "");
    Report *report = report_new("ptx", file);
    GHashTable *families = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    guint64 runs = 0, all = 0;
    g_autofree char *first = NULL; /* of those that do not run */
    Table *table = report_add_table(report, "rows", "", kernel_columns, 0);
    for (guint i = 0; i < module->functions->len; i++) {
        PtxFunction *function = module->functions->pdata[i];
        if (!function->body)
            continue;
        all++;
        if (add_function(table, function, families))
            runs++;
        else if (!first)
            first = g_strdup(function->symbol->name);
    }
    report_add_text(report, "ptx_version", version);
    report_add_text(report, "target", target);
    report_add_u64(report, "functions", all, "");
    report_add_u64(report, "functions_that_run", runs, "");
    report_add_u64(report, "global_bytes", module->global_bytes, "B");
    report_add_u64(report, "const_bytes", module->const_bytes, "B");
    add_families(report, families);
    add_answer(report, runs, all, first);
    g_hash_table_unref(families);
    return report;
}

static ExitCode ptx_show(const char *file, guint sm, const Options *options, GError **error)
{
    char *data, *text = NULL;
    gsize bytes;
    if (!whole_read(file, &data, &bytes, error))
        return EXIT_USER;
    if (bytes >= 16 && ptx_fatbin_bytes(data)) {
        gsize text_bytes = 0;
        text = ptx_fatbin_choose(file, (const guint8 *)data, bytes, sm, &text_bytes, NULL, error);
        g_free(data);
        data = text;
        bytes = text_bytes;
        if (!text)
            return EXIT_USER;
    } else if (bytes >= 4 && !memcmp(data, "\177ELF", 4)) {
        g_set_error(error, CLI_ERROR, CLI_ERROR_FILE,
                    "%s: an ELF file; PTX text or a fatbinary (nvcc -ptx, nvcc -fatbin) is read", file);
        g_free(data);
        return EXIT_USER;
    }
    PtxModule *module = ptx_module_read(file, data, bytes, error);
    ExitCode code = EXIT_USER;
    if (module) {
        Report *report = report_module(module, file);
        code = options_write(options, report, error);
        report_free(report);
    }
    ptx_module_free(module);
    g_free(data);
    return code;
}

static ExitCode ptx_run(int argc, char **argv, GError **error)
{
    gint sm = 0;
    const GOptionEntry own[] = {{"sm", 0, 0, G_OPTION_ARG_INT, &sm,
                                 "of a fatbinary, the PTX for this target: 90 for sm_90; 0: the highest", "N"},
                                {NULL, 0, 0, 0, NULL, NULL, NULL}};
    Options options;
    ExitCode code;
    if (!options_parse(&options, &verb_ptx, own, &argc, &argv, &code, error))
        return code;
    code = EXIT_USER;
    if (sm < 0 || sm > 999)
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--sm: %d; 0 to 999, as 90 for sm_90", sm);
    else if (options_check_args(&verb_ptx, argc, argv, 1, 1, error))
        code = ptx_show(argv[1], (guint)sm, &options, error);
    options_clear(&options);
    return code;
}

const Verb verb_ptx = {
    .name = "ptx",
    .usage = "FILE [--sm N]",
    .text = "what a PTX file or fatbinary has, and what of it runs",
    .no_views = "it simulates nothing",
    .run = ptx_run,
};
