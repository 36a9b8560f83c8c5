#include "cli/replay/trace_args.h"

#include <string.h>

#include "cli/options.h"
#include "cli/live/progress.h"
#include "sim/param/nearest.h"
#include "sim/param/size.h"
#include "traces/format/words.h"

static gboolean args_bad(GError **error, const char *option, const char *text, const char *right)
{
    g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "%s: '%s' should be %s", option, text, right);
    return FALSE;
}

static gboolean args_count(const char *option, gint value, GError **error)
{
    if (value >= 1 || value == TRACE_ARGS_NONE)
        return TRUE;
    g_autofree char *text = g_strdup_printf("%d", value);
    return args_bad(error, option, text, "1 or more");
}

static gboolean args_from(const TraceArgs *args, TraceReadSpec *spec, TraceSelection *selection, GError **error)
{
    for (char **from = args->from; from && *from; from++) {
        if (trace_format_by_name(*from)) {
            spec->format = *from;
        } else if (!words_time(*from, &selection->from_ps)) {
            GPtrArray *names = g_ptr_array_new();
            for (const TraceFormat *const *format = trace_formats(); *format; format++)
                g_ptr_array_add(names, (gpointer)(*format)->name);
            g_ptr_array_add(names, NULL);
            g_autofree char *hint = nearest_hint(*from, (const char *const *)names->pdata);
            g_ptr_array_free(names, TRUE);
            g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                        "--from: '%s' is neither a format nor a time with its unit (3ms)%s", *from, hint);
            return FALSE;
        }
    }
    return TRUE;
}

typedef struct {
    Progress *progress;
    guint64 drawn;
} ArgsProgress;

static void args_progress(void *user, guint64 done_bytes, guint64 all_bytes)
{
    ArgsProgress *state = user;
    if (done_bytes >> 24 != state->drawn) {
        state->drawn = done_bytes >> 24;
        progress_step(state->progress, "reading, %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " MB", done_bytes >> 20,
                      all_bytes >> 20);
    }
}

GPtrArray *trace_args_read(const TraceArgs *args, const char *until, const char *const *paths, guint n, GError **error)
{
    ArgsProgress state = {progress_new(0), 0};
    TraceReadSpec spec = {
        .lenient = args->lenient, .groups_path = args->groups, .progress = args_progress, .user = &state};
    TraceSelection selection = {.limit = (guint32)MAX(args->limit, 0)};
    GPtrArray *jobs = NULL;
    gboolean ok = args_from(args, &spec, &selection, error);
    if (ok && until && !words_time(until, &selection.to_ps))
        ok = args_bad(error, "--to", until, "a time with its unit, like 3ms");
    if (ok)
        ok = args_count("--world", args->world, error) && args_count("--limit", args->limit, error);
    spec.world = (guint32)MAX(args->world, 0);
    if (ok && args->plan_bytes)
        ok = size_parse("--plan-bytes", args->plan_bytes, &spec.plan_bytes, error);
    if (ok && args->ranks) {
        selection.ranks = g_array_new(FALSE, FALSE, sizeof(guint32));
        if (!reader_parse_ranks(args->ranks, selection.ranks) || selection.ranks->len == 0)
            ok = args_bad(error, "--ranks", args->ranks, "a list of ranks, like 0-3,8");
    }
    jobs = ok ? trace_read_jobs(paths, n, &spec, error) : NULL;
    for (guint j = 0; jobs && j < jobs->len; j++)
        if (!trace_select(jobs->pdata[j], &selection, error)) {
            g_ptr_array_free(jobs, TRUE);
            jobs = NULL;
        }
    if (selection.ranks)
        g_array_free(selection.ranks, TRUE);
    progress_free(state.progress);
    return jobs;
}

void trace_args_clear(TraceArgs *args)
{
    g_free(args->groups);
    g_free(args->plan_bytes);
    g_free(args->ranks);
    g_free(args->to);
    g_strfreev(args->from);
}
