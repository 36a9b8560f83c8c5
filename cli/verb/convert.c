/* fanout convert: traces from any format into the text format, Chakra, Kineto or GOAL. */
#include <stdio.h>
#include <string.h>

#include "cli/options.h"
#include "cli/replay/trace_args.h"
#include "sim/report/file.h"
#include "traces/format/write.h"
#include "traces/record/match.h"
#include "traces/record/replicate.h"

#define CONVERT_FILES_MAX 4096

static gboolean convert_write(Trace *trace, const char *out, const char *format, gint files_max, gboolean lenient,
                              GError **error)
{
    guint32 files = write_files(trace, out, format);
    if (strcmp(out, "-") != 0 && files > (guint32)files_max) {
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                    "%s: would be %u files, one for each rank; give --max-files %u if they are "
                    "wanted, or write one file: text (.trace) or GOAL (.goal)",
                    out, files, files);
        return FALSE;
    }
    if (!write_possible(trace, error))
        return FALSE;
    if (trace->recorded_ranks > 1 && !trace_replicate(trace, error)) /* as text there is "rank *" alone */
        return FALSE;
    gboolean terminal = strcmp(out, "-") == 0;
    gboolean is_text = terminal || write_is_text(out, format);
    g_autofree char *text = is_text ? write_text_string(trace) : NULL; /* before it is replicated */
    if (!is_text || !trace->replicate || trace->replicated) {          /* of which each rank does the same */
        Match *match = match_new(trace, lenient, error);               /* what replay refuses is not converted */
        match_free(match);
        if (!match)
            return FALSE;
    }
    if (terminal)
        fputs(text, stdout);
    return terminal || (is_text ? file_write(out, text, strlen(text), error) : write_trace(trace, out, format, error));
}

/* What was assumed, not understood or left out goes to stderr: the formats have no place for it. */
static void convert_say(const Trace *trace)
{
    for (guint i = 0; i < trace->notes->len; i++)
        fprintf(stderr, "fanout convert: note: %s\n", (char *)trace->notes->pdata[i]);
    for (guint i = 0; i < trace->skips->len; i++) {
        const TraceSkip *skip = &g_array_index(trace->skips, TraceSkip, i);
        fprintf(stderr, "fanout convert: skipped %" G_GUINT64_FORMAT ", %s; the first: %s\n", skip->count, skip->reason,
                skip->first);
    }
}

static ExitCode convert_job(const TraceArgs *args, const char *in, const char *out, gint files_max, GError **error)
{
    int format;
    if (args->to && !options_parse_name("--to", args->to, write_formats, &format, error))
        return EXIT_USER;
    if (strcmp(out, "-") != 0 && !file_check("OUT", out, error))
        return EXIT_USER;
    GPtrArray *jobs = trace_args_read(args, NULL, &in, 1, error);
    ExitCode code = EXIT_USER;
    if (jobs && jobs->len > 1)
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "%s: holds %u jobs; name the files of one", in, jobs->len);
    else if (jobs && convert_write(jobs->pdata[0], out, args->to, files_max, args->lenient, error)) {
        code = EXIT_DONE;
        convert_say(jobs->pdata[0]);
    }
    if (jobs)
        g_ptr_array_free(jobs, TRUE);
    return code;
}

static ExitCode convert_run_verb(int argc, char **argv, GError **error)
{
    TraceArgs args = TRACE_ARGS_INIT;
    gint files_max = CONVERT_FILES_MAX;
    const GOptionEntry own[] = {
        {"to", 0, 0, G_OPTION_ARG_STRING, &args.to,
         "text, chakra, kineto, goal or goal-binary (by OUT's name: .trace, .et, .json, .goal, .bin)", "FORMAT"},
        {"max-files", 0, 0, G_OPTION_ARG_INT, &files_max, "write up to N files of a rank each (4096)", "N"},
        TRACE_ARGS_ENTRIES(args),
        {NULL, 0, 0, 0, NULL, NULL, NULL}};
    Options options;
    ExitCode code;
    if (options_parse(&options, &verb_convert, own, &argc, &argv, &code, error)) {
        code = EXIT_USER;
        if (options_check_args(&verb_convert, argc, argv, 2, 2, error))
            code = convert_job(&args, argv[1], argv[2], MAX(files_max, 1), error);
        options_clear(&options);
    }
    trace_args_clear(&args);
    return code;
}

const Verb verb_convert = {
    .name = "convert",
    .usage = "IN OUT",
    .text = "rewrite a trace as text (.trace, - for standard output), Chakra (OUT.<rank>.et), "
            "Kineto (OUT.<rank>.json, of what has starts) or GOAL (.goal, .bin)",
    .flags = VERB_NO_PAGE,
    .no_views = "it simulates nothing; replay does, and has all of them",
    .run = convert_run_verb,
};
