/* Writers of traces: the project's text, Chakra .et files, PyTorch's profiler (Kineto), GOAL. */
#ifndef TRACES_FORMAT_WRITE_H
#define TRACES_FORMAT_WRITE_H

#include <glib.h>

#include "traces/record/record.h"

/* All three want a finished trace. GError: TRACE_ERROR_WRITE, naming the file, or what the format
 * cannot say. */
gboolean write_text(const Trace *trace, const char *path, GError **error);
/* prefix.<rank>.et, one file a rank; a trace that stands for all ranks is replicated first
 * (trace_replicate). */
gboolean write_chakra(Trace *trace, const char *prefix, GError **error);
/* prefix.<rank>.json, as PyTorch's profiler writes them. Of a trace that has no starts: an error. */
gboolean write_kineto(Trace *trace, const char *prefix, GError **error);
/* Point to point only: collectives are expanded (ring all-reduce, all-gather and reduce-scatter;
 * binomial tree for rooted ones; direct all-to-all; dissemination barrier). binary: as LogGOPSim's txt2bin
 * writes it. */
gboolean write_goal(Trace *trace, const char *path, gboolean binary, GError **error);

/* One of them, by name (write_formats), or by the end of the path (.trace or .txt,
 * .et, .json, .goal, .bin) where format is NULL. "run.et" becomes run.0.et, run.1.et, ...; "run.json" likewise. */
gboolean write_trace(Trace *trace, const char *path, const char *format, GError **error);
/* FALSE and TRACE_ERROR_WRITE: the end of the path is none of them. */
gboolean write_check_name(const char *path, GError **error);
/* FALSE and TRACE_ERROR_WRITE: the trace is an execution plan. */
gboolean write_possible(const Trace *trace, GError **error);
/* Does write_trace write text? */
gboolean write_is_text(const char *path, const char *format);
/* How many files write_trace would write. */
guint32 write_files(const Trace *trace, const char *path, const char *format);
extern const char *const write_formats[]; /* ends with NULL */

/* The text that write_text writes, for tests. Caller frees. */
char *write_text_string(const Trace *trace);

#endif
