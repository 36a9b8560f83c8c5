/* What tests of trace readers share: a trace from text, and what became of it. */
#ifndef TESTS_TRACES_TRACE_TEST_H
#define TESTS_TRACES_TRACE_TEST_H

#include "tests/test.h"

#include <glib/gstdio.h>

#include "traces/format/reader.h"
#include "traces/format/write.h"

static inline Trace *trace_test_read(const char *name, const void *data, gsize bytes, gboolean lenient, GError **error)
{
    TraceReadSpec spec = {.lenient = lenient};
    return trace_read_input(input_open_memory(name, data, bytes), &spec, error);
}

/* The text must be refused, and the message must hold `needle` (and with it a place). Lenient, it
 * must be read with `skipped` nodes counted; skipped 0: it must be refused too. */
static inline void trace_test_refused(const char *name, const void *data, gsize bytes, const char *needle,
                                      guint64 skipped)
{
    GError *error = NULL;
    Trace *trace = trace_test_read(name, data, bytes, FALSE, &error);
    if (trace)
        fail_msg("%s was taken, should be refused with '%s'", name, needle);
    if (!strstr(error->message, needle) || strncmp(error->message, name, strlen(name)) != 0)
        fail_msg("'%s' should start with '%s' and say '%s'", error->message, name, needle);
    g_clear_error(&error);
    trace = trace_test_read(name, data, bytes, TRUE, &error);
    if (skipped == 0) {
        assert_null(trace);
        g_clear_error(&error);
        return;
    }
    if (!trace)
        fail_msg("lenient: %s", error->message);
    assert_int_equal(trace_skipped(trace), skipped);
    trace_free(trace);
}

/* A note of the trace must hold `needle`. */
static inline void trace_test_said(const Trace *trace, const char *needle)
{
    for (guint i = 0; i < trace->notes->len; i++)
        if (strstr(trace->notes->pdata[i], needle))
            return;
    fail_msg("none of %u notes says '%s'", trace->notes->len, needle);
}

/* A file under the shared folder; NULL where it is missing. Caller frees. */
static inline char *trace_test_shared(const char *path)
{
    const char *shared = g_getenv("FANOUT_SHARED");
    char *full = shared ? g_build_filename(shared, "traces", path, NULL) : NULL;
    if (!full || !g_file_test(full, G_FILE_TEST_EXISTS)) {
        print_message("no %s; FANOUT_SHARED=FOLDER names the reference files\n", full ? full : path);
        g_clear_pointer(&full, g_free);
    }
    return full;
}

/* The one job of a file or folder under the shared folder; NULL where that is missing. */
static inline Trace *trace_test_read_shared(const char *folder)
{
    char *path = trace_test_shared(folder);
    if (!path)
        return NULL;
    TraceReadSpec spec = {0};
    const char *paths[] = {path};
    GError *error = NULL;
    GPtrArray *jobs = trace_read_jobs(paths, 1, &spec, &error);
    if (!jobs)
        fail_msg("%s", error->message);
    assert_int_equal(jobs->len, 1);
    Trace *trace = g_ptr_array_steal_index(jobs, 0);
    g_ptr_array_free(jobs, TRUE);
    g_free(path);
    return trace;
}

#endif
