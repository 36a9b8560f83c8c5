/* Manual pages: troff with the macros of man(7). */
#include "cli/reference/internal.h"
#include "config.h"

#include <stdio.h>
#include <string.h>

/* Text of a page: nothing in it is a request or an escape of troff. */
static void manual_text(const char *text)
{
    gboolean first = TRUE;
    for (; *text; text++) {
        if (first && (*text == '.' || *text == '\''))
            printf("\\&");
        first = *text == '\n';
        if (*text == '\\')
            printf("\\e");
        else if (*text == '-')
            printf("\\-");
        else if (*text == '\'')
            printf("\\(aq");
        else
            putchar(*text);
    }
}

static void manual_paragraphs(const char *text)
{
    g_auto(GStrv) paragraphs = g_strsplit(text, "\n", -1);
    for (char **paragraph = paragraphs; *paragraph; paragraph++) {
        printf(".PP\n");
        manual_text(*paragraph);
        printf("\n");
    }
}

static void manual_section(const char *name) { printf(".SH %s\n", name); }

static void manual_entry(const GOptionEntry *entry)
{
    printf(".TP\n");
    if (entry->short_name)
        printf("\\fB\\-%c\\fR, ", entry->short_name);
    printf("\\fB\\-\\-");
    manual_text(entry->long_name);
    printf("\\fR");
    if (entry->arg_description) {
        printf("=\\fI");
        manual_text(entry->arg_description);
        printf("\\fR");
    }
    printf("\n");
    manual_text(entry->description);
    printf("\n");
}

static void manual_entries(const GOptionEntry *entries)
{
    for (const GOptionEntry *entry = entries; entry->long_name; entry++)
        manual_entry(entry);
}

static void manual_head(const char *page, const char *text)
{
    g_autofree char *upper = g_ascii_strup(page, -1);
    printf(".\\\" Made by 'fanout --manual' from the tables of the command line.\n.TH ");
    manual_text(upper);
    printf(" 1 \"\" \"fanout %s\" \"Fanout\"\n", PACKAGE_VERSION);
    manual_section("NAME");
    manual_text(page);
    printf(" \\- ");
    manual_text(text);
    printf("\n");
}

static void manual_example(const char *line, const char *text)
{
    printf(".TP\n\\fBfanout ");
    manual_text(line);
    printf("\\fR\n");
    manual_text(text);
    printf("\n");
}

static void manual_exit(void)
{
    static const char *const codes[][2] = {
        {"0", "Everything was done, and what was checked is right."},
        {"1", "The input is wrong: one line on standard error names the file, line and key, or the option."},
        {"2", "The simulated fabric got stuck, or a result did not verify; the report says why."},
        {"130", "Interrupted by Ctrl-C or SIGTERM: what was finished is printed and written, marked incomplete."},
    };
    manual_section("EXIT STATUS");
    for (guint i = 0; i < G_N_ELEMENTS(codes); i++) {
        printf(".TP\n%s\n", codes[i][0]);
        manual_text(codes[i][1]);
        printf("\n");
    }
}

static void manual_views(const Verb *verb)
{
    if (!verb->no_views)
        return;
    GString *lacks = g_string_new(NULL);
    if (!(verb->flags & VERB_WAVEFORM))
        g_string_append(lacks, "--vcd, ");
    if (!(verb->flags & VERB_TIMELINE))
        g_string_append(lacks, "--perfetto, ");
    if (!(verb->flags & VERB_STATS))
        g_string_append(lacks, "--stats, ");
    if (verb->flags & VERB_NO_PAGE)
        g_string_append(lacks, "--html, --format, ");
    if (lacks->len)
        g_string_truncate(lacks, lacks->len - 2);
    printf(".PP\nThis verb refuses ");
    manual_text(lacks->str);
    printf(": ");
    manual_text(verb->no_views);
    printf(".\n");
    g_string_free(lacks, TRUE);
}

void reference_manual(const Verb *verb, const GOptionEntry *own, const GOptionEntry *common)
{
    const About *about = about_find(verb->name);
    g_autofree char *page = g_strdup_printf("fanout-%s", verb->name);
    manual_head(page, verb->text);
    manual_section("SYNOPSIS");
    printf(".B fanout %s\n[\\fIOPTION\\fR...] ", verb->name);
    manual_text(verb->usage);
    printf("\n");
    manual_section("DESCRIPTION");
    manual_paragraphs(about ? about->text : verb->text);
    manual_views(verb);
    if (own->long_name) {
        manual_section("OPTIONS OF THIS VERB");
        manual_entries(own);
    }
    manual_section("OPTIONS OF EVERY VERB");
    manual_entries(common);
    manual_section("EXAMPLES");
    for (const AboutExample *example = about ? about->examples : NULL; example && example->line; example++)
        manual_example(example->line, example->text);
    manual_exit();
    manual_section("ENVIRONMENT");
    printf(
        ".TP\nFANOUT_LOG\nWhat \\-\\-log says, where it is not given.\n"
        ".TP\nFANOUT_QUIET\nWhere standard error is no terminal, a long run does not say now and then what it does.\n");
    manual_section("SEE ALSO");
    printf(".BR fanout (1)\n");
}

void reference_manual_all(const Verb *const *verbs)
{
    manual_head("fanout", "simulate GPUs, NVLink and NVSwitch with multicast and reduction inside the switch");
    manual_section("SYNOPSIS");
    printf(".B fanout\n\\fIVERB\\fR [\\fIOPTION\\fR...] [\\fIARGUMENT\\fR...]\n");
    manual_section("DESCRIPTION");
    manual_paragraphs("Programs written against the CUDA driver API's multicast objects, traces of applications, or a "
                      "line on the command line go in; latency, throughput and the reason for them come out. Simulated "
                      "time is in whole picoseconds, and the same input gives the same bytes on every machine.");
    manual_section("VERBS");
    for (const Verb *const *verb = verbs; *verb; verb++) {
        printf(".TP\n.BR fanout\\-%s (1)\n", (*verb)->name);
        manual_text((*verb)->text);
        printf("\n");
    }
    manual_exit();
    manual_section("SEE ALSO");
    for (const Verb *const *verb = verbs; *verb; verb++)
        printf(".BR fanout\\-%s (1)%s\n", (*verb)->name, verb[1] ? "," : "");
}
