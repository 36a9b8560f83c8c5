/* fanout systems: which systems come with Fanout, and what one of them is made of.
 *
 * One system's text form is an INI file: saved, changed and given back with -s, it is a system of
 * one's own. Every value keeps the comment that says where it comes from. */
#include <stdio.h>
#include <string.h>

#include "cli/machine.h"
#include "cli/options.h"
#include "cli/system.h"
#include "model/presets/preset.h"

static const Column list_columns[] = {
    COLUMN_TEXT(name, "name", "what -s takes"),
    COLUMN_U64(gpus, "GPUs", "", "that share the fabric"),
    COLUMN_U64(switches, "switches", "", "planes of the fabric"),
    COLUMN_U64(links, "links", "", "of each GPU"),
    COLUMN_FIXED(link_GBps, "per link", "GB/s", 2, "flits of one link, one direction"),
    COLUMN_FIXED(gpu_GBps, "per GPU", "GB/s", 1, "flits of all its links, one direction"),
    COLUMN_U64(multicast_ids, "multicast", "IDs", "main entries of a switch's multicast table; 0: none"),
    COLUMN_TEXT(title, "what it is", "for people"),
    COLUMN_END,
};

static gboolean systems_add_row(Table *table, const char *name, const Options *options, GError **error)
{
    System system;
    if (!system_load(&system, name, options, error))
        return FALSE;
    const ParamList *per_switch = &system.spec.system.links_per_switch;
    guint64 links = 0;
    for (guint i = 0; i < per_switch->n; i++)
        links += per_switch->value[i];
    double link_GBps = (double)system.spec.link.rate_MBps / 1000;
    table_text(table, name);
    table_u64(table, system.spec.system.gpus);
    table_u64(table, per_switch->n);
    table_u64(table, links);
    table_fixed(table, link_GBps);
    table_fixed(table, link_GBps * (double)links);
    table_u64(table, system.spec.mctable.entries);
    table_text(table, system.spec.system.title);
    system_clear(&system);
    return TRUE;
}

static ExitCode systems_list(const Options *options, GError **error)
{
    Report *report = report_new("systems", "the systems that come with Fanout");
    Table *table = report_add_table(report, "rows", "", list_columns, 0);
    char **names = preset_names();
    gboolean good = TRUE;
    for (char **name = names; *name && good; name++)
        good = systems_add_row(table, *name, options, error);
    report_add_note(report, "'fanout systems NAME' prints every parameter with its source");
    ExitCode code = good ? options_write(options, report, error) : EXIT_USER;
    g_strfreev(names);
    report_free(report);
    return code;
}

static gboolean systems_is_changed(const ParamDumpRow *row)
{
    return g_str_has_prefix(row->origin, "changed in ") || g_str_has_prefix(row->origin, "--");
}

static void systems_print_ini(const System *system)
{
    GArray *rows = param_dump(system->params);
    const char *section = "";
    guint changed = 0;
    for (guint i = 0; i < rows->len; i++)
        changed += systems_is_changed(&g_array_index(rows, ParamDumpRow, i));
    printf("# %s as fanout runs it. Save it, change it, and use it with -s FILE.ini; what a file leaves out,\n"
           "# 'inherits = %s' under [system] takes from this one.\n",
           system->name, system->name);
    if (changed)
        printf("# Changed: %u of %u values, marked 'changed in', '--config' or '--set'.\n", changed, rows->len);
    for (guint i = 0; i < rows->len; i++) {
        const ParamDumpRow *row = &g_array_index(rows, ParamDumpRow, i);
        if (g_strcmp0(section, row->section) != 0) {
            section = row->section;
            printf("\n[%s]\n", section);
        }
        char *bounds = param_row_bounds(row->row);
        printf("# %s (%s)\n", row->row->text, bounds);
        if (row->origin)
            printf("# %s\n", row->origin);
        printf("%s = %s\n", row->row->name, row->value);
        g_free(bounds);
    }
    param_dump_free(rows);
}

static ExitCode systems_show(const char *name, const Options *options, GError **error)
{
    System system;
    if (!system_load(&system, name, options, error))
        return EXIT_USER;
    Report *report = report_new("systems", name);
    system_describe(&system, report);
    system_add_parameters(&system, report, 0);
    ExitCode code = EXIT_DONE;
    if (options->format == REPORT_TEXT) {
        systems_print_ini(&system);
        code = options_write_files(options, report, error);
    } else {
        code = options_write(options, report, error);
    }
    report_free(report);
    system_clear(&system);
    return code;
}

/* ---- two systems side by side */

static const Column diff_columns[] = {
    COLUMN_TEXT(section, "section", "group of the INI file"),
    COLUMN_TEXT(key, "key", "as in --set section.key=value"),
    COLUMN_TEXT(a, "a", "the first system's value"),
    COLUMN_TEXT(b, "b", "the second system's value"),
    COLUMN_TEXT(unit, "unit", "of the values"),
    COLUMN_TEXT(origin_a, "origin of a", "where the first value comes from"),
    COLUMN_TEXT(origin_b, "origin of b", "where the second value comes from"),
    COLUMN_END,
};

/* "12 of 420 parameters differ: 5 of [sm], 3 of [link]", in the order of the file. */
static void systems_add_answer(Report *report, const GArray *rows, const gboolean *differs)
{
    g_autoptr(GString) text = g_string_new(NULL);
    guint all = 0;
    for (guint i = 0, next; i < rows->len; i = next) {
        const char *section = g_array_index(rows, ParamDumpRow, i).section;
        guint n = 0;
        for (next = i; next < rows->len && !strcmp(g_array_index(rows, ParamDumpRow, next).section, section); next++)
            n += differs[next] ? 1 : 0;
        if (n)
            g_string_append_printf(text, "%s%u of [%s]", text->len ? ", " : ": ", n, section);
        all += n;
    }
    report_add_answer(report, "%u of %u parameters differ%s", all, rows->len, text->str);
}

static void systems_add_diff(const System *a, const System *b, Report *report)
{
    Table *table = report_add_table(report, "rows", "", diff_columns, 0);
    GArray *of_a = param_dump(a->params), *of_b = param_dump(b->params);
    g_autofree gboolean *differs = g_new0(gboolean, of_a->len + 1);
    for (guint i = 0; i < of_a->len; i++) { /* the same rows in both */
        const ParamDumpRow *row_a = &g_array_index(of_a, ParamDumpRow, i);
        const ParamDumpRow *row_b = &g_array_index(of_b, ParamDumpRow, i);
        if (strcmp(row_a->value, row_b->value) == 0)
            continue;
        differs[i] = TRUE;
        table_text(table, row_a->section);
        table_text(table, row_a->row->name);
        table_text(table, row_a->value);
        table_text(table, row_b->value);
        table_text(table, row_a->row->unit);
        table_text(table, row_a->origin);
        table_text(table, row_b->origin);
    }
    systems_add_answer(report, of_a, differs);
    param_dump_free(of_a);
    param_dump_free(of_b);
}

static ExitCode systems_diff(const char *name, const char *other, const Options *options, GError **error)
{
    System a, b;
    if (!system_load(&a, name, options, error))
        return EXIT_USER;
    if (!system_load(&b, other, options, error)) {
        system_clear(&a);
        return EXIT_USER;
    }
    g_autofree char *title = g_strdup_printf("%s beside %s", a.name, b.name);
    Report *report = report_new("systems", title);
    report_add_text(report, "a", a.name);
    report_add_text(report, "b", b.name);
    systems_add_diff(&a, &b, report);
    ExitCode code = options_write(options, report, error);
    report_free(report);
    system_clear(&a);
    system_clear(&b);
    return code;
}

/* ---- which GPUs are linked how */

static ExitCode systems_topo(const char *name, const Options *options, GError **error)
{
    Machine *machine = cli_machine(name, options, -1, error);
    if (!machine)
        return EXIT_USER;
    g_autofree char *title = g_strdup_printf("how the GPUs of %s are linked", name);
    Report *report = report_new("systems", title);
    report_add_text(report, "system", name);
    report_add_text(report, "model", machine_gpu_name(machine));
    cli_machine_table(machine, report);
    ExitCode code = options_write(options, report, error);
    report_free(report);
    machine_free(machine);
    return code;
}

static ExitCode systems_run(int argc, char **argv, GError **error)
{
    g_autofree char *other = NULL;
    gboolean topo = FALSE;
    const GOptionEntry own[] = {
        {"diff", 0, 0, G_OPTION_ARG_STRING, &other, "what differs between NAME and this system", "NAME"},
        {"topo", 0, 0, G_OPTION_ARG_NONE, &topo, "which GPUs of NAME are linked how, as nvidia-smi topo -m has it",
         NULL},
        {NULL, 0, 0, 0, NULL, NULL, NULL}};
    Options options;
    ExitCode code;
    if (!options_parse(&options, &verb_systems, own, &argc, &argv, &code, error))
        return code;
    const char *name = argc > 1 ? argv[1] : options.system;
    if (!options_check_args(&verb_systems, argc, argv, 0, 1, error))
        code = EXIT_USER;
    else if (other && topo) {
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--topo shows one system, --diff compares two: give one option");
        code = EXIT_USER;
    } else if (other && !name) {
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--diff: name the first system too: fanout systems A --diff B");
        code = EXIT_USER;
    } else if (topo)
        code = systems_topo(name ? name : SYSTEM_DEFAULT, &options, error);
    else if (other)
        code = systems_diff(name, other, &options, error);
    else if (name)
        code = systems_show(name, &options, error);
    else
        code = systems_list(&options, error);
    options_clear(&options);
    return code;
}

const Verb verb_systems = {
    .name = "systems",
    .usage = "[NAME]",
    .text = "list the systems, or print one with every parameter and its source",
    .no_views = "it simulates nothing",
    .run = systems_run,
};
