/* fanout convert: traces from any format into the text format, Chakra or GOAL. */
#include <stdio.h>
#include <string.h>

#include "cli/options.h"
#include "cli/trace_args.h"
#include "traces/format/write.h"

static gboolean convert_write(Trace *trace, const char *out, const char *format, GError **error)
{
    if (strcmp(out, "-") != 0)
        return write_trace(trace, out, format, error);
    g_autofree char *text = write_text_string(trace);
    fputs(text, stdout);
    return TRUE;
}

static ExitCode convert_job(const TraceArgs *args, const char *in, const char *out, GError **error)
{
    int format;
    if (args->to && !options_parse_name("--to", args->to, write_formats, &format, error))
        return EXIT_USER;
    GPtrArray *jobs = trace_args_read(args, NULL, &in, 1, error);
    ExitCode code = EXIT_USER;
    if (jobs && jobs->len > 1)
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "%s: holds %u jobs; name the files of one",
                    in, jobs->len);
    else if (jobs && convert_write(jobs->pdata[0], out, args->to, error)) {
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
