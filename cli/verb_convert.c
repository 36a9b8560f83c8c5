/* fanout convert: traces from any format into the text format, Chakra or GOAL. */
#include <stdio.h>
#include <string.h>

#include "cli/options.h"
#include "cli/trace_args.h"
#include "traces/write.h"

static const char *const convert_formats[] = {"text", "chakra", "goal", NULL};
typedef enum { CONVERT_TEXT, CONVERT_CHAKRA, CONVERT_GOAL } ConvertFormat;

/* By --to, or by the name's end. */
static gboolean convert_choose(const char *to, const char *out, int *format, GError **error)
{
    if (to)
        return options_parse_name("--to", to, convert_formats, format, error);
    if (strcmp(out, "-") == 0 || g_str_has_suffix(out, ".txt") || g_str_has_suffix(out, ".trace"))
        *format = CONVERT_TEXT;
    else if (g_str_has_suffix(out, ".et"))
        *format = CONVERT_CHAKRA;
    else if (g_str_has_suffix(out, ".goal"))
        *format = CONVERT_GOAL;
    else {
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                    "%s: the name should end in .trace (text), .et (Chakra) or .goal, "
                    "or --to should say text, chakra or goal",
                    out);
        return FALSE;
    }
    return TRUE;
}

static gboolean convert_write(Trace *trace, const char *out, ConvertFormat format, GError **error)
{
    if (format == CONVERT_CHAKRA) {
        g_autofree char *prefix =
            g_strndup(out, strlen(out) - (g_str_has_suffix(out, ".et") ? 3 : 0));
        return write_chakra(trace, prefix, error);
    }
    if (format == CONVERT_GOAL)
        return write_goal(trace, out, error);
    if (strcmp(out, "-") != 0)
        return write_text(trace, out, error);
    g_autofree char *text = write_text_string(trace);
    fputs(text, stdout);
    return TRUE;
}

static ExitCode convert_job(const TraceArgs *args, const char *in, const char *out, GError **error)
{
    int format;
    if (!convert_choose(args->to, out, &format, error))
        return EXIT_USER;
    GPtrArray *jobs = trace_args_read(args, NULL, &in, 1, error);
    ExitCode code = EXIT_USER;
    if (jobs && jobs->len > 1)
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "%s: holds %u jobs; name the files of one",
                    in, jobs->len);
    else if (jobs && convert_write(jobs->pdata[0], out, (ConvertFormat)format, error)) {
        const Trace *trace = jobs->pdata[0];
        code = EXIT_DONE;
        for (guint i = 0; i < trace->skips->len; i++) {
            const TraceSkip *skip = &g_array_index(trace->skips, TraceSkip, i);
            fprintf(stderr, "fanout convert: skipped %" G_GUINT64_FORMAT ", %s; the first: %s\n",
                    skip->count, skip->reason, skip->first);
        }
    }
    if (jobs)
        g_ptr_array_free(jobs, TRUE);
    return code;
}

static ExitCode convert_run_verb(int argc, char **argv, GError **error)
{
    TraceArgs args = {0};
    const GOptionEntry own[] = {{"to", 0, 0, G_OPTION_ARG_STRING, &args.to,
                                 "text, chakra or goal (by OUT's name: .trace, .et, .goal)",
                                 "FORMAT"},
                                TRACE_ARGS_ENTRIES(args),
                                {NULL, 0, 0, 0, NULL, NULL, NULL}};
    Options options;
    ExitCode code;
    if (options_parse(&options, &verb_convert, own, &argc, &argv, &code, error)) {
        code = EXIT_USER;
        if (options_check_args(&verb_convert, argc, argv, 2, 2, error))
            code = convert_job(&args, argv[1], argv[2], error);
        options_clear(&options);
    }
    trace_args_clear(&args);
    return code;
}

const Verb verb_convert = {
    .name = "convert",
    .usage = "IN OUT",
    .text = "rewrite a trace as text (.trace, - for standard output), Chakra (OUT.<rank>.et) or "
            "GOAL (.goal)",
    .run = convert_run_verb,
};
