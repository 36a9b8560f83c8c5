/* The tables as JSON. */
#include "cli/reference/internal.h"

#include <stdio.h>

#include "sim/report/json.h"

/* What an option takes, as GOption reads it. */
static const char *list_kind(const GOptionEntry *entry)
{
    switch (entry->arg) {
    case G_OPTION_ARG_NONE: return "flag";
    case G_OPTION_ARG_INT:
    case G_OPTION_ARG_INT64: return "integer";
    case G_OPTION_ARG_DOUBLE: return "number";
    case G_OPTION_ARG_FILENAME:
    case G_OPTION_ARG_FILENAME_ARRAY: return "file";
    default: return "text";
    }
}

static gboolean list_is_repeated(const GOptionEntry *entry)
{
    return entry->arg == G_OPTION_ARG_STRING_ARRAY || entry->arg == G_OPTION_ARG_FILENAME_ARRAY;
}

static void list_member(yajl_gen gen, const char *key, const char *text)
{
    report_json_string(gen, key);
    if (text)
        report_json_string(gen, text);
    else
        yajl_gen_null(gen);
}

static void list_flag(yajl_gen gen, const char *key, gboolean value)
{
    report_json_string(gen, key);
    yajl_gen_bool(gen, value);
}

static void list_entry(yajl_gen gen, const GOptionEntry *entry, gboolean own)
{
    const char letter[] = {entry->short_name, '\0'};
    yajl_gen_map_open(gen);
    list_member(gen, "name", entry->long_name);
    list_member(gen, "letter", entry->short_name ? letter : NULL);
    list_member(gen, "takes", list_kind(entry));
    list_member(gen, "value", entry->arg_description);
    list_member(gen, "text", entry->description);
    list_flag(gen, "repeated", list_is_repeated(entry));
    list_flag(gen, "own", own);
    yajl_gen_map_close(gen);
}

static void list_entries(yajl_gen gen, const GOptionEntry *entries, gboolean own)
{
    for (const GOptionEntry *entry = entries; entry->long_name; entry++)
        if (!(entry->flags & G_OPTION_FLAG_HIDDEN))
            list_entry(gen, entry, own);
}

static void list_about(yajl_gen gen, const About *about)
{
    list_member(gen, "about", about ? about->text : NULL);
    report_json_string(gen, "examples");
    yajl_gen_array_open(gen);
    for (const AboutExample *example = about ? about->examples : NULL; example && example->line; example++) {
        yajl_gen_map_open(gen);
        list_member(gen, "line", example->line);
        list_member(gen, "text", example->text);
        yajl_gen_map_close(gen);
    }
    yajl_gen_array_close(gen);
}

void reference_list(const Verb *verb, const GOptionEntry *own, const GOptionEntry *common)
{
    GString *out = g_string_new(NULL);
    yajl_gen gen = yajl_gen_alloc(NULL);
    yajl_gen_config(gen, yajl_gen_beautify, 1);
    yajl_gen_config(gen, yajl_gen_indent_string, " ");
    yajl_gen_map_open(gen);
    list_member(gen, "name", verb->name);
    list_member(gen, "usage", verb->usage);
    list_member(gen, "text", verb->text);
    list_flag(gen, "html", !(verb->flags & VERB_NO_PAGE));
    list_flag(gen, "format", !(verb->flags & VERB_NO_PAGE));
    list_flag(gen, "perfetto", (verb->flags & VERB_TIMELINE) != 0);
    list_flag(gen, "vcd", (verb->flags & VERB_WAVEFORM) != 0);
    list_flag(gen, "stats", (verb->flags & VERB_STATS) != 0);
    list_flag(gen, "monitor", (verb->flags & VERB_MONITOR) != 0);
    list_member(gen, "no_views", verb->no_views);
    report_json_string(gen, "options");
    yajl_gen_array_open(gen);
    list_entries(gen, own, TRUE);
    list_entries(gen, common, FALSE);
    yajl_gen_array_close(gen);
    list_about(gen, about_find(verb->name));
    yajl_gen_map_close(gen);
    report_json_end(gen, out);
    fputs(out->str, stdout);
    g_string_free(out, TRUE);
}
