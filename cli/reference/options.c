/* See options.h. */
#include "cli/reference/options.h"

#include <stdio.h>

#include "sim/report/json.h"

/* What an option takes, as GOption reads it. */
static const char *options_kind(const GOptionEntry *entry)
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

static gboolean options_is_repeated(const GOptionEntry *entry)
{
    return entry->arg == G_OPTION_ARG_STRING_ARRAY || entry->arg == G_OPTION_ARG_FILENAME_ARRAY;
}

static void options_member(yajl_gen gen, const char *key, const char *text)
{
    report_json_string(gen, key);
    if (text)
        report_json_string(gen, text);
    else
        yajl_gen_null(gen);
}

static void options_flag(yajl_gen gen, const char *key, gboolean value)
{
    report_json_string(gen, key);
    yajl_gen_bool(gen, value);
}

static void options_entry(yajl_gen gen, const GOptionEntry *entry, gboolean own)
{
    const char letter[] = {entry->short_name, '\0'};
    yajl_gen_map_open(gen);
    options_member(gen, "name", entry->long_name);
    options_member(gen, "letter", entry->short_name ? letter : NULL);
    options_member(gen, "takes", options_kind(entry));
    options_member(gen, "value", entry->arg_description);
    options_member(gen, "text", entry->description);
    options_flag(gen, "repeated", options_is_repeated(entry));
    options_flag(gen, "own", own);
    yajl_gen_map_close(gen);
}

static void options_entries(yajl_gen gen, const GOptionEntry *entries, gboolean own)
{
    for (const GOptionEntry *entry = entries; entry->long_name; entry++)
        if (!(entry->flags & G_OPTION_FLAG_HIDDEN))
            options_entry(gen, entry, own);
}

void reference_print_options(const Verb *verb, const GOptionEntry *own, const GOptionEntry *common)
{
    GString *out = g_string_new(NULL);
    yajl_gen gen = yajl_gen_alloc(NULL);
    yajl_gen_config(gen, yajl_gen_beautify, 1);
    yajl_gen_config(gen, yajl_gen_indent_string, " ");
    yajl_gen_map_open(gen);
    options_member(gen, "name", verb->name);
    options_member(gen, "usage", verb->usage);
    options_member(gen, "text", verb->text);
    options_flag(gen, "html", !(verb->flags & VERB_NO_PAGE));
    options_flag(gen, "format", !(verb->flags & VERB_NO_PAGE));
    options_flag(gen, "perfetto", (verb->flags & VERB_TIMELINE) != 0);
    options_flag(gen, "vcd", (verb->flags & VERB_WAVEFORM) != 0);
    options_member(gen, "no_views", verb->no_views);
    report_json_string(gen, "options");
    yajl_gen_array_open(gen);
    options_entries(gen, own, TRUE);
    options_entries(gen, common, FALSE);
    yajl_gen_array_close(gen);
    yajl_gen_map_close(gen);
    report_json_end(gen, out);
    fputs(out->str, stdout);
    g_string_free(out, TRUE);
}
